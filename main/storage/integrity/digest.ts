/** The integrity digest over all rows, in the one row of `integrity`: the multiset hashes of the tables, and the end of the log. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Reader } from '../connection.ts';
import type { Mac } from './row-mac.ts';

/** A row of the log; its hash in hex. */
export type LogEnd = readonly [sequence: number, hash: string];

/** Of a table that has rows; the multiset hash in hex. */
export type TableHash = readonly [rows: number, sum: string];

/** The content of the digest; it is written when a row has changed. */
export interface TableHashes {
  /** By name. */
  readonly tables: Readonly<Record<string, TableHash>>;
  /** The row up to which the owner accepted a log that was changed; the chain holds after it. */
  readonly accepted?: LogEnd;
}

const digestFormat = 'latchkey integrity 1';
const saltLength = 20;
const nonceLength = 12;
const tagLength = 16;

/**
 * `salt (20) | nonce (12) | AES-256-GCM ciphertext | tag (16)`, under a key that the row key and the salt give: a busy
 * vault writes too many digests for random nonces under one key.
 */
export function signTableHashes(mac: Mac, text: string): Uint8Array {
  const head = randomBytes(saltLength + nonceLength);
  const cipher = createCipheriv('aes-256-gcm', digestKey(mac, head), head.subarray(saltLength), {
    authTagLength: tagLength,
  });
  cipher.setAAD(Buffer.from(digestFormat));
  return Buffer.concat([head, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
}

/** @returns undefined for what was not encrypted under this key. */
function openTableHashes(mac: Mac, digest: Uint8Array): TableHashes | undefined {
  const headLength = saltLength + nonceLength;
  if (digest.length < headLength + tagLength) return undefined;
  const decipher = createDecipheriv(
    'aes-256-gcm',
    digestKey(mac, digest),
    digest.subarray(saltLength, headLength),
    { authTagLength: tagLength },
  );
  decipher.setAAD(Buffer.from(digestFormat));
  decipher.setAuthTag(digest.subarray(-tagLength));
  try {
    const text = [decipher.update(digest.subarray(headLength, -tagLength)), decipher.final()];
    return JSON.parse(Buffer.concat(text).toString('utf8')) as TableHashes;
  } catch {
    return undefined;
  }
}

const digestKey = (mac: Mac, head: Uint8Array): Uint8Array =>
  mac(`seal ${Buffer.from(head.subarray(0, saltLength)).toString('hex')}`);

/** The part of sealed sums that is unique to them: their salt and nonce. */
export const nameOf = (digest: Uint8Array): string =>
  Buffer.from(digest.subarray(0, saltLength + nonceLength)).toString('hex');

/** The log's end with the HMAC that holds it together with the sums: most writes change the log alone. */
export function signLogEnd(mac: Mac, sumsName: string, [sequence, hash]: LogEnd): string {
  const end = `${String(sequence)} ${hash}`;
  return `${end} ${Buffer.from(mac(`log ${end} ${sumsName}`)).toString('hex')}`;
}

/** @returns undefined for what was not encrypted under this key, with these hashes. */
function openLog(mac: Mac, sumsName: string, digest: string): LogEnd | undefined {
  const [sequence = '', hash = ''] = digest.split(' ');
  const end: LogEnd = [Number(sequence), hash];
  return signLogEnd(mac, sumsName, end) === digest ? end : undefined;
}

export const logEnd = (tx: Reader): LogEnd => {
  const last = tx.get<{ sequence: number; hash: Uint8Array }>(
    'SELECT sequence, hash FROM activities ORDER BY sequence DESC LIMIT 1',
  );
  return last === undefined ? [0, ''] : [last.sequence, Buffer.from(last.hash).toString('hex')];
};

/** The file's own row about all others. */
export interface IntegrityDigest {
  readonly sums: TableHashes;
  readonly sumsName: string;
  readonly log: LogEnd;
  readonly sealedLog: string;
}

export function readDigest(tx: Reader, mac: Mac): IntegrityDigest | undefined {
  const row = tx.get<{ sums: Uint8Array; log: string }>('SELECT sums, log FROM integrity WHERE one = 1');
  if (row === undefined) return undefined;
  const sums = openTableHashes(mac, row.sums);
  if (sums === undefined) return undefined;
  const sumsName = nameOf(row.sums);
  const log = openLog(mac, sumsName, row.log);
  return log && { sums, sumsName, log, sealedLog: row.log };
}
