/**
 * A program, which takes several requests to create, is created in an organization where two people decide. The class: a form that stops half way and
 * leaves what it had created, or a request that waits for votes after everything else about it is gone.
 */
import { expect, test } from 'vitest';
import { newWallet, type TestClient } from '../../support/support.ts';
import { openHome } from '../support/chromium.ts';
import { screenFindings } from '../support/inspect.ts';
import { startWindowVault } from '../support/service.ts';
import { button, confirmWhenAsked, goTo } from '../support/steps.ts';

const friend = '0x71C7656EC7ab88b098defB751B7401B5f6d8976F';

const waitingFor = async (
  client: TestClient,
): Promise<readonly { id: string; type: string; fingerprint: string }[]> => {
  const { body } = await client.query('list_activities', {
    filterByStatus: ['ACTIVITY_STATUS_CONSENSUS_NEEDED'],
  });
  return (body as { activities: { id: string; type: string; fingerprint: string }[] }).activities;
};

/** Tells whether an agent has a user, policies and a program, and which requests wait. */
async function thingsOf(name: string, root: TestClient, programs: () => Promise<string>): Promise<unknown> {
  const users = (await root.query('list_users', {})).text.includes(`mcp ${name}`);
  const policies = (await root.query('list_policies', {})).text.includes(name);
  const waiting = (await waitingFor(root)).map(({ type }) => type);
  return { users, policies, program: (await programs()).includes(name), waiting };
}

test('an agent is created as the second person approves each request, and one that is given up leaves nothing', async () => {
  await using service = await startWindowVault();
  const { root, vault } = service;
  await newWallet(root, 'Daily');
  const ben = await service.newUser('Ben');
  const { owner } = await vault.rpc.status();
  const quorum = { threshold: 2, userIds: [owner?.userId ?? '', ben.userId] };
  expect((await root.submit('update_root_quorum', 'UPDATE_ROOT_QUORUM', quorum)).status).toBe(200);
  const programs = async (): Promise<string> => JSON.stringify(await vault.rpc.doors());

  await using person = await openHome(vault.newLink());
  const { page } = person;
  const amiss: string[] = [];
  await confirmWhenAsked(page);
  await goTo(page, 'Agents');
  const form = page.getByRole('dialog', { name: 'New agent' });
  const begin = async (name: string): Promise<void> => {
    await button(page, 'New agent…').click();
    await form.getByRole('textbox', { name: 'Name', exact: true }).fill(name);
    await form.getByRole('textbox', { name: 'Addresses' }).fill(friend);
    await button(form, 'Create agent').click();
  };
  const awaited = (what: string) => form.getByRole('status').getByText(`Waiting for approval: ${what}`);
  const approve = async (type: string): Promise<void> => {
    const [waiting, ...others] = await waitingFor(root);
    expect([waiting?.type, others]).toEqual([`ACTIVITY_TYPE_${type}`, []]);
    const { fingerprint } = waiting ?? { fingerprint: '' };
    expect((await ben.client.submit('approve_activity', 'APPROVE_ACTIVITY', { fingerprint })).status).toBe(
      200,
    );
  };

  await begin('claude');
  for (const [what, type] of [
    ['Create a user tag', 'CREATE_USER_TAG'],
    ['Create users', 'CREATE_USERS_V4'],
    ['Create policies', 'CREATE_POLICIES'],
    ['Add API keys', 'CREATE_API_KEYS_V2'],
  ] as const) {
    await awaited(what).waitFor();
    if (type === 'CREATE_USER_TAG') amiss.push(...(await screenFindings(page, 'awaited')));
    await approve(type);
  }
  await form.getByRole('region', { name: 'Configuration', exact: true }).waitFor();
  await button(form, 'Done').click();
  expect(await thingsOf('claude', root, programs)).toEqual({
    users: true,
    policies: true,
    program: true,
    waiting: [],
  });

  // The form is left while its first request waits: the request is rejected, and the key at the door is gone.
  await begin('shopping');
  await awaited('Create users').waitFor();
  await button(form, 'Cancel').click();
  await page.getByText('Request rejected: Create users').waitFor();
  const nothing = { users: false, policies: false, program: false, waiting: [] };
  await expect.poll(() => thingsOf('shopping', root, programs)).toEqual(nothing);

  // Ben says no.
  await begin('shopping');
  await awaited('Create users').waitFor();
  const [asked] = await waitingFor(root);
  await ben.client.submit('reject_activity', 'REJECT_ACTIVITY', { fingerprint: asked?.fingerprint });
  await form.getByRole('alert').filter({ hasText: 'Couldn’t create the agent' }).waitFor();
  await expect.poll(() => thingsOf('shopping', root, programs)).toEqual(nothing);

  // Left once the user is there, whose deletion waits for Ben too: the window says what stays.
  await button(form, 'Create agent').click();
  await awaited('Create users').waitFor();
  await approve('CREATE_USERS_V4');
  await awaited('Create policies').waitFor();
  await button(form, 'Cancel').click();
  await page.getByText('Request rejected: Create policies').waitFor();
  const notice = page.getByRole('alert').filter({ hasText: 'Couldn’t delete what was created' });
  await notice.getByText('The user “mcp shopping” is still there.').waitFor();
  await expect
    .poll(() => thingsOf('shopping', root, programs))
    .toEqual({ ...nothing, users: true, waiting: ['ACTIVITY_TYPE_DELETE_USERS'] });
  await approve('DELETE_USERS');
  expect(await thingsOf('shopping', root, programs)).toEqual(nothing);

  // Ben's vote is faster than the form that is left: its user is there all the same, and is deleted.
  await begin('trip');
  await awaited('Create users').waitFor();
  await page.route('**/window/call', async (route) => {
    if (route.request().postData()?.includes('reject_activity') === true) await approve('CREATE_USERS_V4');
    await route.continue();
  });
  await button(form, 'Cancel').click();
  await page.getByText('The user “mcp trip” is still there.').waitFor();
  await expect
    .poll(() => thingsOf('trip', root, programs))
    .toEqual({ ...nothing, users: true, waiting: ['ACTIVITY_TYPE_DELETE_USERS'] });
  expect(amiss).toEqual([]);
  expect(person.complaints).toEqual([]);
});
