/** OpenSSH's own format of private keys (PROTOCOL.key: openssh-key-v1). */
import { cbc, ctr, gcm } from '@noble/ciphers/aes.js';
import { poly1305 } from '@noble/ciphers/_poly1305.js';
import { chacha20orig } from '@noble/ciphers/chacha.js';
import { pbkdf } from 'bcrypt-pbkdf';
import { areEqual, ByteReader, damaged, refuse, UnreadableKey } from './byte-reader.ts';
import { keyPair, type KeyPair } from './key-pair.ts';

const magic = 'openssh-key-v1\0';

/** OpenSSH writes 16 or 24. A round takes some 10 ms, so these take some five seconds. */
const mostRounds = 500;
/** OpenSSH writes 16 bytes. */
const longestSalt = 64;

interface Cipher {
  /** In bytes. */
  readonly key: number;
  readonly iv: number;
  readonly block: number;
  /** Bytes of the tag, after the encrypted part. */
  readonly tag: number;
  /** @throws Error where the tag does not fit. */
  decrypt(key: Uint8Array, iv: Uint8Array, content: Uint8Array, tag: Uint8Array): Uint8Array;
}

const aes = (
  key: number,
  decrypt: (key: Uint8Array, iv: Uint8Array) => { decrypt(content: Uint8Array): Uint8Array },
): Cipher => ({
  ...{ key, iv: 16, block: 16, tag: 0 },
  decrypt: (secret, iv, content) => decrypt(secret, iv).decrypt(content),
});

const aesGcm = (key: number): Cipher => ({
  ...{ key, iv: 12, block: 16, tag: 16 },
  decrypt(secret, iv, content, tag) {
    const whole = new Uint8Array(content.length + tag.length);
    whole.set(content);
    whole.set(tag, content.length);
    return gcm(secret, iv).decrypt(whole);
  },
});

const unpadded = { disablePadding: true };
const ciphers: Readonly<Record<string, Cipher>> = {
  ...Object.fromEntries(
    [16, 24, 32].flatMap((key) => [
      [`aes${String(8 * key)}-ctr`, aes(key, ctr)],
      [`aes${String(8 * key)}-cbc`, aes(key, (secret, iv) => cbc(secret, iv, unpadded))],
    ]),
  ),
  'aes128-gcm@openssh.com': aesGcm(16),
  'aes256-gcm@openssh.com': aesGcm(32),
  // PROTOCOL.chacha20poly1305, with the sequence number 0. The second half of the key is for lengths of packets.
  'chacha20-poly1305@openssh.com': {
    ...{ key: 64, iv: 0, block: 8, tag: 16 },
    decrypt(secret, _iv, content, tag) {
      const main = secret.subarray(0, 32);
      const nonce = new Uint8Array(8);
      const authenticator = chacha20orig(main, nonce, new Uint8Array(32));
      if (!areEqual(poly1305(content, authenticator), tag)) throw new UnreadableKey('refused', damaged);
      return chacha20orig(main, nonce, content, undefined, 1);
    },
  },
};

/** Why a key of this type is refused; undefined for a type that Keyhearth holds. */
function refusalOf(type: string): string | undefined {
  if (type === 'ssh-ed25519' || type === 'ecdsa-sha2-nistp256') return undefined;
  if (type.includes('-cert-'))
    return 'This is an SSH certificate. Choose the file of the private key itself.';
  if (type.startsWith('sk-')) {
    return 'The private key is inside a security key and cannot leave the device. Keep using the device.';
  }
  if (type === 'ssh-rsa') return unsupported('an RSA key');
  if (type === 'ssh-dss') return unsupported('a DSA key');
  if (type.startsWith('ecdsa-sha2-')) return unsupported('an ECDSA key on another curve');
  return unsupported('a key of another type');
}

export const unsupported = (what: string): string =>
  `This is ${what}. Keyhearth holds SSH keys on Ed25519 and P-256: create one, and give the server its public key.`;

/** @throws UnreadableKey */
export function readOpenSshKey(bytes: Uint8Array, passphrase: Uint8Array | undefined): KeyPair {
  const file = new ByteReader(bytes);
  if (new TextDecoder('latin1').decode(file.take(magic.length)) !== magic) refuse(damaged);
  const cipherName = file.text();
  const derivation = file.text();
  const options = new ByteReader(file.string());
  const count = file.uint32();
  if (count !== 1) refuse(`The file holds ${String(count)} keys. Split the file: expected one key.`);
  const publicKey = new ByteReader(file.string());
  const type = publicKey.text();
  const refusal = refusalOf(type);
  if (refusal !== undefined) refuse(refusal);
  const content = file.string();
  const isPlain = cipherName === 'none' && derivation === 'none';
  const cipher = isPlain ? undefined : cipherOf(cipherName);
  const tag = file.take(cipher?.tag ?? 0);
  file.end();
  if (content.length === 0 || content.length % (cipher?.block ?? 8) !== 0) refuse(damaged);
  const shown = publicHalf(type, publicKey);
  if (cipher === undefined) {
    options.end();
    return readPair(content, 8, type, shown);
  }
  if (derivation !== 'bcrypt') refuse(`The passphrase of the file is hashed in an unknown way. ${saveAgain}`);
  const salt = options.string();
  const rounds = options.uint32();
  options.end();
  if (salt.length === 0 || salt.length > longestSalt || rounds === 0) refuse(damaged);
  if (rounds > mostRounds) {
    refuse(
      `The file needs ${String(rounds)} rounds of hashing: expected at most ${String(mostRounds)}. ${saveAgain}`,
    );
  }
  const secret = passphrase?.length ? passphrase : needsPassphrase();
  const key = new Uint8Array(cipher.key + cipher.iv);
  let plain: Uint8Array | undefined;
  try {
    if (pbkdf(secret, secret.length, salt, salt.length, key, key.length, rounds) !== 0) {
      refuse(damaged);
    }
    plain = decrypted(cipher, key, content, tag);
    return readPair(plain, cipher.block, type, shown);
  } finally {
    key.fill(0);
    plain?.fill(0);
  }
}

export const saveAgain = 'Save the file again: `ssh-keygen -p -a 24 -f FILE`.';

function cipherOf(name: string): Cipher {
  const cipher = Object.hasOwn(ciphers, name) ? ciphers[name] : undefined;
  return cipher ?? refuse(`The file is encrypted in an unsupported way. ${saveAgain}`);
}

function decrypted(cipher: Cipher, key: Uint8Array, content: Uint8Array, tag: Uint8Array): Uint8Array {
  let plain: Uint8Array;
  try {
    plain = cipher.decrypt(key.subarray(0, cipher.key), key.subarray(cipher.key), content, tag);
  } catch {
    throw wrongPassphrase();
  }
  const check = new ByteReader(plain);
  if (check.uint32() === check.uint32()) return plain;
  plain.fill(0);
  throw wrongPassphrase();
}

/** @throws UnreadableKey always. */
export function needsPassphrase(): never {
  throw new UnreadableKey('passphrase needed', 'The key file needs its passphrase.');
}

export const wrongPassphrase = (): UnreadableKey =>
  new UnreadableKey('wrong passphrase', 'The passphrase is wrong, or the key file is damaged.');

const p256Name = 'nistp256';

/** The public key after the type: 32 bytes of Ed25519, or SEC 1. */
function publicHalf(type: string, reader: ByteReader): Uint8Array {
  if (type !== 'ssh-ed25519' && reader.text() !== p256Name) refuse(damaged);
  const key = reader.string();
  reader.end();
  return key;
}

/** Reads what was encrypted: two equal numbers, the key, its comment, and a padding of 1, 2, 3 and so on. */
function readPair(plain: Uint8Array, block: number, type: string, shown: Uint8Array): KeyPair {
  const reader = new ByteReader(plain);
  if (reader.uint32() !== reader.uint32() || reader.text() !== type) refuse(damaged);
  if (type !== 'ssh-ed25519' && reader.text() !== p256Name) refuse(damaged);
  const inner = reader.string();
  const secret = reader.string();
  const comment = reader.text();
  if (reader.left >= block) refuse(damaged);
  for (let expected = 1; reader.left > 0; expected += 1) if (reader.byte() !== expected) refuse(damaged);
  if (type === 'ssh-ed25519') {
    if (secret.length !== 64) refuse(damaged);
    const publicKeys = [shown, inner, secret.subarray(32)];
    return keyPair('CURVE_ED25519', secret.subarray(0, 32), publicKeys, comment);
  }
  // Numbers of SSH have a sign.
  if ((secret[0] ?? 0) >= 0x80) refuse(damaged);
  return keyPair('CURVE_P256', secret, [shown, inner], comment);
}
