/** Hybrid public key encryption (RFC 9180), base mode, one message to a public key. */
import {
  Aes256Gcm,
  CipherSuite,
  DhkemP256HkdfSha256,
  HkdfSha256,
  type RecipientContext,
  type SenderContext,
} from '@hpke/core';
import { checkBytes, concatBytes } from './bytes.ts';
import { invalid } from './encodings.ts';
import { p256KeyPair, p256PublicKey, uncompressP256 } from './keys/p256.ts';
import { copyOfBytes } from './secret-text.ts';

const publicKeyLength = 65;
const privateKeyLength = 32;
const tagLength = 16;

/** The cipher suite of the API's bundles, and the text that binds them to it. */
const bundleInfo = new TextEncoder().encode('turnkey_hpke');
export const bundleSuite: CipherSuite = new CipherSuite({
  kem: new DhkemP256HkdfSha256(),
  kdf: new HkdfSha256(),
  aead: new Aes256Gcm(),
});

export interface Sealed {
  /** The ephemeral public key, uncompressed SEC 1, 65 bytes. */
  readonly encapsulatedKey: Uint8Array;
  /** Ends in the tag, 16 bytes. */
  readonly ciphertext: Uint8Array;
}

/**
 * Encrypts a bundle's plaintext to a P-256 key.
 * @param recipientPublicKey Uncompressed SEC 1, 65 bytes.
 * @param ephemeralSeed Makes the result reproducible; without it the ephemeral key is fresh, as it must be
 * outside `dev`.
 * @throws KeyhearthError INVALID_ARGUMENT when the key is not a point of the curve.
 */
export async function sealToPublicKey(
  recipientPublicKey: Uint8Array,
  plaintext: Uint8Array,
  ephemeralSeed?: Uint8Array,
): Promise<Sealed> {
  checkBytes('recipientPublicKey', recipientPublicKey, publicKeyLength);
  checkBytes('plaintext', plaintext);
  const sender = await senderContext(bundleSuite, recipientPublicKey, bundleInfo, ephemeralSeed);
  const encapsulatedKey = new Uint8Array(sender.enc);
  const copy = owned(plaintext);
  try {
    const ciphertext = await sender.seal(copy, bundleAad(encapsulatedKey, recipientPublicKey));
    return { encapsulatedKey, ciphertext: new Uint8Array(ciphertext) };
  } finally {
    copy.fill(0);
  }
}

/**
 * Opens a bundle with the P-256 key it was encrypted to.
 * @param recipientPrivateKey 32 bytes.
 * @param encapsulatedKey Uncompressed SEC 1, 65 bytes.
 * @returns The plaintext, which the caller erases after use.
 * @throws KeyhearthError INVALID_ARGUMENT when it was encrypted to another key, or changed.
 */
export async function openWithPrivateKey(
  recipientPrivateKey: Uint8Array,
  { encapsulatedKey, ciphertext }: Sealed,
): Promise<Uint8Array> {
  checkBytes('recipientPrivateKey', recipientPrivateKey, privateKeyLength);
  checkBytes('encapsulatedKey', encapsulatedKey, publicKeyLength);
  checkBytes('ciphertext', ciphertext);
  if (ciphertext.length < tagLength) {
    throw invalid(
      'ciphertext',
      `expected ${String(tagLength)} bytes or more, got ${String(ciphertext.length)}`,
    );
  }
  const recipientPublicKey = uncompressP256(p256PublicKey(recipientPrivateKey));
  const recipientKey = await p256KeyPair(recipientPrivateKey, recipientPublicKey);
  const recipient = await recipientContext(bundleSuite, recipientKey, encapsulatedKey, bundleInfo);
  try {
    return new Uint8Array(
      await recipient.open(owned(ciphertext), bundleAad(encapsulatedKey, recipientPublicKey)),
    );
  } catch {
    throw invalid('ciphertext', 'it does not open: it was encrypted to another key, or changed on the way');
  }
}

/** The sender's side of any suite: `enc` goes to the recipient, `seal` numbers the messages itself. */
export async function senderContext(
  suite: CipherSuite,
  recipientPublicKey: Uint8Array,
  info: Uint8Array,
  ephemeralSeed?: Uint8Array,
): Promise<SenderContext> {
  const recipientKey = await importKey(suite, 'recipientPublicKey', recipientPublicKey);
  const ekm = ephemeralSeed && (await suite.kem.deriveKeyPair(owned(ephemeralSeed)));
  return suite.createSenderContext({
    recipientPublicKey: recipientKey,
    info: owned(info),
    ...(ekm === undefined ? {} : { ekm }),
  });
}

/**
 * The recipient's side of any suite.
 * @param recipientKey With its public key: the suite would export a private key to learn it, as a text that cannot be erased.
 */
export async function recipientContext(
  suite: CipherSuite,
  recipientKey: CryptoKeyPair,
  encapsulatedKey: Uint8Array,
  info: Uint8Array,
): Promise<RecipientContext> {
  // Checked here so that a wrong key and a ciphertext that does not open have different errors.
  await importKey(suite, 'encapsulatedKey', encapsulatedKey);
  return suite.createRecipientContext({
    recipientKey,
    enc: owned(encapsulatedKey),
    info: owned(info),
  });
}

async function importKey(suite: CipherSuite, name: string, publicKey: Uint8Array): Promise<CryptoKey> {
  try {
    return await suite.kem.importKey('raw', owned(publicKey).buffer, true);
  } catch {
    throw invalid(name, "expected a public key of the suite's curve, got bytes that are none");
  }
}

const bundleAad = (encapsulatedKey: Uint8Array, recipientPublicKey: Uint8Array): Uint8Array<ArrayBuffer> =>
  concatBytes(encapsulatedKey, recipientPublicKey);

/** A copy with memory of its own, which WebCrypto's types ask for. */
const owned = copyOfBytes;
