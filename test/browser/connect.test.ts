/** Connect in the window: what came to the API, and what was wrong with it, as it comes. */
import { serializeTransaction } from 'viem';
import { expect, test } from 'vitest';
import { readSpenders, type PolicyText } from '../../main/lib/policies/spenders.ts';
import { newTestKey, newWallet, send, testKeyOf } from '../support/support.ts';
import { openHome } from './support/chromium.ts';
import { inspectScreens } from './support/inspect.ts';
import { serveDevVault } from './support/service.ts';
import { button, choose, chooseSegment, exportFrom, goTo, hold } from './support/steps.ts';

test('a request with a wrong signature is explained as it arrives, and one that policies refuse leads to them', async () => {
  await using service = await serveDevVault();
  const { root } = service;
  await using person = await openHome(service.windowUrl);
  const { page } = person;
  const { look, amiss: found } = inspectScreens(page);
  await goTo(page, 'Connect');
  await page.getByText('No requests yet').waitFor();
  await look('connect-no-request');

  const body = JSON.stringify({ organizationId: root.organizationId });
  const post = (stamp: string, path = 'query/whoami'): Promise<unknown> =>
    send(service.url, {
      path: `/public/v1/${path}`,
      body,
      headers: { 'content-type': 'application/json', 'user-agent': 'my-script/1', 'x-stamp': stamp },
    });
  await post(root.key.stamp(JSON.stringify(JSON.parse(body), null, 2)));
  const requests = page.getByRole('list', { name: 'Requests' });
  await requests.getByRole('button', { name: /^401/ }).click();
  const steps = requests.getByRole('list', { name: 'Checks' });
  const wrong = steps.getByRole('listitem').filter({ hasText: 'Failed' });
  await wrong.waitFor();
  expect(await wrong.innerText()).toMatch(
    /Signature[^]*same JSON[^]*Write it once, and sign and send that text/,
  );
  expect(await steps.getByRole('listitem').filter({ hasText: /OK/ }).count()).toBe(8);
  await requests.getByText('my-script/1').waitFor();
  await look('connect-explained');
  await page.setViewportSize({ width: 360, height: 720 });
  await look('connect-explained-narrow');
  await page.setViewportSize({ width: 1280, height: 800 });

  // An open explanation stays open while others arrive, and shows its own key.
  await post(newTestKey().stamp(body));
  await requests.getByRole('button', { name: /^401/ }).nth(1).waitFor();
  expect(await wrong.count()).toBe(1);
  await root.query('whoami');
  await requests.getByRole('button', { name: /^200/ }).waitFor();

  await page.getByRole('switch', { name: 'Refused only' }).press('Space');
  await requests.getByRole('button', { name: /^200/ }).waitFor({ state: 'detached' });
  await page.getByRole('switch', { name: 'Refused only' }).press('Space');

  const key = newTestKey();
  const apiKeys = [{ apiKeyName: 'key', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }];
  const user = { userName: 'Intern', apiKeys, authenticators: [], oauthProviders: [], userTags: [] };
  await root.submit('create_users', 'CREATE_USERS_V3', { users: [user] });
  await root.as(key).submit('create_user_tag', 'CREATE_USER_TAG', { userTagName: 'x', userIds: [] });
  const denied = requests.getByRole('button', { name: /^403.*Intern/ });
  await denied.click();

  // Paused, nothing comes until one goes on.
  await button(page, 'Pause').click();
  await root.query('whoami');
  await goTo(page, 'Users');
  await page.getByRole('link', { name: /^Intern/ }).click();
  await page
    .getByRole('list', { name: 'API keys' })
    .getByText(/last used/)
    .waitFor();
  await goTo(page, 'Connect');
  await requests.getByRole('button', { name: /^403.*Intern/ }).click();
  await page.getByRole('link', { name: 'Recent refusals' }).click();
  await page.getByRole('list', { name: 'Recent refusals' }).getByText('Intern').waitFor();

  // A person at an unattended window cannot leave with a key of the owner's.
  await goTo(page, 'Connect');
  await chooseSegment(page, 'Permissions', 'Everything');
  const name = page.getByRole('textbox', { name: 'Name' });
  const make = button(page, 'Create key');
  const dialog = page.getByRole('dialog', { name: 'Confirm it’s you' });
  const phrase = dialog.getByRole('textbox', { name: 'Current recovery phrase' });
  await name.fill('Backup script');
  await make.click();
  await dialog.waitFor();
  await expect.poll(() => phrase.evaluate((field) => field === document.activeElement)).toBe(true);
  await look('confirm');
  await page.setViewportSize({ width: 360, height: 720 });
  await look('confirm-narrow');
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.keyboard.press('Escape');
  await page.getByRole('alert').filter({ hasText: 'Not confirmed: nothing changed.' }).waitFor();
  await dialog.waitFor({ state: 'hidden' });
  await expect.poll(() => make.evaluate((each) => each === document.activeElement)).toBe(true);
  expect(await name.inputValue()).toBe('Backup script');
  await page.keyboard.press('Enter');
  await exportFrom(dialog, 'Confirm', `${'abandon '.repeat(23)}art`);
  await dialog
    .getByRole('alert')
    .filter({ hasText: 'The recovery phrase does not open this vault.' })
    .waitFor();
  await look('confirm-refused');
  await exportFrom(dialog, 'Confirm', service.recoveryPhrase);
  await page.getByRole('region', { name: 'environment lines' }).waitFor();
  await dialog.waitFor({ state: 'hidden' });

  // The default for a program: payments within a budget, and nothing else.
  const { walletId, ethereum } = await newWallet(root, 'Daily');
  const gone = await newWallet(root, 'Gone');
  await button(page, 'I saved the key').click();
  await name.fill('Payroll');
  const amount = page.getByRole('textbox', { name: 'Budget in ETH' });
  const makeBot = button(page, 'Create key with a budget');
  // No other wallet takes the place of one that is deleted meanwhile.
  await choose(page, 'Paying wallet', 'Gone');
  await root.submit('delete_wallets', 'DELETE_WALLETS', {
    walletIds: [gone.walletId],
    deleteWithoutExport: true,
  });
  const paying = page.getByRole('combobox', { name: 'Paying wallet' });
  await expect.poll(() => paying.inputValue()).toBe('');
  await makeBot.click();
  await page.getByText('Choose a wallet.').waitFor();
  await choose(page, 'Paying wallet', 'Daily');
  await amount.fill('0,05');
  await makeBot.click();
  await page.getByText('Enter an amount above zero, such as 0.05.').waitFor();
  await look('connect-bot-refused');
  await amount.fill('0.05');
  await makeBot.click();
  await hold(button(page, 'Show the private key'));
  const lines = await page.getByRole('region', { name: 'environment lines' }).innerText();
  const line = (field: string): string => new RegExp(`^${field}=(.*)$`, 'm').exec(lines)?.[1] ?? '';
  const bot = root.as(testKeyOf(line('API_PRIVATE_KEY'), line('API_PUBLIC_KEY')));
  const pay = async (value: bigint): Promise<number> => {
    const unsignedTransaction = serializeTransaction({
      type: 'eip1559',
      chainId: 1,
      nonce: 0,
      to: '0x5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a',
      value,
      gas: 21_000n,
      maxFeePerGas: 10n ** 9n,
      maxPriorityFeePerGas: 10n ** 9n,
    });
    const type = 'TRANSACTION_TYPE_ETHEREUM';
    const parameters = { signWith: ethereum, unsignedTransaction, type };
    return (await bot.submit('sign_transaction', 'SIGN_TRANSACTION_V2', parameters)).status;
  };
  expect([await pay(10n ** 17n), await pay(4n * 10n ** 16n), await pay(4n * 10n ** 16n + 1n)]).toEqual([
    403, 200, 403,
  ]);
  const { body: listed } = await root.query('list_policies');
  const inForce = readSpenders(listed?.['policies'] as PolicyText[]);
  expect(inForce).toMatchObject([
    { spender: { walletId, budgets: [{ tokens: [], amount: 5n * 10n ** 16n, period: 'day' }] } },
  ]);
  expect(found).toEqual([]);
  expect(person.violations).toEqual([]);
  expect(person.complaints).toEqual([]);
});
