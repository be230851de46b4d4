/** Compact JSON Web Tokens (RFC 7519) with ES256, which the vault signs and reads again. */
import { compressP256, signP256Raw, verifyP256Raw } from './keys/p256.ts';
import { asUint8Array } from './bytes.ts';
import { sha256 } from './hashes.ts';
import { toHex } from './encodings.ts';

const header = { alg: 'ES256', typ: 'JWT' };

/** The signed form of a token's text: the text, or its SHA-256, which the clients of sessions check. */
const signedForms = {
  text: (text: Uint8Array): Uint8Array => text,
  digest: sha256,
} as const;

type SignedForm = keyof typeof signedForms;

const longestToken = 4096;

/** @param privateKey P-256, 32 bytes. */
export function signToken(privateKey: Uint8Array, claims: object, form: SignedForm = 'text'): string {
  const text = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  const signature = signP256Raw(privateKey, signedForms[form](bytesOf(text)));
  return `${text}.${Buffer.from(signature).toString('base64url')}`;
}

/**
 * @param publicKey P-256 in hex, uncompressed.
 * @returns the claims; undefined for what the key did not sign, or is no such token.
 */
export function readToken(
  publicKey: string,
  token: string,
  form: SignedForm = 'text',
): Readonly<Record<string, unknown>> | undefined {
  const parts = /^([\w-]+)\.([\w-]+)\.([\w-]{86})$/.exec(token);
  const [, head = '', body = '', signature = ''] = parts ?? [];
  if (parts === null || token.length > longestToken) return undefined;
  const key = toHex(compressP256(asUint8Array(Buffer.from(publicKey, 'hex'))));
  const signed = signedForms[form](bytesOf(`${head}.${body}`));
  if (!verifyP256Raw(key, asUint8Array(Buffer.from(signature, 'base64url')), signed)) return undefined;
  // Whatever this key signed is JSON; what it signs beside tokens has no such header.
  const { alg, typ } = objectOf(head) ?? {};
  return alg === header.alg && typ === header.typ ? objectOf(body) : undefined;
}

const bytesOf = (text: string): Uint8Array => asUint8Array(Buffer.from(text));

function objectOf(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value = JSON.parse(Buffer.from(part, 'base64url').toString('utf8')) as unknown;
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
