/**
 * An authenticator in software: it makes passkeys and uses them as WebAuthn Level 3 has it, and does what a real one
 * would not when a test asks for it.
 */
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import type { Json } from './support.ts';

export interface AuthenticatorOptions {
  readonly algorithm?: keyof typeof algorithms;
  /** The format of its attestations; `packed` is by the new key itself, `packed-certified` by a key of the maker's. */
  readonly attestation?: 'none' | 'packed' | 'packed-certified' | 'fido-u2f';
  readonly rpId?: string;
  readonly origin?: string;
  /** True if it counts its signatures. */
  readonly counts?: boolean;
  readonly transports?: readonly string[];
  /** Another's credential id, and its public key too, which it claims without being able to sign for it. */
  readonly claims?: { readonly credentialId: string; readonly publicKey?: string };
}

/** Changes to a ceremony. */
export interface Otherwise {
  readonly type?: string;
  readonly challenge?: Uint8Array;
  readonly origin?: string;
  readonly rpId?: string;
  readonly flags?: number;
  readonly signCount?: number;
}

interface Pair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

const flag = { userPresent: 0x01, userVerified: 0x04, credential: 0x40 } as const;
/** The model of all software authenticators. */
export const aaguid = Buffer.from('keyhearth testky');

const algorithms = {
  ES256: {
    number: -7,
    hash: 'sha256',
    generate: (): Pair => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    toCose: (key: KeyObject) => {
      const { x = '', y = '' } = key.export({ format: 'jwk' });
      return coseKey(2, -7, [-1, 1], [-2, bytes(x)], [-3, bytes(y)]);
    },
  },
  EdDSA: {
    number: -8,
    hash: null,
    generate: (): Pair => generateKeyPairSync('ed25519'),
    toCose: (key: KeyObject) => {
      const { x = '' } = key.export({ format: 'jwk' });
      return coseKey(1, -8, [-1, 6], [-2, bytes(x)]);
    },
  },
  RS256: {
    number: -257,
    hash: 'sha256',
    generate: (): Pair => generateKeyPairSync('rsa', { modulusLength: 2048 }),
    toCose: (key: KeyObject) => {
      const { n = '', e = '' } = key.export({ format: 'jwk' });
      return coseKey(3, -257, [-1, bytes(n)], [-2, bytes(e)]);
    },
  },
} as const;

/** @returns the same key of ES256 in other bytes: its y before its x. */
export function reordered(publicKey: string): string {
  const key = bytes(publicKey);
  const [head, x, y] = [key.subarray(0, 7), key.subarray(7, 42), key.subarray(42)];
  return Buffer.concat([head, y, x]).toString('base64url');
}

/** An authenticator with one passkey. */
export class SoftwareAuthenticator {
  readonly #options: Required<Omit<AuthenticatorOptions, 'claims'>> & Pick<AuthenticatorOptions, 'claims'>;
  readonly #pair: Pair;
  #signCount = 0;
  readonly #id: Buffer;

  constructor(options: AuthenticatorOptions = {}) {
    this.#options = {
      algorithm: 'ES256',
      attestation: 'none',
      rpId: 'localhost',
      origin: 'http://localhost:7377',
      counts: false,
      transports: ['AUTHENTICATOR_TRANSPORT_INTERNAL', 'AUTHENTICATOR_TRANSPORT_HYBRID'],
      ...options,
    };
    const { claims } = options;
    this.#id = claims === undefined ? randomBytes(32) : Buffer.from(claims.credentialId, 'base64url');
    this.#pair = algorithms[this.#options.algorithm].generate();
  }

  /** Base64url, as is the public key: a COSE_Key. */
  get credentialId(): string {
    return this.#id.toString('base64url');
  }

  get publicKey(): string {
    return this.#coseKey().toString('base64url');
  }

  /** The next value of the counter, if there is one. */
  get signCount(): number {
    return this.#signCount;
  }

  /** A new authenticator as requests name one. */
  params(authenticatorName: string, otherwise: Otherwise = {}): Json {
    const challenge = randomBytes(32);
    const made = this.#create(challenge, otherwise);
    return {
      authenticatorName,
      challenge: challenge.toString('base64url'),
      attestation: {
        credentialId: this.credentialId,
        clientDataJson: made.clientDataJSON.toString('base64url'),
        attestationObject: made.attestationObject.toString('base64url'),
        transports: this.#options.transports,
      },
    };
  }

  /** The same, as requests first named one: as browsers write it. */
  browserParams(authenticatorName: string, userId: string): Json {
    const { challenge, attestation } = this.params(authenticatorName);
    const { clientDataJson, attestationObject, transports } = attestation as Json;
    return {
      authenticatorName,
      userId,
      challenge,
      attestation: {
        id: this.credentialId,
        type: 'public-key',
        rawId: this.credentialId,
        authenticatorAttachment: 'platform',
        response: { clientDataJson, attestationObject, transports, authenticatorAttachment: null },
        clientExtensionResults: { appid: false, credProps: { rk: true } },
      },
    };
  }

  /** @returns the value of `X-Stamp-Webauthn` over these bytes. */
  stamp(body: string | Uint8Array, otherwise: Otherwise = {}): string {
    const challenge = Buffer.from(createHash('sha256').update(body).digest('hex'));
    const { authenticatorData, clientDataJSON, signature } = this.#get(challenge, otherwise);
    return JSON.stringify({
      authenticatorData: authenticatorData.toString('base64url'),
      clientDataJson: clientDataJSON.toString('base64url'),
      credentialId: this.credentialId,
      signature: signature.toString('base64url'),
    });
  }

  /** `navigator.credentials` of a browser, as far as the SDK's stamper uses it. */
  get credentials(): Pick<CredentialsContainer, 'get'> {
    return {
      get: ({ publicKey } = {}) => {
        const { challenge } = publicKey ?? {};
        if (!(challenge instanceof Uint8Array)) throw new TypeError('expected a challenge of bytes');
        const { authenticatorData, clientDataJSON, signature } = this.#get(challenge, {});
        const response = { authenticatorData, clientDataJSON, signature, userHandle: null };
        return Promise.resolve({
          type: 'public-key',
          id: this.credentialId,
          rawId: this.#id,
          response,
          getClientExtensionResults: () => ({}),
        } as unknown as Credential);
      },
    };
  }

  #coseKey(): Buffer {
    const { claims, algorithm } = this.#options;
    if (claims?.publicKey !== undefined) return Buffer.from(claims.publicKey, 'base64url');
    return algorithms[algorithm].toCose(this.#pair.publicKey);
  }

  #sign(message: Buffer): Buffer {
    return sign(algorithms[this.#options.algorithm].hash, message, this.#pair.privateKey);
  }

  #clientData(type: string, challenge: Uint8Array, otherwise: Otherwise): Buffer {
    return Buffer.from(
      JSON.stringify({
        type: otherwise.type ?? type,
        challenge: Buffer.from(otherwise.challenge ?? challenge).toString('base64url'),
        origin: otherwise.origin ?? this.#options.origin,
        crossOrigin: false,
      }),
    );
  }

  #authenticatorData(flags: number, otherwise: Otherwise, credential = Buffer.alloc(0)): Buffer {
    if (this.#options.counts) this.#signCount += 1;
    const head = Buffer.alloc(5);
    head.writeUInt8(otherwise.flags ?? flags);
    head.writeUInt32BE(otherwise.signCount ?? this.#signCount, 1);
    return Buffer.concat([sha256(otherwise.rpId ?? this.#options.rpId), head, credential]);
  }

  #get(
    challenge: Uint8Array,
    otherwise: Otherwise,
  ): { readonly authenticatorData: Buffer; readonly clientDataJSON: Buffer; readonly signature: Buffer } {
    const clientDataJSON = this.#clientData('webauthn.get', challenge, otherwise);
    const authenticatorData = this.#authenticatorData(flag.userPresent | flag.userVerified, otherwise);
    const signature = this.#sign(Buffer.concat([authenticatorData, sha256(clientDataJSON)]));
    return { authenticatorData, clientDataJSON, signature };
  }

  #create(
    challenge: Uint8Array,
    otherwise: Otherwise,
  ): { readonly clientDataJSON: Buffer; readonly attestationObject: Buffer } {
    const { attestation } = this.#options;
    const clientDataJSON = this.#clientData('webauthn.create', challenge, otherwise);
    const credential = Buffer.concat([
      // U2F is older than identifiers of models.
      attestation === 'fido-u2f' ? Buffer.alloc(aaguid.length) : aaguid,
      Buffer.from([0, this.#id.length]),
      this.#id,
      this.#coseKey(),
    ]);
    const flags = flag.userPresent | flag.userVerified | flag.credential;
    const authData = this.#authenticatorData(flags, otherwise, credential);
    const [fmt, attStmt] = this.#attest(authData, sha256(clientDataJSON));
    const attestationObject = cbor(
      new Map<string, Cbor>([
        ['fmt', fmt],
        ['attStmt', attStmt],
        ['authData', authData],
      ]),
    );
    return { clientDataJSON, attestationObject };
  }

  #attest(authData: Buffer, clientDataHash: Buffer): [string, Map<string, Cbor>] {
    const signed = Buffer.concat([authData, clientDataHash]);
    const { number } = algorithms[this.#options.algorithm];
    switch (this.#options.attestation) {
      case 'none':
        return ['none', new Map<string, Cbor>()];
      case 'packed':
        return [
          'packed',
          new Map<string, Cbor>([
            ['alg', number],
            ['sig', this.#sign(signed)],
          ]),
        ];
      case 'packed-certified': {
        const { certificate, privateKey } = newCertificate();
        return [
          'packed',
          new Map<string, Cbor>([
            ['alg', algorithms.ES256.number],
            ['sig', sign('sha256', signed, privateKey)],
            ['x5c', [certificate]],
          ]),
        ];
      }
      case 'fido-u2f': {
        const { certificate, privateKey } = newCertificate();
        const { x = '', y = '' } = this.#pair.publicKey.export({ format: 'jwk' });
        const message = Buffer.concat([
          Buffer.from([0]),
          authData.subarray(0, 32),
          clientDataHash,
          this.#id,
          Buffer.from([4]),
          bytes(x),
          bytes(y),
        ]);
        return [
          'fido-u2f',
          new Map<string, Cbor>([
            ['sig', sign('sha256', message, privateKey)],
            ['x5c', [certificate]],
          ]),
        ];
      }
    }
  }
}

const bytes = (text: string): Buffer => Buffer.from(text, 'base64url');
const sha256 = (data: string | Uint8Array): Buffer => createHash('sha256').update(data).digest();

type Cbor = number | string | Uint8Array | readonly Cbor[] | ReadonlyMap<string | number, Cbor>;

const coseKey = (
  type: number,
  algorithm: number,
  ...parameters: readonly (readonly [number, Cbor])[]
): Buffer => cbor(new Map<number, Cbor>([[1, type], [3, algorithm], ...parameters]));

/** CBOR (RFC 8949), as much as attestations need. */
function cbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? cborHead(1, -1 - value) : cborHead(0, value);
  if (typeof value === 'string')
    return Buffer.concat([cborHead(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (value instanceof Uint8Array) return Buffer.concat([cborHead(2, value.length), value]);
  if (value instanceof Map) {
    const entries = [...(value as ReadonlyMap<string | number, Cbor>)];
    return Buffer.concat([cborHead(5, entries.length), ...entries.flat().map((item) => cbor(item))]);
  }
  const items = value as readonly Cbor[];
  return Buffer.concat([cborHead(4, items.length), ...items.map(cbor)]);
}

function cborHead(major: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(major << 5) | value]);
  if (value < 0x100) return Buffer.from([(major << 5) | 24, value]);
  return Buffer.from([(major << 5) | 25, value >> 8, value & 0xff]);
}

/** A certificate of an authenticator's maker, signed with its own key (RFC 5280; WebAuthn section 8.2.1). */
export function newCertificate(): { readonly certificate: Buffer; readonly privateKey: KeyObject } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const hex = (text: string): Buffer => Buffer.from(text, 'hex');
  const ecdsaWithSha256 = hex('300a06082a8648ce3d040302');
  const attribute = (type: string, tag: number, text: string): Buffer =>
    der(0x31, der(0x30, hex(`06035504${type}`), der(tag, Buffer.from(text))));
  const name = der(
    0x30,
    attribute('06', 0x13, 'AA'),
    attribute('0a', 0x0c, 'Tests'),
    attribute('0b', 0x0c, 'Authenticator Attestation'),
    attribute('03', 0x0c, 'Test authenticator'),
  );
  const time = (text: string): Buffer => der(0x18, Buffer.from(text));
  const signed = der(
    0x30,
    hex('a003020102'),
    der(0x02, hex('01')),
    ecdsaWithSha256,
    name,
    der(0x30, time('20240101000000Z'), time('30240101000000Z')),
    name,
    publicKey.export({ format: 'der', type: 'spki' }),
    der(0xa3, der(0x30, hex('300c0603551d130101ff04023000'))),
  );
  const signature = der(0x03, hex('00'), sign('sha256', signed, privateKey));
  return { certificate: der(0x30, signed, ecdsaWithSha256, signature), privateKey };
}

export function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const head =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...head]), content]);
}
