/** From a one-time link to signatures, by the window and by a script, on a vault on disk. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Turnkey } from '@turnkey/sdk-server';
import type { Page } from 'playwright-core';
import decodeQr from 'qr/decode.js';
import { hashMessage, isAddress, keccak256, recoverAddress, toBytes, toPrefixedMessage } from 'viem';
import { beforeAll, describe, expect, test } from 'vitest';
import { sharedChromium, openWindow, takePicture } from './support/chromium.ts';
import type { BrowserWindow } from './support/chromium.ts';
import { goOnFromTestToTest } from './support/in-order.ts';
import { readPng } from './support/png.ts';
import { newVaultHome } from './support/service.ts';
import type { Service } from './support/service.ts';
import {
  button,
  choose,
  chooseSegment,
  firstRun,
  goTo,
  heading,
  hold,
  makeWallet,
  password,
  readAddresses,
  readFacts,
} from './support/steps.ts';

const run = promisify(execFile);
const output = join(import.meta.dirname, '../output');

let service: Service;
let person: BrowserWindow;
let page: Page;

beforeAll(async () => {
  const resources = new AsyncDisposableStack();
  const browser = await sharedChromium();
  const place = resources.use(newVaultHome());
  service = resources.use(await place.serve());
  person = resources.use(await openWindow(browser));
  ({ page } = person);
  return () => resources.disposeAsync();
});

goOnFromTestToTest(() => page);

const look = (name: string): Promise<void> => takePicture(page, name);

/** 32 bytes in base58: one in a thousand has fewer than 43 characters. */
const solanaAddress = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

/** Values that each step leaves for the next. */
let words: readonly string[] = [];
let ethereum = '';
let solana = '';

describe('a person sets up a vault and uses it', () => {
  test('the link leads through the first run into the vault', async () => {
    await page.goto(service.windowUrl);
    words = await firstRun(page, look);
    expect(words).toHaveLength(24);
    // The code is in no address that can be shared, nor in the history.
    expect(page.url()).toBe(`${service.windowOrigin}/`);
    await page.getByRole('heading', { name: 'Set up the vault' }).waitFor();
    await look('home-first');
  });

  test('a wallet gets an Ethereum and a Solana account', async () => {
    await makeWallet(page, 'Savings', ['Ethereum', 'Solana']);
    [ethereum = '', solana = ''] = await readAddresses(page);
    expect(isAddress(ethereum, { strict: true })).toBe(true);
    expect(solana).toMatch(solanaAddress);
    await look('wallet');
  });

  test('the QR code on the screen reads as the address', async () => {
    for (const [name, address] of [
      ['Ethereum', ethereum],
      ['Solana', solana],
    ] as const) {
      await button(page, `Show QR code of ${name} address`).click();
      const dialog = page.getByRole('dialog', { name: `${name} address` });
      const code = dialog.getByRole('img', { name: `QR code of ${address}` });
      expect(decodeQr(readPng(await code.screenshot()), { timeLimit: 60_000 })).toBe(address);
      await look(`wallet-qr-${name.toLowerCase()}`);
      await button(dialog, 'Close').click();
      await dialog.waitFor({ state: 'hidden' });
    }
  });

  test('the copy button puts the address on the clipboard', async () => {
    await button(page, 'Copy Ethereum address').click();
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(ethereum);
  });

  test('an account is added at the next free path', async () => {
    await button(page, 'Add account').click();
    const dialog = page.getByRole('dialog', { name: 'Add account' });
    await dialog.getByText("m/44'/60'/0'/0/1").waitFor();
    await look('wallet-add-account');
    await dialog.getByRole('textbox', { name: 'Label' }).fill('Rent');
    await button(dialog, 'Add account').click();
    await dialog.waitFor({ state: 'hidden' });
    await expect.poll(() => readAddresses(page)).toHaveLength(3);
    const [first, , third = ''] = await readAddresses(page);
    expect(first).toBe(ethereum);
    expect(isAddress(third, { strict: true })).toBe(true);
    expect(third).not.toBe(ethereum);
    await page.getByText("Rent · m/44'/60'/0'/0/1").waitFor();
    await look('wallet-three-accounts');
  });

  test('a private key is created, with an address', async () => {
    await goTo(page, 'Private keys');
    await page.getByRole('heading', { name: 'No private keys yet' }).waitFor();
    await look('private-keys-empty');
    await page.getByRole('link', { name: 'Create private key' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Release signing');
    await chooseSegment(page, 'Curve', 'Ed25519');
    await page.getByRole('checkbox', { name: 'Solana' }).check();
    await look('private-key-new');
    await button(page, 'Create private key').click();
    await heading(page, 'Release signing').waitFor();
    const [address] = await readAddresses(page, 'Addresses');
    expect(address).toMatch(solanaAddress);
    await look('private-key');
    await goTo(page, 'Private keys');
    await page.getByRole('link', { name: /Release signing/ }).waitFor();
    await look('private-keys');
  });

  test('a text is signed with the Ethereum account, and the signature is that account’s', async () => {
    const text = 'Pay 3 € to Grace — thanks';
    await goTo(page, 'Sign');
    await page.getByRole('textbox', { name: 'Payload' }).fill(text);
    await page.getByRole('region', { name: 'Summary' }).getByText('Sign a message for Ethereum').waitFor();
    await look('sign');
    await button(page, /^Sign$/).click();
    const panel = page.getByRole('region', { name: 'Signed' });
    await panel.waitFor();
    await look('signed');
    const facts = await readFacts(panel);
    const hash = hashMessage(text);
    const [r, s, v] = [facts.get('r'), facts.get('s'), facts.get('v')];
    expect(v).toMatch(/^0[01]$/);
    const signature = { r: `0x${r ?? ''}`, s: `0x${s ?? ''}`, yParity: Number(v) } as const;
    expect(await recoverAddress({ hash, signature })).toBe(ethereum);
    const shown = (await panel.getByText(/^0x[0-9a-f]{130}$/).innerText()) as `0x${string}`;
    expect(await recoverAddress({ hash, signature: shown })).toBe(ethereum);

    // The activity log has the request and its result.
    await panel.getByRole('link', { name: 'Open in the log' }).click();
    const detail = page.getByRole('dialog', { name: 'Activity' });
    const json = async (name: string): Promise<unknown> =>
      JSON.parse(await detail.getByRole('region', { name: `${name}, as JSON` }).innerText());
    await detail.getByText('As the API has it').click();
    expect(await json('Request')).toMatchObject({
      signRawPayloadIntentV2: {
        signWith: ethereum,
        payload: toPrefixedMessage(text).slice(2),
        encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
        hashFunction: 'HASH_FUNCTION_KECCAK256',
      },
    });
    expect(await json('Result')).toMatchObject({ signRawPayloadResult: { r, s, v } });
    await look('activity-detail');
    await button(detail, 'Close').click();
    await detail.waitFor({ state: 'hidden' });
    const rows = page.getByRole('list', { name: 'Activities' }).getByRole('listitem');
    await expect
      .poll(async () => (await rows.allInnerTexts()).map((row) => row.split(/\s{2,}|\n/)[0]))
      .toEqual([
        expect.stringContaining('Sign a payload'),
        expect.stringContaining('Create private keys'),
        expect.stringContaining('Add accounts to a wallet'),
        expect.stringContaining('Create a wallet'),
      ]);
    await look('activity');
    await choose(page, 'Type', 'Sign a payload');
    await expect
      .poll(() => page.getByRole('list', { name: 'Activities' }).getByRole('listitem').count())
      .toBe(1);
    await look('activity-filtered');
  });

  test('the key made under Connect lets the published SDK in, by the lines on the screen', async () => {
    await goTo(page, 'Connect');
    await chooseSegment(page, 'Permissions', 'Everything');
    await page.getByRole('textbox', { name: 'Name' }).fill('Payroll script');
    await look('connect');
    await button(page, 'Create key').click();
    await page.getByRole('heading', { name: '“Payroll script” is ready' }).waitFor();
    await look('connect-made');
    await hold(button(page, 'Show the private key'));
    const environment = await page.getByRole('region', { name: 'environment lines' }).innerText();
    await page.getByRole('tab', { name: 'TypeScript' }).click();
    const example = await page.getByRole('region', { name: 'TypeScript example' }).innerText();
    await look('connect-shown');

    // The two files, as the window says to make them, inside the project for its node_modules.
    await mkdir(output, { recursive: true });
    const directory = await mkdtemp(join(output, 'connect-'));
    try {
      await writeFile(join(directory, '.env'), environment);
      await writeFile(join(directory, 'example.ts'), example);
      const argv = [`--env-file=${join(directory, '.env')}`, join(directory, 'example.ts')];
      // A test runner's own BASE_URL would win over the file's.
      const { stdout } = await run(process.execPath, argv, { env: { PATH: process.env['PATH'] } });
      expect(stdout).toContain("username: 'Ada'");
      expect(stdout).toContain("walletName: 'Savings'");
    } finally {
      await rm(directory, { recursive: true });
    }

    const lines = new Map(environment.split('\n').map((line) => line.split('=', 2) as [string, string]));
    const turnkey = new Turnkey({
      apiBaseUrl: lines.get('BASE_URL') ?? '',
      defaultOrganizationId: lines.get('ORGANIZATION_ID') ?? '',
      apiPublicKey: lines.get('API_PUBLIC_KEY') ?? '',
      apiPrivateKey: lines.get('API_PRIVATE_KEY') ?? '',
    }).apiClient();
    const payload = keccak256(toBytes('from a script'));
    const { r, s, v } = await turnkey.signRawPayload({
      signWith: ethereum,
      payload,
      encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
      hashFunction: 'HASH_FUNCTION_NO_OP',
    });
    const signature = { r: `0x${r}`, s: `0x${s}`, yParity: Number(v) } as const;
    expect(await recoverAddress({ hash: payload, signature })).toBe(ethereum);

    // Resources from a script appear on the screen without a reload.
    await goTo(page, 'Wallets');
    await turnkey.createWallet({ walletName: 'Made by a script', accounts: [] });
    await page.getByRole('link', { name: /Made by a script/ }).waitFor();
    await look('wallets');
  });

  test('locked, it opens with the password and not with another', async () => {
    await button(page, 'Lock').click();
    await heading(page, 'Unlock').waitFor();
    await look('unlock');
    await button(page, 'Unlock').click();
    await page.getByText('Enter the password.').waitFor();
    await page.getByRole('textbox', { name: 'Password', exact: true }).fill('correct horse battery stable');
    await button(page, 'Unlock').click();
    const refusal = page.getByRole('alert').filter({ hasText: 'Couldn’t unlock the vault' });
    await refusal.waitFor();
    expect(await refusal.innerText()).toMatch(/password/i);
    await look('unlock-refused');
    await page.getByRole('textbox', { name: 'Password', exact: true }).fill(password);
    await button(page, 'Unlock').click();
    await heading(page, 'Wallets').waitFor();
  });

  test('locked, it opens with the recovery phrase, as people type it', async () => {
    await button(page, 'Lock').click();
    await page.getByText('Recovery phrase', { exact: true }).click();
    const field = page.getByRole('textbox', { name: 'Recovery phrase' });
    await field.fill(words.slice(0, 23).join(' '));
    await button(page, 'Unlock').click();
    await page.getByText('A recovery phrase has 24 words; you entered 23.').waitFor();
    await look('unlock-phrase-short');
    // The right words in another order: the checksum, or the key, is not the vault's.
    await field.fill([...words].reverse().join(' '));
    await button(page, 'Unlock').click();
    await page.getByRole('alert').filter({ hasText: 'Couldn’t unlock the vault' }).waitFor();
    await look('unlock-phrase-refused');
    await field.fill(`  ${words.join('\n').toUpperCase()} `);
    await button(page, 'Unlock').click();
    await heading(page, 'Wallets').waitFor();
    await page.getByRole('link', { name: /Savings/ }).waitFor();
  });

  test('nothing was refused by the policy, and nothing failed unseen', () => {
    expect(person.violations).toEqual([]);
    expect(person.complaints).toEqual([]);
  });
});
