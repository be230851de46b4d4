/** API key pairs (P-256), generated in the window by WebCrypto and written in the SDKs' formats. */

import { fromBase64Url, toHex } from '../../ui/text/bytes.ts';

export interface ApiKeyPair {
  /** Compressed SEC1 point, 66 hex digits. */
  readonly publicKey: string;
  /** The scalar, 64 hex digits. */
  readonly privateKey: string;
}

export async function generateApiKeyPair(): Promise<ApiKeyPair> {
  const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
    'sign',
    'verify',
  ]);
  return keyPairFromJwk(await crypto.subtle.exportKey('jwk', pair.privateKey));
}

/** Reads a private EC key of RFC 7518 section 6.2: `x`, `y` and `d` are base64url of 32 bytes each. */
export function keyPairFromJwk({ crv, x, y, d }: JsonWebKey): ApiKeyPair {
  if (crv !== 'P-256' || x === undefined || y === undefined || d === undefined) {
    throw new TypeError('keyPairFromJwk: expected a private P-256 key with x, y and d');
  }
  const prefix = ((fromBase64Url(y).at(-1) ?? 0) & 1) === 0 ? '02' : '03';
  return { publicKey: prefix + hex32(x), privateKey: hex32(d) };
}

const hex32 = (text: string): string => toHex(fromBase64Url(text)).padStart(64, '0');
