/**
 * The log has rows that this program cannot read: of another version, or put in by another program that has its keys. Their
 * texts are shown as unreadable beside the others, and nothing is done by them.
 */
import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { showEvent } from '../../main/activities/answer/events.ts';
import { operations } from '../../main/operations/index.ts';
import { appendActivity, getActivityRow, type ActivityRow } from '../../main/storage/tables/activities.ts';
import { sorterFor } from '../../main/storage/tables/webhook-events.ts';
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

const fingerprintOf = (body: string): string => `sha256:${createHash('sha256').update(body).digest('hex')}`;

/**
 * Puts a copy of an activity into the log, with something else in it, as the service writes rows.
 * @param body The request whose activity it is; none that was sent unless given.
 */
async function put({ id }: ActivityBody, change: Change, body?: string) {
  const own = randomUUID();
  const fingerprint = fingerprintOf(body ?? own);
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

type Change = Partial<Pick<ActivityRow, 'intent' | 'type' | 'status' | 'result' | 'failure' | 'votes'>>;
const changes: readonly Change[] = [
  ...odd.map((intent) => ({ intent })),
  { type: 'ACTIVITY_TYPE_OF_TOMORROW' },
];

test.each(changes)('a row with %j is in every list, and says that it cannot be read', async (change) => {
  const { vault, root, organizationId } = service;
  const copies = await Promise.all(examples.map((each) => put(each, change)));
  const ids = copies.map(({ id }) => id);
  const listed = await inEveryList(ids);
  // An object may be of an earlier version: it is shown as it is.
  const isObject = change.intent?.startsWith('{') === true;
  for (const activity of listed) {
    const { id } = activity;
    expect(activity['canApprove']).toBe(false);
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
  for (const { effect, activityId } of await described(ids)) {
    const waits = listed.find(({ id }) => id === activityId)?.status.endsWith('CONSENSUS_NEEDED');
    if (!isObject || waits === true) expect(effect).toEqual([{ text: 'This request cannot be read.' }]);
  }
  for (const client of [root, ann, ben]) {
    expect(idsIn((await ask('list_needed_activities', {}, client))['activities'])).not.toEqual(
      expect.arrayContaining(ids),
    );
  }
});

const completed = (): readonly ActivityBody[] =>
  examples.filter(({ status }) => status.endsWith('COMPLETED'));

test.each([...odd, '{"addresses":7,"r":{},"walletId":null}'])(
  'a row with the result %j is in every list, and shows its text',
  async (result) => {
    const copies = await Promise.all(completed().map((each) => put(each, { result })));
    for (const activity of await inEveryList(copies.map(({ id }) => id))) {
      expect(activity.intent).not.toHaveProperty('unreadableIntent');
      // As of a request: an object may be of an earlier version.
      if (!result.startsWith('{')) {
        expect(activity).toMatchObject({ result: { unreadableResult: { text: result } } });
      }
    }
  },
);

test.each([
  ...odd,
  '{"code":"OF_TOMORROW","message":"no","turnkeyErrorCode":"","details":[]}',
  '{"code":"toString","message":"no","turnkeyErrorCode":"","details":[]}',
  '{"code":"NOT_FOUND","message":7,"turnkeyErrorCode":"","details":[]}',
  '{"code":"NOT_FOUND","message":"no","details":null}',
])('a row with the failure %j is in every list, and shows its text', async (failure) => {
  const failed = { status: 'ACTIVITY_STATUS_FAILED', result: null, failure } as const;
  const copies = await Promise.all(completed().map((each) => put(each, failed)));
  for (const activity of await inEveryList(copies.map(({ id }) => id))) {
    expect(activity.failure).toEqual({
      code: 9,
      message: `this failure cannot be read: ${failure}`,
      details: [expect.anything()],
    });
  }
});

test('a test of policies says how many activities it leaves out', async () => {
  const tried = async () =>
    (await ask('test_policies', { withoutRootQuorum: true, limit: 1000 }))['policyTest'] as {
      tested: number;
      unreadable: number;
    };
  const before = await tried();
  const [example] = examples;
  if (example === undefined) throw new Error('there is no example');
  await put(example, { intent: 'no JSON' });
  await put(example, { votes: '[{}]' });
  await put(example, { type: 'ACTIVITY_TYPE_OF_TOMORROW' });
  const { tested, unreadable } = await tried();
  expect({ tested, unreadable }).toEqual({ tested: before.tested, unreadable: before.unreadable + 3 });
});

test('the same request again is answered with a failure that cannot be read', async () => {
  const body = service.root.submitBody('CREATE_WALLET', { walletName: 'Failed', accounts: [] });
  const failed = {
    status: 'ACTIVITY_STATUS_FAILED',
    result: null,
    failure: '{"code":"OF_TOMORROW"}',
  } as const;
  const [example] = examples;
  if (example === undefined) throw new Error('there is no example');
  await put(example, failed, body);
  expect(await service.root.post('submit/create_wallet', body)).toMatchObject({
    status: 400,
    body: { message: 'this failure cannot be read: {"code":"OF_TOMORROW"}' },
  });
});

test('events go on over a row about an endpoint whose result cannot be read', () => {
  const endpoint = {
    ...{ id: randomUUID(), organizationId: service.organizationId, name: 'Own', url: 'https://example.com' },
    ...{
      subscriptions: '[]',
      active: 1 as const,
      feature: 0 as const,
      switchedOffAt: null,
      createdAt: 0,
      updatedAt: 0,
      position: 0,
      failingSince: null,
    },
  };
  const row = {
    sequence: 1,
    organizationId: service.organizationId,
    status: 'ACTIVITY_STATUS_COMPLETED',
  } as const;
  for (const type of ['ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT', 'ACTIVITY_TYPE_TEST_WEBHOOK_ENDPOINT']) {
    for (const result of odd) expect(sorterFor(endpoint)({ ...row, type, result })).toBe('skip');
  }
});

/** Votes of rows that nothing is decided by; all but the first are none that this program wrote. */
const oddVotes = [
  ...odd,
  '[null]',
  '[{}]',
  '[{"selection":"VOTE_SELECTION_APPROVED"}]',
  'snapshot',
  'selection',
  'message',
] as const;

/** The votes of an example with one field of the first changed, for a name of a field. */
function votesWith(example: ActivityBody, votes: string): string {
  if (!['snapshot', 'selection', 'message'].includes(votes)) return votes;
  return service.vault.units.read((tx) => {
    const row = getActivityRow(tx, service.organizationId, example.id);
    const [first, ...rest] = JSON.parse(row?.votes ?? '[]') as Json[];
    return JSON.stringify([{ ...first, [votes]: votes === 'message' ? 7 : 'of tomorrow' }, ...rest]);
  });
}

test.each(oddVotes.filter((votes) => votes !== '[]'))(
  'a row with the votes %j is in every list, and shows their text',
  async (votes) => {
    const copies = await Promise.all(examples.map((each) => put(each, { votes: votesWith(each, votes) })));
    const ids = copies.map(({ id }) => id);
    for (const activity of await inEveryList(ids)) {
      const example = examples[copies.findIndex(({ id }) => id === activity.id)];
      if (example === undefined) throw new Error('it is of no example');
      expect(activity).toMatchObject({
        intent: example.intent,
        votes: [],
        canApprove: false,
        result: { unreadableVotes: { text: votesWith(example, votes) } },
      });
    }
    for (const { effect } of await described(ids)) {
      expect(effect.at(-1)).toEqual({ text: ' Its votes cannot be read.' });
    }
  },
);

test.each(oddVotes)('a request that waits with the votes %j is only rejected', async (votes) => {
  for (const example of examples.slice(2)) {
    const { id, fingerprint } = await put(example, { votes: votesWith(example, votes) });
    for (const client of [service.root, ann]) {
      expect(await vote(client, 'approve', fingerprint)).toMatchObject({
        status: client === ann ? 403 : 400,
      });
    }
    expect(await vote(ann, 'reject', fingerprint)).toMatchObject({ status: 403 });
    expect(await grant(fingerprint)).toMatchObject({ status: 400 });
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

const grant = (fingerprint: string) =>
  service.root.submit('create_grant', 'CREATE_GRANT', { fingerprint, span: 'TODAY' });

/** The descriptions of activities, one for each. */
async function described(activityIds: readonly string[]) {
  const { descriptions } = (await ask('describe_activities', { activityIds })) as {
    descriptions: readonly { activityId: string; effect: readonly Json[]; fields: unknown }[];
  };
  expect(descriptions.map(({ activityId }) => activityId)).toEqual(activityIds);
  return descriptions;
}

/** Asks for each list that could have some activities. @returns them, as they are shown alone. */
async function inEveryList(ids: readonly string[]): Promise<readonly ActivityBody[]> {
  const listed = (await ask('list_activities'))['activities'] as readonly ActivityBody[];
  expect(idsIn(listed)).toEqual(expect.arrayContaining([...ids]));
  const shown: ActivityBody[] = [];
  for (const id of ids) {
    const { activity } = (await ask('get_activity', { activityId: id })) as { activity: ActivityBody };
    await ask('get_policy_evaluations', { activityId: id });
    shown.push(activity);
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
  expect(idsIn((await ask('browse_activities', { places }))['lines'])).toEqual(
    expect.arrayContaining([...ids]),
  );
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
  await described(ids);
  await ask('list_needed_activities');
  await ask('outline_activities', { about: randomUUID() });
  await ask('list_receiver_uses', { addresses: ['0x52908400098527886E0F7030069857D2E4169EE7'] });
  return shown;
}

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
