/**
 * Checks the write-ahead log before SQLite opens it. SQLite reads the log up to the first invalid frame, and
 * silently takes that for its end. So it must, since a power loss leaves the last transaction half written.
 * But SQLite syncs each transaction before it writes the next one (`synchronous = FULL`). If frames of a
 * later transaction follow, the invalid one was once on the disk: it was damaged since, and SQLite drops
 * answered writes.
 *
 * The log alone cannot distinguish damage in its last transaction from a power loss. The mark of the newest
 * activity (`audit/mark.ts`) reveals that, unless the power was lost too.
 *
 * The format is SQLite's (https://www.sqlite.org/fileformat2.html#the_write_ahead_log): a header of 32 bytes,
 * and frames of 24 bytes and a page. A frame's checksum continues the one of the frame before it. Frames of
 * an earlier use of the file have other salts.
 */
import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';

export interface LogDamage {
  /** The first frame that does not hold, from 1 on; 0 for the header. */
  readonly frame: number;
  /** Number of lost transactions, at least. */
  readonly transactions: number;
}

const headerLength = 32;
const frameHeaderLength = 24;

export const writeAheadLogOf = (database: string): string => `${database}-wal`;

/** The path at which a damaged log is kept, as it was found. */
export const damagedLogOf = (database: string): string => `${writeAheadLogOf(database)}.damaged`;

/** The log of a database, opened before SQLite opens it: what SQLite removes can be read still. */
export class LeftLog implements Disposable {
  readonly #database: string;
  readonly #descriptor: number;

  private constructor(database: string, descriptor: number) {
    this.#database = database;
    this.#descriptor = descriptor;
  }

  /** @param database The path of a database that no connection has open. @returns undefined where it has no log. */
  static open(database: string): LeftLog | undefined {
    try {
      return new LeftLog(database, openSync(writeAheadLogOf(database), 'r'));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /**
   * Looks for transactions that SQLite drops although they were on the disk, before anything is written. Their log is kept
   * beside it: SQLite writes over it.
   * @param taken How many frames SQLite has taken from the log; 0 where that is not known.
   */
  keepDamage(taken: number): LogDamage | undefined {
    if (!this.#hasMore(taken)) return undefined;
    const bytes = readFileSync(this.#descriptor);
    const damage = findLogDamage(bytes);
    if (damage !== undefined) writeFileSync(damagedLogOf(this.#database), bytes, { mode: 0o600 });
    return damage;
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }

  /**
   * True if a transaction seems to end after the part that SQLite reads. Only the headers of frames are read
   * there.
   */
  #hasMore(taken: number): boolean {
    const header = this.#read(0, headerLength);
    const log = new WriteAheadLog(header);
    if (!log.headerHolds) return true;
    const frameLength = frameHeaderLength + log.pageSize;
    const { size } = fstatSync(this.#descriptor);
    for (let at = headerLength + taken * frameLength; at + frameLength <= size; at += frameLength) {
      const frame = this.#read(at, frameHeaderLength);
      const isCurrent = frame.compare(header, 16, 24, 8, 16) === 0;
      if (isCurrent && frame.readUInt32BE(4) !== 0) return true;
    }
    return false;
  }

  #read(at: number, length: number): Buffer {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(this.#descriptor, bytes, 0, length, at));
  }
}

/**
 * Keeps the logs of a file that was moved away: its newest activities may be in them alone. A new file of that name would have SQLite
 * delete them.
 * @param database The path of a database that no connection has open. Where it is there, its logs are its own.
 * @returns the paths at which the logs are kept.
 */
export function keepLogsWithoutFile(database: string): readonly string[] {
  if (existsSync(database)) return [];
  return [writeAheadLogOf(database), damagedLogOf(database)].flatMap((log) => {
    const size = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
    if (size === 0) return [];
    const kept = freeName(`${log}.kept`);
    renameSync(log, kept);
    return [kept];
  });
}

function freeName(path: string): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? path : `${path}-${String(number)}`;
    if (!existsSync(name)) return name;
  }
}

export const describeKeptLogs = (database: string, kept: readonly string[]): string =>
  `${database} is not there, and its write-ahead log was: the newest activities of the vault may be in it alone. It is kept in ${kept.join(' and ')}. To go back to that vault, put its file back, and ${writeAheadLogOf(database)} beside it.`;

export const describeLogDamage = (database: string, { frame, transactions }: LogDamage): string =>
  `The write-ahead log of ${database} is damaged ${frame === 0 ? 'in its header' : `from frame ${String(frame)} on`}: ${transactions === 1 ? 'a transaction' : `${String(transactions)} transactions`} that had been written are lost, unless the vault's file has them. The log is kept as it was in ${damagedLogOf(database)}. If activities are gone, the next unlock names them; \`keyhearth doctor\` checks all that is left.`;

/** @param bytes All of a write-ahead log. @returns undefined where nothing shows that a synced transaction is damaged. */
export function findLogDamage(bytes: Uint8Array): LogDamage | undefined {
  const log = new WriteAheadLog(bytes);
  const bad = log.firstBad();
  let transactions = 0;
  let isProven = false;
  for (let frame = Math.max(bad, 1); frame <= log.frames; frame++) {
    if (!log.isCurrent(frame) || !log.isCommit(frame)) continue;
    transactions++;
    // The rest of a transaction that was rolled back continues from another frame than this.
    if (frame < log.frames && log.isCurrent(frame + 1) && log.follows(frame + 1, log.checksumOf(frame))) {
      isProven = true;
    }
  }
  return isProven ? { frame: bad, transactions } : undefined;
}

type Checksum = readonly [number, number];

class WriteAheadLog {
  readonly frames: number;
  readonly #view: DataView;
  readonly pageSize: number;
  readonly headerHolds: boolean;
  readonly #littleEndian: boolean;

  constructor(bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const header = bytes.length < headerLength ? undefined : this.#readHeader();
    this.headerHolds = header !== undefined;
    // An invalid header is not believed in anything: these are the values of every vault.
    this.pageSize = header?.pageSize ?? 4096;
    this.#littleEndian = header?.littleEndian ?? true;
    this.frames = Math.max(
      Math.floor((bytes.length - headerLength) / (frameHeaderLength + this.pageSize)),
      0,
    );
  }

  /** @returns undefined where the header's checksum does not hold, or where it holds over values that SQLite refuses. */
  #readHeader(): { readonly pageSize: number; readonly littleEndian: boolean } | undefined {
    const littleEndian = this.#view.getUint32(0) !== 0x37_7f_06_83;
    const pageSize = this.#view.getUint32(8);
    const isSize = pageSize >= 512 && pageSize <= 65_536 && (pageSize & (pageSize - 1)) === 0;
    const [first, second] = this.#sum([0, 0], 0, 24, littleEndian);
    const isWhole = first === this.#view.getUint32(24) && second === this.#view.getUint32(28);
    return isSize && isWhole ? { pageSize, littleEndian } : undefined;
  }

  /** @returns the first frame that SQLite does not take, 0 for the header, or one more than there are. */
  firstBad(): number {
    if (this.frames === 0) return 1;
    if (!this.headerHolds) return 0;
    let sum = this.#sum([0, 0], 0, 24);
    for (let frame = 1; frame <= this.frames; frame++) {
      if (!this.isCurrent(frame) || !this.follows(frame, sum)) return frame;
      sum = this.checksumOf(frame);
    }
    return this.frames + 1;
  }

  /**
   * True for a frame of the current use of the file, by the header's salts; with an invalid header, by the
   * first frame's.
   */
  isCurrent(frame: number): boolean {
    const at = this.#at(frame);
    const salts = this.#salts;
    return this.#view.getUint32(at + 8) === salts[0] && this.#view.getUint32(at + 12) === salts[1];
  }

  isCommit(frame: number): boolean {
    return this.#view.getUint32(this.#at(frame) + 4) !== 0;
  }

  /** True if a frame is valid, given the checksum of the one before it. */
  follows(frame: number, before: Checksum): boolean {
    const at = this.#at(frame);
    const head = this.#sum(before, at, 8);
    const [first, second] = this.#sum(head, at + frameHeaderLength, this.pageSize);
    const [keptFirst, keptSecond] = this.checksumOf(frame);
    return first === keptFirst && second === keptSecond;
  }

  /** As the frame has it. */
  checksumOf(frame: number): Checksum {
    const at = this.#at(frame);
    return [this.#view.getUint32(at + 16), this.#view.getUint32(at + 20)];
  }

  get #salts(): Checksum {
    const at = this.headerHolds ? 16 : this.#at(1) + 8;
    return [this.#view.getUint32(at), this.#view.getUint32(at + 4)];
  }

  #at(frame: number): number {
    return headerLength + (frame - 1) * (frameHeaderLength + this.pageSize);
  }

  #sum([first, second]: Checksum, at: number, length: number, littleEndian = this.#littleEndian): Checksum {
    let [one, two] = [first, second];
    for (let offset = at; offset < at + length; offset += 8) {
      one = (one + this.#view.getUint32(offset, littleEndian) + two) >>> 0;
      two = (two + this.#view.getUint32(offset + 4, littleEndian) + one) >>> 0;
    }
    return [one, two];
  }
}
