/** Encrypts a secret to the vault for one import. */
import { z } from 'zod';
import { toHex } from '../../crypto/encodings.ts';
import { sealToPublicKey } from '../../crypto/hpke.ts';
import { bytesOf, type VaultApi } from '../shared/api.ts';

export const importBundleAnswer = z.object({ importBundle: z.string() });

interface SealedImport {
  /** The user that this command's key is, and that the import is for. */
  readonly userId: string;
  /** The key that the secret is encrypted to: uncompressed, hex. */
  readonly targetPublicKey: string;
  readonly encryptedBundle: string;
}

/**
 * Encrypts a secret to a key that the vault makes for it and signs, and wipes it.
 * @param init Asks for the import bundle of the key.
 */
export async function encryptFor(
  api: VaultApi,
  init: (parameters: { readonly userId: string }) => Promise<string>,
  secret: Uint8Array,
): Promise<SealedImport> {
  try {
    const userId = await api.signedUserId();
    const targetPublicKey = api.readImportTarget(await init({ userId }), userId);
    const { encapsulatedKey, ciphertext } = await sealToPublicKey(bytesOf(targetPublicKey), secret);
    const encryptedBundle = JSON.stringify({
      encappedPublic: toHex(encapsulatedKey),
      ciphertext: toHex(ciphertext),
    });
    return { userId, targetPublicKey, encryptedBundle };
  } finally {
    secret.fill(0);
  }
}
