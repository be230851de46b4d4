/** Requests that need the caller's approval, among any number that do not: what the window, the tray and the badge ask for. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { activityOf, allowByVotes, resultOf, startTestVault } from '../support/support.ts';
import type { Answer, Json, TestClient, TestVault } from '../support/support.ts';

let service: TestVault;
let ann: TestClient;
let ben: TestClient;
let cid: TestClient;
/** Of Ann's, the oldest first; Ben may approve them. */
const asked: string[] = [];

const ask = (client: TestClient, name: string): Promise<Answer> =>
  client.submit('create_user_tag', 'CREATE_USER_TAG', { userTagName: name, userIds: [] });

async function askMore(count: number): Promise<void> {
  for (const end = asked.length + count; asked.length < end;) {
    const { id, status } = activityOf(await ask(ann, `tag ${String(asked.length)}`));
    expect(status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
    asked.push(id);
  }
}

interface Needed {
  readonly activities: readonly (Json & { readonly id: string })[];
  readonly areMore: boolean;
}

async function needed(client: TestClient): Promise<Needed> {
  const { status, text, body } = await client.query('list_needed_activities');
  expect(status, text).toBe(200);
  const { activities, areMore } = body as unknown as Needed;
  return { activities, areMore };
}

beforeAll(async () => {
  service = await startTestVault();
  const [first, second, third] = [
    await service.newUser('Ann'),
    await service.newUser('Ben'),
    await service.newUser('Cid'),
  ];
  [ann, ben, cid] = [first.client, second.client, third.client];
  const both = [first, second]
    .map(({ userId }) => `approvers.any(user, user.id == '${userId}')`)
    .join(' && ');
  await allowByVotes(service.root, 'deletions by two', "activity.action == 'DELETE'", 2);
  resultOf(
    await service.root.submit('create_policy', 'CREATE_POLICY_V3', {
      policyName: 'Ann and Ben',
      effect: 'EFFECT_ALLOW',
      condition: "activity.action == 'CREATE'",
      consensus: both,
      notes: '',
    }),
  );
});
afterAll(() => service[Symbol.asyncDispose]());

test('are those that the list of activities says the caller can approve, as it shows them', async () => {
  await askMore(3);
  for (const client of [service.root, ann, ben, cid]) {
    const { body } = await client.query('list_activities', { paginationOptions: { limit: '100' } });
    const all = body?.['activities'] as Needed['activities'];
    expect(await needed(client)).toEqual({
      activities: all.filter(({ canApprove }) => canApprove === true),
      areMore: false,
    });
  }
  expect((await needed(ben)).activities.map(({ id }) => id)).toEqual([...asked].reverse());
});

test('are found behind others, and a hundred at most are shown', async () => {
  const own = activityOf(await service.root.query('get_activity', { activityId: asked[0] }));
  expect(own.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
  await askMore(110);
  const { activities, areMore } = await needed(ben);
  expect(activities.map(({ id }) => id)).toEqual(asked.slice(-100).reverse());
  expect(areMore).toBe(true);
  expect(await needed(cid)).toEqual({ activities: [], areMore: false });
  const tag = await service.root.submit('create_user_tag', 'CREATE_USER_TAG', {
    userTagName: 'old',
    userIds: [],
  });
  const userTagIds = [(resultOf(tag) as Json)['userTagId']];
  const deletion = activityOf(await cid.submit('delete_user_tags', 'DELETE_USER_TAGS', { userTagIds }));
  await askMore(5);
  expect((await needed(ann)).activities.map(({ id }) => id)).toEqual([deletion.id]);
});

test('are asked for in one answer, and each that waits costs a few statements', async () => {
  const { connection } = service.vault;
  const statements = async (): Promise<number> => {
    const spies = (['get', 'all'] as const).map((method) => vi.spyOn(connection, method));
    await needed(cid);
    const count = spies.reduce((sum, { mock }) => sum + mock.calls.length, 0);
    for (const spy of spies) spy.mockRestore();
    return count;
  };
  await needed(cid);
  const [before, waited] = [await statements(), asked.length];
  for (let index = 0; index < 10; index += 1) await service.newUser(`User ${String(index)}`);
  await askMore(30);
  await needed(cid);
  expect(((await statements()) - before) / (asked.length - waited)).toBeLessThan(8);
});
