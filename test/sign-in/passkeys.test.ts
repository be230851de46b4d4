/** Passkeys: made, kept, and used to stamp requests; with the SDK's own stamper, and against it. */
import { createHash, hash } from 'node:crypto';
import { TurnkeyClient } from '@turnkey/http';
import { WebauthnStamper } from '@turnkey/webauthn-stamper';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { checkActivityChain } from '../../main/storage/tables/activities.ts';
import { verifyCose } from '../../main/crypto/keys/cose-keys.ts';
import { fails, invalid, isRefused, latestActivity, missing, stored, taken } from '../support/refusals.ts';
import { openStream } from '../support/streams.ts';
import { aaguid, SoftwareAuthenticator } from '../support/software-authenticator.ts';
import type { AuthenticatorOptions, Otherwise } from '../support/software-authenticator.ts';
import { activityOf, newTestKey, resultOf, send, startTestVault } from '../support/support.ts';
import type { Answer, Json, TestClient, TestVault } from '../support/support.ts';

let service: TestVault;
let root: TestClient;

beforeAll(async () => {
  service = await startTestVault();
  ({ root } = service);
});
afterAll(() => service[Symbol.asyncDispose]());

let users = 0;
const newUser = async (): Promise<string> => (await service.newUser(`User ${++users}`)).userId;

const create = (userId: string, ...authenticators: readonly Json[]): Promise<Answer> =>
  root.submit('create_authenticators', 'CREATE_AUTHENTICATORS_V2', { userId, authenticators });
const remove = (userId: string, ...authenticatorIds: readonly string[]): Promise<Answer> =>
  root.submit('delete_authenticators', 'DELETE_AUTHENTICATORS', { userId, authenticatorIds });

interface Holder {
  readonly userId: string;
  readonly authenticatorId: string;
  readonly passkey: SoftwareAuthenticator;
}

/** A user with a passkey, made and registered. */
async function newHolder(options: AuthenticatorOptions = {}): Promise<Holder> {
  const passkey = new SoftwareAuthenticator(options);
  const userId = await newUser();
  const answer = await create(userId, passkey.params('Passkey'));
  const [authenticatorId = ''] = resultOf(answer)['authenticatorIds'] as string[];
  return { userId, authenticatorId, passkey };
}

/** The root user's passkey: what may do things. */
async function newRootPasskey(options: AuthenticatorOptions = {}): Promise<SoftwareAuthenticator> {
  const passkey = new SoftwareAuthenticator(options);
  const answer = await create(service.rootUserId, passkey.params('Root passkey'));
  const [id = ''] = resultOf(answer)['authenticatorIds'] as string[];
  rootPasskeys.push(id);
  return passkey;
}
const rootPasskeys: string[] = [];
afterEach(async () => {
  // There is room for ten.
  if (rootPasskeys.length > 0) await remove(service.rootUserId, ...rootPasskeys.splice(0));
});

const authenticatorsOf = async (userId: string): Promise<Json[]> =>
  (await root.query('get_authenticators', { userId })).body?.['authenticators'] as Json[];

function post(path: string, body: string, stamp: string, headers: Json = {}): Promise<Answer> {
  return send(service.url, {
    path: `/public/v1/${path}`,
    headers: { 'content-type': 'application/json', 'x-stamp-webauthn': stamp, ...headers },
    body,
  });
}

const whoamiBody = (organizationId = service.organizationId): string => JSON.stringify({ organizationId });

/** Asks who the passkey's user is. */
const whoami = (passkey: SoftwareAuthenticator, otherwise?: Otherwise): Promise<Answer> =>
  post('query/whoami', whoamiBody(), passkey.stamp(whoamiBody(), otherwise));

/** The body of an activity that any member of the root quorum may execute. */
const tagBody = (): string =>
  root.submitBody('CREATE_USER_TAG', { userTagName: `Tag ${++tags}`, userIds: [] });
let tags = 0;

function unauthenticated(
  answer: Answer,
  message: string | RegExp,
  turnkeyErrorCode = 'SIGNATURE_INVALID',
): void {
  expect(answer.status, answer.text).toBe(401);
  expect(answer.body).toMatchObject({
    code: 16,
    turnkeyErrorCode,
    message: typeof message === 'string' ? message : (expect.stringMatching(message) as unknown),
  });
}

describe('a passkey is registered', () => {
  test.each([
    { attestation: 'none', algorithm: 'ES256' },
    { attestation: 'none', algorithm: 'EdDSA' },
    { attestation: 'none', algorithm: 'RS256' },
    { attestation: 'packed', algorithm: 'ES256' },
    { attestation: 'packed', algorithm: 'EdDSA' },
    { attestation: 'packed', algorithm: 'RS256' },
    { attestation: 'packed-certified', algorithm: 'ES256' },
    { attestation: 'fido-u2f', algorithm: 'ES256' },
  ] as const)('with $attestation attestation of $algorithm, and used', async ({ attestation, algorithm }) => {
    const { userId, authenticatorId, passkey } = await newHolder({ attestation, algorithm, counts: true });
    const dated = { seconds: expect.stringMatching(/^[0-9]{10}$/) as unknown, nanos: '0' };
    const shown = {
      transports: ['AUTHENTICATOR_TRANSPORT_INTERNAL', 'AUTHENTICATOR_TRANSPORT_HYBRID'],
      attestationType: attestation.replace('-certified', ''),
      aaguid: attestation === 'fido-u2f' ? 'AAAAAAAAAAAAAAAAAAAAAA' : aaguid.toString('base64url'),
      credentialId: passkey.credentialId,
      model: 'Passkey',
      credential: { publicKey: passkey.publicKey, type: 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR' },
      authenticatorId,
      authenticatorName: 'Passkey',
      createdAt: dated,
      updatedAt: dated,
    };
    expect(await authenticatorsOf(userId)).toEqual([shown]);
    expect((await root.query('get_authenticator', { authenticatorId })).body).toMatchObject({
      authenticator: shown,
    });
    expect((await root.query('get_user', { userId })).body).toMatchObject({
      user: { authenticators: [shown] },
    });
    const all = (await root.query('list_users')).body?.['users'] as Json[];
    expect(all.find((user) => user['userId'] === userId)).toMatchObject({ authenticators: [shown] });
    expect((await whoami(passkey)).body).toMatchObject({ userId });
  });

  test('and shown as today’s API has it, and as the specification has it', async () => {
    const userId = await newUser();
    const params = new SoftwareAuthenticator().params('Shown');
    const { challenge, attestation } = params;
    const { credentialId, clientDataJson, attestationObject, transports } = attestation as Json;
    const activity = activityOf(await create(userId, params));
    const specified = {
      userId,
      authenticators: [
        {
          authenticatorName: 'Shown',
          userId,
          challenge,
          attestation: {
            id: credentialId,
            type: 'public-key',
            rawId: credentialId,
            authenticatorAttachment: 'platform',
            response: {
              clientDataJson,
              attestationObject,
              transports,
              authenticatorAttachment: 'platform',
            },
            clientExtensionResults: { appid: false, appidExclude: false, credProps: { rk: false } },
          },
        },
      ],
    };
    expect(activity.intent).toEqual({
      createAuthenticatorsIntentV2: { userId, authenticators: [params] },
      createAuthenticatorsIntent: specified,
    });
    const result = { authenticatorIds: [expect.any(String)] };
    expect(activity.result).toEqual({
      createAuthenticatorsResult: result,
      activity: {
        type: 'ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2',
        intent: { createAuthenticatorsIntent: specified },
        result: { createAuthenticatorsResult: result },
      },
    });
  });

  test('as clients first sent one', async () => {
    const userId = await newUser();
    const passkey = new SoftwareAuthenticator({ attestation: 'packed' });
    const authenticators = [passkey.browserParams('Older', userId)];
    const answer = await root.submit('create_authenticators', 'CREATE_AUTHENTICATORS', {
      userId,
      authenticators,
    });
    const { intent } = activityOf(answer);
    expect(intent).toEqual({ createAuthenticatorsIntent: { userId, authenticators } });
    expect((await whoami(passkey)).body).toMatchObject({ userId });
    const another = await newUser();
    await isRefused(
      service,
      () =>
        root.submit('create_authenticators', 'CREATE_AUTHENTICATORS', {
          userId: another,
          authenticators: [new SoftwareAuthenticator().browserParams('Older', userId)],
        }),
      invalid(
        `invalid parameters.authenticators[0].userId: expected that of parameters.userId, ${another}, got "${userId}"`,
      ),
    );
  });

  test('with a user, who needs nothing else', async () => {
    const passkey = new SoftwareAuthenticator();
    const user = { userName: 'Passkey alone', apiKeys: [], oauthProviders: [], userTags: [] };
    const answer = await root.submit('create_users', 'CREATE_USERS_V3', {
      users: [{ ...user, authenticators: [passkey.params('First')] }],
    });
    const [userId] = resultOf(answer).userIds;
    expect((await whoami(passkey)).body).toMatchObject({ userId, username: 'Passkey alone' });
    const name = 'Passkey alone too';
    await fails(
      service,
      () =>
        root.submit('create_users', 'CREATE_USERS_V3', {
          users: [{ ...user, userName: name, authenticators: [passkey.params('Second')] }],
        }),
      taken(/^invalid parameters\.users\[0\]\.authenticators\[0\]\.attestation\.credentialId: /),
    );
  });

  test('several at once, with the model that their transports tell', async () => {
    const userId = await newUser();
    const kinds = [['USB', 'NFC'], ['INTERNAL'], ['HYBRID'], []].map((kind) =>
      kind.map((name) => `AUTHENTICATOR_TRANSPORT_${name}`),
    );
    const passkeys = kinds.map((transports) => new SoftwareAuthenticator({ transports }));
    const answer = await create(
      userId,
      ...passkeys.map((passkey, index) => passkey.params(`Passkey ${index}`)),
    );
    const shown = await authenticatorsOf(userId);
    expect(shown.map(({ model }) => model)).toEqual(['Security key', 'Passkey', 'Passkey', 'Security key']);
    expect(shown.map(({ authenticatorId }) => authenticatorId)).toEqual(resultOf(answer)['authenticatorIds']);
    for (const passkey of passkeys) expect((await whoami(passkey)).body).toMatchObject({ userId });
  });
});

describe('a locked vault', () => {
  test('registers no passkey', async () => {
    const userId = await newUser();
    await service.vault.rpc.lock();
    try {
      const answer = await create(userId, new SoftwareAuthenticator().params('Locked'));
      expect(answer).toMatchObject({ status: 400, body: { turnkeyErrorCode: 'VAULT_LOCKED' } });
    } finally {
      await service.unlock();
    }
    expect(await authenticatorsOf(userId)).toEqual([]);
  });

  test('answers queries of a passkey that counts, and counts on once unlocked', async () => {
    const userId = await newUser();
    const passkey = new SoftwareAuthenticator({ counts: true });
    await create(userId, passkey.params('Counts'));
    const count = (): unknown =>
      service.vault.connection.get(
        'SELECT sign_count AS count FROM authenticators WHERE user_id = ?',
        userId,
      );
    await whoami(passkey);
    const before = count();
    await service.vault.rpc.lock();
    try {
      expect((await whoami(passkey)).body).toMatchObject({ userId });
      expect(count()).toEqual(before);
    } finally {
      await service.unlock();
    }
    expect((await whoami(passkey)).body).toMatchObject({ userId });
    expect(count()).not.toEqual(before);
  });
});

describe('a passkey is not registered', () => {
  const broken = (field: string, problem: string): RegExp =>
    new RegExp(
      `^missing or invalid authenticator attestation: parameters\\.authenticators\\[0\\]\\.attestation\\.${field}: ${problem}`,
    );

  test.each<[string, Otherwise, RegExp]>([
    [
      'over another challenge',
      { challenge: Buffer.from('another') },
      broken('clientDataJson', 'its challenge is not the one of this request$'),
    ],
    [
      'on a page of another host',
      { origin: 'https://evil.example' },
      broken(
        'clientDataJson',
        'expected the origin to be a page of localhost or a host below it, got "https://evil\\.example"$',
      ),
    ],
    ['on a page whose host only ends so', { origin: 'https://evillocalhost' }, broken('clientDataJson', '')],
    ['on an address', { origin: 'http://127.0.0.1:7377' }, broken('clientDataJson', '')],
    ['on no page', { origin: 'null' }, broken('clientDataJson', '')],
    ['with a path in the origin', { origin: 'https://localhost/' }, broken('clientDataJson', '')],
    [
      'for another relying party',
      { rpId: 'example.org' },
      broken('attestationObject', 'expected a passkey of the relying party localhost, got one of another$'),
    ],
    [
      'without anybody there',
      { flags: 0x44 },
      broken('attestationObject', 'expected the user-present flag to be set$'),
    ],
    [
      'by an assertion',
      { type: 'webauthn.get' },
      broken('clientDataJson', 'expected type webauthn\\.create, got'),
    ],
  ])('%s', async (_, otherwise, message) => {
    const userId = await newUser();
    const params = new SoftwareAuthenticator().params('Refused', otherwise);
    await fails(service, () => create(userId, params), invalid(message));
  });

  test.each(['https://localhost', 'http://localhost', 'https://sub.localhost:1234', 'http://a.b.localhost'])(
    'but is on %s',
    async (origin) => {
      const { userId, passkey } = await newHolder({ origin });
      expect((await whoami(passkey)).body).toMatchObject({ userId });
    },
  );

  test('with another credential’s id', async () => {
    const userId = await newUser();
    const params = new SoftwareAuthenticator().params('Refused');
    const attestation = {
      ...(params['attestation'] as Json),
      credentialId: new SoftwareAuthenticator().credentialId,
    };
    await fails(
      service,
      () => create(userId, { ...params, attestation }),
      invalid(broken('credentialId', 'expected the one in the attestationObject, ')),
    );
  });

  test('with a signature of something else', async () => {
    const userId = await newUser();
    for (const attestation of ['packed', 'packed-certified', 'fido-u2f'] as const) {
      const passkey = new SoftwareAuthenticator({ attestation });
      const [one, two] = [passkey.params('One'), passkey.params('Two')];
      const mixed = {
        ...(one['attestation'] as Json),
        attestationObject: (two['attestation'] as Json)['attestationObject'],
      };
      const kind = attestation.replace('-certified', '');
      await fails(
        service,
        () => create(userId, { ...one, attestation: mixed }),
        invalid(
          broken(
            'attestationObject',
            `its ${kind} statement does not hold: its signature is of something else$`,
          ),
        ),
      );
    }
  });

  test('twice in an organization, by any user', async () => {
    const { passkey, userId } = await newHolder();
    const message =
      'invalid parameters.authenticators[0].attestation.credentialId: this credential is registered in the organization already';
    await fails(service, () => create(userId, passkey.params('Again')), taken(message));
    const another = await newUser();
    await fails(service, () => create(another, passkey.params('Again')), taken(message));
    const fresh = new SoftwareAuthenticator();
    await fails(
      service,
      () => create(another, fresh.params('One'), fresh.params('Two')),
      taken(message.replace('[0]', '[1]')),
    );
  });

  test('where there are ten', async () => {
    const userId = await newUser();
    const make = (count: number): Json[] =>
      Array.from({ length: count }, (_, index) => new SoftwareAuthenticator().params(`Passkey ${index}`));
    await create(userId, ...make(9));
    await fails(service, () => create(userId, ...make(2)), {
      status: 429,
      code: 8,
      message: 'maximum number of authenticators reached: 10 are allowed, there are 9 and 2 would be added',
    });
    expect(resultOf(await create(userId, ...make(1)))).toBeDefined();
    await isRefused(
      service,
      () => create(userId, ...make(11)),
      invalid(/^invalid parameters\.authenticators: expected at most 10 elements/),
    );
  });

  test('for no user', async () => {
    const nobody = '00000000-0000-4000-8000-000000000000';
    const params = new SoftwareAuthenticator().params('Nobody’s');
    await fails(service, () => create(nobody, params), missing(`unable to find user ${nobody}`));
  });

  test.each<[string, (attestation: Json) => Json, RegExp]>([
    [
      'no challenge',
      () => ({ challenge: '' }),
      /^invalid parameters\.authenticators\[0\]\.challenge: expected at least 1 /,
    ],
    [
      'a long challenge',
      () => ({ challenge: 'A'.repeat(257) }),
      /\.challenge: expected at most 256 characters/,
    ],
    [
      'no attestation',
      () => ({ attestation: undefined }),
      /^missing field parameters\.authenticators\[0\]\.attestation: /,
    ],
    [
      'another transport',
      (attestation) => ({ attestation: { ...attestation, transports: ['usb'] } }),
      /\.transports\[0\]: expected one of AUTHENTICATOR_TRANSPORT_BLE, .*, got "usb"$/,
    ],
    [
      'a credential id that is no base64',
      (attestation) => ({ attestation: { ...attestation, credentialId: '{}' } }),
      /\.credentialId: expected base64url, got "\{\}"$/,
    ],
    [
      'a long credential id',
      (attestation) => ({ attestation: { ...attestation, credentialId: 'A'.repeat(1369) } }),
      /\.credentialId: expected at most 1368 characters/,
    ],
    [
      'an attestation object that is too large',
      (attestation) => ({ attestation: { ...attestation, attestationObject: 'A'.repeat(65_537) } }),
      /\.attestationObject: expected at most 65536 characters/,
    ],
  ])('with %s', async (_, change, message) => {
    const userId = await newUser();
    const params = new SoftwareAuthenticator().params('Refused');
    const changed = { ...params, ...change(params['attestation'] as Json) };
    await isRefused(service, () => create(userId, changed), invalid(message));
  });
});

describe('the SDK, with its own stamper', () => {
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  const clientOf = (passkey: SoftwareAuthenticator): TurnkeyClient => {
    vi.stubGlobal('navigator', { credentials: passkey.credentials });
    return new TurnkeyClient({ baseUrl: service.url }, new WebauthnStamper({ rpId: 'localhost' }));
  };

  test.each(['ES256', 'EdDSA', 'RS256'] as const)('asks and acts with a passkey of %s', async (algorithm) => {
    const passkey = await newRootPasskey({ algorithm, counts: algorithm === 'ES256' });
    const client = clientOf(passkey);
    const { organizationId } = service;
    await expect(client.getWhoami({ organizationId })).resolves.toMatchObject({
      userId: service.rootUserId,
    });
    const { activity } = await client.createWallet({
      type: 'ACTIVITY_TYPE_CREATE_WALLET',
      organizationId,
      timestampMs: String(root.nextTimestamp()),
      parameters: { walletName: `By ${algorithm}`, accounts: [] },
    });
    expect(activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
    expect(activity.votes[0]).toMatchObject({
      userId: service.rootUserId,
      selection: 'VOTE_SELECTION_APPROVED',
      publicKey: passkey.publicKey,
      scheme: 'SIGNATURE_SCHEME_TK_WEBAUTHN',
    });
  });

  test('is refused for a passkey of no user', async () => {
    const client = clientOf(new SoftwareAuthenticator());
    await expect(client.getWhoami({ organizationId: service.organizationId })).rejects.toThrow(
      /^Turnkey error 16: credential ID could not be found in organization or its parent organization organizationId=/,
    );
  });
});

describe('a stamp', () => {
  test('is taken under either spelling of its header', async () => {
    const { userId, passkey } = await newHolder();
    for (const name of ['X-Stamp-Webauthn', 'X-Stamp-WebAuthn', 'x-stamp-webauthn', 'X-STAMP-WEBAUTHN']) {
      const answer = await send(service.url, {
        path: '/public/v1/query/whoami',
        headers: { 'content-type': 'application/json', [name]: passkey.stamp(whoamiBody()) },
        body: whoamiBody(),
      });
      expect(answer.body, name).toMatchObject({ userId });
    }
  });

  test('is taken with padding and in the other alphabet', async () => {
    const { userId, passkey } = await newHolder();
    const fields = JSON.parse(passkey.stamp(whoamiBody())) as Record<string, string>;
    const standard = Object.entries(fields).map(([name, text]) => [
      name,
      Buffer.from(text, 'base64url').toString('base64'),
    ]);
    const answer = await post('query/whoami', whoamiBody(), JSON.stringify(Object.fromEntries(standard)));
    expect(answer.body).toMatchObject({ userId });
  });

  test('is kept with the vote, so that it can be verified again', async () => {
    const passkey = await newRootPasskey({ counts: true });
    const body = tagBody();
    const stamp = passkey.stamp(body);
    const [vote] = activityOf(await post('submit/create_user_tag', body, stamp)).votes;
    expect(vote).toMatchObject({ message: body, signature: stamp, scheme: 'SIGNATURE_SCHEME_TK_WEBAUTHN' });
    const { publicKey, signature } = vote as unknown as { publicKey: string; signature: string };
    const {
      authenticatorData = '',
      clientDataJson = '',
      signature: signed = '',
    } = JSON.parse(signature) as Record<string, string>;
    const bytes = (text: string): Buffer => Buffer.from(text, 'base64url');
    const message = Buffer.concat([
      bytes(authenticatorData),
      createHash('sha256').update(bytes(clientDataJson)).digest(),
    ]);
    expect(verifyCose(publicKey, bytes(signed), message)).toBe(true);
    const challenge = Buffer.from(hash('sha256', body)).toString('base64url');
    expect(JSON.parse(bytes(clientDataJson).toString())).toMatchObject({ challenge });
    expect(service.vault.units.read(checkActivityChain)).toMatchObject({ ok: true });
  });

  test('proves its user, who may do no more than by an API key', async () => {
    const { passkey } = await newHolder();
    const body = tagBody();
    const answer = await post('submit/create_user_tag', body, passkey.stamp(body));
    expect(answer.status).toBe(403);
    expect(answer.body?.['message']).toMatch(/sufficient permissions/);
  });
});

describe('a stamp is refused', () => {
  const not = (problem: string): string => `could not verify WebAuthN signature: ${problem}`;
  const otherChallenge = not(
    'clientDataJson: its challenge is not the hash of this body; stamp the body exactly as it is sent',
  );

  test.each<[string, Otherwise, string | RegExp]>([
    [
      'that makes a passkey',
      { type: 'webauthn.create' },
      not('clientDataJson: expected type webauthn.get, got "webauthn.create"'),
    ],
    ['over another challenge', { challenge: Buffer.alloc(32) }, otherChallenge],
    [
      'of a page of another host',
      { origin: 'https://evil.example' },
      not(
        'clientDataJson: expected the origin to be a page of localhost or a host below it, got "https://evil.example"',
      ),
    ],
    ['of an address', { origin: 'http://127.0.0.1:7377' }, /origin to be a page of localhost/],
    ['of an app', { origin: 'android:apk-key-hash:AAAA' }, /origin to be a page of localhost/],
    [
      'for another relying party',
      { rpId: 'localhost.example' },
      not('authenticatorData: expected a passkey of the relying party localhost, got one of another'),
    ],
    [
      'with nobody there',
      { flags: 0x04 },
      not('authenticatorData: expected the user-present flag to be set'),
    ],
  ])('%s', async (_, otherwise, message) => {
    const { passkey, userId } = await newHolder();
    unauthenticated(await whoami(passkey, otherwise), message);
    expect((await whoami(passkey)).body).toMatchObject({ userId });
  });

  test('over another body, or over the hash’s bytes instead of its text', async () => {
    const { passkey } = await newHolder();
    const body = whoamiBody();
    unauthenticated(await post('query/whoami', `${body} `, passkey.stamp(body)), otherChallenge);
    const challenge = createHash('sha256').update(body).digest();
    unauthenticated(await whoami(passkey, { challenge }), otherChallenge);
    const upperCase = Buffer.from(challenge.toString('hex').toUpperCase());
    unauthenticated(await whoami(passkey, { challenge: upperCase }), otherChallenge);
  });

  test('that is tampered with', async () => {
    const { passkey } = await newHolder();
    const fields = JSON.parse(passkey.stamp(whoamiBody())) as Record<string, string>;
    const other = JSON.parse(new SoftwareAuthenticator().stamp(whoamiBody())) as Record<string, string>;
    const counted = Buffer.from(fields['authenticatorData'] ?? '', 'base64url');
    counted.writeUInt32BE(7, counted.length - 4);
    for (const change of [
      { authenticatorData: 'AAAA' },
      { clientDataJson: 'e30' },
      { signature: other['signature'] },
      { signature: 'AA' },
      { authenticatorData: counted.toString('base64url') },
      {
        clientDataJson: Buffer.from(
          `${Buffer.from(fields['clientDataJson'] ?? '', 'base64url').toString()} `,
        ).toString('base64url'),
      },
    ]) {
      const stamp = JSON.stringify({ ...fields, ...change });
      // As if the credential did not exist: only its holder learns that it does.
      unauthenticated(
        await post('query/whoami', whoamiBody(), stamp),
        /^credential ID could not be found/,
        'CREDENTIAL_NOT_FOUND',
      );
    }
  });

  test('of a credential that the organization does not have', async () => {
    const stranger = new SoftwareAuthenticator();
    const { organizationId } = service;
    unauthenticated(
      await whoami(stranger),
      `credential ID could not be found in organization or its parent organization organizationId=${organizationId} credentialId=${stranger.credentialId}`,
      'CREDENTIAL_NOT_FOUND',
    );
  });

  test('of another organization, or of none', async () => {
    await using other = await startTestVault();
    const { passkey } = await newHolder();
    const body = whoamiBody(other.organizationId);
    const answer = await send(other.url, {
      path: '/public/v1/query/whoami',
      headers: { 'content-type': 'application/json', 'x-stamp-webauthn': passkey.stamp(body) },
      body,
    });
    unauthenticated(answer, /^credential ID could not be found/, 'CREDENTIAL_NOT_FOUND');
    const unknown = await post('query/whoami', body, passkey.stamp(body));
    unauthenticated(unknown, /^credential ID could not be found/, 'CREDENTIAL_NOT_FOUND');
    const malformed = whoamiBody('none');
    expect((await post('query/whoami', malformed, passkey.stamp(malformed))).body).toMatchObject({
      turnkeyErrorCode: 'INVALID_ORGANIZATION_ID',
    });
  });

  test('beside another', async () => {
    const { passkey } = await newHolder();
    const body = whoamiBody();
    const answer = await post('query/whoami', body, passkey.stamp(body), { 'x-stamp': root.key.stamp(body) });
    unauthenticated(
      answer,
      'malformed activity stamp: expected one of X-Stamp and X-Stamp-Webauthn, got X-Stamp and X-Stamp-Webauthn',
    );
  });

  test.each([
    ['', 'expected a JSON object'],
    ['text', 'expected a JSON object'],
    ['null', 'expected a JSON object'],
    ['7', 'expected a JSON object'],
    ['{}', 'credentialId is missing'],
    ['[]', 'credentialId is missing'],
    ['{"credentialId":7}', 'credentialId is missing'],
    ['{"credentialId":"{}"}', 'credentialId is not base64url'],
    ['{"credentialId":"AA"}', 'authenticatorData is missing'],
    ['{"credentialId":"AA","authenticatorData":"AA"}', 'clientDataJson is missing'],
    ['{"credentialId":"AA","authenticatorData":"AA","clientDataJson":"AA"}', 'signature is missing'],
    [`{"credentialId":"${'A'.repeat(8200)}"}`, 'expected at most 8192 characters, got 8219'],
  ])('that is malformed: %s', async (stamp, problem) => {
    const answer = await post('query/whoami', whoamiBody(), stamp);
    unauthenticated(answer, `malformed activity stamp: X-Stamp-Webauthn: ${problem}`);
  });

  test('before any other fault of its request is reported', async () => {
    const stranger = new SoftwareAuthenticator();
    const body = root.submitBody('CREATE_USER_TAG', { userTagName: 7 });
    unauthenticated(
      await post('submit/create_user_tag', body, stranger.stamp(body)),
      /^credential ID could not be found/,
      'CREDENTIAL_NOT_FOUND',
    );
  });
});

describe('the sign count', () => {
  const backwards = (last: number, now: number): string =>
    `could not verify WebAuthN signature: authenticatorData: expected a sign count above ${last}, got ${now}; the authenticator may have been copied`;

  test('goes up, by any step', async () => {
    const { passkey, userId } = await newHolder({ counts: true });
    for (const signCount of [2, 3, 1000, 0xffff_ffff]) {
      expect((await whoami(passkey, { signCount })).body, String(signCount)).toMatchObject({ userId });
    }
  });

  test('does not stay nor go back, over queries and activities alike', async () => {
    const passkey = await newRootPasskey({ counts: true });
    expect((await whoami(passkey, { signCount: 5 })).status).toBe(200);
    unauthenticated(await whoami(passkey, { signCount: 5 }), backwards(5, 5));
    unauthenticated(await whoami(passkey, { signCount: 4 }), backwards(5, 4));
    unauthenticated(await whoami(passkey, { signCount: 0 }), backwards(5, 0));
    const body = tagBody();
    unauthenticated(
      await post('submit/create_user_tag', body, passkey.stamp(body, { signCount: 5 })),
      backwards(5, 5),
    );
    expect((await post('submit/create_user_tag', body, passkey.stamp(body, { signCount: 6 }))).status).toBe(
      200,
    );
    unauthenticated(await whoami(passkey, { signCount: 6 }), backwards(6, 6));
    expect((await whoami(passkey, { signCount: 7 })).status).toBe(200);
  });

  test('counts from where it was at registration', async () => {
    const passkey = new SoftwareAuthenticator();
    const userId = await newUser();
    await create(userId, passkey.params('Counted', { signCount: 40 }));
    unauthenticated(await whoami(passkey, { signCount: 40 }), backwards(40, 40));
    expect((await whoami(passkey, { signCount: 41 })).body).toMatchObject({ userId });
  });

  test('is not asked of an authenticator that does not count, and nothing is written for it', async () => {
    const { passkey, userId } = await newHolder();
    const before = stored(service);
    for (let time = 0; time < 3; time++) expect((await whoami(passkey)).body).toMatchObject({ userId });
    expect(stored(service)).toEqual(before);
  });

  test('is not moved by what is refused', async () => {
    const { passkey, userId } = await newHolder({ counts: true });
    const before = stored(service);
    unauthenticated(await whoami(passkey, { signCount: 100, origin: 'https://evil.example' }), /origin/);
    const body = tagBody();
    expect((await post('submit/create_user_tag', body, passkey.stamp(body, { signCount: 100 }))).status).toBe(
      403,
    );
    expect(stored(service)).toEqual(before);
    expect((await whoami(passkey, { signCount: 50 })).body).toMatchObject({ userId });
  });

  test('is kept with an activity that fails', async () => {
    const passkey = await newRootPasskey({ counts: true });
    const nobody = '00000000-0000-4000-8000-000000000000';
    const body = root.submitBody('DELETE_USERS', { userIds: [nobody] });
    expect((await post('submit/delete_users', body, passkey.stamp(body, { signCount: 9 }))).status).toBe(404);
    unauthenticated(await whoami(passkey, { signCount: 9 }), backwards(9, 9));
  });

  test('lets one of two through that come at once', async () => {
    const { passkey } = await newHolder({ counts: true });
    const answers = await Promise.all([
      whoami(passkey, { signCount: 30 }),
      whoami(passkey, { signCount: 30 }),
      whoami(passkey, { signCount: 30 }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
  });

  test('goes on while an earlier request of the passkey waits for votes', async () => {
    const { passkey, userId } = await newHolder({ counts: true });
    resultOf(
      await root.submit('create_policy', 'CREATE_POLICY_V3', {
        policyName: 'By two',
        effect: 'EFFECT_ALLOW',
        condition: `activity.type == 'ACTIVITY_TYPE_CREATE_WALLET' && submitter.id == '${userId}'`,
        consensus: 'approvers.count() > 1',
        notes: '',
      }),
    );
    const body = root.submitBody('CREATE_WALLET', { walletName: 'By a passkey', accounts: [] });
    const stamp = passkey.stamp(body);
    const answer = post('submit/create_wallet', body, stamp, { prefer: 'wait=60' });
    await vi.waitFor(() => {
      expect(service.vault.waiters.size).toBe(1);
    });
    expect((await whoami(passkey)).status).toBe(200);
    const fingerprint = `sha256:${hash('sha256', body)}`;
    activityOf(await root.submit('approve_activity', 'APPROVE_ACTIVITY', { fingerprint }));
    expect(activityOf(await answer).status).toBe('ACTIVITY_STATUS_COMPLETED');
    unauthenticated(await post('submit/create_wallet', body, stamp), backwards(3, 2));
  });

  test('goes on while a stream of the passkey is open, which ends with the passkey', async () => {
    const { passkey, userId, authenticatorId } = await newHolder({ counts: true });
    await root.submit('create_api_keys', 'CREATE_API_KEYS_V2', {
      userId,
      apiKeys: [{ apiKeyName: 'Other', publicKey: newTestKey().publicKey, curveType: 'API_KEY_CURVE_P256' }],
    });
    const { url, organizationId } = service;
    const stream = await openStream({ url, organizationId, key: passkey, header: 'X-Stamp-Webauthn' }, {});
    expect((await whoami(passkey)).status).toBe(200);
    const { id } = activityOf(await root.post('submit/create_user_tag', tagBody()));
    await vi.waitFor(() => {
      expect(stream.events.map(({ activity }) => activity['id'])).toEqual([id]);
    });
    await remove(userId, authenticatorId);
    await vi.waitFor(() => {
      expect(stream.isEnded()).toBe(true);
    });
    expect(stream.events).toHaveLength(1);
  });
});

describe('the same request again', () => {
  test.each([true, false])('is answered by the same activity (counts: %s)', async (counts) => {
    const passkey = await newRootPasskey({ counts });
    const body = tagBody();
    const stamp = passkey.stamp(body);
    const first = activityOf(await post('submit/create_user_tag', body, stamp));
    const again = activityOf(await post('submit/create_user_tag', body, stamp));
    expect(again).toEqual(first);
    // Stamped again, as a client does that lost the stamp.
    const anew = activityOf(await post('submit/create_user_tag', body, passkey.stamp(body)));
    expect(anew).toEqual(first);
    // By an API key of the same user too: it is the body that counts.
    expect(activityOf(await root.post('submit/create_user_tag', body))).toEqual(first);
    expect((await latestActivity(service))?.id).toBe(first.id);
  });

  test('many times at once', async () => {
    const passkey = await newRootPasskey({ counts: true });
    const body = tagBody();
    const stamp = passkey.stamp(body);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => post('submit/create_user_tag', body, stamp)),
    );
    expect(new Set(answers.map((answer) => activityOf(answer).id)).size).toBe(1);
  });

  test('is answered as a query too', async () => {
    const { passkey, userId } = await newHolder({ counts: true });
    const stamp = passkey.stamp(whoamiBody());
    for (let time = 0; time < 3; time++) {
      expect((await post('query/whoami', whoamiBody(), stamp)).body).toMatchObject({ userId });
    }
  });

  test('is the same with preparation before it', async () => {
    const passkey = await newRootPasskey({ counts: true });
    const body = root.submitBody('CREATE_AUTHENTICATORS_V2', {
      userId: await newUser(),
      authenticators: [new SoftwareAuthenticator().params('Made by a passkey')],
    });
    const stamp = passkey.stamp(body);
    const first = activityOf(await post('submit/create_authenticators', body, stamp));
    expect(activityOf(await post('submit/create_authenticators', body, stamp))).toEqual(first);
    const anew = passkey.stamp(body, { signCount: 50 });
    expect(activityOf(await post('submit/create_authenticators', body, anew))).toEqual(first);
    unauthenticated(await whoami(passkey, { signCount: 50 }), /expected a sign count above 50, got 50/);
  });
});

describe('a passkey is deleted', () => {
  test('and no longer stamps', async () => {
    const { passkey, userId, authenticatorId } = await newHolder();
    const stamp = passkey.stamp(whoamiBody());
    const activity = activityOf(await remove(userId, authenticatorId));
    expect(activity.intent).toEqual({
      deleteAuthenticatorsIntent: { userId, authenticatorIds: [authenticatorId] },
    });
    expect(activity.result['deleteAuthenticatorsResult']).toEqual({ authenticatorIds: [authenticatorId] });
    expect(await authenticatorsOf(userId)).toEqual([]);
    await isRefused(
      service,
      () => root.query('get_authenticator', { authenticatorId }),
      missing(`webauthn authenticator not found in organization: ${authenticatorId}`),
    );
    for (const each of [stamp, passkey.stamp(whoamiBody())]) {
      unauthenticated(
        await post('query/whoami', whoamiBody(), each),
        /^credential ID could not be found/,
        'CREDENTIAL_NOT_FOUND',
      );
    }
    // Any user may register it again.
    const another = await newUser();
    await create(another, passkey.params('Back'));
    expect((await whoami(passkey)).body).toMatchObject({ userId: another });
  });

  test('with its user', async () => {
    const { passkey, userId } = await newHolder();
    await root.submit('delete_users', 'DELETE_USERS', { userIds: [userId] });
    unauthenticated(await whoami(passkey), /^credential ID could not be found/, 'CREDENTIAL_NOT_FOUND');
  });

  test('by itself', async () => {
    const passkey = new SoftwareAuthenticator({ counts: true });
    const answer = await create(service.rootUserId, passkey.params('Gone soon'));
    const { authenticatorIds } = resultOf(answer);
    const body = root.submitBody('DELETE_AUTHENTICATORS', { userId: service.rootUserId, authenticatorIds });
    const gone = await post('submit/delete_authenticators', body, passkey.stamp(body));
    expect(resultOf(gone)).toEqual({ authenticatorIds });
    expect(activityOf(gone).votes[0]).toMatchObject({ publicKey: passkey.publicKey });
  });

  test('as its own user’s, each once', async () => {
    const [one, two] = [await newHolder(), await newHolder()];
    await fails(
      service,
      () => remove(one.userId, two.authenticatorId),
      missing(`webauthn authenticator not found: user ${one.userId} has no ${two.authenticatorId}`),
    );
    await fails(
      service,
      () => remove(one.userId, one.authenticatorId, one.authenticatorId),
      invalid(`invalid parameters.authenticatorIds: "${one.authenticatorId}" is given twice`),
    );
    await isRefused(
      service,
      () => remove(one.userId),
      invalid(/^invalid parameters\.authenticatorIds: expected at least 1/),
    );
  });
});

describe('the last credential', () => {
  const message = (userId: string): string =>
    `user missing valid credential: ${userId} would have none left; create another key first`;

  test('is not deleted, whichever kind it is', async () => {
    const { userId, authenticatorId } = await newHolder();
    const { body } = await root.query('get_api_keys', { userId });
    const [{ apiKeyId } = { apiKeyId: '' }] = (body as { apiKeys: { apiKeyId: string }[] }).apiKeys;
    const removeKey = (id: string): Promise<Answer> =>
      root.submit('delete_api_keys', 'DELETE_API_KEYS', { userId, apiKeyIds: [id] });
    // With the passkey left the API key may go, and then the passkey may not.
    expect(resultOf(await removeKey(apiKeyId))).toEqual({ apiKeyIds: [apiKeyId] });
    await fails(service, () => remove(userId, authenticatorId), invalid(message(userId)));
    // With another passkey it may, and with a key that has not expired.
    const spare = resultOf(await create(userId, new SoftwareAuthenticator().params('Spare')));
    expect(resultOf(await remove(userId, authenticatorId))).toBeDefined();
    const [spareId = ''] = spare['authenticatorIds'] as string[];
    const key = {
      apiKeyName: 'Brief',
      publicKey: newTestKey().publicKey,
      curveType: 'API_KEY_CURVE_P256',
      expirationSeconds: '60',
    };
    await root.submit('create_api_keys', 'CREATE_API_KEYS_V2', { userId, apiKeys: [key] });
    service.clock.advance(61_000);
    await fails(service, () => remove(userId, spareId), invalid(message(userId)));
  });
});

describe('the origins that an organization allows', () => {
  const allow = (value: string): Promise<Answer> =>
    root.submit('set_organization_feature', 'SET_ORGANIZATION_FEATURE', {
      name: 'FEATURE_NAME_WEBAUTHN_ORIGINS',
      value,
    });
  afterEach(async () => {
    await root.submit('remove_organization_feature', 'REMOVE_ORGANIZATION_FEATURE', {
      name: 'FEATURE_NAME_WEBAUTHN_ORIGINS',
    });
  });

  test.each([
    ['one', 'https://app.example'],
    ['several', 'https://other.example, https://app.example'],
    ['a list', '["https://other.example","https://app.example"]'],
  ])('are the only ones: %s', async (_, value) => {
    const own = await newHolder();
    await allow(value);
    const foreign =
      /expected the origin to be one of https:\/\/.*app\.example, got "http:\/\/localhost:7377"$/;
    unauthenticated(await whoami(own.passkey), foreign);
    const { userId, passkey } = await newHolder({ origin: 'https://app.example' });
    expect((await whoami(passkey)).body).toMatchObject({ userId });
    unauthenticated(await whoami(passkey, { origin: 'https://app.example:8443' }), /origin/);
    const refusedUser = await newUser();
    await fails(
      service,
      () => create(refusedUser, new SoftwareAuthenticator().params('Refused')),
      invalid(/attestation\.clientDataJson: expected the origin to be one of/),
    );
  });
});

describe('another relying party', () => {
  test('has passkeys of its own pages, over https', async () => {
    await using other = await startTestVault({ config: { rpId: 'vault.example' } });
    const ask = async (origin: string): Promise<Answer> => {
      const passkey = new SoftwareAuthenticator({ rpId: 'vault.example', origin });
      const made = await other.root.submit('create_authenticators', 'CREATE_AUTHENTICATORS_V2', {
        userId: other.rootUserId,
        authenticators: [passkey.params('There')],
      });
      if (made.status !== 200) return made;
      const body = whoamiBody(other.organizationId);
      return send(other.url, {
        path: '/public/v1/query/whoami',
        headers: { 'content-type': 'application/json', 'x-stamp-webauthn': passkey.stamp(body) },
        body,
      });
    };
    for (const origin of ['https://vault.example', 'https://app.vault.example:8443']) {
      expect((await ask(origin)).body, origin).toMatchObject({ userId: other.rootUserId });
    }
    for (const origin of ['http://vault.example', 'https://evilvault.example', 'http://localhost:7377']) {
      const answer = await ask(origin);
      expect(answer.status, origin).toBe(400);
      expect(answer.body?.['message']).toMatch(
        /expected the origin to be an https page of vault\.example or a host below it, got /,
      );
    }
  });
});
