import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { lookup as systemLookup } from 'node:dns';
import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { base64url, exportJWK, exportSPKI, generateKeyPair, SignJWT, UnsecuredJWT, type JWK } from 'jose';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { KeyhearthError } from '../lib/errors.ts';
import { idTokenVerifier, type IdTokenOptions } from './id-tokens.ts';

const start = Date.UTC(2026, 0, 1);
const seconds = 1000;
const minutes = 60 * seconds;

/** Stands still until a test moves it. */
const clock = { at: start, now: () => clock.at, wall: () => clock.at };

interface Pair {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
}

let kids = 0;
async function newPair(alg = 'ES256'): Promise<Pair> {
  return { kid: `key-${++kids}`, alg, ...(await generateKeyPair(alg, { extractable: true })) };
}

const published = async ({ kid, alg, publicKey }: Pair): Promise<JWK> => ({
  ...(await exportJWK(publicKey)),
  kid,
  alg,
  use: 'sig',
});

/** An issuer that publishes what a test says, on loopback. */
interface Issuer {
  readonly url: string;
  /** The paths that were asked for. */
  readonly asked: string[];
  document: unknown;
  jwks: unknown;
  /** Answers in the issuer's place, where it does not answer undefined. */
  instead: RequestListener | undefined;
}

let resources = new AsyncDisposableStack();
let issuer: Issuer;
let pair: Pair;

/** @param tls The name that it goes by, with the certificate that is for it. */
async function startIssuer(tls?: string): Promise<Issuer> {
  const answer: RequestListener = (request, response) => {
    started.asked.push(request.url ?? '');
    if (started.instead && request.url === '/jwks') started.instead(request, response);
    else response.end(JSON.stringify(request.url === '/jwks' ? started.jwks : started.document));
  };
  const server = tls === undefined ? createHttpServer(answer) : createHttpsServer(certified, answer);
  resources.defer(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = tls === undefined ? `http://127.0.0.1:${port}` : `https://${tls}:${port}`;
  const started: Issuer = {
    url,
    asked: [],
    document: { issuer: url, jwks_uri: `${url}/jwks` },
    jwks: { keys: [] },
    instead: undefined,
  };
  return started;
}

const verifier = (options: Partial<IdTokenOptions> = {}) =>
  idTokenVerifier({ issuers: [issuer.url], allowLoopback: true, clock, timeoutMs: 300, ...options });

const claims = (changes: Record<string, unknown> = {}): Record<string, unknown> => ({
  iss: issuer.url,
  sub: 'subject-of-the-token',
  aud: 'client',
  iat: clock.at / seconds,
  exp: clock.at / seconds + 600,
  nonce: 'nonce-of-the-token',
  ...changes,
});

const sign = (payload = claims(), { kid, alg, privateKey } = pair, header: object = {}): Promise<string> =>
  new SignJWT(payload).setProtectedHeader({ kid, alg, ...header }).sign(privateKey);

const refusal = async (token: string, verify = verifier()): Promise<KeyhearthError> => {
  const error: unknown = await verify('parameters.oidcToken', token).then(
    () => new Error('the token was taken'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof KeyhearthError)) throw error;
  expect(error.message).toMatch(/^invalid OIDC token in parameters\.oidcToken: /);
  expect(error.turnkeyErrorCode).toBe('INVALID_OIDC_TOKEN');
  expect(error.cause).toBeUndefined();
  const shown = JSON.stringify([error.message, error.details]);
  for (const part of [...token.split('.'), 'subject-of-the-token', 'nonce-of-the-token']) {
    if (part !== '') expect(shown).not.toContain(part);
  }
  return error;
};

beforeEach(async () => {
  clock.at = start;
  issuer = await startIssuer();
  pair = await newPair();
  issuer.jwks = { keys: [await published(pair)] };
});
afterEach(async () => {
  await resources.disposeAsync();
  resources = new AsyncDisposableStack();
});

describe('an ID token', () => {
  test('answers its claims once its signature holds', async () => {
    expect(await verifier()('token', await sign())).toEqual({
      issuer: issuer.url,
      audience: 'client',
      subject: 'subject-of-the-token',
      nonces: ['nonce-of-the-token'],
    });
    expect(issuer.asked).toEqual(['/.well-known/openid-configuration', '/jwks']);
  });

  test.each(['RS256', 'RS512', 'PS256', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'])(
    'may be signed with %s',
    async (alg) => {
      pair = await newPair(alg);
      issuer.jwks = { keys: [await published(await newPair()), await published(pair)] };
      expect(await verifier()('token', await sign())).toMatchObject({ audience: 'client' });
    },
  );

  test('may come in base64 of either alphabet, with padding or without', async () => {
    const verify = verifier();
    // Signatures of one key differ, and so do the lengths that are padded.
    for (const sub of ['a', 'ab', 'abc']) {
      const token = await sign(claims({ sub }));
      const bytes = Buffer.from(token);
      const padded = bytes.toString('base64');
      for (const text of [padded, padded.replace(/=+$/, ''), bytes.toString('base64url')]) {
        expect(await verify('token', text)).toMatchObject({ subject: sub });
      }
    }
  });

  test('has its nonces told, whichever there are', async () => {
    const nonces = async (changes: Record<string, unknown>): Promise<unknown> =>
      (await verifier()('token', await sign(claims({ nonce: undefined, ...changes })))).nonces;
    expect(await nonces({})).toEqual([]);
    expect(await nonces({ nonce: 'a', tknonce: 'b' })).toEqual(['a', 'b']);
    expect(await nonces({ tknonce: 'b' })).toEqual(['b']);
    expect(await nonces({ nonce: 7 })).toEqual([]);
  });

  test('of several audiences is for the party that asked for it', async () => {
    const audience = async (changes: Record<string, unknown>): Promise<unknown> =>
      (await verifier()('token', await sign(claims(changes)))).audience;
    expect(await audience({ aud: ['one'] })).toBe('one');
    expect(await audience({ aud: ['one'], azp: 'two' })).toBe('one');
    expect(await audience({ aud: 'one', azp: 'two' })).toBe('one');
    expect(await audience({ aud: ['one', 'two'], azp: 'two' })).toBe('two');
  });

  test('may be off by half a minute, as clocks are', async () => {
    const verify = verifier();
    const token = await sign(claims({ nbf: start / seconds, exp: start / seconds + 60 }));
    for (const offset of [-29, 0, 60, 89]) {
      clock.at = start + offset * seconds;
      expect(await verify('token', token)).toMatchObject({ audience: 'client' });
    }
  });

  test.each<[string, () => Record<string, unknown>, string]>([
    ['has expired', () => ({ exp: start / seconds - 31 }), 'it has expired'],
    ['is not valid yet', () => ({ nbf: start / seconds + 31 }), 'it is not valid yet: see its "nbf"'],
    ['is from the future', () => ({ iat: start / seconds + 31 }), 'it is from the future: see its "iat"'],
    ['does not expire', () => ({ exp: undefined }), 'its claim "exp" is missing'],
    ['expires in words', () => ({ exp: 'tomorrow' }), 'its claim "exp" is missing, or is not as expected'],
    ['has no date', () => ({ iat: undefined }), 'its claim "iat" is missing'],
    ['is about nobody', () => ({ sub: undefined }), 'its claim "sub" is missing'],
    ['is about no text', () => ({ sub: 7 }), 'expected the claim "sub" to be a text'],
    ['is about an empty text', () => ({ sub: '' }), 'expected the claim "sub" to be a text'],
    ['is about too long a text', () => ({ sub: 'x'.repeat(256) }), 'of 1 to 255 characters'],
    ['is for nobody', () => ({ aud: undefined }), 'its claim "aud" is missing'],
    ['is for no text', () => ({ aud: { a: 1 } }), 'expected the claim "aud" to be a text'],
    ['is for an empty list', () => ({ aud: [] }), 'it has several audiences'],
    ['is for several', () => ({ aud: ['a', 'b'] }), 'expected the claim "azp" to name one of them'],
    ['is for several and a third', () => ({ aud: ['a', 'b'], azp: 'c' }), 'expected the claim "azp"'],
    ['has no issuer', () => ({ iss: undefined }), 'expected the claim "iss", its issuer'],
    ['has a list of issuers', () => ({ iss: [issuer.url] }), 'expected the claim "iss", its issuer'],
  ])('that %s is refused', async (_what, changes, problem) => {
    const error = await refusal(await sign(claims(changes())));
    expect(error.code).toBe('INVALID_ARGUMENT');
    expect(error.message).toContain(problem);
  });
});

describe('a forged token is refused', () => {
  const parts = async (): Promise<[string, string, string]> =>
    (await sign()).split('.') as [string, string, string];
  const encoded = (value: unknown): string => base64url.encode(JSON.stringify(value));

  test.each<[string, () => string | Promise<string>, string]>([
    [
      'without a signature (alg none)',
      () => new UnsecuredJWT(claims()).encode(),
      'its algorithm is not allowed',
    ],
    [
      'with its signature cut off',
      async () => (await parts()).with(2, '').join('.'),
      'its signature does not hold',
    ],
    [
      'that says alg none over a real signature',
      async () => (await parts()).with(0, encoded({ alg: 'none', kid: pair.kid })).join('.'),
      'its algorithm is not allowed',
    ],
    [
      'with a claim changed',
      async () => (await parts()).with(1, encoded(claims({ sub: 'somebody else' }))).join('.'),
      'its signature does not hold',
    ],
    [
      'signed with another key under the name of a known one',
      async () => sign(claims(), { ...(await newPair()), kid: pair.kid }),
      'its signature does not hold',
    ],
    [
      'signed with a key that it brings along',
      async () => {
        const own = await newPair();
        return sign(claims(), own, { jwk: await exportJWK(own.publicKey), kid: pair.kid });
      },
      'its signature does not hold',
    ],
    [
      'signed with a key at an address that it brings along',
      async () => sign(claims(), await newPair(), { jku: `${issuer.url}/elsewhere`, x5u: issuer.url }),
      "it is signed with none of its issuer's keys",
    ],
    [
      'of another kind, signed with the same keys',
      () => sign(claims(), pair, { typ: 'at+jwt' }),
      'it is a token of another kind',
    ],
    [
      'with an extension that must be understood',
      () => {
        const header = { alg: 'ES256', kid: pair.kid, crit: ['exp'], exp: 1 };
        return `${encoded(header)}.${encoded(claims())}.${'A'.repeat(86)}`;
      },
      'it is not a signed JWT that can be read',
    ],
    ['that is encrypted', () => 'aGVhZA.a2V5.aXY.dGV4dA.dGFn', 'expected a compact JWT'],
    ['that is no token', () => 'such-text-is-none', 'expected a compact JWT'],
    ['that is nothing', () => '', 'expected a compact JWT'],
    ['that is three words', () => 'such.text.none', 'it is not a signed JWT that can be read'],
    ['that is base64 of no token', () => encoded({ no: 'token' }), 'expected a compact JWT'],
  ])('%s', async (_what, forge, problem) => {
    const error = await refusal(await forge());
    expect(error.code).toBe('INVALID_ARGUMENT');
    expect(error.message).toContain(problem);
    expect(issuer.asked).not.toContain('/elsewhere');
  });

  test('by a secret that is the public key, in whichever form it is had', async () => {
    pair = await newPair('RS256');
    const jwk = await published(pair);
    issuer.jwks = { keys: [jwk] };
    const pem = await exportSPKI(pair.publicKey);
    for (const secret of [pem, pem.trim(), JSON.stringify(jwk), jwk.n ?? '']) {
      const token = await new SignJWT(claims())
        .setProtectedHeader({ alg: 'HS256', kid: pair.kid })
        .sign(Buffer.from(secret));
      expect((await refusal(token)).message).toContain('its algorithm is not allowed');
    }
  });

  test('by a secret that the issuer publishes', async () => {
    const k = Buffer.alloc(32, 7);
    issuer.jwks = { keys: [{ kty: 'oct', k: k.toString('base64url'), kid: 'secret', alg: 'HS256' }] };
    const token = await new SignJWT(claims()).setProtectedHeader({ alg: 'HS256', kid: 'secret' }).sign(k);
    expect((await refusal(token)).message).toContain('its algorithm is not allowed');
    // Nothing was fetched for it either.
    expect(issuer.asked).toEqual([]);
  });
});

describe('an issuer', () => {
  test('that is not allowed is never contacted, and the error names it and the way to allow it', async () => {
    const verify = verifier({ issuers: ['https://allowed.example'] });
    const error = await refusal(await sign(), verify);
    expect(error.message).toContain(
      `its issuer "${issuer.url}" is not allowed here (allowed: https://allowed.example); allow it with --oidc-issuer`,
    );
    expect(issuer.asked).toEqual([]);
    expect((await refusal(await sign(), verifier({ issuers: [] }))).message).toContain('none is allowed yet');
  });

  test('is allowed to the letter', async () => {
    for (const iss of [`${issuer.url}/`, issuer.url.toUpperCase(), `${issuer.url}/other`, ` ${issuer.url}`]) {
      expect((await refusal(await sign(claims({ iss })))).message).toContain('is not allowed here');
    }
    expect(issuer.asked).toEqual([]);
  });

  test('does not speak for another that is allowed too', async () => {
    const other = await startIssuer();
    const verify = verifier({ issuers: [issuer.url, other.url] });
    other.jwks = { keys: [await published(await newPair())] };
    const error = await refusal(await sign(claims({ iss: other.url })), verify);
    expect(error.message).toContain("it is signed with none of its issuer's keys");
  });

  test('whose name ends in a slash has its document there all the same', async () => {
    const url = `${issuer.url}/realm/`;
    issuer.document = { issuer: url, jwks_uri: `${issuer.url}/jwks` };
    await verifier({ issuers: [url] })('token', await sign(claims({ iss: url })));
    expect(issuer.asked).toEqual(['/realm/.well-known/openid-configuration', '/jwks']);
  });

  test('is asked once for many tokens, also at one time, and again after ten minutes', async () => {
    const verify = verifier();
    const token = await sign(claims({ exp: start / seconds + 3600 }));
    await Promise.all(Array.from({ length: 20 }, () => verify('token', token)));
    clock.at += 10 * minutes - 1;
    await verify('token', token);
    expect(issuer.asked).toHaveLength(2);
    clock.at += 1;
    await verify('token', token);
    expect(issuer.asked).toHaveLength(4);
  });

  test('that withdraws a key is believed after ten minutes at the latest', async () => {
    const verify = verifier();
    const token = await sign(claims({ exp: start / seconds + 3600 }));
    await verify('token', token);
    issuer.jwks = { keys: [await published(await newPair())] };
    clock.at += 10 * minutes;
    expect((await refusal(token, verify)).message).toContain("it is signed with none of its issuer's keys");
  });

  test('that has a new key is asked for it, but not for every token that names none', async () => {
    const verify = verifier();
    await verify('token', await sign());
    const old = pair;
    pair = await newPair();
    issuer.jwks = { keys: [await published(old), await published(pair)] };
    const fresh = await sign();
    for (let index = 0; index < 5; index++) {
      expect((await refusal(fresh, verify)).message).toContain('it is signed with none');
    }
    expect(issuer.asked).toHaveLength(2);
    clock.at += 10 * seconds;
    expect(await verify('token', fresh)).toMatchObject({ audience: 'client' });
    expect(await verify('token', await sign(claims(), old))).toMatchObject({ audience: 'client' });
    expect(issuer.asked).toHaveLength(4);
  });

  test('that has several keys and a token that names none of them do not fit', async () => {
    issuer.jwks = { keys: [await published(pair), await published(await newPair())] };
    const token = await new SignJWT(claims()).setProtectedHeader({ alg: 'ES256' }).sign(pair.privateKey);
    expect((await refusal(token)).message).toContain('expected a "kid" in its header');
    issuer.jwks = { keys: [await published(pair)] };
    expect(await verifier()('token', token)).toMatchObject({ audience: 'client' });
  });

  test.each<[string, () => Promise<JWK>]>([
    [
      'too short',
      async () => {
        const { n = '', e = '' } = await exportJWK((await newPair('RS256')).publicKey);
        return { kty: 'RSA', n: n.slice(0, 171), e };
      },
    ],
    ['malformed', () => Promise.resolve({ kty: 'RSA', n: '!', e: 'AQAB' })],
    ['private', async () => exportJWK((await newPair('RS256')).privateKey)],
  ])('whose key is %s is not believed', async (_what, makeKey) => {
    const signer = { ...(await newPair('RS256')), kid: 'bad' };
    issuer.jwks = { keys: [{ ...(await makeKey()), kid: 'bad', alg: 'RS256' }] };
    expect((await refusal(await sign(claims(), signer))).code).toBe('INVALID_ARGUMENT');
  });

  test.each<[string, (tampered: Issuer) => void, string]>([
    [
      'answers the document of another',
      (tampered) => (tampered.document = { issuer: 'https://another.example', jwks_uri: tampered.url }),
      'is not of this issuer: its "issuer" is another',
    ],
    ['answers no document', (tampered) => (tampered.document = 7), 'is not of this issuer'],
    [
      'names no keys',
      (tampered) => (tampered.document = { issuer: tampered.url }),
      'has no "jwks_uri" that is a URL',
    ],
    ['has no key set', (tampered) => (tampered.jwks = { keys: 'none' }), 'did not answer a JSON Web Key Set'],
    ['hangs', (tampered) => (tampered.instead = () => undefined), 'it did not answer within 0.3 s'],
    [
      'redirects',
      (tampered) =>
        (tampered.instead = (_request, response) => response.writeHead(307, { location: '/' }).end()),
      'it redirects, which is not followed',
    ],
    [
      'is huge',
      (tampered) =>
        (tampered.instead = (_request, response) =>
          response.end(JSON.stringify({ keys: [], padding: 'x'.repeat(600_000) }))),
      'its answer is larger than 512 KiB',
    ],
    [
      'fails',
      (tampered) => (tampered.instead = (_request, response) => response.writeHead(503).end()),
      'it answered HTTP 503',
    ],
    [
      'names keys at a private address',
      (tampered) => (tampered.document = { issuer: tampered.url, jwks_uri: 'https://10.0.0.1/jwks' }),
      'https://10.0.0.1/jwks: it is at 10.0.0.1, which is not on the Internet',
    ],
    [
      'names keys that are no web address',
      (tampered) => (tampered.document = { issuer: tampered.url, jwks_uri: 'file:///etc/passwd' }),
      'is without TLS',
    ],
    [
      'names keys elsewhere without TLS',
      (tampered) => (tampered.document = { issuer: tampered.url, jwks_uri: 'http://192.0.2.1/jwks' }),
      'it is at 192.0.2.1, which is not on this machine',
    ],
  ])('that %s says nothing lasting of the token', async (_what, tamper, problem) => {
    const verify = verifier();
    const token = await sign();
    const { document, jwks } = issuer;
    tamper(issuer);
    const error = await refusal(token, verify);
    expect(error.code).toBe('UNAVAILABLE');
    expect(error.message).toContain(problem);
    Object.assign(issuer, { document, jwks, instead: undefined });
    expect(await verify('token', token)).toMatchObject({ audience: 'client' });
  });

  test('without TLS is this machine alone, and only where that is allowed', () => {
    // 15: it is refused at once, and not with the first token.
    expect(() => verifier({ allowLoopback: false })).toThrow(/invalid --oidc-issuer .*starts with https/);
    const url = issuer.url.replace('127.0.0.1', 'somewhere.test');
    expect(() => verifier({ issuers: [url] })).toThrow(/invalid --oidc-issuer .*starts with https/);
    expect(issuer.asked).toEqual([]);
  });
});

/** A key with a certificate of its own signing, for issuer.test and keys.test; valid from 2020 to 2120. */
const certified = {
  key: createPrivateKey({
    format: 'jwk',
    key: {
      kty: 'EC',
      crv: 'P-256',
      x: 'fgRMaEuK9UjjnniG2hja7tZOLDBcG5f4wMSkeN-rkFo',
      y: 'LB9ieCUQdLtn28zuKI47GGv78IQAb8h_P4Yv0gvjCIo',
      d: 'xcIxWFvKqKJRvqjq04Ebg3EUp1Yj8OvBmOwrXJKOblU',
    },
  }).export({ type: 'pkcs8', format: 'pem' }),
  cert: new X509Certificate(
    Buffer.from(
      'MIIBUzCB+aADAgECAgEBMAoGCCqGSM49BAMCMBYxFDASBgNVBAMTC2lzc3Vlci50ZXN0MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAw' +
        'MDAwWjAWMRQwEgYDVQQDEwtpc3N1ZXIudGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABH4ETGhLivVI4554htoY2u7WTiwwXBuX+MDE' +
        'pHjfq5BaLB9ieCUQdLtn28zuKI47GGv78IQAb8h/P4Yv0gvjCIqjNjA0MA8GA1UdEwEB/wQFMAMBAf8wIQYDVR0RBBowGIILaXNzdWVyLnRl' +
        'c3SCCWtleXMudGVzdDAKBggqhkjOPQQDAgNJADBGAiEAo3Oj9TKJRZ/vf4PAxZJXQdYPDLVBVJzBGotL6acjZ7UCIQDDAm7HYAuuPekTENEJ' +
        '0UFK1a0hRtqO7K7O8b5nQnl8hw==',
      'base64',
    ),
  ).toString(),
};

/** Answers a name's addresses as the system's lookup does. */
const resolving = (...addresses: readonly string[]): typeof systemLookup =>
  ((_host: string, _options: unknown, callback: (error: null, addresses: unknown) => void) => {
    callback(
      null,
      addresses.map((address) => ({ address, family: 4 })),
    );
  }) as unknown as typeof systemLookup;

describe('an issuer with TLS', () => {
  const lookup = resolving('127.0.0.1');
  const trusted = getCACertificates('default');

  beforeEach(async () => {
    setDefaultCACertificates([...trusted, certified.cert]);
    issuer = await startIssuer('issuer.test');
    issuer.jwks = { keys: [await published(pair)] };
  });
  afterEach(() => {
    setDefaultCACertificates(trusted);
  });

  test('may be anywhere, since only its own host can prove to be it', async () => {
    const verify = verifier({ allowLoopback: false, lookup });
    expect(await verify('token', await sign())).toMatchObject({ issuer: issuer.url });
  });

  test('whose certificate is not trusted is not believed', async () => {
    setDefaultCACertificates(trusted);
    const error = await refusal(await sign(), verifier({ lookup }));
    expect(error.code).toBe('UNAVAILABLE');
    expect(error.message).toContain('it cannot be reached (DEPTH_ZERO_SELF_SIGNED_CERT)');
    expect(issuer.asked).toEqual([]);
  });

  test('whose certificate is another’s is not believed', async () => {
    const url = issuer.url.replace('issuer.test', 'another.test');
    const error = await refusal(await sign(claims({ iss: url })), verifier({ issuers: [url], lookup }));
    expect(error.message).toContain('it cannot be reached (ERR_TLS_CERT_ALTNAME_INVALID)');
    expect(issuer.asked).toEqual([]);
  });

  test.each([
    ['at another host that is at home', (url: string) => url.replace('issuer.test', 'keys.test')],
    ['at an address at home', (url: string) => url.replace('issuer.test', '127.0.0.1')],
    ['at another port', () => 'https://issuer.test:1'],
    ['without TLS', (url: string) => url.replace('https', 'http')],
  ])('does not lead to keys %s', async (_what, elsewhere) => {
    issuer.document = { issuer: issuer.url, jwks_uri: `${elsewhere(issuer.url)}/jwks` };
    for (const allowLoopback of [true, false]) {
      const error = await refusal(await sign(), verifier({ allowLoopback, lookup }));
      expect(error.code).toBe('UNAVAILABLE');
      expect(error.message).toMatch(/is at 127\.0\.0\.1, which is not on the Internet|is without TLS/);
    }
    expect(issuer.asked).not.toContain('/jwks');
  });
});
