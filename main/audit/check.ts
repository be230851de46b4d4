/** Checks the activity log: that every row is the one that was written, and that the rows lead up to its signed heads. */
import { setImmediate } from 'node:timers/promises';
import { toHex } from '../crypto/encodings.ts';
import { activityHash, genesis, listLog, logEnd, type ActivityRow } from '../storage/tables/activities.ts';
import type { Reader } from '../storage/connection.ts';
import { listLogHeads } from '../storage/tables/log-heads.ts';
import type { LogCheck } from '../../preload/contract.ts';
import { headOfRow, headVerifier, type LogIdentity, type SignedHead } from './signed-heads.ts';

/** A place of the log that is known from somewhere: the row there must have this hash. */
export interface KnownHead {
  readonly sequence: number;
  /** Hex. */
  readonly hash: string;
  /** Ends the sentence "entry 7 is not the one that": `the keychain noted on 2026-01-01T00:00:00.000Z`. */
  readonly known: string;
  /** The time at which the head was signed, in milliseconds; absent if the head does not hold one. */
  readonly signedAt?: number;
}

export interface LogCheckOptions {
  readonly identity: LogIdentity;
  /** Of the key that must have signed every head; hex, uncompressed. */
  readonly publicKey: string;
  /** True where the reader gave the key. It must then have signed a row: any program can write a log that is not signed. */
  readonly isGiven?: boolean;
  /** Heads that were noted outside the log. */
  readonly noted?: readonly KnownHead[];
}

const mostFindings = 100;

export const isoTime = (milliseconds: number): string => new Date(milliseconds).toISOString();

/** Checks a log row by row, and each head before its row or right after it; `end` returns the findings. */
export class LogChecker {
  readonly #publicKey: string;
  readonly #isGiven: boolean;
  readonly #isSigned: (head: SignedHead) => boolean;
  readonly #findings: LogCheck['findings'][number][] = [];
  /** Heads that rows further down the log must match, by their row numbers. */
  readonly #known = new Map<number, KnownHead[]>();
  #more = 0;
  #rows = 0;
  #last = 0;
  #hash: Uint8Array = genesis;
  #signed = 0;
  #signedAt: number | null = null;

  constructor({ identity, publicKey, isGiven = false, noted = [] }: LogCheckOptions) {
    this.#publicKey = publicKey;
    this.#isGiven = isGiven;
    this.#isSigned = headVerifier(identity, publicKey);
    for (const head of noted) this.#expect(head);
  }

  row(row: ActivityRow): void {
    const { sequence } = row;
    const expected = this.#last + 1;
    this.#rows += 1;
    if (sequence < expected) {
      this.find(sequence, `entry ${sequence} stands after entry ${this.#last}: it was moved or inserted`);
      return;
    }
    if (sequence === expected + 1) this.find(expected, `entry ${expected} is missing`);
    else if (sequence > expected) this.find(expected, `entries ${expected} to ${sequence - 1} are missing`);
    if (Buffer.compare(row.hash, activityHash(row)) !== 0) {
      this.find(sequence, `entry ${sequence} was changed after it was written`);
    } else if (sequence === expected && Buffer.compare(row.previousHash, this.#hash) !== 0) {
      this.find(
        sequence,
        `entry ${sequence} does not follow the entry before it: one of them was replaced or inserted, or entries between them were removed`,
      );
    }
    this.#last = sequence;
    this.#hash = row.hash;
    this.#compare();
  }

  head(head: SignedHead): void {
    const { sequence, publicKey, hash, signedAt } = head;
    if (publicKey !== this.#publicKey) {
      this.find(sequence, `the head of entry ${sequence} is signed by another key, ${publicKey}`);
    } else if (!this.#isSigned(head)) {
      this.find(sequence, `the head of entry ${sequence} was changed: its signature does not hold`);
    } else if (sequence < this.#last) {
      this.find(sequence, `the head of entry ${sequence} stands after entry ${this.#last}: it was moved`);
    } else {
      this.#expect({ sequence, hash, known: `the vault signed on ${isoTime(signedAt)}`, signedAt });
    }
  }

  /** Adds a caller's finding, such as a line that cannot be read. */
  find(row: number | null, problem: string): void {
    if (this.#findings.length < mostFindings) this.#findings.push({ row, problem });
    else this.#more += 1;
  }

  end(): LogCheck {
    if (this.#isGiven && this.#signed === 0) this.find(null, 'no entry is signed by the key that is given');
    const beyond = [...this.#known.values()].flat().filter(({ sequence }) => sequence > this.#last);
    const farthest = beyond.sort((a, b) => b.sequence - a.sequence)[0];
    if (farthest !== undefined) {
      this.find(
        this.#last + 1,
        `the end is missing: the log ends at entry ${this.#last}, and entry ${farthest.sequence} is one that ${farthest.known}`,
      );
    }
    return {
      rows: this.#rows,
      hash: toHex(this.#hash),
      signed: this.#signed,
      signedAt: this.#signedAt,
      findings: this.#findings,
      more: this.#more,
    };
  }

  #expect(head: KnownHead): void {
    this.#known.set(head.sequence, [...(this.#known.get(head.sequence) ?? []), head]);
    if (head.sequence === this.#last) this.#compare();
  }

  /** Holds the row that came last against what is known of it. */
  #compare(): void {
    const heads = this.#known.get(this.#last);
    if (heads === undefined) return;
    this.#known.delete(this.#last);
    const computed = toHex(this.#hash);
    const since = this.#signed;
    for (const { hash, known, signedAt } of heads) {
      if (hash !== computed) {
        const where = since + 1 < this.#last ? `an entry from ${since + 1} to ${this.#last}` : 'it';
        this.find(this.#last, `entry ${this.#last} is not the one that ${known}: ${where} was changed`);
      } else if (signedAt !== undefined) {
        this.#signed = this.#last;
        this.#signedAt = signedAt;
      }
    }
  }
}

/** Rows that are checked in one turn: a few milliseconds, so that requests are served meanwhile. */
const rowsAtOnce = 100;

/** Checks the log of an open file as it is now; rows that are added meanwhile are left out. */
export async function checkLog(
  read: <T>(work: (tx: Reader) => T) => T,
  options: LogCheckOptions,
): Promise<LogCheck> {
  const checker = new LogChecker(options);
  const until = read(logEnd).sequence;
  let after = 0;
  while (after < until) {
    after = read((tx) => {
      const { rows } = listLog(tx, after, until, rowsAtOnce);
      const last = rows.at(-1)?.sequence ?? until;
      for (const head of listLogHeads(tx, after, last)) checker.head(headOfRow(head));
      for (const row of rows) checker.row(row);
      return last;
    });
    await setImmediate();
  }
  // Those of rows that came meanwhile are none of this check's.
  const end = read(logEnd).sequence;
  const beyond = read((tx) => listLogHeads(tx, until, Number.MAX_SAFE_INTEGER));
  for (const head of beyond) if (head.sequence > end) checker.head(headOfRow(head));
  return checker.end();
}
