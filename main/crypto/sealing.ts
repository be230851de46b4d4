/**
 * Encryption of secrets at rest: a data key for each record, AES-256-GCM (NIST SP 800-38D).
 *
 * A sealed record is `version | data key wrapped by the master key | secret under the data key`, where both parts are
 * `nonce (12) | ciphertext | tag (16)`. Both are bound to the context of the record, so that a row, a column or a part
 * of a record that is moved elsewhere does not open.
 */
import { createCipheriv, createDecipheriv } from 'node:crypto';
import { KeyhearthError } from '../lib/errors.ts';
import type { Random } from '../lib/random.ts';
import { checkBytes, concatBytes } from './bytes.ts';
import { ownBytes } from './secret-text.ts';

/** The record that a secret is sealed for. It opens there and nowhere else. */
export interface SealContext {
  readonly table: string;
  readonly rowId: string;
  /** Empty for what belongs to the vault and not to one organization. */
  readonly organizationId: string;
}

/**
 * Operations of the unlocked vault on secrets. Every function throws VAULT_LOCKED while the vault is locked.
 */
export interface Keys {
  readonly unlocked: boolean;
  checkUnlocked(): void;
  seal(context: SealContext, secret: Uint8Array): Uint8Array;
  /** @returns a copy that the caller wipes. */
  open(context: SealContext, sealed: Uint8Array): Uint8Array;
  /** An opened or derived secret by name, made when it is not at hand; the bytes are lent, not given. */
  cached(name: string, make: () => Uint8Array): Uint8Array;
}

const formatVersion = 1;
const keyLength = 32;
const nonceLength = 12;
const tagLength = 16;
const wrappedKeyLength = nonceLength + keyLength + tagLength;
const secretOffset = 1 + wrappedKeyLength;

/**
 * Bytes that are decrypted at once. The platform frees a copy of what it decrypts, which this program cannot erase. The allocator
 * writes a pointer of its own over the first eight bytes of what is freed.
 */
const pieceLength = 8;

/**
 * Seals a secret under a data key of its own.
 * @param masterKey 32 bytes.
 * @param secret One byte at least. The caller keeps it, and erases it.
 * @returns The secret's length and 89 bytes more.
 */
export function seal(
  masterKey: Uint8Array,
  context: SealContext,
  secret: Uint8Array,
  random: Random,
): Uint8Array {
  checkBytes('masterKey', masterKey, keyLength);
  checkContext(context);
  checkBytes('secret', secret);
  if (secret.length === 0) throw new TypeError('secret: expected one byte or more, got none');
  const dataKey = random('sealing.data-key', keyLength);
  try {
    const wrapped = encrypt(masterKey, dataKey, binding(context, 'data-key'), random);
    const sealed = encrypt(dataKey, secret, binding(context, 'secret'), random);
    return concatBytes(Uint8Array.of(formatVersion), wrapped, sealed);
  } finally {
    dataKey.fill(0);
  }
}

/**
 * Opens a sealed record.
 * @returns A copy of the secret, which the caller erases after use.
 * @throws KeyhearthError INTERNAL where the record was changed, cut, moved or sealed under another master key.
 */
export function open(masterKey: Uint8Array, context: SealContext, sealed: Uint8Array): Uint8Array {
  checkBytes('masterKey', masterKey, keyLength);
  checkContext(context);
  checkFormat(context, sealed);
  const dataKey = decrypt(masterKey, sealed.subarray(1, secretOffset), binding(context, 'data-key'));
  if (dataKey === undefined) throw doesNotOpen(context, 'its data key does not open under the master key');
  try {
    const secret = decrypt(dataKey, sealed.subarray(secretOffset), binding(context, 'secret'));
    if (secret === undefined) throw doesNotOpen(context, 'its secret does not open under its data key');
    return secret;
  } finally {
    dataKey.fill(0);
  }
}

/**
 * Moves a sealed record to another master key. The secret itself stays under its data key and is not opened.
 * @throws KeyhearthError INTERNAL where the data key does not open.
 */
export function rewrap(
  oldMasterKey: Uint8Array,
  newMasterKey: Uint8Array,
  context: SealContext,
  sealed: Uint8Array,
  random: Random,
): Uint8Array {
  checkBytes('oldMasterKey', oldMasterKey, keyLength);
  checkBytes('newMasterKey', newMasterKey, keyLength);
  checkContext(context);
  checkFormat(context, sealed);
  const bound = binding(context, 'data-key');
  const dataKey = decrypt(oldMasterKey, sealed.subarray(1, secretOffset), bound);
  if (dataKey === undefined)
    throw doesNotOpen(context, 'its data key does not open under the old master key');
  try {
    const wrapped = encrypt(newMasterKey, dataKey, bound, random);
    return concatBytes(Uint8Array.of(formatVersion), wrapped, sealed.subarray(secretOffset));
  } finally {
    dataKey.fill(0);
  }
}

/**
 * Wraps the master key under a key of 32 bytes that a keyslot derives or keeps.
 * @param associatedData What the wrapped key is bound to; opening takes the same bytes.
 * @returns 60 bytes.
 */
export function wrapKey(
  wrappingKey: Uint8Array,
  masterKey: Uint8Array,
  associatedData: Uint8Array,
  random: Random,
): Uint8Array {
  checkBytes('wrappingKey', wrappingKey, keyLength);
  checkBytes('masterKey', masterKey, keyLength);
  return encrypt(wrappingKey, masterKey, associatedData, random);
}

/** @returns The master key; undefined where the wrapping key, the associated data or the wrapped bytes are not the ones. */
export function unwrapKey(
  wrappingKey: Uint8Array,
  wrapped: Uint8Array,
  associatedData: Uint8Array,
): Uint8Array | undefined {
  checkBytes('wrappingKey', wrappingKey, keyLength);
  checkBytes('wrapped', wrapped);
  return wrapped.length === wrappedKeyLength ? decrypt(wrappingKey, wrapped, associatedData) : undefined;
}

function encrypt(key: Uint8Array, plain: Uint8Array, bound: Uint8Array, random: Random): Uint8Array {
  const nonce = random('sealing.nonce', nonceLength);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: tagLength });
  cipher.setAAD(bound);
  const body = cipher.update(plain);
  return concatBytes(nonce, body, cipher.final(), cipher.getAuthTag());
}

/** Answers undefined where the bytes do not authenticate; nothing of the unauthenticated text is left behind. */
function decrypt(key: Uint8Array, sealed: Uint8Array, bound: Uint8Array): Uint8Array | undefined {
  const tagOffset = sealed.length - tagLength;
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceLength), {
    authTagLength: tagLength,
  });
  decipher.setAAD(bound);
  decipher.setAuthTag(sealed.subarray(tagOffset));
  const body = sealed.subarray(nonceLength, tagOffset);
  const plain = ownBytes(body.length);
  for (let at = 0; at < body.length; at += pieceLength) {
    const piece = decipher.update(body.subarray(at, at + pieceLength));
    plain.set(piece, at);
    piece.fill(0);
  }
  try {
    decipher.final();
    return plain;
  } catch {
    plain.fill(0);
    return undefined;
  }
}

/** A JSON array of strings: each field ends where its quotes do, so no two contexts encode alike. */
const binding = ({ table, rowId, organizationId }: SealContext, part: 'data-key' | 'secret'): Uint8Array =>
  new TextEncoder().encode(
    JSON.stringify(['latchkey sealed record', formatVersion, part, table, rowId, organizationId]),
  );

function checkContext({ table, rowId }: SealContext): void {
  if (table === '') throw new TypeError('context.table: expected the name of a table');
  if (rowId === '') throw new TypeError('context.rowId: expected the id of a row');
}

function checkFormat(context: SealContext, sealed: Uint8Array): void {
  checkBytes('sealed', sealed);
  const [version] = sealed;
  if (version !== formatVersion) {
    throw doesNotOpen(
      context,
      `its format version is ${version ?? 'missing'}, and this program reads ${formatVersion}`,
    );
  }
  const shortest = secretOffset + nonceLength + 1 + tagLength;
  if (sealed.length < shortest) {
    throw doesNotOpen(context, `it is ${sealed.length} bytes long, and the shortest is ${shortest}`);
  }
}

const doesNotOpen = ({ table, rowId }: SealContext, why: string): KeyhearthError =>
  new KeyhearthError(
    'INTERNAL',
    `The sealed record of row ${JSON.stringify(rowId)} in table ${JSON.stringify(table)} does not open: ${why}. It was changed outside Keyhearth, or is damaged.`,
  );
