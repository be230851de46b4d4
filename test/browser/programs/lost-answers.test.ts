/** A program is paired by several requests. The class: the answer of one is lost, and what it created stays without a name. */
import { expect, test } from 'vitest';
import { newUserBy, newWallet } from '../../support/support.ts';
import { openHome } from '../support/chromium.ts';
import { serveDevVault } from '../support/service.ts';
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
