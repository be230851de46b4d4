/** An idle vault: the warning before its lock, and the forms after the unlock. */
import type { Browser } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { openWindow, sharedChromium, openHome } from './support/chromium.ts';
import { axeFindings, visit } from './support/inspect.ts';
import { newVaultHome, serveDevVault } from './support/service.ts';
import { button, firstRun, goTo, heading, lock, password } from './support/steps.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await sharedChromium();
});

test('an idle vault warns, stays open for a person who returns, and keeps what was typed over its lock', async () => {
  using place = newVaultHome();
  await using service = await place.serve();
  await using person = await openWindow(browser);
  const { page } = person;
  await page.goto(service.windowUrl);
  await firstRun(page, async (screen) => {
    // The estimate comes from a thread of its own, which the page's policy must allow.
    if (screen === 'first-run-opening-filled') await page.getByText('Strong.').waitFor();
  });
  const unlock = async (): Promise<void> => {
    await page.getByRole('textbox', { name: 'Password', exact: true }).fill(password);
    await button(page, 'Unlock').click();
  };

  await goTo(page, 'Settings');
  await page.getByRole('combobox', { name: 'Lock the vault' }).selectOption('1');
  await goTo(page, 'Address book');
  const name = page.getByRole('textbox', { name: 'Name' });
  const address = page.getByRole('textbox', { name: 'Address' });
  await name.fill('Landlord');
  await address.fill('0x52908400098527886E0F7030069857D2E4169EE7');
  const warning = page.getByRole('alert').filter({ hasText: /^The vault locks in \d+ seconds/ });
  await warning.waitFor();
  const found = await axeFindings(page, 'lock-soon');
  await page.keyboard.press('Shift');
  await warning.waitFor({ state: 'hidden' });

  await warning.waitFor();
  await heading(page, 'Unlock').waitFor({ timeout: 90_000 });
  expect(await warning.count()).toBe(0);
  await unlock();
  await heading(page, 'Address book').waitFor();
  expect(await name.inputValue()).toBe('Landlord');
  expect(await address.inputValue()).toBe('0x52908400098527886E0F7030069857D2E4169EE7');

  // A screen that was left has nothing.
  await goTo(page, 'Wallets');
  await goTo(page, 'Address book');
  expect(await name.inputValue()).toBe('');

  // A lock by hand keeps it too. A freeze keeps nothing: another person may be there.
  await name.fill('Supplier');
  await lock(page);
  await unlock();
  await heading(page, 'Address book').waitFor();
  expect(await name.inputValue()).toBe('Supplier');
  await button(page, 'Freeze').click();
  await button(page.getByRole('dialog'), 'Freeze').click();
  await unlock();
  await heading(page, 'Address book').waitFor();
  expect(await name.inputValue()).toBe('');
  expect(found).toEqual([]);
  expect(person.violations).toEqual([]);
  expect(person.complaints).toEqual([]);
});

test('a form that a lock takes away while it is answered leads to what it created', async () => {
  await using service = await serveDevVault();
  await using person = await openHome(service.windowUrl);
  const { page } = person;
  const unlock = async (): Promise<void> => {
    await page.getByRole('textbox', { name: 'Recovery phrase' }).fill(service.recoveryPhrase);
    await button(page, 'Unlock').click();
  };
  /** The answer to a request of this type comes once the vault is locked. */
  const lockDuring = async (type: string, act: () => Promise<void>): Promise<void> => {
    const answers = Promise.withResolvers();
    const made = Promise.withResolvers();
    await page.route('**/window/call', async (route) => {
      if (route.request().postData()?.includes(type) !== true) return route.continue();
      const response = await route.fetch();
      made.resolve(undefined);
      await answers.promise;
      return route.fulfill({ response });
    });
    await act();
    await made.promise;
    await lock(page);
    const answered = page.waitForResponse((response) =>
      Boolean(response.request().postData()?.includes(type)),
    );
    answers.resolve(undefined);
    await (await answered).finished();
    await page.unrouteAll();
  };
  await visit(page, '/wallets/new');
  await page.getByRole('textbox', { name: 'Name' }).fill('Pension');
  await lockDuring('ACTIVITY_TYPE_CREATE_WALLET', () => button(page, 'Create wallet').click());
  await page.waitForURL((url) => /^#\/wallets\/[0-9a-f-]{36}$/.test(url.hash));
  await unlock();
  await heading(page, 'Pension').waitFor();

  // The form of a list stays on its screen, and begins empty.
  await visit(page, '/addresses');
  const name = page.getByRole('textbox', { name: 'Name' });
  await name.fill('Landlord');
  await page.getByRole('textbox', { name: 'Address' }).fill('0x52908400098527886E0F7030069857D2E4169EE7');
  await lockDuring('ACTIVITY_TYPE_CREATE_KNOWN_ADDRESS', () => button(page, 'Name address').click());
  await unlock();
  await page.getByRole('main').getByText('Landlord').waitFor();
  expect(await name.inputValue()).toBe('');
  expect(person.complaints).toEqual([]);
});
