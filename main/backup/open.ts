/** Opens a backup with a secret of one of the slots in its header. */
import type { KeyringOptions } from '../keys/keyring.ts';
import { Keyring } from '../keys/keyring.ts';
import { openAnySlot, type OpenWith } from '../keys/keyslots/slots.ts';
import { KeyhearthError, type ErrorCodeName } from '../lib/errors.ts';
import type { Connection } from '../storage/connection.ts';
import { describeFinding } from '../storage/integrity/refusal.ts';
import { NewerVaultError, schemaVersion } from '../storage/migrations.ts';
import { checkSchema } from '../storage/schema.ts';
import { backupKeyOf, fileKey, slotsOf, unreadable, type BackupHeader } from './format.ts';

/** A keychain opens no backup: it stays on its machine. */
export type OpenBackupWith = Exclude<OpenWith, { readonly with: 'keychain' }>;

/**
 * @returns The master key that the vault had then (32 bytes), which the caller erases after use.
 * @throws KeyhearthError WRONG_SECRET, or INVALID_ARGUMENT for what cannot be a secret of that kind, saying what would open it.
 */
export async function openMasterKey(header: BackupHeader, how: OpenBackupWith): Promise<Uint8Array> {
  try {
    return await openAnySlot(header.vaultId, slotsOf(header), how);
  } catch (error) {
    if (!(error instanceof KeyhearthError) || !codes.has(error.code)) throw error;
    const kinds = [...new Set(header.keyslots.map(({ kind }) => nouns[kind]))];
    throw new KeyhearthError(
      error.code,
      `The backup does not open. ${error.message} A backup keeps the secrets of its day. This one, of ${new Date(header.createdAt).toISOString().slice(0, 10)}, opens with: ${kinds.join(', ')}.`,
    );
  }
}

const codes: ReadonlySet<ErrorCodeName> = new Set(['WRONG_SECRET', 'INVALID_ARGUMENT']);

const nouns = { password: 'password', recovery: 'recovery phrase' } as const;

/** @returns The key of a file's chunks (32 bytes), which the caller erases after use. */
export function chunkKey(masterKey: Uint8Array, { keySalt, fileSalt }: BackupHeader): Uint8Array {
  const backupKey = backupKeyOf(masterKey, keySalt);
  try {
    return fileKey(backupKey, fileSalt);
  } finally {
    backupKey.fill(0);
  }
}

/**
 * Looks at the schema of a backup's database, before anything else reads it: to read from a foreign view may never end.
 * @throws NewerVaultError, or KeyhearthError BACKUP_UNREADABLE.
 */
export function checkBackupSchema(connection: Connection): void {
  const found = Number(connection.pragma('user_version'));
  if (found > schemaVersion) throw new NewerVaultError(found);
  const [finding] = checkSchema(connection);
  if (finding !== undefined) throw unreadable(`its schema was changed: ${describeFinding(finding)}`);
}

/** A keyring for what a backup holds. */
export function keyringOf(masterKey: Uint8Array, parts: Pick<KeyringOptions, 'random' | 'clock'>): Keyring {
  const keyring = new Keyring(parts);
  keyring.unlock(masterKey);
  return keyring;
}
