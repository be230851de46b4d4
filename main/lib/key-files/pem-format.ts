/**
 * The keys of PEM files, as `ssh-keygen -m PEM` and `-m PKCS8` write them: SEC 1 (RFC 5915) and PKCS #8 (RFC 5958), with their
 * encryption (RFC 1423 and RFC 8018).
 */
import { cbc } from '@noble/ciphers/aes.js';
import { md5, sha1 } from '@noble/hashes/legacy.js';
import { pbkdf2 } from '@noble/hashes/pbkdf2.js';
import { sha256, sha512 } from '@noble/hashes/sha2.js';
import { ByteReader, damaged, refuse, UnreadableKey } from './byte-reader.ts';
import { keyPair, type KeyPair } from './key-pair.ts';
import { needsPassphrase, saveAgain, unsupported, wrongPassphrase } from './openssh-format.ts';

const tags = {
  ...{ integer: 2, bits: 3, octets: 4, identifier: 6, sequence: 0x30 },
  // [0] and [1], with an element inside; and [1] with bits.
  ...{ first: 0xa0, second: 0xa1, secondBits: 0x81 },
};

/** Object identifiers in DER, as hex. */
const identifiers = {
  ec: '2a8648ce3d0201',
  p256: '2a8648ce3d030107',
  ed25519: '2b6570',
  rsa: '2a864886f70d010101',
  pbes2: '2a864886f70d01050d',
  pbkdf2: '2a864886f70d01050c',
};
const hmacSha1 = '2a864886f70d0207';
const hashes = new Map([
  [hmacSha1, sha1],
  ['2a864886f70d0209', sha256],
  ['2a864886f70d020b', sha512],
]);
/** AES in CBC mode, with the bytes of each key. */
const cbcKeys = new Map([
  ['608648016503040102', 16],
  ['608648016503040116', 24],
  ['60864801650304012a', 32],
]);

/** A million rounds take some seconds. OpenSSL writes 2,048. */
const mostIterations = 1_000_000;

/** Reads DER elements (X.690). Every method throws UnreadableKey where another element stands. */
class Der {
  readonly #reader: ByteReader;

  constructor(bytes: Uint8Array) {
    this.#reader = new ByteReader(bytes);
  }

  next(tag: number): Uint8Array {
    if (this.#reader.byte() !== tag) refuse(damaged);
    const first = this.#reader.byte();
    if (first < 0x80) return this.#reader.take(first);
    // The length of a key fits into two bytes.
    if (first !== 0x81 && first !== 0x82) refuse(damaged);
    let length = this.#reader.byte();
    if (first === 0x82) length = length * 256 + this.#reader.byte();
    return this.#reader.take(length);
  }

  /** The next element where it has this tag. */
  optional(tag: number): Uint8Array | undefined {
    return this.#reader.peek() === tag ? this.next(tag) : undefined;
  }

  inner(tag: number): Der {
    return new Der(this.next(tag));
  }

  /** A whole number of at most four bytes. */
  number(): number {
    const bytes = this.next(tags.integer);
    if (bytes.length === 0 || bytes.length > 4 || (bytes[0] ?? 0) >= 0x80) refuse(damaged);
    return bytes.reduce((number, byte) => number * 256 + byte, 0);
  }

  identifier(): string {
    return hex(this.next(tags.identifier));
  }

  end(): void {
    this.#reader.end();
  }
}

const hex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** A bit string of whole bytes. */
function bits(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0 ? bytes.subarray(1) : refuse(damaged);
}

/** ECPrivateKey of RFC 5915. @param curve That the surrounding format names, if it does. */
export function readSec1(bytes: Uint8Array, curve?: string): KeyPair {
  const outer = new Der(bytes);
  const key = outer.inner(tags.sequence);
  outer.end();
  if (key.number() !== 1) refuse(damaged);
  const secret = key.next(tags.octets);
  const parameters = key.optional(tags.first);
  const named = parameters === undefined ? curve : new Der(parameters).identifier();
  if (named !== identifiers.p256 || (curve !== undefined && named !== curve)) {
    refuse(unsupported('an ECDSA key on another curve'));
  }
  const publicKey = key.optional(tags.second);
  key.end();
  const shown = publicKey === undefined ? [] : [bits(new Der(publicKey).next(tags.bits))];
  return keyPair('CURVE_P256', secret, shown);
}

/** PrivateKeyInfo of RFC 5958. */
export function readPkcs8(bytes: Uint8Array): KeyPair {
  const outer = new Der(bytes);
  const info = outer.inner(tags.sequence);
  outer.end();
  if (info.number() > 1) refuse(damaged);
  const algorithm = info.inner(tags.sequence);
  const type = algorithm.identifier();
  const content = info.next(tags.octets);
  info.optional(tags.first);
  const publicKey = info.optional(tags.secondBits);
  info.end();
  switch (type) {
    case identifiers.ec:
      return readSec1(content, algorithm.identifier());
    case identifiers.ed25519:
      return keyPair(
        'CURVE_ED25519',
        new Der(content).next(tags.octets),
        publicKey === undefined ? [] : [bits(publicKey)],
      );
    default:
      return refuse(unsupported(type === identifiers.rsa ? 'an RSA key' : 'a key of another type'));
  }
}

/** EncryptedPrivateKeyInfo of RFC 5958, with PBES2. */
export function readEncryptedPkcs8(bytes: Uint8Array, passphrase: Uint8Array | undefined): KeyPair {
  const outer = new Der(bytes);
  const info = outer.inner(tags.sequence);
  outer.end();
  const algorithm = info.inner(tags.sequence);
  const content = info.next(tags.octets);
  info.end();
  if (algorithm.identifier() !== identifiers.pbes2) refuseEncryption();
  const scheme = algorithm.inner(tags.sequence);
  const derivation = scheme.inner(tags.sequence);
  if (derivation.identifier() !== identifiers.pbkdf2) refuseEncryption();
  const settings = derivation.inner(tags.sequence);
  const salt = settings.next(tags.octets);
  const c = settings.number();
  if (c === 0) refuse(damaged);
  if (c > mostIterations) {
    refuse(
      `The file needs ${String(c)} rounds of hashing: expected at most ${String(mostIterations)}. ${saveAgain}`,
    );
  }
  settings.optional(tags.integer);
  const prf = settings.optional(tags.sequence);
  const hash = hashes.get(prf === undefined ? hmacSha1 : new Der(prf).identifier());
  const encryption = scheme.inner(tags.sequence);
  const dkLen = cbcKeys.get(encryption.identifier());
  if (hash === undefined || dkLen === undefined) refuseEncryption();
  const iv = encryption.next(tags.octets);
  return opened(passphrase, (secret) => pbkdf2(hash, secret, salt, { c, dkLen }), { iv, content }, readPkcs8);
}

/** The encryption of RFC 1423, as OpenSSL derives its key. @param header Of the PEM block: `DEK-Info`. */
export function readEncryptedSec1(
  bytes: Uint8Array,
  header: string,
  passphrase: Uint8Array | undefined,
): KeyPair {
  const [, size, digits = ''] = /^AES-(128|192|256)-CBC,([0-9A-F]{32})$/i.exec(header) ?? [];
  if (size === undefined) refuseEncryption();
  const iv = Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  const length = Number(size) / 8;
  const derive = (secret: Uint8Array): Uint8Array => {
    const key = new Uint8Array(2 * md5.outputLen);
    const first = md5.create().update(secret).update(iv.subarray(0, 8)).digest();
    key.set(first);
    key.set(md5.create().update(first).update(secret).update(iv.subarray(0, 8)).digest(), first.length);
    return key.slice(0, length);
  };
  return opened(passphrase, derive, { iv, content: bytes }, readSec1);
}

function opened(
  passphrase: Uint8Array | undefined,
  derive: (secret: Uint8Array) => Uint8Array,
  { iv, content }: { readonly iv: Uint8Array; readonly content: Uint8Array },
  read: (plain: Uint8Array) => KeyPair,
): KeyPair {
  if (iv.length !== 16 || content.length === 0 || content.length % 16 !== 0) refuse(damaged);
  const key = derive(passphrase?.length ? passphrase : needsPassphrase());
  let plain: Uint8Array | undefined;
  try {
    plain = decrypted(key, iv, content);
    return read(plain);
  } catch (error) {
    // A wrong passphrase leaves noise, which seldom looks padded.
    if (error instanceof UnreadableKey && error.message === damaged) throw wrongPassphrase();
    throw error;
  } finally {
    key.fill(0);
    plain?.fill(0);
  }
}

function decrypted(key: Uint8Array, iv: Uint8Array, content: Uint8Array): Uint8Array {
  try {
    return cbc(key, iv).decrypt(content);
  } catch {
    throw wrongPassphrase();
  }
}

function refuseEncryption(): never {
  return refuse(`The file is encrypted in an unsupported way. ${saveAgain}`);
}
