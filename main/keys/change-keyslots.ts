/**
 * Changes what opens the vault. A change needs a password or the recovery phrase first: an unlocked vault that
 * its owner walked away from is not enough, and neither is the keychain, which answers any program of the user's.
 *
 * Each change is one transaction. The keychain, which is not part of it, is asked before to take a new key and after to
 * give up an old one; both are noted in the file, so that a process that is killed in between leaves a vault that opens,
 * and at most an entry that the next unlocking clears away.
 */
import {
  forgetKeychainLeftover,
  listKeychainLeftovers,
  noteKeychainLeftover,
} from '../storage/tables/keychain-leftovers.ts';
import {
  confirmKeyslot,
  deleteKeyslot,
  insertKeyslot,
  listKeyslots,
  updateKeyslot,
  type KeyslotRow,
} from '../storage/tables/keyslots.ts';
import { changeSealedRecords } from '../storage/sealed-records.ts';
import { getSealedRowKey, rowKeyContext } from '../storage/tables/integrity.ts';
import {
  earlierServerKeyContext,
  getServerKey,
  serverKeyNames,
  serverKeyContext,
} from '../storage/tables/server-keys.ts';
import type { Reader, Writer } from '../storage/connection.ts';
import type { UnitOfWork } from '../storage/unit-of-work.ts';
import { requireVault } from '../storage/tables/vault.ts';
import type { RowGuard } from '../storage/integrity/guard.ts';
import type { Clock } from '../lib/clock.ts';
import { KeyhearthError } from '../lib/errors.ts';
import { SerialQueue } from '../lib/concurrency/serial.ts';
import type { SecretText } from '../crypto/secret-text.ts';
import type { Random } from '../lib/random.ts';
import type { Keychain } from './keychain/keychain.ts';
import type { Keyring } from './keyring.ts';
import type { PasswordCost } from './keyslots/password.ts';
import {
  checkRemovable,
  describeSlot,
  keychainAccount,
  makeKeychainSlot,
  makePasswordSlot,
  makeRecoverySlot,
  newSlotId,
  openAnySlot,
  openSlot,
  remakeSlot,
  anchorAccount,
} from './keyslots/slots.ts';
import type { NewSlot, OpenWith } from './keyslots/slots.ts';
import { opened, unlockVault } from './unlock.ts';

/** Checks of the log before an unlock, and its work after one: `audit/audit-log.ts`. */
export interface UnlockChecks {
  /** @throws KeyhearthError VAULT_ROLLED_BACK */
  checkAnchor(masterKey: Uint8Array): Promise<void>;
  /** @throws KeyhearthError VAULT_ROLLED_BACK */
  checkMark(): void;
  unlocked(): Promise<void>;
}

export interface KeyslotParts {
  readonly units: UnitOfWork;
  readonly guard: RowGuard;
  readonly log: UnlockChecks;
  readonly keyring: Keyring;
  readonly keychain: Keychain;
  readonly random: Random;
  readonly clock: Clock;
  /** Cost of one attempt at a password, for new keyslots. */
  readonly passwordCost: PasswordCost;
  /** Called with the progress of the unlock of a large vault; with undefined at the end, for every vault. */
  readonly onUnlocking: (progress: UnlockProgress | undefined) => void;
  /** Freezes the keyring where another process has frozen the locked vault. */
  readonly lookForFreeze: () => void;
}

/** Parts of the work, each about as long as the other. */
export interface UnlockProgress {
  readonly checked: number;
  readonly total: number;
}

/** A secret that only its owner has: of every kind but the keychain's. */
export type OwnerSecret = Exclude<OpenWith, { with: 'keychain' }>;

/** A phrase that is to open the vault, and whether its owner has shown to have kept it. */
export interface NewPhrase {
  readonly phrase: SecretText;
  readonly confirmed: boolean;
}

interface Changing {
  readonly slots: readonly KeyslotRow[];
  readonly base: NewSlot;
}

export class KeyslotManager {
  readonly #parts: KeyslotParts;
  /** One change at a time: each rests on the slots, and on the master key, as it found them. */
  readonly #changes = new SerialQueue();
  readonly #unlocks = new SerialQueue();

  constructor(parts: KeyslotParts) {
    this.#parts = parts;
  }

  /**
   * Opens the vault, and clears away in the background what an earlier change left in the keychain.
   * @throws KeyhearthError as `openAnySlot` does; INVALID_ARGUMENT for a keyslot of an earlier master key; VAULT_TAMPERED
   * and VAULT_ROLLED_BACK for a file that does not hold; VAULT_FROZEN for the keychain of a frozen vault; VAULT_FROZEN and
   * VAULT_LOCKED where it was frozen or locked meanwhile.
   */
  async unlock(given: OpenWith | Promise<OpenWith>): Promise<void> {
    const { units, log, keyring } = this.#parts;
    // Before anything is awaited: a lock or a freeze that comes meanwhile is the later wish.
    const { untilClosed } = keyring;
    const how = await given;
    if (keyring.frozenAt !== undefined && how.with === 'keychain') {
      throw new KeyhearthError(
        'VAULT_FROZEN',
        'The vault is frozen, and the keychain does not open it then: unlock it with its password or recovery phrase.',
      );
    }
    const vault = units.readUnverified(requireVault);
    const masterKey = await openAnySlot(vault.id, units.readUnverified(listKeyslots), how);
    try {
      await log.checkAnchor(masterKey);
      // One at a time: the second finds what the first did.
      await this.#unlocks.run(() => this.#unlock(masterKey, untilClosed));
    } finally {
      masterKey.fill(0);
    }
    await log.unlocked();
    // A failure here is repaired at the next unlock.
    this.#changes.run(() => this.#clearKeychain()).catch(() => undefined);
  }

  async #unlock(masterKey: Uint8Array, signal: AbortSignal): Promise<void> {
    const { units, guard, keyring, log, onUnlocking, lookForFreeze } = this.#parts;
    signal.throwIfAborted();
    units.readUnverified((tx) => {
      checkCurrent(tx, masterKey);
    });
    if (keyring.unlocked) {
      // Its rows were looked at, and are watched since.
      guard.check();
      keyring.unlock(masterKey);
      return;
    }
    const refuseFrozen = (): void => {
      lookForFreeze();
      signal.throwIfAborted();
    };
    // A vault of an earlier version has no mark that is checked later.
    refuseFrozen();
    try {
      const checkMark = (): void => {
        log.checkMark();
        refuseFrozen();
      };
      await unlockVault({ ...this.#parts, checkMark }, masterKey, {
        signal,
        onProgress: (checked, total) => {
          onUnlocking({ checked, total });
        },
      });
    } finally {
      onUnlocking(undefined);
    }
  }

  /** @throws KeyhearthError ALREADY_EXISTS where this very password opens the vault. */
  addPassword(proof: OwnerSecret, password: SecretText): Promise<void> {
    return this.#change(proof, async ({ base, slots }) => {
      await checkNewPassword(base.vaultId, slots, password);
      this.#insert(base, await this.#newPasswordSlot(base, password));
    });
  }

  /** @throws KeyhearthError ALREADY_EXISTS where this very keychain opens the vault. */
  addKeychain(proof: OwnerSecret): Promise<void> {
    return this.#change(proof, async ({ base, slots }) => {
      if ((await this.#keychainSlots(base.vaultId, slots)).size > 0) {
        throw new KeyhearthError('ALREADY_EXISTS', 'The keychain of this computer opens this vault already.');
      }
      this.#insert(base, await this.#newKeychainSlot(base));
    });
  }

  addRecovery(proof: OwnerSecret, phrase: NewPhrase): Promise<void> {
    return this.#change(proof, ({ base }) => {
      this.#insert(base, newRecoverySlot(base, phrase));
    });
  }

  /**
   * Puts a new password in the place of another, in a slot of its own.
   * @throws KeyhearthError NOT_FOUND, INVALID_ARGUMENT for a slot of another kind, or ALREADY_EXISTS where another slot has this password.
   */
  changePassword(proof: OwnerSecret, id: string, password: SecretText): Promise<void> {
    return this.#change(proof, async ({ base, slots }) => {
      checkKind(slots, id, 'password');
      const others = slots.filter((slot) => slot.id !== id);
      await checkNewPassword(base.vaultId, others, password);
      this.#insert(base, await this.#newPasswordSlot(base, password), id);
    });
  }

  /** Puts a new phrase in the place of another; the shares of the old one then open nothing either. */
  changeRecovery(proof: OwnerSecret, id: string, phrase: NewPhrase): Promise<void> {
    return this.#change(proof, ({ base, slots }) => {
      checkKind(slots, id, 'recovery');
      this.#insert(base, newRecoverySlot(base, phrase), id);
    });
  }

  /** @throws KeyhearthError as `checkRemovable` does. */
  remove(proof: OwnerSecret, id: string): Promise<void> {
    return this.#change(proof, ({ base }) => {
      this.#parts.units.replace((tx) => {
        this.#checkMasterKey(base);
        const slots = listKeyslots(tx);
        checkRemovable(slots, id);
        deleteSlot(tx, base, requireSlot(slots, id));
      });
    });
  }

  /**
   * Generates a new master key and moves every sealed record and every kept keyslot to it, in one
   * transaction. A slot is kept if its secret is given; the keychain's slot is kept if it opens, and gets a
   * new key.
   * @param dropOthers Allows the other slots to be removed.
   * @throws KeyhearthError INVALID_ARGUMENT for a secret that opens nothing, and naming the slots that would
   * be removed.
   */
  rotate(proofs: readonly [OwnerSecret, ...OwnerSecret[]], dropOthers: boolean): Promise<void> {
    return this.#change(proofs[0], async ({ base: old, slots }) => {
      const { units, keyring, random, passwordCost } = this.#parts;
      const kept = await this.#match(old.vaultId, slots, proofs);
      const keychainSlots = await this.#keychainSlots(old.vaultId, slots);
      const dropped = slots.filter((slot) => !kept.has(slot) && !keychainSlots.has(slot));
      if (dropped.length > 0 && !dropOthers) throw wouldDrop(dropped);
      const base = { ...old, masterKey: random('master key', 32) };
      try {
        const remade: KeyslotRow[] = [];
        for (const [slot, proof] of kept) remade.push(await remakeSlot(slot, proof, base, passwordCost));
        const added = keychainSlots.size > 0 ? [await this.#newKeychainSlot(base)] : [];
        units.replace((tx) => {
          this.#checkMasterKey(old);
          changeSealedRecords(tx, (place, sealed) => keyring.rewrap(base.masterKey, place, sealed));
          for (const slot of remade) {
            updateKeyslot(tx, slot.kind === 'recovery' ? { ...slot, confirmedAt: base.now } : slot);
          }
          for (const slot of added) insertKeyslot(tx, slot);
          for (const slot of [...dropped, ...keychainSlots]) deleteSlot(tx, base, slot);
        });
        // In the same turn as the COMMIT: nothing is sealed under the old key after it.
        keyring.replaceKey(base.masterKey);
      } finally {
        base.masterKey.fill(0);
      }
    });
  }

  /**
   * Says whether a phrase opens the vault, and notes that its owner has it.
   * @throws KeyhearthError as `openAnySlot` does.
   */
  checkPhrase(phrase: SecretText): Promise<void> {
    return this.#changes.run(async () => {
      const { units, keyring, clock } = this.#parts;
      const { id: vaultId } = units.read(requireVault);
      const slot = await firstThatOpens(vaultId, units.read(listKeyslots), { with: 'recovery', phrase });
      await units.write((tx) => {
        // A locked vault changes nothing.
        if (keyring.unlocked) confirmKeyslot(tx, slot.id, clock.now());
      });
    });
  }

  /**
   * Says whether a secret opens the vault as it is now, unlocked.
   * @throws KeyhearthError as `openAnySlot` does; VAULT_LOCKED.
   */
  checkSecret(secret: OwnerSecret): Promise<void> {
    return this.#change(secret, () => undefined);
  }

  #change(proof: OwnerSecret, work: (changing: Changing) => void | Promise<void>): Promise<void> {
    return this.#changes.run(async () => {
      const { units, random, clock } = this.#parts;
      const { id: vaultId } = units.read(requireVault);
      const slots = units.read(listKeyslots);
      this.#checkUnlocked();
      const masterKey = await openAnySlot(vaultId, slots, proof);
      const base = { masterKey, vaultId, random, now: clock.now() };
      try {
        this.#checkMasterKey(base);
        await work({ slots, base });
      } finally {
        masterKey.fill(0);
        await this.#clearKeychain();
      }
    });
  }

  /** @param replaced The id of a slot that goes as this one comes. */
  #insert(base: NewSlot, slot: KeyslotRow, replaced?: string): void {
    this.#parts.units.replace((tx) => {
      this.#checkMasterKey(base);
      if (replaced !== undefined) deleteKeyslot(tx, replaced);
      insertKeyslot(tx, slot);
    });
  }

  #checkUnlocked(): void {
    if (this.#parts.keyring.unlocked) return;
    throw new KeyhearthError('VAULT_LOCKED', 'The vault is locked: unlock it, then change its keyslots.');
  }

  /**
   * Checks that the vault was not locked while a slot was created.
   * @throws KeyhearthError VAULT_LOCKED
   */
  #checkMasterKey({ masterKey }: NewSlot): void {
    if (!this.#parts.keyring.holds(masterKey)) throw staleSlot();
  }

  #newPasswordSlot(base: NewSlot, password: SecretText): Promise<KeyslotRow> {
    return makePasswordSlot({ ...base, password, cost: this.#parts.passwordCost });
  }

  /** Notes the entry before it is there; the note goes once a slot is found to use it. */
  async #newKeychainSlot(base: NewSlot): Promise<KeyslotRow> {
    const { units, keychain } = this.#parts;
    const id = newSlotId(base);
    await units.write((tx) => {
      this.#checkUnlocked();
      noteKeychainLeftover(tx, keychainAccount(base.vaultId, id), base.now);
    });
    return makeKeychainSlot({ ...base, keychain, id });
  }

  /** The slots that this computer's keychain opens. */
  async #keychainSlots(vaultId: string, slots: readonly KeyslotRow[]): Promise<ReadonlySet<KeyslotRow>> {
    const { keychain } = this.#parts;
    const opened = new Set<KeyslotRow>();
    for (const slot of slots) {
      if (slot.kind === 'keychain' && (await opens(vaultId, slot, { with: 'keychain', keychain })))
        opened.add(slot);
    }
    return opened;
  }

  /** @returns each slot that one of the secrets opens, with that secret. */
  async #match(
    vaultId: string,
    slots: readonly KeyslotRow[],
    proofs: readonly OwnerSecret[],
  ): Promise<ReadonlyMap<KeyslotRow, OwnerSecret>> {
    const kept = new Map<KeyslotRow, OwnerSecret>();
    for (const proof of proofs) {
      const before = kept.size;
      for (const slot of slots) {
        if (slot.kind !== proof.with || kept.has(slot)) continue;
        if (await opens(vaultId, slot, proof)) kept.set(slot, proof);
      }
      // Says why, unless it is a secret that was given twice.
      if (kept.size === before) (await openAnySlot(vaultId, slots, proof)).fill(0);
    }
    return kept;
  }

  /** Deletes the noted entries that no slot uses. What the keychain does not do now stays noted for another time. */
  async #clearKeychain(): Promise<void> {
    const { units, keyring, keychain } = this.#parts;
    if (!keyring.unlocked) return;
    const { id: vaultId } = units.read(requireVault);
    for (const account of units.read(listKeychainLeftovers)) {
      const inUse = (): boolean =>
        units.read(listKeyslots).some(({ id }) => keychainAccount(vaultId, id) === account);
      try {
        if (!inUse()) await keychain.delete(account);
        await units.write((tx) => {
          this.#checkUnlocked();
          forgetKeychainLeftover(tx, account);
        });
      } catch (error) {
        if (!(error instanceof KeyhearthError)) throw error;
      }
    }
  }
}

/** Notes the slot's keychain entry for removal; with the last such slot, also the log's rollback anchor. */
function deleteSlot(tx: Writer, { vaultId, now }: NewSlot, { id, kind }: KeyslotRow): void {
  deleteKeyslot(tx, id);
  if (kind !== 'keychain') return;
  noteKeychainLeftover(tx, keychainAccount(vaultId, id), now);
  if (listKeyslots(tx).some((slot) => slot.kind === 'keychain')) return;
  noteKeychainLeftover(tx, anchorAccount(vaultId), now);
}

/**
 * One record that opens is enough: what does not is for the look at all rows to name.
 * @throws KeyhearthError INVALID_ARGUMENT unless the vault's records are sealed under this master key.
 */
function checkCurrent(tx: Reader, masterKey: Uint8Array): void {
  const { organizationId } = requireVault(tx);
  const rowKey = getSealedRowKey(tx);
  const records = [
    ...(rowKey === undefined ? [] : [[rowKeyContext, rowKey] as const]),
    ...serverKeyNames.flatMap((name) => {
      const key = getServerKey(tx, name);
      if (key === undefined) return [];
      return [serverKeyContext, earlierServerKeyContext].map(
        (contextOf) => [contextOf(name, organizationId), key.sealed] as const,
      );
    }),
  ];
  const isCurrent = records.some(([context, sealed]) => {
    const secret = opened(masterKey, context, sealed);
    secret?.fill(0);
    return secret !== undefined;
  });
  if (!isCurrent && records.length > 0) throw staleSlot();
}

function newRecoverySlot(base: NewSlot, { phrase, confirmed }: NewPhrase): KeyslotRow {
  return { ...makeRecoverySlot({ ...base, phrase }), confirmedAt: confirmed ? base.now : null };
}

async function opens(vaultId: string, slot: KeyslotRow, how: OpenWith): Promise<boolean> {
  try {
    (await openSlot(vaultId, slot, how)).fill(0);
    return true;
  } catch (error) {
    if (error instanceof KeyhearthError) return false;
    throw error;
  }
}

/**
 * Two slots with one password look like two passwords: who removes one leaves its twin, which opens the vault.
 * @throws KeyhearthError ALREADY_EXISTS
 */
async function checkNewPassword(
  vaultId: string,
  slots: readonly KeyslotRow[],
  password: SecretText,
): Promise<void> {
  for (const slot of slots) {
    if (slot.kind === 'password' && (await opens(vaultId, slot, { with: 'password', password }))) {
      throw new KeyhearthError('ALREADY_EXISTS', 'This password opens this vault already.');
    }
  }
}

/** @throws KeyhearthError as `openAnySlot` does, where none opens. */
async function firstThatOpens(
  vaultId: string,
  slots: readonly KeyslotRow[],
  how: OpenWith,
): Promise<KeyslotRow> {
  for (const slot of slots) {
    if (slot.kind === how.with && (await opens(vaultId, slot, how))) return slot;
  }
  (await openAnySlot(vaultId, slots, how)).fill(0);
  throw new Error('a keyslot opened at the second try alone');
}

function requireSlot(slots: readonly KeyslotRow[], id: string): KeyslotRow {
  const slot = slots.find((candidate) => candidate.id === id);
  if (slot !== undefined) return slot;
  throw new KeyhearthError('NOT_FOUND', `There is no keyslot ${JSON.stringify(id)} in this vault.`);
}

function checkKind(slots: readonly KeyslotRow[], id: string, kind: KeyslotRow['kind']): void {
  const slot = requireSlot(slots, id);
  if (slot.kind === kind) return;
  throw new KeyhearthError(
    'INVALID_ARGUMENT',
    `The keyslot ${JSON.stringify(id)} is ${describeSlot(slot)}: it cannot be changed in this way.`,
  );
}

const wouldDrop = (dropped: readonly KeyslotRow[]): KeyhearthError =>
  new KeyhearthError(
    'INVALID_ARGUMENT',
    `These keyslots would stop working, because their secrets were not given: ${dropped.map((slot) => `${describeSlot(slot)} (${slot.id})`).join(', ')}. Give their secrets too, or drop the others.`,
  );

const staleSlot = (): KeyhearthError =>
  new KeyhearthError(
    'INVALID_ARGUMENT',
    'This keyslot holds a master key that the vault’s records are not sealed under: the key was changed a moment ago, or the keyslot was put back from an older file. Try again, or open the vault with another keyslot.',
  );
