/** The journal of requests: what came to the port, and what is wrong with a stamp that does not hold. */
import { createHash, createPrivateKey, sign } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { credentialUses, LastUses } from '../../main/auth/last-uses.ts';
import type { SeenRequest, VaultEvent } from '../../preload/contract.ts';
import { SoftwareAuthenticator } from '../support/software-authenticator.ts';
import {
  activityOf,
  CommandProcess,
  newTestKey,
  resultOf,
  runCommand,
  send,
  stampText,
  startTestVault,
  temporaryDirectory,
} from '../support/support.ts';
import type { Json, RawRequest, TestVault } from '../support/support.ts';

let service: TestVault;

beforeAll(async () => {
  service = await startTestVault();
});
afterAll(() => service[Symbol.asyncDispose]());

const newest = async (): Promise<SeenRequest> => {
  const { requests } = await service.vault.rpc.requests();
  const [first] = requests;
  if (first === undefined) throw new Error('no request was seen');
  return first;
};

/** An entry is added when the answer is sent, which may be after its client has it. */
const seenAfter = async (post: () => Promise<unknown>): Promise<SeenRequest> => {
  const before = (await service.vault.rpc.requests()).total;
  await post();
  await vi.waitFor(async () => {
    expect((await service.vault.rpc.requests()).total).toBe(before + 1);
  });
  return newest();
};

const whoami = (more: Json = {}): string =>
  JSON.stringify({ organizationId: service.organizationId, ...more });

const post = (
  body: string | Uint8Array,
  headers: RawRequest['headers'] = {},
  path = '/public/v1/query/whoami',
): Promise<SeenRequest> =>
  seenAfter(() =>
    send(service.url, { path, body, headers: { 'content-type': 'application/json', ...headers } }),
  );

const withKey = (body: string, stamp: string): Promise<SeenRequest> => post(body, { 'x-stamp': stamp });

const outcomes = ({ steps }: SeenRequest): Record<string, string> =>
  Object.fromEntries(steps.map(({ check, outcome }) => [check, outcome]));

const allGood = {
  header: 'passed',
  encoding: 'passed',
  scheme: 'passed',
  publicKey: 'passed',
  body: 'passed',
  signature: 'passed',
  organization: 'passed',
  credential: 'passed',
  expiry: 'passed',
};

/** The step that failed first. */
const fault = ({ steps }: SeenRequest): string => {
  const step = steps.find(({ outcome }) => outcome === 'failed');
  return step === undefined ? 'none' : `${step.check}: ${step.text} ${step.advice ?? ''}`.trim();
};

describe('what is seen of a request', () => {
  test('method, path, caller, status, sizes, and what a submit became, but no body', async () => {
    const seen = await seenAfter(() => service.root.query('whoami', { note: 'not to be kept' }));
    expect(seen).toEqual({
      id: seen.id,
      at: expect.any(Number) as unknown,
      method: 'POST',
      path: '/public/v1/query/whoami',
      client: null,
      status: 200,
      durationMs: expect.any(Number) as unknown,
      requestBytes: Buffer.byteLength(whoami({ note: 'not to be kept' })),
      answerBytes: expect.any(Number) as unknown,
      caller: {
        organizationId: service.organizationId,
        userId: service.rootUserId,
        userName: 'Root',
        credentialId: expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown,
      },
      activity: null,
      error: null,
      steps: [],
    });
    expect(Math.abs(Date.now() - seen.at)).toBeLessThan(60_000);
    expect(seen.answerBytes).toBeGreaterThan(50);
    let activityId = '';
    const submitted = await seenAfter(async () => {
      const answer = await service.root.submit('create_user_tag', 'CREATE_USER_TAG', {
        userTagName: 'seen',
        userIds: [],
      });
      activityId = activityOf(answer).id;
    });
    expect(submitted.activity).toEqual({
      id: activityId,
      type: 'ACTIVITY_TYPE_CREATE_USER_TAG',
      status: 'ACTIVITY_STATUS_COMPLETED',
    });
  });

  test('a client that names itself is named, and an unknown path is shown without its query', async () => {
    const seen = await seenAfter(() =>
      send(service.url, {
        method: 'GET',
        path: '/v1/wallets?token=abc',
        headers: { 'user-agent': 'curl/8.1' },
      }),
    );
    expect(seen).toMatchObject({
      method: 'GET',
      path: '/v1/wallets',
      client: 'curl/8.1',
      status: 404,
      caller: null,
      error: { message: 'there is nothing at "/v1/wallets"', byPolicies: false },
    });
    const method = await seenAfter(() =>
      send(service.url, { method: 'GET', path: '/public/v1/query/whoami' }),
    );
    expect(method).toMatchObject({ status: 405, steps: [] });
    const type = await post(whoami(), { 'content-type': 'application/xml' });
    expect(type).toMatchObject({ status: 415, error: { message: /expected Content-Type/ } as never });
  });

  test('what policies refuse says so', async () => {
    const { client } = await service.newUser('Denied');
    const seen = await seenAfter(() =>
      client.submit('create_user_tag', 'CREATE_USER_TAG', { userTagName: 'no', userIds: [] }),
    );
    expect(seen).toMatchObject({ status: 403, caller: { userName: 'Denied' }, error: { byPolicies: true } });
    expect(seen.steps).toEqual([]);
  });

  test('the last 200 are kept, and only what is newer is asked for', async () => {
    for (let count = 0; count < 205; count++) await service.root.query('whoami');
    const all = await service.vault.rpc.requests();
    expect(all.requests).toHaveLength(200);
    expect(all.total).toBeGreaterThan(204);
    const after = await service.vault.rpc.requests(all.total - 3);
    expect(after.requests.map(({ id }) => id)).toEqual([all.total, all.total - 1, all.total - 2]);
    await expect(service.vault.rpc.requests('x' as never)).rejects.toThrow(/^invalid after/);
  });

  test('an event reaches clients that show requests, and no others', async () => {
    const heard: VaultEvent[] = [];
    const stop = service.vault.rpc.onEvent((event) => heard.push(event));
    await service.vault.rpc.requests();
    const started = performance.now();
    await Promise.all(Array.from({ length: 20 }, () => service.root.query('whoami')));
    await vi.waitFor(() => {
      expect(heard).toContainEqual({ kind: 'requests' });
    });
    stop();
    // Four a second, however long that took.
    expect(heard.length).toBeLessThan(5 + (performance.now() - started) / 250);
  });
});

describe('a stamp that does not hold is explained', () => {
  test('without a stamp, and with a token in its place', async () => {
    const seen = await post(whoami());
    expect(fault(seen)).toMatch(/^header: Neither X-Stamp nor X-Stamp-Webauthn came\./);
    expect(outcomes(seen)).toEqual({ header: 'failed', body: 'passed', organization: 'passed' });
    expect(fault(await post(whoami(), { authorization: 'Bearer abc' }))).toMatch(
      /there are no bearer tokens/,
    );
    const both = await post(whoami(), { 'x-stamp': 'a', 'x-stamp-webauthn': '{}' });
    expect(fault(both)).toMatch(/^header: X-Stamp and X-Stamp-Webauthn came\./);
    const attested = await post(whoami(), { 'x-stamp-attested': '{}' });
    expect(fault(attested)).toMatch(/^header: X-Stamp-Attested came\. Keyhearth has no attested stamps\./);
  });

  test('bytes are shown by their hash', async () => {
    const body = whoami();
    const seen = await withKey(body, service.key.stamp(`${body} `));
    const sha256 = createHash('sha256').update(body).digest('hex');
    expect(seen.steps.find(({ check }) => check === 'body')?.text).toBe(
      `${String(body.length)} bytes arrived, SHA-256 ${sha256}.`,
    );
    expect(JSON.stringify(seen)).not.toContain(service.key.stamp(body).slice(0, 40));
  });

  const raw = (text: string): string => {
    const key = createPrivateKey({
      key: Buffer.concat([
        Buffer.from('30310201010420', 'hex'),
        Buffer.from(service.key.privateKey, 'hex'),
        Buffer.from('a00a06082a8648ce3d030107', 'hex'),
      ]),
      format: 'der',
      type: 'sec1',
    });
    return sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('hex');
  };
  const stamp = (parts: Json): string =>
    stampText({
      publicKey: service.key.publicKey,
      scheme: 'SIGNATURE_SCHEME_TK_API_P256',
      signature: '30',
      ...parts,
    });
  const pretty = (body: string): string => JSON.stringify(JSON.parse(body), null, 2);

  test.each<[string, (body: string) => { stamp: string; sent?: string }, RegExp]>([
    ['JSON instead of base64url', () => ({ stamp: '{"publicKey":"02"}' }), /^encoding: .*is the JSON itself/],
    ['a bare signature', () => ({ stamp: '3045022100ab' }), /^encoding: .*looks like hex/],
    [
      'no signature in it',
      () => ({ stamp: stamp({ signature: undefined }) }),
      /^encoding: .*signature is missing/,
    ],
    [
      'a scheme of its own',
      () => ({ stamp: stamp({ scheme: 'P256' }) }),
      /^scheme: "P256" is no scheme\. Expected one of SIGNATURE_SCHEME_TK_API_P256/,
    ],
    [
      'an uncompressed key',
      () => ({ stamp: stamp({ publicKey: `04${'ab'.repeat(64)}` }) }),
      /^publicKey: 65 bytes; .*compressed form/,
    ],
    [
      'WebCrypto’s form',
      (body) => ({ stamp: stamp({ signature: raw(body) }) }),
      /^signature: .*side by side.*DER/,
    ],
    [
      'a line break that was signed',
      (body) => ({ stamp: service.key.stamp(`${body}\n`) }),
      /^signature: .*line break at their end, which did not arrive.*--data-binary/,
    ],
    [
      'a line break that was sent',
      (body) => ({ stamp: service.key.stamp(body), sent: `${body}\n` }),
      /^signature: .*without the white space around/,
    ],
    [
      'JSON that was written twice',
      (body) => ({ stamp: service.key.stamp(pretty(body)) }),
      /^signature: It holds over the same JSON, written with other white space/,
    ],
    [
      'JSON as Python writes it',
      (body) => ({ stamp: service.key.stamp(body.replace(/([:,])/g, '$1 ')) }),
      /^signature: It holds over the same JSON, written with other white space/,
    ],
    [
      'a hash in the place of the body',
      (body) => ({ stamp: service.key.stamp(createHash('sha256').update(body).digest()) }),
      /^signature: It holds over the hash/,
    ],
    ['an empty body', () => ({ stamp: service.key.stamp('') }), /^signature: It is over an empty body/],
    [
      'another body',
      (body) => ({ stamp: service.key.stamp(body.replace('organizationId', 'organisationId')) }),
      /^signature: It does not hold over these bytes/,
    ],
    [
      'a body that is no JSON',
      (body) => ({ stamp: service.key.stamp(body), sent: body.slice(1) }),
      /^body: .* It is not a JSON object\./,
    ],
  ])('%s', async (_name, make, expected) => {
    const body = whoami({ more: 1 });
    const { stamp: header, sent = body } = make(body);
    const seen = await withKey(sent, header);
    expect(seen.status).toBe(401);
    expect(fault(seen)).toMatch(expected);
    // The signature is checked by itself, and so is the organization: a body that is not JSON has none.
    const alone = sent.startsWith('{') && !fault(seen).startsWith('publicKey');
    expect(seen.steps.filter(({ outcome }) => outcome === 'failed')).toHaveLength(alone ? 1 : 3);
  });

  test('a key that is unknown, that another organization has, and that has expired', async () => {
    const body = whoami();
    const stranger = newTestKey();
    const unknown = await withKey(body, stranger.stamp(body));
    expect(outcomes(unknown)).toEqual({ ...allGood, credential: 'failed', expiry: undefined as never });
    expect(fault(unknown)).toMatch(/Nobody in this vault has this public key\./);

    const elsewhere = newTestKey();
    const child = resultOf(
      await service.root.submit('create_sub_organization', 'CREATE_SUB_ORGANIZATION_V7', {
        subOrganizationName: 'Elsewhere',
        rootUsers: [
          {
            userName: 'Child',
            apiKeys: [
              { apiKeyName: 'key', publicKey: elsewhere.publicKey, curveType: 'API_KEY_CURVE_P256' },
              { apiKeyName: 'other', publicKey: newTestKey().publicKey, curveType: 'API_KEY_CURVE_P256' },
            ],
            authenticators: [],
            oauthProviders: [],
          },
        ],
        rootQuorumThreshold: 1,
      }),
    );
    const submit = JSON.stringify({
      type: 'ACTIVITY_TYPE_CREATE_USER_TAG',
      timestampMs: String(Date.now()),
      organizationId: service.organizationId,
      parameters: { userTagName: 'x', userIds: [] },
    });
    const other = await post(
      submit,
      { 'x-stamp': elsewhere.stamp(submit) },
      '/public/v1/submit/create_user_tag',
    );
    expect(child['subOrganizationId']).toEqual(expect.any(String));
    expect(other.status).toBe(401);

    const nowhere = '00000000-0000-4000-8000-000000000000';
    const lost = JSON.stringify({ organizationId: nowhere });
    expect(fault(await withKey(lost, service.key.stamp(lost)))).toMatch(
      /^organization: This vault has no organization 00000000/,
    );
    const named = JSON.stringify({ organizationId: 'Tests' });
    expect(fault(await withKey(named, service.key.stamp(named)))).toMatch(
      /^organization: "Tests" is no UUID/,
    );

    const short = newTestKey();
    resultOf(
      await service.root.submit('create_api_keys', 'CREATE_API_KEYS_V2', {
        userId: service.rootUserId,
        apiKeys: [
          {
            apiKeyName: 'short',
            publicKey: short.publicKey,
            curveType: 'API_KEY_CURVE_P256',
            expirationSeconds: '60',
          },
        ],
      }),
    );
    service.clock.advance(61_000);
    const late = await withKey(body, short.stamp(body));
    expect(outcomes(late)).toEqual({ ...allGood, expiry: 'failed' });
    expect(fault(late)).toMatch(/^expiry: It expired 20/);
  });

  test('a request that is too old, and one in seconds', async () => {
    const submit = (timestampMs: string): Promise<SeenRequest> => {
      const body = service.root.submitBody(
        'CREATE_USER_TAG',
        { userTagName: 'x', userIds: [] },
        { timestampMs },
      );
      return post(body, { 'x-stamp': service.key.stamp(body) }, '/public/v1/submit/create_user_tag');
    };
    const old = await submit(String(service.clock.now() - 2 * 3_600_000));
    expect(outcomes(old)).toEqual({ ...allGood, time: 'failed' });
    expect(fault(old)).toMatch(/^time: It was signed 7200 s ago\. A request counts for an hour/);
    expect(fault(await submit(String(Math.floor(Date.now() / 1000))))).toMatch(/in milliseconds/);
  });

  test('a passkey’s assertion', async () => {
    const authenticator = new SoftwareAuthenticator();
    const body = whoami();
    const unknown = await post(body, { 'x-stamp-webauthn': authenticator.stamp(body) });
    expect(outcomes(unknown)).toMatchObject({
      encoding: 'passed',
      signature: 'skipped',
      credential: 'failed',
    });
    const other = await post(body, { 'x-stamp-webauthn': authenticator.stamp(`${body} `) });
    expect(fault(other)).toMatch(/^signature: The challenge that the passkey signed is not the hash/);
    expect(fault(await post(body, { 'x-stamp-webauthn': 'abc' }))).toMatch(
      /^encoding: .*expected a JSON object/,
    );
  });

  test('also while the vault is locked', async () => {
    const body = whoami();
    await service.vault.rpc.lock();
    const seen = await withKey(body, service.key.stamp(`${body}\n`));
    expect(fault(seen)).toMatch(/^signature/);
    await service.unlock();
  });
});

describe('when credentials were last used', () => {
  const uses = async (): Promise<Record<string, number>> => {
    const { body } = await service.root.query('list_credential_uses');
    const list = body?.['credentialUses'] as readonly {
      credentialId: string;
      lastUsedAt: { seconds: string };
    }[];
    return Object.fromEntries(list.map((use) => [use.credentialId, Number(use.lastUsedAt.seconds)]));
  };

  test('is known at once, written later, and gone with the credential', async () => {
    const { userId, client } = await service.newUser('Seldom');
    const { body } = await service.root.query('get_user', { userId });
    const [{ apiKeyId } = { apiKeyId: '' }] = (body as { user: { apiKeys: { apiKeyId: string }[] } }).user
      .apiKeys;
    expect(await uses()).not.toHaveProperty(apiKeyId);
    const second = (): number => Math.floor(service.clock.now() / 1000);
    const earliest = second();
    await client.query('whoami');
    const first = (await uses())[apiKeyId];
    expect(first).toBeGreaterThanOrEqual(earliest);
    expect(first).toBeLessThanOrEqual(second());

    const stored = (): number | undefined =>
      service.vault.connection.get<{ usedAt: number }>(
        'SELECT used_at AS usedAt FROM credential_uses WHERE credential_id = ?',
        apiKeyId,
      )?.usedAt;
    expect(stored()).toBeUndefined();
    const written = new LastUses(
      {
        table: credentialUses,
        units: service.vault.units,
        keys: service.vault.keyring,
        onFault: (fault) => service.faults.push(fault),
      },
      10,
    );
    const { organizationId } = service;
    written.note(apiKeyId, { organizationId, usedAt: 1_000 });
    written.note(service.rootUserId, { organizationId, usedAt: 1_000 });
    await vi.waitFor(() => {
      expect(stored()).toBe(1_000);
    });
    written.note(apiKeyId, { organizationId, usedAt: 2_000 });
    await written.close();
    expect(stored()).toBe(2_000);
    // Invalid and deleted credentials are not written.
    expect(
      service.vault.units.read((tx) => [...written.of(tx, service.organizationId).keys()]),
    ).not.toContain(service.rootUserId);
    service.clock.advance(5_000);
    await client.query('whoami');
    expect((await uses())[apiKeyId]).toBeGreaterThan(first ?? Infinity);

    resultOf(await service.root.submit('delete_users', 'DELETE_USERS', { userIds: [userId] }));
    expect(stored()).toBeUndefined();
  });

  test('explains sessions', async () => {
    const session = resultOf(
      await service.root.submit('create_read_only_session', 'CREATE_READ_ONLY_SESSION', {}),
    )['session'] as string;
    const list = async (): Promise<readonly Json[]> =>
      (await service.root.query('list_sessions')).body?.['sessions'] as readonly Json[];
    expect((await list())[0]).not.toHaveProperty('lastUsedAt');
    await post(whoami(), { 'x-session': session });
    expect((await list())[0]).toMatchObject({ lastUsedAt: { nanos: '0' } });
  });
});

test('keyhearth requests: lists them, explains those whose stamp did not hold, and follows', async () => {
  await using resources = new AsyncDisposableStack();
  const home = resources.use(temporaryDirectory());
  const locations = ['--data-dir', join(home.path, 'vault'), '--config-dir', home.path];
  const opened = ['--no-keychain', '--json', ...locations, '--password-fd', '3'];
  const secret = { descriptor3: 'a password for this test' };
  await runCommand(['init', ...opened], secret);
  const running = resources.use(new CommandProcess(['serve', '--port', '0', ...opened], secret));
  const { url } = JSON.parse(await running.nextLine()) as { url: string };
  const none = await runCommand(['requests', ...locations]);
  expect(none).toEqual({ code: 0, stdout: 'No request came since the service started.\n', stderr: '' });
  const body = '{"organizationId":"0"}';
  const key = newTestKey();
  const ask = (stamp: string): Promise<unknown> =>
    send(url, {
      path: '/public/v1/query/whoami',
      body,
      headers: { 'content-type': 'application/json', 'x-stamp': stamp },
    });
  await ask(key.stamp(`${body}\n`));
  const { stdout } = await runCommand(['requests', '--failed', ...locations]);
  expect(stdout).toMatch(/^\S+Z {2}401 {2}POST {2}\/public\/v1\/query\/whoami {2}[\d.]+ ms\n/);
  expect(stdout).toContain('  SIGNATURE_INVALID: could not verify api key signature');
  expect(stdout).toMatch(
    /\n {2}x Signature: It holds over these bytes and a line break.*\n {6}.*--data-binary/,
  );

  const following = resources.use(new CommandProcess(['requests', '--follow', '--json', ...locations]));
  expect(JSON.parse(await following.nextLine())).toMatchObject({ id: 1, status: 401 });
  await ask(key.stamp(body));
  expect(JSON.parse(await following.nextLine())).toMatchObject({ id: 2, path: '/public/v1/query/whoami' });
  expect(await following.stop('SIGINT')).toBe(0);
});
