/** Codes that prove a contact, and what they are turned into: from the message that brings one to the session, and every way around. */
import { createPrivateKey, sign } from 'node:crypto';
import {
  decryptCredentialBundle,
  encryptOtpCodeToBundle,
  generateP256KeyPair,
  getPublicKey,
  verifyOtpVerificationToken,
  verifySessionJwtSignature,
} from '@turnkey/crypto';
import { Turnkey } from '@turnkey/sdk-server';
import { decodeJwt, exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signToken } from '../../main/crypto/signed-tokens.ts';
import { limits } from '../../main/operations/shared/limits.ts';
import { startSweeping } from '../../main/operations/sweeping.ts';
import { startVault } from '../../main/app/compose.ts';
import type { Vault } from '../../main/app/compose.ts';
import { fails as failsAt, invalid, isRefused as isRefusedAt, missing } from '../support/refusals.ts';
import { SoftwareAuthenticator } from '../support/software-authenticator.ts';
import {
  activityOf,
  newTestKey,
  resultOf,
  runCommand,
  send,
  startDevProcess,
  startTestVault,
  TestClient,
  testKeyOf,
} from '../support/support.ts';
import type { Answer, Json, TestKey, TestVault } from '../support/support.ts';

const seconds = 1000;
const minutes = 60 * seconds;

/** A vault that shows on this computer what it would send. */
async function startSendingVault(): Promise<TestVault> {
  const started = await startTestVault();
  await started.vault.messages.change({ channel: 'desktop', on: true });
  return started;
}

let service: TestVault;
let serverKeys: Readonly<Record<string, string>>;

beforeAll(async () => {
  service = await startSendingVault();
  const { body } = await send(service.url, { method: 'GET', path: '/public/v1/discovery/keys' });
  serverKeys = body as Readonly<Record<string, string>>;
});
afterAll(() => service[Symbol.asyncDispose]());

/** The newest message to a contact. */
async function sentTo(to: string, { vault }: { readonly vault: Vault } = service) {
  await vault.messages.settled();
  const message = vault.messages.shown().findLast((each) => each.to === to);
  if (message === undefined) throw new Error(`nothing was sent to ${to}`);
  return message;
}

/** A refusal changes nothing, and what is on its way before it is delivered first. */
const fails: typeof failsAt = async (of, work, refusal) => {
  await of.vault.messages.settled();
  return failsAt(of, work, refusal);
};
const isRefused: typeof isRefusedAt = async (of, work, refusal) => {
  await of.vault.messages.settled();
  return isRefusedAt(of, work, refusal);
};

let people = 0;

interface Person {
  readonly userId: string;
  readonly email: string;
  readonly phone: string;
}

async function newPerson(
  { root }: { readonly root: TestClient } = service,
  more: Json = {},
): Promise<Person> {
  const count = ++people;
  const email = `person${String(count)}@example.org`;
  const phone = `+1555123${String(count).padStart(4, '0')}`;
  const user = {
    userName: `Person ${String(count)}`,
    userEmail: email,
    userPhoneNumber: phone,
    apiKeys: [],
    authenticators: [],
    oauthProviders: [],
    userTags: [],
    ...more,
  };
  const answer = await root.submit('create_users', 'CREATE_USERS_V4', { users: [user] });
  return { userId: resultOf(answer).userIds[0] ?? '', email, phone };
}

const byMail = (contact: string, more: Json = {}): Json => ({
  otpType: 'OTP_TYPE_EMAIL',
  contact,
  appName: 'App',
  ...more,
});

const initOtp = (parameters: Json, client = service.root): Promise<Answer> =>
  client.submit('init_otp', 'INIT_OTP_V3', parameters);

const verifyOtp = (parameters: Json, client = service.root): Promise<Answer> =>
  client.submit('verify_otp', 'VERIFY_OTP', parameters);

const otpLogin = (parameters: Json, client = service.root, type = 'OTP_LOGIN_V2'): Promise<Answer> =>
  client.submit('otp_login', type, parameters);

/** Another code of the same form. */
const wrong = (code: string, change = 1): string =>
  code.slice(0, -1) + String((Number.parseInt(code.slice(-1), 36) + change) % 10);

const tokenOf = (answer: Answer): string => String(resultOf(answer)['verificationToken']);
const sessionOf = (answer: Answer): string => String(resultOf(answer)['session']);

/** A token for a contact, bound to a key where one is given. */
async function verified(
  contact: string,
  publicKey?: string,
  of: Pick<TestVault, 'vault' | 'root'> = service,
  more: Json = {},
): Promise<string> {
  const { otpId } = resultOf(await initOtp(byMail(contact), of.root)) as unknown as { otpId: string };
  const { code: otpCode } = await sentTo(contact, of);
  return tokenOf(
    await verifyOtp({ otpId, otpCode, ...(publicKey === undefined ? {} : { publicKey }), ...more }, of.root),
  );
}

/** Signs as CORE does: r and s, in hex. */
function signed({ privateKey, publicKey }: TestKey, message: unknown): Json {
  const text = typeof message === 'string' ? message : JSON.stringify(message);
  const key = createPrivateKey({
    key: Buffer.concat([
      Buffer.from('30310201010420', 'hex'),
      Buffer.from(privateKey, 'hex'),
      Buffer.from('a00a06082a8648ce3d030107', 'hex'),
    ]),
    format: 'der',
    type: 'sec1',
  });
  const signature = sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('hex');
  return { publicKey, scheme: 'CLIENT_SIGNATURE_SCHEME_API_P256', message: text, signature };
}

const loginMessage = (token: string, publicKey: string, changes: Json = {}): Json => ({
  login: { publicKey },
  tokenId: decodeJwt(token)['id'],
  type: 'USAGE_TYPE_LOGIN',
  ...changes,
});

const login = (token: string, key: TestKey, of: { readonly root: TestClient } = service): Promise<Answer> =>
  otpLogin(
    {
      verificationToken: token,
      publicKey: key.publicKey,
      clientSignature: signed(key, loginMessage(token, key.publicKey)),
    },
    of.root,
  );

async function whoIs(key: TestKey, { root } = service): Promise<unknown> {
  return (await root.as(key).query('whoami')).body?.['userId'];
}

const keysOf = async (userId: string, { root } = service): Promise<readonly Json[]> =>
  (await root.query('get_api_keys', { userId })).body?.['apiKeys'] as readonly Json[];

const tooMany = {
  ...invalid('Max number of OTPs have been initiated please wait and try again'),
  turnkeyErrorCode: 'MAX_OTP_INITIATED',
};
const wrongCode = invalid('Invalid OTP code');

describe('a contact', () => {
  test('is proven by a code, and signs in the user who has it, by the vendor’s own library', async () => {
    const { userId, email } = await newPerson();
    const client = newTestKey();
    const server = new Turnkey({
      apiBaseUrl: service.url,
      defaultOrganizationId: service.organizationId,
      apiPublicKey: service.key.publicKey,
      apiPrivateKey: service.key.privateKey,
    }).apiClient();
    const { otpId, otpEncryptionTargetBundle } = await server.initOtp({
      otpType: 'OTP_TYPE_EMAIL',
      contact: email,
      appName: 'Acme',
      expirationSeconds: '600',
    });
    const { code, subject, text } = await sentTo(email);
    expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{9}$/);
    expect(subject).toContain('Acme');
    expect(text).toContain('10 minutes');
    const encryptedOtpBundle = await encryptOtpCodeToBundle(
      code,
      otpEncryptionTargetBundle,
      client.publicKey,
      serverKeys['tlsFetcher'],
    );
    const { verificationToken } = await server.verifyOtp({ otpId, encryptedOtpBundle });
    const claims = await verifyOtpVerificationToken(verificationToken, serverKeys['tlsFetcher']);
    expect(claims).toMatchObject({
      organization_id: service.organizationId,
      verification_type: 'OTP_TYPE_EMAIL',
      contact: email,
      public_key: client.publicKey,
    });
    expect(Number(claims.exp) - service.clock.now()).toBeLessThanOrEqual(3600 * seconds);
    const { session } = await server.otpLogin({
      verificationToken,
      publicKey: client.publicKey,
      clientSignature: signed(client, loginMessage(verificationToken, client.publicKey)) as never,
    });
    expect(await verifySessionJwtSignature(session, serverKeys['notarizer'])).toBe(true);
    expect(await verifySessionJwtSignature(session, serverKeys['signer'])).toBe(false);
    expect(decodeJwt(session)).toEqual({
      exp: expect.any(Number) as number,
      public_key: client.publicKey,
      session_type: 'SESSION_TYPE_READ_WRITE',
      user_id: userId,
      organization_id: service.organizationId,
    });
    expect(await whoIs(client)).toBe(userId);
    expect(await keysOf(userId)).toMatchObject([
      {
        apiKeyName: expect.stringMatching(/^Login - \d{4}-/) as string,
        credential: { publicKey: client.publicKey, type: 'CREDENTIAL_TYPE_LOGIN' },
        expirationSeconds: '900',
      },
    ]);
    const row = service.vault.connection.get(
      'SELECT email_verified_at AS at FROM users WHERE id = ?',
      userId,
    );
    expect(row).toEqual({ at: expect.any(Number) as number });
  });

  test('is proven by the types that earlier clients send', async () => {
    const { userId, email, phone } = await newPerson();
    const { emailCustomization, ...rest } = {
      otpType: 'OTP_TYPE_EMAIL',
      contact: email,
      otpLength: 6,
      alphanumeric: false,
      emailCustomization: { appName: 'Elder' },
    };
    const first = await service.root.submit('init_otp', 'INIT_OTP', { ...rest, emailCustomization });
    expect(activityOf(first).intent).toEqual({ initOtpIntent: { ...rest, emailCustomization } });
    expect(Object.keys(activityOf(first).result)[0]).toBe('initOtpResult');
    const mail = await sentTo(email);
    expect([mail.code, mail.subject]).toEqual([
      expect.stringMatching(/^\d{6}$/),
      expect.stringContaining('Elder'),
    ]);
    const verificationToken = tokenOf(
      await verifyOtp({ otpId: resultOf(first)['otpId'], otpCode: mail.code, expirationSeconds: '60' }),
    );
    expect(decodeJwt(verificationToken)).not.toHaveProperty('public_key');
    const key = newTestKey();
    const parameters = { verificationToken, publicKey: key.publicKey, expirationSeconds: '120' };
    expect(sessionOf(await otpLogin(parameters, service.root, 'OTP_LOGIN'))).toMatch(/^ey/);
    expect(await whoIs(key)).toBe(userId);
    // By SMS, with signs between the digits.
    const written = `${phone.slice(0, 2)} (${phone.slice(2, 5)}) ${phone.slice(5, 8)}-${phone.slice(8)}`;
    const second = await service.root.submit('init_otp', 'INIT_OTP_V2', {
      otpType: 'OTP_TYPE_SMS',
      contact: written,
      appName: 'App',
      smsCustomization: { template: 'Say {{.OtpCode}}' },
    });
    expect(Object.keys(activityOf(second).result)[0]).toBe('initOtpResult');
    const sms = await sentTo(phone);
    expect([sms.channel, sms.text]).toEqual(['sms', `Say ${sms.code}`]);
    const token = tokenOf(await verifyOtp({ otpId: resultOf(second)['otpId'], otpCode: sms.code }));
    expect(decodeJwt(token)).toMatchObject({ verification_type: 'OTP_TYPE_SMS', contact: phone });
  });

  test('of no user gets a code like any other: the sign-in says which user has it', async () => {
    const contact = 'nobody@example.org';
    const answer = await initOtp(byMail(contact));
    expect(Object.keys(resultOf(answer))).toEqual(['otpId', 'otpEncryptionTargetBundle']);
    const { code: otpCode } = await sentTo(contact);
    const key = newTestKey();
    const token = tokenOf(
      await verifyOtp({ otpId: resultOf(answer)['otpId'], otpCode, publicKey: key.publicKey }),
    );
    await fails(service, () => login(token, key), missing(/^unable to find user: nobody .* email address$/));
  });

  test('that two users have signs in neither', async () => {
    const { email } = await newPerson();
    await newPerson(service, { userEmail: email.toUpperCase() });
    const key = newTestKey();
    const token = await verified(email, key.publicKey);
    await fails(
      service,
      () => login(token, key),
      invalid(/^more than one user of the organization has this/),
    );
    await fails(
      service,
      () => service.root.submit('init_otp_auth', 'INIT_OTP_AUTH_V3', byMail(email)),
      invalid(/^more than one user/),
    );
  });

  test('is one of its type, and messages are as the settings allow', async () => {
    for (const [bad, message] of [
      [
        byMail('+15551234567'),
        /^invalid parameters\.contact: expected an email address, or for OTP_TYPE_SMS/,
      ],
      [{ ...byMail('ann@example.org'), otpType: 'OTP_TYPE_SMS' }, /^invalid parameters\.contact/],
      [{ ...byMail('ann@example.org'), otpType: 'OTP_TYPE_WHATSAPP' }, /expected one of OTP_TYPE_EMAIL/],
      [byMail('ann@example.org', { otpLength: 5 }), /otpLength: expected at least 6/],
      [byMail('ann@example.org', { otpLength: 10 }), /otpLength: expected at most 9/],
      [byMail('ann@example.org', { expirationSeconds: '601' }), /from 1 to 600/],
      [byMail('ann@example.org', { expirationSeconds: '0' }), /from 1 to 600/],
    ] as const) {
      await isRefused(service, () => initOtp(bad), invalid(message));
    }
  });

  test('cannot be written to where nothing is set up, until it is', async () => {
    await using silent = await startTestVault();
    await newPerson(silent);
    const body = silent.root.submitBody('INIT_OTP_V3', byMail('ann@example.org'));
    await isRefused(silent, () => silent.root.post('submit/init_otp', body), {
      status: 400,
      code: 9,
      message: /./,
      turnkeyErrorCode: 'EMAIL_SENDING_DISABLED',
    });
    await silent.vault.messages.change({ channel: 'desktop', on: true });
    activityOf(await silent.root.post('submit/init_otp', body));
  });
});

describe('codes are limited', () => {
  test('to three in three minutes for a contact, however it is written, and for an identifier', async () => {
    await using own = await startSendingVault();
    await newPerson(own);
    const ask = (contact: string, userIdentifier?: string): Promise<Answer> =>
      initOtp(byMail(contact, userIdentifier === undefined ? {} : { userIdentifier }), own.root);
    for (let count = 0; count < 3; count++) {
      const answer = await ask(count === 1 ? 'ANN@example.org' : 'ann@example.org');
      const { code: otpCode } = await sentTo(count === 1 ? 'ANN@example.org' : 'ann@example.org', own);
      // A code that is used no longer waits, and still counts.
      tokenOf(await verifyOtp({ otpId: resultOf(answer)['otpId'], otpCode }, own.root));
    }
    await fails(own, () => ask('Ann@example.org'), tooMany);
    own.clock.advance(2 * minutes);
    await fails(own, () => ask('ann@example.org'), tooMany);
    own.clock.advance(minutes + seconds);
    activityOf(await ask('ann@example.org'));
    for (const contact of ['a@example.org', 'b@example.org', 'c@example.org']) {
      activityOf(await ask(contact, 'one network'));
    }
    await fails(own, () => ask('d@example.org', 'one network'), tooMany);
    activityOf(await ask('d@example.org', 'another'));
  });

  test('to three that wait, used up by wrong tries or not', async () => {
    await using own = await startSendingVault();
    const { email, userId } = await newPerson(own);
    const ask = (): Promise<Answer> =>
      own.root.submit('init_otp_auth', 'INIT_OTP_AUTH_V3', byMail(email, { expirationSeconds: '600' }));
    const ids: unknown[] = [];
    for (let count = 0; count < 3; count++) {
      ids.push(resultOf(await ask())['otpId']);
      own.clock.advance(2 * minutes);
    }
    const { code } = await sentTo(email, own);
    const use = (otpCode: string): Promise<Answer> =>
      own.root.submit('otp_auth', 'OTP_AUTH', {
        otpId: ids.at(-1),
        otpCode,
        targetPublicKey: generateP256KeyPair().publicKeyUncompressed,
      });
    for (const change of [1, 2, 3]) await use(wrong(code, change));
    await fails(own, ask, tooMany);
    await fails(own, () => use(code), wrongCode);
    // The first expires, and makes room.
    own.clock.advance(5 * minutes);
    activityOf(await ask());
    expect(await keysOf(userId, own)).toEqual([]);
  });

  test('for the whole organization, over a restart too', async () => {
    await using own = await startSendingVault();
    const { units } = own.vault;
    await newPerson(own);
    activityOf(await initOtp(byMail('first@example.org'), own.root));
    await units.write((tx) => {
      for (let count = 1; count < limits.messagesPerOrganization; count++) {
        tx.run(
          'INSERT INTO contact_requests (organization_id, contact, identifier, requested_at) VALUES (?, ?, NULL, ?)',
          own.organizationId,
          `c${String(count)}@example.org`,
          own.clock.now(),
        );
      }
    });
    await fails(own, () => initOtp(byMail('last@example.org'), own.root), tooMany);
    await own.vault.close();
    const again = await startVault(own.config);
    try {
      await again.rpc.unlock({ with: 'recovery', phrase: own.recoveryPhrase });
      const root = new TestClient(again.url, own.organizationId, own.key);
      const { body } = await initOtp(byMail('last@example.org'), root);
      expect(body).toMatchObject({ turnkeyErrorCode: 'MAX_OTP_INITIATED' });
    } finally {
      await again.close();
    }
  });
});

describe('a code that proves a contact', () => {
  test('dies of the third wrong try, encrypted or not', async () => {
    const { email } = await newPerson();
    const answer = await initOtp(byMail(email, { otpLength: 6, alphanumeric: false }));
    const { otpId, otpEncryptionTargetBundle } = resultOf(answer) as unknown as Record<string, string>;
    const { code } = await sentTo(email);
    const encrypted = (text: string): Promise<string> =>
      encryptOtpCodeToBundle(
        text,
        otpEncryptionTargetBundle ?? '',
        newTestKey().publicKey,
        serverKeys['tlsFetcher'],
      );
    const byBundle = async (text: string): Promise<Answer> =>
      service.root.submit('verify_otp', 'VERIFY_OTP_V2', {
        otpId,
        encryptedOtpBundle: await encrypted(text),
      });
    expect((await byBundle(wrong(code))).body?.['message']).toBe('Invalid OTP code');
    expect((await verifyOtp({ otpId, otpCode: wrong(code, 2) })).body?.['message']).toBe('Invalid OTP code');
    const guesses = Array.from({ length: 10 }, (_, index) => byBundle(wrong(code, (index % 9) + 1)));
    for (const { body } of await Promise.all(guesses)) expect(body?.['message']).toBe('Invalid OTP code');
    await fails(service, () => byBundle(code), wrongCode);
    await fails(service, () => verifyOtp({ otpId, otpCode: code }), wrongCode);
  });

  test('is good once, until it expires, in its organization', async () => {
    await using own = await startSendingVault();
    await newPerson(own);
    const ask = async (): Promise<{ readonly otpId: unknown; readonly otpCode: string }> => {
      const answer = await initOtp(byMail('ann@example.org', { expirationSeconds: '60' }), own.root);
      return { otpId: resultOf(answer)['otpId'], otpCode: (await sentTo('ann@example.org', own)).code };
    };
    const [used, late] = [await ask(), await ask()];
    tokenOf(await verifyOtp(used, own.root));
    await fails(own, () => verifyOtp(used, own.root), wrongCode);
    await fails(service, () => verifyOtp(late), wrongCode);
    own.clock.advance(minutes);
    await fails(own, () => verifyOtp(late, own.root), wrongCode);
  });

  test('does not sign in, nor does one that signs in prove a contact: in the log for all to read, it ends', async () => {
    const { email } = await newPerson();
    const targetPublicKey = generateP256KeyPair().publicKeyUncompressed;
    const otpAuth = (parameters: Json) => service.root.submit('otp_auth', 'OTP_AUTH', parameters);
    const misused = async (answer: Promise<Answer>): Promise<void> => {
      expect((await answer).body?.['message']).toBe('Invalid OTP code');
    };
    const proving = resultOf(await initOtp(byMail(email)))['otpId'];
    const { code: otpCode } = await sentTo(email);
    await misused(otpAuth({ otpId: proving, otpCode, targetPublicKey }));
    await fails(service, () => verifyOtp({ otpId: proving, otpCode }), wrongCode);
    const signing = await service.root.submit('init_otp_auth', 'INIT_OTP_AUTH_V3', byMail(email));
    const otpId = resultOf(signing)['otpId'];
    const other = (await sentTo(email)).code;
    await misused(verifyOtp({ otpId, otpCode: other }));
    await fails(service, () => otpAuth({ otpId, otpCode: other, targetPublicKey }), wrongCode);
  });

  test('is encrypted to the key that came with it', async () => {
    const { email } = await newPerson();
    const [one, two] = [resultOf(await initOtp(byMail(email))), resultOf(await initOtp(byMail(email)))];
    const { code } = await sentTo(email);
    const toTheOther = await encryptOtpCodeToBundle(
      code,
      String(one['otpEncryptionTargetBundle']),
      newTestKey().publicKey,
      serverKeys['tlsFetcher'],
    );
    const verify = (encryptedOtpBundle: string): Promise<Answer> =>
      service.root.submit('verify_otp', 'VERIFY_OTP_V2', { otpId: two['otpId'], encryptedOtpBundle });
    await fails(service, () => verify(toTheOther), invalid(/encryptedOtpBundle: it does not open/));
    const keyless = await encryptOtpCodeToBundle(
      code,
      String(two['otpEncryptionTargetBundle']),
      'no key',
      serverKeys['tlsFetcher'],
    );
    await fails(service, () => verify(keyless), invalid(/encryptedOtpBundle: expected it to hold JSON/));
  });
});

describe('a verification token is refused', () => {
  const refused = (problem: RegExp) =>
    invalid(new RegExp(`^invalid verification token in parameters\\.verificationToken: ${problem.source}`));
  const none = refused(/it is none that this vault issued$/);

  test('that the vault did not sign', async () => {
    const { email } = await newPerson();
    const key = newTestKey();
    const token = await verified(email, key.publicKey);
    const claims = decodeJwt(token);
    const [header = '', , signature = ''] = token.split('.');
    const changed = Buffer.from(JSON.stringify({ ...claims, contact: 'root@example.org' })).toString(
      'base64url',
    );
    const { privateKey } = await generateKeyPair('ES256', { extractable: true });
    const { d = '' } = await exportJWK(privateKey);
    const forgeries = [
      `${header}.${changed}.${signature}`,
      new UnsecuredJWT(claims).encode(),
      await new SignJWT(claims).setProtectedHeader({ alg: 'ES256', typ: 'JWT' }).sign(privateKey),
      await new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256' })
        .sign(Buffer.from(serverKeys['tlsFetcher'] ?? '', 'hex')),
      signToken(new Uint8Array(Buffer.from(d, 'base64url')), claims),
      token.slice(0, -4),
      'such.text.none',
      // A session is signed by another key, over another digest.
      sessionOf(
        await service.root.submit('stamp_login', 'STAMP_LOGIN', { publicKey: newTestKey().publicKey }),
      ),
    ];
    for (const verificationToken of forgeries) {
      const answer = await fails(
        service,
        () =>
          otpLogin({
            verificationToken,
            publicKey: key.publicKey,
            clientSignature: signed(key, loginMessage(token, key.publicKey)),
          }),
        none,
      );
      expect(answer.text).not.toContain(verificationToken);
    }
    activityOf(await login(token, key));
  });

  test('once it has expired, or signed in before, bound to a key or not', async () => {
    await using own = await startSendingVault();
    const { email } = await newPerson(own);
    const key = newTestKey();
    const [late, bound, loose] = [
      await verified(email, key.publicKey, own, { expirationSeconds: '60' }),
      await verified(email, key.publicKey, own),
      await verified(email, undefined, own),
    ];
    activityOf(await login(bound, key, own));
    await fails(own, () => login(bound, key, own), refused(/it has signed somebody in before/));
    const bare = (verificationToken: string): Promise<Answer> =>
      otpLogin({ verificationToken, publicKey: newTestKey().publicKey }, own.root, 'OTP_LOGIN');
    activityOf(await bare(loose));
    await fails(own, () => bare(loose), refused(/it has signed somebody in before/));
    own.clock.advance(minutes);
    await fails(own, () => login(late, key, own), refused(/it has expired$/));
  });

  test('in another organization, but a parent’s in those below it', async () => {
    const { email } = await newPerson();
    const rootUser = {
      userName: 'Ann',
      userEmail: email,
      apiKeys: [],
      authenticators: [],
      oauthProviders: [],
    };
    const create = async (more: Json = {}): Promise<TestClient> => {
      const answer = await service.root.submit('create_sub_organization', 'CREATE_SUB_ORGANIZATION_V8', {
        subOrganizationName: `Sub ${String(++people)}`,
        rootQuorumThreshold: 1,
        rootUsers: [rootUser],
        ...more,
      });
      const id = String(resultOf(answer)['subOrganizationId']);
      return new TestClient(service.url, id, service.key);
    };
    const [one, other] = [await create(), await create()];
    const keys = [newTestKey(), newTestKey(), newTestKey()] as const;
    const [first, second, third] = keys;
    const parents = await verified(email, first.publicKey);
    activityOf(await login(parents, first, { root: one }));
    expect((await one.as(first).query('whoami')).body).toMatchObject({ organizationId: one.organizationId });
    // The same token signs in once in each.
    activityOf(await login(parents, first, { root: other }));
    expect((await login(parents, first, { root: other })).body?.['message']).toMatch(
      /signed somebody in before/,
    );
    const childs = await verified(email, second.publicKey, { ...service, root: one });
    const elsewhere = { status: 400, code: 3, message: /it was issued in another organization$/ };
    await fails(service, () => login(childs, second), elsewhere);
    expect((await login(childs, second, { root: other })).body?.['message']).toMatch(elsewhere.message);
    activityOf(await login(childs, second, { root: one }));
    // If this way to sign in is off, no code is sent, and no token signs in.
    const closed = await create({
      disableOtpEmailAuth: true,
      disableEmailAuth: true,
      disableEmailRecovery: true,
      rootUsers: [
        {
          ...rootUser,
          apiKeys: [{ apiKeyName: 'K', publicKey: third.publicKey, curveType: 'API_KEY_CURVE_P256' }],
        },
      ],
    });
    const targetPublicKey = generateP256KeyPair().publicKeyUncompressed;
    const emailCustomization = { appName: 'App' };
    for (const [path, type, parameters] of [
      ['init_otp', 'INIT_OTP_V3', byMail(email)],
      ['init_otp_auth', 'INIT_OTP_AUTH_V3', byMail(email)],
      ['email_auth', 'EMAIL_AUTH_V3', { email, targetPublicKey, emailCustomization }],
      [
        'init_user_email_recovery',
        'INIT_USER_EMAIL_RECOVERY_V2',
        { email, targetPublicKey, emailCustomization },
      ],
    ] as const) {
      const { status, body } = await closed.submit(path, type, parameters);
      expect([status, body?.['message']], path).toEqual([
        403,
        expect.stringMatching(/FEATURE_NAME_\w+ is not set/),
      ]);
    }
    expect((await login(parents, first, { root: closed })).status).toBe(403);
    const byPhone = { otpType: 'OTP_TYPE_SMS', contact: '+15550009999', appName: 'App' };
    expect((await closed.submit('init_otp', 'INIT_OTP_V3', byPhone)).status).toBe(200);
  });

  test('without a signature by the key that it is bound to, for this login and no other', async () => {
    const { email } = await newPerson();
    const [key, thief] = [newTestKey(), newTestKey()];
    const token = await verified(email, key.publicKey);
    const parameters = (clientSignature?: Json, publicKey = key.publicKey): Json => ({
      verificationToken: token,
      publicKey,
      ...(clientSignature && { clientSignature }),
    });
    const good = loginMessage(token, key.publicKey);
    const other = await verified(email, key.publicKey);
    const cases: readonly [Json, RegExp][] = [
      [parameters(signed(thief, good)), /clientSignature\.publicKey: expected the key that the verification/],
      [
        parameters({ ...signed(thief, good), publicKey: key.publicKey }),
        /clientSignature\.signature: it does not sign/,
      ],
      [parameters({ ...signed(key, good), message: JSON.stringify({ ...good }) + ' ' }), /it does not sign/],
      [parameters(signed(key, loginMessage(other, key.publicKey))), /this token's id as "tokenId"/],
      [
        parameters(signed(key, loginMessage(token, key.publicKey, { type: 'USAGE_TYPE_SIGNUP' }))),
        /"type" USAGE_TYPE_LOGIN/,
      ],
      [parameters(signed(key, 'no JSON')), /expected JSON/],
      [parameters(signed(key, good), thief.publicKey), /expected "login" with parameters\.publicKey/],
      [
        parameters(signed(key, loginMessage(token, thief.publicKey))),
        /expected "login" with parameters\.publicKey/,
      ],
    ];
    for (const [bad, message] of cases) await fails(service, () => otpLogin(bad), invalid(message));
    await fails(
      service,
      () => otpLogin(parameters(), service.root, 'OTP_LOGIN'),
      invalid(/clientSignature: the verification token is bound to a key/),
    );
    await isRefused(
      service,
      () => otpLogin(parameters()),
      invalid(/missing field parameters\.clientSignature/),
    );
    activityOf(await otpLogin(parameters(signed(key, good))));
  });
});

/** A client's key for encrypting its credential. */
function newTarget() {
  const { publicKeyUncompressed, privateKey } = generateP256KeyPair();
  const open = (bundle: string): TestKey => {
    const opened = decryptCredentialBundle(bundle, privateKey);
    return testKeyOf(opened, Buffer.from(getPublicKey(opened, true)).toString('hex'));
  };
  return { publicKey: publicKeyUncompressed, open };
}

describe('email_auth', () => {
  test('mails a key that only the device that asked can open', async () => {
    const { userId, email } = await newPerson();
    const [target, thief] = [newTarget(), newTarget()];
    const answer = await service.root.submit('email_auth', 'EMAIL_AUTH_V3', {
      email: email.toUpperCase(),
      targetPublicKey: target.publicKey,
      emailCustomization: { appName: 'App', magicLinkTemplate: 'https://app.example/#%s' },
    });
    expect(resultOf(answer)).toEqual({ userId, apiKeyId: expect.any(String) as string });
    const { code, text } = await sentTo(email.toUpperCase());
    expect(text).toContain(`https://app.example/#${code}`);
    expect(await whoIs(target.open(code))).toBe(userId);
    expect(() => thief.open(code)).toThrow();
    expect(await keysOf(userId)).toMatchObject([
      {
        apiKeyName: expect.stringMatching(/^Email Auth - /) as string,
        credential: { type: 'CREDENTIAL_TYPE_EMAIL_AUTH_KEY_P256' },
      },
    ]);
  });

  test('is limited as codes are, and knows only users', async () => {
    const { email } = await newPerson();
    const ask = (to: string, type = 'EMAIL_AUTH_V2'): Promise<Answer> =>
      service.root.submit('email_auth', type, { email: to, targetPublicKey: newTarget().publicKey });
    await fails(service, () => ask('nobody@example.org'), missing(/^unable to find user/));
    for (const type of ['EMAIL_AUTH', 'EMAIL_AUTH_V2', 'EMAIL_AUTH_V2']) activityOf(await ask(email, type));
    await fails(service, () => ask(email), { status: 429, code: 8, message: /^Too many requests/ });
    await fails(service, () => initOtp(byMail(email)), tooMany);
  });
});

test('a way in that a sub-organization switches off ends what was sent before', async () => {
  const key = newTestKey();
  const rootUser = {
    userName: 'Owner',
    userEmail: 'owner@example.org',
    userPhoneNumber: '+15557654321',
    apiKeys: [{ apiKeyName: 'K', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }],
    authenticators: [],
    oauthProviders: [],
  };
  const made = resultOf(
    await service.root.submit('create_sub_organization', 'CREATE_SUB_ORGANIZATION_V8', {
      subOrganizationName: 'Switching',
      rootUsers: [rootUser],
      rootQuorumThreshold: 1,
    }),
  ) as unknown as { readonly subOrganizationId: string; readonly rootUserIds: readonly string[] };
  const sub = new TestClient(service.url, made.subOrganizationId, key);
  const [userId] = made.rootUserIds;
  const switchOff = async (name: string): Promise<void> => {
    const parameters = { name: `FEATURE_NAME_${name}` };
    resultOf(await sub.submit('remove_organization_feature', 'REMOVE_ORGANIZATION_FEATURE', parameters));
  };
  const off = [403, expect.stringMatching(/^request not authorized: FEATURE_NAME_.* is not set/)];
  const codes = [
    ['OTP_EMAIL_AUTH', byMail(rootUser.userEmail), rootUser.userEmail],
    [
      'SMS_AUTH',
      { otpType: 'OTP_TYPE_SMS', contact: rootUser.userPhoneNumber, appName: 'App' },
      rootUser.userPhoneNumber,
    ],
  ] as const;
  for (const [name, parameters, to] of codes) {
    const { otpId } = resultOf(
      await sub.submit('init_otp_auth', 'INIT_OTP_AUTH_V3', parameters),
    ) as unknown as { readonly otpId: string };
    const otpCode = (await sentTo(to)).code;
    await switchOff(name);
    const target = newTarget();
    const answer = await sub.submit('otp_auth', 'OTP_AUTH', {
      otpId,
      otpCode,
      targetPublicKey: target.publicKey,
    });
    expect([answer.status, answer.body?.['message']]).toEqual(off);
  }
  const target = newTarget();
  resultOf(
    await sub.submit('init_user_email_recovery', 'INIT_USER_EMAIL_RECOVERY', {
      email: rootUser.userEmail,
      targetPublicKey: target.publicKey,
    }),
  );
  const recovering = sub.as(target.open((await sentTo(rootUser.userEmail)).code));
  await switchOff('EMAIL_RECOVERY');
  const authenticator = new SoftwareAuthenticator().params('New');
  const answer = await recovering.submit('recover_user', 'RECOVER_USER', { userId, authenticator });
  expect([answer.status, answer.body?.['message']]).toEqual(off);
});

describe('recovery', () => {
  test('mails a key that registers one passkey, and does nothing else', async () => {
    const { userId, email } = await newPerson();
    const other = await newPerson();
    const target = newTarget();
    const answer = await service.root.submit('init_user_email_recovery', 'INIT_USER_EMAIL_RECOVERY', {
      email,
      targetPublicKey: target.publicKey,
    });
    expect(resultOf(answer)).toEqual({ userId });
    const client = service.root.as(target.open((await sentTo(email)).code));
    expect((await client.query('whoami')).body?.['userId']).toBe(userId);
    const only = { status: 403, code: 7, message: /^request not authorized: a recovery key reads/ };
    const { publicKey } = newTestKey();
    for (const [path, type, parameters] of [
      ['stamp_login', 'STAMP_LOGIN', { publicKey }],
      ['create_read_only_session', 'CREATE_READ_ONLY_SESSION', {}],
      [
        'create_api_keys',
        'CREATE_API_KEYS_V2',
        { userId, apiKeys: [{ apiKeyName: 'K', publicKey, curveType: 'API_KEY_CURVE_P256' }] },
      ],
    ] as const) {
      await isRefused(service, () => client.submit(path, type, parameters), only);
    }
    const passkey = new SoftwareAuthenticator();
    const recover = (who: string): Promise<Answer> =>
      client.submit('recover_user', 'RECOVER_USER', { userId: who, authenticator: passkey.params('New') });
    // The refusal is noted.
    expect((await recover(other.userId)).status).toBe(403);
    const { authenticatorId } = resultOf(await recover(userId)) as unknown as { authenticatorId: string[] };
    const { body } = await service.root.query('get_authenticators', { userId });
    expect(body?.['authenticators']).toMatchObject([
      { authenticatorId: authenticatorId[0], authenticatorName: 'New' },
    ]);
    // Its work is done.
    expect(await keysOf(userId)).toEqual([]);
    expect((await recover(userId)).status).toBe(401);
  });

  test('of a member of the root quorum is that user’s alone', async () => {
    await using sending = await startSendingVault();
    const { root, rootUserId } = sending;
    const other = await sending.newUser('Other');
    const email = 'root@example.org';
    resultOf(
      await root.submit('update_user_email', 'UPDATE_USER_EMAIL', { userId: rootUserId, userEmail: email }),
    );
    const target = newTarget();
    const parameters = { email, targetPublicKey: target.publicKey };
    activityOf(await root.submit('init_user_email_recovery', 'INIT_USER_EMAIL_RECOVERY', parameters));
    const client = root.as(target.open((await sentTo(email, sending)).code));
    const recover = (userId: string): Promise<Answer> =>
      client.submit('recover_user', 'RECOVER_USER', {
        userId,
        authenticator: new SoftwareAuthenticator().params('New'),
      });
    const refused = await recover(other.userId);
    expect(refused.status, refused.text).toBe(403);
    expect(refused.body?.['message']).toContain(`parameters.userId must be the caller's own (${rootUserId})`);
    activityOf(await recover(rootUserId));
  });

  test('by mail ends where the user gets another address', async () => {
    for (const userEmail of ['moved@example.org', '']) {
      const { userId, email } = await newPerson();
      const target = newTarget();
      const parameters = { email, targetPublicKey: target.publicKey };
      activityOf(
        await service.root.submit('init_user_email_recovery', 'INIT_USER_EMAIL_RECOVERY', parameters),
      );
      const client = service.root.as(target.open((await sentTo(email)).code));
      // The same address in other letters is the user's still.
      for (const [next, keys] of [
        [email.toUpperCase(), 1],
        [userEmail, 0],
      ] as const) {
        resultOf(
          await service.root.submit('update_user_email', 'UPDATE_USER_EMAIL', { userId, userEmail: next }),
        );
        expect(await keysOf(userId)).toHaveLength(keys);
      }
      const authenticator = new SoftwareAuthenticator().params('New');
      expect((await client.submit('recover_user', 'RECOVER_USER', { userId, authenticator })).status).toBe(
        401,
      );
    }
  });

  test('by a second mail ends the first', async () => {
    const { userId, email } = await newPerson();
    const targets = [newTarget(), newTarget()] as const;
    for (const { publicKey: targetPublicKey } of targets) {
      const parameters = { email, targetPublicKey, emailCustomization: { appName: 'App' } };
      activityOf(
        await service.root.submit('init_user_email_recovery', 'INIT_USER_EMAIL_RECOVERY_V2', parameters),
      );
    }
    expect(await keysOf(userId)).toHaveLength(1);
  });
});

describe('sessions', () => {
  const header = (session: string) => ({ 'x-stamp': undefined, 'x-session': session }) as never;
  const query = (session: string, of = service): Promise<Answer> =>
    send(of.url, {
      path: '/public/v1/query/whoami',
      headers: { 'content-type': 'application/json', 'x-session': session },
      body: JSON.stringify({ organizationId: of.organizationId }),
    });
  const readOnly = async (client: TestClient): Promise<Readonly<Record<string, string>>> =>
    resultOf(await client.submit('create_read_only_session', 'CREATE_READ_ONLY_SESSION', {})) as never;
  const list = async (userId: string): Promise<readonly Json[]> =>
    (await service.root.query('list_sessions', { userId })).body?.['sessions'] as readonly Json[];

  test('stamp_login registers the client’s own key, renews it, and leaves other users’ alone', async () => {
    const { userId, client } = await service.newUser('Stamper');
    const key = newTestKey();
    const once = (publicKey: string, more: Json = {}): Promise<Answer> =>
      client.submit('stamp_login', 'STAMP_LOGIN', { publicKey, ...more });
    const session = sessionOf(await once(key.publicKey));
    expect(decodeJwt(session)).toMatchObject({ user_id: userId, public_key: key.publicKey });
    activityOf(await once(key.publicKey, { expirationSeconds: '1800' }));
    expect(await list(userId)).toHaveLength(1);
    await fails(service, () => once(service.key.publicKey), {
      status: 409,
      code: 6,
      message: /^invalid parameters\.publicKey: this credential is registered/,
    });
    await fails(service, () => once(client.key.publicKey), { status: 409, code: 6, message: /registered/ });
    activityOf(await once(newTestKey().publicKey, { invalidateExisting: true }));
    expect(await whoIs(key)).toBeUndefined();
    await isRefused(
      service,
      () => once(newTestKey().publicKey, { sessionProfileId: 'none' }),
      invalid(/sessionProfileId/),
    );
  });

  test('create_read_write_session hands out a key for oneself, and by the owner for others', async () => {
    const { userId, client } = await service.newUser('Reader and writer');
    const { email, userId: another } = await newPerson();
    const target = newTarget();
    const create = (
      who: TestClient,
      parameters: Json,
      type = 'CREATE_READ_WRITE_SESSION_V2',
    ): Promise<Answer> =>
      who.submit('create_read_write_session', type, { targetPublicKey: target.publicKey, ...parameters });
    const own = resultOf(await create(client, {}));
    expect(own).toMatchObject({
      organizationId: service.organizationId,
      organizationName: 'Tests',
      userId,
      username: 'Reader and writer',
    });
    expect(await whoIs(target.open(String(own['credentialBundle'])))).toBe(userId);
    expect((await create(client, { userId: another })).status).toBe(403);
    expect((await create(client, { email }, 'CREATE_READ_WRITE_SESSION')).status).toBe(403);
    const first = await create(service.root, { email }, 'CREATE_READ_WRITE_SESSION');
    expect(Object.keys(activityOf(first).result)[0]).toBe('createReadWriteSessionResult');
    expect(resultOf(first)['userId']).toBe(another);
  });

  test('a read-only one asks queries, and nothing else, for an hour', async () => {
    await using own = await startTestVault();
    const { client, userId } = await own.newUser('Reader');
    const hourFromNow = (): number => Math.floor((own.clock.now() + 60 * minutes) / 1000);
    const earliest = hourFromNow();
    const { session = '', sessionExpiry } = await readOnly(client);
    // The vault's hour begins at some time between the question and the answer, which may be in another second than both.
    expect(Number(sessionExpiry)).toBeGreaterThanOrEqual(earliest);
    expect(Number(sessionExpiry)).toBeLessThanOrEqual(hourFromNow());
    expect((await query(session, own)).body).toMatchObject({ userId, username: 'Reader' });
    const body = own.root.submitBody('CREATE_USER_TAG', { userTagName: 'No', userIds: [] });
    const submitted = await send(own.url, {
      path: '/public/v1/submit/create_user_tag',
      headers: { 'content-type': 'application/json', 'x-session': session },
      body,
    });
    expect([submitted.status, submitted.body?.['turnkeyErrorCode']]).toEqual([401, 'SIGNATURE_MISSING']);
    // Beside a stamp it says nothing.
    expect(
      (
        await own.root.post(
          'query/whoami',
          JSON.stringify({ organizationId: own.organizationId }),
          header(''),
        )
      ).status,
    ).toBe(401);
    // Nor does the token of another kind of session, a changed one, or one of another vault.
    const login = sessionOf(
      await client.submit('stamp_login', 'STAMP_LOGIN', { publicKey: newTestKey().publicKey }),
    );
    const { session: foreign = '' } = await readOnly(service.root);
    const [head, claims = '', signature] = session.split('.');
    const changed = Buffer.from(
      JSON.stringify({ ...decodeJwt(session), user_id: own.rootUserId, exp: 9_999_999_999 }),
    ).toString('base64url');
    for (const bad of [
      login,
      foreign,
      `${String(head)}.${changed}.${String(signature)}`,
      claims,
      '',
      'x.y.z',
    ]) {
      expect((await query(bad, own)).status, bad).toBe(401);
    }
    own.clock.advance(60 * minutes);
    expect((await query(session, own)).body?.['message']).toMatch(/it has expired$/);
  });

  test('are listed, and ended by their user or the owner alone', async () => {
    const { userId, client } = await service.newUser('Many');
    const stranger = await service.newUser('Stranger to many');
    const key = newTestKey();
    activityOf(await client.submit('stamp_login', 'STAMP_LOGIN', { publicKey: key.publicKey }));
    const { session = '' } = await readOnly(client);
    const sessions = await list(userId);
    expect(sessions).toMatchObject([
      {
        userId,
        sessionType: 'SESSION_TYPE_READ_WRITE',
        sessionName: expect.stringMatching(/^Login - /) as string,
        credential: { publicKey: key.publicKey, type: 'CREDENTIAL_TYPE_LOGIN' },
      },
      { userId, sessionType: 'SESSION_TYPE_READ_ONLY' },
    ]);
    const ids = sessions.map(({ sessionId }) => sessionId);
    const end = (who: TestClient, sessionIds: readonly unknown[]): Promise<Answer> =>
      who.submit('delete_sessions', 'DELETE_SESSIONS', { userId, sessionIds });
    expect((await end(stranger.client, ids)).status).toBe(403);
    // An API key is none.
    const [apiKey] = await keysOf(userId);
    await fails(service, () => end(client, [apiKey?.['apiKeyId']]), missing(/^unable to find session/));
    expect(resultOf(await end(client, ids))).toEqual({ sessionIds: ids });
    expect(await list(userId)).toEqual([]);
    expect([(await query(session)).status, await whoIs(key)]).toEqual([401, undefined]);
    // Ten at most may read: the oldest goes.
    const first = (await readOnly(client))['session'] ?? '';
    for (let count = 0; count < limits.readOnlySessionsPerUser; count++) await readOnly(client);
    expect(await list(userId)).toHaveLength(limits.readOnlySessionsPerUser);
    expect((await query(first)).status).toBe(401);
    const rest = (await list(userId)).map(({ sessionId }) => sessionId);
    expect(resultOf(await end(service.root, rest))).toEqual({ sessionIds: rest });
  });

  test('are listed and ended by command', async () => {
    const { userId, client } = await service.newUser('Commanded');
    const key = newTestKey();
    activityOf(await client.submit('stamp_login', 'STAMP_LOGIN', { publicKey: key.publicKey }));
    await readOnly(client);
    const run = (...argv: readonly string[]) =>
      runCommand(['sessions', ...argv, '--data-dir', service.directory]);
    const listed = await run('list', '--user', 'Commanded', '--json');
    const { sessions } = JSON.parse(listed.stdout) as { sessions: readonly { sessionId: string }[] };
    expect(sessions).toEqual(await list(userId));
    expect((await run('list')).stdout).toContain(userId);
    const [first] = sessions.map(({ sessionId }) => sessionId);
    expect(await run('revoke', (first ?? '').slice(0, 13), '--json')).toMatchObject({
      code: 0,
      stdout: `${JSON.stringify({ ended: [first] })}\n`,
    });
    expect(await whoIs(key)).toBeUndefined();
    expect(await run('revoke', first ?? '')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no session has the id') as string,
    });
    expect(await run('revoke')).toMatchObject({ code: 2 });
    expect(await run('revoke', '--user', userId.slice(0, 13))).toMatchObject({
      code: 0,
      stdout: 'Revoked 1 session.\n',
    });
    expect(await list(userId)).toEqual([]);
  });

  test('are not called ended where that waits for another person', async () => {
    await using own = await startTestVault();
    const { userId, client } = await own.newUser('Second');
    await readOnly(client);
    const quorum = { threshold: 2, userIds: [own.rootUserId, userId] };
    resultOf(await own.root.submit('update_root_quorum', 'UPDATE_ROOT_QUORUM', quorum));
    const argv = ['sessions', 'revoke', '--user', userId, '--json', '--data-dir', own.directory];
    expect(await runCommand(argv)).toMatchObject({ code: 6, stdout: '' });
    const { body } = await own.root.query('list_sessions', { userId });
    expect(body?.['sessions']).toHaveLength(1);
  });

  test('and all else that has expired is swept away, without an activity', async () => {
    await using own = await startSendingVault();
    const { email, userId } = await newPerson(own);
    const key = newTestKey();
    activityOf(await login(await verified(email, key.publicKey, own), key, own));
    await initOtp(byMail(email), own.root);
    await readOnly(own.root);
    const count = (): unknown =>
      own.vault.connection.get(
        `SELECT (SELECT count(*) FROM sent_codes) AS codes, (SELECT count(*) FROM contact_requests) AS requests,
           (SELECT count(*) FROM spent_tokens) AS tokens, (SELECT count(*) FROM read_only_sessions) AS sessions,
           (SELECT count(*) FROM api_keys WHERE credential_type = 'CREDENTIAL_TYPE_LOGIN') AS keys`,
      );
    expect(count()).toEqual({ codes: 1, requests: 2, tokens: 1, sessions: 1, keys: 1 });
    const log = own.vault.connection.get('SELECT max(sequence) AS last FROM activities');
    own.clock.advance(70 * minutes);
    const stop = startSweeping(
      {
        units: own.vault.units,
        keys: own.vault.keyring,
        clock: own.clock,
        onFault: (fault) => own.faults.push(fault),
      },
      5,
    );
    // An expired key stays for a while, so that its client learns that it expired.
    await expect.poll(count).toEqual({ codes: 0, requests: 0, tokens: 0, sessions: 0, keys: 1 });
    expect((await own.root.as(key).query('whoami')).body).toMatchObject({
      turnkeyErrorCode: 'API_KEY_EXPIRED',
    });
    own.clock.advance(10 * minutes);
    await expect.poll(count).toMatchObject({ keys: 0 });
    stop();
    expect((await own.root.as(key).query('whoami')).body).toMatchObject({
      turnkeyErrorCode: 'PUBLIC_KEY_NOT_FOUND',
    });
    expect(own.vault.connection.get('SELECT max(sequence) AS last FROM activities')).toEqual(log);
    expect(own.vault.guard.verifyNow()).toEqual([]);
    expect(await keysOf(userId, own)).toEqual([]);
  });
});

describe('`keyhearth dev`', () => {
  test('honours the contacts and the code that the real API has for tests', async () => {
    await using dev = await startDevProcess();
    const inbox = async (): Promise<readonly Json[]> =>
      JSON.parse((await send(dev.line.url, { method: 'GET', path: '/dev/inbox' })).text) as readonly Json[];
    const sandbox = { appName: 'App', otpLength: 6, alphanumeric: false };
    for (const [otpType, contact] of [
      ['OTP_TYPE_EMAIL', 'user@example.com'],
      ['OTP_TYPE_SMS', '+1 999-999-9999'],
    ] as const) {
      // More often than others are written to.
      for (let count = 0; count < 5; count++) {
        const answer = await initOtp({ otpType, contact, ...sandbox }, dev.root);
        const otpId = resultOf(answer)['otpId'];
        tokenOf(await verifyOtp({ otpId, otpCode: '000000' }, dev.root));
      }
    }
    expect(await inbox()).toEqual([]);
    const answer = await initOtp(byMail('user@example.com'), dev.root);
    const [message] = await inbox();
    expect(message).toMatchObject({ channel: 'email', to: 'user@example.com' });
    const otpId = resultOf(answer)['otpId'];
    expect((await verifyOtp({ otpId, otpCode: '000000' }, dev.root)).status).toBe(400);
    tokenOf(await verifyOtp({ otpId, otpCode: message?.['code'] }, dev.root));
  });

  test('is the only place where they are', async () => {
    const contact = 'user@example.com';
    const answer = await initOtp({ ...byMail(contact), otpLength: 6, alphanumeric: false });
    const { code } = await sentTo(contact);
    // One in a million codes is this one.
    if (code === '000000') return;
    const { body } = await verifyOtp({ otpId: resultOf(answer)['otpId'], otpCode: '000000' });
    expect(body?.['message']).toBe('Invalid OTP code');
  });
});
