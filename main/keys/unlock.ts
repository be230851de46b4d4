/**
 * From the master key, which a keyslot gave, to an unlocked vault: opens the key that authenticates rows, looks at every
 * row with it, and hands both to the keyring. Nothing is unlocked that does not hold.
 */
import { open, seal, type SealContext } from '../crypto/sealing.ts';
import type { Reader } from '../storage/connection.ts';
import { getSealedRowKey, putSealedRowKey, rowKeyContext } from '../storage/tables/integrity.ts';
import type { RowFinding } from '../storage/schema.ts';
import {
  earlierServerKeyContext,
  getServerKey,
  replaceServerKey,
  serverKeyNames,
  serverKeyContext,
} from '../storage/tables/server-keys.ts';
import type { UnitOfWork } from '../storage/unit-of-work.ts';
import { requireVault } from '../storage/tables/vault.ts';
import type { RowGuard, VerifyAside } from '../storage/integrity/guard.ts';
import { assertNever } from '../lib/errors.ts';
import type { Random } from '../lib/random.ts';
import type { Keyring } from './keyring.ts';

export interface UnlockParts {
  readonly units: UnitOfWork;
  readonly guard: RowGuard;
  readonly keyring: Keyring;
  readonly random: Random;
  /** Asked once the file is known to hold. @throws KeyhearthError VAULT_ROLLED_BACK where it holds less than it did. */
  readonly checkMark?: () => void;
}

/** The key that authenticates rows; that this vault never had one; or that it has lost its own. */
export type FoundRowKey =
  | { readonly state: 'found'; readonly rowKey: Uint8Array }
  | { readonly state: 'unadopted' }
  | { readonly state: 'lost'; readonly finding: RowFinding };

/**
 * Finds the row key of a file. A file may claim that its vault never had one. This is accepted only if the
 * master key opens its signer as it was sealed in such vaults: a forger who removes the row key cannot create
 * that, short of restoring the earlier file.
 * @returns a row key that the caller erases after use.
 */
export function findRowKey(tx: Reader, masterKey: Uint8Array): FoundRowKey {
  const sealed = getSealedRowKey(tx);
  if (sealed !== undefined) {
    const rowKey = opened(masterKey, rowKeyContext, sealed);
    return rowKey?.length === 32
      ? { state: 'found', rowKey }
      : { state: 'lost', finding: lost('its key does not open under the master key') };
  }
  const signer = getServerKey(tx, 'signer');
  const { organizationId } = requireVault(tx);
  const earlier =
    signer && opened(masterKey, earlierServerKeyContext('signer', organizationId), signer.sealed);
  earlier?.fill(0);
  return earlier === undefined
    ? { state: 'lost', finding: lost('the row that authenticates all others is missing') }
    : { state: 'unadopted' };
}

/** Without the key, no other finding can stand beside this one. */
const lost = (problem: string): RowFinding => ({
  table: rowKeyContext.table,
  row: '1',
  problem: `${problem}: which rows were changed is not known, and may be any`,
});

/**
 * Unlocks, or refuses a file that was changed outside Keyhearth. A vault of an earlier version is adopted: its rows are
 * authenticated as they are, once.
 * @param masterKey The caller keeps it, and erases it.
 * @param aside How the look at a large vault is followed and ended.
 * @throws KeyhearthError VAULT_TAMPERED, and the signal's reason
 */
export async function unlockVault(
  parts: UnlockParts,
  masterKey: Uint8Array,
  aside: VerifyAside,
): Promise<void> {
  const found = parts.units.readUnverified((tx) => findRowKey(tx, masterKey));
  switch (found.state) {
    case 'found':
      try {
        await unlockVerified(parts, masterKey, found.rowKey, aside);
      } finally {
        found.rowKey.fill(0);
      }
      break;
    case 'unadopted':
      authenticateAll(parts, masterKey);
      break;
    case 'lost':
      parts.guard.refuse([found.finding]);
      break;
    default:
      assertNever(found);
  }
}

async function unlockVerified(
  { guard, keyring, checkMark }: UnlockParts,
  masterKey: Uint8Array,
  rowKey: Uint8Array,
  aside: VerifyAside,
): Promise<void> {
  await guard.verifyAside(rowKey, aside);
  aside.signal.throwIfAborted();
  checkMark?.();
  keyring.unlock(masterKey, rowKey);
  guard.begin();
}

/**
 * Authenticates all rows as they are, under a new row key, and unlocks the vault: for one of an earlier version, and for
 * the owner who has looked at what was changed and wants it so.
 * @param check Throws where the rows are no longer those that were looked at. No other program can change them after it.
 */
export function authenticateAll(
  { units, guard, keyring, random }: UnlockParts,
  masterKey: Uint8Array,
  check: () => void = () => undefined,
): void {
  const { organizationId } = units.readUnverified(requireVault);
  const rowKey = random('row key', 32);
  try {
    keyring.unlock(masterKey, rowKey);
    guard.adopt((tx) => {
      check();
      for (const name of serverKeyNames) {
        const key = getServerKey(tx, name);
        const scalar = key && opened(masterKey, earlierServerKeyContext(name, organizationId), key.sealed);
        if (scalar === undefined) continue;
        replaceServerKey(tx, name, keyring.seal(serverKeyContext(name, organizationId), scalar));
        scalar.fill(0);
      }
      putSealedRowKey(tx, seal(masterKey, rowKeyContext, rowKey, random));
    });
    guard.begin();
  } catch (error) {
    keyring.lock();
    throw error;
  } finally {
    rowKey.fill(0);
  }
}

/** @returns undefined for a record that does not open there. */
export function opened(
  masterKey: Uint8Array,
  context: SealContext,
  sealed: Uint8Array,
): Uint8Array | undefined {
  try {
    return open(masterKey, context, sealed);
  } catch {
    return undefined;
  }
}
