/** The key that a password gives: argon2id (RFC 9106), by one implementation under Node and Electron alike. */
import { hashRaw } from '@node-rs/argon2';
import { z } from 'zod';
import { checkBytes } from '../../crypto/bytes.ts';
import { invalid } from '../../crypto/encodings.ts';
import { bytesOfSecret, countCharacters, normalized, type SecretText } from '../../crypto/secret-text.ts';

export interface PasswordCost {
  readonly memoryKiB: number;
  readonly passes: number;
  readonly parallelism: number;
}

export const defaultPasswordCost: PasswordCost = { memoryKiB: 64 * 1024, passes: 3, parallelism: 1 };

/**
 * The stored parameters of a password slot. The upper bounds are checked when a slot is opened: an attacker
 * who can write the file must not exhaust the machine's memory or time.
 */
export const passwordParameters = z
  .strictObject({
    version: z.literal(1),
    kdf: z.literal('argon2id'),
    memoryKiB: z
      .int()
      .min(8)
      .max(1024 * 1024),
    passes: z.int().min(1).max(16),
    parallelism: z.int().min(1).max(16),
    /** Hex. */
    salt: z.string().regex(/^[0-9a-f]{32}$/),
  })
  .refine(({ memoryKiB, parallelism }) => memoryKiB >= 8 * parallelism, {
    path: ['memoryKiB'],
    message: 'expected 8 KiB or more for each lane of parallelism',
  });

export type PasswordParameters = z.infer<typeof passwordParameters>;

/** Characters, as a person counts them. */
const length = { min: 8, max: 1024 };

/** The byte order mark in UTF-8, with which some editors begin a file. */
const byteOrderMark = Buffer.from('\uFEFF');

/**
 * Checks the rules for a new password. An existing password is only tried.
 * @throws KeyhearthError INVALID_ARGUMENT
 */
export function checkNewPassword(password: SecretText): void {
  const bytes = bytesOfSecret('password', password);
  const count = countCharacters(bytes);
  const isMarked = byteOrderMark.equals(bytes.subarray(0, byteOrderMark.length));
  bytes.fill(0);
  if (isMarked) {
    throw invalid(
      'password',
      'it begins with a byte order mark, which cannot be typed: save its file without one',
    );
  }
  if (count < length.min || count > length.max) {
    throw invalid('password', `expected ${length.min} to ${length.max} characters, got ${count}`);
  }
}

/**
 * @param password In any composition of its characters: keyboards of different systems compose accents differently.
 * @returns 32 bytes, which the caller erases after use.
 */
export async function passwordKey(password: SecretText, parameters: PasswordParameters): Promise<Uint8Array> {
  const { memoryKiB, passes, parallelism, salt } = parameters;
  const given = bytesOfSecret('password', password);
  const bytes = normalized(given, 'NFKC');
  given.fill(0);
  try {
    const key = await hashRaw(bytes, {
      memoryCost: memoryKiB,
      timeCost: passes,
      parallelism,
      salt: Buffer.from(salt, 'hex'),
      outputLen: 32,
    });
    checkBytes('key', key, 32);
    return key;
  } finally {
    bytes.fill(0);
  }
}
