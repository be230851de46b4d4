/**
 * Sub-organizations in the window: one is created, its user acts in it, and the vault's owner can only read
 * it; in another, the owner acts.
 */
import type { Browser } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { ethereumAccount, newTestKey, resultOf, TestClient } from '../support/support.ts';
import { sharedChromium, openWindow } from './support/chromium.ts';
import { serveDevVault } from './support/service.ts';
import { button, confirmWhenAsked, goTo, heading, openDialog, readFacts } from './support/steps.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await sharedChromium();
});

test('one of a customer’s own is read, and nothing in it is changed; one that this window may act in is deleted', async () => {
  await using service = await serveDevVault();
  const { root } = service;
  await using person = await openWindow(browser);
  const { page } = person;
  await page.goto(service.windowUrl);
  await confirmWhenAsked(page, service.recoveryPhrase);

  // Features of the vault's own organization are not on in others.
  await goTo(page, 'Organization');
  await page.getByRole('combobox', { name: 'Feature' }).selectOption({ label: 'Recovery by email' });
  await button(page, 'Set feature').click();
  await page.getByRole('list', { name: 'Features' }).getByText('Recovery by email').waitFor();

  const grace = newTestKey();
  await goTo(page, 'Sub-organizations');
  await page.getByRole('link', { name: 'New sub-organization' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Customer 1');
  await page.getByRole('textbox', { name: 'First user' }).fill('Grace');
  await page.getByRole('textbox', { name: 'API key of the user' }).fill(grace.publicKey.slice(2));
  await page.getByRole('checkbox', { name: 'This window may sign for the user too' }).uncheck();
  await button(page, 'Create sub-organization').click();
  await page.getByText('has 66 hex digits and starts with 02 or 03').waitFor();
  await page.getByRole('textbox', { name: 'API key of the user' }).fill(grace.publicKey);
  await button(page, 'Create sub-organization').click();
  await heading(page, 'Customer 1').waitFor();
  const overview = page.locator('main section').first();
  await overview.getByText('Grace alone has full access.').waitFor();
  const organizationId = new URL(page.url()).hash.split('/').at(-1) ?? '';
  const facts = await readFacts(overview);
  expect(facts.get('Policies')).toBe('None');
  const answer = await root.query('get_organization', { organizationId });
  const { features } = (
    answer.body as { readonly organizationData: { readonly features: readonly object[] } }
  ).organizationData;
  expect(facts.get('Features')).not.toContain('None');
  expect(facts.get('Features')?.split(', ')).toHaveLength(features.length);
  const users = page.getByRole('list', { name: 'Users' });
  await users.getByRole('listitem').filter({ hasText: 'Grace' }).filter({ hasText: '1 API key' }).waitFor();
  await page.getByText('No activity').waitFor();

  // Its user makes a wallet by that key; it is seen here, and nowhere among the vault's own.
  const customer = new TestClient(service.url, organizationId, grace);
  const made = await customer.submit('create_wallet', 'CREATE_WALLET', {
    walletName: 'Purse',
    accounts: [ethereumAccount],
  });
  const [address = ''] = resultOf(made).addresses;
  await page.getByRole('list', { name: 'Wallets and private keys' }).getByText('Purse').waitFor();
  await page.getByRole('list', { name: 'Last activity' }).getByText('Create a wallet').waitFor();
  // Nothing is offered that only its own users may do.
  await page.getByText('Only its own users may delete the sub-organization').waitFor();
  expect(await page.locator('main').getByRole('button', { name: /…$/ }).count()).toBe(0);
  await goTo(page, 'Wallets');
  await page.getByRole('heading', { name: 'No wallets yet' }).waitFor();

  // It is found by what its user made in it.
  await goTo(page, 'Sub-organizations');
  const list = page.getByRole('list', { name: 'Sub-organizations' });
  await page.getByRole('combobox', { name: 'Find by' }).selectOption('WALLET_ACCOUNT_ADDRESS');
  await page.getByRole('textbox', { name: 'Exact value' }).fill(address);
  await button(page, 'Find').click();
  const row = list.getByRole('link', { name: /^Customer 1/ });
  await row.filter({ hasText: '1 user · 1 wallet' }).waitFor();
  expect(await list.getByText('You may act here').count()).toBe(0);

  // Another, in which this window is let act, can be deleted from here: by its name.
  await page.getByRole('link', { name: 'New sub-organization' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Customer 2');
  await page.getByRole('textbox', { name: 'First user' }).fill('Joan');
  await button(page, 'Create sub-organization').click();
  await heading(page, 'Customer 2').waitFor();
  await goTo(page, 'Sub-organizations');
  await list
    .getByRole('link', { name: /^Customer 2/ })
    .filter({ hasText: 'You may act here' })
    .click();
  await heading(page, 'Customer 2').waitFor();
  const dialog = await openDialog(page, 'Delete…', 'Delete “Customer 2”');
  await dialog.getByRole('textbox').fill('Customer 1');
  await button(dialog, 'Delete organization').click();
  await dialog.getByText('The name doesn’t match').waitFor();
  await dialog.getByRole('textbox').fill('Customer 2');
  await button(dialog, 'Delete organization').click();
  await heading(page, 'Sub-organizations').waitFor();
  await page.getByRole('alert').filter({ hasText: 'Sub-organization deleted' }).waitFor();
  await list.getByText('Customer 1').waitFor();
  await expect.poll(() => list.getByRole('listitem').count()).toBe(1);
  expect(person.complaints).toEqual([]);
});
