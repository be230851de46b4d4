/** Signing in with ID tokens of a real OpenID Connect provider and with one-time codes, and every way in that is shut. */
import { hash } from 'node:crypto';
import { ApiKeyStamper } from '@turnkey/api-key-stamper';
import {
  decryptCredentialBundle,
  generateP256KeyPair,
  getPublicKey,
  verifySessionJwtSignature,
} from '@turnkey/crypto';
import { TurnkeyClient } from '@turnkey/http';
import { Turnkey } from '@turnkey/sdk-server';
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, exportSPKI, SignJWT, UnsecuredJWT } from 'jose';
import type { JSONWebKeySet } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { compressP256 } from '../../main/crypto/keys/p256.ts';
import { issueOneTimeCode } from '../../main/operations/sign-in/one-time-codes.ts';
import { startVault } from '../../main/app/compose.ts';
import { idTokenSeconds, oidcClient, otherOidcClient, startOidcProvider } from './oidc-provider.ts';
import type { IdTokenRequest, OidcProvider } from './oidc-provider.ts';
import { fails, invalid, missing } from '../support/refusals.ts';
import { filesIn } from '../support/secret-watch.ts';
import {
  activityOf,
  newTestKey,
  resultOf,
  send,
  startTestVault,
  TestClient,
  testKeyOf,
} from '../support/support.ts';
import type { Answer, Json, TestKey, TestVault } from '../support/support.ts';

const seconds = 1000;
const minutes = 60 * seconds;

let oidc: OidcProvider;
let service: TestVault;

beforeAll(async () => {
  oidc = await startOidcProvider();
  service = await startTestVault({ oidcIssuers: [oidc.issuer] });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await oidc[Symbol.asyncDispose]();
});

/** A client's key for encrypting its credential. */
interface Target {
  readonly publicKey: string;
  readonly privateKey: string;
}

function newTarget(): Target {
  const { publicKeyUncompressed, privateKey } = generateP256KeyPair();
  return { publicKey: publicKeyUncompressed, privateKey };
}

let users = 0;

/** A vault whose owner has voted already: the first vote of a user changes the user's row. */
async function startUsedVault(issuer: string): Promise<TestVault> {
  const vault = await startTestVault({ oidcIssuers: [issuer] });
  await newPerson({}, vault);
  return vault;
}

/** A user with nothing to sign requests with; a key of theirs only comes by signing in. */
async function newPerson(
  more: Json = {},
  vault = service,
): Promise<{ readonly userId: string; readonly email: string }> {
  const email = `person${++users}@example.com`;
  const user = {
    userName: `Person ${users}`,
    userEmail: email,
    apiKeys: [],
    authenticators: [],
    oauthProviders: [],
    userTags: [],
    ...more,
  };
  const answer = await vault.root.submit('create_users', 'CREATE_USERS_V4', { users: [user] });
  return { userId: resultOf(answer).userIds[0] ?? '', email };
}

/** A person whom the provider knows under a subject of their own. */
async function newSubject(): Promise<{ readonly userId: string; readonly subject: string }> {
  const subject = `subject-${users + 1}`;
  const oidcToken = await oidc.idToken({ subject });
  const { userId } = await newPerson({ oauthProviders: [{ providerName: 'Provider', oidcToken }] });
  return { userId, subject };
}

interface Signing {
  readonly params?: Json;
  readonly client?: TestClient;
  readonly token?: Partial<IdTokenRequest>;
}

/** Signs a subject in with a fresh token for a fresh target. */
async function byToken(subject: string, options: Signing = {}, target = newTarget()): Promise<Answer> {
  const { params, client = service.root, token } = options;
  const oidcToken = await oidc.idToken({ subject, boundTo: target.publicKey, ...token });
  return oauth({ oidcToken, targetPublicKey: target.publicKey, ...params }, client);
}

const oauth = (parameters: Json, client = service.root): Promise<Answer> =>
  client.submit('oauth', 'OAUTH', parameters);

const otpAuth = (parameters: Json, client = service.root): Promise<Answer> =>
  client.submit('otp_auth', 'OTP_AUTH', parameters);

interface Code {
  readonly otpId: string;
  readonly otpCode: string;
}

type CodeRequest = Parameters<typeof issueOneTimeCode>[1];

/** A code as it goes out to a user by mail. */
const newCode = (
  person: { readonly userId: string; readonly email: string },
  request: Partial<CodeRequest> = {},
  { vault, organizationId, clock } = service,
): Promise<Code> =>
  vault.units.write((tx) => {
    const { otpId, otpCode } = issueOneTimeCode(
      {
        tx,
        keys: vault.keyring,
        organizationId,
        random: (_purpose, length) => crypto.getRandomValues(new Uint8Array(length)),
        now: clock.now(),
      },
      {
        purpose: 'sign in',
        userId: person.userId,
        contact: { channel: 'email', address: person.email },
        ...request,
      },
    );
    return { otpId, otpCode };
  });

/** Another code of the same form. */
const wrong = (otpCode: string, change = 1): string =>
  otpCode.slice(0, -1) + ((Number.parseInt(otpCode.slice(-1), 36) + change) % 10).toString();

/** The key that a sign-in hands out, opened by the vendor's library. */
function keyOf(answer: Answer, target: Target): TestKey {
  const { credentialBundle } = resultOf(answer) as unknown as { readonly credentialBundle: string };
  return openBundle(credentialBundle, target);
}

function openBundle(credentialBundle: string, target: Target): TestKey {
  const privateKey = decryptCredentialBundle(credentialBundle, target.privateKey);
  return testKeyOf(privateKey, Buffer.from(getPublicKey(privateKey, true)).toString('hex'));
}

/** Whom a key stamps for. */
async function whoIs(key: TestKey, { root } = service): Promise<unknown> {
  const { body } = await root.as(key).query('whoami');
  return body?.['userId'];
}

interface ShownKey {
  readonly apiKeyId: string;
  readonly apiKeyName: string;
  readonly credential: { readonly publicKey: string; readonly type: string };
  readonly expirationSeconds?: string;
}

async function keysOf(userId: string, { root } = service): Promise<readonly ShownKey[]> {
  const { body } = await root.query('get_api_keys', { userId });
  return body?.['apiKeys'] as readonly ShownKey[];
}

const invalidToken = (message: RegExp) => ({ ...invalid(message), turnkeyErrorCode: 'INVALID_OIDC_TOKEN' });

describe('oauth', () => {
  test('hands out a key, encrypted, that stamps the next request as the user', async () => {
    const { userId, subject } = await newSubject();
    const target = newTarget();
    const answer = await byToken(subject, {}, target);
    const key = keyOf(answer, target);
    expect(resultOf(answer)).toEqual({
      userId,
      apiKeyId: expect.any(String) as string,
      credentialBundle: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]+$/) as string,
    });
    expect(await whoIs(key)).toBe(userId);
    expect(await keysOf(userId)).toMatchObject([
      {
        apiKeyId: resultOf(answer)['apiKeyId'],
        apiKeyName: expect.stringMatching(/^Oauth - \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
        credential: { publicKey: key.publicKey, type: 'CREDENTIAL_TYPE_OAUTH_KEY_P256' },
        expirationSeconds: '900',
      },
    ]);
  });

  test('echoes what was asked, and nothing that was not', async () => {
    const { subject } = await newSubject();
    const target = newTarget();
    const oidcToken = await oidc.idToken({ subject, boundTo: target.publicKey });
    const least = { oidcToken, targetPublicKey: target.publicKey };
    expect(activityOf(await oauth(least)).intent).toEqual({ oauthIntent: least });
    const most = { ...least, apiKeyName: 'Mine', expirationSeconds: '60', invalidateExisting: false };
    const answer = await oauth(most);
    expect(activityOf(answer).intent).toEqual({ oauthIntent: most });
    const { userId } = resultOf(answer) as unknown as { readonly userId: string };
    expect((await keysOf(userId)).at(-1)).toMatchObject({ apiKeyName: 'Mine', expirationSeconds: '60' });
  });

  test('takes a token in base64, and a target in compressed form', async () => {
    const { userId, subject } = await newSubject();
    const { publicKey, privateKey } = newTarget();
    const target = {
      publicKey: Buffer.from(compressP256(new Uint8Array(Buffer.from(publicKey, 'hex')))).toString('hex'),
      privateKey,
    };
    const token = await oidc.idToken({ subject, boundTo: target.publicKey });
    const oidcToken = Buffer.from(token).toString('base64');
    expect(await whoIs(keyOf(await oauth({ oidcToken, targetPublicKey: target.publicKey }), target))).toBe(
      userId,
    );
  });

  test('signs in whom it knows by claims alone', async () => {
    const oidcClaims = { iss: oidc.issuer, sub: 'known-by-claims', aud: oidcClient };
    const { userId } = await newPerson({ oauthProviders: [{ providerName: 'Provider', oidcClaims }] });
    const target = newTarget();
    expect(await whoIs(keyOf(await byToken('known-by-claims', {}, target), target))).toBe(userId);
  });

  test('is what the vendor’s clients call', async () => {
    const { userId, subject } = await newSubject();
    const apiKey = { apiPublicKey: service.key.publicKey, apiPrivateKey: service.key.privateKey };
    const { organizationId } = service;
    const http = new TurnkeyClient({ baseUrl: service.url }, new ApiKeyStamper(apiKey));
    const server = new Turnkey({
      apiBaseUrl: service.url,
      defaultOrganizationId: organizationId,
      ...apiKey,
    }).apiClient();
    const first = newTarget();
    const { activity } = await http.oauth({
      type: 'ACTIVITY_TYPE_OAUTH',
      timestampMs: String(service.root.nextTimestamp()),
      organizationId,
      parameters: {
        oidcToken: await oidc.idToken({ subject, boundTo: first.publicKey }),
        targetPublicKey: first.publicKey,
      },
    });
    const { oauthResult } = activity.result;
    const key = openBundle(oauthResult?.credentialBundle ?? '', first);
    expect([oauthResult?.userId, await whoIs(key)]).toEqual([userId, userId]);
    const second = newTarget();
    const result = await server.oauth({
      oidcToken: await oidc.idToken({ subject, boundTo: second.publicKey }),
      targetPublicKey: second.publicKey,
      invalidateExisting: true,
    });
    expect(result.userId).toBe(userId);
    expect(await whoIs(openBundle(result.credentialBundle, second))).toBe(userId);
    expect(await whoIs(key)).toBeUndefined();
    expect(await server.getOauthProviders({ userId })).toMatchObject({
      oauthProviders: [{ providerName: 'Provider', issuer: oidc.issuer, audience: oidcClient, subject }],
    });
  });
});

describe('oauth_login', () => {
  const client = ({ publicKey, privateKey }: TestKey): ReturnType<Turnkey['apiClient']> =>
    new Turnkey({
      apiBaseUrl: service.url,
      defaultOrganizationId: service.organizationId,
      apiPublicKey: publicKey,
      apiPrivateKey: privateKey,
    }).apiClient();

  test('makes the client’s own key stamp its next requests, in the vendor’s client', async () => {
    const { userId, subject } = await newSubject();
    const application = client(service.key);
    const login = async (wishes: { expirationSeconds?: string; invalidateExisting?: boolean } = {}) => {
      const key = newTestKey();
      const oidcToken = await oidc.idToken({ subject, boundTo: key.publicKey });
      const { session } = await application.oauthLogin({ oidcToken, publicKey: key.publicKey, ...wishes });
      return { key, session };
    };
    const secondsNow = (): number => Math.floor(service.clock.now() / seconds);
    const earliest = secondsNow();
    const first = await login({ expirationSeconds: '1800' });
    const latest = secondsNow();
    const { body: serverKeys } = await send(service.url, {
      method: 'GET',
      path: '/public/v1/discovery/keys',
    });
    expect(await verifySessionJwtSignature(first.session, String(serverKeys?.['notarizer']))).toBe(true);
    const { exp = 0, ...claims } = decodeJwt(first.session);
    expect(exp - 1800).toBeGreaterThanOrEqual(earliest);
    expect(exp - 1800).toBeLessThanOrEqual(latest);
    expect(claims).toEqual({
      public_key: first.key.publicKey,
      session_type: 'SESSION_TYPE_READ_WRITE',
      user_id: userId,
      organization_id: service.organizationId,
    });
    expect(await client(first.key).getWhoami()).toMatchObject({ userId });
    expect(await keysOf(userId)).toMatchObject([
      {
        apiKeyName: expect.stringMatching(/^Login - \d{4}-/) as string,
        credential: { publicKey: first.key.publicKey, type: 'CREDENTIAL_TYPE_LOGIN' },
        expirationSeconds: '1800',
      },
    ]);
    const second = await login({ invalidateExisting: true });
    expect(await client(second.key).getWhoami()).toMatchObject({ userId });
    await expect(client(first.key).getWhoami()).rejects.toThrow('could not find public key');
  });

  test('refuses a token that is bound to another key, of another application, or of no user', async () => {
    const { userId, subject } = await newSubject();
    const { publicKey } = newTestKey();
    const login = async (token: Partial<IdTokenRequest>): Promise<Answer> =>
      service.root.submit('oauth_login', 'OAUTH_LOGIN', {
        oidcToken: await oidc.idToken({ subject, boundTo: publicKey, ...token }),
        publicKey,
      });
    await fails(
      service,
      () => login({ boundTo: newTestKey().publicKey }),
      invalidToken(/expected its "nonce" to be the SHA-256.* of the text of parameters\.publicKey/),
    );
    await fails(service, () => login({ client: otherOidcClient }), missing(/^unable to find user: /));
    await fails(service, () => login({ subject: `${subject}0` }), missing(/^unable to find user: /));
    expect(await keysOf(userId)).toEqual([]);
  });
});

describe('an ID token is refused', () => {
  test('whose nonce is of another key, or of the same in other letters, or missing', async () => {
    const { subject } = await newSubject();
    const target = newTarget();
    for (const token of [
      { boundTo: newTarget().publicKey },
      { boundTo: target.publicKey.toUpperCase() },
      { boundTo: Buffer.from(target.publicKey, 'hex').toString('base64') },
      { boundTo: undefined, nonce: target.publicKey },
      { boundTo: undefined, nonce: hash('sha256', target.publicKey).toUpperCase() },
      { boundTo: undefined },
    ]) {
      await fails(
        service,
        () => byToken(subject, { token: token as Partial<IdTokenRequest> }, target),
        invalidToken(/^invalid OIDC token in parameters\.oidcToken: expected its "nonce" to be the SHA-256/),
      );
    }
  });

  test('that an attacker has stolen, for the attacker’s own key', async () => {
    const { subject } = await newSubject();
    const target = newTarget();
    const oidcToken = await oidc.idToken({ subject, boundTo: target.publicKey });
    keyOf(await oauth({ oidcToken, targetPublicKey: target.publicKey }), target);
    await fails(
      service,
      () => oauth({ oidcToken, targetPublicKey: newTarget().publicKey }),
      invalidToken(/expected its "nonce"/),
    );
  });

  test('that is for another application, or of another user, or of no user', async () => {
    const { subject } = await newSubject();
    await fails(
      service,
      () => byToken(subject, { token: { client: otherOidcClient } }),
      missing(/^unable to find user: .* audience "another-application"\)$/),
    );
    await fails(service, () => byToken(`${subject}0`), missing(/^unable to find user: /));
  });

  test('in another organization', async () => {
    const { subject } = await newSubject();
    await using elsewhere = await startUsedVault(oidc.issuer);
    await fails(
      elsewhere,
      () => byToken(subject, { client: elsewhere.root }),
      missing(/^unable to find user/),
    );
  });

  test('where its issuer is not allowed', async () => {
    const { subject } = await newSubject();
    await using elsewhere = await startUsedVault('https://accounts.example');
    const before = oidc.requests.length;
    const target = newTarget();
    const oidcToken = await oidc.idToken({ subject, boundTo: target.publicKey });
    const asked = oidc.requests.length;
    await fails(
      elsewhere,
      () => oauth({ oidcToken, targetPublicKey: target.publicKey }, elsewhere.root),
      invalidToken(
        /its issuer "http:\/\/127\.0\.0\.1:\d+" is not allowed here \(allowed: https:\/\/accounts\.example\)/,
      ),
    );
    expect(asked).toBeGreaterThan(before);
    expect(oidc.requests).toHaveLength(asked);
  });

  test('once it has expired', async () => {
    await using later = await startUsedVault(oidc.issuer);
    const target = newTarget();
    const oidcToken = await oidc.idToken({ subject: 'late', boundTo: target.publicKey });
    later.clock.advance(idTokenSeconds * seconds + minutes);
    await fails(
      later,
      () => oauth({ oidcToken, targetPublicKey: target.publicKey }, later.root),
      invalidToken(/: it has expired$/),
    );
  });

  test('before its creation', async () => {
    await using earlier = await startUsedVault(oidc.issuer);
    const target = newTarget();
    const oidcToken = await oidc.idToken({ subject: 'early', boundTo: target.publicKey });
    earlier.clock.advance(-2 * minutes);
    await fails(
      earlier,
      () => oauth({ oidcToken, targetPublicKey: target.publicKey }, earlier.root),
      invalidToken(/: it is from the future: see its "iat"$/),
    );
  });

  test('that is not signed, or with the issuer’s public key as a secret, or with another key', async () => {
    const { subject } = await newSubject();
    const target = newTarget();
    const token = await oidc.idToken({ subject, boundTo: target.publicKey });
    const payload = decodeJwt(token);
    const { kid = '' } = decodeProtectedHeader(token);
    const jwks = (await (await fetch(`${oidc.issuer}/jwks`)).json()) as JSONWebKeySet;
    const publicKey = await createLocalJWKSet(jwks)({ alg: 'RS256', kid });
    const { privateKey } = await crypto.subtle.generateKey(
      { name: 'RSASSA-PKCS1-v1_5', modulusLength: 2048, publicExponent: Buffer.of(1, 0, 1), hash: 'SHA-256' },
      false,
      ['sign', 'verify'],
    );
    const [header = '', , signature = ''] = token.split('.');
    const another = Buffer.from(JSON.stringify({ ...payload, sub: 'admin' })).toString('base64url');
    const forgeries: [string, RegExp][] = [
      [new UnsecuredJWT(payload).encode(), /: its algorithm is not allowed/],
      [
        await new SignJWT(payload)
          .setProtectedHeader({ alg: 'HS256', kid })
          .sign(Buffer.from(await exportSPKI(publicKey))),
        /: its algorithm is not allowed/,
      ],
      [
        await new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid }).sign(privateKey),
        /: its signature does not hold$/,
      ],
      [`${header}.${another}.${signature}`, /: its signature does not hold$/],
    ];
    for (const [oidcToken, problem] of forgeries) {
      const answer = await fails(
        service,
        () => oauth({ oidcToken, targetPublicKey: target.publicKey }),
        invalidToken(problem),
      );
      for (const part of oidcToken.split('.').filter((text) => text !== '')) {
        expect(answer.text).not.toContain(part);
      }
    }
    const oidcToken = `${token}${'A'.repeat(20_000)}`;
    const tooLong = await oauth({ oidcToken, targetPublicKey: target.publicKey });
    expect(tooLong.status).toBe(400);
    expect(tooLong.body?.['message']).toMatch(
      /^invalid parameters\.oidcToken: expected a compact JWT of at most 16384 characters, got a text of \d+ characters$/,
    );
    expect(tooLong.text).not.toContain(token.slice(0, 20));
  });
});

describe('an issuer that', () => {
  test('changes its keys is believed under the new one', async () => {
    await using own = await startOidcProvider();
    await using vault = await startTestVault({ oidcIssuers: [own.issuer] });
    const target = newTarget();
    const tokenOf = (): Promise<string> => own.idToken({ subject: 'rotating', boundTo: target.publicKey });
    const oidcToken = await tokenOf();
    const { userId } = await newPerson({ oauthProviders: [{ providerName: 'Own', oidcToken }] }, vault);
    const signIn = async (token: string): Promise<Answer> =>
      oauth({ oidcToken: token, targetPublicKey: target.publicKey }, vault.root);
    expect(await whoIs(keyOf(await signIn(oidcToken), target), vault)).toBe(userId);
    own.rotateKeys();
    vault.clock.advance(minutes);
    expect(await whoIs(keyOf(await signIn(await tokenOf()), target), vault)).toBe(userId);
    expect((await signIn(oidcToken)).body?.['message']).toMatch(/signed with none of its issuer's keys$/);
  });

  test('cannot be reached leaves no activity: the same request works once it can', async () => {
    const own = await startOidcProvider();
    const target = newTarget();
    const oidcToken = await own.idToken({ subject: 'patient', boundTo: target.publicKey });
    await using vault = await startTestVault({ oidcIssuers: [own.issuer] });
    await own[Symbol.asyncDispose]();
    const oidcClaims = { iss: own.issuer, sub: 'patient', aud: oidcClient };
    await newPerson({ oauthProviders: [{ providerName: 'Own', oidcClaims }] }, vault);
    const body = vault.root.submitBody('OAUTH', { oidcToken, targetPublicKey: target.publicKey });
    for (let tries = 0; tries < 2; tries++) {
      const answer = await vault.root.post('submit/oauth', body);
      expect(answer.status).toBe(503);
      expect(answer.body).toMatchObject({
        code: 14,
        turnkeyErrorCode: 'INVALID_OIDC_TOKEN',
        message: expect.stringMatching(
          /^invalid OIDC token in parameters\.oidcToken: the keys of its issuer cannot be had: .*ECONNREFUSED/,
        ) as string,
      });
    }
    const { body: listed } = await vault.root.query('list_activities', {
      filterByType: ['ACTIVITY_TYPE_OAUTH'],
    });
    expect(listed?.['activities']).toEqual([]);
  });
});

describe('OAuth providers', () => {
  const provider = (sub: string, aud = oidcClient): Json => ({
    providerName: 'Provider',
    oidcClaims: { iss: 'https://accounts.example', sub, aud },
  });
  const create = async (providers: readonly Json[], type = 'CREATE_USERS_V4'): Promise<Answer> =>
    service.root.submit('create_users', type, {
      users: [
        {
          userName: `Person ${++users}`,
          apiKeys: [],
          authenticators: [],
          oauthProviders: providers,
          userTags: [],
        },
      ],
    });

  test('are shown, of one user and of all', async () => {
    const { userId } = await newPerson({ oauthProviders: [provider('shown'), provider('shown', 'two')] });
    const { body } = await service.root.query('get_oauth_providers', { userId });
    const shown = body?.['oauthProviders'] as readonly Json[];
    expect(shown).toMatchObject([
      {
        providerName: 'Provider',
        issuer: 'https://accounts.example',
        audience: oidcClient,
        subject: 'shown',
      },
      { audience: 'two' },
    ]);
    const all = (await service.root.query('get_oauth_providers')).body?.['oauthProviders'];
    expect(all).toEqual(expect.arrayContaining([...shown]));
    expect((all as Json[]).length).toBeGreaterThan(shown.length);
    const { body: user } = await service.root.query('get_user', { userId });
    expect(user?.['user']).toMatchObject({ oauthProviders: shown });
    const nobody = crypto.randomUUID();
    expect((await service.root.query('get_oauth_providers', { userId: nobody })).status).toBe(404);
  });

  test('are one user’s each, and ten at most', async () => {
    await create([provider('taken')]);
    await fails(service, () => create([provider('taken')]), {
      status: 409,
      code: 6,
      message:
        /^invalid parameters\.users\[0\]\.oauthProviders\[0\]: a user of the organization has an OAuth provider/,
      turnkeyErrorCode: 'OAUTH_PROVIDER_ALREADY_EXISTS',
    });
    const many = Array.from({ length: 10 }, (_, index) => provider('many', `client ${index}`));
    activityOf(await create(many));
    const tooMany = await create([...many, provider('many', 'client 10')]);
    expect(tooMany.body?.['message']).toMatch(/oauthProviders: expected at most 10 elements/);
  });

  test('are proven, or claimed, and not both', async () => {
    const oidcToken = await oidc.idToken({ subject: 'proven' });
    const claimed = provider('proven');
    for (const bad of [{ providerName: 'Neither' }, { ...claimed, oidcToken }]) {
      const answer = await create([bad]);
      expect(answer.body?.['message']).toMatch(
        /oauthProviders\[0\]: expected either oidcToken or oidcClaims, got an object$/,
      );
      expect(answer.text).not.toContain(oidcToken.slice(0, 20));
    }
    // The older type has no claims.
    expect((await create([claimed], 'CREATE_USERS_V3')).body?.['message']).toMatch(
      /oauthProviders\[0\]\.oidcToken/,
    );
    activityOf(await create([{ providerName: 'Proven', oidcToken }], 'CREATE_USERS_V3'));
    await fails(
      service,
      () => create([{ providerName: 'Forged', oidcToken: oidcToken.slice(0, -9) }], 'CREATE_USERS_V3'),
      invalidToken(/^invalid OIDC token in parameters\.users\[0\]\.oauthProviders\[0\]\.oidcToken: /),
    );
  });
});

describe('otp_auth', () => {
  test('hands out a key, encrypted, that stamps the next request as the user', async () => {
    const person = await newPerson();
    const code = await newCode(person);
    expect(code.otpCode).toMatch(/^[0-9A-HJKMNP-TV-Z]{9}$/);
    const target = newTarget();
    const parameters = { ...code, targetPublicKey: target.publicKey };
    const answer = await otpAuth(parameters);
    const key = keyOf(answer, target);
    expect(activityOf(answer).intent).toEqual({ otpAuthIntent: parameters });
    expect(resultOf(answer)['userId']).toBe(person.userId);
    expect(await whoIs(key)).toBe(person.userId);
    expect(await keysOf(person.userId)).toMatchObject([
      {
        apiKeyId: resultOf(answer)['apiKeyId'],
        apiKeyName: expect.stringMatching(/^OTP Auth - \d{4}-\d\d-\d\dT/) as string,
        credential: { publicKey: key.publicKey, type: 'CREDENTIAL_TYPE_OTP_AUTH_KEY_P256' },
        expirationSeconds: '900',
      },
    ]);
  });

  test('is what the vendor’s clients call', async () => {
    const person = await newPerson();
    const server = new Turnkey({
      apiBaseUrl: service.url,
      defaultOrganizationId: service.organizationId,
      apiPublicKey: service.key.publicKey,
      apiPrivateKey: service.key.privateKey,
    }).apiClient();
    const target = newTarget();
    const result = await server.otpAuth({
      ...(await newCode(person)),
      targetPublicKey: target.publicKey,
      expirationSeconds: '120',
    });
    expect(result.userId).toBe(person.userId);
    expect(await whoIs(openBundle(result.credentialBundle ?? '', target))).toBe(person.userId);
    const code = await newCode(person);
    await expect(
      server.otpAuth({ ...code, otpCode: wrong(code.otpCode), targetPublicKey: target.publicKey }),
    ).rejects.toThrow(/^Turnkey error 3: Invalid OTP code/);
  });

  test('takes letters in either case, and codes of other forms', async () => {
    const person = await newPerson();
    const code = await newCode(person);
    const targetPublicKey = newTarget().publicKey;
    activityOf(await otpAuth({ ...code, otpCode: code.otpCode.toLowerCase(), targetPublicKey }));
    for (const characters of [6, 7, 8, 9]) {
      const short = await newCode(person, { characters, alphanumeric: false });
      expect(short.otpCode).toMatch(new RegExp(`^[0-9]{${characters}}$`));
      activityOf(await otpAuth({ ...short, targetPublicKey }));
    }
  });

  test('chooses every symbol equally often', async () => {
    const person = await newPerson();
    const codes = await Promise.all(
      Array.from({ length: 2000 }, (_, index) =>
        newCode(person, { contact: { channel: 'email', address: `person@${String(index)}.example.com` } }),
      ),
    );
    const counts = new Map<string, number>();
    for (const symbol of codes.flatMap(({ otpCode }) => otpCode.split(''))) {
      counts.set(symbol, (counts.get(symbol) ?? 0) + 1);
    }
    expect(counts.size).toBe(32);
    // The expected count is 562 each; six standard deviations are not chance.
    for (const count of counts.values()) expect(Math.abs(count - 562.5)).toBeLessThan(6 * 23.4);
  });
});

describe('a one-time code', () => {
  const refused = invalid('Invalid OTP code');
  const targetPublicKey = newTarget().publicKey;
  const use = (code: Code, client = service.root): Promise<Answer> =>
    otpAuth({ ...code, targetPublicKey }, client);
  const triesOf = ({ otpId }: Code): unknown =>
    service.vault.connection.get<{ tries: number }>(
      'SELECT wrong_tries AS tries FROM sent_codes WHERE id = ?',
      otpId,
    )?.tries;

  test('is good once', async () => {
    const code = await newCode(await newPerson());
    activityOf(await use(code));
    await fails(service, () => use(code), refused);
  });

  test('is good once, however many use it at one time', async () => {
    const person = await newPerson();
    const code = await newCode(person);
    const answers = await Promise.all(Array.from({ length: 10 }, () => use(code)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await keysOf(person.userId)).toHaveLength(1);
  });

  test('dies of the third wrong try, and says no more than that one is wrong', async () => {
    const person = await newPerson();
    const code = await newCode(person);
    for (let change = 1; change <= 3; change++) {
      const answer = await use({ ...code, otpCode: wrong(code.otpCode, change) });
      expect([answer.status, answer.body?.['message']]).toEqual([400, 'Invalid OTP code']);
      expect(triesOf(code)).toBe(change);
    }
    await fails(service, () => use(code), refused);
    expect(await keysOf(person.userId)).toEqual([]);
  });

  test('survives two wrong tries', async () => {
    const code = await newCode(await newPerson());
    await use({ ...code, otpCode: wrong(code.otpCode) });
    await use({ ...code, otpCode: '' });
    activityOf(await use(code));
  });

  test('is not guessed by many at one time: three tries are three', async () => {
    const person = await newPerson();
    const code = await newCode(person, { characters: 6, alphanumeric: false });
    const guesses = Array.from({ length: 40 }, (_, index) =>
      use({ ...code, otpCode: String((Number(code.otpCode) + index + 1) % 1_000_000).padStart(6, '0') }),
    );
    // The right one comes last, among them.
    const answers = await Promise.all([...guesses, use(code)]);
    expect(answers.every(({ body }) => body?.['message'] === 'Invalid OTP code')).toBe(true);
    expect(triesOf(code)).toBe(3);
    expect(await keysOf(person.userId)).toEqual([]);
  });

  test('loses one try to a request that is sent twice', async () => {
    const code = await newCode(await newPerson());
    const body = service.root.submitBody('OTP_AUTH', {
      ...code,
      otpCode: wrong(code.otpCode),
      targetPublicKey,
    });
    const answers = [
      await service.root.post('submit/otp_auth', body),
      await service.root.post('submit/otp_auth', body),
    ];
    expect(answers.map(({ status }) => status)).toEqual([400, 400]);
    expect(triesOf(code)).toBe(1);
  });

  test('is not tried by requests that are refused for something else', async () => {
    const code = await newCode(await newPerson());
    const { client: outsider } = await service.newUser('Outsider');
    const body = (parameters: Json): Promise<Answer> => otpAuth({ ...code, targetPublicKey, ...parameters });
    for (const [answer, status] of [
      [use(code, outsider), 403],
      [body({ targetPublicKey: `04${'ab'.repeat(64)}` }), 400],
      [body({ targetPublicKey: 'key' }), 400],
      [body({ apiKeyName: '' }), 400],
      [body({ otpId: 'otp' }), 400],
      [body({ otpCode: 7 }), 400],
      [body({ otpCode: 'x'.repeat(65) }), 400],
      [service.root.submit('otp_auth', 'OTP_AUTH', { ...code, targetPublicKey }, { timestampMs: '1' }), 400],
    ] as const) {
      expect((await answer).status).toBe(status);
      // The answer must not contain the right code.
      expect((await answer).text).not.toContain(code.otpCode);
    }
    expect(triesOf(code)).toBe(0);
    activityOf(await use(code));
  });

  test('is one user’s, in one organization', async () => {
    const person = await newPerson();
    await using elsewhere = await startTestVault();
    const stranger = await newPerson({}, elsewhere);
    const code = await newCode(stranger, {}, elsewhere);
    await fails(service, () => use(code), refused);
    // Two codes do not open each other.
    const [one, two] = [await newCode(person), await newCode(person)];
    await fails(service, () => use({ otpId: crypto.randomUUID(), otpCode: one.otpCode }), refused);
    await use({ otpId: one.otpId, otpCode: two.otpCode });
    expect([triesOf(one), triesOf(two)]).toEqual([1, 0]);
    // Nor in another organization of the same vault.
    const { connection } = service.vault;
    const other = crypto.randomUUID();
    connection.run(
      `INSERT INTO organizations (id, parent_id, name, root_quorum_threshold, created_at, updated_at)
       SELECT ?, parent_id, name, root_quorum_threshold, created_at, updated_at FROM organizations`,
      other,
    );
    connection.run('UPDATE sent_codes SET organization_id = ? WHERE id = ?', other, two.otpId);
    await fails(service, () => use(two), refused);
    connection.run(
      'UPDATE sent_codes SET organization_id = ? WHERE id = ?',
      service.organizationId,
      two.otpId,
    );
    connection.run('DELETE FROM organizations WHERE id = ?', other);
    activityOf(await use(two));
  });

  test('dies with the address that it went to', async () => {
    const person = await newPerson();
    const code = await newCode(person);
    await service.root.submit('update_user_email', 'UPDATE_USER_EMAIL', {
      userId: person.userId,
      userEmail: 'new@example.com',
    });
    await fails(service, () => use(code), refused);
    const moved = { ...person, email: 'new@example.com' };
    activityOf(await use(await newCode(moved)));
    const gone = await newCode(moved);
    await service.root.submit('delete_users', 'DELETE_USERS', { userIds: [person.userId] });
    await fails(service, () => use(gone), refused);
  });

  test('expires after five minutes, or when it is said to', async () => {
    await using later = await startTestVault();
    const person = await newPerson({}, later);
    const [code, short, late] = [
      await newCode(person, {}, later),
      await newCode(person, { lifetimeSeconds: 60 }, later),
      await newCode(person, { lifetimeSeconds: 600 }, later),
    ];
    later.clock.advance(minutes);
    await fails(later, () => use(short, later.root), refused);
    later.clock.advance(3.9 * minutes);
    activityOf(await use(code, later.root));
    later.clock.advance(0.1 * minutes);
    const another = await newCode(person, {}, later);
    later.clock.advance(5 * minutes);
    await fails(later, () => use(another, later.root), refused);
    await fails(later, () => use(late, later.root), refused);
    // An expired code is kept only until the next is sent.
    await newCode(person, {}, later);
    expect(later.vault.connection.all('SELECT id FROM sent_codes')).toHaveLength(1);
  });

  test('needs the vault unlocked, and is not tried while it is locked', async () => {
    const code = await newCode(await newPerson());
    await service.vault.rpc.lock();
    for (const otpCode of [code.otpCode, wrong(code.otpCode)]) {
      expect((await use({ ...code, otpCode })).body).toMatchObject({ turnkeyErrorCode: 'VAULT_LOCKED' });
    }
    await service.unlock();
    expect(triesOf(code)).toBe(0);
    activityOf(await use(code));
  });

  test('stays tried after a restart', async () => {
    await using first = await startTestVault();
    const person = await newPerson({}, first);
    const code = await newCode(person, {}, first);
    for (let change = 1; change <= 3; change++) {
      await use({ ...code, otpCode: wrong(code.otpCode, change) }, first.root);
    }
    const other = await newCode(person, {}, first);
    await use({ ...other, otpCode: wrong(other.otpCode) }, first.root);
    await first.vault.close();
    const again = await startVault(first.config);
    try {
      await again.rpc.unlock({ with: 'recovery', phrase: first.recoveryPhrase });
      const root = new TestClient(again.url, first.organizationId, first.key);
      expect((await use(code, root)).body?.['message']).toBe('Invalid OTP code');
      activityOf(await use(other, root));
    } finally {
      await again.close();
    }
  });
});

describe('the key of a sign-in', () => {
  test('expires after a quarter of an hour, or when it is said to', async () => {
    await using later = await startTestVault();
    const person = await newPerson({}, later);
    const keyFor = async (params: Json = {}): Promise<TestKey> => {
      const target = newTarget();
      const code = await newCode(person, {}, later);
      const answer = await otpAuth({ ...code, targetPublicKey: target.publicKey, ...params }, later.root);
      return keyOf(answer, target);
    };
    const [key, short, long] = [
      await keyFor(),
      await keyFor({ expirationSeconds: '60' }),
      await keyFor({ expirationSeconds: '1800' }),
    ];
    later.clock.advance(minutes);
    const expired = await later.root.as(short).query('whoami');
    expect(expired.status).toBe(401);
    expect(expired.body?.['message']).toBe(
      `Unauthenticated desc = expired api key publicKey ${short.publicKey}`,
    );
    expect(await whoIs(key, later)).toBe(person.userId);
    later.clock.advance(14 * minutes);
    expect(await whoIs(key, later)).toBeUndefined();
    expect(await whoIs(long, later)).toBe(person.userId);
  });

  test.each(['0', '-1', '1.5', '1e3', '', ' 60', '31536001', '99999999999'])(
    'does not last %j seconds',
    async (expirationSeconds) => {
      const { subject } = await newSubject();
      const answer = await byToken(subject, { params: { expirationSeconds } });
      expect(answer.status).toBe(400);
      expect(answer.body?.['message']).toBe(
        `invalid parameters.expirationSeconds: invalid api key expiration: expected a whole number of seconds in digits, from 1 to 31536000, got ${JSON.stringify(expirationSeconds)}`,
      );
    },
  );

  test('replaces those of its kind alone, where that is asked for', async () => {
    const { userId, subject } = await newSubject();
    const email = 'replaced@example.com';
    await service.root.submit('update_user_email', 'UPDATE_USER_EMAIL', { userId, userEmail: email });
    const apiKey = { apiKeyName: 'Own', publicKey: newTestKey().publicKey, curveType: 'API_KEY_CURVE_P256' };
    await service.root.submit('create_api_keys', 'CREATE_API_KEYS_V2', {
      userId,
      apiKeys: [apiKey, { ...apiKey, publicKey: newTestKey().publicKey, expirationSeconds: '60' }],
    });
    const other = await newSubject();
    activityOf(await byToken(other.subject));
    const withCode = async (params: Json): Promise<Answer> =>
      otpAuth({ ...(await newCode({ userId, email })), targetPublicKey: newTarget().publicKey, ...params });
    const types = async (): Promise<readonly string[]> =>
      (await keysOf(userId)).map(({ credential }) => credential.type.replace('CREDENTIAL_TYPE_', ''));
    for (let count = 0; count < 2; count++) {
      activityOf(await byToken(subject));
      activityOf(await withCode({}));
    }
    const own = ['API_KEY_P256', 'API_KEY_P256'];
    const [byOauth, byCode] = ['OAUTH_KEY_P256', 'OTP_AUTH_KEY_P256'];
    expect(await types()).toEqual([...own, byOauth, byCode, byOauth, byCode]);
    activityOf(await byToken(subject, { params: { invalidateExisting: true } }));
    expect(await types()).toEqual([...own, byCode, byCode, byOauth]);
    activityOf(await withCode({ invalidateExisting: true }));
    expect(await types()).toEqual([...own, byOauth, byCode]);
    expect(await keysOf(other.userId)).toHaveLength(1);
  });

  test('is one of ten that expire: the oldest goes', async () => {
    const { userId, subject } = await newSubject();
    const ids: unknown[] = [];
    for (let count = 0; count < 12; count++) ids.push(resultOf(await byToken(subject))['apiKeyId']);
    expect((await keysOf(userId)).map(({ apiKeyId }) => apiKeyId)).toEqual(ids.slice(2));
  });

  test('has no more rights than its user', async () => {
    const { userId, subject } = await newSubject();
    const target = newTarget();
    const client = service.root.as(keyOf(await byToken(subject, {}, target), target));
    const answer = await client.submit('update_user_name', 'UPDATE_USER_NAME', { userId, userName: 'Root' });
    expect(answer.status).toBe(403);
  });

  test('is not created for a user who may not ask', async () => {
    const { userId, subject } = await newSubject();
    const { client } = await service.newUser('Nobody in particular');
    expect((await byToken(subject, { client })).status).toBe(403);
    const target = newTarget();
    const unknown = service.root.as(newTestKey());
    expect((await byToken(subject, { client: unknown }, target)).status).toBe(401);
    const unsigned = await service.root.post('submit/oauth', '{}', { 'x-stamp': undefined });
    expect(unsigned.status).toBe(401);
    expect(await keysOf(userId)).toEqual([]);
  });
});

describe('secrets', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  test('of a sign-in are in no file and in nothing that is written', async () => {
    const written: string[] = [];
    for (const stream of [process.stdout, process.stderr]) {
      vi.spyOn(stream, 'write').mockImplementation((text) => {
        written.push(String(text));
        return true;
      });
    }
    const faults: unknown[] = [];
    await using vault = await startTestVault({
      oidcIssuers: [oidc.issuer],
      substitutes: { onFault: (fault) => faults.push(fault) },
    });
    const person = await newPerson({}, vault);
    const files = (): Buffer => Buffer.concat([...filesIn(vault.directory).values()]);
    const codes = [await newCode(person, {}, vault), await newCode(person, { characters: 6 }, vault)];
    const [code] = codes;
    if (code === undefined) throw new Error('there is no code');
    const target = newTarget();
    const parameters = { ...code, targetPublicKey: target.publicKey };
    await otpAuth({ ...parameters, otpCode: wrong(code.otpCode) }, vault.root);
    await otpAuth({ ...parameters, targetPublicKey: '04' }, vault.root);
    await otpAuth({ ...parameters, expirationSeconds: 'forever' }, vault.root);
    const unspent = files();
    for (const { otpId, otpCode } of codes) {
      // The row is there; what it keeps of the code is sealed.
      expect(unspent.includes(otpId)).toBe(true);
      expect(unspent.includes(otpCode)).toBe(false);
      const digest = hash('sha256', otpCode, 'buffer');
      expect(unspent.includes(digest) || unspent.includes(digest.toString('hex'))).toBe(false);
    }

    const answer = await otpAuth(parameters, vault.root);
    const { privateKey } = keyOf(answer, target);
    const token = await oidc.idToken({ subject: 'secret', boundTo: target.publicKey });
    const refused = await oauth({ oidcToken: token, targetPublicKey: target.publicKey }, vault.root);
    expect(refused.status).toBe(404);
    for (const part of token.split('.')) expect(refused.text).not.toContain(part);
    const all = files();
    for (const form of [privateKey, Buffer.from(privateKey, 'hex')]) expect(all.includes(form)).toBe(false);
    const texts = JSON.stringify([...written, ...faults.map(String)]);
    for (const secret of [code.otpCode, token, token.split('.')[1] ?? token, privateKey]) {
      expect(texts).not.toContain(secret);
    }
  });
});
