/** Secrets through the API: in and out by the vendor's own library, by whom, and under which names. */
import {
  decryptSecretBundle,
  encryptSecretToBundle,
  formatHpkeBuf,
  generateP256KeyPair,
  hpkeEncrypt,
} from '@turnkey/crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { denied, fails as failsIn, invalid, isRefused as isRefusedIn, missing } from '../support/refusals.ts';
import type { Refusal } from '../support/refusals.ts';
import { filesIn } from '../support/secret-watch.ts';
import {
  activityOf,
  newTestKey,
  resultOf,
  send,
  startTestVault,
  newSubOrganization,
} from '../support/support.ts';
import type { Answer, Json, TestVault, TestClient } from '../support/support.ts';

const suite = { encryptionSuite: 'TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1' };
const nowhere = '00000000-0000-4000-8000-000000000000';

let service: TestVault;
let root: TestClient;
let signer: string;

beforeAll(async () => {
  service = await startTestVault();
  ({ root } = service);
  const { body } = await send(service.url, { method: 'GET', path: '/public/v1/discovery/keys' });
  signer = String(body?.['signer']);
});
afterAll(() => service[Symbol.asyncDispose]());

const fails = (work: () => Promise<Answer>, refusal: Refusal): Promise<Answer> =>
  failsIn(service, work, refusal);
const isRefused = (work: () => Promise<Answer>, refusal: Refusal): Promise<void> =>
  isRefusedIn(service, work, refusal);

let names = 0;
const newName = (): string => `secret-${String(++names)}`;

const submit = (client: TestClient, type: string, parameters: Json): Promise<Answer> =>
  client.submit(type.toLowerCase(), type, parameters);

const targets = async (client: TestClient, numSecrets: number): Promise<readonly string[]> =>
  resultOf(await submit(client, 'INIT_IMPORT_SECRETS', { ...suite, numSecrets }))[
    'enclaveTargetMessages'
  ] as readonly string[];

interface Payload extends Json {
  readonly secretPayload: string;
  readonly targetPublicKey: string;
}

/** Encrypted by the vendor's library, as text. */
const encrypt = async (
  client: TestClient,
  ingressTargetBundle: string,
  plaintext: string,
): Promise<Payload> => ({
  ...suite,
  ...(await encryptSecretToBundle({
    plaintext,
    ingressTargetBundle,
    organizationId: client.organizationId,
    dangerouslyOverrideSignerPublicKey: signer,
  })),
});

/** Encrypted bytes, which the vendor's library has no function for. */
function encryptBytes(target: string, plainTextBuf: Uint8Array): Payload {
  const { data } = JSON.parse(target) as { readonly data: string };
  const { targetPublic } = JSON.parse(Buffer.from(data, 'hex').toString()) as {
    readonly targetPublic: string;
  };
  const targetKeyBuf = new Uint8Array(Buffer.from(targetPublic, 'hex'));
  return {
    ...suite,
    secretPayload: formatHpkeBuf(hpkeEncrypt({ plainTextBuf, targetKeyBuf })),
    targetPublicKey: targetPublic,
  };
}

const newPayload = async (value: string, client = root): Promise<Payload> =>
  encrypt(client, (await targets(client, 1))[0] ?? '', value);

async function keep(value: string, more: Json = {}, client = root): Promise<string> {
  const secret = { name: newName(), ...(await newPayload(value, client)), ...more };
  const [secretId = ''] = resultOf(await submit(client, 'IMPORT_SECRETS', { secrets: [secret] }))[
    'secretIds'
  ] as string[];
  return secretId;
}

const newBytes = async (value: Uint8Array): Promise<Payload> =>
  encryptBytes((await targets(root, 1))[0] ?? '', value);

const exportOf = (secretIds: readonly string[], targetPublicKey: string): Json => ({
  secrets: secretIds.map((secretId) => ({ secretId, targetPublicKey, ...suite })),
});

async function take(secretIds: readonly string[], client = root): Promise<string[]> {
  const { publicKeyUncompressed, privateKey } = generateP256KeyPair();
  const answer = await submit(client, 'EXPORT_SECRETS', exportOf(secretIds, publicKeyUncompressed));
  return Promise.all(
    (resultOf(answer)['secretPayloads'] as string[]).map((secretPayload) =>
      decryptSecretBundle({
        secretPayload,
        embeddedPrivateKey: privateKey,
        organizationId: client.organizationId,
        dangerouslyOverrideSignerPublicKey: signer,
      }),
    ),
  );
}

const exporting = (...secretIds: string[]): Json =>
  exportOf(secretIds, generateP256KeyPair().publicKeyUncompressed);

const list = async (client = root, paginationOptions: Json = { limit: '100' }): Promise<readonly Json[]> =>
  (await client.query('list_secrets', { paginationOptions })).body?.['secrets'] as readonly Json[];

describe('a secret', () => {
  test('comes in and goes out by the vendor’s library, several at once, and is listed without its value', async () => {
    const values = ['one', 'two\nlines\n', '…drei ✓'];
    const given = [newName(), newName(), newName()];
    const bundles = await targets(root, 3);
    const secrets = await Promise.all(
      values.map(async (value, index) => ({
        name: given[index],
        staticProperties: [{ key: 'team', value: `payments ${String(index)}` }],
        ...(await encrypt(root, bundles[index] ?? '', value)),
      })),
    );
    const answer = resultOf(await submit(root, 'IMPORT_SECRETS', { secrets }));
    const secretIds = answer['secretIds'] as string[];
    expect(await take(secretIds)).toEqual(values);
    expect(await take(secretIds.toReversed())).toEqual(values.toReversed());
    const listed = await list();
    expect(listed.slice(0, 3)).toEqual(
      given
        .map((name, index) => ({
          secretId: secretIds[index],
          name,
          staticProperties: [{ key: 'team', value: `payments ${String(index)}` }],
          createdAtUnixMs: expect.stringMatching(/^[0-9]{13}$/) as string,
        }))
        .toReversed(),
    );
  });

  test('may have no name, and any bytes', async () => {
    const secretId = await keep('nameless', { name: '' });
    expect((await list())[0]).toEqual({
      secretId,
      staticProperties: [],
      createdAtUnixMs: expect.any(String) as string,
    });
    const secrets = [await newBytes(Uint8Array.of(0, 255, 10, 0))];
    activityOf(await submit(root, 'IMPORT_SECRETS', { secrets }));
  });

  test('has 1 to 65,536 bytes', async () => {
    const longest = 'x'.repeat(65_536);
    expect(await take([await keep(longest)])).toEqual([longest]);
    const parameters = { secrets: [{ name: newName(), ...(await newPayload('x'.repeat(65_537))) }] };
    await isRefused(
      () => submit(root, 'IMPORT_SECRETS', parameters),
      invalid(
        /^invalid parameters.secrets\[0\].secretPayload: .* at most 65536 bytes, got a text of [0-9]+ characters$/,
      ),
    );
    const secrets = [await newBytes(new Uint8Array())];
    await fails(
      () => submit(root, 'IMPORT_SECRETS', { secrets }),
      invalid(
        /^invalid parameters.secrets\[0\].secretPayload: expected a secret of 1 to 65536 bytes in it, got none$/,
      ),
    );
  });

  test('is not exported with so many others that the answer would be too large', async () => {
    const secretIds: string[] = [];
    for (let count = 0; count < 16; count += 1) secretIds.push(await keep('y'.repeat(65_000)));
    await fails(
      () => submit(root, 'EXPORT_SECRETS', exporting(...secretIds)),
      invalid(/at most 1000000 bytes/),
    );
    expect(await take(secretIds.slice(0, 15))).toHaveLength(15);
    activityOf(await submit(root, 'DELETE_SECRETS', { secretIds }));
  });

  test('gets another value under the same id and name', async () => {
    const secretId = await keep('before');
    activityOf(await submit(root, 'UPDATE_SECRET', { secretId, ...(await newPayload('after')) }));
    expect(await take([secretId])).toEqual(['after']);
    const payload = await newPayload('after');
    await fails(
      () => submit(root, 'UPDATE_SECRET', { secretId: nowhere, ...payload }),
      missing(`unable to find secret ${nowhere}`),
    );
  });

  test('is deleted with others or not at all', async () => {
    const [one, two] = [await keep('one'), await keep('two')];
    await fails(
      () => submit(root, 'DELETE_SECRETS', { secretIds: [one, nowhere] }),
      missing(`unable to find secret ${nowhere}`),
    );
    await fails(() => submit(root, 'DELETE_SECRETS', { secretIds: [one, one] }), invalid(/is given twice$/));
    expect(resultOf(await submit(root, 'DELETE_SECRETS', { secretIds: [two, one] }))).toMatchObject({
      secretIds: [two, one],
    });
    await fails(
      () => submit(root, 'EXPORT_SECRETS', exporting(one)),
      missing(`unable to find secret ${one}`),
    );
  });

  test('is listed by pages, the newest first', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) ids.unshift(await keep('listed'));
    const page = async (options: Json) => (await list(root, options)).map(({ secretId }) => secretId);
    expect(await page({ limit: '2' })).toEqual(ids.slice(0, 2));
    expect(await page({ limit: '2', after: ids[1] })).toEqual(ids.slice(2, 4));
    expect(await page({ limit: '2', before: ids[4] })).toEqual(ids.slice(2, 4));
    expect((await root.query('list_secrets', { paginationOptions: { after: nowhere } })).status).toBe(404);
  });
});

describe('an import', () => {
  test('is taken once: a bundle that comes twice, at once or later, is spent', async () => {
    const payload = await newPayload('once');
    const send = () => submit(root, 'IMPORT_SECRETS', { secrets: [{ name: newName(), ...payload }] });
    const both = await Promise.all([send(), send()]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 400]);
    await fails(send, invalid(/opens with none of this user's import bundles for a secret/));
    const [target = ''] = await targets(root, 1);
    const twice = [encryptBytes(target, Buffer.from('a')), encryptBytes(target, Buffer.from('b'))];
    await fails(
      () => submit(root, 'IMPORT_SECRETS', { secrets: twice }),
      invalid(/^invalid parameters.secrets\[1\].secretPayload: it opens with none/),
    );
  });

  test('opens with the target that it names alone, and with no other user’s, kind’s or organization’s', async () => {
    const ann = await service.newUser(newName());
    service.vault.connection.run('UPDATE users SET root = 1 WHERE id = ?', ann.userId);
    const [own, other] = await Promise.all([newPayload('own'), newPayload('other')]);
    const importing = (payload: Payload, client = root) =>
      submit(client, 'IMPORT_SECRETS', { secrets: [payload] });
    const none = invalid(/opens with none of this user's import bundles/);
    await fails(() => importing({ ...own, targetPublicKey: other.targetPublicKey }), none);
    await fails(() => importing(own, ann.client), none);
    const wallet = resultOf(await submit(root, 'INIT_IMPORT_WALLET', { userId: service.rootUserId }));
    await fails(() => importing(encryptBytes(String(wallet['importBundle']), Buffer.from('own'))), none);
    const { client: below } = await newSubOrganization(root, 'Another organization');
    const foreign = await submit(below, 'IMPORT_SECRETS', { secrets: [own] });
    expect(foreign.body).toMatchObject({ code: 3, message: none.message });
    // Nothing of this has spent it.
    activityOf(await importing(own));
  });

  test('that is not encrypted is refused without a word of it', async () => {
    const parameters = {
      secrets: [{ ...suite, secretPayload: 'hunter2', targetPublicKey: newTestKey().publicKey }],
    };
    const answer = await submit(root, 'IMPORT_SECRETS', parameters);
    expect(answer.status).toBe(400);
    expect(answer.text).not.toContain('hunter2');
  });

  test('may be of 32 secrets; a thousand are kept, and each target lasts for two such requests', async () => {
    await isRefused(
      () => submit(root, 'INIT_IMPORT_SECRETS', { ...suite, numSecrets: 33 }),
      invalid(/numSecrets/),
    );
    const first = await targets(root, 32);
    await targets(root, 32);
    const payload = encryptBytes(first[0] ?? '', Buffer.from('kept'));
    const many = encryptBytes(first[1] ?? '', Buffer.from('gone'));
    activityOf(await submit(root, 'IMPORT_SECRETS', { secrets: [{ name: newName(), ...payload }] }));
    await targets(root, 32);
    await fails(() => submit(root, 'IMPORT_SECRETS', { secrets: [many] }), invalid(/opens with none/));
    service.vault.connection.run(
      `WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
       INSERT INTO secrets (id, organization_id, static_properties, sealed, created_at, updated_at)
       SELECT 'filler ' || i, ?, '[]', x'00', 0, 0 FROM n`,
      service.organizationId,
    );
    const over = await newPayload('over');
    await fails(() => submit(root, 'IMPORT_SECRETS', { secrets: [over] }), {
      ...{ status: 429, code: 8 },
      message: /^maximum number of secrets reached: 1000 are allowed/,
    });
    service.vault.connection.run("DELETE FROM secrets WHERE id LIKE 'filler %'");
  });
});

describe('a name', () => {
  test.each([
    ['a line end', 'a\nb'],
    ['a NUL', 'a\0b'],
    ['a mark of direction', 'a\u202eb'],
    ['white space around it', ' a'],
    ['65 characters', 'n'.repeat(65)],
  ])('with %s is refused', async (_, name) => {
    const payload = await newPayload('named');
    await isRefused(
      () => submit(root, 'IMPORT_SECRETS', { secrets: [{ ...payload, name }] }),
      invalid(/^invalid parameters.secrets\[0\].name: /),
    );
  });

  test('may have a slash, an equals sign and letters of any script', async () => {
    for (const name of ['team/database', 'A=B', 'Schlüssel', '鍵']) await keep('named', { name });
  });

  test('is taken once in an organization, in no other spelling of Unicode, and freely in another', async () => {
    await keep('one', { name: 'Café' });
    const payload = await newPayload('two');
    const again = (name: string) => () => submit(root, 'IMPORT_SECRETS', { secrets: [{ ...payload, name }] });
    await fails(again('Café'), invalid(/secret name must be unique, "Café" is taken$/));
    await fails(again('Cafe\u0301'), invalid(/looks like "Café", which is there already$/));
    await fails(again('Cаfé'), invalid(/looks like "Café"/));
    const { client: below } = await newSubOrganization(root, 'Same names');
    await keep('below', { name: 'Café' }, below);
    const twice = await Promise.all([newPayload('a'), newPayload('b')]);
    await fails(
      () => submit(root, 'IMPORT_SECRETS', { secrets: twice.map((each) => ({ ...each, name: 'twice' })) }),
      invalid('invalid parameters.secrets: "twice" is given twice'),
    );
  });

  test.each([
    ['without a key', [{ value: 'v' }]],
    [
      'with a key that is given twice',
      [
        { key: 'team', value: 'a' },
        { key: 'team', value: 'b' },
      ],
    ],
    ['with a value that cannot be seen', [{ key: 'team', value: '\u202e' }]],
  ])('of a property %s is refused', async (_, staticProperties) => {
    const payload = await newPayload('with properties');
    const answer = await submit(root, 'IMPORT_SECRETS', { secrets: [{ ...payload, staticProperties }] });
    expect(answer.body).toMatchObject({
      code: 3,
      message: expect.stringContaining('staticProperties') as string,
    });
  });
});

describe('policies', () => {
  const allowing = (condition: string, consensus?: string) =>
    root
      .submit('create_policy', 'CREATE_POLICY_V3', {
        ...{ policyName: newName(), effect: 'EFFECT_ALLOW', condition, notes: '' },
        ...(consensus !== undefined && { consensus }),
      })
      .then((answer) => String(resultOf(answer)['policyId']));

  test('decide each secret of a request by its properties, its name and its id', async () => {
    const { client, userId } = await service.newUser(newName());
    const [test1, live] = [
      await keep('of tests', { staticProperties: [{ key: 'env', value: 'test' }] }),
      await keep('of production', { staticProperties: [{ key: 'env', value: 'live' }] }),
    ];
    const named = await keep('by its name', { name: 'the named one' });
    const known = await keep('by its id');
    await isRefused(() => submit(client, 'EXPORT_SECRETS', exporting(test1)), denied);
    const exports = `activity.resource == 'SECRET' && activity.action == 'EXPORT' && submitter.id == '${userId}'`;
    await allowing(`${exports} && secret.static_properties['env'] == 'test'`);
    await allowing(`${exports} && secret.name == 'the named one'`);
    await allowing(`${exports} && secret.id == '${known}'`);
    expect(await take([test1, named, known], client)).toEqual(['of tests', 'by its name', 'by its id']);
    for (const hidden of [live, nowhere, await keep('without properties')]) {
      await isRefused(() => submit(client, 'EXPORT_SECRETS', exporting(test1, hidden)), denied);
    }
  });

  test('let a user import under some properties alone, and read none', async () => {
    const { client, userId } = await service.newUser(newName());
    await allowing(
      `activity.resource == 'SECRET' && activity.action == 'IMPORT' && submitter.id == '${userId}' && activity.kind == 'INIT_IMPORT_SECRETS'`,
    );
    await allowing(
      `activity.kind == 'IMPORT_SECRETS' && submitter.id == '${userId}' && secret.static_properties['env'] == 'test'`,
    );
    const secretId = await keep('mine', { staticProperties: [{ key: 'env', value: 'test' }] }, client);
    const payload = await newPayload('not mine', client);
    await isRefused(() => submit(client, 'IMPORT_SECRETS', { secrets: [payload] }), denied);
    await isRefused(() => submit(client, 'EXPORT_SECRETS', exporting(secretId)), denied);
    await isRefused(() => submit(client, 'UPDATE_SECRET', { secretId, ...payload }), denied);
    await isRefused(() => submit(client, 'DELETE_SECRETS', { secretIds: [secretId] }), denied);
  });

  test('hold an export until another votes; who lost the right meanwhile gets nothing', async () => {
    const ann = await service.newUser(newName());
    const bob = await service.newUser(newName());
    const secretId = await keep('voted for');
    const policyId = await allowing(
      `activity.kind == 'EXPORT_SECRETS' && secret.id == '${secretId}'`,
      `approvers.any(user, user.id == '${ann.userId}') && approvers.any(user, user.id == '${bob.userId}')`,
    );
    const ask = async () => activityOf(await submit(ann.client, 'EXPORT_SECRETS', exporting(secretId)));
    const approve = ({ fingerprint }: { readonly fingerprint: string }) =>
      submit(bob.client, 'APPROVE_ACTIVITY', { fingerprint });
    const waiting = await ask();
    const late = await ask();
    expect(late.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
    expect(activityOf(await approve(waiting)).status).toBe('ACTIVITY_STATUS_COMPLETED');
    activityOf(await submit(root, 'DELETE_POLICY', { policyId }));
    const answer = await approve(late);
    expect(answer.text).not.toContain('secretPayloads');
    expect(activityOf(await root.query('get_activity', { activityId: late.id }))).toMatchObject({
      status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED',
      result: {},
    });
  });

  test('do not reach into another organization', async () => {
    const { client: below } = await newSubOrganization(root, 'Apart');
    const [own, other] = [await keep('above'), await keep('below', {}, below)];
    expect((await list(below)).map(({ secretId }) => secretId)).toEqual([other]);
    expect((await submit(below, 'EXPORT_SECRETS', exporting(own))).body).toMatchObject({ code: 5 });
    await fails(
      () => submit(root, 'EXPORT_SECRETS', exporting(other)),
      missing(`unable to find secret ${other}`),
    );
  });
});

test('a sub-organization with a secret goes only when that is meant', async () => {
  const { client: below } = await newSubOrganization(root, 'With a secret');
  const secretId = await keep('to be lost', {}, below);
  const answer = await submit(below, 'DELETE_SUB_ORGANIZATION', {});
  expect(answer.body).toMatchObject({ code: 3, message: expect.stringContaining(secretId) as string });
  activityOf(await submit(below, 'DELETE_SUB_ORGANIZATION', { deleteWithoutExport: true }));
  expect(service.vault.connection.all('SELECT id FROM secrets WHERE id = ?', secretId)).toEqual([]);
});

test('the log says in words how a secret was used, the search finds its name, and its value is nowhere', async () => {
  const value = 'c4n4ry-8d1f0a7e';
  const name = 'A secret to be found';
  const secretId = await keep(value, { name });
  activityOf(await submit(root, 'UPDATE_SECRET', { secretId, ...(await newPayload(value)) }));
  expect(await take([secretId])).toEqual([value]);
  const found = await root.query('search', { text: 'to be found' });
  expect(found.body?.['results']).toMatchObject([{ kind: 'SECRET', id: secretId, name }]);
  const said = async (): Promise<readonly unknown[]> => {
    const { body } = await root.query('list_activities', { paginationOptions: { limit: '3' } });
    return Promise.all(
      ((body?.['activities'] ?? []) as readonly Json[]).map(async ({ id: activityId }) => {
        const answer = await root.query('describe_activities', { activityIds: [activityId] });
        const [description] = (answer.body?.['descriptions'] ?? []) as readonly {
          readonly effect: readonly { readonly text: string }[];
        }[];
        return description?.effect.map(({ text }) => text).join('');
      }),
    );
  };
  expect((await said())[0]).toBe(`The requester gets the secrets ${name}, for good.`);
  activityOf(await submit(root, 'DELETE_SECRETS', { secretIds: [secretId] }));
  expect((await said())[0]).toBe('The vault deletes the secrets a deleted or unknown secret for good.');
  const log = await root.query('list_activities', { paginationOptions: { limit: '100' } });
  const places = [...filesIn(service.directory), ['the log', Buffer.from(log.text)] as const];
  expect(places.some(([, content]) => Buffer.from(content).includes(name))).toBe(true);
  for (const form of [value, Buffer.from(value).toString('hex'), Buffer.from(value).toString('base64')]) {
    expect(
      places.filter(([, content]) => Buffer.from(content).includes(form)).map(([place]) => place),
    ).toEqual([]);
  }
});

test('only API keys sign in the users that create_api_only_users makes', async () => {
  const { publicKey } = newTestKey();
  const tag = resultOf(await submit(root, 'CREATE_USER_TAG', { userTagName: newName(), userIds: [] }));
  const apiOnlyUsers = [
    {
      userName: newName(),
      userEmail: 'ci@example.com',
      userTags: [tag['userTagId']],
      apiKeys: [{ apiKeyName: 'CI', publicKey, expirationSeconds: '600' }],
    },
    { userName: newName(), userTags: [], apiKeys: [] },
  ];
  const made = resultOf(await submit(root, 'CREATE_API_ONLY_USERS', { apiOnlyUsers }));
  const [userId] = made.userIds as string[];
  expect((await root.query('get_user', { userId })).body?.['user']).toMatchObject({
    userName: apiOnlyUsers[0]?.userName,
    userEmail: 'ci@example.com',
    userTags: [tag['userTagId']],
    authenticators: [],
    oauthProviders: [],
    apiKeys: [{ apiKeyName: 'CI', expirationSeconds: '600', credential: { publicKey } }],
  });
  await fails(
    () => submit(root, 'CREATE_API_ONLY_USERS', { apiOnlyUsers }),
    invalid(/user name must be unique/),
  );
  const { client } = await service.newUser(newName());
  const more = [{ userName: newName(), userTags: [], apiKeys: [] }];
  await isRefused(() => submit(client, 'CREATE_API_ONLY_USERS', { apiOnlyUsers: more }), denied);
});
