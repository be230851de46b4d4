/**
 * The format of a backup file, as `docs/reference/backup-format.md` describes it: a line that names it, a line of JSON that says what opens it,
 * and the vault's database in chunks, each sealed with AES-256-GCM (NIST SP 800-38D) under a key of this file alone.
 */
import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import { z } from 'zod';
import { checkBytes, concatBytes } from '../crypto/bytes.ts';
import { toHex } from '../crypto/encodings.ts';
import { sha256 } from '../crypto/hashes.ts';
import type { KeyslotRow } from '../storage/tables/keyslots.ts';
import { KeyhearthError } from '../lib/errors.ts';
import { formerName } from '../lib/text/former-name.ts';
import { parsePlainJson } from '../lib/plain-json.ts';
import { expectation } from '../lib/parse.ts';

/** Of the format; it is in the first line. */
const formatVersion = 1;
const name = 'keyhearth-backup';
const names = [name, `${formerName}-backup`];
const tagLength = 16;
const lineEnd = 0x0a;

/** In bytes: a beginning of this length shows whether a file is a backup. */
export const longestName = name.length + 1;

/** True for a file whose first bytes are those of a backup. */
export const hasBackupName = (beginning: Uint8Array): boolean =>
  names.some((each) => Buffer.from(beginning).toString('latin1').startsWith(`${each} `));

/** Longer than any header, so that a file that is not a backup is not read to its end. */
export const longestHead = 256 * 1024;

export const defaultChunkSize = 256 * 1024;

const salt = z.string().regex(/^[0-9a-f]{64}$/);

const headerSchema = z.strictObject({
  vaultId: z.uuid(),
  /** Milliseconds since the epoch. */
  createdAt: z.int().min(0),
  /** Of the database, in bytes. */
  size: z.int().min(1),
  /** Of each chunk but the last, before it is sealed; in bytes. */
  chunkSize: z
    .int()
    .min(64 * 1024)
    .max(1024 * 1024),
  keySalt: salt,
  fileSalt: salt,
  keyslots: z
    .array(
      z.strictObject({
        id: z.string().min(1),
        kind: z.enum(['password', 'recovery']),
        parameters: z.string(),
        wrapped: z.string().regex(/^([0-9a-f]{2})+$/),
        createdAt: z.int(),
        confirmedAt: z.int().nullable(),
      }),
    )
    .min(1),
});

/** The part of a backup that is readable without a secret. */
export type BackupHeader = z.output<typeof headerSchema>;

/** The start of a file: both lines, as they are bound to every chunk. */
export interface BackupHead {
  readonly header: BackupHeader;
  /** In bytes. */
  readonly length: number;
  /** SHA-256 over both lines. */
  readonly binding: Uint8Array;
}

/** A keychain is not carried away with a file: its slots are left out. */
export const slotsForHeader = (slots: readonly KeyslotRow[]): BackupHeader['keyslots'] =>
  slots.flatMap(({ kind, wrapped, ...slot }) =>
    kind === 'keychain' ? [] : [{ ...slot, kind, wrapped: toHex(wrapped) }],
  );

export const slotsOf = ({ keyslots }: BackupHeader): KeyslotRow[] =>
  keyslots.map(({ wrapped, ...slot }) => ({ ...slot, wrapped: new Uint8Array(Buffer.from(wrapped, 'hex')) }));

/** @returns the two lines. */
export function encodeHead(header: BackupHeader): Uint8Array {
  const line = Buffer.from(`${JSON.stringify(headerSchema.parse(header))}\n`);
  return concatBytes(Buffer.from(`${name} ${formatVersion} ${toHex(sha256(line))}\n`), line);
}

/**
 * Reads the two lines.
 * @param beginning The first bytes of the file: `longestHead` of them, or all.
 * @throws KeyhearthError BACKUP_UNREADABLE
 */
export function readHead(beginning: Uint8Array): BackupHead {
  const first = beginning.indexOf(lineEnd);
  const title = Buffer.from(beginning.subarray(0, Math.max(first, 0))).toString('latin1');
  const [found = '', version, checksum] = title.split(' ');
  if (first > 100 || !names.includes(found)) {
    throw unreadable('it does not begin as a Keyhearth backup does: it is something else, or damaged');
  }
  if (version !== String(formatVersion)) {
    throw unreadable(
      `its format has a version that this Keyhearth does not know (it reads version ${formatVersion}): a newer Keyhearth made it, or it is damaged`,
    );
  }
  const second = beginning.indexOf(lineEnd, first + 1);
  if (second === -1) throw unreadable('its header is cut off');
  const line = beginning.subarray(first + 1, second + 1);
  if (toHex(sha256(line)) !== checksum) throw unreadable('its header is damaged');
  const parsed = headerSchema.safeParse(parseJson(line));
  if (!parsed.success) {
    const faults = parsed.error.issues.map((issue) => [...issue.path, expectation(issue)].join(': '));
    throw unreadable(`its header is not a header of this version (${faults.join('; ')})`);
  }
  return {
    header: parsed.data,
    length: second + 1,
    binding: sha256(beginning.subarray(0, second + 1)),
  };
}

export const chunkCount = ({ size, chunkSize }: BackupHeader): number => Math.ceil(size / chunkSize);

/** Length of the whole file, in bytes. */
export const fileLength = ({ header, length }: BackupHead): number =>
  length + header.size + chunkCount(header) * tagLength;

/** Length of a chunk in the file, in bytes. */
export function sealedLength(header: BackupHeader, index: number): number {
  const isLast = index === chunkCount(header) - 1;
  return (isLast ? header.size - index * header.chunkSize : header.chunkSize) + tagLength;
}

/**
 * Derives the key from which the keys of single files follow. It opens only backups with the same salt. So it
 * may be kept while the vault is locked, for a scheduled backup.
 * @returns 32 bytes, which the caller erases after use.
 */
export function backupKeyOf(masterKey: Uint8Array, keySalt: string): Uint8Array {
  checkBytes('masterKey', masterKey, 32);
  return derive(masterKey, keySalt, 'latchkey backup v1');
}

/** @returns 32 bytes, which the caller erases after use. */
export function fileKey(backupKey: Uint8Array, fileSalt: string): Uint8Array {
  checkBytes('envelope', backupKey, 32);
  return derive(backupKey, fileSalt, 'latchkey backup v1 file');
}

/** @param head What the chunk belongs to: chunks of other files do not open here. */
export function sealChunk(key: Uint8Array, head: BackupHead, index: number, plain: Uint8Array): Uint8Array {
  const cipher = createCipheriv('aes-256-gcm', key, nonce(head.header, index), { authTagLength: tagLength });
  cipher.setAAD(head.binding);
  return concatBytes(cipher.update(plain), cipher.final(), cipher.getAuthTag());
}

/** @throws KeyhearthError BACKUP_UNREADABLE where the chunk is not the one that was sealed there. */
export function openChunk(key: Uint8Array, head: BackupHead, index: number, sealed: Uint8Array): Buffer {
  const tagOffset = sealed.length - tagLength;
  const decipher = createDecipheriv('aes-256-gcm', key, nonce(head.header, index), {
    authTagLength: tagLength,
  });
  decipher.setAAD(head.binding);
  decipher.setAuthTag(sealed.subarray(tagOffset));
  const plain = decipher.update(sealed.subarray(0, tagOffset));
  try {
    decipher.final();
    return plain;
  } catch {
    plain.fill(0);
    throw unreadable(`part ${index + 1} of ${chunkCount(head.header)} is damaged`);
  }
}

/** STREAM (Hoang, Reyhanitabar, Rogaway, Vizár 2015): the chunk's number, and whether it is the last. */
function nonce(header: BackupHeader, index: number): Uint8Array {
  const bytes = Buffer.alloc(12);
  bytes.writeUInt32BE(index, 7);
  bytes.writeUInt8(index === chunkCount(header) - 1 ? 1 : 0, 11);
  return bytes;
}

const derive = (key: Uint8Array, saltHex: string, info: string): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', key, Buffer.from(saltHex, 'hex'), info, 32));

function parseJson(line: Uint8Array): unknown {
  try {
    return parsePlainJson(Buffer.from(line).toString('utf8'));
  } catch {
    return undefined;
  }
}

/** @param why What is wrong with it. */
export const unreadable = (why: string): KeyhearthError =>
  new KeyhearthError(
    'BACKUP_UNREADABLE',
    `The backup cannot be read: ${why}. Nothing was taken from it; use another copy or another backup.`,
  );
