/** A vault that the operating system's keychain opens, where that is there, locked, has lost the key, or is gone: a real keyring. */
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import type { Browser, Locator, Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { inProcess, startKeyring } from '../../keys/keychain.ts';
import type { Environment } from '../../keys/keychain.ts';
import { sharedChromium, openWindow, openHome } from '../support/chromium.ts';
import { axeFindings, screenFindings } from '../support/inspect.ts';
import { newVaultHome } from '../support/service.ts';
import type { VaultHome } from '../support/service.ts';
import {
  button,
  chooseSegment,
  fromWordsToVault,
  goTo,
  heading,
  lock,
  openDialog,
  password,
} from '../support/steps.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await sharedChromium();
});

const place = 'Unlock methods';
const lookAgain = 'Retry';

const slots = (page: Page): Locator =>
  page.getByRole('list', { name: 'Unlock methods in use' }).locator('.kh-row-name');

const says = (page: Page, text: string | RegExp): Promise<void> =>
  page.getByRole('status').filter({ hasText: text }).waitFor();

/** The start of the first run, to the step about what opens the vault. */
async function toOpening(page: Page): Promise<void> {
  await button(page, 'Set up a vault').click();
  await heading(page, 'Names').waitFor();
  await button(page, 'Continue').click();
  await heading(page, 'Unlock methods').waitFor();
}

async function givePassword(page: Page): Promise<void> {
  await page.getByRole('textbox', { name: /^Password/ }).fill(password);
  await page.getByRole('textbox', { name: 'Repeat password' }).fill(password);
}

async function unlockByPassword(page: Page): Promise<void> {
  await heading(page, 'Unlock').waitFor();
  await page.getByRole('textbox', { name: 'Password', exact: true }).fill(password);
  await button(page, 'Unlock').click();
  await heading(page, /^(?!Unlock)/).waitFor();
}

/** As its owner does with the keyring's own program. */
async function loseKey({ path }: VaultHome, keyring: Environment): Promise<void> {
  const file = new Sqlite(join(path, 'vault.db'), { readonly: true });
  const vaultId = file.prepare('SELECT id FROM vault').pluck().get() as string;
  const id = file.prepare("SELECT id FROM keyslots WHERE kind = 'keychain'").pluck().get() as string;
  file.close();
  const slot = { id, kind: 'keychain', parameters: '', wrapped: '' } as const;
  await inProcess(keyring, [{ do: 'forgetSlot', vaultId, slot }]);
}

test('where no keychain is reachable, the first run says why and goes on with a password', async () => {
  await using keyring = await startKeyring('bus');
  using home = newVaultHome();
  await using service = await home.serveWithKeychain(keyring.environment);
  await using person = await openWindow(browser);
  const { page } = person;
  await page.goto(service.windowUrl);
  await toOpening(page);
  const offer = page.getByRole('switch', { name: 'Unlock with this computer’s keychain' });
  expect(await offer.isDisabled()).toBe(true);
  expect(await offer.isChecked()).toBe(false);
  await says(page, /^Not available: No Secret Service \(keyring\) runs in this session\. Install one with/);
  await button(page, lookAgain).click();
  await expect.poll(() => button(page, lookAgain).isEnabled()).toBe(true);
  await says(page, 'No Secret Service');
  await button(page, 'Continue').click();
  await page.getByText('Choose a password: without the keychain, the vault needs one.').waitFor();
  expect(await axeFindings(page, 'first-run-no-keychain')).toEqual([]);
  await givePassword(page);
  await button(page, 'Continue').click();
  await fromWordsToVault(page);
  await goTo(page, place);
  await expect.poll(() => slots(page).allInnerTexts()).toEqual(['Recovery phrase', 'Password']);
  await says(page, 'Not available: No Secret Service');
  expect(await button(page, 'Add keychain…').count()).toBe(0);
  expect(person.complaints).toEqual([]);
});

test('a vault opens with the keychain; locked, lost or gone, that is said, and what else opens it does', async () => {
  await using keyring = await startKeyring('unlocked');
  using home = newVaultHome();
  const found: string[] = [];
  const look = async (page: Page, screen: string): Promise<void> => {
    found.push(...(await screenFindings(page, screen)));
  };
  let words: readonly string[];
  {
    const goOn = await keyring.pause();
    await using service = await home.serveWithKeychain(keyring.environment);
    await using person = await openWindow(browser);
    const { page } = person;
    // The keychain does not answer at first; after another check, it is offered.
    const offer = page.getByRole('switch', { name: 'Unlock with this computer’s keychain' });
    await page.goto(service.windowUrl);
    await toOpening(page);
    await says(
      page,
      /^Not available: The Secret Service \(keyring\) of this session does not answer\. Restart it/,
    );
    expect(await offer.isDisabled()).toBe(true);
    goOn();
    await button(page, lookAgain).click();
    await says(page, 'The keychain is available again.');
    await expect.poll(() => offer.isChecked()).toBe(true);
    await givePassword(page);
    await button(page, 'Continue').click();
    words = await fromWordsToVault(page);
    await lock(page);
    await button(page, 'Unlock with the keychain').click();
    await heading(page, 'Home').waitFor();

    // Locked while Keyhearth runs.
    await lock(page);
    // The window has looked at the keychain once it offers it. A keyring that is being locked may answer late.
    const offered = button(page, 'Unlock with the keychain');
    await offered.waitFor();
    await keyring.lock();
    await offered.click();
    await says(page, /^The keychain is not available: The keyring is locked\. Unlock it in the desktop/);
    await look(page, 'unlock-keychain-locked');
    await unlockByPassword(page);
    await page.getByText('The keychain is not available: The keyring is locked').waitFor();
    await goTo(page, place);
    await says(page, 'Not available: The keyring is locked');
    await look(page, 'keyslots-keychain-locked');
    // A restarted keyring is a different one to a process that used the old.
    await keyring.unlock();
    await button(page, lookAgain).click();
    await says(page, /^Not available: The keyring of this session was restarted while Keyhearth ran/);
    expect(person.complaints).toEqual([]);
  }
  {
    await using service = await home.serveWithKeychain(keyring.environment);
    // The keychain opens it before the window loads.
    await using _ = await openHome(service.windowUrl);
  }

  // The key is no longer in it.
  await loseKey(home, keyring.environment);
  {
    await using service = await home.serveWithKeychain(keyring.environment);
    await using person = await openWindow(browser);
    const { page } = person;
    await page.goto(service.windowUrl);
    await heading(page, 'Unlock').waitFor();
    await button(page, 'Unlock with the keychain').click();
    const refusal = page.getByRole('alert').filter({ hasText: 'Couldn’t unlock the vault' });
    await refusal
      .getByText(/The keychain holds no key for this vault: .* password or recovery phrase/)
      .waitFor();
    await chooseSegment(page, 'Unlock with', 'Recovery phrase');
    await page.getByRole('textbox', { name: 'Recovery phrase' }).fill(words.join(' '));
    await button(page, 'Unlock').click();
    await goTo(page, place);
    // A new key takes the place of the lost one.
    const removing = await openDialog(page, 'Remove keychain', 'Remove keychain');
    await removing.getByRole('textbox', { name: 'Current password' }).fill(password);
    await button(removing, 'Remove keychain').click();
    await removing.waitFor({ state: 'hidden' });
    await expect.poll(() => slots(page).allInnerTexts()).toEqual(['Recovery phrase', 'Password']);
    const adding = await openDialog(page, 'Add keychain…', 'Add keychain');
    await adding.getByRole('textbox', { name: 'Current password' }).fill(password);
    await button(adding, 'Add keychain').click();
    await adding.waitFor({ state: 'hidden' });
    await expect.poll(() => slots(page).allInnerTexts()).toContain('Keychain');
    await lock(page);
    await button(page, 'Unlock with the keychain').click();
    await heading(page, place).waitFor();
    expect(person.complaints).toEqual([]);
  }

  // The session that reached it is gone.
  await using bare = await startKeyring('none');
  await using service = await home.serveWithKeychain(bare.environment);
  await using person = await openWindow(browser);
  const { page } = person;
  await page.goto(service.windowUrl);
  await heading(page, 'Unlock').waitFor();
  await says(page, /^The keychain is not available: There is no D-Bus session.* or use a password instead/);
  expect(await page.getByRole('radio', { name: 'Keychain' }).isDisabled()).toBe(true);
  expect(await page.getByRole('radio', { name: 'Password' }).isChecked()).toBe(true);
  await unlockByPassword(page);
  await goTo(page, place);
  await expect.poll(() => slots(page).allInnerTexts()).toContain('Keychain');
  await says(page, 'Not available: There is no D-Bus session');
  await lock(page);
  await chooseSegment(page, 'Unlock with', 'Recovery phrase');
  await page.getByRole('textbox', { name: 'Recovery phrase' }).fill(words.join(' '));
  await button(page, 'Unlock').click();
  await heading(page, place).waitFor();
  expect(found).toEqual([]);
  expect(person.complaints).toEqual([]);
});
