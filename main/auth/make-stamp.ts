/** Stamps of the vault's own: for requests of its window and of its doors. */
import { toHex } from '../crypto/encodings.ts';
import { p256PublicKey, signP256 } from '../crypto/keys/p256.ts';

/** @param privateKey Of P-256. @returns the value of `X-Stamp` over a body. */
export function stampWith(privateKey: Uint8Array, raw: Uint8Array): string {
  const stamp = {
    publicKey: toHex(p256PublicKey(privateKey)),
    scheme: 'SIGNATURE_SCHEME_TK_API_P256',
    signature: signP256(privateKey, raw),
  };
  return Buffer.from(JSON.stringify(stamp)).toString('base64url');
}
