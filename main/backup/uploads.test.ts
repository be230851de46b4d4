import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { UploadProgress } from '../../preload/contract.ts';
import type * as newFiles from '../files/new-files.ts';
import { Uploads, factsOf, isUpload } from './uploads.ts';
import { encodeHead, fileLength, readHead, type BackupHeader } from './format.ts';

/** The code of the error with which the disk refuses each write; undefined where it takes them. */
let disk: string | undefined;
vi.mock('../files/new-files.ts', async (original) => {
  const real = await original<typeof newFiles>();
  return {
    ...real,
    openNewFile: async (...given: Parameters<typeof newFiles.openNewFile>) => {
      const handle = await real.openNewFile(...given);
      const write = handle.writeFile.bind(handle);
      handle.writeFile = async (...bytes) => {
        if (disk !== undefined) throw Object.assign(new Error('from the system'), { code: disk });
        await write(...bytes);
      };
      return handle;
    },
  };
});

const header: BackupHeader = {
  vaultId: 'ae0f13e2-3ebf-42c5-9ed0-a0faad035be3',
  createdAt: 1_795_279_959_260,
  size: 150_000,
  chunkSize: 65_536,
  keySalt: '11'.repeat(32),
  fileSalt: '22'.repeat(32),
  keyslots: [
    { id: 'a', kind: 'recovery', parameters: '{}', wrapped: 'ab', createdAt: 5, confirmedAt: null },
    { id: 'b', kind: 'password', parameters: '{}', wrapped: 'ab', createdAt: 5, confirmedAt: null },
    { id: 'c', kind: 'password', parameters: '{}', wrapped: 'ab', createdAt: 5, confirmedAt: null },
  ],
};
/** A file as long as its header says, with random content. */
function fileOf(size = header.size): Buffer {
  const head = encodeHead({ ...header, size });
  return Buffer.concat([head, randomBytes(fileLength(readHead(head)) - head.length)]);
}

let directory: string;
let free: number;
let uploads: Uploads;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'keyhearth-uploads-'));
  free = 10 ** 12;
  uploads = new Uploads({ directory, freeBytes: () => free });
});
afterEach(async () => {
  vi.useRealTimers();
  disk = undefined;
  await uploads.close();
  rmSync(directory, { recursive: true });
});

const begin = (bytes: Buffer, length = 100_000): Promise<UploadProgress> =>
  uploads.upload({ name: 'family.backup', size: bytes.length, at: 0, bytes: bytes.subarray(0, length) });

async function upload(bytes: Buffer): Promise<string> {
  const { backup, received } = await begin(bytes);
  const rest = bytes.subarray(received);
  await uploads.upload({
    file: backup.file,
    name: 'family.backup',
    size: bytes.length,
    at: received,
    bytes: rest,
  });
  return backup.file;
}

const refusedWith = (code: string, message: RegExp): unknown =>
  expect.objectContaining({ code, message: expect.stringMatching(message) as unknown });

describe('a file that a browser uploads', () => {
  test('is there for its owner alone, whole, until the work with it is done', async () => {
    const bytes = fileOf();
    const first = await begin(bytes);
    expect(first).toEqual({
      received: 100_000,
      backup: {
        file: expect.stringMatching(/^chosen:[0-9a-f-]{36}$/) as unknown,
        name: 'family.backup',
        madeAt: header.createdAt,
        size: bytes.length,
        opensWith: ['recovery', 'password'],
      },
    });
    const { file } = first.backup;
    expect(isUpload(file)).toBe(true);
    expect(first.backup).toEqual(factsOf(readHead(bytes), { file, name: 'family.backup' }));
    await expect(uploads.use(file, () => Promise.resolve())).rejects.toEqual(
      refusedWith('FAILED_PRECONDITION', /upload is not complete: 100000 of \d+ bytes are/),
    );
    const rest = {
      file,
      name: 'family.backup',
      size: bytes.length,
      at: 100_000,
      bytes: bytes.subarray(100_000),
    };
    expect(await uploads.upload(rest)).toMatchObject({ received: bytes.length });
    // A failure allows another attempt.
    await expect(uploads.use(file, () => Promise.reject(new Error('the wrong password')))).rejects.toThrow();
    const seen = await uploads.use(file, (path, name) =>
      Promise.resolve({ name, bytes: readFileSync(path), mode: statSync(path).mode & 0o777 }),
    );
    expect(seen).toEqual({
      name: 'family.backup',
      bytes,
      mode: process.platform === 'win32' ? 0o666 : 0o600,
    });
    expect(readdirSync(directory)).toEqual([]);
    await expect(uploads.use(file, () => Promise.resolve())).rejects.toEqual(
      refusedWith('NOT_FOUND', /choose it again/),
    );
  });

  test.each([
    ['something else', () => Buffer.from('a shopping list'), /does not begin as a Keyhearth backup does/],
    ['nothing', () => Buffer.alloc(0), /does not begin as a Keyhearth backup does/],
    ['one that is cut off', () => fileOf().subarray(0, 120_000), /it is cut off: it has 120000 of its \d+/],
    ['one that goes on', () => Buffer.concat([fileOf(), Buffer.from('x')]), /goes on for 1 bytes/],
  ])('is refused by its first bytes where it is %s, and nothing is kept', async (_what, make, message) => {
    await expect(begin(make())).rejects.toEqual(refusedWith('BACKUP_UNREADABLE', message));
    expect(readdirSync(directory)).toEqual([]);
  });

  test('is refused where it is larger than half of what is free, beside those that are still to come', async () => {
    const bytes = fileOf();
    free = 2 * bytes.length - 1;
    const tooFull = refusedWith(
      'FAILED_PRECONDITION',
      /^there is not enough room beside the vault: the file has /,
    );
    await expect(begin(bytes)).rejects.toEqual(tooFull);
    free = 2 * bytes.length;
    await begin(bytes);
    await expect(begin(bytes)).rejects.toEqual(tooFull);
    free = 10 ** 12;
    const head = encodeHead({ ...header, size: 33 * 1024 ** 3 });
    const huge = { name: 'huge', size: fileLength(readHead(head)), at: 0, bytes: head };
    await expect(uploads.upload(huge)).rejects.toEqual(
      refusedWith('PAYLOAD_TOO_LARGE', /^the file is larger than 32 GiB: put it on the computer/),
    );
    expect(readdirSync(directory)).toHaveLength(1);
  });

  test.each([
    ['ENOSPC', 'the disk is full. Make room on it, and choose the file again'],
    ['EROFS', 'the disk can only be read. Mount it so that it can be written, and choose the file again'],
    ['EMFILE', 'too many files are open'],
  ])('that the disk refuses (%s) says what to do, and leaves nothing behind', async (code, reason) => {
    const bytes = fileOf();
    const { backup, received } = await begin(bytes);
    disk = code;
    const rest = { at: received, bytes: bytes.subarray(received) };
    await expect(
      uploads.upload({ file: backup.file, name: 'family.backup', size: bytes.length, ...rest }),
    ).rejects.toMatchObject({
      code: 'FAILED_PRECONDITION',
      message: `the file cannot be kept beside the vault: ${reason}`,
    });
    expect(readdirSync(directory)).toEqual([]);
  });

  test('comes in order, each part once, and no more than it said', async () => {
    const bytes = fileOf();
    const { backup } = await begin(bytes);
    const next = { file: backup.file, name: 'family.backup', size: bytes.length };
    const notNext = refusedWith('INVALID_ARGUMENT', /^this is not the next part of the file: 100000 of /);
    for (const [at, part] of [
      [0, bytes.subarray(0, 10)],
      [100_001, bytes.subarray(100_001)],
      [100_000, Buffer.alloc(0)],
      [100_000, bytes],
    ] as const) {
      await expect(uploads.upload({ ...next, at, bytes: part })).rejects.toEqual(notNext);
    }
    const rest = { ...next, at: 100_000, bytes: bytes.subarray(100_000) };
    const both = await Promise.allSettled([uploads.upload(rest), uploads.upload(rest)]);
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(await uploads.use(backup.file, (path) => Promise.resolve(readFileSync(path)))).toEqual(bytes);
  });

  test('whose first part is refused leaves its place to another', async () => {
    const bytes = fileOf();
    const notNext = refusedWith('INVALID_ARGUMENT', /^this is not the next part of the file: 0 of \d+ bytes/);
    for (const part of [
      { at: 1, bytes: bytes.subarray(0, 100_000) },
      { at: -1, bytes: bytes.subarray(0, 100_000) },
      { at: 0, bytes: Buffer.concat([bytes, Buffer.from('x')]) },
    ]) {
      const first = { name: 'family.backup', size: bytes.length, ...part };
      await expect(uploads.upload(first)).rejects.toEqual(notNext);
    }
    await begin(bytes);
  });

  test('is one of a few: the oldest that lies there goes, and those that are coming stay', async () => {
    const bytes = fileOf();
    const first = await upload(bytes);
    const others = [await begin(bytes), await begin(bytes)];
    const newest = await begin(bytes);
    await expect(uploads.use(first, () => Promise.resolve())).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(readdirSync(directory)).toHaveLength(3);
    await expect(begin(bytes)).rejects.toEqual(
      refusedWith('RESOURCE_EXHAUSTED', /^3 files are being uploaded/),
    );
    for (const { backup } of [...others, newest]) await uploads.release(backup.file);
    expect(readdirSync(directory)).toEqual([]);
    await uploads.release('/media/usb/keyhearth.backup');
    await begin(bytes);
  });

  test('that stops on its way leaves its place after two minutes', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const bytes = fileOf();
    const whole = await upload(bytes);
    for (let count = 0; count < 2; count++) await begin(bytes);
    vi.advanceTimersByTime(121_000);
    await vi.waitFor(() => {
      expect(readdirSync(directory)).toHaveLength(1);
    });
    for (let count = 0; count < 2; count++) await begin(bytes);
    expect(await uploads.use(whole, (path) => Promise.resolve(readFileSync(path)))).toEqual(bytes);
  });

  test('is removed after an hour without use, but not while it is read', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const bytes = fileOf();
    const file = await upload(bytes);
    const left = await begin(bytes);
    await uploads.use(file, async (path) => {
      vi.advanceTimersByTime(61 * 60_000);
      await vi.waitFor(() => {
        expect(readdirSync(directory)).toHaveLength(1);
      });
      await uploads.release(file);
      expect(readFileSync(path)).toEqual(bytes);
    });
    expect(readdirSync(directory)).toEqual([]);
    await expect(
      uploads.upload({ ...left.backup, at: left.received, bytes: bytes.subarray(left.received) }),
    ).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test('goes with the service, and what a killed one left goes with the next', async () => {
    await begin(fileOf());
    await upload(fileOf());
    await uploads.close();
    expect(readdirSync(directory)).toEqual([]);
    const kept = ['chosen-by-me.backup', 'vault.db'];
    for (const name of [...kept, 'chosen-ae0f13e2-3ebf-42c5-9ed0-a0faad035be3.backup']) {
      writeFileSync(join(directory, name), '');
    }
    uploads = new Uploads({ directory });
    expect(readdirSync(directory)).toEqual(kept);
    // By the disk itself.
    await begin(fileOf());
    await expect(
      new Uploads({ directory: null }).upload({ name: 'x', size: 1, at: 0, bytes: fileOf() }),
    ).rejects.toEqual(refusedWith('INVALID_ARGUMENT', /^a vault in memory has no backups/));
  });
});
