import { createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { toHex } from '../crypto/encodings.ts';
import { sha256 } from '../crypto/hashes.ts';
import {
  chunkCount,
  encodeHead,
  backupKeyOf,
  fileKey,
  fileLength,
  openChunk,
  readHead,
  sealChunk,
  sealedLength,
  slotsForHeader,
  slotsOf,
  type BackupHeader,
} from './format.ts';

const masterKey = new Uint8Array(randomBytes(32));
const slot = {
  id: 'slot',
  kind: 'recovery',
  parameters: '{"version":1}',
  wrapped: 'ab'.repeat(60),
  createdAt: 5,
  confirmedAt: null,
} as const;
const header: BackupHeader = {
  vaultId: 'ae0f13e2-3ebf-42c5-9ed0-a0faad035be3',
  createdAt: 1_795_279_959_260,
  size: 150_000,
  chunkSize: 65_536,
  keySalt: '11'.repeat(32),
  fileSalt: '22'.repeat(32),
  keyslots: [slot],
};
const key = fileKey(backupKeyOf(masterKey, header.keySalt), header.fileSalt);
const head = readHead(encodeHead(header));
const refused = expect.objectContaining({ code: 'BACKUP_UNREADABLE' }) as unknown;

const thrownBy = (run: () => unknown): unknown => {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
};

describe('the head', () => {
  test('is two lines, the first with the checksum of the second, and comes back as it was', () => {
    const text = Buffer.from(encodeHead(header)).toString('utf8');
    const [first, second, rest] = text.split('\n');
    expect(first).toBe(`keyhearth-backup 1 ${toHex(sha256(Buffer.from(`${String(second)}\n`)))}`);
    expect(JSON.parse(String(second))).toEqual(header);
    expect(rest).toBe('');
    expect(head.header).toEqual(header);
    expect(head.length).toBe(text.length);
  });

  test('has the slots of no keychain', () => {
    const row = { ...slot, wrapped: new Uint8Array(60).fill(0xab) };
    const inHeader = slotsForHeader([row, { ...row, id: 'other', kind: 'keychain' }]);
    expect(inHeader).toEqual([slot]);
    expect(slotsOf({ ...header, keyslots: inHeader })).toEqual([row]);
  });

  test.each<[string, (bytes: Buffer) => Uint8Array, RegExp]>([
    ['nothing', () => new Uint8Array(), /does not begin as a Keyhearth backup does/],
    ['another file', () => Buffer.from('SQLite format 3\0 and more\n'), /does not begin as/],
    [
      'a newer version',
      (bytes) => edit(bytes, 'backup 1', 'backup 2'),
      /a version that this Keyhearth does not know/,
    ],
    ['a cut', (bytes) => bytes.subarray(0, -1), /its header is cut off/],
    ['another date', (bytes) => edit(bytes, '1795279959260', '1795279959261'), /its header is damaged/],
    ['another checksum', (bytes) => edit(bytes, /1 [0-9a-f]{4}/, '1 0000'), /its header is damaged/],
  ])('%s is refused', (_what, change, message) => {
    const error = thrownBy(() => readHead(change(Buffer.from(encodeHead(header)))));
    expect(error).toEqual(refused);
    expect((error as Error).message).toMatch(message);
  });

  test.each<[string, Partial<Record<keyof BackupHeader | 'more', unknown>>, RegExp]>([
    ['a chunk size that takes all memory', { chunkSize: 2 ** 31 }, /chunkSize: /],
    ['no slots', { keyslots: [] }, /keyslots: /],
    ['no size', { size: 0 }, /size: /],
    ['a field of its own', { more: 1 }, /is not a header of this version \(unrecognized key: "more"\)/],
    ['a keychain slot', { keyslots: [{ ...slot, kind: 'keychain' }] }, /keyslots: 0: kind: /],
  ])('%s is refused, checksum or not', (_what, change, message) => {
    const line = `${JSON.stringify({ ...header, ...change })}\n`;
    const bytes = Buffer.from(`keyhearth-backup 1 ${toHex(sha256(Buffer.from(line)))}\n${line}`);
    const error = thrownBy(() => readHead(bytes));
    expect(error).toEqual(refused);
    expect((error as Error).message).toMatch(message);
  });
});

function edit(bytes: Buffer, from: string | RegExp, to: string): Uint8Array {
  const changed = bytes.toString('latin1').replace(from, to);
  expect(changed).not.toBe(bytes.toString('latin1'));
  return Buffer.from(changed, 'latin1');
}

describe('the chunks', () => {
  const plain = (index: number): Uint8Array =>
    new Uint8Array(index === 2 ? 150_000 - 131_072 : 65_536).fill(index);

  test('are as many and as long as the header says', () => {
    expect(chunkCount(header)).toBe(3);
    expect([0, 1, 2].map((index) => sealedLength(header, index))).toEqual([65_552, 65_552, 18_944]);
    expect(fileLength(head)).toBe(head.length + 150_000 + 3 * 16);
    const even = { ...header, size: 131_072 };
    expect(chunkCount(even)).toBe(2);
    expect(sealedLength(even, 1)).toBe(65_552);
  });

  test('open where they were sealed, and nowhere else', () => {
    const sealed = [0, 1, 2].map((index) => sealChunk(key, head, index, plain(index)));
    sealed.forEach((chunk, index) => {
      expect(toHex(sha256(openChunk(key, head, index, chunk)))).toBe(toHex(sha256(plain(index))));
    });
    const [first = new Uint8Array(), second = new Uint8Array()] = sealed;
    const other = readHead(encodeHead({ ...header, createdAt: 1 }));
    const shorter = readHead(encodeHead({ ...header, size: 131_072 }));
    for (const open of [
      () => openChunk(key, head, 0, second),
      () => openChunk(key, head, 1, first),
      // The last chunk of a file that is shorter by one.
      () => openChunk(key, shorter, 1, second),
      () => openChunk(key, other, 0, first),
      () => openChunk(new Uint8Array(32), head, 0, first),
      () => openChunk(key, head, 0, first.subarray(0, -1)),
      () => openChunk(key, head, 0, first.with(70, 9)),
    ]) {
      expect(thrownBy(open)).toEqual(refused);
    }
  });

  test('open as FORMAT.md says, by nothing but the platform', () => {
    const sealed = sealChunk(key, head, 2, plain(2));
    const hkdf = (from: Uint8Array, salt: string, info: string): Uint8Array =>
      new Uint8Array(hkdfSync('sha256', from, Buffer.from(salt, 'hex'), info, 32));
    const own = hkdf(
      hkdf(masterKey, header.keySalt, 'latchkey backup v1'),
      header.fileSalt,
      'latchkey backup v1 file',
    );
    const nonce = Buffer.from('000000000000000000000201', 'hex');
    const decipher = createDecipheriv('aes-256-gcm', own, nonce);
    decipher.setAAD(sha256(encodeHead(header)));
    decipher.setAuthTag(sealed.subarray(-16));
    const opened = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
    expect(opened.equals(plain(2))).toBe(true);
  });
});
