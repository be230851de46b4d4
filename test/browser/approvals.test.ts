/** Approvals in the window: what others asked for comes up, and is approved and rejected by hand and by key. */
import type { Browser } from 'playwright-core';
import { serializeTransaction } from 'viem';
import { beforeAll, expect, test } from 'vitest';
import {
  activityOf,
  allowByVotes,
  ethereumAccount,
  newTestKey,
  newUserBy,
  resultOf,
} from '../support/support.ts';
import { sharedChromium, openWindow, openHome } from './support/chromium.ts';
import { inspectScreens, visit } from './support/inspect.ts';
import { serveDevVault, startWindowVault } from './support/service.ts';
import { button, goTo, heading, lock, readFacts, sendVote } from './support/steps.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await sharedChromium();
});

test('the owner approves and rejects what another user asks for', async () => {
  await using service = await serveDevVault();
  const { root } = service;
  const key = newTestKey();
  const user = {
    userName: 'Ben',
    apiKeys: [{ apiKeyName: 'key', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }],
    authenticators: [],
    oauthProviders: [],
    userTags: [],
  };
  activityOf(await root.submit('create_users', 'CREATE_USERS_V3', { users: [user] }));
  await allowByVotes(root, 'Tags by two', "activity.resource == 'USER' || activity.action == 'SIGN'", 2);
  const ben = root.as(key);
  const ask = async (userTagName: string) =>
    activityOf(await ben.submit('create_user_tag', 'CREATE_USER_TAG', { userTagName, userIds: [] }));
  const statusOf = async ({ id }: { readonly id: string }) =>
    activityOf(await root.query('get_activity', { activityId: id })).status;

  await using person = await openWindow(browser);
  const { page } = person;
  await page.clock.install();
  const { look, amiss } = inspectScreens(page);
  await page.goto(service.windowUrl);
  await heading(page, 'Home').waitFor();
  await goTo(page, 'Approvals');
  await page.getByText('No pending requests').waitFor();
  await look('approvals-empty');

  const first = await ask('First');
  await page.getByText('A request needs your approval').waitFor();
  await page.getByRole('navigation').getByText('1 to approve').waitFor();
  // Home leads to the one request, and not to a list of one.
  await goTo(page, 'Home');
  await page.getByRole('link', { name: 'Review', exact: true }).click();
  const drawer = page.getByRole('dialog');
  await drawer.getByText('“Tags by two” needs more approvals').waitFor();
  await drawer.getByText('The vault creates the tag First for no user yet.').waitFor();
  await look('approval');
  // A vote that is taken back was never sent.
  await button(drawer, 'Approve once').click();
  await page.getByText('Approving: Create a user tag').waitFor();
  await page.getByText('Approving…').waitFor();
  await look('approval-held');
  await button(page, 'Undo').click();
  await page.clock.fastForward(10_000);
  await page.getByText('Needs your approval', { exact: true }).waitFor();
  expect(await statusOf(first)).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
  await page.getByRole('link', { name: /Create a user tag First requested by Ben/ }).click();
  await button(drawer, 'Approve once').click();
  await sendVote(page);
  await page.getByText('Approved and completed.').waitFor();
  expect(await statusOf(first)).toBe('ACTIVITY_STATUS_COMPLETED');
  await page.getByText('No pending requests').waitFor();

  const [second, third] = [await ask('Second'), await ask('Third')];
  await page.getByRole('link', { name: /Second requested by Ben/ }).click();
  await button(drawer, 'Reject').waitFor();
  // One press does nothing but say so; after another key, the two begin again.
  await page.keyboard.press('d');
  await drawer.getByText('Press D again to reject.').waitFor();
  await page.keyboard.press('x');
  await drawer.getByText('Press D again to reject.').waitFor({ state: 'hidden' });
  await page.keyboard.press('d');
  await page.keyboard.press('d');
  await sendVote(page);
  await page.getByText('Rejected.').waitFor();
  expect(await statusOf(second)).toBe('ACTIVITY_STATUS_REJECTED');
  await page.getByRole('link', { name: /Third requested by Ben/ }).click();
  await button(drawer, 'Approve once').waitFor();
  await page.keyboard.press('a');
  await page.keyboard.press('a');
  await sendVote(page);
  await page.getByText('No pending requests').waitFor();
  expect(await statusOf(third)).toBe('ACTIVITY_STATUS_COMPLETED');

  // The message is decoded, not merely quoted.
  const wallet = resultOf(
    await root.submit('create_wallet', 'CREATE_WALLET', {
      walletName: 'Everyday',
      accounts: [ethereumAccount],
    }),
  );
  const signWith = wallet.addresses[0];
  await goTo(page, 'Approvals');
  const payment = activityOf(
    await ben.submit('sign_transaction', 'SIGN_TRANSACTION_V2', {
      signWith,
      type: 'TRANSACTION_TYPE_ETHEREUM',
      unsignedTransaction: serializeTransaction({
        type: 'eip1559',
        chainId: 1,
        to: `0x${'35'.repeat(20)}`,
        value: 10n ** 18n,
      }),
    }),
  );
  // A request cannot be approved before its description is on the screen, by mouse or by key.
  const description = Promise.withResolvers<undefined>();
  await page.route('**/window/**', async (route) => {
    if (route.request().postData()?.includes('describe_payload') === true) await description.promise;
    await route.fallback();
  });
  await page
    .getByRole('link', {
      name: /Sign a transaction Send 1 ETH to 0x(35){20}, .* from Everyday .* requested by Ben/,
    })
    .click();
  await drawer.getByText('Review 1 more payload').waitFor();
  expect(await button(drawer, 'Approve once').isDisabled()).toBe(true);
  await page.keyboard.press('a');
  await page.keyboard.press('a');
  description.resolve(undefined);
  await drawer.getByRole('heading', { name: `Send 1 ETH to 0x${'35'.repeat(20)}` }).waitFor();
  await drawer.getByText('As the API has it').click();
  await drawer.getByRole('region', { name: 'Request, as JSON' }).waitFor();
  expect(await statusOf(payment)).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
  await look('approval-transaction');
  await button(drawer, 'Approve once').click();
  await sendVote(page);
  await page.getByText('No pending requests').waitFor();
  expect(await statusOf(payment)).toBe('ACTIVITY_STATUS_COMPLETED');
  const hashes = activityOf(
    await ben.submit('sign_raw_payloads', 'SIGN_RAW_PAYLOADS', {
      signWith,
      payloads: ['aa'.repeat(32), 'bb'.repeat(32)],
      encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
      hashFunction: 'HASH_FUNCTION_NO_OP',
    }),
  );
  await page.getByRole('link', { name: /Sign payloads Sign a hash/ }).click();
  await drawer.getByRole('heading', { name: '1 of 2: Sign a hash' }).waitFor();
  await drawer.getByRole('region', { name: '2 of 2: Summary' }).getByText('bb'.repeat(32)).waitFor();
  await look('approval-hashes');
  await button(drawer, 'Reject').click();
  await sendVote(page);
  await page.getByText('No pending requests').waitFor();
  expect(await statusOf(hashes)).toBe('ACTIVITY_STATUS_REJECTED');

  await goTo(page, 'Activity');
  await page.getByRole('link', { name: /Create a user tag Third/ }).click();
  // The owner is the root quorum, which no policy is asked about.
  await drawer.getByText('“Tags by two” needs more approvals').waitFor();
  await drawer.getByRole('list', { name: 'Votes' }).getByText('approved').waitFor();
  await look('activity-votes');
  expect(amiss).toEqual([]);
  expect(person.violations).toEqual([]);
  expect(person.complaints).toEqual([]);
});

// The class is a vote that the person believes to be cast: whatever ends the window's ten seconds, it is said.
test('the next window shows a vote that was not sent, and nothing is decided', async () => {
  await using service = await serveDevVault();
  const { root, recoveryPhrase } = service;
  const { client: ben } = await newUserBy(root, 'Ben');
  await allowByVotes(root, 'Tags by two', "activity.resource == 'USER'", 2);
  const asked = activityOf(
    await ben.submit('create_user_tag', 'CREATE_USER_TAG', { userTagName: 'First', userIds: [] }),
  );
  const status = async () => activityOf(await root.query('get_activity', { activityId: asked.id })).status;
  await using person = await openHome(service.windowUrl);
  const { page } = person;
  const approve = async (): Promise<void> => {
    await goTo(page, 'Approvals');
    await page.getByRole('link', { name: /First requested by Ben/ }).click();
    await button(page.getByRole('dialog'), 'Approve once').click();
    await page.getByText('Your vote is sent in ten seconds.').waitFor();
  };

  // The browser asks before it leaves; the next window says what was not sent, once.
  await approve();
  const asking = page.waitForEvent('dialog');
  const reloaded = page.reload();
  const question = await asking;
  expect(question.type()).toBe('beforeunload');
  await question.accept();
  await reloaded;
  const told = page.getByText('1 vote was not sent', { exact: true });
  await told.waitFor();
  await page.getByText('Approve: Create a user tag.').waitFor();
  expect(await status()).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
  await page.reload();
  await page.getByText('Needs your approval', { exact: true }).first().waitFor();
  expect(await told.count()).toBe(0);

  // A lock drops the vote, and its screen says so.
  await approve();
  await lock(page);
  await page.getByText('1 vote was not sent. Unlock and vote again.').waitFor();
  await page.getByRole('textbox', { name: 'Recovery phrase' }).fill(recoveryPhrase);
  await button(page, 'Unlock').click();
  await page.getByText('Needs your approval', { exact: true }).first().waitFor();
  expect(await status()).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
  expect(person.complaints).toEqual([]);
  expect(person.violations).toEqual([]);
});

test('a vote that one tab did not send is said, also where another tab took its own back', async () => {
  await using service = await startWindowVault();
  const { root, vault } = service;
  const { client: ben } = await newUserBy(root, 'Ben');
  await allowByVotes(root, 'Tags by two', "activity.resource == 'USER'", 2);
  const { id } = activityOf(
    await ben.submit('create_user_tag', 'CREATE_USER_TAG', { userTagName: 'First', userIds: [] }),
  );
  await using person = await openWindow(browser);
  await person.page.clock.install();
  const tab = await person.context.newPage();
  for (const page of [person.page, tab]) {
    await page.goto(vault.newLink());
    await heading(page, 'Home').waitFor();
    await visit(page, `/approvals/${id}`);
    await button(page.getByRole('dialog', { name: 'Approval' }), 'Approve once').click();
    await page.getByText('Your vote is sent in ten seconds.').waitFor();
  }
  await button(tab, 'Undo').first().click();
  await tab.getByText('Your vote is sent in ten seconds.').waitFor({ state: 'hidden' });
  await person.page.close();
  await tab.reload();
  await tab.getByText('1 vote was not sent', { exact: true }).waitFor();
  const { status } = activityOf(await root.query('get_activity', { activityId: id }));
  expect(status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
  expect(person.complaints).toEqual([]);
});

test('one that needs the owner is found behind a hundred that do not', async () => {
  await using service = await serveDevVault();
  const { root } = service;
  const ownerId = String((await root.query('whoami')).body?.['userId']);
  const { client: ben } = await newUserBy(root, 'Ben');
  const { userId: second } = await newUserBy(root, 'Dana');
  await allowByVotes(root, 'Tags by two', "activity.resource == 'USER'", 2);
  activityOf(
    await root.submit('update_root_quorum', 'UPDATE_ROOT_QUORUM', {
      threshold: 2,
      userIds: [ownerId, second],
    }),
  );
  const ask = (client: typeof root, userTagName: string) =>
    client.submit('create_user_tag', 'CREATE_USER_TAG', { userTagName, userIds: [] });
  activityOf(await ask(ben, 'Behind'));
  // The owner approved these by asking for them. They wait for Dana.
  for (let number = 1; number <= 101; number += 1) await ask(root, `Tag ${number}`);

  await using person = await openWindow(browser);
  const { page } = person;
  await page.goto(service.windowUrl);
  await page.getByRole('navigation').getByText('1 to approve').waitFor();
  await page.getByText('1 request needs your approval.').waitFor();
  await goTo(page, 'Approvals');
  const rows = page.getByRole('list', { name: 'Waiting for approval' }).getByRole('link');
  await rows.first().getByText('Needs your approval').waitFor();
  await rows.first().getByText('Behind').waitFor();
  await goTo(page, 'Home');
  await page.getByRole('link', { name: 'Review', exact: true }).click();
  await page.getByRole('dialog').locator('.kh-pill').getByText('Behind', { exact: true }).waitFor();
  expect(person.complaints).toEqual([]);
});

test('a request says its values in the words of the window, and names to the letter', async () => {
  await using service = await serveDevVault();
  const { root } = service;
  const key = newTestKey();
  const user = (userName: string, publicKey: string) => ({
    userName,
    apiKeys: [{ apiKeyName: 'key', publicKey, curveType: 'API_KEY_CURVE_P256' }],
    authenticators: [],
    oauthProviders: [],
    userTags: [],
  });
  activityOf(await root.submit('create_users', 'CREATE_USERS_V3', { users: [user('Ben', key.publicKey)] }));
  await allowByVotes(root, 'Users by two', "activity.resource == 'USER'", 2);
  await root.as(key).submit('create_users', 'CREATE_USERS_V3', {
    users: [user('API_KEY_CURVE_P256', newTestKey().publicKey)],
  });
  await using person = await openHome(service.windowUrl);
  const { page } = person;
  await page.getByRole('link', { name: 'Review', exact: true }).click();
  const facts = await readFacts(page.getByRole('dialog'));
  expect(facts.get('Users, api keys, curve type')).toBe('P-256');
  expect(facts.get('Users, user name')).toBe('API_KEY_CURVE_P256');
  expect(person.complaints).toEqual([]);
});

test('more than a hundred wait, and are gone through by key', async () => {
  await using service = await serveDevVault();
  const { root } = service;
  const key = newTestKey();
  activityOf(
    await root.submit('create_users', 'CREATE_USERS_V3', {
      users: [
        {
          userName: 'Ben',
          apiKeys: [{ apiKeyName: 'key', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }],
          authenticators: [],
          oauthProviders: [],
          userTags: [],
        },
      ],
    }),
  );
  await allowByVotes(root, 'Tags by two', "activity.resource == 'USER'", 2);
  const ben = root.as(key);
  const newest = 103;
  for (let number = 1; number <= newest; number += 1) {
    await ben.submit('create_user_tag', 'CREATE_USER_TAG', { userTagName: `Tag ${number}`, userIds: [] });
  }
  await using person = await openWindow(browser);
  const { page } = person;
  await page.clock.install();
  await page.goto(service.windowUrl);
  await heading(page, 'Home').waitFor();
  // As many are counted.
  await page.getByRole('navigation').getByText('100+ to approve').waitFor();
  await page.getByText('More than 100 requests need your approval.').waitFor();
  await goTo(page, 'Approvals');
  const rows = page.getByRole('list', { name: 'Waiting for approval' }).getByRole('link');
  await expect.poll(() => rows.count()).toBe(100);
  await button(page, 'Load more').click();
  await expect.poll(() => rows.count()).toBe(newest);
  await button(page, 'Load more').waitFor({ state: 'hidden' });

  const drawer = page.getByRole('dialog');
  const shows = (number: number) =>
    drawer
      .locator('.kh-pill')
      .getByText(`Tag ${newest + 1 - number}`, { exact: true })
      .waitFor();
  await rows.first().click();
  await drawer.getByText(`1 of ${newest}`).waitFor();
  await shows(1);
  expect(await button(drawer, 'Previous').isDisabled()).toBe(true);
  await page.keyboard.press('j');
  await drawer.getByText(`2 of ${newest}`).waitFor();
  await shows(2);
  await page.keyboard.press('k');
  await shows(1);
  await page.keyboard.press('a');
  await page.keyboard.press('a');
  await sendVote(page);
  await page.getByText('Approved and completed.').waitFor();
  await expect.poll(() => rows.count()).toBe(newest - 1);
  // Switched off, the keys do nothing.
  await goTo(page, 'Settings');
  await page.getByRole('switch', { name: 'Single-key shortcuts' }).uncheck();
  await goTo(page, 'Approvals');
  await rows.first().click();
  await drawer.getByText(`1 of ${newest - 1}`).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('a');
  await page.keyboard.press('a');
  await drawer.getByText(`1 of ${newest - 1}`).waitFor();
  expect(await page.getByText('Press A again').count()).toBe(0);
  expect(person.complaints).toEqual([]);
});
