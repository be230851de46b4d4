/**
 * Secrets on their way between the window and the vault, as the API's bundles: HPKE (RFC 9180, base mode, P-256) to the
 * receiver's key, and from the vault signed by its signer (ECDSA, SHA-256). Nothing else of the window sees them.
 */

import { Aes256Gcm, CipherSuite, DhkemP256HkdfSha256, HkdfSha256 } from '@hpke/core';
import { fromHex, toHex } from '../../ui/text/bytes.ts';
import { t } from '../../app/i18n/text.ts';

const suite = new CipherSuite({
  kem: new DhkemP256HkdfSha256(),
  kdf: new HkdfSha256(),
  aead: new Aes256Gcm(),
});
const info = new TextEncoder().encode('turnkey_hpke');

/** Whom a bundle must come from and be for. */
export interface Expected {
  /** The vault's signer key: hex, uncompressed P-256. */
  readonly signer: string;
  readonly organizationId: string;
}

/** The key pair that the vault encrypts an export to: only its private half opens the bundle. */
export interface ExportTarget {
  /** Hex, uncompressed P-256. */
  readonly targetPublicKey: string;
  /**
   * @param exportBundle As the vault answers it.
   * @returns the secret, which the caller wipes.
   * @throws TypeError when the bundle is not the vault's own, or for something else.
   */
  readonly open: (exportBundle: string, expected: Expected) => Promise<Uint8Array>;
}

/** A key pair for one export; its private half stays in this closure. */
export async function newExportTarget(): Promise<ExportTarget> {
  const pair = await suite.kem.generateKeyPair();
  const publicKey = new Uint8Array(await suite.kem.serializePublicKey(pair.publicKey));
  return {
    targetPublicKey: toHex(publicKey),
    async open(exportBundle, expected) {
      const data = await readSigned(exportBundle, expected);
      const encapsulated = bytesOf(data, 'encappedPublic');
      const recipient = await suite.createRecipientContext({ recipientKey: pair, enc: encapsulated, info });
      try {
        return new Uint8Array(
          await recipient.open(bytesOf(data, 'ciphertext'), concat(encapsulated, publicKey)),
        );
      } catch {
        throw new TypeError(
          'What the vault answered does not open: it was encrypted to another key, or changed.',
        );
      }
    },
  };
}

/**
 * Encrypts a secret for one import.
 * @param importBundle As the vault answers it.
 * @returns the text of an `encryptedBundle`, and the key that it is encrypted to.
 * @throws TypeError when the bundle is not the vault's own, or for another user.
 */
export async function sealImport(
  importBundle: string,
  expected: Expected & { readonly userId: string },
  secret: Uint8Array<ArrayBuffer>,
): Promise<{ readonly encryptedBundle: string; readonly targetPublicKey: string }> {
  const data = await readSigned(importBundle, expected);
  checkField(data, 'userId', expected.userId);
  const targetPublic = bytesOf(data, 'targetPublic');
  const sender = await suite.createSenderContext({
    recipientPublicKey: await suite.kem.importKey('raw', targetPublic.buffer, true),
    info,
  });
  const encapsulated = new Uint8Array(sender.enc);
  const ciphertext = await sender.seal(secret, concat(encapsulated, targetPublic));
  const encryptedBundle = JSON.stringify({
    encappedPublic: toHex(encapsulated),
    ciphertext: toHex(new Uint8Array(ciphertext)),
  });
  return { encryptedBundle, targetPublicKey: toHex(targetPublic) };
}

type Fields = Readonly<Record<string, unknown>>;

/** Reads what the vault has signed, after checking that it has. */
async function readSigned(bundle: string, { signer, organizationId }: Expected): Promise<Fields> {
  const envelope = readFields(bundle);
  checkField(envelope, 'version', 'v1.0.0');
  if (envelope['enclaveQuorumPublic'] !== signer) throw notSigned();
  const data = bytesOf(envelope, 'data');
  const key = await crypto.subtle.importKey(
    'raw',
    fromHex(signer),
    { name: 'ECDSA', namedCurve: 'P-256' },
    false,
    ['verify'],
  );
  const signature = rawSignature(bytesOf(envelope, 'dataSignature'));
  if (!(await crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, key, signature, data))) {
    throw notSigned();
  }
  const fields = readFields(new TextDecoder('utf-8', { fatal: true }).decode(data));
  checkField(fields, 'organizationId', organizationId);
  return fields;
}

function readFields(text: string): Fields {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null) throw unexpected(t('an object'));
  return value as Fields;
}

function checkField(fields: Fields, name: string, expected: string): void {
  if (fields[name] !== expected) throw unexpected(`${name} ${expected}`);
}

function bytesOf(fields: Fields, name: string): Uint8Array<ArrayBuffer> {
  const value = fields[name];
  if (typeof value !== 'string' || !/^([0-9a-f]{2})+$/i.test(value))
    throw unexpected(t('{{name}} in hex', { name }));
  return fromHex(value);
}

const notSigned = (): TypeError =>
  new TypeError(
    'What came as the vault’s answer is not signed by the vault’s key. Nothing was done with it.',
  );

const unexpected = (what: string): TypeError =>
  new TypeError(`What the vault answered is not what was asked for: expected ${what}.`);

/** An ECDSA signature's r and s, of 32 bytes each, from their ASN.1 form (RFC 3279, 2.2.3), which WebCrypto does not take. */
function rawSignature(der: Uint8Array): Uint8Array<ArrayBuffer> {
  const raw = new Uint8Array(64);
  let at = 0;
  const header = (tag: number, most: number): number => {
    const length = der[at + 1] ?? 0;
    if (der[at] !== tag || length === 0 || length > most) throw unexpected(t('a signature in DER'));
    at += 2;
    return length;
  };
  if (header(0x30, 70) !== der.length - at) throw unexpected(t('a signature in DER'));
  for (const end of [32, 64]) {
    const length = header(0x02, 33);
    // A number whose first bit is set has a zero in front.
    const digits = der.subarray(at, at + length).slice(length === 33 ? 1 : 0);
    raw.set(digits, end - digits.length);
    at += length;
  }
  if (at !== der.length) throw unexpected(t('a signature in DER'));
  return raw;
}

function concat(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}
