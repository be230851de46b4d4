/** The seal over all rows, in the one row of `integrity`: the sums of the tables, and the end of the log. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Reader } from '../db/connection.ts';
import type { Mac } from './macs.ts';

/** A row of the log; its hash in hex. */
export type LogEnd = readonly [sequence: number, hash: string];

/** Of a table that has rows; the sum in hex. */
export type TableSum = readonly [rows: number, sum: string];

/** What is sealed of the rows; it is written when one of them has changed. */
export interface Sums {
  /** By name. */
  readonly tables: Readonly<Record<string, TableSum>>;
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
export function sealSums(mac: Mac, text: string): Uint8Array {
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
export const nameOf = (sealed: Uint8Array): string =>
  Buffer.from(sealed.subarray(0, saltLength + nonceLength)).toString('hex');

/** The log's end with the HMAC that holds it together with the sums: most writes change the log alone. */
export function sealLog(mac: Mac, sumsName: string, [sequence, hash]: LogEnd): string {
  const end = `${String(sequence)} ${hash}`;
  return `${end} ${Buffer.from(mac(`log ${end} ${sumsName}`)).toString('hex')}`;
}

/** @returns undefined for what was not sealed under this key, with these sums. */
function openLog(mac: Mac, sumsName: string, sealed: string): LogEnd | undefined {
  const [sequence = '', hash = ''] = sealed.split(' ');
  const end: LogEnd = [Number(sequence), hash];
  return sealLog(mac, sumsName, end) === sealed ? end : undefined;
}

export const logEnd = (tx: Reader): LogEnd => {
  const last = tx.get<{ sequence: number; hash: Uint8Array }>(
    'SELECT sequence, hash FROM activities ORDER BY sequence DESC LIMIT 1',
  );
  return last === undefined ? [0, ''] : [last.sequence, Buffer.from(last.hash).toString('hex')];
};

/** What the file's own row says of all others. */
export interface Seal {
  readonly sums: Sums;
  readonly sumsName: string;
  readonly log: LogEnd;
  readonly sealedLog: string;
}

export function readSeal(tx: Reader, mac: Mac): Seal | undefined {
  const row = tx.get<{ sums: Uint8Array; log: string }>('SELECT sums, log FROM integrity WHERE one = 1');
  if (row === undefined) return undefined;
  const sums = openSums(mac, row.sums);
  if (sums === undefined) return undefined;
  const sumsName = nameOf(row.sums);
  const log = openLog(mac, sumsName, row.log);
  return log && { sums, sumsName, log, sealedLog: row.log };
}
