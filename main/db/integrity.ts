/**
 * Rows that show by themselves that Latchkey wrote them. Each row of a protected table carries an HMAC over its columns
 * under the vault's row key, which is there while the vault is unlocked; sums over all rows of each table, and the head
 * of the activity log, are sealed under the same key before each COMMIT, so that rows which are gone, or older rows put
 * back in their place, are found out too.
 *
 * TEMP triggers write the HMACs, so that no statement elsewhere knows of them. The sums are kept in a TEMP table, which
 * is part of each transaction and never on the disk: who could see a row's part of a sum could look for other rows that
 * add up to the same (an additive multiset hash is safe with hidden parts alone).
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { LatchkeyError } from '../lib/errors.ts';
import { walkActivityChain, type ChainCheck, type LogRow } from './activities.ts';
import type { Connection, Reader, Value, Writer } from './connection.ts';
import { checkSchema, type RowFinding } from './schema.ts';
import type { Guard } from './unit-of-work.ts';

/** HMAC-SHA-256 under the row key. */
export type Mac = (data: string | Uint8Array) => Uint8Array;

/** What is not authenticated, whole tables or single columns, and why that gives nobody anything. */
export const unprotected: Readonly<
  Record<string, { readonly columns?: readonly string[]; readonly why: string }>
> = {
  activities: { why: 'each row carries the hash of the one before it; the last is sealed with the sums' },
  log_heads: { why: 'each row is signed, and checked against the log' },
  integrity: { why: 'it is what authenticates: its columns open under the master key and the row key' },
  credential_uses: {
    why: 'written for many requests together, after them; it is shown, and decides nothing',
  },
  backups: { why: 'written while the vault is locked too; it is shown, and decides nothing' },
  backup_schedule: {
    columns: ['last_failure', 'last_failure_at'],
    why: 'written while the vault is locked too; they are shown, and decide nothing',
  },
  freeze: {
    why: 'written while the vault is locked too; who takes it away can open the vault as before it was frozen, with the keychain',
  },
  outbox: {
    columns: ['state', 'attempts', 'next_at', 'failing_since', 'finished_at', 'note'],
    why: 'what became of a delivery, also of one that ends as the vault is locked; what is delivered and to whom is authenticated',
  },
  webhook_endpoints: {
    columns: ['place', 'switched_off_at', 'failing_since'],
    why: 'how far an endpoint has got, also as the vault is locked; what it gets is rows of the log, to an address that is authenticated',
  },
  webhook_deliveries: {
    why: 'what became of events; what is sent again by it is a row of the log, to an endpoint that is authenticated',
  },
};

/** What the row key is sealed for. */
export const rowKeyPlace = { table: 'integrity', rowId: 'row key', organizationId: '' } as const;

export const getSealedRowKey = (tx: Reader): Uint8Array | undefined =>
  tx.get<{ sealed: Uint8Array }>('SELECT sealed FROM integrity WHERE one = 1')?.sealed;

/** Whether rows of a vault are in the file, of this version or of an earlier one. */
export const holdsRows = (tx: Reader): boolean =>
  tx.get('SELECT 1 FROM integrity UNION ALL SELECT 1 FROM organizations') !== undefined;

/** The sums follow before COMMIT. */
export function putSealedRowKey(tx: Writer, sealed: Uint8Array): void {
  tx.run(
    `INSERT INTO integrity (one, sealed, sums, log) VALUES (1, ?, x'', '')
     ON CONFLICT (one) DO UPDATE SET sealed = excluded.sealed, sums = excluded.sums, log = excluded.log`,
    sealed,
  );
}

interface ProtectedTable {
  readonly name: string;
  /** All that is authenticated, in the table's order. */
  readonly columns: readonly string[];
  /** What tells its rows apart, and reads them in the order of the table itself. */
  readonly key: readonly string[];
  readonly primaryKey: readonly string[];
}

interface ColumnInfo {
  readonly name: string;
  /** The column's place in the primary key, 0 outside it. */
  readonly pk: number;
}

function protectedTables(tx: Reader): readonly ProtectedTable[] {
  const tables = tx.all<{ name: string; wr: number }>(
    "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' ORDER BY name",
  );
  return tables.flatMap(({ name, wr }) => {
    const info = tx.all<ColumnInfo>('SELECT name, pk FROM pragma_table_info(?)', name);
    if (!info.some((column) => column.name === 'mac')) return [];
    const left = ['mac', ...(unprotected[name]?.columns ?? [])];
    const primaryKey = info
      .filter(({ pk }) => pk > 0)
      .sort((a, b) => a.pk - b.pk)
      .map((column) => column.name);
    return [
      {
        name,
        columns: info.map((column) => column.name).filter((column) => !left.includes(column)),
        key: wr === 1 ? primaryKey : ['rowid'],
        primaryKey,
      },
    ];
  });
}

/**
 * What of a row is authenticated, as one text that no other row has. A column that is null is left out: a later version
 * may add columns that are null in the rows of today.
 */
function canonical({ name, columns }: ProtectedTable, values: readonly Value[]): string {
  const parts: unknown[] = [name];
  columns.forEach((column, index) => {
    const value = values[index];
    if (value === undefined || value === null) return;
    parts.push(column, value instanceof Uint8Array ? [Buffer.from(value).toString('hex')] : value);
  });
  return JSON.stringify(parts);
}

/** A row's part of its table's sum, by the row's HMAC; it is never written anywhere. */
const partOf = (mac: Mac, rowMac: Uint8Array): Uint8Array =>
  mac(`part ${Buffer.from(rowMac).toString('hex')}`);

const lanes = 8;

/** Sums modulo 2^256, big-endian, as eight lanes whose carries wait until the sum is asked for. */
class Sum {
  readonly #lanes = new Float64Array(lanes);
  #added = 0;

  constructor(start?: Uint8Array) {
    if (start) this.add(start, 1);
  }

  /** @param part 32 bytes. @param sign 1 or -1. */
  add(part: Uint8Array, sign: 1 | -1): void {
    // Beyond 2^53 a lane would no longer be exact.
    if (this.#added++ === 2 ** 20) this.#settle();
    const view = new DataView(part.buffer, part.byteOffset, part.byteLength);
    for (let lane = 0; lane < lanes; lane++) {
      this.#lanes[lane] = (this.#lanes[lane] ?? 0) + sign * view.getUint32(lane * 4);
    }
  }

  #settle(): void {
    const bytes = this.bytes();
    this.#lanes.fill(0);
    this.#added = 0;
    this.add(bytes, 1);
  }

  bytes(): Uint8Array {
    const bytes = Buffer.alloc(lanes * 4);
    let carry = 0;
    for (let lane = lanes - 1; lane >= 0; lane--) {
      const value = (this.#lanes[lane] ?? 0) + carry;
      carry = Math.floor(value / 2 ** 32);
      bytes.writeUInt32BE(value - carry * 2 ** 32, lane * 4);
    }
    return bytes;
  }
}

/** A row of the log; its hash in hex. */
type LogEnd = readonly [sequence: number, hash: string];

/** What is sealed of the rows; it is written when one of them has changed. */
interface Sums {
  /** Rows and sum of each table that has rows, by name. */
  readonly tables: Readonly<Record<string, readonly [rows: number, sum: string]>>;
  /** The row up to which the owner accepted a log that was changed; the chain holds after it. */
  readonly accepted?: LogEnd;
}

const sealedFormat = 'latchkey integrity 1';
const saltLength = 20;
const nonceLength = 12;
const tagLength = 16;

/**
 * `salt (20) | nonce (12) | AES-256-GCM ciphertext | tag (16)`, under a key that the row key and the salt give: a busy
 * vault seals too often for random nonces under one key.
 */
function sealSums(mac: Mac, text: string): Uint8Array {
  const head = randomBytes(saltLength + nonceLength);
  const cipher = createCipheriv('aes-256-gcm', sealKey(mac, head), head.subarray(saltLength), {
    authTagLength: tagLength,
  });
  cipher.setAAD(Buffer.from(sealedFormat));
  return Buffer.concat([head, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
}

/** @returns undefined for what was not sealed under this key. */
function openSums(mac: Mac, sealed: Uint8Array): Sums | undefined {
  const headLength = saltLength + nonceLength;
  if (sealed.length < headLength + tagLength) return undefined;
  const decipher = createDecipheriv(
    'aes-256-gcm',
    sealKey(mac, sealed),
    sealed.subarray(saltLength, headLength),
    { authTagLength: tagLength },
  );
  decipher.setAAD(Buffer.from(sealedFormat));
  decipher.setAuthTag(sealed.subarray(-tagLength));
  try {
    const text = [decipher.update(sealed.subarray(headLength, -tagLength)), decipher.final()];
    return JSON.parse(Buffer.concat(text).toString('utf8')) as Sums;
  } catch {
    return undefined;
  }
}

const sealKey = (mac: Mac, head: Uint8Array): Uint8Array =>
  mac(`seal ${Buffer.from(head.subarray(0, saltLength)).toString('hex')}`);

/** What of sealed sums no other have: their salt and nonce. */
const nameOf = (sealed: Uint8Array): string =>
  Buffer.from(sealed.subarray(0, saltLength + nonceLength)).toString('hex');

/** The log's end with the HMAC that holds it together with the sums: most writes change the log alone. */
function sealLog(mac: Mac, sumsName: string, [sequence, hash]: LogEnd): string {
  const end = `${String(sequence)} ${hash}`;
  return `${end} ${Buffer.from(mac(`log ${end} ${sumsName}`)).toString('hex')}`;
}

/** @returns undefined for what was not sealed under this key, with these sums. */
function openLog(mac: Mac, sumsName: string, sealed: string): LogEnd | undefined {
  const [sequence = '', hash = ''] = sealed.split(' ');
  const end: LogEnd = [Number(sequence), hash];
  return sealLog(mac, sumsName, end) === sealed ? end : undefined;
}

const logEnd = (tx: Reader): LogEnd => {
  const last = tx.get<{ sequence: number; hash: Uint8Array }>(
    'SELECT sequence, hash FROM activities ORDER BY sequence DESC LIMIT 1',
  );
  return last === undefined ? [0, ''] : [last.sequence, Buffer.from(last.hash).toString('hex')];
};

/**
 * Looks at every row of every protected table, at what an index says of it, and at the end of the log. It takes time in
 * proportion to the rows; whoever may not be alone with the file asks within `Connection.view`.
 * @returns what was changed outside Latchkey; nothing where all is as it was written.
 */
export const checkRows = (tx: Reader, mac: Mac): readonly RowFinding[] => examine(tx, mac).findings;

/** What the file's own row says of all others. */
interface Seal {
  readonly sums: Sums;
  readonly sumsName: string;
  readonly log: LogEnd;
  readonly sealedLog: string;
}

function readSeal(tx: Reader, mac: Mac): Seal | undefined {
  const row = tx.get<{ sums: Uint8Array; log: string }>('SELECT sums, log FROM integrity WHERE one = 1');
  if (row === undefined) return undefined;
  const sums = openSums(mac, row.sums);
  if (sums === undefined) return undefined;
  const sumsName = nameOf(row.sums);
  const log = openLog(mac, sumsName, row.log);
  return log && { sums, sumsName, log, sealedLog: row.log };
}

interface Examined {
  readonly findings: readonly RowFinding[];
  /** What was found, and is what the seal says where there is nothing to find. */
  readonly sums: Sums;
  readonly seal: Seal | undefined;
}

function examine(tx: Reader, mac: Mac): Examined {
  const seal = readSeal(tx, mac);
  const findings = [...checkIndexes(tx, 'integrity')];
  if (seal === undefined) {
    findings.push({
      table: 'integrity',
      row: '1',
      problem: 'it is missing or was changed: which rows of other tables are gone is not known',
    });
  }
  const tables: Record<string, readonly [number, string]> = {};
  for (const table of protectedTables(tx)) {
    const { rows, sum, bad } = examineTable(tx, mac, table);
    findings.push(...bad);
    if (rows > 0) tables[table.name] = [rows, sum];
    if (seal === undefined) continue;
    const [rowsBefore, sumBefore] = seal.sums.tables[table.name] ?? [0, emptySum];
    if (rows !== rowsBefore) {
      const difference = Math.abs(rows - rowsBefore);
      findings.push({
        table: table.name,
        row: null,
        problem: `${String(difference)} ${difference === 1 ? 'row' : 'rows'} ${rows < rowsBefore ? 'too few' : 'too many'}: there were ${String(rowsBefore)}`,
      });
    } else if (sum !== sumBefore) {
      findings.push({
        table: table.name,
        row: null,
        problem: 'its rows are not the last that were written: one was put in the place of another',
      });
    }
    findings.push(...checkIndexes(tx, table.name));
  }
  const log = logEnd(tx);
  if (seal !== undefined && (log[0] !== seal.log[0] || log[1] !== seal.log[1])) {
    findings.push({
      table: 'activities',
      row: String(log[0]),
      problem: `the log ended with another row ${String(seal.log[0])} when it was last written`,
    });
  }
  const accepted = seal?.sums.accepted;
  const first = accepted?.[0] ?? 0;
  const kept = tx.get<{ count: number }>(
    'SELECT count(*) AS count FROM activities WHERE sequence > ?',
    first,
  );
  if (kept?.count !== log[0] - first) {
    findings.push({
      table: 'activities',
      row: null,
      problem: `there are ${String(kept?.count)} rows after number ${String(first)}, and the last is number ${String(log[0])}`,
    });
  }
  return { findings, sums: { tables, ...(accepted && { accepted }) }, seal };
}

/** All that can be said of a file: its schema, its rows, and its log from the first row on. */
export function inspect(tx: Reader, mac: Mac): readonly RowFinding[] {
  const schema = checkSchema(tx);
  // Rows of a schema that is not known would be looked at in vain.
  if (schema.length > 0) return schema;
  return [...checkRows(tx, mac), ...checkLog(tx, readSeal(tx, mac)?.sums.accepted)];
}

function checkLog(tx: Reader, accepted?: LogEnd): readonly RowFinding[] {
  const walk = walkLog(tx, pageSize, accepted);
  for (;;) {
    const { done, value } = walk.next();
    if (done === true) return value;
  }
}

/** Follows the log's chain and then its indexes, with a pause after each so many rows. */
function* walkLog(tx: Reader, slice: number, accepted?: LogEnd): Generator<undefined, readonly RowFinding[]> {
  const chain = yield* walkActivityChain(tx, slice, logRowOf(accepted));
  if (!chain.ok) return [brokenLog(chain)];
  // A file of an earlier version, which is looked at as it is, has not all of them.
  const indexes = tx
    .all<{ name: string }>(
      "SELECT name FROM main.sqlite_schema WHERE type = 'index' AND tbl_name = 'activities'",
    )
    .map(({ name }) => name);
  const lookedUp = unindexed(indexes.includes('activities_places'));
  for (let first = 1; first <= chain.rows; first += slice) {
    const lost = tx.get<{ sequence: number }>(lookedUp, first, first + slice - 1);
    if (lost)
      return [{ table: 'activities', row: String(lost.sequence), problem: 'an index does not lead to it' }];
    yield;
  }
  // A log with gaps, which was accepted, has fewer rows than its last number says.
  if (accepted) return [];
  for (const index of ['activities_id', 'activities_fingerprint', 'activities_places']) {
    if (!indexes.includes(index)) continue;
    const more = tx.get<{ more: number }>(
      `SELECT (SELECT count(*) FROM activities INDEXED BY ${index} WHERE revision > -1) - (SELECT max(sequence) FROM activities) AS more`,
    );
    if (more?.more)
      return [{ table: 'activities', row: null, problem: `the index ${index} leads elsewhere too` }];
  }
  return [];
}

/** The first row between two numbers that the indexes, by which activities are found, do not lead to. */
const unindexed = (
  withPlaces: boolean,
): string => `SELECT sequence FROM activities AS a NOT INDEXED WHERE sequence BETWEEN ? AND ? AND NOT (
  EXISTS (SELECT 1 FROM activities AS i INDEXED BY activities_id
    WHERE i.id = a.id AND i.revision = a.revision AND i.sequence = a.sequence)
  AND EXISTS (SELECT 1 FROM activities AS f INDEXED BY activities_fingerprint
    WHERE f.organization_id = a.organization_id AND f.fingerprint = a.fingerprint AND f.revision = a.revision
      AND f.sequence = a.sequence)
  ${withPlaces ? placed : ''}) LIMIT 1`;

const placed = `AND EXISTS (SELECT 1 FROM activities AS p INDEXED BY activities_places
    WHERE p.organization_id = a.organization_id AND p.sequence = a.sequence AND p.revision = a.revision
      AND p.type = a.type AND p.status = a.status AND p.created_at = a.created_at
      AND substr(p.votes, 57, 36) = substr(a.votes, 57, 36))`;

const logRowOf = (end: LogEnd | undefined): LogRow | undefined =>
  end && { sequence: end[0], hash: Buffer.from(end[1], 'hex') };

const brokenLog = ({ sequence, problem }: Extract<ChainCheck, { ok: false }>): RowFinding => ({
  table: 'activities',
  row: String(sequence),
  problem,
});

const emptySum = '00'.repeat(lanes * 4);
const pageSize = 1000;

function examineTable(
  tx: Reader,
  mac: Mac,
  table: ProtectedTable,
): { readonly rows: number; readonly sum: string; readonly bad: readonly RowFinding[] } {
  const { name, columns, key, primaryKey } = table;
  const keys = key.map((column) => `"${column}"`).join(', ');
  const names = [...columns, 'mac'].map((column) => `"${column}"`);
  // By the table itself and not by an index, which may have been made to say something else.
  const from =
    key[0] === 'rowid'
      ? `SELECT rowid AS rowid, ${names.join(', ')} FROM "${name}" NOT INDEXED`
      : `SELECT ${names.join(', ')} FROM "${name}"`;
  const after = `WHERE (${keys}) > (${key.map(() => '?').join(', ')})`;
  const order = `ORDER BY ${keys} LIMIT ${String(pageSize)}`;
  const sum = new Sum();
  const bad: RowFinding[] = [];
  let rows = 0;
  let last: readonly Value[] | undefined;
  for (;;) {
    const page = tx.all<Record<string, Value>>(`${from} ${last ? after : ''} ${order}`, ...(last ?? []));
    for (const row of page) {
      const kept = row['mac'];
      const values = columns.map((column) => row[column] ?? null);
      const holds = kept instanceof Uint8Array && Buffer.compare(kept, mac(canonical(table, values))) === 0;
      if (kept instanceof Uint8Array) sum.add(partOf(mac, kept), 1);
      if (!holds) {
        bad.push({
          table: name,
          row: primaryKey.map((column) => String(row[column])).join('/'),
          problem: kept === null ? 'it was added, or never authenticated' : 'it was changed or added',
        });
      }
    }
    rows += page.length;
    const end = page.at(-1);
    if (end === undefined || page.length < pageSize) break;
    last = key.map((column) => end[column] ?? null);
  }
  return { rows, sum: Buffer.from(sum.bytes()).toString('hex'), bad };
}

/** Rows are found by indexes: one that lies would show a row for another's key. */
function checkIndexes(tx: Reader, table: string): readonly RowFinding[] {
  return tx
    .all<{ integrity_check: string }>(`PRAGMA integrity_check("${table}")`)
    .filter(({ integrity_check: problem }) => problem !== 'ok')
    .map(({ integrity_check: problem }) => ({ table, row: null, problem }));
}

/** How many findings an error names. */
const named = 5;

/** What is said of rows that do not hold. */
export const tampered = (findings: readonly RowFinding[]): LatchkeyError =>
  refused(
    findings,
    '`latchkey doctor` lists all of it. Restore a backup; or, if you know what changed it and want it so, accept it with `latchkey doctor --accept-changes`.',
  );

/** What is said of a file that cannot be accepted as it is. */
export const misshapen = (findings: readonly RowFinding[]): LatchkeyError =>
  refused(findings, 'Undo it, or restore a backup.');

function refused(findings: readonly RowFinding[], wayOn: string): LatchkeyError {
  const list = findings.slice(0, named).map(describeFinding);
  const more = findings.length - list.length;
  return new LatchkeyError(
    'VAULT_TAMPERED',
    `The vault's file was changed outside Latchkey, and is not used: ${list.join('; ')}${more > 0 ? `; and ${String(more)} more` : ''}. ${wayOn}`,
  );
}

export const describeFinding = ({ table, row, problem }: RowFinding): string =>
  `${table}${row === null ? '' : ` ${row}`}: ${problem}`;

/** The unlocked vault, as far as it authenticates. */
interface GuardKeys {
  readonly unlocked: boolean;
  /** @throws LatchkeyError VAULT_LOCKED */
  mac(data: string | Uint8Array): Uint8Array;
  lock(): void;
}

const isCorruption = (error: unknown): error is Error =>
  error instanceof Error &&
  'code' in error &&
  ['SQLITE_CORRUPT', 'SQLITE_NOTADB'].some((code) => String(error.code).startsWith(code));

/** Between two walks of the whole log, in milliseconds, where nobody unlocks. */
const walkPause = 15 * 60_000;

/** Authenticates what one connection writes, and finds out what others wrote. */
export class RowGuard implements Guard {
  readonly #connection: Connection;
  readonly #keys: GuardKeys;
  readonly #onTampering: () => void;
  /** `PRAGMA data_version` as of the last look at all rows: it changes when another connection writes. */
  #version: number | undefined;
  /** The sums as a text, while no row has changed since they were read. */
  #sums: string | undefined;
  /** The sums that the file's seal holds, and their name there. */
  #sealed: { readonly sums: string; readonly name: string } | undefined;
  /** The log's end as the file's seal holds it. */
  #sealedLog: string | undefined;
  #accepted: LogEnd | undefined;
  #tampering: readonly RowFinding[] | undefined;
  #walk: NodeJS.Immediate | undefined;
  #walkedAt = -Infinity;

  /** Sets up the connection, and sets up its successor where a database in memory is replaced. */
  constructor(connection: Connection, keys: GuardKeys, onTampering: () => void = () => undefined) {
    this.#connection = connection;
    this.#keys = keys;
    this.#onTampering = onTampering;
    connection.equip(() => {
      this.#equip();
    });
  }

  /** Why the file is not used; undefined while nothing is known against it. */
  get tampering(): readonly RowFinding[] | undefined {
    return this.#tampering;
  }

  /** Whether the log is being followed from its first row. */
  get walking(): boolean {
    return this.#walk !== undefined;
  }

  /**
   * Looks at schema, rows and the log's end with a key that is not the keyring's yet.
   * @throws LatchkeyError VAULT_TAMPERED; the guard then refuses all reads and writes until a later look finds nothing.
   */
  verify(mac: Mac): void {
    this.#connection.view(() => {
      this.#version = this.#dataVersion();
      this.#examine(mac);
    });
  }

  /**
   * Looks at everything now, the whole log too, and locks the vault where something does not hold.
   * @returns what was changed outside Latchkey.
   * @throws LatchkeyError VAULT_LOCKED
   */
  inspect(): readonly RowFinding[] {
    const findings = this.#connection.view(() => inspect(this.#connection, (data) => this.#keys.mac(data)));
    if (findings.length > 0) this.#discover(findings);
    return findings;
  }

  /** Refuses the file for a reason found elsewhere. @throws LatchkeyError VAULT_TAMPERED */
  refuse(findings: readonly RowFinding[]): never {
    this.stop();
    this.#tampering = findings;
    this.#keys.lock();
    this.#onTampering();
    throw tampered(findings);
  }

  /** Begins to authenticate: the file was verified, or is new, and the vault was unlocked. */
  begin(): void {
    this.#version = this.#dataVersion();
    this.#tampering = undefined;
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
  }

  check(): void {
    if (this.#tampering) throw tampered(this.#tampering);
    // What was written while the vault is locked is looked at when it is unlocked.
    if (!this.#keys.unlocked || this.#dataVersion() === this.#version) return;
    this.verify((data) => this.#keys.mac(data));
    if (performance.now() - this.#walkedAt > walkPause) this.#walkLog();
  }

  seal(): void {
    // Locked, no row could be written that is authenticated.
    if (!this.#keys.unlocked) return;
    const mac: Mac = (data) => this.#keys.mac(data);
    this.#sums ??= this.#readSums();
    if (this.#sums !== this.#sealed?.sums) {
      const sealed = sealSums(mac, this.#sums);
      this.#write('UPDATE integrity SET sums = ? WHERE one = 1', sealed);
      this.#sealed = { sums: this.#sums, name: nameOf(sealed) };
    }
    const log = sealLog(mac, this.#sealed.name, logEnd(this.#connection));
    if (log === this.#sealedLog) return;
    this.#write('UPDATE integrity SET log = ? WHERE one = 1', log);
    this.#sealedLog = log;
  }

  #write(sql: string, value: Value): void {
    if (this.#connection.run(sql, value) !== 1) {
      throw new Error('the row that authenticates all others is missing');
    }
  }

  undone(): void {
    this.#sealed = undefined;
    this.#sealedLog = undefined;
    this.#sums = undefined;
  }

  /** Ends what runs in the background. */
  stop(): void {
    clearImmediate(this.#walk);
    this.#walk = undefined;
  }

  #examine(mac: Mac): void {
    const tx = this.#connection;
    const schema = checkSchema(tx);
    // Rows of a schema that is not known would be looked at in vain.
    if (schema.length > 0) this.refuse(schema);
    const { findings, sums, seal } = this.#readable(() => examine(tx, mac));
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
  }

  #forgetSums(): void {
    this.#connection.run('UPDATE temp.row_sums SET rows = 0, sum = ?', new Uint8Array(lanes * 4));
  }

  /** SQLite throws at pages that it cannot make sense of. */
  #readable<T>(look: () => T): T {
    try {
      return look();
    } catch (error) {
      if (!isCorruption(error)) throw error;
      return this.refuse([{ table: 'the file', row: null, problem: error.message }]);
    }
  }

  #dataVersion(): number {
    return this.#connection.get<{ data_version: number }>('PRAGMA data_version')?.data_version ?? 0;
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
    } satisfies Sums);
  }

  /** Follows the log's chain from its first row, a few rows in each turn of the event loop. */
  #walkLog(): void {
    this.stop();
    this.#walkedAt = performance.now();
    const walk = walkLog(this.#connection, 200, this.#accepted);
    const step = (): void => {
      this.#walk = undefined;
      if (!this.#keys.unlocked) return;
      const { done, value } = walk.next();
      if (done !== true) this.#walk = setImmediate(step);
      else if (value.length > 0) this.#discover(value);
    };
    this.#walk = setImmediate(step);
  }

  #discover(findings: readonly RowFinding[]): void {
    try {
      this.refuse(findings);
    } catch {
      // Said to whoever asks next.
    }
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
      const result = new Sum(sum as Uint8Array);
      if (gone instanceof Uint8Array) result.add(partOf(mac, gone), -1);
      if (come instanceof Uint8Array) result.add(partOf(mac, come), 1);
      return result.bytes();
    });
    connection.exec(
      'CREATE TEMP TABLE row_sums (name TEXT PRIMARY KEY, rows INTEGER NOT NULL, sum BLOB NOT NULL) STRICT, WITHOUT ROWID',
    );
    for (const table of tables.values()) {
      connection.run('INSERT INTO temp.row_sums VALUES (?, 0, ?)', table.name, new Uint8Array(lanes * 4));
      connection.exec(triggersOf(table));
    }
  }
}

/** Writes the HMACs of the rows that a condition names, or of all. */
const authenticate = ({ name, columns }: ProtectedTable, where = ''): string =>
  `UPDATE "${name}" SET mac = row_mac('${name}', ${columns.map((column) => `"${column}"`).join(', ')}) ${where}`;

/**
 * The HMAC is over the row as it is in the table, and not over what the statement wrote: a trigger of the file's own
 * may have changed it since. The sums follow the HMACs, whatever changed those.
 */
function triggersOf(table: ProtectedTable): string {
  const { name, columns, key } = table;
  const same = key.map((column) => `"${column}" = NEW."${column}"`).join(' AND ');
  const write = authenticate(table, `WHERE ${same}`);
  const keepSum = (change: string): string => `UPDATE row_sums SET ${change} WHERE name = '${name}'`;
  return `
    CREATE TEMP TRIGGER ${name}_mac_insert AFTER INSERT ON main."${name}" BEGIN ${write}; END;
    CREATE TEMP TRIGGER ${name}_mac_update AFTER UPDATE OF ${columns.map((column) => `"${column}"`).join(', ')} ON main."${name}"
      BEGIN ${write}; END;
    CREATE TEMP TRIGGER ${name}_mac_sum AFTER UPDATE OF mac ON main."${name}"
      BEGIN ${keepSum('sum = sum_swap(sum, OLD.mac, NEW.mac), rows = rows + (OLD.mac IS NULL)')}; END;
    CREATE TEMP TRIGGER ${name}_mac_delete AFTER DELETE ON main."${name}"
      BEGIN ${keepSum('sum = sum_swap(sum, OLD.mac, NULL), rows = rows - 1')}; END;
  `;
}
