/** The signature schemes of `X-Stamp`, a row each: what they sign, and which credentials they can prove. */
import { keccak256InSteps, sha256 } from '../crypto/hashes.ts';
import { verifyEd25519, verifyEd25519Aside } from '../crypto/keys/ed25519.ts';
import { verifyP256, verifyP256Aside } from '../crypto/keys/p256.ts';
import { verifySecp256k1 } from '../crypto/keys/secp256k1.ts';
import type { Paced } from '../lib/concurrency/paced.ts';
import { ethereumMessagePrefix } from '../lib/text/ethereum-message.ts';

export interface Scheme {
  /** In bytes. */
  readonly publicKeyLength: number;
  readonly credentialTypes: readonly string[];
  /** Hashes a body for `verify`, where that takes long: a larger one in several steps. */
  readonly digest?: (body: Uint8Array) => Paced<Uint8Array>;
  /**
   * @param message The body, or its digest.
   * @returns false for any signature or key that does not hold, malformed ones included.
   */
  verify(publicKey: string, signature: Uint8Array, message: Uint8Array): boolean;
  /** The same in a thread of the platform, where the platform verifies. */
  verifyAside?(publicKey: string, signature: Uint8Array, message: Uint8Array): Promise<boolean>;
}

/** @returns what of a body `verify` takes: the body, or its digest. */
export function* messageOf({ digest }: Scheme, body: Uint8Array): Paced<Uint8Array> {
  return digest ? yield* digest(body) : body;
}

const p256Credentials = [
  'CREDENTIAL_TYPE_API_KEY_P256',
  'CREDENTIAL_TYPE_RECOVER_USER_KEY_P256',
  'CREDENTIAL_TYPE_EMAIL_AUTH_KEY_P256',
  'CREDENTIAL_TYPE_OTP_AUTH_KEY_P256',
  'CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256',
  'CREDENTIAL_TYPE_OAUTH_KEY_P256',
  'CREDENTIAL_TYPE_LOGIN',
];

export const schemes: Readonly<Record<string, Scheme>> = {
  SIGNATURE_SCHEME_TK_API_P256: {
    publicKeyLength: 33,
    credentialTypes: p256Credentials,
    verify: verifyP256,
    verifyAside: verifyP256Aside,
  },
  SIGNATURE_SCHEME_TK_API_SECP256K1: {
    publicKeyLength: 33,
    credentialTypes: ['CREDENTIAL_TYPE_API_KEY_SECP256K1'],
    verify: (publicKey, signature, body) => verifySecp256k1(publicKey, signature, sha256(body)),
  },
  SIGNATURE_SCHEME_TK_API_ED25519: {
    publicKeyLength: 32,
    credentialTypes: ['CREDENTIAL_TYPE_API_KEY_ED25519'],
    verify: verifyEd25519,
    verifyAside: verifyEd25519Aside,
  },
  SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191: {
    publicKeyLength: 33,
    credentialTypes: ['CREDENTIAL_TYPE_API_KEY_SECP256K1'],
    digest: personalMessageHash,
    verify: (publicKey, signature, digest) => verifySecp256k1(publicKey, signature, digest),
  },
};

/** EIP-191 version 0x45: the prefix, the length in decimal, the message. */
function personalMessageHash(message: Uint8Array): Paced<Uint8Array> {
  return keccak256InSteps(
    Buffer.concat([Buffer.from(ethereumMessagePrefix + String(message.length)), message]),
  );
}
