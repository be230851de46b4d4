/** Secrets through the window: stored, found, shown for a while, replaced and deleted. */
import type { Browser } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { newSecret } from '../support/new-secret.ts';
import { openWindow, sharedChromium, takePicture, openHome } from './support/chromium.ts';
import { axeFindings, screenFindings, visit } from './support/inspect.ts';
import { serveDevVault } from './support/service.ts';
import { button, exportFrom, goTo, heading, hold, leaveDialog, lock, openDialog } from './support/steps.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await sharedChromium();
});

test('a secret is stored, shown on request, copied for a while, replaced and deleted', async () => {
  await using service = await serveDevVault();
  await using person = await openWindow(browser);
  const { page } = person;
  const { recoveryPhrase } = service;
  const value = 'first line of it\nsecond-line-of-it';
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto(service.windowUrl);
  await heading(page, 'Home').waitFor();
  await goTo(page, 'Secrets');
  await page.getByRole('heading', { name: 'No secrets yet' }).waitFor();
  await page.getByRole('link', { name: 'Add secret' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Database');
  await button(page, 'Add secret').click();
  await page.getByText('Enter the value.').waitFor();
  await page.getByRole('textbox', { name: 'Value' }).fill(value);
  const properties = page.getByRole('textbox', { name: 'Properties' });
  await properties.fill('live');
  await page.getByText('Write each property as key=value').waitFor();
  await properties.fill('env=live\nteam = web');
  expect(await axeFindings(page, 'add secret')).toEqual([]);
  await takePicture(page, 'add-secret');
  await button(page, 'Add secret').click();
  await heading(page, 'Database').waitFor();
  await page.getByText('keyhearth://Database').waitFor();
  for (const fact of ['env: live', 'team: web']) await page.getByText(fact, { exact: true }).waitFor();
  await expect.poll(() => page.content()).not.toContain('second-line');
  expect([...(await screenFindings(page, 'secret'))]).toEqual([]);
  await takePicture(page, 'secret');

  const dialog = await openDialog(page, 'Show value…', 'Value of “Database”');
  await exportFrom(dialog, 'Show value', recoveryPhrase);
  await button(dialog, 'Show the value').waitFor();
  expect(await page.content()).not.toContain('second-line');
  await hold(button(dialog, 'Show the value'));
  await expect.poll(() => dialog.getByLabel('Value', { exact: true }).innerText()).toBe(value);
  await takePicture(page, 'secret-shown');
  await button(dialog, 'Copy value').click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(value);
  await page.evaluate(() => navigator.clipboard.writeText('something else'));
  await button(dialog, 'Hide the value').click();
  await expect.poll(() => page.content()).not.toContain('second-line');
  await leaveDialog(dialog, 'Done');

  const replacing = await openDialog(page, 'Replace value…', 'Replace the value of “Database”');
  await replacing.getByRole('textbox', { name: 'Value' }).fill('another value');
  await button(replacing, 'Replace value').click();
  await replacing.waitFor({ state: 'hidden' });
  const again = await openDialog(page, 'Show value…', 'Value of “Database”');
  await exportFrom(again, 'Show value', recoveryPhrase);
  await hold(button(again, 'Show the value'));
  await expect.poll(() => again.getByLabel('Value', { exact: true }).innerText()).toBe('another value');
  await leaveDialog(again, 'Done');

  await page.getByRole('link', { name: 'Activity', exact: true }).last().click();
  await heading(page, 'Activity of Database').waitFor();
  await page.getByRole('link', { name: /^Replace a secret’s value/ }).waitFor();
  await page
    .getByRole('link', { name: /^Export secrets/ })
    .first()
    .waitFor();
  await page.goBack();

  const deleting = await openDialog(page, 'Delete…', 'Delete “Database”');
  await deleting.getByRole('textbox').fill('Database');
  await button(deleting, 'Delete secret').click();
  await heading(page, 'Secrets').waitFor();
  await page.getByRole('heading', { name: 'No secrets yet' }).waitFor();
  expect(person.violations).toEqual([]);
  expect(person.complaints).toEqual([]);
});

test('many secrets are listed and searched, by name and by property', async () => {
  await using service = await serveDevVault();
  await using person = await openWindow(browser);
  const { page } = person;
  for (let number = 1; number <= 12; number += 1) await newSecret(service.root, `secret ${String(number)}`);
  await page.goto(service.windowUrl);
  await heading(page, 'Home').waitFor();
  await goTo(page, 'Secrets');
  await page.getByText('12 secrets').waitFor();
  await takePicture(page, 'secrets');
  await page.getByRole('searchbox', { name: 'Search' }).fill('secret 12: secret 12');
  await page.getByText('1 secret', { exact: true }).waitFor();
  await page.getByRole('link', { name: /^secret 12/ }).click();
  await heading(page, 'secret 12').waitFor();
  expect(person.complaints).toEqual([]);
});

test('an answer that comes after a lock names nothing on the screen of the lock', async () => {
  await using service = await serveDevVault();
  await using person = await openWindow(browser);
  const { page } = person;
  await page.goto(service.windowUrl);
  await goTo(page, 'Secrets');
  await page.getByRole('link', { name: 'Add secret' }).first().click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Database');
  await page.getByRole('textbox', { name: 'Value' }).fill('hush');
  const late = Promise.withResolvers<undefined>();
  const sent = Promise.withResolvers<undefined>();
  await page.route('**/window/call', async (route) => {
    const isStoring = route.request().postData()?.includes('ACTIVITY_TYPE_IMPORT_SECRETS') === true;
    if (!isStoring) return route.fallback();
    const response = await route.fetch();
    sent.resolve(undefined);
    await late.promise;
    return route.fulfill({ response });
  });
  await button(page, 'Add secret').click();
  await sent.promise;
  await lock(page);
  const answered = page.waitForResponse(
    (response) => response.request().postData()?.includes('ACTIVITY_TYPE_IMPORT_SECRETS') === true,
  );
  late.resolve(undefined);
  await (await answered).finished();
  // The page has taken the answer by the time that it answers itself.
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve)));
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
  expect(await page.getByText('Database').count()).toBe(0);
  await page.getByRole('textbox', { name: 'Recovery phrase' }).fill(service.recoveryPhrase);
  await button(page, 'Unlock').click();
  await page.getByRole('navigation').first().waitFor();
  expect(await page.getByText('“Database”').count()).toBe(0);
  expect(person.complaints).toEqual([]);
});

test('a person who left the form of a secret is not led away where it is stored afterwards', async () => {
  await using service = await serveDevVault();
  await using person = await openHome(service.windowUrl);
  const { page } = person;
  const answers = Promise.withResolvers<undefined>();
  const asked = Promise.withResolvers<undefined>();
  await page.route('**/window/call', async (route) => {
    if (route.request().postData()?.includes('ACTIVITY_TYPE_IMPORT_SECRETS') !== true)
      return route.continue();
    asked.resolve(undefined);
    await answers.promise;
    return route.continue();
  });
  await visit(page, '/secrets/new');
  await page.getByRole('textbox', { name: 'Name' }).fill('Mail token');
  await page.getByRole('textbox', { name: 'Value' }).fill('a value to keep');
  await button(page, 'Add secret').click();
  await asked.promise;
  await visit(page, '/addresses');
  await page.getByRole('textbox', { name: 'Name' }).fill('Landlord');
  answers.resolve(undefined);
  await page.getByText('Added “Mail token”').waitFor();
  await heading(page, 'Address book').waitFor();
  expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Landlord');
});
