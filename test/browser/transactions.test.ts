/** Transactions in the window: pasted, seen in plain language, signed. */
import type { Browser } from 'playwright-core';
import {
  encodeFunctionData,
  keccak256,
  parseAbi,
  recoverTransactionAddress,
  serializeTransaction,
} from 'viem';
import { beforeAll, expect, test } from 'vitest';
import { ethereumAccount, resultOf, solanaAccount } from '../support/support.ts';
import { sharedChromium, openWindow } from './support/chromium.ts';
import { axeFindings, inspectScreens, visit } from './support/inspect.ts';
import { serveDevVault } from './support/service.ts';
import { button, goTo, heading } from './support/steps.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await sharedChromium();
});

test('a person reads what a transaction does, and signs it', async () => {
  await using service = await serveDevVault();
  const made = await service.root.submit('create_wallet', 'CREATE_WALLET', {
    walletName: 'Everyday',
    accounts: [ethereumAccount],
  });
  const [address] = resultOf(made).addresses;
  const transaction = serializeTransaction({
    type: 'eip1559',
    chainId: 1,
    to: '0x3535353535353535353535353535353535353535',
    value: 10n ** 18n,
  });
  const sends = 'Send 1 ETH to 0x3535353535353535353535353535353535353535';
  await using person = await openWindow(browser);
  const { page } = person;
  const { look, amiss } = inspectScreens(page);
  await page.goto(service.windowUrl);
  await goTo(page, 'Sign');
  const field = page.getByRole('textbox', { name: 'Payload' });
  // Text that begins as hex and is none is never taken for a message by itself.
  await field.fill('0x0');
  await page.getByText('Add or remove one digit').waitFor();
  expect(await page.getByRole('radio', { name: /^Message/ }).isChecked()).toBe(false);
  await field.fill(transaction);
  const summary = page.getByRole('region', { name: 'Summary' });
  await summary.getByRole('heading', { name: sends }).waitFor();
  expect(await page.getByRole('radio', { name: /^Ethereum transaction/ }).isChecked()).toBe(true);
  await summary.getByText('First time to this address').waitFor();
  await look('sign-transaction');
  await button(page, /^Sign$/).click();
  const signed = page.getByRole('region', { name: 'Signed' });
  const text = await signed.getByText(/02f8[0-9a-f]+/).innerText();
  await button(signed, 'Show QR code').click();
  await signed.getByRole('img', { name: 'QR code of the result' }).waitFor();
  await look('signed-transaction');
  const hex = /02f8[0-9a-f]+/.exec(text)?.[0] ?? '';
  const sender = await recoverTransactionAddress({ serializedTransaction: `0x02${hex.slice(2)}` });
  expect(sender).toBe(address);

  // A raw hash tells nothing, until what it is the hash of is shown with it.
  await field.fill(keccak256(transaction));
  await signed.waitFor({ state: 'hidden' });
  await page.getByText('This fits more than one kind').waitFor();
  await button(page, /^Sign$/).click();
  await page.getByText('Choose one, then sign.').waitFor();
  await page.getByRole('radio', { name: 'Hash of something else' }).check();
  await summary.getByRole('heading', { name: 'Sign a hash' }).waitFor();
  await summary.getByText('A hash does not tell what it stands for').waitFor();
  const preimage = page.getByRole('textbox', { name: 'Original data (optional)' });
  await preimage.fill('0x00');
  await page.getByText('Neither the Keccak-256 nor the SHA-256 hash matches.').waitFor();
  await preimage.fill(transaction);
  await summary.getByRole('heading', { name: sends }).waitFor();
  await summary.getByText('The hash that is signed is the hash of this').waitFor();
  await summary.getByText('Last signed for it').waitFor();
  await look('sign-hash');
  await button(page, /^Sign$/).click();
  await page.getByRole('region', { name: 'Signed' }).getByRole('link', { name: 'Open in the log' }).click();
  const detail = page.getByRole('dialog', { name: 'Activity' });
  await detail.getByRole('heading', { name: sends }).waitFor();
  await detail.getByText('As the API has it').click();
  await detail.getByRole('region', { name: 'Request, as JSON' }).getByText('"preimage"').waitFor();
  await look('activity-signed');
  expect(amiss).toEqual([]);
});

test('a contract’s interface is kept, read by, and deleted', async () => {
  await using service = await serveDevVault();
  await service.root.submit('create_wallet', 'CREATE_WALLET', {
    walletName: 'Everyday',
    accounts: [ethereumAccount],
  });
  await using person = await openWindow(browser);
  const { page } = person;
  const { look, amiss } = inspectScreens(page);
  await page.goto(service.windowUrl);
  await goTo(page, 'Sign');
  await page.getByRole('link', { name: 'Contract interfaces' }).click();
  await heading(page, 'Contract interfaces').waitFor();
  await page.getByRole('heading', { name: 'No contract interfaces yet' }).waitFor();
  await page.getByRole('textbox', { name: 'Name' }).fill('Vault of somebody');
  await page.getByRole('textbox', { name: 'Address' }).fill(contract);
  const text = page.getByRole('textbox', { name: 'Interface' });
  await text.fill('[{ "type": "function",\n  "name": deposit }]');
  await button(page, 'Add interface').click();
  await page.getByText('Expected JSON, got text that is none at line 2, column 11').waitFor();
  await text.fill('[{ "type": "function", "name": "lend", "inputs": [{ "name": "to", "type": "adress" }] }]');
  await button(page, 'Add interface').click();
  await page.getByText('Expected a type of Solidity in input 0 of lend, got adress').waitFor();
  await look('contract-interface-refused');
  await text.fill(JSON.stringify(lending));
  await button(page, 'Add interface').click();
  const list = page.getByRole('list', { name: 'Contract interfaces' });
  await list.getByTitle(contract).waitFor();
  await look('contract-interfaces');

  await goTo(page, 'Sign');
  await page.getByRole('textbox', { name: 'Payload' }).fill(
    serializeTransaction({
      type: 'eip1559',
      chainId: 1,
      to: contract,
      data: encodeFunctionData({ abi: lending, functionName: 'lend', args: [5n] }),
    }),
  );
  const summary = page.getByRole('region', { name: 'Summary' });
  await summary.getByRole('heading', { name: /lend/ }).waitFor();
  await page.getByRole('link', { name: 'Contract interfaces' }).click();
  await button(page, 'Delete interface Vault of somebody').click();
  await button(page.getByRole('dialog'), 'Delete interface').click();
  await page.getByRole('heading', { name: 'No contract interfaces yet' }).waitFor();
  expect(amiss).toEqual([]);
});

const contract = '0x3535353535353535353535353535353535353535';
const lending = parseAbi(['function lend(uint256 amount)']);

test('a form that was opened for an account signs with no other, unless one chooses it', async () => {
  await using service = await serveDevVault();
  const made = await service.root.submit('create_wallet', 'CREATE_WALLET', {
    walletName: 'Everyday',
    accounts: [ethereumAccount, solanaAccount],
  });
  const { walletId, addresses } = resultOf(made);
  await using person = await openWindow(browser);
  const { page } = person;
  await page.goto(service.windowUrl);
  await goTo(page, 'Sign');
  await visit(page, `/sign/account/${walletId}/0x3535353535353535353535353535353535353535`);
  const failure = page.getByRole('alert').filter({ hasText: 'Couldn’t load the account' });
  await failure.waitFor();
  const account = page.getByRole('combobox', { name: 'Account' });
  expect(await account.inputValue()).toBe('');
  await page.getByRole('textbox', { name: 'Payload' }).fill('hello');
  await button(page, /^Sign$/).click();
  await page.getByText('Choose an account.').waitFor();
  expect(await axeFindings(page, 'sign-without-account')).toEqual([]);
  const signed = async (): Promise<number> => {
    const { body } = await service.root.query('list_activities', {});
    const { activities } = body as { readonly activities: readonly { readonly type: string }[] };
    return activities.filter(({ type }) => type.includes('_SIGN_')).length;
  };
  expect(await signed()).toBe(0);
  await account.click();
  await page.getByRole('option', { name: /^Ethereum/ }).click();
  await failure.waitFor({ state: 'hidden' });
  await button(page, /^Sign$/).click();
  const result = page.getByRole('region', { name: 'Signed' });
  await result.waitFor();
  expect(await account.inputValue()).toContain(addresses[0]?.slice(-4));
  expect(await signed()).toBe(1);

  // Nor does the account that was chosen for one address stay for the next.
  await visit(page, `/sign/account/${walletId}/${addresses[1] ?? ''}`);
  await expect.poll(() => account.inputValue()).toContain(addresses[1]?.slice(-4) ?? 'none');
  await visit(page, `/sign/account/${walletId}/0x3535353535353535353535353535353535353535`);
  await failure.waitFor();
  expect(await account.inputValue()).toBe('');
});
