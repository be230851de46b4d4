/**
 * The log has rows that this program cannot read: of another version, or put in by another program that has its keys. They are
 * shown as unreadable beside the others, and nothing is done by them.
 */
import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { showEvent } from '../../main/activities/answer/events.ts';
import { operations } from '../../main/operations/index.ts';
import { appendActivity, getActivityRow } from '../../main/storage/tables/activities.ts';
import { activityOf, ethereumAccount, resultOf, startTestVault } from '../support/support.ts';
import type { ActivityBody, Json, TestClient, TestVault } from '../support/support.ts';

let service: TestVault;
let ann: TestClient;
let ben: TestClient;
/** Of requests that wait, and of some that were executed. */
const examples: ActivityBody[] = [];

beforeAll(async () => {
  service = await startTestVault();
  const { root } = service;
  ({ client: ann } = await service.newUser('Ann'));
  const { client, userId } = await service.newUser('Ben');
  ben = client;
  resultOf(
    await root.submit('create_policy', 'CREATE_POLICY_V3', {
      policyName: 'Two sign',
      effect: 'EFFECT_ALLOW',
      condition: "activity.action in ['SIGN', 'CREATE', 'DELETE']",
      consensus: 'approvers.count() >= 2',
      notes: '',
    }),
  );
  const made = await root.submit('create_wallet', 'CREATE_WALLET', {
    walletName: 'Treasury',
    accounts: [ethereumAccount],
  });
  const signing = {
    signWith: resultOf(made).addresses[0],
    payload: 'hello',
    encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
    hashFunction: 'HASH_FUNCTION_KECCAK256',
  };
  const user = { apiKeys: [], authenticators: [], oauthProviders: [], userTags: [] };
  examples.push(
    activityOf(made),
    activityOf(await root.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', signing)),
    activityOf(await ann.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', signing)),
    activityOf(await ann.submit('create_wallet', 'CREATE_WALLET', { walletName: 'Own', accounts: [] })),
    activityOf(
      await ann.submit('create_users', 'CREATE_USERS_V3', { users: [{ ...user, userName: 'Cat' }] }),
    ),
    activityOf(await ann.submit('delete_users', 'DELETE_USERS', { userIds: [userId] })),
  );
  expect(examples.map(({ status }) => status.replace('ACTIVITY_STATUS_', ''))).toEqual([
    'COMPLETED',
    'COMPLETED',
    ...Array.from({ length: 4 }, () => 'CONSENSUS_NEEDED'),
  ]);
});
afterAll(() => service[Symbol.asyncDispose]());

const odd = [
  '',
  'no JSON',
  'null',
  '7',
  '[]',
  '{}',
  '{"users":7,"payload":{},"accounts":"x","userIds":null}',
];

/** Puts a copy of an activity into the log, with another request, as the service writes rows. */
async function put({ id }: ActivityBody, change: Change) {
  const own = randomUUID();
  const fingerprint = `sha256:${createHash('sha256').update(own).digest('hex')}`;
  await service.vault.units.write((tx) => {
    const row = getActivityRow(tx, service.organizationId, id);
    if (row === undefined) throw new Error('the log has no such row');
    appendActivity(tx, { ...row, id: own, fingerprint, ...change });
  });
  return { id: own, fingerprint };
}

const ask = async (path: string, body: Json = {}, client = service.root): Promise<Json> => {
  const answer = await client.query(path, body);
  expect(answer.status, `${path}: ${answer.text}`).toBe(200);
  return answer.body ?? {};
};

const idsIn = (list: unknown): readonly string[] =>
  (list as readonly { readonly id: string }[]).map(({ id }) => id);

interface Part {
  readonly lines: readonly string[];
  readonly next?: number;
}

const vote = (client: TestClient, verb: 'approve' | 'reject', fingerprint: string) =>
  client.submit(`${verb}_activity`, `${verb.toUpperCase()}_ACTIVITY`, { fingerprint });

interface Change {
  readonly intent?: string;
  readonly type?: string;
}
const changes: readonly Change[] = [
  ...odd.map((intent) => ({ intent })),
  { type: 'ACTIVITY_TYPE_OF_TOMORROW' },
];

test.each(changes)('a row with %j is in every list, and says that it cannot be read', async (change) => {
  const { vault, root, organizationId } = service;
  const copies = await Promise.all(examples.map((each) => put(each, change)));
  const ids = copies.map(({ id }) => id);
  const listed = (await ask('list_activities'))['activities'] as readonly ActivityBody[];
  expect(idsIn(listed)).toEqual(expect.arrayContaining(ids));
  // An object may be of an earlier version: it is shown as it is.
  const isObject = change.intent?.startsWith('{') === true;
  for (const { id } of copies) {
    const { activity } = (await ask('get_activity', { activityId: id })) as { activity: ActivityBody };
    expect(activity['canApprove']).toBe(false);
    await ask('get_policy_evaluations', { activityId: id });
    expect(activity).toMatchObject(
      isObject
        ? { id }
        : { intent: { unreadableIntent: { text: change.intent ?? (expect.anything() as string) } } },
    );
    vault.units.read((tx) => {
      const row = getActivityRow(tx, organizationId, id);
      if (row === undefined) throw new Error('the log has no such row');
      expect(showEvent(operations, tx, row).intent).toEqual(activity.intent);
    });
  }
  const { blocks } = (await ask('outline_activities'))['outline'] as {
    blocks: readonly { runs: readonly (readonly [number, number])[] }[];
  };
  const places = blocks
    .flatMap(({ runs }) => runs)
    .flatMap(([first, last]) =>
      Array.from(
        { length: Math.abs(first - last) + 1 },
        (_, index) => first + Math.sign(last - first) * index,
      ),
    )
    .slice(0, 50);
  expect(idsIn((await ask('browse_activities', { places }))['lines'])).toEqual(expect.arrayContaining(ids));
  for (const format of ['JSON', 'CSV']) {
    const lines: string[] = [];
    for (let before: number | undefined; ;) {
      const part = (await ask('export_activities', { format, before }))['export'] as Part;
      lines.push(...part.lines);
      if (part.next === undefined) break;
      before = part.next;
    }
    for (const id of ids) expect(lines.some((line) => line.includes(id))).toBe(true);
  }
  const { descriptions } = (await ask('describe_activities', { activityIds: ids })) as {
    descriptions: readonly { activityId: string; effect: unknown; fields: unknown }[];
  };
  expect(descriptions.map(({ activityId }) => activityId)).toEqual(ids);
  for (const { effect, activityId } of descriptions) {
    const waits = listed.find(({ id }) => id === activityId)?.status.endsWith('CONSENSUS_NEEDED');
    if (!isObject || waits === true) expect(effect).toEqual([{ text: 'This request cannot be read.' }]);
  }
  for (const client of [root, ann, ben]) {
    expect(idsIn((await ask('list_needed_activities', {}, client))['activities'])).not.toEqual(
      expect.arrayContaining(ids),
    );
  }
  await ask('outline_activities', { about: randomUUID() });
  await ask('list_receiver_uses', { addresses: ['0x52908400098527886E0F7030069857D2E4169EE7'] });
  await ask('test_policies', { withoutRootQuorum: true });
});

test.each(odd)('a request that waits with the intent %j is not approved, only rejected', async (intent) => {
  for (const example of examples.slice(2)) {
    const { id, fingerprint } = await put(example, { intent });
    for (const client of [service.root, ann]) {
      const { status, text } = await vote(client, 'approve', fingerprint);
      expect({ status, text }).toEqual({
        status: 400,
        text: expect.stringContaining('its request cannot be read') as string,
      });
    }
    expect(await vote(ben, 'approve', fingerprint)).toMatchObject({ status: 403 });
    expect(await vote(ben, 'reject', fingerprint)).toMatchObject({ status: 403 });
    const { activity } = (await ask('get_activity', { activityId: id })) as { activity: ActivityBody };
    expect(activity).toMatchObject({
      status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED',
      canApprove: false,
      canReject: true,
    });
    expect(activityOf(await vote(service.root, 'reject', fingerprint))).toMatchObject({
      status: 'ACTIVITY_STATUS_REJECTED',
    });
  }
});
