/** The backup key, from which the keys of backup files are derived: made while the vault is open, and used while it is locked. */
import { randomBytes } from 'node:crypto';
import { toHex } from '../crypto/encodings.ts';
import { listKeyslots } from '../storage/tables/keyslots.ts';
import type { UnitOfWork } from '../storage/unit-of-work.ts';
import type { VaultRow } from '../storage/tables/vault.ts';
import type { Keyring } from '../keys/keyring.ts';
import { openAnySlot } from '../keys/keyslots/slots.ts';
import { KeyhearthError } from '../lib/errors.ts';
import { backupKeyOf } from './format.ts';
import type { OpenBackupWith } from './open.ts';

/** Derives the keys of the next files, and is kept while the vault is locked. It opens no file made under another salt. */
export interface BackupKey {
  readonly keySalt: string;
  readonly key: Uint8Array;
  /** The slots' wrapped master keys of that time: while one of them is there, the master key is the same. */
  readonly wrapped: ReadonlySet<string>;
}

/**
 * @param how A secret of the vault, where it is locked.
 * @throws KeyhearthError VAULT_LOCKED without a secret, or INVALID_ARGUMENT where it does not open the vault.
 */
export async function newBackupKey(
  { units, keyring }: { readonly units: UnitOfWork; readonly keyring: Keyring },
  vault: VaultRow,
  how?: OpenBackupWith,
): Promise<BackupKey> {
  const slots = units.read(listKeyslots);
  const keySalt = randomBytes(32).toString('hex');
  const wrapped = new Set(slots.map((slot) => toHex(slot.wrapped)));
  if (how === undefined) {
    return { keySalt, wrapped, key: keyring.lend((masterKey) => backupKeyOf(masterKey, keySalt)) };
  }
  const masterKey = await openAnySlot(vault.id, slots, how);
  try {
    return { keySalt, wrapped, key: backupKeyOf(masterKey, keySalt) };
  } finally {
    masterKey.fill(0);
  }
}

/** @throws KeyhearthError if the kept key may belong to a master key that the vault has since replaced. */
export function checkBackupKey(units: UnitOfWork, { wrapped }: BackupKey): void {
  const slots = units.read(listKeyslots);
  if (slots.some((slot) => wrapped.has(toHex(slot.wrapped)))) return;
  throw new KeyhearthError('VAULT_LOCKED', 'what opens the vault has changed: unlock it once');
}
