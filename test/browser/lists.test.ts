/** Lists far longer than a screen, through the window: what is in sight is all that is laid out and asked for. */
import type { Browser } from 'playwright-core';
import { readFile } from 'node:fs/promises';
import { beforeAll, expect, test } from 'vitest';
import { makeConfig } from '../../main/app/config.ts';
import { mnemonicFromEntropy } from '../../main/crypto/keys/mnemonics.ts';
import { uuidV4 } from '../../main/crypto/uuid.ts';
import { insertKnownAddress } from '../../main/storage/tables/known-addresses.ts';
import { insertPrivateKey } from '../../main/storage/tables/private-keys.ts';
import { insertPolicy } from '../../main/storage/tables/policies.ts';
import { attachTag, insertTag } from '../../main/storage/tables/tags.ts';
import { insertUser } from '../../main/storage/tables/users.ts';
import { insertWallet } from '../../main/storage/tables/wallets.ts';
import { openVault } from '../../main/app/compose.ts';
import { fillAccounts, fillActivities } from '../support/long-lists.ts';
import { sharedChromium, openWindow } from './support/chromium.ts';
import { axeFindings, screenFindings } from './support/inspect.ts';
import { newVaultHome } from './support/service.ts';
import { button, goTo, heading } from './support/steps.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await sharedChromium();
});

const recoveryPhrase = mnemonicFromEntropy(new Uint8Array(32).fill(7));
const activities = 6_000;
const accounts = 3_000;
const privateKeys = 300;
const addresses = 1_000;
const users = 300;
const policies = 300;

const numbered = (seed: number, index: number): string =>
  uuidV4(
    new Uint8Array(16)
      .fill(seed)
      .with(0, index >> 8)
      .with(1, index & 255),
  );

async function makeVault(directory: string): Promise<void> {
  const vault = openVault(makeConfig({ dataDir: directory, configDir: directory, keychain: false }, {}));
  try {
    const { organizationId, userId } = await vault.setUp({
      organizationName: 'Long',
      userName: 'Ada',
      useKeychain: false,
      recoveryPhrase,
      recoveryConfirmed: true,
    });
    const walletId = uuidV4(new Uint8Array(16).fill(5));
    const at = Date.now();
    await vault.units.write((tx) => {
      const row = { id: walletId, organizationId, name: 'Customers', sealed: new Uint8Array(80) };
      insertWallet(tx, { ...row, exported: 0, imported: 0, createdAt: at, updatedAt: at });
    });
    await vault.units.write((tx) => {
      const tags = ['Releases', 'Old'].map((name, index) => {
        const tag = { id: numbered(6, index), organizationId, type: 'TAG_TYPE_PRIVATE_KEY', name } as const;
        insertTag(tx, { ...tag, createdAt: at, updatedAt: at });
        return tag;
      });
      for (let index = 0; index < privateKeys; index++) {
        const id = numbered(7, index);
        const name = `Key ${String(index)}`;
        const row = { id, organizationId, name, curve: 'CURVE_ED25519', sealed: new Uint8Array(80) };
        const publicKey = id.replaceAll('-', '').repeat(2);
        insertPrivateKey(tx, { ...row, publicKey, exported: 0, imported: 0, createdAt: at, updatedAt: at }, [
          { format: 'ADDRESS_FORMAT_SOLANA', address: `Solana${String(index)}` },
        ]);
        for (const [place, tag] of tags.entries()) if (index % 10 <= place) attachTag(tx, tag, id);
      }
    });
    await vault.units.write((tx) => {
      for (let index = 0; index < addresses; index++) {
        const id = numbered(8, index);
        const address = `0x${id.replaceAll('-', '')}${'0'.repeat(8)}`;
        const name = `Receiver ${String(index).padStart(4, '0')}`;
        insertKnownAddress(tx, { id, organizationId, name, address, createdAt: at });
      }
    });
    await vault.units.write((tx) => {
      const kept = { organizationId, createdAt: at, updatedAt: at };
      for (let index = 0; index < users; index++) {
        const name = `User ${String(index)}`;
        const email = `user${String(index)}@example.org`;
        const verified = { emailVerifiedAt: null, phoneNumberVerifiedAt: null };
        insertUser(tx, {
          ...kept,
          ...verified,
          id: numbered(9, index),
          name,
          email,
          phoneNumber: null,
          root: 0,
        });
      }
      for (let index = 0; index < policies; index++) {
        const condition = `wallet.id == '${numbered(10, index)}'`;
        const rule = { condition, consensus: '', time: null, notes: '' } as const;
        // A name that no row has the room for.
        const [name, effect] =
          index === 0
            ? ([`Policy 0 ${'of a long name '.repeat(16)}`.trim(), 'EFFECT_DENY'] as const)
            : ([`Policy ${String(index)}`, 'EFFECT_ALLOW'] as const);
        insertPolicy(tx, { ...kept, ...rule, id: numbered(11, index), name, effect });
      }
    });
    const place = { units: vault.units, organizationId };
    await fillAccounts(place, { walletId, count: accounts });
    await fillActivities(place, { userId, count: activities });
  } finally {
    vault.close();
  }
}

test('thousands of activities and accounts are scrolled, searched and saved without all of them being loaded', async () => {
  using place = newVaultHome();
  await makeVault(place.path);
  await using service = await place.serve();
  await using person = await openWindow(browser);
  const { page } = person;
  await page.goto(service.windowUrl);
  await page.getByRole('textbox', { name: 'Recovery phrase' }).fill(recoveryPhrase);
  await button(page, 'Unlock').click();
  const shown: number[] = [];
  page.on('request', (request) => {
    const body = request.postData() ?? '';
    if (body.includes('browse_'))
      shown.push((/"places":\[([^\]]*)\]/.exec(body)?.[1] ?? '').split(',').length);
  });

  await goTo(page, 'Activity');
  await page.getByText('6,000 activities').waitFor();
  const list = page.getByRole('list', { name: 'Activities' });
  const box = page.locator('.kh-long');
  await list.getByRole('link').first().waitFor();
  expect(await list.getByRole('listitem').count()).toBeLessThan(50);

  // To the very end, and to the middle.
  await box.evaluate((element) => {
    element.scrollTop = element.scrollHeight;
  });
  await list.getByRole('link', { name: /Wallet no\. 0 / }).waitFor();
  await box.evaluate((element) => {
    element.scrollTop = element.scrollHeight / 2;
  });
  await list
    .getByRole('link', { name: /3,00\d$/ })
    .first()
    .waitFor();
  expect(await list.getByRole('listitem').count()).toBeLessThan(50);
  expect(shown.length).toBeLessThan(12);
  expect(shown.reduce((sum, count) => sum + count, 0)).toBeLessThan(activities / 5);

  // From row to row by the keyboard, to either end.
  await list.getByRole('link').nth(8).focus();
  await page.keyboard.press('End');
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toContain('Wallet no. 0');
  await page.keyboard.press('ArrowUp');
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.textContent))
    .toContain('Sign a payload');
  await page.keyboard.press('Home');
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toContain('6,000');
  expect(await screenFindings(page, 'activity-long')).toEqual([]);

  await page.getByRole('searchbox', { name: 'Search' }).fill('wallet no. 5990');
  await page.getByText('1 activity', { exact: true }).waitFor();
  await button(page, 'Save as…').click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: 'JSON, complete' }).click(),
  ]);
  const saved = JSON.parse(await readFile(await download.path(), 'utf8')) as readonly {
    readonly type: string;
  }[];
  expect(saved.map(({ type }) => type)).toEqual(['ACTIVITY_TYPE_CREATE_WALLET']);
  await list.getByRole('link').click();
  await page.getByText('Intact and in sequence.').waitFor();
  await page.getByText('As the API has it').click();
  const asked = page.getByRole('region', { name: 'Request, as JSON' });
  await asked.getByText('"walletName": "Wallet no. 5990"').waitFor();
  await asked.locator('summary').first().press('Enter');
  await asked.getByText('1 field', { exact: true }).waitFor();
  expect(await asked.getByText('"walletName"').count()).toBe(0);
  await asked.locator('summary').first().press('Enter');
  await asked.getByText('"walletName": "Wallet no. 5990"').waitFor();
  await button(page, 'Copy request JSON').waitFor();
  await page.keyboard.press('Escape');

  await goTo(page, 'Wallets');
  await page.getByRole('link', { name: /Customers/ }).click();
  await page.getByText('3,000 accounts').waitFor();
  await page.getByText("m/44'/60'/0'/0/0", { exact: true }).waitFor();
  expect(await page.getByRole('list', { name: 'Accounts' }).getByRole('listitem').count()).toBeLessThan(40);
  expect(await screenFindings(page, 'accounts-long')).toEqual([]);
  await page.getByRole('searchbox', { name: 'Search' }).fill('customer 2000');
  await page.getByText('1 account', { exact: true }).waitFor();
  await page.getByText("m/44'/60'/0'/0/2000", { exact: true }).waitFor();

  // The actions of a row, by pointer and by keyboard.
  const copy = button(page, 'Copy Ethereum address');
  await copy.hover();
  await page.getByRole('tooltip', { name: 'Copy Ethereum address' }).waitFor();
  // It is said for a moment only.
  const copied = page.waitForFunction(
    () => document.querySelector('[role=tooltip]')?.textContent === 'Copied',
  );
  await copy.click();
  await copied;
  await page.keyboard.press('Escape');
  await expect.poll(() => page.getByRole('tooltip').count()).toBe(0);
  await page.keyboard.press('Tab');
  await page.getByRole('tooltip', { name: 'Show QR code' }).waitFor();
  await page.keyboard.press('Enter');
  await page
    .getByRole('dialog')
    .getByRole('img', { name: /^QR code of 0x/ })
    .waitFor();
  await page.keyboard.press('Escape');
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label')))
    .toMatch(/^Show QR code of Ethereum address, ends in [0-9a-fA-F]{4}$/);

  // One of them is renamed, and signed with: another is found by its path alone.
  await page.getByRole('link', { name: 'Details of Ethereum address' }).click();
  await heading(page, 'Customer 2000').waitFor();
  await button(page, 'Rename…').click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Rent');
  await button(page.getByRole('dialog'), 'Rename').click();
  await heading(page, 'Rent').waitFor();
  await button(page, 'Undo').click();
  await heading(page, 'Customer 2000').waitFor();
  await page.getByRole('link', { name: 'Sign with this account' }).click();
  const account = page.getByRole('combobox', { name: 'Account' });
  await expect.poll(() => account.inputValue()).toMatch(/^Customer 2000 · 0x/);
  await page.getByText('Showing the first 50.').waitFor();
  await account.fill('/0/2999');
  await page.getByRole('option', { name: /^Ethereum · .*\/0\/2999$/ }).click();
  await expect.poll(() => account.inputValue()).toMatch(/^Ethereum · 0x/);
  expect(await axeFindings(page, 'sign-long')).toEqual([]);

  await goTo(page, 'Private keys');
  await page.getByText('300 private keys').waitFor();
  const keys = page.getByRole('list', { name: 'Private keys' });
  expect(await keys.getByRole('listitem').count()).toBeLessThan(40);
  expect(await screenFindings(page, 'private-keys-long')).toEqual([]);
  await page.getByRole('combobox', { name: 'Tag' }).click();
  await page.getByRole('option', { name: 'Releases' }).click();
  await page.getByText('30 private keys').waitFor();
  await page.getByRole('searchbox', { name: 'Search' }).fill('solana290');
  await page.getByText('1 private key', { exact: true }).waitFor();
  await keys.getByRole('link', { name: 'Key 290 Ed25519 · 1 address tagged Releases tagged Old' }).waitFor();
  await page.getByRole('searchbox', { name: 'Search' }).fill('nowhere');
  await button(page, 'Show all').click();
  await page.getByText('300 private keys').waitFor();

  await goTo(page, 'Address book');
  await page.getByText('1,000 addresses').waitFor();
  const book = page.getByRole('list', { name: 'Address book' });
  expect(await book.getByRole('listitem').count()).toBeLessThan(40);
  expect(await screenFindings(page, 'addresses-long')).toEqual([]);
  await book.getByRole('button').first().focus();
  await page.keyboard.press('End');
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label')))
    .toBe('Copy address of Receiver 0999');
  // An address is found as it is shown, with gaps, and a name is taken away where the list was searched.
  await page.getByRole('searchbox', { name: 'Search' }).fill('0X03E7 0808');
  await page.getByText('1 address', { exact: true }).waitFor();
  await button(page, 'Delete name Receiver 0999').click();
  await button(page.getByRole('dialog'), 'Delete name').click();
  await page.getByText('No matching address').waitFor();
  await button(page, 'Show all').click();
  await page.getByText('999 addresses').waitFor();

  for (const [title, count, wanted] of [
    ['Users', '301 users', 'User 288'],
    ['Policies', '300 policies', 'Policy 288'],
  ] as const) {
    await goTo(page, title);
    await page.getByText(count).waitFor();
    const rows = page.getByRole('list', { name: title, exact: true });
    await rows.getByRole('link').first().waitFor();
    expect(await rows.getByRole('listitem').count()).toBeLessThan(40);
    expect(await screenFindings(page, `${title}-long`)).toEqual([]);
    if (title === 'Policies') expect(await rows.getByText('Denies').evaluate(isInSight)).toBe(true);
    await rows.getByRole('link').first().focus();
    // The list may still follow the size of the window, which was narrow just now.
    await expect
      .poll(async () => {
        await page.keyboard.press('End');
        return page.evaluate(() => document.activeElement?.textContent);
      })
      .toMatch(/ 299/);
    await page.getByRole('searchbox', { name: 'Search' }).fill(wanted.toLowerCase());
    await rows.getByRole('link', { name: wanted }).click();
    await heading(page, wanted).waitFor();
  }
  expect(person.violations).toEqual([]);
  expect(person.complaints).toEqual([]);
});

/** Runs in the page. @returns false where the lines that a row has room for leave the element out. */
function isInSight(element: Element): boolean {
  const own = element.getBoundingClientRect();
  const lines = element.closest('.kh-clamp')?.getBoundingClientRect();
  return lines !== undefined && own.bottom <= lines.bottom + 1 && own.right <= lines.right + 1;
}
