/** Changes to users, their keys and contacts, to tags, wallets and the organization. */
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { hashMessage, recoverAddress, serializeSignature } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  activityOf,
  ethereumAccount,
  newTestKey,
  newWallet,
  resultOf,
  solanaAccount,
  startTestVault,
} from '../support/support.ts';
import {
  denied,
  fails as failsIn,
  invalid,
  isRefused as isRefusedIn,
  missing,
  stored,
} from '../support/refusals.ts';
import type { Refusal } from '../support/refusals.ts';
import type { ActivityBody, Answer, Json, TestClient, TestKey, TestVault } from '../support/support.ts';

let service: TestVault;
let root: TestClient;

beforeAll(async () => {
  service = await startTestVault();
  ({ root } = service);
});
afterAll(() => service[Symbol.asyncDispose]());

let names = 0;
const newName = (): string => `Name ${String(++names)}`;
const nobody = '00000000-0000-4000-8000-000000000000';
const time = { seconds: expect.stringMatching(/^[0-9]{10}$/) as string, nanos: '0' };
const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/) as string;

/** Submits an activity by its type, whose path is the same in lower case. */
const submit = (type: string, parameters: Json, client = root): Promise<Answer> =>
  client.submit(type.toLowerCase(), type, parameters);

/** Asks, and answers the resource under its name. */
async function ask(operation: string, resource: string, parameters: Json = {}): Promise<unknown> {
  const answer = await root.query(operation, parameters);
  if (answer.status !== 200) throw new Error(`${operation}: HTTP ${String(answer.status)}: ${answer.text}`);
  return answer.body?.[resource];
}

const userOf = async (userId: string): Promise<Json> => (await ask('get_user', 'user', { userId })) as Json;
const privateKeyOf = async (privateKeyId: string): Promise<Json> =>
  (await ask('get_private_key', 'privateKey', { privateKeyId })) as Json;
const walletOf = async (walletId: string): Promise<Json> =>
  (await ask('get_wallet', 'wallet', { walletId })) as Json;

const newUser = async (): Promise<string> => (await service.newUser(newName())).userId;

const userParams = (more: Json = {}): Json => ({
  userName: newName(),
  apiKeys: [],
  authenticators: [],
  oauthProviders: [],
  userTags: [],
  ...more,
});

const apiKeyParams = ({ publicKey }: TestKey, more: Json = {}): Json => ({
  apiKeyName: newName(),
  publicKey,
  curveType: 'API_KEY_CURVE_P256',
  ...more,
});

const keyParams = (more: Json = {}): Json => ({
  privateKeyName: newName(),
  curve: 'CURVE_ED25519',
  privateKeyTags: [],
  addressFormats: [],
  ...more,
});

const createUsers = (users: readonly Json[]): Promise<Answer> =>
  root.submit('create_users', 'CREATE_USERS_V4', { users });

const createPrivateKeys = (privateKeys: readonly Json[]): Promise<Answer> =>
  root.submit('create_private_keys', 'CREATE_PRIVATE_KEYS_V2', { privateKeys });

async function newPrivateKey(): Promise<string> {
  const [key] = resultOf(await createPrivateKeys([keyParams()])).privateKeys;
  return key?.privateKeyId ?? '';
}

const fails = (work: () => Promise<Answer>, refusal: Refusal): Promise<Answer> =>
  failsIn(service, work, refusal);
const isRefused = (work: () => Promise<Answer>, refusal: Refusal): Promise<void> =>
  isRefusedIn(service, work, refusal);

/** The names that the two kinds of tags have on the wire. */
interface TagKind {
  readonly noun: string;
  readonly tagType: string;
  readonly create: string;
  readonly update: string;
  readonly remove: string;
  readonly list: string;
  readonly listed: string;
  readonly name: string;
  readonly newName: string;
  readonly id: string;
  readonly ids: string;
  readonly holders: string;
  readonly add: string;
  readonly take: string;
  readonly newHolder: () => Promise<string>;
  readonly tagsOf: (holderId: string) => Promise<unknown>;
  readonly deleteHolder: (holderId: string) => Promise<Answer>;
}

const userTags: TagKind = {
  noun: 'user',
  tagType: 'TAG_TYPE_USER',
  create: 'CREATE_USER_TAG',
  update: 'UPDATE_USER_TAG',
  remove: 'DELETE_USER_TAGS',
  list: 'list_user_tags',
  listed: 'userTags',
  name: 'userTagName',
  newName: 'newUserTagName',
  id: 'userTagId',
  ids: 'userTagIds',
  holders: 'userIds',
  add: 'addUserIds',
  take: 'removeUserIds',
  newHolder: newUser,
  tagsOf: async (userId) => (await userOf(userId))['userTags'],
  deleteHolder: (userId) => submit('DELETE_USERS', { userIds: [userId] }),
};

const privateKeyTags: TagKind = {
  noun: 'private key',
  tagType: 'TAG_TYPE_PRIVATE_KEY',
  create: 'CREATE_PRIVATE_KEY_TAG',
  update: 'UPDATE_PRIVATE_KEY_TAG',
  remove: 'DELETE_PRIVATE_KEY_TAGS',
  list: 'list_private_key_tags',
  listed: 'privateKeyTags',
  name: 'privateKeyTagName',
  newName: 'newPrivateKeyTagName',
  id: 'privateKeyTagId',
  ids: 'privateKeyTagIds',
  holders: 'privateKeyIds',
  add: 'addPrivateKeyIds',
  take: 'removePrivateKeyIds',
  newHolder: newPrivateKey,
  tagsOf: async (privateKeyId) => (await privateKeyOf(privateKeyId))['privateKeyTags'],
  deleteHolder: (privateKeyId) =>
    submit('DELETE_PRIVATE_KEYS', { privateKeyIds: [privateKeyId], deleteWithoutExport: true }),
};

interface TagBody extends Json {
  readonly tagId: string;
  readonly tagName: string;
}

const listTags = async (kind: TagKind): Promise<readonly TagBody[]> =>
  (await ask(kind.list, kind.listed)) as TagBody[];

const tagOf = async (kind: TagKind, tagId: string): Promise<TagBody | undefined> =>
  (await listTags(kind)).find((tag) => tag.tagId === tagId);

async function newTag(
  kind: TagKind,
  holderIds: readonly string[] = [],
  tagName = newName(),
): Promise<string> {
  const answer = await submit(kind.create, { [kind.name]: tagName, [kind.holders]: holderIds });
  return resultOf(answer)[kind.id] as string;
}

describe.each([
  { kind: userTags, other: privateKeyTags },
  { kind: privateKeyTags, other: userTags },
])('a $kind.noun tag', ({ kind, other }) => {
  const { noun } = kind;

  const update = (
    tagId: string,
    change: { newName?: string; add?: string[]; take?: string[] },
  ): Promise<Answer> =>
    submit(kind.update, {
      [kind.id]: tagId,
      [kind.add]: change.add ?? [],
      [kind.take]: change.take ?? [],
      ...(change.newName !== undefined && { [kind.newName]: change.newName }),
    });

  const remove = (tagIds: readonly string[]): Promise<Answer> => submit(kind.remove, { [kind.ids]: tagIds });

  test('is created on the named users, and shown with them, in the list and with the organization', async () => {
    const [first, second, third] = [await kind.newHolder(), await kind.newHolder(), await kind.newHolder()];
    const tagName = newName();
    const answer = await submit(kind.create, { [kind.name]: tagName, [kind.holders]: [first, second] });
    const result = resultOf(answer);
    expect(result).toEqual({ [kind.id]: uuid, [kind.holders]: [first, second] });
    const tagId = result[kind.id];
    const tag = { tagId, tagName, tagType: kind.tagType, createdAt: time, updatedAt: time };
    expect((await listTags(kind)).at(-1)).toEqual(tag);
    expect((await listTags(other)).map((listed) => listed.tagId)).not.toContain(tagId);
    expect(await kind.tagsOf(first)).toEqual([tagId]);
    expect(await kind.tagsOf(second)).toEqual([tagId]);
    expect(await kind.tagsOf(third)).toEqual([]);
    const organization = (await ask('get_organization', 'organizationData')) as Json;
    expect(organization['tags']).toContainEqual(tag);
  });

  test('may be on no user, and is on a user once however often it is set', async () => {
    const holder = await kind.newHolder();
    expect(await tagOf(kind, await newTag(kind))).toBeDefined();
    const tagId = await newTag(kind, [holder, holder]);
    activityOf(await update(tagId, { add: [holder] }));
    expect(await kind.tagsOf(holder)).toEqual([tagId]);
    activityOf(await update(tagId, { take: [holder] }));
    expect(await kind.tagsOf(holder)).toEqual([]);
    // Removing an absent tag succeeds.
    activityOf(await update(tagId, { take: [holder] }));
  });

  test('is renamed, put on some and taken off others at once', async () => {
    const [stays, comes, goes] = [await kind.newHolder(), await kind.newHolder(), await kind.newHolder()];
    const another = await newTag(kind, [goes]);
    const tagId = await newTag(kind, [stays, goes]);
    const tagName = newName();
    const answer = await update(tagId, { newName: tagName, add: [comes], take: [goes] });
    expect(resultOf(answer)).toEqual({ [kind.id]: tagId });
    expect(await tagOf(kind, tagId)).toMatchObject({ tagName });
    expect(await kind.tagsOf(stays)).toEqual([tagId]);
    expect(await kind.tagsOf(comes)).toEqual([tagId]);
    expect(await kind.tagsOf(goes)).toEqual([another]);
  });

  test('is left as it was when one of a change cannot be', async () => {
    const [first, second] = [await kind.newHolder(), await kind.newHolder()];
    const tagId = await newTag(kind, [first]);
    const unknown = `unable to find ${noun} ${nobody}`;
    await fails(
      () => update(tagId, { newName: newName(), add: [second, nobody], take: [first] }),
      missing(`invalid parameters.${kind.add}[1]: ${unknown}`),
    );
    await fails(
      () => update(tagId, { newName: newName(), add: [second], take: [nobody, first] }),
      missing(`invalid parameters.${kind.take}[0]: ${unknown}`),
    );
    await fails(
      () => submit(kind.create, { [kind.name]: newName(), [kind.holders]: [first, second, nobody] }),
      missing(`invalid parameters.${kind.holders}[2]: ${unknown}`),
    );
    // A holder of the other kind is none of this one.
    const stranger = await other.newHolder();
    await fails(
      () => update(tagId, { add: [stranger] }),
      missing(`invalid parameters.${kind.add}[0]: unable to find ${noun} ${stranger}`),
    );
  });

  test('is known by its own kind and in its own organization only', async () => {
    const stranger = await newTag(other);
    for (const tagId of [stranger, nobody]) {
      await fails(
        () => update(tagId, { newName: newName() }),
        missing(`invalid parameters.${kind.id}: there is no ${noun} tag ${tagId}`),
      );
      const mine = await newTag(kind);
      await fails(
        () => remove([mine, tagId]),
        missing(`invalid parameters.${kind.ids}[1]: there is no ${noun} tag ${tagId}`),
      );
    }
  });

  test('has a name of its own among its kind', async () => {
    const [first, second] = [newName(), newName()];
    const [tagId] = [await newTag(kind, [], first), await newTag(kind, [], second)];
    await fails(
      () => submit(kind.create, { [kind.name]: first, [kind.holders]: [] }),
      invalid(
        `invalid parameters.${kind.name}: ${noun} tag name must be unique, ${JSON.stringify(first)} is taken`,
      ),
    );
    await fails(
      () => update(tagId, { newName: second }),
      invalid(
        `invalid parameters.${kind.newName}: ${noun} tag name must be unique, ${JSON.stringify(second)} is taken`,
      ),
    );
    // Its own name is not in its way, nor is that of the other kind.
    activityOf(await update(tagId, { newName: first }));
    expect(await tagOf(other, await newTag(other, [], first))).toMatchObject({ tagName: first });
  });

  test.each([
    ['', 'expected at least 1 character, got ""'],
    [' x', 'expected no white space at either end, got " x"'],
    ['x'.repeat(65), `expected at most 64 characters, got "${'x'.repeat(65)}"`],
    ['a\u0000b', 'expected no control characters or others that cannot be seen, got "a\\u0000b"'],
    [null, 'expected a string, got null'],
  ])('is not named %j', async (tagName, problem) => {
    await isRefused(
      () => submit(kind.create, { [kind.name]: tagName, [kind.holders]: [] }),
      invalid(`invalid parameters.${kind.name}: ${problem}`),
    );
  });

  test('needs its holders as a list of ids', async () => {
    const tagName = newName();
    await isRefused(
      () => submit(kind.create, { [kind.name]: tagName }),
      invalid(`missing field parameters.${kind.holders}: expected an array`),
    );
    await isRefused(
      () => submit(kind.create, { [kind.name]: tagName, [kind.holders]: ['x'] }),
      invalid(`invalid parameters.${kind.holders}[0]: expected a UUID, got "x"`),
    );
    await isRefused(
      () => remove([]),
      invalid(`invalid parameters.${kind.ids}: expected at least 1 element, got []`),
    );
  });

  test('goes with others, off all that had one of them, each named once', async () => {
    const [both, one, none] = [await kind.newHolder(), await kind.newHolder(), await kind.newHolder()];
    const name = newName();
    const goes = [await newTag(kind, [both, one], name), await newTag(kind, [both])];
    const stays = await newTag(kind, [both, none]);
    const result = resultOf(await remove(goes));
    expect(Object.keys(result)).toEqual([kind.ids, kind.holders]);
    expect(result[kind.ids]).toEqual(goes);
    expect([...(result[kind.holders] as string[])].sort()).toEqual([both, one].sort());
    expect(await kind.tagsOf(both)).toEqual([stays]);
    expect(await kind.tagsOf(one)).toEqual([]);
    expect(await kind.tagsOf(none)).toEqual([stays]);
    const left = (await listTags(kind)).map(({ tagId }) => tagId);
    expect(left).toContain(stays);
    expect(left).not.toContain(goes[0]);
    // The name is free again.
    expect(await tagOf(kind, await newTag(kind, [], name))).toMatchObject({ tagName: name });
    expect(resultOf(await remove([await newTag(kind)]))[kind.holders]).toEqual([]);
  });

  test('is not deleted twice in one request', async () => {
    const tagId = await newTag(kind, [await kind.newHolder()]);
    await fails(
      () => remove([tagId, tagId]),
      invalid(`invalid parameters.${kind.ids}: ${JSON.stringify(tagId)} is given twice`),
    );
  });

  test('forgets a holder that is deleted', async () => {
    const [stays, goes] = [await kind.newHolder(), await kind.newHolder()];
    const tagId = await newTag(kind, [stays, goes]);
    activityOf(await kind.deleteHolder(goes));
    expect(resultOf(await remove([tagId]))[kind.holders]).toEqual([stays]);
  });

  test('is listed in the order of creation, whatever it is called later, and so are the tags of a holder', async () => {
    const holder = await kind.newHolder();
    const tagIds = [await newTag(kind), await newTag(kind), await newTag(kind)];
    const [first = '', second = '', third = ''] = tagIds;
    for (const tagId of [third, first]) activityOf(await update(tagId, { add: [holder] }));
    activityOf(await update(first, { newName: `Z ${newName()}` }));
    activityOf(await update(third, { newName: `A ${newName()}` }));
    expect((await listTags(kind)).slice(-3).map(({ tagId }) => tagId)).toEqual([first, second, third]);
    expect(await kind.tagsOf(holder)).toEqual([first, third]);
  });

  test('is not for a user whom no policy lets, who may see it', async () => {
    const { client, userId } = await service.newUser(newName());
    const tagId = await newTag(kind);
    const requests: [string, Json][] = [
      [kind.create, { [kind.name]: newName(), [kind.holders]: [] }],
      [kind.update, { [kind.id]: tagId, [kind.add]: [], [kind.take]: [] }],
      [kind.remove, { [kind.ids]: [tagId] }],
    ];
    for (const [type, parameters] of requests)
      await isRefused(() => submit(type, parameters, client), denied);
    expect((await client.query(kind.list)).body?.[kind.listed]).toEqual(await listTags(kind));
    expect((await userOf(userId))['userTags']).toEqual([]);
  });
});

test('there are a hundred tags at most, of both kinds together', async () => {
  await using full = await startTestVault();
  for (let count = 0; count < 100; count++) {
    const { create, name, holders } = count % 2 === 0 ? userTags : privateKeyTags;
    activityOf(await submit(create, { [name]: newName(), [holders]: [] }, full.root));
  }
  for (const { create, name, holders } of [userTags, privateKeyTags]) {
    const answer = await submit(create, { [name]: newName(), [holders]: [] }, full.root);
    expect(answer.status).toBe(429);
    expect(answer.body).toMatchObject({
      code: 8,
      message: 'maximum number of tags reached: 100 are allowed, there are 100 and 1 would be added',
    });
  }
});

describe('tags at creation', () => {
  test('are those of the new users', async () => {
    const tags = [await newTag(userTags), await newTag(userTags)];
    const users = [
      userParams({ userTags: tags.toReversed() }),
      userParams(),
      userParams({ userTags: [tags[1]] }),
    ];
    const { userIds } = resultOf(await createUsers(users));
    const shown = await Promise.all(userIds.map((userId) => userTags.tagsOf(userId)));
    expect(shown).toEqual([tags, [], [tags[1]]]);
    const listed = (await ask('list_users', 'users')) as Json[];
    expect(listed.slice(-3).map((user) => user['userTags'])).toEqual(shown);
  });

  test('are those of the new private keys', async () => {
    const tags = [await newTag(privateKeyTags), await newTag(privateKeyTags)];
    const keys = [
      keyParams({ privateKeyTags: tags.toReversed() }),
      keyParams(),
      keyParams({ privateKeyTags: [tags[1]] }),
    ];
    const { privateKeys } = resultOf(await createPrivateKeys(keys));
    const shown = await Promise.all(
      privateKeys.map(({ privateKeyId }) => privateKeyTags.tagsOf(privateKeyId)),
    );
    expect(shown).toEqual([tags, [], [tags[1]]]);
    const listed = (await ask('list_private_keys', 'privateKeys')) as Json[];
    expect(listed.slice(-3).map((key) => key['privateKeyTags'])).toEqual(shown);
  });

  test('must exist: else nothing is created, and the error names it', async () => {
    const [mine, stranger] = [await newTag(userTags), await newTag(privateKeyTags)];
    for (const tagId of [nobody, stranger]) {
      await fails(
        () => createUsers([userParams(), userParams({ userTags: [mine, tagId] })]),
        missing(`invalid parameters.users[1].userTags[1]: there is no user tag ${tagId}`),
      );
    }
    for (const tagId of [nobody, mine]) {
      await fails(
        () => createPrivateKeys([keyParams(), keyParams({ privateKeyTags: [stranger, tagId] })]),
        missing(`invalid parameters.privateKeys[1].privateKeyTags[1]: there is no private key tag ${tagId}`),
      );
    }
  });
});

describe('a user', () => {
  const contacts = { userEmail: 'ann@example.com', userPhoneNumber: '+15551234567' };

  async function newContact(): Promise<{ readonly userId: string; readonly userName: string }> {
    const params = userParams(contacts);
    const [userId = ''] = resultOf(await createUsers([params])).userIds;
    return { userId, userName: params['userName'] as string };
  }

  test('is changed in what is given, and only that', async () => {
    const { userId, userName } = await newContact();
    const tags = [await newTag(userTags, [userId]), await newTag(userTags)];
    const before = await userOf(userId);
    expect(before).toMatchObject({ userName, ...contacts, userTags: [tags[0]] });

    expect(resultOf(await submit('UPDATE_USER', { userId }))).toEqual({ userId });
    expect(await userOf(userId)).toEqual({ ...before, updatedAt: time });

    const changes: Json[] = [
      { userName: newName() },
      { userEmail: 'bob@example.com' },
      { userPhoneNumber: '+447700900123' },
      { userTagIds: tags.toReversed() },
      { userTagIds: [tags[1]] },
      { userTagIds: [] },
      {
        userName: newName(),
        userEmail: 'eve@example.com',
        userPhoneNumber: '+819012345678',
        userTagIds: [tags[0]],
      },
    ];
    let expected = before;
    for (const change of changes) {
      expect(resultOf(await submit('UPDATE_USER', { userId, ...change }))).toEqual({ userId });
      const { userTagIds, ...rest } = change;
      // Tags are shown in the order of their creation.
      const shown = (userTagIds as string[] | undefined)?.toSorted(
        (a, b) => tags.indexOf(a) - tags.indexOf(b),
      );
      expected = { ...expected, ...rest, ...(shown && { userTags: shown }), updatedAt: time };
      expect(await userOf(userId)).toEqual(expected);
    }
  });

  test('keeps its tags and its name when a new tag is not there', async () => {
    const { userId } = await newContact();
    const mine = await newTag(userTags, [userId]);
    const stranger = await newTag(privateKeyTags);
    for (const tagId of [nobody, stranger]) {
      await fails(
        () => submit('UPDATE_USER', { userId, userName: newName(), userTagIds: [mine, tagId] }),
        missing(`invalid parameters.userTagIds[1]: there is no user tag ${tagId}`),
      );
    }
  });

  /** Each contact and the name, by the activity that changes it alone. */
  const single = [
    { type: 'UPDATE_USER_NAME', field: 'userName', value: 'Somebody new' },
    { type: 'UPDATE_USER_EMAIL', field: 'userEmail', value: 'new@example.com' },
    { type: 'UPDATE_USER_PHONE_NUMBER', field: 'userPhoneNumber', value: '+15557654321' },
  ] as const;

  test.each(single)('$type changes $field alone', async ({ type, field, value }) => {
    const { userId } = await newContact();
    const before = await userOf(userId);
    expect(resultOf(await submit(type, { userId, [field]: value }))).toEqual({ userId });
    expect(await userOf(userId)).toEqual({ ...before, [field]: value, updatedAt: time });
    // The same value again does not conflict with itself.
    activityOf(await submit(type, { userId, [field]: value }));
    await isRefused(
      () => submit(type, { userId }),
      invalid(new RegExp(`^missing field parameters\\.${field}: `)),
    );
    await fails(
      () => submit(type, { userId: nobody, [field]: value }),
      missing(`unable to find user ${nobody}`),
    );
  });

  test.each([
    { type: 'UPDATE_USER_EMAIL', field: 'userEmail' },
    { type: 'UPDATE_USER_PHONE_NUMBER', field: 'userPhoneNumber' },
    { type: 'UPDATE_USER', field: 'userEmail' },
    { type: 'UPDATE_USER', field: 'userPhoneNumber' },
  ])('$type with "" takes $field away', async ({ type, field }) => {
    const { userId } = await newContact();
    const { [field]: _gone, ...rest } = await userOf(userId);
    for (let round = 0; round < 2; round++) {
      expect(resultOf(await submit(type, { userId, [field]: '' }))).toEqual({ userId });
      expect(await userOf(userId)).toEqual({ ...rest, updatedAt: time });
    }
  });

  test.each([
    ['UPDATE_USER_NAME', 'userName', '', /expected at least 1 character, got ""$/],
    ['UPDATE_USER_EMAIL', 'userEmail', 'ann', /expected .*an email address.*, got "ann"$/],
    ['UPDATE_USER_EMAIL', 'userEmail', `${'a'.repeat(250)}@example.com`, /expected .*, got "a+\.\.\.$/],
    ['UPDATE_USER_PHONE_NUMBER', 'userPhoneNumber', '5551234567', /expected .*E\.164.*, got "5551234567"$/],
    [
      'UPDATE_USER_PHONE_NUMBER',
      'userPhoneNumber',
      '+1 555 123 4567',
      /expected .*E\.164.*, got "\+1 555 123 4567"$/,
    ],
  ])('%s refuses %s %j', async (type, field, value, problem) => {
    const { userId } = await newContact();
    for (const operation of [type, 'UPDATE_USER']) {
      await isRefused(
        () => submit(operation, { userId, [field]: value }),
        invalid(new RegExp(`^invalid parameters\\.${field}: ${problem.source}`)),
      );
    }
  });

  test('does not take the name of another', async () => {
    const [one, another] = [await newContact(), await newContact()];
    const message = `invalid parameters.userName: user name must be unique, ${JSON.stringify(one.userName)} is taken`;
    for (const type of ['UPDATE_USER', 'UPDATE_USER_NAME']) {
      await fails(
        () => submit(type, { userId: another.userId, userName: one.userName, userEmail: '' }),
        invalid(message),
      );
    }
  });

  test('is not changed by a user whom no policy lets, not even by itself', async () => {
    const { client, userId } = await service.newUser(newName());
    for (const { type, field, value } of single) {
      await isRefused(() => submit(type, { userId, [field]: value }, client), denied);
    }
    await isRefused(() => submit('UPDATE_USER', { userId, userTagIds: [] }, client), denied);
    await isRefused(() => submit('DELETE_USERS', { userIds: [userId] }, client), denied);
  });

  test('that is deleted is gone with its keys, and leaves its name and its key to others', async () => {
    const userName = newName();
    const { userId, client } = await service.newUser(userName);
    const stays = await service.newUser(newName());
    expect((await client.query('whoami')).status).toBe(200);
    expect(resultOf(await submit('DELETE_USERS', { userIds: [userId] }))).toEqual({ userIds: [userId] });

    const refused = await client.query('whoami');
    expect(refused.status).toBe(401);
    expect(refused.body).toMatchObject({
      code: 16,
      turnkeyErrorCode: 'PUBLIC_KEY_NOT_FOUND',
      message: expect.stringMatching(
        /^could not find public key in organization or its parent organization /,
      ) as string,
    });
    expect((await root.query('get_user', { userId })).status).toBe(404);
    expect((await root.query('get_api_keys', { userId })).status).toBe(404);
    const users = ((await ask('list_users', 'users')) as Json[]).map((user) => user['userId']);
    expect(users).toContain(stays.userId);
    expect(users).not.toContain(userId);
    expect((await stays.client.query('whoami')).status).toBe(200);

    const again = resultOf(
      await createUsers([userParams({ userName, apiKeys: [apiKeyParams(client.key)] })]),
    );
    expect(again.userIds[0]).not.toBe(userId);
    expect((await client.query('whoami')).body).toMatchObject({
      userId: again.userIds[0],
      username: userName,
    });
  });

  test('of the root quorum is not deleted, nor is any other user with it', async () => {
    const userId = await newUser();
    await fails(
      () => submit('DELETE_USERS', { userIds: [userId, service.rootUserId] }),
      invalid(
        `quorum users missing: ${service.rootUserId} is a member of the root quorum and cannot be deleted`,
      ),
    );
    await fails(
      () => submit('DELETE_USERS', { userIds: [userId, nobody] }),
      missing(`unable to find user ${nobody}`),
    );
    await fails(
      () => submit('DELETE_USERS', { userIds: [userId, userId] }),
      invalid(`invalid parameters.userIds: ${JSON.stringify(userId)} is given twice`),
    );
    await isRefused(
      () => submit('DELETE_USERS', { userIds: [] }),
      invalid('invalid parameters.userIds: expected at least 1 element, got []'),
    );
    const more = [userId, await newUser()];
    expect(resultOf(await submit('DELETE_USERS', { userIds: more }))).toEqual({ userIds: more });
  });

  test('that is deleted is still in the log, as it was when it voted', async () => {
    const { userId, client } = await service.newUser(newName());
    service.vault.connection.run('UPDATE users SET root = 1 WHERE id = ?', userId);
    const activity = activityOf(
      await submit('CREATE_USER_TAG', { userTagName: newName(), userIds: [userId] }, client),
    );
    service.vault.connection.run('UPDATE users SET root = 0 WHERE id = ?', userId);
    activityOf(await submit('DELETE_USERS', { userIds: [userId] }));
    const logged = (await ask('get_activity', 'activity', { activityId: activity.id })) as ActivityBody;
    expect(logged).toEqual(activity);
    expect(logged.votes[0]?.user).toMatchObject({
      userId,
      apiKeys: [{ credential: { publicKey: client.key.publicKey } }],
    });
  });
});

describe('an API key', () => {
  const addKeys = async (userId: string, keys: readonly Json[]): Promise<readonly string[]> =>
    resultOf(await root.submit('create_api_keys', 'CREATE_API_KEYS_V2', { userId, apiKeys: keys })).apiKeyIds;

  const keyIdsOf = async (userId: string): Promise<readonly string[]> =>
    ((await ask('get_api_keys', 'apiKeys', { userId })) as { apiKeyId: string }[]).map(
      ({ apiKeyId }) => apiKeyId,
    );

  const remove = (userId: string, apiKeyIds: readonly string[]): Promise<Answer> =>
    submit('DELETE_API_KEYS', { userId, apiKeyIds });

  test('is found by its id, among its user’s and among all', async () => {
    const { userId, client } = await service.newUser(newName());
    const key = newTestKey();
    const apiKeyName = newName();
    const [added = ''] = await addKeys(userId, [
      apiKeyParams(key, { apiKeyName, expirationSeconds: '3600' }),
    ]);
    const shown = {
      credential: { publicKey: key.publicKey, type: 'CREDENTIAL_TYPE_API_KEY_P256' },
      apiKeyId: added,
      apiKeyName,
      createdAt: time,
      updatedAt: time,
      expirationSeconds: '3600',
    };
    expect(await ask('get_api_key', 'apiKey', { apiKeyId: added })).toEqual(shown);
    const keys = (await ask('get_api_keys', 'apiKeys', { userId })) as Json[];
    expect(keys).toHaveLength(2);
    expect(keys[0]).toMatchObject({ credential: { publicKey: client.key.publicKey } });
    // Only where there is one.
    expect(keys[0]).not.toHaveProperty('expirationSeconds');
    expect(keys[1]).toEqual(shown);
    expect((await userOf(userId))['apiKeys']).toEqual(keys);

    const all = (await ask('get_api_keys', 'apiKeys')) as Json[];
    expect(all.slice(-2)).toEqual(keys);
    const publicKeys = all.map((each) => (each['credential'] as Json)['publicKey']);
    expect(publicKeys).toContain(service.key.publicKey);
    // Another user may see them too: they are public.
    expect((await client.query('get_api_keys')).body?.['apiKeys']).toEqual(all);
  });

  test.each([
    ['get_api_key', { apiKeyId: nobody }, `unable to find api key ${nobody}`],
    ['get_api_keys', { userId: nobody }, `unable to find user ${nobody}`],
  ])('%s says what is not there', async (operation, parameters, message) => {
    const answer = await root.query(operation, parameters);
    expect(answer.status).toBe(404);
    expect(answer.body).toMatchObject({ code: 5, message });
  });

  test('that is deleted no longer signs in; the others do', async () => {
    const { userId, client } = await service.newUser(newName());
    const second = root.as(newTestKey());
    const [kept = ''] = await addKeys(userId, [apiKeyParams(second.key)]);
    const [first = ''] = await keyIdsOf(userId);
    expect(resultOf(await remove(userId, [first]))).toEqual({ apiKeyIds: [first] });
    const answer = await client.query('whoami');
    expect(answer.status).toBe(401);
    expect(answer.body).toMatchObject({
      code: 16,
      turnkeyErrorCode: 'PUBLIC_KEY_NOT_FOUND',
      message:
        'could not find public key in organization or its parent organization ' +
        `organizationId=${service.organizationId} publicKey=${client.key.publicKey}`,
    });
    expect((await second.query('whoami')).body).toMatchObject({ userId });
    expect(await keyIdsOf(userId)).toEqual([kept]);
    expect((await root.query('get_api_key', { apiKeyId: first })).status).toBe(404);
    // Any user can register the key again.
    const another = await service.newUser(newName());
    await addKeys(another.userId, [apiKeyParams(client.key)]);
    expect((await client.query('whoami')).body).toMatchObject({ userId: another.userId });
  });

  test('of the window is not deleted', async () => {
    const { body } = await root.query('get_api_keys', { userId: service.rootUserId });
    const { apiKeys } = body as { apiKeys: { apiKeyId: string; apiKeyName: string }[] };
    const own = apiKeys.find(({ apiKeyName }) => apiKeyName === 'Keyhearth window')?.apiKeyId ?? '';
    const message = `invalid parameters.apiKeyIds[0]: ${own} is the window's own key, which is not deleted`;
    await fails(() => remove(service.rootUserId, [own]), invalid(message));
    expect(await keyIdsOf(service.rootUserId)).toContain(own);
  });

  test('is not deleted when the user would have none left that is valid', async () => {
    const { userId } = await service.newUser(newName());
    const [first = ''] = await keyIdsOf(userId);
    const message = `user missing valid credential: ${userId} would have none left; create another key first`;
    await fails(() => remove(userId, [first]), invalid(message));
    const [second = '', brief = ''] = await addKeys(userId, [
      apiKeyParams(newTestKey()),
      apiKeyParams(newTestKey(), { expirationSeconds: '5' }),
    ]);
    await fails(() => remove(userId, [second, first, brief]), invalid(message));
    expect(resultOf(await remove(userId, [first]))).toEqual({ apiKeyIds: [first] });
    service.clock.advance(6_000);
    // The remaining key has expired.
    await fails(() => remove(userId, [second]), invalid(message));
    expect(resultOf(await remove(userId, [brief]))).toEqual({ apiKeyIds: [brief] });
    await fails(() => remove(userId, [second]), invalid(message));
  });

  test('is deleted as the key of its own user, each once', async () => {
    const [ann, bob] = [await service.newUser(newName()), await service.newUser(newName())];
    const [spare = ''] = await addKeys(ann.userId, [apiKeyParams(newTestKey())]);
    const [bobs = ''] = await keyIdsOf(bob.userId);
    for (const apiKeyId of [bobs, nobody]) {
      await fails(
        () => remove(ann.userId, [spare, apiKeyId]),
        missing(`unable to find api key ${apiKeyId} of user ${ann.userId}`),
      );
    }
    await fails(
      () => remove(ann.userId, [spare, spare]),
      invalid(`invalid parameters.apiKeyIds: ${JSON.stringify(spare)} is given twice`),
    );
    await fails(() => remove(nobody, [spare]), missing(`unable to find user ${nobody}`));
    await isRefused(
      () => remove(ann.userId, []),
      invalid('invalid parameters.apiKeyIds: expected at least 1 element, got []'),
    );
    await isRefused(
      () => submit('DELETE_API_KEYS', { userId: ann.userId, apiKeyIds: [spare] }, bob.client),
      denied,
    );
  });
});

describe('the organization', () => {
  test('is renamed', async () => {
    const organizationName = newName();
    const { organizationId } = service;
    const answer = await submit('UPDATE_ORGANIZATION_NAME', { organizationName });
    expect(resultOf(answer)).toEqual({ organizationId, organizationName });
    expect((await root.query('whoami')).body).toMatchObject({ organizationName });
    expect(await ask('get_organization', 'organizationData')).toMatchObject({
      organizationId,
      name: organizationName,
    });
  });

  test('has a name that can be read, and is renamed by the root quorum', async () => {
    for (const organizationName of ['', ' x', 'x'.repeat(65)]) {
      await isRefused(
        () => submit('UPDATE_ORGANIZATION_NAME', { organizationName }),
        invalid(/^invalid parameters\.organizationName: expected /),
      );
    }
    const { client } = await service.newUser(newName());
    await isRefused(
      () => submit('UPDATE_ORGANIZATION_NAME', { organizationName: newName() }, client),
      denied,
    );
  });
});

describe('a wallet', () => {
  test('is renamed to a name that no other has', async () => {
    const [first, second] = [newName(), newName()];
    const { walletId } = await newWallet(root, first);
    await newWallet(root, second);
    const before = await walletOf(walletId);
    const walletName = newName();
    expect(resultOf(await submit('UPDATE_WALLET', { walletId, walletName }))).toEqual({ walletId });
    expect(await walletOf(walletId)).toEqual({ ...before, walletName, updatedAt: time });
    await fails(
      () => submit('UPDATE_WALLET', { walletId, walletName: second }),
      invalid(
        `invalid parameters.walletName: wallet name must be unique, ${JSON.stringify(second)} is taken`,
      ),
    );
    // Its own name, or none at all, changes nothing.
    const rows = stored(service);
    activityOf(await submit('UPDATE_WALLET', { walletId, walletName }));
    activityOf(await submit('UPDATE_WALLET', { walletId }));
    expect(stored(service)).toEqual(rows);
    // Its first name is free again.
    await newWallet(root, first);
    await fails(
      () => submit('UPDATE_WALLET', { walletId: nobody }),
      missing(`unable to find wallet ${nobody}`),
    );
    await isRefused(
      () => submit('UPDATE_WALLET', { walletId, walletName: '' }),
      invalid('invalid parameters.walletName: expected at least 1 character, got ""'),
    );
  });

  test('has accounts that are renamed, and need no name', async () => {
    const { walletId, ethereum: address } = await newWallet(root, newName());
    const shown = (): Promise<unknown> => ask('get_wallet_account', 'account', { walletId, address });
    const before = (await shown()) as Json;
    const walletAccountId = before['walletAccountId'] as string;
    const rename = (name: string, client = root): Promise<Answer> =>
      client.submit('update_wallet_account_name', 'UPDATE_WALLET_ACCOUNT_NAME', { walletAccountId, name });
    expect(resultOf(await rename('Rent'))).toEqual({ walletAccountId });
    expect(await shown()).toEqual({ ...before, name: 'Rent', updatedAt: time });
    // Its own name changes nothing.
    const rows = stored(service);
    activityOf(await rename('Rent'));
    expect(stored(service)).toEqual(rows);
    activityOf(await rename(''));
    expect(await shown()).toEqual({ ...before, updatedAt: time });
    await isRefused(() => rename(' Rent'), invalid(/^invalid parameters\.name: /));
    const { client } = await service.newUser(newName());
    await isRefused(() => rename('Rent', client), denied);
    await fails(
      () => submit('UPDATE_WALLET_ACCOUNT_NAME', { walletAccountId: nobody, name: 'Rent' }),
      missing(`unable to find wallet account ${nobody}`),
    );
  });

  test('shows an account by its address and by its path, however that is written', async () => {
    const { walletId, ethereum, solana } = await newWallet(root, newName());
    const accounts = (await ask('list_wallet_accounts', 'accounts', { walletId })) as Json[];
    const by = (parameters: Json): Promise<unknown> =>
      ask('get_wallet_account', 'account', { walletId, ...parameters });
    expect(accounts.map(({ address }) => address)).toEqual([ethereum, solana]);
    expect(await by({ address: ethereum })).toEqual(accounts[0]);
    expect(await by({ path: ethereumAccount.path })).toEqual(accounts[0]);
    expect(await by({ address: solana })).toEqual(accounts[1]);
    expect(await by({ path: solanaAccount.path })).toEqual(accounts[1]);
    expect(await by({ path: 'm/44h/60H/0h/0/0' })).toEqual(accounts[0]);
  });

  test('shows no account of another wallet, and none that is not there', async () => {
    const { walletId, ethereum } = await newWallet(root, newName());
    const other = await newWallet(root, newName());
    const cases: [Json, number, string][] = [
      [{ address: other.ethereum }, 404, `Could not find wallet account with address ${other.ethereum}`],
      [
        { address: ethereum.toLowerCase() },
        404,
        `Could not find wallet account with address ${ethereum.toLowerCase()}`,
      ],
      [{ path: "m/44'/60'/0'/0/1" }, 404, "Could not find wallet account with path m/44'/60'/0'/0/1"],
      [{ walletId: nobody, address: ethereum }, 404, `unable to find wallet ${nobody}`],
      [{}, 400, 'invalid request body: expected address or path, one of the two'],
      [
        { address: ethereum, path: ethereumAccount.path },
        400,
        'invalid request body: expected address or path, one of the two',
      ],
      [{ path: '44/60' }, 400, 'invalid path: '],
    ];
    for (const [parameters, status, message] of cases) {
      const answer = await root.query('get_wallet_account', { walletId, ...parameters });
      expect(answer.status, answer.text).toBe(status);
      expect(answer.body?.['message']).toMatch(message);
      expect((answer.body as { message: string }).message.startsWith(message)).toBe(true);
    }
  });
});

describe('sign_raw_payloads', () => {
  const how = { encoding: 'PAYLOAD_ENCODING_HEXADECIMAL', hashFunction: 'HASH_FUNCTION_NO_OP' };
  let wallet: Awaited<ReturnType<typeof newWallet>>;
  beforeAll(async () => {
    wallet = await newWallet(root, newName());
  });

  interface Signature {
    readonly r: string;
    readonly s: string;
    readonly v: string;
  }

  const signaturesOf = (answer: Answer): readonly Signature[] =>
    resultOf(answer)['signatures'] as Signature[];

  test('signs each payload, in order, as sign_raw_payload does', async () => {
    const payloads = Array.from({ length: 100 }, (_, index) => hashMessage(`payload ${String(index)}`));
    const signWith = wallet.ethereum;
    const answer = await submit('SIGN_RAW_PAYLOADS', { signWith, payloads, ...how });
    const signatures = signaturesOf(answer);
    expect(signatures).toHaveLength(payloads.length);
    for (const [index, payload] of payloads.entries()) {
      const { r = '', s = '', v } = signatures[index] ?? {};
      const signature = serializeSignature({ r: `0x${r}`, s: `0x${s}`, yParity: Number(v) });
      expect(await recoverAddress({ hash: payload, signature })).toBe(signWith);
    }
    const single = { signWith, payload: payloads[7], ...how };
    const { r, s, v } = resultOf(await root.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', single));
    expect(signatures[7]).toEqual({ r, s, v });
  });

  test('signs on Ed25519', async () => {
    const payloads = ['', 'one', 'two', 'one'];
    const answer = await submit('SIGN_RAW_PAYLOADS', {
      signWith: wallet.solana,
      payloads,
      encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
      hashFunction: 'HASH_FUNCTION_NOT_APPLICABLE',
    });
    const signatures = signaturesOf(answer);
    expect(signatures[3]).toEqual(signatures[1]);
    for (const [index, payload] of payloads.entries()) {
      const { r = '', s = '' } = signatures[index] ?? {};
      const signature = Buffer.from(r + s, 'hex');
      expect(ed25519.verify(signature, Buffer.from(payload), base58.decode(wallet.solana))).toBe(true);
    }
  });

  const good = 'ab'.repeat(32);

  test.each([
    [
      'a short one',
      [good, 'ab', good],
      /^invalid parameters\.payloads\[1\]: expected a 32-bytes-long digest with HASH_FUNCTION_NO_OP, got 1 bytes$/,
    ],
    ['one that is no hex', [good, good, 'xy'], /^invalid .*parameters\.payloads\[2\]/],
    ['an empty one', ['', good], /^invalid parameters\.payloads\[0\]: expected a 32-bytes-long digest/],
  ])('signs none when there is %s, and says which', async (_name, payloads, message) => {
    await fails(
      () => submit('SIGN_RAW_PAYLOADS', { signWith: wallet.ethereum, payloads, ...how }),
      invalid(message),
    );
  });

  test.each([
    ['none', [], 'invalid parameters.payloads: expected at least 1 element, got []'],
    [
      'more than a hundred',
      Array<string>(101).fill(good),
      /^invalid parameters\.payloads: expected at most 100 elements, got /,
    ],
    ['a number', [good, 7], 'invalid parameters.payloads[1]: expected a string, got 7'],
    ['no list', good, /^invalid parameters\.payloads: expected an array, got /],
  ])('takes one to a hundred texts, not %s', async (_name, payloads, message) => {
    await isRefused(
      () => submit('SIGN_RAW_PAYLOADS', { signWith: wallet.ethereum, payloads, ...how }),
      invalid(message),
    );
  });

  test('needs a key that is there, and a hash function that fits it', async () => {
    await fails(
      () => submit('SIGN_RAW_PAYLOADS', { signWith: wallet.walletId, payloads: [good], ...how }),
      missing('Could not find any resource to sign with.'),
    );
    await isRefused(
      () => submit('SIGN_RAW_PAYLOADS', { signWith: wallet.solana, payloads: [good], ...how }),
      invalid(/^invalid hash function: parameters\.hashFunction: /),
    );
  });
});
