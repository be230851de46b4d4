/**
 * Rows that authenticate themselves. Each row of a protected table carries an HMAC over its columns
 * under the vault's row key, which is there while the vault is unlocked; sums over all rows of each table, and the head
 * of the activity log, are sealed under the same key before each COMMIT, so that rows which are gone, or older rows put
 * back in their place, are found out too.
 *
 * TEMP triggers write the HMACs, so that no statement elsewhere knows of them. The sums are kept in a TEMP table, which
 * is part of each transaction and never on the disk: who could see a row's part of a sum could look for other rows that
 * add up to the same (an additive multiset hash is safe with hidden parts alone).
 */
import { HmacKey } from '../../crypto/hmac.ts';
import type { Connection, Value, WaitingCheck, WaitingRevision, Writer } from '../connection.ts';
import { readable, type DamagedFileError } from '../file/damage.ts';
import { checkSchemaInUse, type RowFinding } from '../schema.ts';
import type { Guard } from '../unit-of-work.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { every } from '../../lib/concurrency/every.ts';
import { owned } from '../../lib/faults.ts';
import { verifyFile, verifyQuickly, rowsInDigest, type VerifiedFile, type VerifyProgress } from './verify.ts';
import { checkLog, walkLog } from './log.ts';
import { isAsWritten, waitingSchema, type WaitingRows } from './waiting-rows.ts';
import { authenticate, canonical, partOf, protectedTables, triggersOf, type Mac } from './row-mac.ts';
import { tampered } from './refusal.ts';
import {
  logEnd,
  nameOf,
  readDigest,
  signLogEnd,
  signTableHashes,
  type LogEnd,
  type TableHashes,
} from './digest.ts';
import { MultisetHash, multisetHashLength } from './multiset-hash.ts';
import { verifyFileAside, findDamageAside } from './thread.ts';

/** The unlocked vault, as far as it authenticates. */
interface GuardKeys {
  readonly unlocked: boolean;
  /** @throws KeyhearthError VAULT_LOCKED */
  mac(data: string | Uint8Array): Uint8Array;
  lock(): void;
}

export interface VerifyAside {
  /** Of a lock, a freeze or the end of the process. */
  readonly signal: AbortSignal;
  /** Called in a large vault. */
  readonly onProgress: VerifyProgress;
}

/** A look at more rows takes longer than the service may stand still; so it is with the count of a log of more rows. */
const manyRows = 1000;
const longLog = 100_000;

/** Retries when another process writes during the check. */
const mostTries = 3;

/** Between two walks of the whole log, in milliseconds, without an unlock. */
const walkPause = 15 * 60_000;

/** Between two looks whether the file is where it was, in milliseconds; each COMMIT looks too. */
const locationPause = 1000;

const putBack: RowFinding = {
  table: 'the file',
  row: null,
  problem: 'it was put back as it was earlier: what was written since is gone',
};

/** Authenticates what one connection writes, and finds out what others wrote. */
export class RowGuard implements Guard, WaitingCheck {
  readonly #connection: Connection;
  readonly #keys: GuardKeys;
  readonly #onTampering: () => void;
  readonly #onCommitted: (sequence?: number) => void;
  /** `PRAGMA data_version` as of the last look at all rows: it changes when another connection writes. */
  #version: number | undefined;
  /** The sums as a text, while no row has changed since they were read. */
  #sums: string | undefined;
  /** The hashes in the file's digest, and their name there. */
  #sealed: { readonly sums: string; readonly name: string } | undefined;
  /** The log's end in the file's digest. */
  #sealedLog: string | undefined;
  #accepted: LogEnd | undefined;
  #tampering: readonly RowFinding[] | undefined;
  #walk: NodeJS.Immediate | undefined;
  #walkedAt = -Infinity;
  /** True once the log was followed since the unlock: what waits for votes is known then. */
  #isFollowed = false;
  #onFollowed: ((isRead: boolean) => void)[] = [];
  #naming = false;
  #stopPathWatch: (() => void) | undefined;
  #committedLog: string | undefined;
  /** The log's ends that the file's digest may have: the last that was verified or committed here, and that of a COMMIT that failed. */
  #ends: readonly string[] = [];

  /** Sets up the connection, and sets up its successor where a database in memory is replaced. */
  constructor(
    connection: Connection,
    keys: GuardKeys,
    {
      onTampering = () => undefined,
      onCommitted = () => undefined,
    }: {
      /** Called when the file is refused, and when more findings arrive. */
      readonly onTampering?: () => void;
      /** Is called after each COMMIT and before it is answered, with the number of the log's newest row where that is another. */
      readonly onCommitted?: (sequence?: number) => void;
    } = {},
  ) {
    this.#connection = connection;
    this.#keys = keys;
    this.#onTampering = onTampering;
    this.#onCommitted = onCommitted;
    this.#watchPath();
    connection.equip(() => {
      this.#equip();
    });
    connection.onDamage((error) => {
      this.#damaged(error);
    });
    connection.waiting = this;
  }

  /** Why the file is not used; undefined while nothing is known against it. */
  get tampering(): readonly RowFinding[] | undefined {
    return this.#tampering;
  }

  /** True while the log is followed from its first row, or damage is searched for. */
  get walking(): boolean {
    return this.#walk !== undefined || this.#naming;
  }

  get isFollowed(): boolean {
    return this.#isFollowed && this.#keys.unlocked;
  }

  /**
   * Waits until the log is followed, or the vault is locked.
   * @throws KeyhearthError UNAVAILABLE where it cannot be read now.
   */
  async followed(): Promise<void> {
    if (this.isFollowed || !this.#keys.unlocked) return;
    if (this.#walk === undefined) this.#walkLog();
    const isRead = await new Promise<boolean>((resolve) => {
      this.#onFollowed.push(resolve);
    });
    if (!isRead)
      throw new KeyhearthError('UNAVAILABLE', 'the activity log cannot be read, try again in a moment');
  }

  checkWaiting(row: WaitingRevision): void {
    if (!this.isFollowed || isAsWritten(this.#connection, row)) return;
    const problem = 'it is not what waits for votes: it was changed, or another followed it';
    this.refuse([{ table: 'activities', row: String(row.sequence), problem }]);
  }

  /**
   * Verifies schema, rows and the log's end with a key that is not the keyring's yet.
   * @throws KeyhearthError VAULT_TAMPERED; the guard then refuses all reads and writes until a later verification finds nothing.
   */
  verify(mac: Mac): void {
    this.#checkPath();
    this.#connection.view(() => {
      this.#version = this.#connection.look();
      this.#take(verifyFile(this.#connection, mac));
    });
  }

  /**
   * The same for a locked vault, in a thread of its own where it would take long: the service answers meanwhile.
   * @throws KeyhearthError VAULT_TAMPERED, and the signal's reason where that ends it.
   */
  async verifyAside(rowKey: Uint8Array, aside: VerifyAside): Promise<void> {
    const key = new HmacKey(rowKey);
    const mac: Mac = (data) => key.mac(data);
    try {
      this.#checkPath();
      const { file } = this.#connection;
      if (file === undefined || !this.#isLarge(mac)) {
        this.verify(mac);
        return;
      }
      for (let tries = 0; tries < mostTries; tries++) {
        const version = this.#connection.look();
        const verified = await verifyFileAside(file, rowKey, aside);
        aside.signal.throwIfAborted();
        // This process's own writes are not authenticated meanwhile: the vault is locked.
        if (this.#connection.look() !== version) continue;
        this.#version = version;
        this.#take(verified);
        return;
      }
      // Another process writes without a pause.
      this.verify(mac);
    } finally {
      key.erase();
    }
  }

  #isLarge(mac: Mac): boolean {
    const tx = this.#connection;
    try {
      return rowsInDigest(readDigest(tx, mac)) > manyRows || logEnd(tx)[0] > longLog;
    } catch {
      // The verification reports what cannot be read.
      return false;
    }
  }

  /**
   * Looks at everything now, the whole log too, and locks the vault where something does not hold.
   * @returns what was changed outside Keyhearth.
   * @throws KeyhearthError VAULT_LOCKED
   */
  verifyNow(): readonly RowFinding[] {
    const findings = this.#connection.view(() =>
      verifyQuickly(this.#connection, (data) => this.#keys.mac(data), checkSchemaInUse),
    );
    if (findings.length > 0) this.#discover(findings);
    return findings;
  }

  /** Refuses the file for a reason found elsewhere. @throws KeyhearthError VAULT_TAMPERED */
  refuse(findings: readonly RowFinding[]): never {
    this.#discover(findings);
    throw tampered(findings);
  }

  /** Begins to authenticate: the file was verified, or is new, and the vault was unlocked. */
  begin(): void {
    this.#version = this.#connection.look();
    this.#tampering = undefined;
    this.#isFollowed = false;
    this.#watchPath();
    this.#walkLog();
  }

  /** Looks again, where the database was replaced by this very process. */
  restart(): void {
    if (!this.#keys.unlocked) return;
    this.verify((data) => this.#keys.mac(data));
    this.begin();
  }

  /**
   * Authenticates all rows as they are, with the key that the keyring holds now, in one transaction. Where the log's
   * chain is broken, it is followed from its present end on.
   * @param alongside Writes what belongs to it: the sealed row key at least.
   */
  adopt(alongside: (tx: Writer) => void): void {
    const tx = this.#connection;
    try {
      tx.transaction(() => {
        for (const { name } of protectedTables(tx))
          tx.run(`UPDATE "${name}" SET mac = NULL WHERE mac IS NOT NULL`);
        this.#forgetSums();
        for (const table of protectedTables(tx)) tx.run(authenticate(table));
        alongside(tx);
        this.#accepted = checkLog(tx).length > 0 ? logEnd(tx) : undefined;
        this.undone();
        this.seal();
      });
    } catch (error) {
      this.undone();
      throw error;
    }
    this.committed();
  }

  check(): void {
    if (this.#tampering === undefined) this.#connection.look();
    this.checkSeen();
  }

  checkSeen(): void {
    if (this.#tampering) throw tampered(this.#tampering);
    // Writes by others while the vault is locked are verified at the unlock.
    if (!this.#keys.unlocked || this.#connection.seen === this.#version) return;
    const ends = this.#ends;
    this.verify((data) => this.#keys.mac(data));
    // Without the key another process can still put back the file as it was, all of which holds together.
    if (this.#sealedLog === undefined || !ends.includes(this.#sealedLog)) this.refuse([putBack]);
    if (performance.now() - this.#walkedAt > walkPause) this.#walkLog();
  }

  seal(): void {
    // One write of the group met damage: the others' writes can no longer be sealed.
    if (this.#tampering) throw tampered(this.#tampering);
    // Locked, no row could be written that is authenticated.
    if (!this.#keys.unlocked) return;
    const mac: Mac = (data) => this.#keys.mac(data);
    this.#sums ??= this.#readSums();
    if (this.#sums !== this.#sealed?.sums) {
      const sealed = signTableHashes(mac, this.#sums);
      this.#write('UPDATE integrity SET sums = ? WHERE one = 1', sealed);
      this.#sealed = { sums: this.#sums, name: nameOf(sealed) };
    }
    const log = signLogEnd(mac, this.#sealed.name, logEnd(this.#connection));
    if (log === this.#sealedLog) return;
    this.#write('UPDATE integrity SET log = ? WHERE one = 1', log);
    this.#sealedLog = log;
  }

  #write(sql: string, value: Value): void {
    if (this.#connection.run(sql, value) !== 1) {
      throw new Error('the row that authenticates all others is missing');
    }
  }

  committed(): void {
    this.#checkPath();
    const sealed = this.#sealedLog;
    if (sealed !== undefined) this.#ends = [sealed];
    const isNew = sealed !== undefined && sealed !== this.#committedLog;
    this.#committedLog = sealed;
    this.#onCommitted(isNew ? Number.parseInt(sealed, 10) : undefined);
  }

  undone(): void {
    // It may have come to the disk all the same.
    if (this.#sealedLog !== undefined && !this.#ends.includes(this.#sealedLog))
      this.#ends = [...this.#ends, this.#sealedLog];
    this.#sealed = undefined;
    this.#sealedLog = undefined;
    this.#sums = undefined;
  }

  /** Ends what runs in the background. */
  stop(): void {
    clearImmediate(this.#walk);
    this.#walk = undefined;
    this.#released();
    this.#stopPathWatch?.();
    this.#stopPathWatch = undefined;
  }

  /** @throws KeyhearthError VAULT_TAMPERED if the open file is no longer the one at its path. */
  #checkPath(): void {
    const problem = this.#connection.isElsewhere();
    if (problem !== undefined) this.refuse([{ table: 'the file', row: null, problem }]);
  }

  #watchPath(): void {
    if (this.#connection.file === undefined) return;
    this.#stopPathWatch ??= every(locationPause, () => {
      const problem = this.#connection.isElsewhere();
      if (problem !== undefined) this.#discover([{ table: 'the file', row: null, problem }]);
    });
  }

  #take({ findings, sums, seal }: VerifiedFile): void {
    const tx = this.#connection;
    if (findings.length > 0) this.refuse(findings);
    this.#forgetSums();
    for (const [name, [rows, sum]] of Object.entries(sums.tables)) {
      const values = [rows, Buffer.from(sum, 'hex'), name];
      tx.run('UPDATE temp.row_sums SET rows = ?, sum = ? WHERE name = ?', ...values);
    }
    this.#accepted = sums.accepted;
    this.#sums = JSON.stringify(sums);
    this.#sealed = seal && { sums: this.#sums, name: seal.sumsName };
    this.#sealedLog = seal?.sealedLog;
    this.#ends = seal === undefined ? [] : [seal.sealedLog];
  }

  #forgetSums(): void {
    this.#connection.run('UPDATE temp.row_sums SET rows = 0, sum = ?', new Uint8Array(multisetHashLength));
  }

  #readSums(): string {
    const rows = this.#connection.all<{ name: string; rows: number; sum: Uint8Array }>(
      'SELECT name, rows, sum FROM temp.row_sums WHERE rows > 0 ORDER BY name',
    );
    const tables = Object.fromEntries(
      rows.map(({ name, rows, sum }) => [name, [rows, Buffer.from(sum).toString('hex')] as const]),
    );
    return JSON.stringify({
      tables,
      ...(this.#accepted && { accepted: this.#accepted }),
    } satisfies TableHashes);
  }

  /** Follows the log's chain from its first row, a few rows in each turn of the event loop. */
  #walkLog(): void {
    clearImmediate(this.#walk);
    this.#walkedAt = performance.now();
    const walk = walkLog(this.#connection, 200, this.#accepted, (end, waiting) => {
      this.#know(end, waiting);
    });
    const step = owned(() => {
      this.#walk = undefined;
      try {
        if (!this.#keys.unlocked) return;
        // The connection has reported the damage.
        const next = readable(() => walk.next(), undefined);
        if (next === undefined) return;
        const { done, value } = next;
        if (done !== true) this.#walk = setImmediate(step);
        else if (value.length > 0) this.#discover(value);
      } finally {
        if (this.#walk === undefined) this.#released();
      }
    });
    this.#walk = setImmediate(step);
  }

  /** @param end Of the chain that was followed: it must be the one that was sealed here. */
  #know([sequence, hash]: LogEnd, waiting: WaitingRows): void {
    if (sequence > 0 && !this.#ends.some((end) => end.startsWith(`${String(sequence)} ${hash} `))) {
      const problem = 'the log ended with another entry when it was last written';
      this.#discover([{ table: 'activities', row: String(sequence), problem }]);
      return;
    }
    waiting.keep(this.#connection);
    this.#isFollowed = true;
    this.#released();
  }

  #released(): void {
    const isRead = this.isFollowed || !this.#keys.unlocked || this.#tampering !== undefined;
    for (const resolve of this.#onFollowed.splice(0)) resolve(isRead);
  }

  /** Stops using the file. The next caller gets the refusal. */
  #discover(findings: readonly RowFinding[]): void {
    this.#tampering = findings;
    this.stop();
    this.#keys.lock();
    this.#onTampering();
  }

  /** A statement met a page that SQLite cannot read. The pages are reported once they were searched for. */
  #damaged({ finding }: DamagedFileError): void {
    if (this.#tampering !== undefined) return;
    const findings = [finding];
    this.#discover(findings);
    const { file } = this.#connection;
    if (file === undefined) return;
    this.#naming = true;
    const name = async (): Promise<void> => {
      try {
        const named = await findDamageAside(file);
        if (named.length > 0 && this.#tampering === findings) this.#discover(named);
      } finally {
        this.#naming = false;
      }
    };
    owned(name)();
  }

  #equip(): void {
    const connection = this.#connection;
    const tables = new Map(protectedTables(connection).map((table) => [table.name, table]));
    connection.define('row_mac', (name, ...values) => {
      const table = tables.get(String(name));
      if (table === undefined) throw new Error(`table ${String(name)} is not protected`);
      return this.#keys.mac(canonical(table, values));
    });
    connection.define('sum_swap', (sum, gone, come) => {
      this.#sums = undefined;
      const mac = (data: string | Uint8Array): Uint8Array => this.#keys.mac(data);
      const result = new MultisetHash(sum as Uint8Array);
      if (gone instanceof Uint8Array) result.add(partOf(mac, gone), -1);
      if (come instanceof Uint8Array) result.add(partOf(mac, come), 1);
      return result.bytes();
    });
    connection.exec(
      'CREATE TEMP TABLE row_sums (name TEXT PRIMARY KEY, rows INTEGER NOT NULL, sum BLOB NOT NULL) STRICT, WITHOUT ROWID',
    );
    if (connection.get("SELECT 1 FROM main.sqlite_schema WHERE name = 'activities'") !== undefined)
      connection.exec(waitingSchema);
    for (const table of tables.values()) {
      connection.run(
        'INSERT INTO temp.row_sums VALUES (?, 0, ?)',
        table.name,
        new Uint8Array(multisetHashLength),
      );
      connection.exec(triggersOf(table));
    }
  }
}
