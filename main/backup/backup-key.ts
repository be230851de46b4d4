/** What the keys of backups follow from: drawn while the vault is open, and of use while it is locked. */
import { randomBytes } from 'node:crypto';
import { toHex } from '../crypto/encodings.ts';
import { listKeyslots } from '../db/keyslots.ts';
import type { UnitOfWork } from '../db/unit-of-work.ts';
import type { VaultRow } from '../db/vault.ts';
import type { Keyring } from '../keyslots/keyring.ts';
import { openAnySlot } from '../keyslots/slots.ts';
import { LatchkeyError } from '../lib/errors.ts';
import { envelopeKey } from './format.ts';
import type { OpenBackupWith } from './open.ts';

/** What the next files' keys follow from, kept while the vault is locked; it opens no file made under another salt. */
export interface Envelope {
  readonly keySalt: string;
  readonly key: Uint8Array;
  /** The slots' wrapped master keys, as they were then: as long as one of them is there, the master key is the same. */
  readonly wrapped: ReadonlySet<string>;
}

/**
 * @param how A secret of the vault, where it is locked.
 * @throws LatchkeyError VAULT_LOCKED without a secret, or INVALID_ARGUMENT where it does not open the vault.
 */
export async function newEnvelope(
  { units, keyring }: { readonly units: UnitOfWork; readonly keyring: Keyring },
  vault: VaultRow,
  how?: OpenBackupWith,
): Promise<Envelope> {
  const slots = units.read(listKeyslots);
  const keySalt = randomBytes(32).toString('hex');
  const wrapped = new Set(slots.map((slot) => toHex(slot.wrapped)));
  if (how === undefined) {
    return { keySalt, wrapped, key: keyring.lend((masterKey) => envelopeKey(masterKey, keySalt)) };
  }
  const masterKey = await openAnySlot(vault.id, slots, how);
  try {
    return { keySalt, wrapped, key: envelopeKey(masterKey, keySalt) };
  } finally {
    masterKey.fill(0);
  }
}

/** @throws LatchkeyError where what is kept may belong to a master key that the vault has no more. */
export function checkEnvelope(units: UnitOfWork, { wrapped }: Envelope): void {
  const slots = units.read(listKeyslots);
  if (slots.some((slot) => wrapped.has(toHex(slot.wrapped)))) return;
  throw new LatchkeyError('VAULT_LOCKED', 'what opens the vault has changed: unlock it once');
}
