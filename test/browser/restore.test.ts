/** A backup restored in the window of a machine that has no vault, and how soon a window is there. */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { readHead } from '../../main/backup/format.ts';
import { sharesFromPhrase } from '../../main/keys/keyslots/shares.ts';
import { temporaryDirectory } from '../support/support.ts';
import { sharedChromium, openWindow, openHome } from './support/chromium.ts';
import { axeFindings, screenFindings } from './support/inspect.ts';
import { newVaultHome, serveDevVault } from './support/service.ts';
import { button, firstRun, goTo, heading, lock, makeWallet, password } from './support/steps.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await sharedChromium();
});

test('a backup is restored in the first run, with what opened it, and opens with the same again', async () => {
  using elsewhere = temporaryDirectory();
  const file = join(elsewhere.path, 'moved.backup');
  let words: readonly string[];
  using old = newVaultHome();
  {
    await using service = await old.serve();
    await using person = await openWindow(browser);
    const { page } = person;
    await page.goto(service.windowUrl);
    words = await firstRun(page);
    await makeWallet(page, 'From before', ['Ethereum']);
    await old.backUp(file);
  }

  using place = newVaultHome();
  await using service = await place.serve();
  await using person = await openWindow(browser);
  const { page } = person;
  const found: string[] = [];
  await page.goto(service.windowUrl);
  await button(page, 'Restore a vault').click();
  await heading(page, 'Restore a backup').waitFor();
  await button(page, 'Restore').click();
  await page.getByText('Choose a backup file.').waitFor();
  await page.getByText('Enter the password.').waitFor();
  const chooser = page.getByRole('group', { name: 'Backup' });
  const input = page.locator('input[type=file]');
  const secret = page.getByRole('textbox', { name: 'Password', exact: true });
  const drafts = (): string[] => readdirSync(place.path).filter((name) => name.startsWith('chosen-'));

  // An incomplete backup is refused by its first bytes, chosen or dropped.
  writeFileSync(`${file}.cut`, readFileSync(file).subarray(0, -1));
  await input.setInputFiles(`${file}.cut`);
  const notTaken = page.getByRole('alert').filter({ hasText: 'Couldn’t use this file' });
  await notTaken.getByText('it is cut off').waitFor();
  const dropped = await page.evaluateHandle(() => {
    const data = new DataTransfer();
    data.items.add(new File(['a shopping list'], 'list.txt'));
    return data;
  });
  await chooser.dispatchEvent('drop', { dataTransfer: dropped });
  await notTaken.getByText('it does not begin as a Keyhearth backup does').waitFor();
  found.push(...(await axeFindings(page, 'restore-refused')));

  // One that is given up on its way leaves nothing; the rest of it never comes.
  await page.route(/\/window\/files\?.*file=/, () => undefined);
  await input.setInputFiles(file);
  await expect.poll(drafts).toHaveLength(1);
  await chooser.getByText('Uploading the file').waitFor();
  // Its name is shown already, but it cannot be restored before all of it is here.
  await button(page, 'Restore').click();
  await page.getByText('Wait until the file is uploaded.').waitFor();
  found.push(...(await axeFindings(page, 'restore-coming')));
  await button(page, 'Cancel the upload').click();
  await expect.poll(drafts).toEqual([]);
  await page.unrouteAll();

  // The upload is deleted with the page.
  await input.setInputFiles(file);
  await chooser.getByText(/Opens with .*its password/).waitFor();
  await expect.poll(drafts).toHaveLength(1);
  // The words of a page that goes may be lost: the next page says them again.
  await page.route('**/window/releaseBackup', (route) => route.abort(), { times: 1 });
  await page.reload();
  await button(page, 'Restore a vault').click();
  await expect.poll(drafts).toEqual([]);

  // By its path, where Keyhearth runs.
  await button(page, 'Enter a path on the computer').click();
  await page.getByRole('textbox', { name: 'Backup' }).fill(`${file}.not`);
  await secret.fill('not the password');
  await button(page, 'Restore').click();
  const refusal = page.getByRole('alert').filter({ hasText: 'Couldn’t restore the vault' });
  await refusal.getByText(/there is no file|not there|no such/i).waitFor();
  await button(page, 'Choose a file instead').click();

  await input.setInputFiles(file);
  await chooser.getByText(/Opens with .*its password/).waitFor();
  await button(page, 'Restore').click();
  await refusal.getByText(/The backup does not open/).waitFor();
  // Another in its place lets the first go.
  await input.setInputFiles(file);
  await chooser.getByText(/Opens with .*its password/).waitFor();
  await expect.poll(drafts).toHaveLength(1);
  found.push(...(await screenFindings(page, 'restore')));
  const { vaultId } = readHead(readFileSync(file)).header;
  const shares = await sharesFromPhrase(
    words.join(' '),
    vaultId,
    { threshold: 2, count: 3 },
    (_purpose, length) => randomBytes(length),
  );
  await page.getByText('Recovery phrase', { exact: true }).click();
  const phrase = page.getByRole('textbox', { name: 'Recovery phrase' });
  await phrase.fill(shares[2] ?? '');
  await button(page, 'Restore').click();
  await refusal.getByText('2 are needed, and here is one').waitFor();
  await phrase.fill(`${shares[2] ?? ''}\n${shares[0] ?? ''}`);
  await button(page, 'Restore').click();
  await page.getByText('“Family” is restored').waitFor();
  await heading(page, 'Home').waitFor();
  await expect.poll(drafts).toEqual([]);
  await goTo(page, 'Wallets');
  await page.getByRole('link', { name: /From before/ }).waitFor();
  // It is a vault as any other: it signs its log, takes wallets, and is locked and unlocked.
  await makeWallet(page, 'From now on', ['Solana']);
  await lock(page);
  await page.getByRole('textbox', { name: 'Password', exact: true }).fill(password);
  await button(page, 'Unlock').click();
  await goTo(page, 'Wallets');
  await page.getByRole('link', { name: /From now on/ }).waitFor();
  expect(found).toEqual([]);
  expect(person.violations).toEqual([]);
  expect(person.complaints).toEqual([]);
  expect(service.stderr()).toBe('');
});

test('a window is painted within a second', async () => {
  await using service = await serveDevVault();
  await using person = await openHome(service.windowUrl);
  const { page } = person;
  // Other work of the machine is not measured: one run that is fast enough passes.
  await expect
    .poll(async () => {
      await page.reload();
      await heading(page, 'Home').waitFor();
      const painted = () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime;
      return (await page.evaluate(painted)) ?? Infinity;
    })
    .toBeLessThan(1_000);
});
