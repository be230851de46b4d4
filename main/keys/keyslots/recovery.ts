/** The key that a recovery phrase gives: 24 words (BIP-39) are 32 bytes of entropy, and HKDF (RFC 5869) makes the key. */
import { hkdfSync } from 'node:crypto';
import { z } from 'zod';
import { entropyFromMnemonic } from '../../crypto/keys/mnemonics.ts';
import type { SecretText } from '../../crypto/secret-text.ts';

/** The stored parameters of a recovery slot. */
export const recoveryParameters = z.strictObject({
  version: z.literal(1),
  kdf: z.literal('hkdf-sha256'),
  /** Hex. */
  salt: z.string().regex(/^[0-9a-f]{64}$/),
});

export type RecoveryParameters = z.infer<typeof recoveryParameters>;

const wordCount = 24;

/**
 * @param phrase Case and white space do not matter.
 * @returns 32 bytes, which the caller erases after use.
 * @throws KeyhearthError INVALID_ARGUMENT naming the number of words, the position of an unknown one, or the checksum; never a word.
 */
export function recoveryKey(phrase: SecretText, { salt }: RecoveryParameters): Uint8Array {
  const entropy = entropyFromMnemonic(phrase, 'recovery phrase', [wordCount]);
  try {
    // The phrase is entropy already: a slow function would add nothing.
    const key = hkdfSync('sha256', entropy, Buffer.from(salt, 'hex'), 'latchkey recovery phrase', 32);
    return new Uint8Array(key);
  } finally {
    entropy.fill(0);
  }
}
