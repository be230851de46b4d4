/** Encrypts a secret to the vault for one import. */
import { z } from 'zod';
import { toHex } from '../../crypto/encodings.ts';
import { sealToPublicKey } from '../../crypto/hpke.ts';
import { bytesOf, type VaultApi } from '../shared/api.ts';

export const importBundleAnswer = z.object({ importBundle: z.string() });

/** Encrypts a secret to a key that the vault makes for it and signs, and wipes it. */
export async function encryptFor(
  api: VaultApi,
  init: (parameters: { readonly userId: string }) => Promise<{ readonly importBundle: string }>,
  secret: Uint8Array,
): Promise<{ readonly userId: string; readonly encryptedBundle: string }> {
  try {
    const userId = await api.signedUserId();
    const { importBundle } = await init({ userId });
    const target = api.readImportTarget(importBundle, userId);
    const { encapsulatedKey, ciphertext } = await sealToPublicKey(bytesOf(target), secret);
    return {
      userId,
      encryptedBundle: JSON.stringify({
        encappedPublic: toHex(encapsulatedKey),
        ciphertext: toHex(ciphertext),
      }),
    };
  } finally {
    secret.fill(0);
  }
}
