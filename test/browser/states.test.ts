/** Unusual states of the window: no service, nothing there, a refusal. */
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import type { Browser, Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { newWallet, temporaryDirectory } from '../support/support.ts';
import { sharedChromium, openWindow, takePicture, openHome } from './support/chromium.ts';
import { visit } from './support/inspect.ts';
import { newVaultHome, portToKeep, serveDevVault } from './support/service.ts';
import {
  button,
  chooseSegment,
  exportFrom,
  firstRun,
  goTo,
  heading,
  hold,
  lock,
  loseAnswers,
  makeWallet,
  pairsIn,
  password,
  readPhrase,
} from './support/steps.ts';

let browser: Browser;

/** The wallets on Home, which names them in its recent activity too. */
const walletsOf = (page: Page) => page.getByRole('list', { name: 'Wallets', exact: true });

beforeAll(async () => {
  browser = await sharedChromium();
});

const stopped = (page: Page) => heading(page, 'The Keyhearth service stopped');

describe('a service that stops', () => {
  test('is noticed, waited for on the same port, and entered again with a new link in the same tab', async () => {
    using place = newVaultHome();
    const port = await portToKeep();
    const first = await place.serve(port);
    await using person = await openWindow(browser);
    const { page } = person;
    await page.goto(first.windowUrl);
    await firstRun(page);
    await makeWallet(page, 'Savings', ['Ethereum']);
    await first.stop();
    await stopped(page).waitFor();
    await page.getByText('Reconnecting…').waitFor();
    // A window that does not know the vault's state hides its contents.
    expect(await heading(page, 'Savings').isVisible()).toBe(false);

    await using second = await place.serve(port);
    expect(second.url).toBe(first.url);
    await heading(page, 'This window needs a new link').waitFor();
    await page.goto(second.windowUrl);
    await heading(page, 'Unlock').waitFor();
    await page.getByRole('textbox', { name: 'Password', exact: true }).fill(password);
    await button(page, 'Unlock').click();
    await walletsOf(page)
      .getByRole('link', { name: /Savings/ })
      .waitFor();
    expect(person.complaints).toEqual([]);
  });

  test('leaves what was typed where it was, when it answers again', async () => {
    await using service = await serveDevVault();
    await using person = await openWindow(browser);
    const { page } = person;
    await page.goto(service.windowUrl);
    await page.getByRole('link', { name: 'Create wallet' }).first().click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Half typed');
    await page.route('**/window/**', (route) => route.abort('connectionrefused'));
    await button(page, 'Create wallet').click();
    await stopped(page).waitFor();
    await page.unroute('**/window/**');
    await heading(page, 'Create wallet').waitFor();
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Half typed');
    await button(page, 'Create wallet').click();
    await heading(page, 'Half typed').waitFor();
  });

  test('is not said to have done nothing where its answer is lost', async () => {
    await using service = await serveDevVault();
    await using person = await openWindow(browser);
    const { page } = person;
    await page.goto(service.windowUrl);
    await page.getByRole('link', { name: 'Create wallet' }).first().click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Savings');
    await loseAnswers(page, 'ACTIVITY_TYPE_CREATE_WALLET');
    await button(page, 'Create wallet').click();
    const refusal = page.getByRole('alert').filter({ hasText: 'Couldn’t create the wallet' });
    await refusal.getByText('It may have done this anyway: check before you retry.').waitFor();
    expect((await service.root.query('list_wallets')).body).toMatchObject({
      wallets: [{ walletName: 'Savings' }],
    });
  });

  test('takes a dialog with a secret off the screen, and off paper', async () => {
    await using service = await serveDevVault();
    const { walletId } = await newWallet(service.root, 'Savings');
    await using person = await openWindow(browser);
    const { page } = person;
    await page.goto(service.windowUrl);
    await walletsOf(page)
      .getByRole('link', { name: /Savings/ })
      .click();
    await page.waitForURL((url) => url.hash.includes(walletId));
    await button(page, 'Export…').click();
    const dialog = page.getByRole('dialog');
    await exportFrom(dialog, 'Export seed phrase', service.recoveryPhrase);
    await hold(button(dialog, /^Show/));
    const words = await readPhrase(page, 'Seed phrase');
    const shown = async () => pairsIn(words, await page.locator('body').innerText());
    expect(await shown()).not.toEqual([]);

    await service.stop();
    await stopped(page).waitFor();
    expect(await shown()).toEqual([]);
    expect(await dialog.isVisible()).toBe(false);
    await page.emulateMedia({ media: 'print' });
    expect(await shown()).toEqual([]);
  });

  test('shows that it is asking, while an answer takes its time', async () => {
    await using service = await serveDevVault();
    await using person = await openWindow(browser);
    const { page } = person;
    const status = Promise.withResolvers<undefined>();
    await page.route('**/window/status', async (route) => {
      await status.promise;
      await route.continue();
    });
    await page.goto(service.windowUrl);
    await page.getByRole('status').filter({ hasText: 'Loading the vault' }).waitFor();
    status.resolve(undefined);
    await heading(page, 'Home').waitFor();

    const log = Promise.withResolvers<undefined>();
    await page.route('**/window/call', async (route) => {
      if (route.request().postData()?.includes('outline_activities') === true) await log.promise;
      await route.continue();
    });
    await page.getByRole('link', { name: 'Activity', exact: true }).click();
    await page.getByRole('status').filter({ hasText: 'Loading the activity log' }).waitFor();
    await takePicture(page, 'activity-loading');
    log.resolve(undefined);
    await page.getByRole('heading', { name: 'No activity yet' }).waitFor();
  });
});

describe('a refusal', () => {
  test('of a wallet’s name stands in its form, which keeps what was typed', async () => {
    await using service = await serveDevVault();
    await using person = await openWindow(browser);
    const { page } = person;
    await page.goto(service.windowUrl);
    await makeWallet(page, 'Savings', ['Ethereum']);
    await goTo(page, 'Wallets');
    await page.getByRole('link', { name: 'Create wallet' }).first().click();
    const name = page.getByRole('textbox', { name: 'Name' });
    // The name that is offered is a free one.
    expect(await name.inputValue()).not.toBe('Savings');
    await name.fill('Savings');
    await button(page, 'Create wallet').click();
    await page.getByText('This name is taken.').waitFor();
    expect(await name.getAttribute('aria-invalid')).toBe('true');
    await takePicture(page, 'wallet-name-taken');
    await name.fill('More savings');
    await button(page, 'Create wallet').click();
    await heading(page, 'More savings').waitFor();
  });

  test('of the service’s stands in the form too, for what the window could not know', async () => {
    await using service = await serveDevVault();
    await using person = await openWindow(browser);
    const { page } = person;
    await page.goto(service.windowUrl);
    await makeWallet(page, 'Savings', ['Ethereum']);
    // As if another window had made the wallet a moment ago.
    await page.route('**/window/call', async (route) => {
      if (route.request().postData()?.includes('list_wallets') !== true) return route.continue();
      return route.fulfill({ json: { value: { status: 200, body: { wallets: [] } } } });
    });
    await page.reload();
    await goTo(page, 'Wallets');
    await page.getByRole('link', { name: 'Create wallet' }).first().click();
    const name = page.getByRole('textbox', { name: 'Name' });
    await name.fill('Savings');
    await button(page, 'Create wallet').click();
    const refusal = page.locator('form').getByRole('alert').filter({ hasText: 'Couldn’t create the wallet' });
    await refusal.waitFor();
    expect(await refusal.innerText()).toContain('The name “Savings” is taken');
    await takePicture(page, 'wallet-refused');
    expect(await name.inputValue()).toBe('Savings');
  });

  test('of a read is shown with a way to try again', async () => {
    await using service = await serveDevVault();
    await using person = await openHome(service.windowUrl);
    const { page } = person;
    let broken = true;
    await page.route('**/window/call', async (route) => {
      if (!broken) return route.continue();
      const value = { status: 500, body: { code: 13, message: 'internal error', details: [] } };
      return route.fulfill({ json: { value } });
    });
    await page.reload();
    await goTo(page, 'Wallets');
    const refusal = page.getByRole('alert').filter({ hasText: 'Couldn’t load the wallets' });
    await refusal.waitFor();
    await takePicture(page, 'wallets-unreadable');
    broken = false;
    await button(refusal, 'Retry').click();
    await page.getByRole('heading', { name: 'No wallets yet' }).waitFor();
  });
});

describe('a screen that cannot be shown', () => {
  test('says so where an empty list would promise entries', async () => {
    await using service = await serveDevVault();
    await using person = await openHome(service.windowUrl);
    const { page } = person;
    for (const kind of ['wallets', 'private-keys', 'secrets', 'users', 'policies']) {
      await visit(page, `/${kind}/00000000-0000-4000-8000-000000000000/activity`);
      await page.getByRole('alert').filter({ hasText: 'Couldn’t load' }).waitFor();
      await page.getByText('The log has no entry about it.').waitFor();
    }
    expect(person.complaints).toEqual([]);
  });

  test('leaves the others as they are', async () => {
    await using service = await serveDevVault();
    await using person = await openWindow(browser);
    const { page } = person;
    await page.route('**/window/call', async (route) => {
      if (route.request().postData()?.includes('list_users') !== true) return route.continue();
      return route.fulfill({ json: { value: { status: 200, body: { users: null } } } });
    });
    await page.goto(service.windowUrl);
    await heading(page, 'Home').waitFor();
    const failure = page.getByRole('alert').filter({ hasText: 'Couldn’t show this screen' });
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Users' }).click();
    await failure.waitFor();
    await goTo(page, 'Wallets');
    await failure.waitFor({ state: 'detached' });
  });

  test('is not the address book, whatever its address names', async () => {
    await using service = await serveDevVault();
    await using person = await openHome(service.windowUrl);
    const { page } = person;
    const field = page.getByRole('textbox', { name: 'Address', exact: true });
    for (const address of ['100%', 'a/b?c#d', '%41']) {
      await page.evaluate((given) => {
        window.location.hash = `/addresses/${encodeURIComponent(given)}`;
      }, address);
      await expect.poll(() => field.inputValue()).toBe(address);
    }
  });
});

describe('a file that was changed outside Keyhearth', () => {
  test('shuts the window, which says what was found and what to do, until the change is undone', async () => {
    using place = newVaultHome();
    await using service = await place.serve();
    await using person = await openWindow(browser);
    const { page } = person;
    await page.goto(service.windowUrl);
    await firstRun(page);
    await makeWallet(page, 'Savings', ['Ethereum']);
    const file = new Sqlite(join(place.path, 'vault.db'));
    const rename = file.prepare('UPDATE wallets SET name = ?');
    rename.run('Mine');
    // The window may be shut before there is time for a click.
    await page.evaluate(() => {
      location.hash = '#/users';
    });
    await heading(page, 'Unlock').waitFor();
    const refusal = page
      .getByRole('alert')
      .filter({ hasText: 'This vault’s file was changed outside Keyhearth' });
    await refusal.waitFor();
    expect(await refusal.innerText()).toMatch(/wallets [0-9a-f-]{36}: it was changed or added/);
    expect(await refusal.innerText()).toContain('keyhearth doctor --accept-changes');
    await takePicture(page, 'unlock-tampered');
    await page.getByRole('textbox', { name: 'Password', exact: true }).fill(password);
    const answered = page.waitForResponse('**/window/unlock');
    await button(page, 'Unlock').click();
    await (await answered).finished();
    await refusal.waitFor();
    await expect.poll(() => page.getByRole('alert').count()).toBe(1);
    rename.run('Savings');
    file.close();
    await button(page, 'Unlock').click();
    await heading(page, 'Users').waitFor();
    expect(person.complaints).toEqual([]);
  });
});

describe('nothing there', () => {
  test('since all wallets are archived, is said so, and leads to them', async () => {
    await using service = await serveDevVault();
    await newWallet(service.root, 'Savings');
    await using person = await openWindow(browser);
    const { page } = person;
    await page.goto(service.windowUrl);
    await walletsOf(page)
      .getByRole('link', { name: /Savings/ })
      .click();
    await button(page, 'Archive').click();
    await button(page, 'Unarchive').waitFor();
    await goTo(page, 'Home');
    await page.getByText('All wallets are archived').waitFor();
    await goTo(page, 'Wallets');
    await page.getByText('All wallets are archived').waitFor();
    await page.getByRole('checkbox', { name: 'Show the archive (1)' }).check();
    await walletsOf(page)
      .getByRole('link', { name: /Savings/ })
      .waitFor();
    expect(person.complaints).toEqual([]);
  });
});

describe('two windows of one vault', () => {
  test('are locked together, and the second shows what the first makes', async () => {
    using place = newVaultHome();
    await using service = await place.serve();
    await using one = await openWindow(browser);
    await one.page.goto(service.windowUrl);
    await firstRun(one.page);
    await using two = await openWindow(browser);
    await two.page.goto(await place.newLink());
    await heading(two.page, 'Home').waitFor();
    await makeWallet(one.page, 'Seen by both', []);
    await walletsOf(two.page)
      .getByRole('link', { name: /Seen by both/ })
      .waitFor();
    await lock(one.page);
    await heading(two.page, 'Unlock').waitFor();
    // A message about it goes a moment after the vault.
    for (const { page } of [one, two]) {
      await expect.poll(() => page.locator('body').innerText()).not.toContain('Seen by both');
    }
  });
});

test('two presses that a busy window takes at once do one thing, and its outcome is shown', async () => {
  using place = newVaultHome();
  await using service = await place.serve();
  await using person = await openWindow(browser);
  const { page } = person;
  await page.goto(service.windowUrl);
  await firstRun(page);
  const sent: string[] = [];
  page.on('request', (request) => {
    const [call] = /submit\/\w+|scheduleBackups/.exec(request.url() + (request.postData() ?? '')) ?? [];
    if (call !== undefined) sent.push(call);
  });
  const pressTwice = (name: string) =>
    button(page, name).evaluate((pressed: HTMLElement) => {
      pressed.click();
      pressed.click();
    });

  await page.goto(`${service.windowOrigin}/#/wallets/new`);
  await page.getByRole('textbox', { name: 'Name' }).fill('Daily');
  await pressTwice('Create wallet');
  await heading(page, 'Daily').waitFor();
  await page.goto(`${service.windowOrigin}/#/secrets/new`);
  await page.getByRole('textbox', { name: 'Name' }).fill('Token');
  await page.getByRole('textbox', { name: 'Value' }).fill('a value');
  await pressTwice('Add secret');
  await heading(page, 'Token').waitFor();
  await page.goto(`${service.windowOrigin}/#/backups`);
  using folder = temporaryDirectory();
  await page.getByRole('textbox', { name: 'Folder' }).fill(folder.path);
  await pressTwice('Set schedule');
  await page.getByText('Schedule changed').waitFor();
  await pressTwice('Undo');
  await page.getByText('Undone').waitFor();
  await button(page, 'Set schedule').waitFor();
  expect(await page.getByText(/Couldn’t/).count()).toBe(0);
  expect(sent).toEqual([
    'submit/create_wallet',
    'submit/init_import_secrets',
    'submit/import_secrets',
    ...['scheduleBackups', 'scheduleBackups'],
  ]);
});

describe('light and dark', () => {
  test('follow the system until one is chosen, which is remembered', async () => {
    await using service = await serveDevVault();
    await using person = await openWindow(browser, { colorScheme: 'dark' });
    const { page } = person;
    const scheme = () => page.locator('html').getAttribute('data-mantine-color-scheme');
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    await page.goto(service.windowUrl);
    await heading(page, 'Home').waitFor();
    await expect.poll(scheme).toBe('dark');
    const dark = await ground();
    await page.emulateMedia({ colorScheme: 'light' });
    await expect.poll(scheme).toBe('light');
    await expect.poll(ground).not.toBe(dark);

    await chooseSegment(page, 'Appearance', 'Dark');
    await expect.poll(scheme).toBe('dark');
    await expect.poll(ground).toBe(dark);
    await page.reload();
    await heading(page, 'Home').waitFor();
    expect(await scheme()).toBe('dark');
    expect(await page.getByRole('radio', { name: 'Dark' }).isChecked()).toBe(true);
    await chooseSegment(page, 'Appearance', 'System');
    await expect.poll(scheme).toBe('light');
  });
});
