/** A program is paired by several requests. The class: the answer of one is lost, and what it created stays without a name. */
import { expect, test } from 'vitest';
import { newUserBy, newWallet } from '../../support/support.ts';
import { openHome } from '../support/chromium.ts';
import { serveDevVault, startWindowVault } from '../support/service.ts';
import { button, confirmWhenAsked, goTo, loseAnswers } from '../support/steps.ts';

test.each(['CREATE_USERS_V4', 'CREATE_POLICIES', 'CREATE_API_KEYS_V2'])(
  'a bot leaves nothing where the answer to %s is lost, and is created by the next press',
  async (type) => {
    await using service = await serveDevVault();
    const { root } = service;
    await newWallet(root, 'Daily');
    await using person = await openHome(service.windowUrl);
    const { page } = person;
    await confirmWhenAsked(page, service.recoveryPhrase);
    const things = async () => {
      const { body: users } = await root.query('list_users');
      const { body: policies } = await root.query('list_policies');
      return {
        users: (users as { users: readonly { userName: string }[] }).users.map(({ userName }) => userName),
        policies: (policies as { policies: readonly unknown[] }).policies.length,
      };
    };
    const before = await things();
    await goTo(page, 'Connect');
    await page.getByRole('textbox', { name: 'Name' }).fill('Payroll');
    await page.getByRole('textbox', { name: 'Budget in ETH' }).fill('0.05');
    const find = await loseAnswers(page, `ACTIVITY_TYPE_${type}`);
    const make = button(page, 'Create key with a budget');
    await make.click();
    await page.getByRole('alert').filter({ hasText: 'Couldn’t create the key' }).waitFor();
    expect(await things()).toEqual(before);

    await find();
    // For a moment the window still lists the user that is gone, and says that the name is taken.
    await goTo(page, 'Users');
    await expect.poll(() => page.getByRole('link', { name: 'Payroll' }).count()).toBe(0);
    await goTo(page, 'Connect');
    await page.getByRole('textbox', { name: 'Name' }).fill('Payroll');
    await page.getByRole('textbox', { name: 'Budget in ETH' }).fill('0.05');
    await make.click();
    await button(page, 'Show the private key').waitFor();
    expect((await things()).users).toContain('Payroll');
  },
);

test('a bot that another person creates under the name stays, where the request for this one is lost', async () => {
  await using service = await serveDevVault();
  const { root } = service;
  await newWallet(root, 'Daily');
  await using person = await openHome(service.windowUrl);
  const { page } = person;
  await confirmWhenAsked(page, service.recoveryPhrase);
  await goTo(page, 'Connect');
  await page.getByRole('textbox', { name: 'Name' }).fill('Payroll');
  await page.getByRole('textbox', { name: 'Budget in ETH' }).fill('0.05');
  let theirs: ReturnType<typeof newUserBy> | undefined;
  await page.route('**/window/**', async (route) => {
    if (route.request().postData()?.includes('CREATE_USERS_V4') !== true) return route.fallback();
    theirs ??= newUserBy(root, 'Payroll');
    await theirs;
    return route.abort();
  });
  await button(page, 'Create key with a budget').click();
  await page.getByRole('alert').filter({ hasText: 'Couldn’t create the key' }).waitFor();
  const { body } = await root.query('list_users');
  const { users } = body as { readonly users: readonly { readonly userId: string }[] };
  expect(users.map(({ userId }) => userId)).toContain((await theirs)?.userId);
});

test('a program leaves nothing where the answers of its undoing are lost as well', async () => {
  await using service = await startWindowVault();
  const { root, vault } = service;
  await using person = await openHome(vault.newLink());
  const { page } = person;
  await confirmWhenAsked(page);
  await goTo(page, 'Doors');
  await button(page, 'Pair a program with SSH and git…').click();
  const form = page.getByRole('dialog');
  await form.getByRole('textbox', { name: 'Program' }).fill('laptop');
  for (const type of ['ACTIVITY_TYPE_CREATE_POLICIES', 'ACTIVITY_TYPE_DELETE_USERS', '"remove"'])
    await loseAnswers(page, type);
  await button(form, 'Pair program').click();
  await form.getByRole('alert').filter({ hasText: 'Couldn’t pair the program' }).waitFor();
  expect(await page.getByText('Couldn’t delete what was created').count()).toBe(0);
  expect((await root.query('list_users')).body?.['users']).toHaveLength(1);
  expect((await root.query('list_policies')).body?.['policies']).toEqual([]);
  await button(form, 'Cancel').click();
  await page.getByText('No programs yet').first().waitFor();
  expect(await button(page, /^Revoke/).count()).toBe(0);
});
