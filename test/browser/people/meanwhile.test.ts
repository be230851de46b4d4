/** Others change the vault while a form is open: what the form does is still what the person read in it. */
import { expect, test } from 'vitest';
import { ethereumAccount, resultOf } from '../../support/support.ts';
import { openWindow, sharedChromium } from '../support/chromium.ts';
import { serveDevVault } from '../support/service.ts';
import { button, goTo, heading } from '../support/steps.ts';

test('no other key signs, or pays, where the preselected one is deleted', async () => {
  await using service = await serveDevVault();
  const { root } = service;
  const newWallet = async (walletName: string) =>
    resultOf(
      await root.submit('create_wallet', 'CREATE_WALLET', {
        walletName,
        accounts: [0, 1].map((index) => ({ ...ethereumAccount, path: `m/44'/60'/0'/0/${String(index)}` })),
      }),
    );
  const { walletId, addresses } = await newWallet('First');
  await newWallet('Second');
  await using person = await openWindow(await sharedChromium());
  const { page } = person;
  await page.goto(service.windowUrl);
  await heading(page, 'Home').waitFor();

  await goTo(page, 'Sign');
  await page.getByRole('textbox', { name: 'Payload' }).fill('a text');
  const account = page.getByRole('combobox', { name: 'Account' });
  await page.getByRole('heading', { name: 'Sign a message for Ethereum' }).waitFor();
  const read = await account.inputValue();
  expect(read).toContain(String(addresses[0]).slice(0, 8));
  const { accounts } = (await root.query('list_wallet_accounts', { walletId })).body as unknown as {
    readonly accounts: readonly { readonly walletAccountId: string; readonly address: string }[];
  };
  const first = accounts.find(({ address }) => address === addresses[0]);
  const refetched = page.waitForResponse((response) =>
    Boolean(response.request().postData()?.includes('browse_wallet_accounts')),
  );
  await root.submit('delete_wallet_accounts', 'DELETE_WALLET_ACCOUNTS', {
    walletAccountIds: [first?.walletAccountId],
    deleteWithoutExport: true,
  });
  await refetched;
  await button(page, /^Sign$/).click();
  await page.getByText('Nothing was signed').waitFor();
  expect(await account.inputValue()).toBe(read);

  await goTo(page, 'Connect');
  const paying = page.getByRole('combobox', { name: 'Paying wallet' });
  await expect.poll(() => paying.inputValue()).toBe('First');
  await root.submit('delete_wallets', 'DELETE_WALLETS', { walletIds: [walletId], deleteWithoutExport: true });
  await expect.poll(() => paying.inputValue()).not.toBe('First');
  await button(page, 'Create key with a budget').click();
  await page.getByText('Choose a wallet.').waitFor();
  expect((await root.query('list_policies')).body).toMatchObject({ policies: [] });
  expect(person.complaints).toEqual([]);
});
