/** Transactions in the window: pasted, seen in plain language, signed. */
import type { Browser } from 'playwright-core';
import { recoverTransactionAddress, serializeTransaction } from 'viem';
import { beforeAll, expect, test } from 'vitest';
import { ethereumAccount, resultOf } from '../support.ts';
import { launchChromium, openWindow } from './chromium.ts';
import { axeFindings, tooWideFindings } from './inspect.ts';
import { serveDevVault } from './service.ts';
import { button, goTo } from './steps.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await launchChromium();
  return () => browser.close();
});

test('a person reads what a transaction does, and signs it', async () => {
  await using service = await serveDevVault();
  const made = await service.root.submit('create_wallet', 'CREATE_WALLET', {
    walletName: 'Everyday',
    accounts: [ethereumAccount],
  });
  const [address] = resultOf(made).addresses;
  await using person = await openWindow(browser);
  const { page } = person;
  await page.goto(service.windowUrl);
  await goTo(page, 'Sign');
  await page.getByText('Transaction', { exact: true }).click();
  const field = page.getByRole('textbox', { name: 'Transaction' });
  await field.fill('0x0');
  await page.getByText('Paste the transaction in hex').waitFor();
  await field.fill(
    serializeTransaction({
      type: 'eip1559',
      chainId: 1,
      to: '0x3535353535353535353535353535353535353535',
      value: 10n ** 18n,
    }),
  );
  const summary = page.getByRole('region', { name: 'What it does' });
  await summary
    .getByRole('heading', { name: 'Send 1 ETH to 0x3535353535353535353535353535353535353535' })
    .waitFor();
  const amiss = [
    ...(await axeFindings(page, 'sign-transaction')),
    ...(await tooWideFindings(page, 'sign-transaction')),
  ];
  await button(page, 'Sign the transaction').click();
  const signed = page.getByRole('region', { name: 'Signed transaction' });
  const text = await signed.getByText(/02f8[0-9a-f]+/).innerText();
  const hex = /02f8[0-9a-f]+/.exec(text)?.[0] ?? '';
  const sender = await recoverTransactionAddress({ serializedTransaction: `0x02${hex.slice(2)}` });
  expect(sender).toBe(address);
  expect(amiss).toEqual([]);
});
