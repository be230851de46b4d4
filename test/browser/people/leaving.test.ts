/**
 * A person leaves a screen, or the vault is locked, while something that was pressed waits. The class: it is not done later, where
 * its screen is gone.
 */
import { createECDH } from 'node:crypto';
import { expect, test } from 'vitest';
import { activityOf, allowByVotes, newUserBy, newWallet } from '../../support/support.ts';
import { openHome, openWindow, sharedChromium } from '../support/chromium.ts';
import { visit } from '../support/inspect.ts';
import { newVaultHome, serveDevVault, startWindowVault } from '../support/service.ts';
import type { DevService } from '../support/service.ts';
import { button, firstRunToEnd, goTo, heading, lock, openDialog, password } from '../support/steps.ts';

/** Ben asks for what two must approve. An export needs the owner's secret; a tag needs none. */
async function askOwner({ root }: DevService, what: 'export' | 'tag') {
  const { client: ben } = await newUserBy(root, 'Ben');
  await allowByVotes(root, 'By two', "activity.action == 'EXPORT' || activity.resource == 'USER'", 2);
  const { walletId } = await newWallet(root, 'Everyday');
  const targetPublicKey = createECDH('prime256v1').generateKeys('hex', 'uncompressed');
  const { id } = activityOf(
    await (what === 'export'
      ? ben.submit('export_wallet', 'EXPORT_WALLET', { walletId, targetPublicKey })
      : ben.submit('create_user_tag', 'CREATE_USER_TAG', { userTagName: 'Payers', userIds: [] })),
  );
  return {
    id,
    status: async () => activityOf(await root.query('get_activity', { activityId: id })).status,
  };
}

test('a vote that a lock interrupts while it is confirmed is not sent after the unlock, and that is said', async () => {
  await using service = await serveDevVault();
  const { id, status } = await askOwner(service, 'tag');
  await using person = await openHome(service.windowUrl);
  const { page } = person;
  await page.clock.install();
  await page.reload();
  const unlock = async (): Promise<void> => {
    await page.getByRole('textbox', { name: 'Recovery phrase' }).fill(service.recoveryPhrase);
    await button(page, 'Unlock').click();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
  };
  /** The service has said that no secret is needed; the window hears of it when this is called. */
  const approve = async (): Promise<() => void> => {
    const asked = Promise.withResolvers();
    const heard = Promise.withResolvers();
    await page.unrouteAll();
    await page.route('**/window/reserveStepUp', async (route) => {
      const response = await route.fetch();
      asked.resolve(undefined);
      await heard.promise;
      await route.fulfill({ response });
    });
    await visit(page, `/approvals/${id}`);
    await button(page.getByRole('dialog', { name: 'Approval' }), 'Approve once').click();
    await asked.promise;
    // The button to lock is under the drawer.
    await page.evaluate(() => {
      window.location.hash = '#/wallets';
    });
    await lock(page);
    return () => {
      heard.resolve(undefined);
    };
  };

  const first = await approve();
  first();
  await page.getByText('1 vote was not sent. Unlock and vote again.').waitFor();
  await unlock();
  const second = await approve();
  await unlock();
  second();
  await page.getByText('1 vote was not sent', { exact: true }).waitFor();
  await page.clock.fastForward(10_000);
  // The service answers in the order of the requests.
  await visit(page, `/approvals/${id}`);
  await page.getByRole('dialog', { name: 'Approval' }).getByText('By two').waitFor();
  expect(await status()).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
  expect(person.complaints).toEqual([]);
});

test('the question for a secret goes with the screen that asked, and with the vault that was open then', async () => {
  await using service = await serveDevVault();
  const { id, status } = await askOwner(service, 'export');
  await using person = await openHome(service.windowUrl);
  const { page } = person;
  const question = page.getByRole('dialog', { name: 'Confirm it’s you' });
  const approve = () => button(page.getByRole('dialog', { name: 'Approval' }), 'Approve once').click();
  await visit(page, '/wallets');
  await heading(page, 'Wallets').waitFor();
  await visit(page, `/approvals/${id}`);
  await approve();
  await question.waitFor();
  await page.goBack();
  await heading(page, 'Wallets').waitFor();
  await question.waitFor({ state: 'hidden' });

  // The service has refused, and the window hears of it after a lock and an unlock.
  const refused = Promise.withResolvers();
  const heard = Promise.withResolvers();
  await page.route('**/window/reserveStepUp', async (route) => {
    const response = await route.fetch();
    refused.resolve(undefined);
    await heard.promise;
    await route.fulfill({ response });
  });
  await visit(page, `/approvals/${id}`);
  await approve();
  await refused.promise;
  await page.evaluate(() => {
    window.location.hash = '#/wallets';
  });
  await lock(page);
  await page.getByRole('textbox', { name: 'Recovery phrase' }).fill(service.recoveryPhrase);
  await button(page, 'Unlock').click();
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  const answered = page.waitForResponse('**/window/reserveStepUp');
  heard.resolve(undefined);
  await (await answered).finished();
  await page.unrouteAll();
  // A question of this vault's own is asked.
  await visit(page, `/approvals/${id}`);
  expect(await question.count()).toBe(0);
  await approve();
  await question.waitFor();
  expect(await status()).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
  expect(person.complaints).toEqual([]);
});

test('the words of a new vault go with its first lock', async () => {
  using place = newVaultHome();
  await using service = await place.serve();
  await using person = await openWindow(await sharedChromium());
  const { page } = person;
  await page.goto(service.windowUrl);
  await firstRunToEnd(page);
  const sheet = await openDialog(page, 'Print a recovery sheet…', 'Recovery sheet');
  await button(sheet, 'Create sheet').click();
  await sheet.getByText('The sheet is ready.').waitFor();
  await using other = await openHome(await place.newLink());
  await lock(other.page);
  await heading(page, 'Unlock').waitFor();
  expect(await page.getByRole('dialog').count()).toBe(0);
  expect(person.complaints).toEqual([]);
});

test('a freeze drops what was typed before an earlier lock', async () => {
  await using service = await startWindowVault();
  const { vault } = service;
  await using person = await openHome(vault.newLink());
  const { page } = person;
  await goTo(page, 'Address book');
  const name = page.getByRole('textbox', { name: 'Name' });
  await name.fill('Supplier');
  await lock(page);
  await vault.rpc.freeze();
  await page.getByRole('alert').filter({ hasText: 'All signing is frozen' }).waitFor();
  await page.getByRole('textbox', { name: 'Password', exact: true }).fill(password);
  await button(page, 'Unlock').click();
  await heading(page, 'Address book').waitFor();
  expect(await name.inputValue()).toBe('');
  expect(person.complaints).toEqual([]);
});
