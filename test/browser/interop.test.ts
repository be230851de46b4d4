/** Secrets between the window and the vendor's crypto: what the one seals, the other opens, by way of the window's own screens. */
import {
  decryptExportBundle,
  encryptPrivateKeyToBundle,
  encryptWalletToBundle,
  generateP256KeyPair,
} from '@turnkey/crypto';
import type { Browser, Page } from 'playwright-core';
import { privateKeyToAddress } from 'viem/accounts';
import { beforeAll, expect, test } from 'vitest';
import { resultOf, send } from '../support/support.ts';
import type { Answer, Json } from '../support/support.ts';
import { sharedChromium, openWindow } from './support/chromium.ts';
import { serveDevVault } from './support/service.ts';
import {
  button,
  exportFrom,
  goTo,
  heading,
  hold,
  knownWallet,
  openDialog,
  readAddresses,
} from './support/steps.ts';
import { leaveDialog, readFacts, readPhrase } from './support/steps.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await sharedChromium();
});

interface Call {
  readonly args: readonly [path: string, body: Json];
}

/**
 * Puts other parameters into the window's requests of a kind, as a program would that stands between.
 * @returns what the vault answered to the requests whose path has one of the names.
 */
async function between(
  page: Page,
  change: (operation: string, parameters: Json) => Promise<Json> | Json,
): Promise<ReadonlyMap<string, Answer>> {
  const answers = new Map<string, Answer>();
  await page.route('**/window/call', async (route) => {
    const { args } = route.request().postDataJSON() as Call;
    const [path, body] = args;
    const operation = path.split('/').at(-1) ?? '';
    if (!/^(init_import|import|export)_/.test(operation)) return route.continue();
    const parameters = await change(operation, body['parameters'] as Json);
    const response = await route.fetch({
      postData: JSON.stringify({ args: [path, { ...body, parameters }] }),
    });
    answers.set(operation, ((await response.json()) as { readonly value: Answer }).value);
    return route.fulfill({ response });
  });
  return answers;
}

test('what the vendor’s library sealed is imported in the window, and what the window exports opens with it', async () => {
  await using service = await serveDevVault();
  const { root, recoveryPhrase } = service;
  const { organizationId } = root;
  const { body: keys } = await send(service.url, { method: 'GET', path: '/public/v1/discovery/keys' });
  const signer = { organizationId, dangerouslyOverrideSignerPublicKey: keys?.['signer'] as string };
  const pair = generateP256KeyPair();
  const { phrase: mnemonic, ethereum, ethereumKey } = knownWallet;
  const otherKey = 'b71c71a67e1177ad4e901695e1b4b9ee17ae16c6668d313eac2f96dbcda3f291';
  const bundleOf = (answers: ReadonlyMap<string, Answer>, operation: string, field: string): string => {
    const answer = answers.get(operation);
    if (answer === undefined) throw new Error(`the window did not ask for ${operation}`);
    return resultOf(answer)[field] as string;
  };
  await using person = await openWindow(browser);
  const { page } = person;
  await page.goto(service.windowUrl);

  // In: the window is given other secrets, and the vendor's bundles of the right ones go out in place of its own.
  const brought = await between(page, async (operation, parameters) => {
    const { userId } = parameters as { readonly userId: string };
    if (operation === 'import_wallet') {
      const importBundle = bundleOf(brought, 'init_import_wallet', 'importBundle');
      return {
        ...parameters,
        encryptedBundle: await encryptWalletToBundle({ mnemonic, importBundle, userId, ...signer }),
      };
    }
    if (operation !== 'import_private_key') return parameters;
    const importBundle = bundleOf(brought, 'init_import_private_key', 'importBundle');
    const key = { privateKey: otherKey, keyFormat: 'HEXADECIMAL' } as const;
    return {
      ...parameters,
      encryptedBundle: await encryptPrivateKeyToBundle({ ...key, importBundle, userId, ...signer }),
    };
  });
  await goTo(page, 'Wallets');
  await page.getByRole('link', { name: 'Import wallet' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('By the vendor');
  await page.getByRole('textbox', { name: 'Seed phrase' }).fill(`${'abandon '.repeat(11)}about`);
  await button(page, 'Import wallet').click();
  await heading(page, 'By the vendor').waitFor();
  expect(await readAddresses(page)).toEqual([ethereum]);
  await goTo(page, 'Private keys');
  await page.getByRole('link', { name: 'Import private key' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('By the vendor');
  await page.getByRole('checkbox', { name: 'Ethereum', exact: true }).check();
  await page.getByRole('textbox', { name: 'Private key' }).fill(`${'00'.repeat(31)}01`);
  await button(page, 'Import private key').click();
  await heading(page, 'By the vendor').waitFor();
  expect(await readAddresses(page, 'Addresses')).toEqual([privateKeyToAddress(`0x${otherKey}`)]);
  await page.unroute('**/window/call');

  // The window opens what comes for itself: the same secrets.
  const key = await openDialog(page, 'Export…', 'Export private key');
  await exportFrom(key, 'Export private key', recoveryPhrase);
  await hold(button(key, 'Show the private key'));
  expect((await readFacts(key)).get('Private key, hex')).toBe(otherKey);
  await leaveDialog(key, 'Done');

  // Out: to a key pair of the vendor's making. The window says that it cannot open what is not for itself.
  const taken = await between(page, (_operation, parameters) => ({
    ...parameters,
    targetPublicKey: pair.publicKeyUncompressed,
  }));
  const toVendor = async (title: string, name: string, refusal: string): Promise<void> => {
    const dialog = await openDialog(page, 'Export…', title);
    await exportFrom(dialog, name, recoveryPhrase);
    await dialog.getByRole('alert').filter({ hasText: refusal }).waitFor();
    await leaveDialog(dialog, 'Cancel');
  };
  const opened = (operation: string, returnMnemonic: boolean): Promise<string> =>
    decryptExportBundle({
      exportBundle: bundleOf(taken, operation, 'exportBundle'),
      embeddedKey: pair.privateKey,
      returnMnemonic,
      ...signer,
    });
  await toVendor('Export private key', 'Export private key', 'Couldn’t export the private key');
  expect(await opened('export_private_key', false)).toBe(otherKey);
  await goTo(page, 'Wallets');
  await page.getByRole('link', { name: /^By the vendor/ }).click();
  await heading(page, 'By the vendor').waitFor();
  await toVendor('Export wallet', 'Export seed phrase', 'Couldn’t export the seed phrase');
  expect(await opened('export_wallet', true)).toBe(mnemonic);
  await page.getByRole('link', { name: 'Details of Ethereum address' }).click();
  await heading(page, 'Ethereum account').waitFor();
  await toVendor('Export account key', 'Export private key', 'Couldn’t export the private key');
  expect(await opened('export_wallet_account', false)).toBe(ethereumKey);
  await page.unroute('**/window/call');
  await goTo(page, 'Wallets');
  await page.getByRole('link', { name: /^By the vendor/ }).click();
  const wallet = await openDialog(page, 'Export…', 'Export wallet');
  await exportFrom(wallet, 'Export seed phrase', recoveryPhrase);
  await hold(button(wallet, 'Show my words'));
  expect((await readPhrase(page, 'Seed phrase')).join(' ')).toBe(mnemonic);
  expect(person.complaints).toEqual([]);
});
