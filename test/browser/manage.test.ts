/** Wallets and keys brought in and taken out, tags, users and their keys: through the window, on a vault on disk. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { HDKey } from '@scure/bip32';
import { Turnkey } from '@turnkey/sdk-server';
import { mnemonicToSeedSync } from 'bip39';
import type { Browser, Page } from 'playwright-core';
import { privateKeyToAddress } from 'viem/accounts';
import { bytesToHex } from 'viem';
import { beforeAll, describe, expect, test } from 'vitest';
import { authenticatorsOf } from './support/authenticator.ts';
import { sharedChromium, openWindow, takePicture, openHome } from './support/chromium.ts';
import type { BrowserWindow } from './support/chromium.ts';
import { goOnFromTestToTest } from './support/in-order.ts';
import { axeFindings, screenFindings } from './support/inspect.ts';
import { newVaultHome, serveDevVault } from './support/service.ts';
import type { Service } from './support/service.ts';
import {
  button,
  choose,
  chooseSegment,
  confirmWhenAsked,
  exportFrom,
  firstRun,
  goTo,
  heading,
  hold,
  knownWallet,
  leaveDialog,
  lock,
  makeWallet,
  openDialog,
  password,
  readAddresses,
  readFacts,
  readPhrase,
} from './support/steps.ts';
import { manageTour } from './support/tours.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await sharedChromium();
});

describe('every screen for managing what is in a vault', () => {
  test('passes axe-core, in light and in dark, and fits a narrow window', async () => {
    await using service = await serveDevVault();
    await using person = await openHome(service.windowUrl);
    const { page } = person;
    const found: string[] = [];
    const seen: string[] = [];
    await manageTour(
      page,
      async (screen) => {
        seen.push(screen);
        found.push(...(await screenFindings(page, screen)));
      },
      service.recoveryPhrase,
    );
    expect(seen.length).toBe(new Set(seen).size);
    expect(seen.length).toBeGreaterThan(30);
    expect(found).toEqual([]);
    expect(person.violations).toEqual([]);
    expect(person.complaints).toEqual([]);
  });

  test('leaves nothing under the message that something was done', async () => {
    await using service = await serveDevVault();
    await using person = await openWindow(browser, { viewport: { width: 360, height: 720 } });
    const { page } = person;
    await page.goto(service.windowUrl);
    await makeWallet(page, 'For later', []);
    await page.getByRole('alert').filter({ hasText: 'The wallet has no accounts yet.' }).waitFor();
    await goTo(page, 'Wallets');
    await makeWallet(page, 'Savings', ['Ethereum', 'Bitcoin', 'Solana']);
    await page.getByRole('alert').filter({ hasText: 'Created “Savings”' }).waitFor();
    await takePicture(page, 'message-narrow');
    const covered: string[] = [];
    for (const control of await page.locator('main').locator('a, button').all()) {
      await control.scrollIntoViewIfNeeded();
      const over = await control.evaluate((element) => {
        const { x, y, width, height } = element.getBoundingClientRect();
        const top = document.elementFromPoint(x + width / 2, y + height / 2);
        return top !== null && element.contains(top) ? null : element.outerHTML.slice(0, 100);
      });
      if (over !== null) covered.push(over);
    }
    expect(covered).toEqual([]);
  });
});

describe('passkeys', () => {
  /** The link that signs a window in, under another name of the same machine. */
  function linkAt(service: Service, host: string): string {
    const link = new URL(service.windowUrl);
    link.hostname = host;
    return link.href;
  }

  test('are registered, told apart and deleted on the page of localhost', async () => {
    await using service = await serveDevVault();
    await using person = await openWindow(browser);
    const { page } = person;
    await (await authenticatorsOf(page)).add();
    await page.goto(linkAt(service, 'localhost'));
    await confirmWhenAsked(page, service.recoveryPhrase);
    await goTo(page, 'Users');
    await page.getByRole('link', { name: /You/ }).click();
    await page.getByText('This window').waitFor();
    await page.getByRole('textbox', { name: 'Name of the new passkey' }).fill('This laptop');
    await button(page, 'Register passkey').click();
    const passkeys = page.getByRole('list', { name: 'Passkeys' });
    await passkeys.getByText('This laptop').waitFor();
    await page.getByRole('alert').filter({ hasText: 'Passkey registered' }).waitFor();
    await expect
      .poll(() => page.getByRole('textbox', { name: 'Name of the new passkey' }).inputValue())
      .toBe('Passkey 1');

    // One device has one passkey of a user, and the browser knows that before the vault does.
    await button(page, 'Register passkey').click();
    const refusal = page.getByRole('alert').filter({ hasText: 'Couldn’t register the passkey' });
    await refusal.waitFor();
    expect(await refusal.innerText()).toContain('already has a passkey for this user');
    expect(await passkeys.getByRole('listitem').count()).toBe(1);

    expect(await screenFindings(page, 'passkeys')).toEqual([]);
    await page.setViewportSize({ width: 360, height: 720 });
    await takePicture(page, 'passkeys-narrow');
    await page.setViewportSize({ width: 1280, height: 800 });

    const dialog = await openDialog(page, 'Delete passkey This laptop', 'Delete “This laptop”');
    expect(await axeFindings(page, 'passkey-delete')).toEqual([]);
    await button(dialog, 'Delete passkey').click();
    await dialog.waitFor({ state: 'hidden' });
    await passkeys.waitFor({ state: 'hidden' });
    expect(person.violations).toEqual([]);
    expect(person.complaints).toEqual([]);
  });

  test('where a browser makes none, the way to a page where it does is said, without a button', async () => {
    await using service = await serveDevVault();
    await using person = await openWindow(browser);
    const { page } = person;
    await page.goto(linkAt(service, '127.0.0.1'));
    await goTo(page, 'Users');
    await page.getByRole('link', { name: /You/ }).click();
    const { port } = new URL(service.url);
    await page.getByText(`Open http://localhost:${port}`).waitFor();
    expect(await button(page, 'Register passkey').count()).toBe(0);
  });
});

describe('accounts elsewhere', () => {
  test('that sign a user in are shown as their ID tokens name them', async () => {
    await using service = await serveDevVault();
    await using person = await openWindow(browser);
    const { page } = person;
    const claims = { iss: 'https://accounts.example', aud: 'app.example', sub: 'subject-of-ada' };
    await service.root.submit('create_users', 'CREATE_USERS_V4', {
      users: [
        {
          userName: 'Ada',
          apiKeys: [],
          authenticators: [],
          oauthProviders: [{ providerName: 'Example accounts', oidcClaims: claims }],
          userTags: [],
        },
      ],
    });
    await page.goto(service.windowUrl);
    await goTo(page, 'Users');
    await page.getByRole('link', { name: /^Ada/ }).click();
    const providers = page.getByRole('list', { name: 'OAuth providers' });
    await providers.getByText('Example accounts').waitFor();
    expect(Object.fromEntries(await readFacts(providers))).toEqual({
      Issuer: claims.iss,
      Audience: claims.aud,
      Subject: claims.sub,
    });
    expect(await screenFindings(page, 'user-oauth-providers')).toEqual([]);
    await goTo(page, 'Users');
    await page.getByRole('link', { name: /You/ }).click();
    await page.getByText('None. ').waitFor();
  });
});

describe('the organization', () => {
  test('is renamed, says who decides, and has its features set, changed and removed', async () => {
    await using service = await serveDevVault();
    await using person = await openWindow(browser);
    const { page } = person;
    await page.goto(service.windowUrl);
    await confirmWhenAsked(page, service.recoveryPhrase);
    await goTo(page, 'Organization');
    const rename = button(page, 'Rename');
    await expect.poll(() => rename.isDisabled()).toBe(true);
    await page.getByRole('textbox', { name: 'Name' }).fill('Household');
    await rename.click();
    await page.getByRole('alert').filter({ hasText: 'The new name is “Household”.' }).waitFor();
    await expect.poll(() => rename.isDisabled()).toBe(true);
    expect((await service.root.query('whoami')).body).toMatchObject({ organizationName: 'Household' });

    const features = page.getByRole('list', { name: 'Features' });
    const url = page.getByRole('textbox', { name: 'URL' });
    await url.fill('https://example.org/hook');
    await button(page, 'Set feature').click();
    await features.getByText('https://example.org/hook').waitFor();
    const change = button(page, 'Change feature');
    await expect.poll(() => change.isDisabled()).toBe(true);
    await url.fill('https://example.org/other');
    await change.click();
    await features.getByText('https://example.org/other').waitFor();
    const configs = await service.root.query('get_organization_configs');
    expect(configs.body).toMatchObject({
      configs: { features: [{ name: 'FEATURE_NAME_WEBHOOK', value: 'https://example.org/other' }] },
    });

    // Values that the vault refuses stay in the form, with the reason.
    await page.getByRole('combobox', { name: 'Feature' }).selectOption({ label: 'Passkey origins' });
    await page.getByRole('textbox', { name: 'Origins' }).fill('example.org');
    await button(page, 'Set feature').click();
    const refusal = page.getByRole('alert').filter({ hasText: 'Couldn’t set the feature' });
    await refusal.waitFor();
    expect(await refusal.innerText()).toContain('example.org');
    expect(await page.getByRole('textbox', { name: 'Origins' }).inputValue()).toBe('example.org');

    // A switch that is on is not offered again.
    await page.getByRole('combobox', { name: 'Feature' }).selectOption({ label: 'Sign-in by email' });
    await button(page, 'Set feature').click();
    await features.getByText('Sign-in by email').waitFor();
    const offered = page.getByRole('combobox', { name: 'Feature' }).getByRole('option');
    await expect.poll(() => offered.allInnerTexts()).not.toContain('Sign-in by email');
    await button(page, 'Remove Sign-in by email').click();
    await expect.poll(() => offered.allInnerTexts()).toContain('Sign-in by email');

    const webhook = button(page, 'Remove Webhook URL');
    await webhook.click();
    await features.waitFor({ state: 'hidden' });
    await button(page, 'Undo').click();
    await webhook.click();
    await features.waitFor({ state: 'hidden' });
    const after = await service.root.query('get_organization_configs');
    expect(after.body).toMatchObject({ configs: { features: [] } });
    expect(person.violations).toEqual([]);
    expect(person.complaints).toEqual([]);
  });
});

describe('what one person does in one vault', () => {
  let service: Service;
  let person: BrowserWindow;
  let page: Page;
  /** The bodies of all requests of the window. */
  const sent: string[] = [];

  beforeAll(async () => {
    const resources = new AsyncDisposableStack();
    const place = resources.use(newVaultHome());
    service = resources.use(await place.serve());
    person = resources.use(await openWindow(browser));
    ({ page } = person);
    page.on('request', (request) => sent.push(request.postData() ?? ''));
    await page.goto(service.windowUrl);
    await firstRun(page);
    // The words of the vault's own phrase were asked for, and may be any.
    sent.length = 0;
    return () => resources.disposeAsync();
  });

  goOnFromTestToTest(() => page);

  const words = knownWallet.phrase.split(' ');

  async function importWallet(name: string, phrase: string, passphrase = ''): Promise<void> {
    await goTo(page, 'Wallets');
    await page.getByRole('link', { name: 'Import wallet' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill(name);
    await page.getByRole('textbox', { name: 'Seed phrase' }).fill(phrase);
    await page.getByRole('textbox', { name: 'BIP-39 passphrase' }).fill(passphrase);
    await button(page, 'Import wallet').click();
  }

  async function importKey(name: string, curve: string, format: string, key: string): Promise<void> {
    await goTo(page, 'Private keys');
    await page.getByRole('link', { name: 'Import private key' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill(name);
    await chooseSegment(page, 'Curve', curve);
    await page.getByRole('checkbox', { name: format, exact: true }).check();
    await page.getByRole('textbox', { name: 'Private key' }).fill(key);
    await button(page, 'Import private key').click();
  }

  const imports = (): number => sent.filter((body) => body.includes('"ACTIVITY_TYPE_IMPORT_WALLET"')).length;

  const said = (text: string | RegExp) => page.getByRole('alert').filter({ hasText: text });

  test('a wallet is imported by its words, as people write them, and has the address that follows from them', async () => {
    await importWallet('Old wallet', ` ${knownWallet.phrase.toUpperCase().replaceAll(' ', '\n')} `);
    await heading(page, 'Old wallet').waitFor();
    expect(await readAddresses(page)).toEqual([knownWallet.ethereum]);
    await page.getByText('Imported', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Wallets' }).first().click();
    await page.getByRole('link', { name: 'Import wallet' }).click();
    expect(await page.getByRole('textbox', { name: 'Seed phrase' }).inputValue()).toBe('');
  });

  test('the same words with a passphrase are another wallet', async () => {
    const passphrase = ' naïve  Ångström ';
    await importWallet('Hidden wallet', knownWallet.phrase, passphrase);
    await heading(page, 'Hidden wallet').waitFor();
    const root = HDKey.fromMasterSeed(mnemonicToSeedSync(knownWallet.phrase, passphrase));
    const key = root.derive("m/44'/60'/0'/0/0").privateKey ?? new Uint8Array();
    expect(await readAddresses(page)).toEqual([privateKeyToAddress(bytesToHex(key))]);
    const dialog = await openDialog(page, 'Export…', 'Export wallet');
    await exportFrom(dialog, 'Export seed phrase');
    await hold(button(dialog, 'Show my words'));
    expect(await readPhrase(page, 'Seed phrase')).toEqual(words);
    expect(await dialog.locator('.kh-sheet-passphrase .kh-words-word').textContent()).toBe(passphrase);
    await leaveDialog(dialog, 'Done');
  });

  test('words that are not a phrase are refused, and stay to be corrected', async () => {
    const wrong = [...words.slice(1), 'tset'].join(' ');
    await importWallet('Mistyped', wrong);
    const field = page.getByRole('textbox', { name: 'Seed phrase' });
    await page.getByText('Word 12, “tset”, is not in the BIP-39 list. Did you mean “test”?').waitFor();
    await expect.poll(() => field.evaluate((each) => each === document.activeElement)).toBe(true);
    expect(await field.inputValue()).toBe(wrong);
    await field.fill(`${words.slice(1).join(' ')} test`);
    await button(page, 'Import wallet').click();
    await page.getByText('The words don’t match their checksum.').waitFor();
    // The window refuses these itself: no row of the log fails.
    expect(sent.filter((body) => body.includes('ACTIVITY_TYPE_INIT_IMPORT_WALLET'))).toHaveLength(2);
    await field.fill(knownWallet.phrase);
    await button(page, 'Import wallet').click();
    const refusal = page.locator('form').getByRole('alert').filter({ hasText: 'Couldn’t import the wallet' });
    await refusal.waitFor();
    expect(await refusal.innerText()).toContain('already exists');
  });

  test('words are completed by keyboard, and their addresses are shown before the import', async () => {
    await goTo(page, 'Wallets');
    await page.getByRole('link', { name: 'Import wallet' }).click();
    const field = page.getByRole('textbox', { name: 'Seed phrase' });
    await field.pressSequentially('1. legal 2. wi');
    await page.getByRole('listbox', { name: 'Suggestions for “Seed phrase”' }).waitFor();
    const active = () =>
      field.evaluate(
        (each) => document.getElementById(each.getAttribute('aria-activedescendant') ?? '')?.innerText,
      );
    expect(await active()).toBe('wide');
    await page.keyboard.press('ArrowUp');
    expect(await active()).toBe('win');
    await page.keyboard.press('Escape');
    await page.getByRole('listbox').waitFor({ state: 'hidden' });
    await page.keyboard.press('Control+Space');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.type('nn');
    await page.keyboard.press('Enter');
    expect(await field.inputValue()).toBe('1. legal 2. winner ');
    await field.pressSequentially('thnak ');
    await page.getByText('Word 3, “thnak”, is not in the BIP-39 list. Did you mean “thank”?').waitFor();
    const phrase = 'legal winner thank year wave sausage worth useful legal winner thank yellow';
    await field.fill(phrase);
    const before = imports();
    await button(page, 'Show addresses').click();
    const shown = page.getByRole('list', { name: 'First addresses' });
    await shown.waitFor();
    const root = HDKey.fromMasterSeed(mnemonicToSeedSync(phrase));
    const key = root.derive("m/44'/60'/0'/0/0").privateKey ?? new Uint8Array();
    const address = privateKeyToAddress(bytesToHex(key));
    expect((await shown.innerText()).replaceAll(/\s/g, '')).toContain(address);
    expect(imports()).toBe(before);
    expect(sent.filter((body) => body.includes('sausage'))).toEqual([]);
    // Addresses of other words are gone at once.
    await page.getByRole('textbox', { name: 'BIP-39 passphrase' }).fill('x');
    await shown.waitFor({ state: 'hidden' });
    await page.getByRole('textbox', { name: 'BIP-39 passphrase' }).fill('');
    await page.getByRole('textbox', { name: 'Name' }).fill('Seen before');
    await button(page, 'Import wallet').click();
    await heading(page, 'Seen before').waitFor();
    expect(await readAddresses(page)).toEqual([address]);
  });

  test('an exported phrase is shown when asked for, hidden again, and gone with its dialog', async () => {
    await goTo(page, 'Wallets');
    await page.getByRole('link', { name: /^Old wallet/ }).click();
    const dialog = await openDialog(page, 'Export…', 'Export wallet');
    await exportFrom(dialog, 'Export seed phrase');
    await button(dialog, 'Show my words').waitFor();
    expect(await page.content()).not.toContain('junk');
    await hold(button(dialog, 'Show my words'));
    expect(await readPhrase(page, 'Seed phrase')).toEqual(words);
    await button(dialog, 'Copy…').click();
    await button(dialog, 'Copy anyway').click();
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(knownWallet.phrase);
    await page.evaluate(() => navigator.clipboard.writeText('something else'));
    await button(dialog, 'Hide').click();
    await expect.poll(() => page.content()).not.toContain('junk');
    // The button that had the focus is gone; the one that came is where one goes on.
    await expect
      .poll(() => button(dialog, 'Show my words').evaluate((each) => each === document.activeElement))
      .toBe(true);
    await leaveDialog(dialog, 'Done');
    await expect.poll(() => page.content()).not.toContain('junk');
    await page.getByText('Exported', { exact: true }).waitFor();
    const again = await openDialog(page, 'Export…', 'Export wallet');
    await button(again, 'Export seed phrase').waitFor();
    await page.keyboard.press('Escape');
    await again.waitFor({ state: 'hidden' });
    await expect
      .poll(() => button(page, 'Export…').evaluate((each) => each === document.activeElement))
      .toBe(true);
  });

  test('its paper has the words and nothing else of the window', async () => {
    const dialog = await openDialog(page, 'Export…', 'Export wallet');
    await exportFrom(dialog, 'Export seed phrase');
    await hold(button(dialog, 'Show my words'));
    await page.emulateMedia({ media: 'print' });
    const seen = await page.locator('body').innerText();
    await takePicture(page, 'wallet-exported-print');
    await page.emulateMedia({ media: 'screen' });
    expect(seen).toContain('Seed phrase of the wallet “Old wallet”');
    expect(seen).toContain('junk');
    for (const other of ['Keyhearth', 'Manage', 'Hide', 'Done', 'Export']) expect(seen).not.toContain(other);
    await leaveDialog(dialog, 'Done');
  });

  test('a wallet gets another name, and not one that is taken', async () => {
    const dialog = await openDialog(page, 'Rename…', 'Rename wallet');
    const name = dialog.getByRole('textbox', { name: 'Name' });
    await name.fill('Hidden wallet');
    await dialog.getByText('This name is taken.').waitFor();
    await name.fill('Grandfather’s wallet');
    await button(dialog, 'Rename').click();
    await heading(page, 'Grandfather’s wallet').waitFor();
    await dialog.waitFor({ state: 'hidden' });
    await said('New name: “Grandfather’s wallet”').waitFor();
  });

  test('one account’s key is exported, and the account deleted and derived again', async () => {
    await page.getByRole('link', { name: 'Details of Ethereum address' }).click();
    await heading(page, 'Ethereum account').waitFor();
    const dialog = await openDialog(page, 'Export…', 'Export account key');
    await exportFrom(dialog, 'Export private key');
    await button(dialog, 'Show the private key').waitFor();
    expect(await page.content()).not.toContain(knownWallet.ethereumKey);
    await hold(button(dialog, 'Show the private key'));
    expect((await readFacts(dialog)).get('Private key, hex')).toBe(knownWallet.ethereumKey);
    await button(dialog, 'Copy private key, hex').click();
    await expect
      .poll(() => page.evaluate(() => navigator.clipboard.readText()))
      .toBe(knownWallet.ethereumKey);
    await page.evaluate(() => navigator.clipboard.writeText('something else'));
    await button(dialog, 'Hide the private key').click();
    await expect.poll(() => page.content()).not.toContain(knownWallet.ethereumKey);
    await leaveDialog(dialog, 'Done');

    const deleting = await openDialog(page, 'Delete…', 'Delete account');
    await button(deleting, 'Delete account').click();
    await deleting.getByText('The characters don’t match').waitFor();
    await deleting.getByRole('textbox').fill(knownWallet.ethereum.slice(-6));
    await button(deleting, 'Delete account').click();
    await heading(page, 'Grandfather’s wallet').waitFor();
    await page.getByRole('heading', { name: 'No accounts yet' }).waitFor();
    // Before the service has named the next path, the window shows none, and the button waits.
    const answering = Promise.withResolvers<undefined>();
    await page.route('**/window/call', async (route) => {
      if (route.request().postData()?.includes('get_free_wallet_path') === true) await answering.promise;
      await route.fallback();
    });
    await button(page, 'Add account').click();
    const adding = page.getByRole('dialog', { name: 'Add account' });
    await adding.getByText('Address format: Ethereum.').waitFor();
    expect(await adding.innerText()).not.toContain("m/44'");
    const adds = button(adding, 'Add account').click();
    expect(await button(adding, 'Add account').isDisabled()).toBe(true);
    answering.resolve(undefined);
    await adds;
    await adding.waitFor({ state: 'hidden' });
    await page.unroute('**/window/call');
    await expect.poll(() => readAddresses(page)).toEqual([knownWallet.ethereum]);
  });

  test('a wallet that was exported is deleted by its name, and imported again', async () => {
    const dialog = await openDialog(page, 'Delete…', 'Delete “Grandfather’s wallet”');
    expect(await dialog.innerText()).not.toContain('There is no other copy');
    await dialog.getByRole('textbox').fill('grandfather’s wallet');
    await button(dialog, 'Delete wallet').click();
    await dialog.getByText('The name doesn’t match').waitFor();
    await dialog.getByRole('textbox').fill('Grandfather’s wallet');
    await button(dialog, 'Delete wallet').click();
    await heading(page, 'Wallets').waitFor();
    await said('Wallet deleted').last().waitFor();
    await expect
      .poll(() => page.getByRole('list', { name: 'Wallets' }).getByRole('listitem').count())
      .toBe(2);
    await importWallet('Back again', knownWallet.phrase);
    await heading(page, 'Back again').waitFor();
    expect(await readAddresses(page)).toEqual([knownWallet.ethereum]);
  });

  test('a wallet of which there is no copy says so before it is deleted', async () => {
    await goTo(page, 'Wallets');
    await makeWallet(page, 'Only here', ['Ethereum', 'Solana']);
    await page.getByRole('listitem').nth(1).waitFor();
    const dialog = await openDialog(page, 'Delete…', 'Delete “Only here”');
    await dialog.getByText('everything in this wallet is lost').waitFor();
    await dialog.getByRole('textbox').fill('Only here');
    await button(dialog, 'Delete wallet').click();
    await heading(page, 'Wallets').waitFor();
    await said('Wallet deleted').last().waitFor();
  });

  test('a private key is imported in hex and exported the same', async () => {
    const key = 'b71c71a67e1177ad4e901695e1b4b9ee17ae16c6668d313eac2f96dbcda3f291';
    await importKey('Bought elsewhere', 'secp256k1', 'Ethereum', key.slice(1));
    await page.getByText('A private key has 64 hex digits; this has 63.').waitFor();
    await page.getByRole('textbox', { name: 'Private key' }).fill(`0x${key}`);
    await button(page, 'Import private key').click();
    await heading(page, 'Bought elsewhere').waitFor();
    expect(await readAddresses(page, 'Addresses')).toEqual([privateKeyToAddress(`0x${key}`)]);
    const dialog = await openDialog(page, 'Export…', 'Export private key');
    await exportFrom(dialog, 'Export private key');
    await hold(button(dialog, 'Show the private key'));
    expect((await readFacts(dialog)).get('Private key, hex')).toBe(key);
    await leaveDialog(dialog, 'Done');
    await page.getByText('Imported and exported').waitFor();
    await importKey('The same again', 'secp256k1', 'Ethereum', key);
    await said('This private key already exists').waitFor();
  });

  test('an encrypted key file of OpenSSH is read in the window by its passphrase, and a wrong file is refused', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'key-file-'));
    const file = join(directory, 'id_ed25519');
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', 'tick tock', '-C', 'ann@desk', '-f', file]);
    await goTo(page, 'Private keys');
    await page.getByRole('link', { name: 'Import private key' }).click();
    const chooser = page.locator('input[type=file]');
    await chooser.setInputFiles(`${file}.pub`);
    await page.getByText('This is a public key. Choose the file of the same name without .pub.').waitFor();
    await chooser.setInputFiles(file);
    const passphrase = page.getByRole('textbox', { name: 'Passphrase of id_ed25519' });
    await passphrase.fill('tick');
    await button(page, 'Decrypt').click();
    await page.getByText('The passphrase is wrong, or the key file is damaged.').waitFor();
    await passphrase.fill('tick tock');
    await passphrase.press('Enter');
    await passphrase.waitFor({ state: 'detached' });
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('ann@desk');
    await button(page, 'Import private key').click();
    await heading(page, 'ann@desk').waitFor();
    const blob = Buffer.from(readFileSync(`${file}.pub`, 'utf8').split(' ')[1] ?? '', 'base64');
    await page.getByText(blob.subarray(-32).toString('hex').slice(-8)).first().waitFor();
    rmSync(directory, { recursive: true });
  });

  test('a Solana wallet’s key is imported in base58 and exported the same', async () => {
    const seed = Uint8Array.from({ length: 32 }, (_, index) => index + 1);
    const publicKey = ed25519.getPublicKey(seed);
    const text = base58.encode(Uint8Array.from([...seed, ...publicKey]));
    await importKey('Phantom', 'Ed25519', 'Solana', text.slice(0, -1));
    await page.getByText(/Enter 64 hex digits, or the base58|do not belong together/).waitFor();
    await page.getByRole('textbox', { name: 'Private key' }).fill(text);
    await button(page, 'Import private key').click();
    await heading(page, 'Phantom').waitFor();
    expect(await readAddresses(page, 'Addresses')).toEqual([base58.encode(publicKey)]);
    const dialog = await openDialog(page, 'Export…', 'Export private key');
    await exportFrom(dialog, 'Export private key');
    await hold(button(dialog, 'Show the private key'));
    const facts = await readFacts(dialog);
    expect(facts.get('For Solana wallets, base58')).toBe(text);
    expect(facts.get('Private key, hex')).toBe(Buffer.from(seed).toString('hex'));
    await leaveDialog(dialog, 'Done');
  });

  test('tags are put on a key, seen in the list, renamed, and deleted', async () => {
    await page.getByRole('combobox', { name: 'Add tag' }).fill('cold');
    await button(page, 'Create and add').click();
    await button(page, 'Remove tag cold').waitFor();
    await goTo(page, 'Private keys');
    const row = page.getByRole('link', { name: /^Phantom/ });
    await row.filter({ hasText: 'cold' }).waitFor();
    await page.getByRole('link', { name: /^Bought elsewhere/ }).click();
    await page.getByRole('combobox', { name: 'Add tag' }).click();
    await page.getByRole('option', { name: 'cold' }).click();
    await button(page, 'Add tag').click();
    await button(page, 'Remove tag cold').waitFor();

    await goTo(page, 'Tags');
    const keys = page.getByRole('list', { name: 'Private key tags' });
    await keys.getByText('Phantom').waitFor();
    await keys.getByText('Bought elsewhere').waitFor();
    const renaming = await openDialog(page, 'Rename tag cold', 'Rename tag');
    await renaming.getByRole('textbox', { name: 'Name' }).fill('cold storage');
    await button(renaming, 'Rename').click();
    await renaming.waitFor({ state: 'hidden' });
    await keys.getByText('cold storage').waitFor();

    await keys.getByRole('link', { name: 'Phantom' }).click();
    await button(page, 'Remove tag cold storage').click();
    await page.getByText('No tags yet.').waitFor();
    // The button that had the focus is gone.
    await expect
      .poll(() =>
        page.getByRole('combobox', { name: 'Add tag' }).evaluate((each) => each === document.activeElement),
      )
      .toBe(true);

    await goTo(page, 'Tags');
    await page.getByRole('textbox', { name: 'Name' }).fill('cold storage');
    await page.getByText('This name is taken.').waitFor();
    await chooseSegment(page, 'Applies to', 'Users');
    await button(page, 'Create tag').click();
    await page.getByRole('list', { name: 'User tags' }).getByText('cold storage').waitFor();
    const deleting = page.getByRole('dialog', { name: 'Delete “cold storage”' });
    await keys.getByRole('button', { name: 'Delete tag cold storage' }).click();
    await deleting.getByText('Removed from 1 private key, which stays as is.').waitFor();
    await deleting.getByRole('textbox', { name: 'Type the name to confirm' }).fill('cold storage');
    await button(deleting, 'Delete tag').click();
    await deleting.waitFor({ state: 'hidden' });
    await page.getByRole('heading', { name: 'None yet' }).waitFor();
    await goTo(page, 'Private keys');
    await page.getByRole('link', { name: /^Bought elsewhere/ }).waitFor();
    await expect.poll(() => page.locator('main').innerText()).not.toContain('cold');
  });

  test('a private key is deleted by its name', async () => {
    await page.getByRole('link', { name: /^Bought elsewhere/ }).click();
    const dialog = await openDialog(page, 'Delete…', 'Delete “Bought elsewhere”');
    expect(await dialog.innerText()).not.toContain('There is no other copy');
    await dialog.getByRole('textbox').fill('Bought elsewhere');
    await button(dialog, 'Delete key').click();
    await heading(page, 'Private keys').waitFor();
    await said('Key deleted').last().waitFor();
    await expect.poll(() => page.getByRole('link', { name: /^Bought elsewhere/ }).count()).toBe(0);
  });

  test('a user is created, and its key lets the published SDK in as that user', async () => {
    await goTo(page, 'Users');
    await page.getByRole('link', { name: 'Create user' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Payroll');
    await page.getByRole('textbox', { name: 'Phone number' }).fill('+44 (20) 7946-0018');
    await page.getByRole('checkbox', { name: 'cold storage' }).check();
    await button(page, 'Create user').click();
    await heading(page, 'Payroll').waitFor();
    await button(page, 'Remove tag cold storage').waitFor();
    expect(await page.getByRole('textbox', { name: 'Phone number' }).inputValue()).toBe('+442079460018');

    await page.getByRole('link', { name: 'Add API key' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('On the server');
    await choose(page, 'Expires', 'After 30 days');
    await button(page, 'Create key').click();
    await page.getByRole('heading', { name: '“On the server” is ready' }).waitFor();
    await hold(button(page, 'Show the private key'));
    const environment = await page.getByRole('region', { name: 'environment lines' }).innerText();
    await button(page, 'I saved the key').click();
    await heading(page, 'Payroll').waitFor();
    await page.getByText('expires in 4 weeks').waitFor();
    const lines = new Map(environment.split('\n').map((line) => line.split('=', 2) as [string, string]));
    expect(await page.content()).not.toContain(lines.get('API_PRIVATE_KEY') ?? '');
    const turnkey = new Turnkey({
      apiBaseUrl: lines.get('BASE_URL') ?? '',
      defaultOrganizationId: lines.get('ORGANIZATION_ID') ?? '',
      apiPublicKey: lines.get('API_PUBLIC_KEY') ?? '',
      apiPrivateKey: lines.get('API_PRIVATE_KEY') ?? '',
    }).apiClient();
    expect(await turnkey.getWhoami()).toMatchObject({ username: 'Payroll' });
  });

  test('a public key that a script has already is registered, and deleted', async () => {
    // secp256k1's generator.
    const publicKey = '0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798';
    await page.getByRole('link', { name: 'Add API key' }).click();
    await chooseSegment(page, 'Key pair', 'Use my public key');
    await page.getByRole('textbox', { name: 'Name' }).fill('From an HSM');
    await choose(page, 'Key type', 'secp256k1');
    await page.getByRole('textbox', { name: 'Public key' }).fill(publicKey.slice(2));
    await button(page, 'Register key').click();
    await page.getByText('has 66 hex digits; this has 64 characters').waitFor();
    await page.getByRole('textbox', { name: 'Public key' }).fill(publicKey);
    await button(page, 'Register key').click();
    await heading(page, 'Payroll').waitFor();
    const keys = page.getByRole('list', { name: 'API keys' });
    await keys
      .getByRole('listitem')
      .filter({ hasText: 'From an HSM' })
      .filter({ hasText: 'secp256k1' })
      .waitFor();

    const dialog = await openDialog(page, 'Delete key From an HSM', 'Delete “From an HSM”');
    await button(dialog, 'Delete API key').click();
    await dialog.waitFor({ state: 'hidden' });
    await expect.poll(() => keys.getByRole('listitem').count()).toBe(1);
    // The last way in of a user is not taken away, and the dialog says why.
    const last = await openDialog(page, 'Delete key On the server', 'Delete “On the server”');
    await button(last, 'Delete API key').click();
    await last.getByRole('alert').filter({ hasText: 'Couldn’t delete the API key' }).waitFor();
    await leaveDialog(last, 'Cancel');
  });

  test('a user’s contact details are changed, and removed', async () => {
    const save = button(page, 'Save changes');
    await expect.poll(() => save.isDisabled()).toBe(true);
    await page.getByRole('textbox', { name: 'Email' }).fill('payroll@example.org');
    await page.getByRole('textbox', { name: 'Phone number' }).fill('');
    await save.click();
    await said('“Payroll” updated.').waitFor();
    await expect.poll(() => save.isDisabled()).toBe(true);
    await goTo(page, 'Users');
    await page
      .getByRole('link', { name: /^Payroll/ })
      .filter({ hasText: 'payroll@example.org' })
      .click();
    expect(await page.getByRole('textbox', { name: 'Phone number' }).inputValue()).toBe('');
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Ada');
    await page.getByText('This name is taken.').waitFor();
  });

  test('a user is deleted by the name, and the owner is not', async () => {
    const dialog = await openDialog(page, 'Delete…', 'Delete “Payroll”');
    await dialog.getByText('1 API key is deleted too').waitFor();
    await dialog.getByRole('textbox').fill('Payroll');
    await button(dialog, 'Delete user').click();
    await heading(page, 'Users').waitFor();
    await said('User deleted').waitFor();
    await page.getByRole('link', { name: /You/ }).click();
    await page.getByText('The owner of the vault can’t be deleted').waitFor();
    expect(await button(page, 'Delete…').count()).toBe(0);
    await page.getByText('This window').waitFor();
  });

  test('locking takes an exported secret off the screen', async () => {
    await goTo(page, 'Wallets');
    await page.getByRole('link', { name: /^Back again/ }).click();
    const dialog = await openDialog(page, 'Export…', 'Export wallet');
    await exportFrom(dialog, 'Export seed phrase');
    await hold(button(dialog, 'Show my words'));
    // As a computer's own lock does, while a dialog keeps the mouse from the button.
    await page.evaluate(() => {
      document.querySelectorAll<HTMLElement>('aside button').forEach((each) => {
        if (each.textContent === 'Lock') each.click();
      });
    });
    await heading(page, 'Unlock').waitFor();
    await expect.poll(() => page.content()).not.toContain('junk');
    await page.getByRole('textbox', { name: 'Password', exact: true }).fill(password);
    await button(page, 'Unlock').click();
    await heading(page, 'Back again').waitFor();
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
  });

  test('the log tells it all in words, and no secret went through it or over the port', async () => {
    await goTo(page, 'Activity');
    const rows = page.getByRole('list', { name: 'Activities' });
    const box = page.locator('.kh-long');
    for (const what of [
      /^Import a wallet Back again, 1 account /,
      /^Export a wallet Back again /,
      /^Delete wallets a deleted or unknown wallet /,
      /^Import a private key Phantom /,
      /^Create a private key tag cold /,
      /^Create users Payroll /,
      /^Delete users a deleted or unknown user /,
    ]) {
      const row = rows.getByRole('link', { name: what });
      // Rows are laid out where one looks: from the top to the bottom.
      await box.evaluate((element) => {
        element.scrollTop = 0;
      });
      await expect
        .poll(
          async () => {
            const found = await row.count();
            if (found === 0)
              await box.evaluate((element) => {
                const isAtEnd = element.scrollTop + element.clientHeight >= element.scrollHeight - 1;
                element.scrollTop = isAtEnd ? 0 : element.scrollTop + element.clientHeight / 2;
              });
            return found;
          },
          { message: String(what) },
        )
        .toBeGreaterThan(0);
    }
    const secrets = ['junk', knownWallet.ethereumKey, 'Ångström', 'b71c71a67e1177ad'];
    for (const secret of secrets) {
      expect(sent.filter((body) => body.includes(secret))).toEqual([]);
    }
    const kept = await page.evaluate(() =>
      JSON.stringify([localStorage, sessionStorage].map((each) => Object.entries(each))),
    );
    for (const secret of secrets) expect(kept).not.toContain(secret);
    await lock(page);
    expect(person.violations).toEqual([]);
    expect(person.complaints).toEqual([]);
    expect(service.stderr()).toBe('');
  });
});
