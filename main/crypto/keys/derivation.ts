/** Derivation of private keys from a wallet's seed: BIP-32 for secp256k1, SLIP-0010 for Ed25519 and P-256. */
import { createHmac } from 'node:crypto';
import { quoted } from '../../lib/errors.ts';
import { checkBytes, concatBytes } from '../bytes.ts';
import type { Curve } from './curves.ts';
import { invalid } from '../encodings.ts';
import { addToP256PrivateKey, isP256PrivateKey, p256PublicKey } from './p256.ts';
import { addToPrivateKey, isSecp256k1PrivateKey, publicKeyFromPrivate } from './secp256k1.ts';
import { copyOfBytes } from '../secret-text.ts';

/** Child numbers from the master key down; hardened ones are 2^31 and above. */
export type DerivationPath = readonly number[];

const hardened = 0x80000000;
/** An extended key counts its depth in one byte. */
const mostComponents = 255;
const shortestSeed = 16;
const longestSeed = 64;

/**
 * Reads a path such as `m/44'/60'/0'/0/0`; a hardened component ends in `'`, `h` or `H`.
 * @param field The path's name in the request, for errors.
 * @throws KeyhearthError INVALID_ARGUMENT naming the component that is wrong, counted from 1.
 */
export function parsePath(path: string, field = 'path'): DerivationPath {
  if (typeof path !== 'string') throw invalid(field, `expected text, got ${typeof path}`);
  const [root, ...components] = path.split('/');
  if (root !== 'm')
    throw invalid(
      field,
      `expected a path that starts with "m", such as "m/44'/60'/0'/0/0", got ${quoted(path)}`,
    );
  if (components.length > mostComponents) {
    throw invalid(
      field,
      `expected at most ${String(mostComponents)} components, got ${String(components.length)}`,
    );
  }
  return components.map((component, at) => {
    const match = /^(0|[1-9][0-9]{0,9})(['hH]?)$/.exec(component);
    const number = Number(match?.[1]);
    if (!match || number >= hardened) {
      throw invalid(
        field,
        `component ${String(at + 1)} is ${quoted(component)}; expected a number from 0 to 2147483647, followed by ' where it is hardened`,
      );
    }
    return match[2] === '' ? number : number + hardened;
  });
}

/** @returns the path in the one form that equal paths share: `'` for hardened. */
export const formatPath = (path: DerivationPath): string =>
  ['m', ...path.map((index) => (index >= hardened ? `${String(index - hardened)}'` : String(index)))].join(
    '/',
  );

/**
 * @param seed 16 to 64 bytes; BIP-39 makes 64.
 * @param field The path's name in the request, for errors.
 * @returns The private key, 32 bytes, which the caller erases after use.
 * @throws KeyhearthError INVALID_ARGUMENT for a path that is malformed or that the curve does not have.
 */
export function derivePrivateKey(
  curve: Curve,
  seed: Uint8Array,
  path: string | DerivationPath,
  field = 'path',
): Uint8Array {
  checkBytes('seed', seed);
  checkSeedLength(seed);
  const indices = typeof path === 'string' ? parsePath(path, field) : path;
  indices.forEach(checkIndex);
  const scheme = schemes[curve];
  // Before any work: the fault is in the path alone.
  scheme.checkPath(indices, field);
  const { key, chainCode } = deriveNode(curve, seed, indices);
  chainCode.fill(0);
  return key;
}

function deriveNode(curve: Curve, seed: Uint8Array, path: DerivationPath): Node {
  const scheme = schemes[curve];
  let node = scheme.master(seed);
  for (const index of path) {
    const parent = node;
    node = scheme.child(parent, index);
    parent.key.fill(0);
    parent.chainCode.fill(0);
  }
  return node;
}

function checkSeedLength({ length }: Uint8Array): void {
  if (length >= shortestSeed && length <= longestSeed) return;
  throw new TypeError(
    `seed: expected ${String(shortestSeed)} to ${String(longestSeed)} bytes, got ${String(length)}`,
  );
}

/** The parents that are kept at most. */
const mostParents = 64;

/**
 * Derives many keys of one seed. Parents are kept until it is disposed of, so that siblings cost a step each; what comes
 * out is what `derivePrivateKey` answers.
 */
export class SeedDerivation implements Disposable {
  readonly #seed: Uint8Array;
  /** By curve and path; the oldest first. */
  readonly #parents = new Map<string, Node>();

  /** @param seed 16 to 64 bytes, copied. */
  constructor(seed: Uint8Array) {
    checkBytes('seed', seed);
    checkSeedLength(seed);
    this.#seed = copyOfBytes(seed);
  }

  /**
   * @returns The private key, 32 bytes, which the caller erases after use.
   * @throws KeyhearthError INVALID_ARGUMENT for a path that is malformed or that the curve does not have.
   */
  privateKey(curve: Curve, path: string): Uint8Array {
    const indices = parsePath(path);
    const last = indices.at(-1);
    if (last === undefined) return derivePrivateKey(curve, this.#seed, indices);
    schemes[curve].checkPath(indices, 'path');
    const { key, chainCode } = schemes[curve].child(this.#parent(curve, indices.slice(0, -1)), last);
    chainCode.fill(0);
    return key;
  }

  [Symbol.dispose](): void {
    this.#seed.fill(0);
    for (const name of this.#parents.keys()) this.#forget(name);
  }

  #parent(curve: Curve, path: DerivationPath): Node {
    const name = `${curve} ${formatPath(path)}`;
    const known = this.#parents.get(name);
    if (known !== undefined) return known;
    const parent = deriveNode(curve, this.#seed, path);
    this.#parents.set(name, parent);
    for (const oldest of this.#parents.keys()) {
      if (this.#parents.size <= mostParents) break;
      this.#forget(oldest);
    }
    return parent;
  }

  #forget(name: string): void {
    const parent = this.#parents.get(name);
    parent?.key.fill(0);
    parent?.chainCode.fill(0);
    this.#parents.delete(name);
  }
}

/**
 * The secp256k1 master public key of a seed, which names the wallet: no other seed has it.
 * @returns Compressed SEC 1, 33 bytes.
 */
export function masterPublicKey(seed: Uint8Array): Uint8Array {
  const master = derivePrivateKey('CURVE_SECP256K1', seed, []);
  try {
    return publicKeyFromPrivate(master);
  } finally {
    master.fill(0);
  }
}

/** An extended private key. */
interface Node {
  readonly key: Uint8Array;
  readonly chainCode: Uint8Array;
  /** Once it was asked for. */
  publicKey?: Uint8Array;
}

interface Scheme {
  /** @param field The path's name in the request, for errors. */
  checkPath(path: DerivationPath, field: string): void;
  master(seed: Uint8Array): Node;
  child(parent: Node, index: number): Node;
}

const schemes: Readonly<Record<Curve, Scheme>> = {
  CURVE_SECP256K1: {
    checkPath: () => undefined,
    master(seed) {
      const node = masterHash('Bitcoin seed', seed);
      if (!isSecp256k1PrivateKey(node.key)) throw new Error('seed: BIP-32 has no master key for this seed');
      return node;
    },
    child(parent, index) {
      const tweak = childHash(parent, index, () => (parent.publicKey ??= publicKeyFromPrivate(parent.key)));
      const key = addToPrivateKey(parent.key, tweak.key);
      tweak.key.fill(0);
      // BIP-32: proceed with the next number. The chance is below 2^-127.
      if (!key)
        throw invalid(
          'path',
          `BIP-32 has no key at component ${formatPath([index]).slice(2)} of this seed; expected another`,
        );
      return { key, chainCode: tweak.chainCode };
    },
  },
  CURVE_ED25519: {
    checkPath(path, field) {
      const at = path.findIndex((index) => index < hardened);
      if (at === -1) return;
      throw invalid(
        field,
        `component ${String(at + 1)} is ${quoted(String(path[at]))}, which is not hardened; CURVE_ED25519 (SLIP-0010) has hardened components only, expected ${quoted(`${String(path[at])}'`)}`,
      );
    },
    master: (seed) => masterHash('ed25519 seed', seed),
    child: (parent, index) =>
      childHash(parent, index, () => {
        throw new Error('unreachable: the path is hardened throughout');
      }),
  },
  // One hash in 2^32 is not a valid key: SLIP-0010 then hashes again.
  CURVE_P256: {
    checkPath: () => undefined,
    master(seed) {
      let node = masterHash('Nist256p1 seed', seed);
      while (!isP256PrivateKey(node.key)) {
        node = masterHash('Nist256p1 seed', concatBytes(node.key, node.chainCode));
      }
      return node;
    },
    child(parent, index) {
      let tweak = childHash(parent, index, () => p256PublicKey(parent.key));
      let key = addToP256PrivateKey(parent.key, tweak.key);
      while (key === undefined) {
        tweak = hashOf(parent, concatBytes(Uint8Array.of(1), tweak.chainCode, numberBytes(index)));
        key = addToP256PrivateKey(parent.key, tweak.key);
      }
      tweak.key.fill(0);
      return { key, chainCode: tweak.chainCode };
    },
  },
};

function masterHash(name: string, seed: Uint8Array): Node {
  return toNode(hmacSha512(Buffer.from(name, 'ascii'), seed));
}

/** The hash that BIP-32 and SLIP-0010 share: over parent and number; half of it is the child's chain code. */
function childHash(parent: Node, index: number, publicKey: () => Uint8Array): Node {
  const number = numberBytes(index);
  return hashOf(
    parent,
    index >= hardened ? concatBytes(Uint8Array.of(0), parent.key, number) : concatBytes(publicKey(), number),
  );
}

/** @param data Wiped: it may hold the key. */
function hashOf({ chainCode }: Node, data: Uint8Array): Node {
  try {
    return toNode(hmacSha512(chainCode, data));
  } finally {
    data.fill(0);
  }
}

function numberBytes(index: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(index);
  return bytes;
}

const hmacSha512 = (key: Uint8Array, data: Uint8Array): Buffer =>
  createHmac('sha512', key).update(data).digest();

function toNode(hash: Buffer): Node {
  const node = { key: copyOfBytes(hash.subarray(0, 32)), chainCode: copyOfBytes(hash.subarray(32)) };
  hash.fill(0);
  return node;
}

function checkIndex(index: number, at: number): void {
  if (!Number.isInteger(index) || index < 0 || index >= 2 * hardened) {
    throw invalid(
      'path',
      `component ${String(at + 1)} is ${String(index)}; expected a whole number from 0 to 4294967295`,
    );
  }
}
