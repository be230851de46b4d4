/** Encrypts a secret to the vault for one import. */
import { z } from 'zod';
import { toHex } from '../../crypto/encodings.ts';
import { sealToPublicKey } from '../../crypto/hpke.ts';
import { quoted } from '../../lib/errors.ts';
import { bytesOf, publicKeyHex, type VaultApi } from '../shared/api.ts';
import { CommandError, exitCodes } from '../shared/output.ts';

export const importBundleAnswer = z.object({ importBundle: z.string() });

const whoami = z.object({ userId: z.string() });
const importTarget = z.object({ targetPublic: publicKeyHex, userId: z.string() });

/** Encrypts a secret to a key that the vault makes for it and signs, and wipes it. */
export async function encryptFor(
  api: VaultApi,
  init: (parameters: { readonly userId: string }) => Promise<{ readonly importBundle: string }>,
  secret: Uint8Array,
): Promise<{ readonly userId: string; readonly encryptedBundle: string }> {
  try {
    const { userId } = await api.query('whoami', whoami, {});
    const { importBundle } = await init({ userId });
    const target = api.readSigned(importBundle, importTarget);
    if (target.userId !== userId) {
      throw new CommandError(
        exitCodes.failed,
        `the import bundle is for user ${quoted(target.userId)}, expected ${quoted(userId)}: nothing was imported`,
      );
    }
    const { encapsulatedKey, ciphertext } = await sealToPublicKey(bytesOf(target.targetPublic), secret);
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
