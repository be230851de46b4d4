/**
 * The rollback anchor: the newest signed head, kept in the keychain, outside the vault's file. A file whose log lacks the
 * row that the anchor names is an older one, or another one. Its public name, in the keychain and in answers, is `witness`.
 */
import { encodeUtf8, toHex } from '../crypto/encodings.ts';
import { activityHashAt, logEnd } from '../storage/tables/activities.ts';
import type { Reader } from '../storage/connection.ts';
import { listKeyslots } from '../storage/tables/keyslots.ts';
import type { UnitOfWork } from '../storage/unit-of-work.ts';
import type { VaultRow } from '../storage/tables/vault.ts';
import type { Keychain } from '../keys/keychain/keychain.ts';
import { anchorAccount } from '../keys/keyslots/slots.ts';
import { ExplainedError, KeyhearthError } from '../lib/errors.ts';
import { reasonOf } from '../lib/text/reasons.ts';
import type { LogState } from '../../preload/contract.ts';
import { isoTime, type KnownHead } from './check.ts';
import { headVerifier, identityOf, signedHead, type SignedHead } from './signed-heads.ts';
import { owned } from '../lib/faults.ts';

/** Milliseconds for which an unlock waits for the keychain. */
const patience = 5_000;
/**
 * Milliseconds for which a close waits for a write to the keychain. The next unlock repeats a write that was
 * cut off.
 */
const closing = 1_000;

/** True if the vault's owner lets it use the keychain. */
export const usesKeychain = (tx: Reader): boolean => listKeyslots(tx).some(({ kind }) => kind === 'keychain');

/**
 * @returns undefined where the keychain holds none, and on Linux where it is locked.
 * @throws KeyhearthError VAULT_ROLLED_BACK for one that cannot be read, INVALID_ARGUMENT where the keychain cannot be used.
 */
export async function readAnchor(keychain: Keychain, vaultId: string): Promise<SignedHead | undefined> {
  const bytes = await keychain.get(anchorAccount(vaultId));
  if (bytes === undefined) return undefined;
  try {
    return signedHead.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
  } catch {
    throw rolledBack('the note that the keychain holds of the newest entry of the log cannot be read');
  }
}

/** Removes it, for a file that is older by its owner's will: the next head that is signed is kept again. */
export const forgetAnchor = (keychain: Keychain, vaultId: string): Promise<void> =>
  keychain.delete(anchorAccount(vaultId));

/**
 * Checks the log against an anchor.
 * @param publicKey Of the key that signs heads, as its private half gives it: the file might name another.
 * @throws KeyhearthError VAULT_ROLLED_BACK
 */
export function checkAgainst(tx: Reader, vault: VaultRow, publicKey: string, anchor: SignedHead): void {
  if (!headVerifier(identityOf(vault), publicKey)(anchor)) {
    throw rolledBack(
      'the note that the keychain holds of the newest entry of the log is not signed by this vault',
    );
  }
  const { sequence, hash, signedAt } = anchor;
  const noted = `the keychain holds a note, signed on ${isoTime(signedAt)}, of entry ${sequence}`;
  const end = logEnd(tx).sequence;
  if (sequence > end) {
    throw rolledBack(
      `the vault's file is older than one that was used here: its log ends at entry ${end}, and ${noted}`,
    );
  }
  const present = activityHashAt(tx, sequence);
  if (present === undefined || toHex(present) !== hash) {
    throw rolledBack(
      `the vault's file is not the one that was used here last: its log has another entry ${sequence}, and ${noted}`,
    );
  }
}

/** For a vault that has an anchor, yet is sealed as vaults were before there were any. */
export const earlierThanAnchor = (): KeyhearthError =>
  rolledBack("the vault's file is of an earlier version than one that was used here");

export const rolledBack = (problem: string): KeyhearthError =>
  new KeyhearthError(
    'VAULT_ROLLED_BACK',
    `${problem}. Put the newer file or a newer backup in its place; or, if you went back on purpose, run \`keyhearth audit accept-rollback\` with the recovery phrase or the password, while no Keyhearth serves the vault.`,
  );

export const knownAnchor = ({ sequence, hash, signedAt }: SignedHead): KnownHead => ({
  sequence,
  hash,
  known: `the keychain holds a note of, signed on ${isoTime(signedAt)}`,
});

export interface RollbackAnchorParts {
  readonly units: UnitOfWork;
  readonly keychain: Keychain;
  /** Called where the keychain, which did not answer at the unlock, turns out to know of a newer log. */
  readonly onRolledBack: (error: KeyhearthError) => void;
}

/** Reads the anchor at each unlock, and writes it after each signed head, for vaults that have a keychain slot. */
export class RollbackAnchor {
  readonly #parts: RollbackAnchorParts;
  /** True once the log was compared with the keychain's head since the last unlock. */
  #isChecked = false;
  #kept: SignedHead | undefined;
  #obstacle = 'nothing was signed yet';
  /** The next head to write; a newer head replaces one that waits. */
  #waiting: { readonly vault: VaultRow; readonly head: SignedHead } | undefined;
  /** A head that the keychain refused. */
  #refused: { readonly vault: VaultRow; readonly head: SignedHead } | undefined;
  #writing: Promise<void> | undefined;

  constructor(parts: RollbackAnchorParts) {
    this.#parts = parts;
  }

  /**
   * Holds the log against the keychain's note. A keychain that does not answer now is asked again before it is written to.
   * @param publicKey Asked for once there is a note.
   * @throws KeyhearthError VAULT_ROLLED_BACK
   */
  async check(vault: VaultRow, publicKey: () => string): Promise<void> {
    const { units, keychain } = this.#parts;
    this.#isChecked = false;
    this.#kept = undefined;
    if (!units.readUnverified(usesKeychain)) return;
    try {
      const anchor = await within(patience, readAnchor(keychain, vault.id));
      if (anchor === undefined) return;
      units.readUnverified((tx) => {
        checkAgainst(tx, vault, publicKey(), anchor);
      });
      this.#isChecked = true;
      this.#kept = anchor;
    } catch (error) {
      if (isRollback(error)) throw error;
      this.#obstacle = reasonOf(error);
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

  /** The keychain's last known head, to check the log against. */
  noted(): readonly KnownHead[] {
    return this.#kept === undefined ? [] : [knownAnchor(this.#kept)];
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
          const present = (await readAnchor(keychain, vault.id)) ?? (await this.#readOpened(vault.id));
          if (present !== undefined) {
            units.readUnverified((tx) => {
              checkAgainst(tx, vault, head.publicKey, present);
            });
          }
        }
        await keychain.set(anchorAccount(vault.id), encodeUtf8('witness', JSON.stringify(head)));
        this.#isChecked = true;
        this.#kept = head;
        this.#refused = undefined;
      } catch (error) {
        this.#kept = undefined;
        this.#obstacle = reasonOf(error);
        if (isRollback(error)) onRolledBack(error);
        else this.#refused = next;
      }
    }
  }

  /** Reads again what may have been locked before. @throws KeyhearthError INVALID_ARGUMENT where it still is. */
  async #readOpened(vaultId: string): Promise<SignedHead | undefined> {
    const { keychain } = this.#parts;
    const state = await keychain.probe();
    if (!state.available) throw new KeyhearthError('INVALID_ARGUMENT', state.reason);
    return readAnchor(keychain, vaultId);
  }

  #take(): { readonly vault: VaultRow; readonly head: SignedHead } | undefined {
    const next = this.#waiting;
    this.#waiting = undefined;
    return next;
  }
}

const isRollback = (error: unknown): error is KeyhearthError =>
  error instanceof KeyhearthError && error.code === 'VAULT_ROLLED_BACK';

/** @throws Error when the time is over; the work goes on in the background. */
async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  const { promise: over, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    owned(() => {
      reject(new ExplainedError('the keychain did not answer in time'));
    }, reject),
    milliseconds,
  );
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}
