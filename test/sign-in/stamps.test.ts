/** Stamps of every scheme, made by other people's libraries, and what a stamp does not let through. */
import { createHash } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { p256 } from '@noble/curves/nist.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { ApiKeyStamper } from '@turnkey/api-key-stamper';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { checkActivityChain } from '../../main/storage/tables/activities.ts';
import { activityOf, newTestKey, resultOf, send, stampText, startTestVault } from '../support/support.ts';
import type { Answer, Json, TestVault } from '../support/support.ts';

const minute = 60_000;

let service: TestVault;
let userId: string;

beforeAll(async () => {
  service = await startTestVault();
  ({ userId } = await service.newUser('Signer'));
});
afterAll(() => service[Symbol.asyncDispose]());

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

interface Stamp {
  readonly publicKey: string;
  readonly scheme: string;
  readonly signature: string;
}

/** A key pair of one scheme. */
interface Signer {
  readonly publicKey: string;
  sign(body: string): Stamp;
}

const whoamiBody = (): string => JSON.stringify({ organizationId: service.organizationId });

function post(body: string, header: string, path = 'query/whoami'): Promise<Answer> {
  return send(service.url, {
    path: `/public/v1/${path}`,
    headers: { 'content-type': 'application/json', 'x-stamp': header },
    body,
  });
}

const postWith = (signer: Signer, body = whoamiBody(), path?: string): Promise<Answer> =>
  post(body, stampText(signer.sign(body)), path);

async function register(publicKey: string, curveType: string, expirationSeconds?: string): Promise<void> {
  // A user may have ten keys, and there are more of them here.
  const owner = await service.newUser(`Owner of ${publicKey.slice(0, 16)}`);
  const key = {
    apiKeyName: curveType,
    publicKey,
    curveType,
    ...(expirationSeconds && { expirationSeconds }),
  };
  const answer = await service.root.submit('create_api_keys', 'CREATE_API_KEYS_V2', {
    userId: owner.userId,
    apiKeys: [key],
  });
  expect(resultOf(answer).apiKeyIds).toHaveLength(1);
}

function refused(answer: Answer, message: string | RegExp, turnkeyErrorCode: string, status = 401): void {
  expect(answer.status, answer.text).toBe(status);
  expect(answer.body?.['turnkeyErrorCode']).toBe(turnkeyErrorCode);
  if (status === 401) expect(answer.body?.['code']).toBe(16);
  if (typeof message === 'string') expect(answer.body?.['message']).toBe(message);
  else expect(answer.body?.['message']).toMatch(message);
}

const schemes = {
  SIGNATURE_SCHEME_TK_API_P256: {
    curveType: 'API_KEY_CURVE_P256',
    signer: ecdsaSigner('SIGNATURE_SCHEME_TK_API_P256', p256),
  },
  SIGNATURE_SCHEME_TK_API_SECP256K1: {
    curveType: 'API_KEY_CURVE_SECP256K1',
    signer: ecdsaSigner('SIGNATURE_SCHEME_TK_API_SECP256K1', secp256k1),
  },
  SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191: {
    curveType: 'API_KEY_CURVE_SECP256K1',
    signer: (): Signer => {
      const secret = secp256k1.utils.randomSecretKey();
      const publicKey = hex(secp256k1.getPublicKey(secret, true));
      return {
        publicKey,
        sign(body) {
          const prefix = `\x19Ethereum Signed Message:\n${String(utf8(body).length)}`;
          const digest = keccak_256(utf8(prefix + body));
          const signature = secp256k1.sign(digest, secret, { prehash: false, format: 'der' });
          return { publicKey, scheme: 'SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191', signature: hex(signature) };
        },
      };
    },
  },
  SIGNATURE_SCHEME_TK_API_ED25519: {
    curveType: 'API_KEY_CURVE_ED25519',
    signer: (): Signer => {
      const secret = ed25519.utils.randomSecretKey();
      const publicKey = hex(ed25519.getPublicKey(secret));
      return {
        publicKey,
        sign: (body) => ({
          publicKey,
          scheme: 'SIGNATURE_SCHEME_TK_API_ED25519',
          signature: hex(ed25519.sign(utf8(body), secret)),
        }),
      };
    },
  },
} as const;

type SchemeName = keyof typeof schemes;
const schemeNames = Object.keys(schemes) as SchemeName[];

function ecdsaSigner(scheme: string, curve: typeof p256) {
  return (): Signer => {
    const secret = curve.utils.randomSecretKey();
    const publicKey = hex(curve.getPublicKey(secret, true));
    return {
      publicKey,
      sign: (body) => ({
        publicKey,
        scheme,
        signature: hex(curve.sign(utf8(body), secret, { format: 'der' })),
      }),
    };
  };
}

describe.each(schemeNames)('%s', (scheme) => {
  const { curveType } = schemes[scheme];
  const signer = schemes[scheme].signer();

  beforeAll(() => register(signer.publicKey, curveType));

  test('is who the key belongs to, twenty times over, in text that is not ASCII too', async () => {
    for (let round = 0; round < 20; round++) {
      const body = JSON.stringify({ organizationId: service.organizationId, note: 'ü€🔑'.repeat(round) });
      const answer = await postWith(signer, body);
      expect(answer.status, answer.text).toBe(200);
      expect(answer.body?.['username']).toBe(`Owner of ${signer.publicKey.slice(0, 16)}`);
    }
  });

  test('is taken in capitals', async () => {
    const body = whoamiBody();
    const { publicKey, signature } = signer.sign(body);
    const stamp = { scheme, publicKey: publicKey.toUpperCase(), signature: signature.toUpperCase() };
    expect((await post(body, stampText(stamp))).status).toBe(200);
  });

  test('is refused for another key, and for other bytes', async () => {
    const wrong =
      'could not verify api key signature: the stamp does not sign these bytes; sign the body exactly as it is sent';
    const body = whoamiBody();
    const stamp = signer.sign(body);
    const other = schemes[scheme].signer();
    refused(
      await post(body, stampText({ ...stamp, publicKey: other.publicKey })),
      wrong,
      'SIGNATURE_INVALID',
    );
    refused(
      await post(body, stampText({ ...stamp, signature: other.sign(body).signature })),
      wrong,
      'SIGNATURE_INVALID',
    );
    refused(await post(body.replace('"}', '" }'), stampText(stamp)), wrong, 'SIGNATURE_INVALID');
    const changed = stamp.signature.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'));
    refused(await post(body, stampText({ ...stamp, signature: changed })), wrong, 'SIGNATURE_INVALID');
    refused(await post(body, stampText({ ...stamp, signature: '00' })), wrong, 'SIGNATURE_INVALID');
  });

  test('is refused for a key that is not registered', async () => {
    const stranger = schemes[scheme].signer();
    refused(
      await postWith(stranger),
      `could not find public key in organization or its parent organization organizationId=${service.organizationId} publicKey=${stranger.publicKey}`,
      'PUBLIC_KEY_NOT_FOUND',
    );
  });
});

describe('a scheme', () => {
  test.each([
    ['SIGNATURE_SCHEME_TK_API_P256', 'API_KEY_CURVE_SECP256K1'],
    ['SIGNATURE_SCHEME_TK_API_SECP256K1', 'API_KEY_CURVE_P256'],
    ['SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191', 'API_KEY_CURVE_P256'],
  ] as const)('%s proves no key of %s, even of the same bytes', async (scheme, otherCurve) => {
    const { userId: twin } = await service.newUser(`Twin for ${scheme}`);
    for (;;) {
      const signer = schemes[scheme].signer();
      const made = await service.root.submit('create_api_keys', 'CREATE_API_KEYS_V2', {
        userId: twin,
        apiKeys: [{ apiKeyName: 'twin', publicKey: signer.publicKey, curveType: otherCurve }],
      });
      // Half of all x are on the other curve too: the next key may be.
      if (made.status !== 200) continue;
      refused(await postWith(signer), /^could not find public key/, 'PUBLIC_KEY_NOT_FOUND');
      return;
    }
  });
});

describe('keys registered with their user', () => {
  test('stamp like those that are added later', async () => {
    const signers = schemeNames.map((name) => ({ name, signer: schemes[name].signer() }));
    const apiKeys = signers.map(({ name, signer }) => ({
      apiKeyName: name,
      publicKey: signer.publicKey,
      curveType: schemes[name].curveType,
    }));
    const user = { userName: 'All curves', apiKeys, authenticators: [], oauthProviders: [], userTags: [] };
    const made = await service.root.submit('create_users', 'CREATE_USERS_V3', { users: [user] });
    for (const { name, signer } of signers) {
      const answer = await postWith(signer);
      expect(answer.body?.['userId'], name).toBe(resultOf(made).userIds[0]);
    }
  });
});

describe('stamps of published SDKs', () => {
  test.each(['node', 'browser', 'purejs'] as const)(
    '@turnkey/api-key-stamper, its %s runtime',
    async (runtime) => {
      const { publicKey: apiPublicKey, privateKey: apiPrivateKey } = service.key;
      const stamper = new ApiKeyStamper({ apiPublicKey, apiPrivateKey, runtimeOverride: runtime });
      // Some of them give high s, which half of all signatures have where nothing is done about it.
      for (let round = 0; round < 10; round++) {
        const body = whoamiBody().replace('}', `,"round":${String(round)}}`);
        const { stampHeaderName, stampHeaderValue } = await stamper.stamp(body);
        expect(stampHeaderName).toBe('X-Stamp');
        const answer = await post(body, stampHeaderValue);
        expect(answer.body?.['userId'], answer.text).toBe(service.rootUserId);
      }
    },
  );

  test('an Ethereum wallet’s personal_sign, as viem makes it', async () => {
    const secret = secp256k1.utils.randomSecretKey();
    const publicKey = hex(secp256k1.getPublicKey(secret, true));
    await register(publicKey, 'API_KEY_CURVE_SECP256K1');
    const body = whoamiBody();
    const signature = await privateKeyToAccount(`0x${hex(secret)}`).signMessage({ message: body });
    const compact = Buffer.from(signature.slice(2, 130), 'hex');
    const der = hex(secp256k1.Signature.fromBytes(compact, 'compact').toBytes('der'));
    const answer = await post(
      body,
      stampText({ publicKey, scheme: 'SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191', signature: der }),
    );
    expect(answer.status, answer.text).toBe(200);
  });
});

describe('leniency', () => {
  test.each([
    ['P-256', p256, 'SIGNATURE_SCHEME_TK_API_P256', 'API_KEY_CURVE_P256'],
    ['secp256k1', secp256k1, 'SIGNATURE_SCHEME_TK_API_SECP256K1', 'API_KEY_CURVE_SECP256K1'],
  ] as const)('high s is accepted on %s', async (_name, curve, scheme, curveType) => {
    const secret = curve.utils.randomSecretKey();
    const publicKey = hex(curve.getPublicKey(secret, true));
    await register(publicKey, curveType);
    const body = whoamiBody();
    const low = curve.Signature.fromBytes(curve.sign(utf8(body), secret, { lowS: true }), 'compact');
    const high = new curve.Signature(low.r, curve.Point.Fn.neg(low.s));
    expect(high.hasHighS()).toBe(true);
    for (const signature of [low, high]) {
      const stamp = { publicKey, scheme, signature: hex(signature.toBytes('der')) };
      expect((await post(body, stampText(stamp))).status).toBe(200);
    }
  });

  test('padding, standard base64 and any order of fields are accepted', async () => {
    const body = whoamiBody();
    const { publicKey, scheme, signature } = JSON.parse(
      Buffer.from(service.key.stamp(body), 'base64url').toString('utf8'),
    ) as Stamp;
    const forms = [
      { scheme, signature, publicKey },
      { signature, publicKey, scheme, more: '>>>???~~~' },
      { publicKey, scheme, signature, x: '?' },
      { publicKey, scheme, signature, xy: '?' },
    ].flatMap((stamp) => {
      const bytes = Buffer.from(JSON.stringify(stamp));
      const padded = bytes.toString('base64');
      return [bytes.toString('base64url'), padded, padded.replaceAll('+', '-').replaceAll('/', '_')];
    });
    expect(forms.some((form) => form.endsWith('=')) && forms.some((form) => /[+/]/.test(form))).toBe(true);
    for (const form of forms) expect((await post(body, form)).status, form).toBe(200);
  });
});

describe('an attested stamp, which Keyhearth does not have', () => {
  const named =
    'Keyhearth has no attested stamps (X-Stamp-Attested header): sign in with otp_login or oauth_login, then stamp with X-Stamp';
  const attested = { 'content-type': 'application/json', 'x-stamp-attested': '{}' };
  const postAttested = (headers: Record<string, string>, path = 'query/whoami'): Promise<Answer> =>
    send(service.url, {
      path: `/public/v1/${path}`,
      headers: { ...attested, ...headers },
      body: whoamiBody(),
    });

  test('is refused by its name', async () => {
    refused(await postAttested({}), named, 'SIGNATURE_INVALID');
    refused(await postAttested({ 'x-stamp-attested': '' }), named, 'SIGNATURE_INVALID');
    refused(await postAttested({}, 'submit/create_wallet'), named, 'SIGNATURE_INVALID');
  });

  // With two proofs, readers of one or the other could name different users.
  test('lets no other proof answer for it', async () => {
    const both = (other: string): string =>
      `malformed activity stamp: expected one of X-Stamp and X-Stamp-Webauthn, got ${other} and X-Stamp-Attested`;
    const stamp = service.key.stamp(whoamiBody());
    refused(await postAttested({ 'x-stamp': stamp }), both('X-Stamp'), 'SIGNATURE_INVALID');
    refused(await postAttested({ 'x-stamp-webauthn': '{}' }), both('X-Stamp-Webauthn'), 'SIGNATURE_INVALID');
    const made = await service.root.submit('create_read_only_session', 'CREATE_READ_ONLY_SESSION', {});
    const session = String(resultOf(made)['session']);
    refused(await postAttested({ 'x-session': session }), named, 'SIGNATURE_INVALID');
  });
});

describe('no stamp, or one that is none', () => {
  test('without a stamp', async () => {
    const answer = await send(service.url, { path: '/public/v1/query/whoami', body: whoamiBody() });
    refused(
      answer,
      'cannot authenticate public API activity request without a stamp (X-Stamp/X-Stamp-Webauthn header)',
      'SIGNATURE_MISSING',
    );
  });

  test.each([
    ['no base64', 'é!', 'expected base64url without padding'],
    ['blanks', 'a b', 'expected base64url without padding'],
    ['base64 of no JSON', Buffer.from('hello').toString('base64url'), 'expected base64url of a JSON object'],
    ['base64 of null', stampText(null), 'expected base64url of a JSON object'],
    ['an empty object', stampText({}), 'scheme is missing'],
    [
      'no public key',
      stampText({ scheme: 'SIGNATURE_SCHEME_TK_API_P256', signature: '00' }),
      'publicKey is missing',
    ],
    ['no hex', stampText({ scheme: 'x', signature: '00', publicKey: '0x00' }), 'publicKey is not hex'],
    ['half a byte', stampText({ scheme: 'x', signature: '000', publicKey: '00' }), 'signature is not hex'],
    [
      'an unknown scheme',
      stampText({ scheme: 'SIGNATURE_SCHEME_TK_API_RSA', signature: '00', publicKey: '00' }),
      /^malformed activity stamp: X-Stamp: scheme: expected one of (SIGNATURE_SCHEME_TK_API_[A-Z0-9_]+(, )?){4}$/,
    ],
    [
      'a scheme that is a property of every object',
      stampText({ scheme: 'constructor', signature: '00', publicKey: '00' }),
      /^malformed activity stamp: X-Stamp: scheme: expected one of /,
    ],
    [
      'a key of the wrong length',
      stampText({ scheme: 'SIGNATURE_SCHEME_TK_API_ED25519', signature: '00', publicKey: '00'.repeat(33) }),
      'publicKey: expected 32 bytes in hex for SIGNATURE_SCHEME_TK_API_ED25519, got 33',
    ],
    ['far too much', 'A'.repeat(5000), 'expected at most 4096 characters, got 5000'],
  ])('%s', async (_what, header, problem) => {
    const answer = await post(whoamiBody(), Buffer.from(header).toString('latin1'));
    const message = typeof problem === 'string' ? `malformed activity stamp: X-Stamp: ${problem}` : problem;
    refused(answer, message, 'SIGNATURE_INVALID');
  });
});

describe('the bytes that were signed', () => {
  test('covers the bytes that are executed: the same JSON written otherwise does not pass', async () => {
    const body = service.root.submitBody('CREATE_WALLET', { walletName: 'Other bytes', accounts: [] });
    const stamp = service.key.stamp(body);
    const rewritten = JSON.stringify(JSON.parse(body), null, 1);
    refused(await post(rewritten, stamp, 'submit/create_wallet'), /^could not verify/, 'SIGNATURE_INVALID');
    const turned = JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(body) as Json).reverse()));
    refused(await post(turned, stamp, 'submit/create_wallet'), /^could not verify/, 'SIGNATURE_INVALID');
    refused(
      await post(body.replace('Other', 'other'), stamp, 'submit/create_wallet'),
      /^could not verify/,
      'SIGNATURE_INVALID',
    );
    expect((await post(body, stamp, 'submit/create_wallet')).status).toBe(200);
  });

  test('may be spaced and escaped as the caller likes', async () => {
    const body = `\n { "organizationId" :\t"${service.organizationId}" ,"\\u0070adding":"\\ud83d\\udd11"}\r\n`;
    expect((await post(body, service.key.stamp(body))).status).toBe(200);
  });
});

describe('the organization that a request names', () => {
  async function named(organizationId: unknown): Promise<Answer> {
    const body = JSON.stringify({ organizationId });
    return post(body, service.key.stamp(body));
  }

  test('is a UUID', async () => {
    const answer = await named('acme');
    refused(
      answer,
      'malformed organization ID provided: expected a UUID in organizationId, got "acme"',
      'INVALID_ORGANIZATION_ID',
      400,
    );
  });

  test('is one of this vault: any other is answered as one that does not know the key', async () => {
    const stranger = '00000000-0000-4000-8000-000000000000';
    refused(
      await named(stranger),
      `could not find public key in organization or its parent organization organizationId=${stranger} publicKey=${service.key.publicKey}`,
      'PUBLIC_KEY_NOT_FOUND',
    );
  });
});

describe('expiry of a key', () => {
  test('comes after its seconds, for queries and activities alike, and is said with the key', async () => {
    const signer = schemes.SIGNATURE_SCHEME_TK_API_P256.signer();
    await register(signer.publicKey, 'API_KEY_CURVE_P256', '60');
    expect((await postWith(signer)).status).toBe(200);
    service.clock.advance(59_000);
    expect((await postWith(signer)).status).toBe(200);
    service.clock.advance(1_001);
    const message = `Unauthenticated desc = expired api key publicKey ${signer.publicKey}`;
    refused(await postWith(signer), message, 'API_KEY_EXPIRED');
    const body = service.root.submitBody('CREATE_WALLET', { walletName: 'Too late', accounts: [] });
    refused(await postWith(signer, body, 'submit/create_wallet'), message, 'API_KEY_EXPIRED');
  });
});

describe('liveness of timestampMs', () => {
  const newWalletBody = (walletName: string, age: number): string =>
    JSON.stringify({
      type: 'ACTIVITY_TYPE_CREATE_WALLET',
      timestampMs: String(service.clock.wall() - age),
      organizationId: service.organizationId,
      parameters: { walletName, accounts: [] },
    });
  const submitAged = (name: string, age: number): Promise<Answer> => {
    const body = newWalletBody(name, age);
    return post(body, service.key.stamp(body), 'submit/create_wallet');
  };

  test.each([
    ['59 minutes old', 59 * minute],
    ['one second short of an hour', 60 * minute - 1_000],
    ['4 minutes ahead', -4 * minute],
    ['one second short of 5 minutes ahead', -5 * minute + 1_000],
  ])('%s is live', async (name, age) => {
    const answer = await submitAged(name, age);
    expect(activityOf(answer).status).toBe('ACTIVITY_STATUS_COMPLETED');
  });

  test.each([
    [
      '61 minutes old',
      61 * minute,
      /^invalid timestampMs: expected a request less than 1 hour old and at most 5 minutes ahead of this clock, got one 366\d s old$/,
    ],
    ['an hour old', 60 * minute, /got one 360\d s old$/],
    ['6 minutes ahead', -6 * minute, /got one 3(60|59) s ahead$/],
    ['in seconds, not milliseconds', Date.now() - Date.now() / 1000, /s old$/],
  ])('%s is not, and leaves nothing behind', async (name, age, message) => {
    const before = service.vault.units.read(checkActivityChain);
    refused(await submitAged(name, Math.round(age)), message, 'INVALID_TIME', 400);
    expect(service.vault.units.read(checkActivityChain)).toEqual(before);
  });

  test.each([
    [1_700_000_000_000, 'invalid timestampMs: expected a string, got 1700000000000'],
    ['now', 'invalid timestampMs: expected milliseconds since the epoch, in digits, got "now"'],
    [
      '1700000000000.5',
      'invalid timestampMs: expected milliseconds since the epoch, in digits, got "1700000000000.5"',
    ],
    ['-1', 'invalid timestampMs: expected milliseconds since the epoch, in digits, got "-1"'],
    [undefined, 'missing field timestampMs: expected a string'],
  ])('%j is refused by name', async (timestampMs, message) => {
    const answer = await service.root.submit(
      'create_wallet',
      'CREATE_WALLET',
      { walletName: 'x', accounts: [] },
      { timestampMs },
    );
    expect(answer.status).toBe(400);
    expect(answer.body?.['message']).toBe(message);
  });
});

describe('the same body again', () => {
  let rows: number;

  const countRows = (): number => {
    const chain = service.vault.units.read(checkActivityChain);
    if (!chain.ok) throw new Error(chain.problem);
    return chain.rows;
  };

  beforeEach(() => {
    rows = countRows();
  });

  const body = (walletName: string): string =>
    service.root.submitBody('CREATE_WALLET', { walletName, accounts: [] });
  const submitBody = (text: string, key = service.key): Promise<Answer> =>
    post(text, key.stamp(text), 'submit/create_wallet');

  test('is the same activity, and one row', async () => {
    const text = body('Once');
    const first = await submitBody(text);
    const second = await submitBody(text);
    expect(second.text).toBe(first.text);
    expect(activityOf(first).fingerprint).toBe(`sha256:${createHash('sha256').update(text).digest('hex')}`);
    expect(countRows()).toBe(rows + 1);
  });

  test('sent sixteen times at once is one activity', async () => {
    const text = body('At once');
    const answers = await Promise.all(Array.from({ length: 16 }, () => submitBody(text)));
    expect(new Set(answers.map((answer) => activityOf(answer).id)).size).toBe(1);
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
    expect(countRows()).toBe(rows + 1);
  });

  test('with another timestamp is another activity', async () => {
    const wallets = await Promise.all(
      ['One', 'Two'].map(async (name) => activityOf(await submitBody(body(name)))),
    );
    expect(wallets[0]?.id).not.toBe(wallets[1]?.id);
    expect(countRows()).toBe(rows + 2);
  });

  test('that failed fails the same way, and is not tried again', async () => {
    const text = service.root.submitBody('CREATE_WALLET_ACCOUNTS', {
      walletId: '00000000-0000-4000-8000-000000000000',
      accounts: [
        {
          curve: 'CURVE_ED25519',
          pathFormat: 'PATH_FORMAT_BIP32',
          path: "m/0'",
          addressFormat: 'ADDRESS_FORMAT_SOLANA',
        },
      ],
    });
    const first = await post(text, service.key.stamp(text), 'submit/create_wallet_accounts');
    expect(first.status).toBe(404);
    const second = await post(text, service.key.stamp(text), 'submit/create_wallet_accounts');
    expect(second.status).toBe(404);
    expect(second.text).toBe(first.text);
    expect(countRows()).toBe(rows + 1);
  });

  test('a name that was taken stays taken for that body, also when it is free for the next', async () => {
    await submitBody(body('Taken'));
    const text = body('Taken');
    const refusal = await submitBody(text);
    expect(refusal.status).toBe(400);
    expect((await submitBody(text)).text).toBe(refusal.text);
  });

  test('is answered when it is older than an hour, where a new one would not be', async () => {
    const text = body('Long ago');
    const first = await submitBody(text);
    service.clock.advance(2 * 60 * minute);
    try {
      expect((await submitBody(text)).text).toBe(first.text);
      refused(await submitBody(text.replace('Long', 'long')), /^invalid timestampMs/, 'INVALID_TIME', 400);
      expect(countRows()).toBe(rows + 1);
    } finally {
      service.clock.advance(-2 * 60 * minute);
    }
  });

  test('under another signature of the same key is the same activity, with the first vote', async () => {
    const text = body('Signed twice');
    const first = activityOf(await submitBody(text));
    const second = activityOf(await submitBody(text));
    expect(second.votes).toEqual(first.votes);
    expect(second.votes).toHaveLength(1);
  });

  test('from another user is the same activity, and no vote of theirs', async () => {
    const key = newTestKey();
    await register(key.publicKey, 'API_KEY_CURVE_P256');
    rows = countRows();
    const text = body('Shared');
    const first = await submitBody(text);
    expect((await submitBody(text, key)).text).toBe(first.text);
    expect(activityOf(first).votes.map((vote) => vote['userId'])).toEqual([service.rootUserId]);
    expect(countRows()).toBe(rows + 1);
  });

  test('from a user who may not do it, sent first, is refused and leaves the way free', async () => {
    const key = newTestKey();
    await register(key.publicKey, 'API_KEY_CURVE_P256');
    rows = countRows();
    const text = body('Not theirs');
    expect((await submitBody(text, key)).status).toBe(403);
    expect(countRows()).toBe(rows);
    expect((await submitBody(text)).status).toBe(200);
  });

  test('from a stranger is refused before any other error', async () => {
    const text = body('Secret wallet');
    const first = activityOf(await submitBody(text));
    const answer = await submitBody(text, newTestKey());
    refused(answer, /^could not find public key/, 'PUBLIC_KEY_NOT_FOUND');
    expect(answer.text).not.toContain(first.id);
  });
});

describe('a stamp over an activity, which readers of the log have', () => {
  const problem = 'bad request body: expected a query, but it is the request of an activity';

  test.each(['query/whoami', 'query/list_users', 'query/get_signed_whoami', 'stream/activities'])(
    'asks nothing of %s in its user’s name',
    async (path) => {
      const reader = await service.newUser(`Reader of ${path}`);
      const text = service.root.submitBody('CREATE_USER_TAG', { userTagName: path, userIds: [] });
      activityOf(await post(text, service.key.stamp(text), 'submit/create_user_tag'));
      const log = await reader.client.query('list_activities', { paginationOptions: { limit: '1' } });
      const { activities } = log.body as unknown as {
        readonly activities: readonly [{ readonly votes: readonly [Stamp & { readonly message: string }] }];
      };
      const { message, publicKey, scheme, signature } = activities[0].votes[0];
      const stamp = stampText({ publicKey, scheme, signature });
      expect({ message, publicKey }).toEqual({ message: text, publicKey: service.key.publicKey });
      refused(await post(message, stamp, path), problem, 'REQUEST_INVALID', 400);
    },
  );
});

test('a user’s keys are seen as they were registered', async () => {
  const answer = await service.root.query('get_user', { userId });
  expect(answer.body?.['user']).toMatchObject({
    userName: 'Signer',
    apiKeys: [{ credential: { type: 'CREDENTIAL_TYPE_API_KEY_P256' } }],
  });
});
