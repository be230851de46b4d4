/** Backups in the window: the notice, a backup, a verification with the open vault and with the phrase, and a schedule. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../support/support.ts';
import { sharedChromium, openWindow, openHome } from './support/chromium.ts';
import { axeFindings } from './support/inspect.ts';
import { newVaultHome, serveDevVault } from './support/service.ts';
import { button, chooseSegment, firstRun, goTo, heading, makeWallet } from './support/steps.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await sharedChromium();
});

describe('a person with a vault', () => {
  test('shows that there is no backup, writes one, tests it, and sets a schedule', async () => {
    using elsewhere = temporaryDirectory();
    using place = newVaultHome();
    await using service = await place.serve();
    await using person = await openWindow(browser);
    const { page } = person;
    await page.goto(service.windowUrl);
    const words = await firstRun(page);
    const amiss: string[] = [];
    await goTo(page, 'Wallets');

    const notice = page.getByRole('note', { name: 'Backups' });
    await notice
      .getByText('There is no backup yet. If this disk is lost, its keys are lost with it.')
      .waitFor();
    amiss.push(...(await axeFindings(page, 'backups-notice')));
    await makeWallet(page, 'Savings', ['Ethereum', 'Solana']);
    await goTo(page, 'Wallets');
    await notice.getByRole('link', { name: 'Back up' }).click();
    await heading(page, 'Backups').waitFor();
    expect(await page.getByRole('textbox', { name: 'File' }).inputValue()).toMatch(
      /Keyhearth backups\/keyhearth-Family-\d{4}-\d\d-\d\d\.backup$/,
    );
    amiss.push(...(await axeFindings(page, 'backups-none')));

    // A path that will not do is said at once; then the real one.
    await page.getByRole('textbox', { name: 'File' }).fill('somewhere.backup');
    await button(page, 'Back up now').click();
    await page.getByRole('alert').filter({ hasText: 'Expected an absolute path' }).waitFor();
    const file = join(elsewhere.path, 'family.backup');
    await page.getByRole('textbox', { name: 'File' }).fill(file);
    await button(page, 'Back up now').click();
    await page.getByText('Backup created').waitFor();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const list = page.getByRole('list', { name: 'Existing backups' });
    await list.getByText('not tested').waitFor();

    await button(page, `Test… ${file}`).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('The backup is opened in memory').waitFor();
    amiss.push(...(await axeFindings(page, 'backups-try')));
    await button(dialog, 'Test').click();
    await dialog.getByText('Tested: this backup restores.').waitFor();
    await dialog.getByText('2 accounts and 0 private keys derived again').waitFor();
    await dialog.getByText('nothing').waitFor();
    amiss.push(...(await axeFindings(page, 'backups-proven')));
    await button(dialog, 'Done').click();
    await list.getByText(/· tested/).waitFor();

    // A copy to keep elsewhere is the file as it is.
    const downloading = page.waitForEvent('download');
    await button(page, `Save a copy of ${file}`).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toMatch(/^keyhearth-Family-\d{4}-\d\d-\d\d-\d{4}\.backup$/);
    const copy = join(elsewhere.path, 'copy.backup');
    await download.saveAs(copy);
    expect(readFileSync(copy)).toEqual(readFileSync(file));

    // The copy, with the words from the paper, wrong ones first.
    await button(page, 'Test a file…').click();
    await dialog.locator('input[type=file]').setInputFiles(copy);
    await dialog.getByText(/Opens with/).waitFor();
    await chooseSegment(page, 'Open with', 'Recovery phrase');
    await dialog.getByRole('textbox', { name: 'Recovery phrase' }).fill(`${'abandon '.repeat(23)}art`);
    await button(dialog, 'Test').click();
    await dialog.getByRole('alert').filter({ hasText: 'The backup does not open.' }).waitFor();
    amiss.push(...(await axeFindings(page, 'backups-shut')));
    await dialog.getByRole('textbox', { name: 'Recovery phrase' }).fill(words.join(' '));
    await button(dialog, 'Test').click();
    await dialog.getByText('Tested: this backup restores.').waitFor();
    await button(dialog, 'Done').click();

    // One that is damaged is called so, there and in the list.
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.with(bytes.length - 4000, (bytes.at(-4000) ?? 0) ^ 4));
    await button(page, `Test… ${file}`).click();
    await button(dialog, 'Test').click();
    await dialog
      .getByRole('alert')
      .filter({ hasText: /part \d+ of \d+ is damaged/ })
      .waitFor();
    await button(dialog, 'Cancel').click();
    await list.getByText(/failed: The backup cannot be read/).waitFor();
    writeFileSync(file, bytes);

    const folder = join(elsewhere.path, 'synced');
    await page.getByRole('textbox', { name: 'Folder' }).fill(folder);
    await button(page, 'Set schedule').click();
    await page.getByText('Schedule changed').waitFor();
    // A draft stands there first, under a name of its own.
    await expect.poll(() => readdirSync(folder)).toEqual([expect.stringMatching(/\.backup$/)]);
    await list.getByText(join(folder, readdirSync(folder)[0] ?? '')).waitFor();
    await page.getByText(/keeps the last 7 backups/).waitFor();
    amiss.push(...(await axeFindings(page, 'backups-scheduled')));
    // The form shows what is set, and not what was chosen before an undo.
    const frequency = page.getByRole('combobox', { name: 'Frequency' });
    await frequency.selectOption('Every week');
    await button(page, 'Change schedule').click();
    await page.getByText('Schedule changed').last().waitFor();
    await expect.poll(() => button(page, 'Change schedule').isDisabled()).toBe(true);
    await button(page, 'Undo').last().click();
    await expect.poll(() => frequency.inputValue()).toBe('24');
    expect(await button(page, 'Change schedule').isDisabled()).toBe(true);
    await goTo(page, 'Wallets');
    await page.getByText(/^Last backup .* last tested/).waitFor();
    expect(await notice.isVisible()).toBe(false);
    await goTo(page, 'Backups');
    await button(page, 'Turn off').click();
    await button(page, 'Set schedule').waitFor();
    expect(readdirSync(folder)).toHaveLength(1);

    expect(amiss).toEqual([]);
    expect(person.violations).toEqual([]);
    expect(service.stderr()).toBe('');
  });
});

test('a vault in memory has no backups, and does not ask for any', async () => {
  await using service = await serveDevVault();
  await using person = await openHome(service.windowUrl);
  const { page } = person;
  await goTo(page, 'Backups');
  await page.getByText('This vault is in memory').waitFor();
  await goTo(page, 'Wallets');
  await page.getByText('No wallets yet').waitFor();
  expect(await page.getByText(/No backup yet/).isVisible()).toBe(false);
  expect(person.violations).toEqual([]);
});
