/**
 * Public keys as authenticators give them: COSE_Key (RFC 9052, section 7) of the algorithms that passkeys use. Every
 * request stamped with a passkey is verified here, so imported keys are kept.
 */
import { createPublicKey, verify, type JsonWebKey, type KeyObject } from 'node:crypto';
import { checkBytes, asUint8Array } from '../bytes.ts';
import { Lru } from '../../lib/lru.ts';

/** The labels of a COSE_Key that are read here. Those below zero mean what the key's type makes of them. */
const label = { type: 1, algorithm: 3, first: -1, second: -2, third: -3 } as const;

type CoseMap = ReadonlyMap<number, number | Uint8Array>;

interface Algorithm {
  readonly name: string;
  /** The hash of the signed message; null where the algorithm has its own. */
  readonly hash: 'sha256' | null;
  /** @returns undefined when the key is none of this algorithm. */
  readonly toJwk: (key: CoseMap) => JsonWebKey | undefined;
}

const coordinateLength = 32;
/** RFC 8017's keys as authenticators make them; a larger one would only take time. In bytes. */
const modulusLength = { least: 256, most: 512 } as const;
const longestExponent = 4;

/** By COSE's number of the algorithm. */
const algorithms: ReadonlyMap<number, Algorithm> = new Map([
  [
    -7,
    {
      name: 'ES256',
      hash: 'sha256',
      toJwk: (key) => {
        const [x, y] = [bytesOf(key, label.second), bytesOf(key, label.third)];
        if (key.get(label.type) !== 2 || key.get(label.first) !== 1) return undefined;
        if (x?.length !== coordinateLength || y?.length !== coordinateLength) return undefined;
        return { kty: 'EC', crv: 'P-256', x: base64url(x), y: base64url(y) };
      },
    },
  ],
  [
    -8,
    {
      name: 'EdDSA',
      hash: null,
      toJwk: (key) => {
        const x = bytesOf(key, label.second);
        if (key.get(label.type) !== 1 || key.get(label.first) !== 6) return undefined;
        return x?.length === coordinateLength ? { kty: 'OKP', crv: 'Ed25519', x: base64url(x) } : undefined;
      },
    },
  ],
  [
    -257,
    {
      name: 'RS256',
      hash: 'sha256',
      toJwk: (key) => {
        const [n, e] = [bytesOf(key, label.first), bytesOf(key, label.second)];
        if (key.get(label.type) !== 3 || n === undefined || e === undefined) return undefined;
        if (n.length < modulusLength.least || n.length > modulusLength.most) return undefined;
        return e.length <= longestExponent ? { kty: 'RSA', n: base64url(n), e: base64url(e) } : undefined;
      },
    },
  ],
] satisfies [number, Algorithm][]);

/** COSE's numbers of the algorithms whose signatures are verified here. */
export const coseAlgorithms: readonly number[] = [...algorithms.keys()];

interface VerifyingKey {
  readonly key: KeyObject;
  readonly hash: Algorithm['hash'];
}

const verifyingKeys = new Lru<string, VerifyingKey>(1024);

/** @returns what keeps these bytes from being a key that `verifyCose` takes; undefined when nothing does. */
export function coseKeyFault(publicKey: Uint8Array): string | undefined {
  const imported = importKey(publicKey);
  return typeof imported === 'string' ? imported : undefined;
}

/**
 * @param publicKey A COSE_Key in base64url.
 * @param signature DER for ECDSA, as WebAuthn has it.
 * @returns false for any signature or key that does not hold, malformed ones included.
 */
export function verifyCose(publicKey: string, signature: Uint8Array, message: Uint8Array): boolean {
  checkBytes('signature', signature);
  checkBytes('message', message);
  const known = verifyingKeyOf(publicKey);
  return known !== undefined && verify(known.hash, message, known.key, signature);
}

/**
 * Compares what two keys verify: one key has many encodings, by the order of its labels and by others beside them.
 * @param one A COSE_Key in base64url, like the other.
 */
export function isSameCoseKey(one: string, other: string): boolean {
  const [first, second] = [verifyingKeyOf(one), verifyingKeyOf(other)];
  return first !== undefined && second !== undefined && first.key.equals(second.key);
}

function verifyingKeyOf(publicKey: string): VerifyingKey | undefined {
  const known = verifyingKeys.get(publicKey);
  if (known !== undefined) return known;
  const imported = importKey(asUint8Array(Buffer.from(publicKey, 'base64url')));
  if (typeof imported === 'string') return undefined;
  verifyingKeys.set(publicKey, imported);
  return imported;
}

/** @returns the key, or what is wrong with it. */
function importKey(bytes: Uint8Array): VerifyingKey | string {
  const map = readMap(bytes);
  if (map === undefined) return 'expected a COSE_Key with whole numbers and byte strings alone';
  const number = map.get(label.algorithm);
  const algorithm = typeof number === 'number' ? algorithms.get(number) : undefined;
  if (algorithm === undefined) {
    const known = [...algorithms].map(([value, { name }]) => `${name} (${String(value)})`).join(', ');
    return `expected a key of one of ${known}, got algorithm ${typeof number === 'number' ? String(number) : 'none'}`;
  }
  const jwk = algorithm.toJwk(map);
  if (jwk === undefined) return `expected a whole ${algorithm.name} key of a usual size`;
  try {
    return { key: createPublicKey({ key: jwk, format: 'jwk' }), hash: algorithm.hash };
  } catch {
    return `expected a key of ${algorithm.name}, got numbers that make none`;
  }
}

const base64url = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64url');

function bytesOf(map: CoseMap, key: number): Uint8Array | undefined {
  const value = map.get(key);
  return typeof value === 'number' ? undefined : value;
}

/** The least of CBOR (RFC 8949) that a COSE_Key needs: one map, its keys whole numbers, its values those or bytes. */
function readMap(bytes: Uint8Array): CoseMap | undefined {
  let offset = 0;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

  /** Reads an item's head. */
  const readHead = (): { readonly major: number; readonly value: number } => {
    const first = view.getUint8(offset++);
    const [major, info] = [first >> 5, first & 0x1f];
    if (info < 24) return { major, value: info };
    if (info > 26) throw new RangeError('a length that no key has');
    const size = 1 << (info - 24);
    const value =
      size === 1 ? view.getUint8(offset) : size === 2 ? view.getUint16(offset) : view.getUint32(offset);
    offset += size;
    return { major, value };
  };
  const readItem = (): number | Uint8Array => {
    const { major, value } = readHead();
    if (major === 0) return value;
    if (major === 1) return -1 - value;
    if (major !== 2 || offset + value > bytes.length) throw new RangeError('neither a number nor bytes');
    offset += value;
    return bytes.subarray(offset - value, offset);
  };

  const map = new Map<number, number | Uint8Array>();
  try {
    const { major, value: size } = readHead();
    if (major !== 5) return undefined;
    for (let entry = 0; entry < size; entry++) {
      const key = readItem();
      if (typeof key !== 'number' || map.has(key)) return undefined;
      map.set(key, readItem());
    }
  } catch (error) {
    // The view's own bounds say where the bytes end.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
  return offset === bytes.length ? map : undefined;
}
