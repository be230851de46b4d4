/**
 * The witness: the newest signed head, kept in the keychain, outside the vault's file. A file whose log lacks the row
 * that the witness names is an older one, or another one.
 */
import { encodeUtf8, toHex } from '../crypto/encodings.ts';
import { activityHashAt, logEnd } from '../db/activities.ts';
import type { Reader } from '../db/connection.ts';
import { listKeyslots } from '../db/keyslots.ts';
import type { UnitOfWork } from '../db/unit-of-work.ts';
import type { VaultRow } from '../db/vault.ts';
import type { Keychain } from '../keyslots/keychain.ts';
import { witnessAccount } from '../keyslots/slots.ts';
import { LatchkeyError } from '../lib/errors.ts';
import type { LogState } from '../../preload/contract.ts';
import { isoTime, type KnownHead } from './check.ts';
import { headVerifier, identityOf, signedHead, type SignedHead } from './heads.ts';
import { owned } from '../lib/faults.ts';

/** How long an unlock waits for the keychain; milliseconds. */
const patience = 5_000;
/** How long a close waits for what is being written to it: the next unlock makes up for what is not. */
const closing = 1_000;

/** Whether the vault's owner lets it use the keychain. */
export const usesKeychain = (tx: Reader): boolean => listKeyslots(tx).some(({ kind }) => kind === 'keychain');

/**
 * @returns undefined where the keychain holds none, and on Linux where it is locked.
 * @throws LatchkeyError VAULT_ROLLED_BACK for one that cannot be read, INVALID_ARGUMENT where the keychain cannot be used.
 */
export async function readWitness(keychain: Keychain, vaultId: string): Promise<SignedHead | undefined> {
  const bytes = await keychain.get(witnessAccount(vaultId));
  if (bytes === undefined) return undefined;
  try {
    return signedHead.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
  } catch {
    throw rolledBack('the note that the keychain holds of the newest row of the log cannot be read');
  }
}

/** Removes it, for a file that is older by its owner's will: the next head that is signed is kept again. */
export const forgetWitness = (keychain: Keychain, vaultId: string): Promise<void> =>
  keychain.delete(witnessAccount(vaultId));

/**
 * Holds the log against a witness.
 * @param publicKey Of the key that signs heads, as its private half gives it: the file might name another.
 * @throws LatchkeyError VAULT_ROLLED_BACK
 */
export function checkAgainst(tx: Reader, vault: VaultRow, publicKey: string, witness: SignedHead): void {
  if (!headVerifier(identityOf(vault), publicKey)(witness)) {
    throw rolledBack(
      'the note that the keychain holds of the newest row of the log is not signed by this vault',
    );
  }
  const { sequence, hash, signedAt } = witness;
  const noted = `the keychain holds a note, signed on ${isoTime(signedAt)}, of row ${sequence}`;
  const end = logEnd(tx).sequence;
  if (sequence > end) {
    throw rolledBack(
      `the vault's file is older than one that was used here: its log ends at row ${end}, and ${noted}`,
    );
  }
  const held = activityHashAt(tx, sequence);
  if (held === undefined || toHex(held) !== hash) {
    throw rolledBack(
      `the vault's file is not the one that was used here last: its log has another row ${sequence}, and ${noted}`,
    );
  }
}

/** Of a vault that has a witness, and is sealed as before there were any. */
export const earlierThanWitness = (): LatchkeyError =>
  rolledBack("the vault's file is of an earlier version than one that was used here");

export const rolledBack = (problem: string): LatchkeyError =>
  new LatchkeyError(
    'VAULT_ROLLED_BACK',
    `${problem}. Put the newer file or a newer backup in its place; or, if you went back on purpose, run \`latchkey audit accept-rollback\` with the recovery phrase or the password, while no Latchkey serves the vault.`,
  );

export const knownWitness = ({ sequence, hash, signedAt }: SignedHead): KnownHead => ({
  sequence,
  hash,
  known: `the keychain holds a note of, signed on ${isoTime(signedAt)}`,
});

export interface WitnessParts {
  readonly units: UnitOfWork;
  readonly keychain: Keychain;
  /** Called where the keychain, which did not answer at the unlock, turns out to know of a newer log. */
  readonly onRolledBack: (error: LatchkeyError) => void;
}

/** Reads the witness at each unlock, and writes it after each signed head, for vaults that have a keychain slot. */
export class Witness {
  readonly #parts: WitnessParts;
  /** Whether the log was held against what the keychain holds, since the vault was unlocked last. */
  #isChecked = false;
  #kept: SignedHead | undefined;
  #obstacle = 'nothing was signed yet';
  /** What is to be written next; a newer head takes the place of one that waits. */
  #waiting: { readonly vault: VaultRow; readonly head: SignedHead } | undefined;
  /** What the keychain did not take. */
  #refused: { readonly vault: VaultRow; readonly head: SignedHead } | undefined;
  #writing: Promise<void> | undefined;

  constructor(parts: WitnessParts) {
    this.#parts = parts;
  }

  /**
   * Holds the log against the keychain's note. A keychain that does not answer now is asked again before it is written to.
   * @param publicKey Asked for once there is a note.
   * @throws LatchkeyError VAULT_ROLLED_BACK
   */
  async check(vault: VaultRow, publicKey: () => string): Promise<void> {
    const { units, keychain } = this.#parts;
    this.#isChecked = false;
    this.#kept = undefined;
    if (!units.peek(usesKeychain)) return;
    try {
      const witness = await within(patience, readWitness(keychain, vault.id));
      if (witness === undefined) return;
      units.peek((tx) => {
        checkAgainst(tx, vault, publicKey(), witness);
      });
      this.#isChecked = true;
      this.#kept = witness;
    } catch (error) {
      if (isRollback(error)) throw error;
      this.#obstacle = messageOf(error);
    }
  }

  /** Writes a head of a vault that uses the keychain there, in its own time. */
  keep(vault: VaultRow, head: SignedHead): void {
    if (this.#kept?.sequence === head.sequence) return;
    this.#waiting = { vault, head };
    this.#start();
  }

  /** Tries again what the keychain did not take. */
  retry(): void {
    this.#waiting ??= this.#refused;
    this.#refused = undefined;
    if (this.#waiting !== undefined) this.#start();
  }

  #start(): void {
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
  }

  /** Waits, not for long, until what was to be kept is. */
  async settled(): Promise<void> {
    await within(closing, this.#writing ?? Promise.resolve()).catch(() => undefined);
  }

  /** What the keychain is known to hold, to check the log against. */
  noted(): readonly KnownHead[] {
    return this.#kept === undefined ? [] : [knownWitness(this.#kept)];
  }

  state(tx: Reader): LogState['witness'] {
    if (!usesKeychain(tx)) return null;
    return this.#kept === undefined ? { obstacle: this.#obstacle } : { sequence: this.#kept.sequence };
  }

  async #write(): Promise<void> {
    const { units, keychain, onRolledBack } = this.#parts;
    for (let next = this.#take(); next !== undefined; next = this.#take()) {
      const { vault, head } = next;
      try {
        if (!this.#isChecked) {
          const present = await readWitness(keychain, vault.id);
          if (present !== undefined) {
            units.peek((tx) => {
              checkAgainst(tx, vault, head.publicKey, present);
            });
          }
        }
        await keychain.set(witnessAccount(vault.id), encodeUtf8('witness', JSON.stringify(head)));
        this.#isChecked = true;
        this.#kept = head;
        this.#refused = undefined;
      } catch (error) {
        this.#kept = undefined;
        this.#obstacle = messageOf(error);
        if (isRollback(error)) onRolledBack(error);
        else this.#refused = next;
      }
    }
  }

  #take(): { readonly vault: VaultRow; readonly head: SignedHead } | undefined {
    const next = this.#waiting;
    this.#waiting = undefined;
    return next;
  }
}

const isRollback = (error: unknown): error is LatchkeyError =>
  error instanceof LatchkeyError && error.code === 'VAULT_ROLLED_BACK';

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** @throws Error when the time is over; the work goes on, and nobody hears of it. */
async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  const { promise: over, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    owned(() => {
      reject(new Error('the keychain did not answer in time'));
    }, reject),
    milliseconds,
  );
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}
