/**
 * Files in directories that other users may write to. The class: whatever another user puts in the way, at whatever name, no
 * file of this user is written through it, and no program waits for it.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { BackupFile, writeBackup } from '../backup/file.ts';
import {
  changeFile,
  createNewFile,
  moveToFreeName,
  openNewFile,
  replaceFile,
  replaceProgram,
  replaceWithCopy,
  writeNewFile,
} from './new-files.ts';

const isRoot = process.geteuid?.() === 0;
/** Two users without rights: one at work, one in the way. */
const [user, other] = [12_345, 65_534];

let home: string;
/** All users may write there, and remove their own files, as in /tmp. */
let shared: string;
let victim: string;
let at: string;

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'keyhearth-files-')));
  shared = join(home, 'shared');
  mkdirSync(shared);
  chmodSync(home, 0o755);
  chmodSync(shared, 0o1777);
  victim = join(home, 'victim');
  writeFileSync(victim, 'precious', { mode: 0o666 });
  chmodSync(victim, 0o666);
  at = join(shared, 'file');
});
afterEach(() => {
  process.seteuid?.(process.getuid?.() ?? 0);
  rmSync(home, { recursive: true });
});

/** Obstacles at the path of a new file. */
const obstacles: readonly (readonly [string, (path: string) => void])[] = [
  [
    'a link to a file',
    (path) => {
      symlinkSync(victim, path);
    },
  ],
  [
    'a link to nothing',
    (path) => {
      symlinkSync(join(home, 'fresh'), path);
    },
  ],
  [
    'a link to itself',
    (path) => {
      symlinkSync(path, path);
    },
  ],
  [
    'a link to a device',
    (path) => {
      symlinkSync('/dev/null', path);
    },
  ],
  [
    'a FIFO',
    (path) => {
      spawnSync('mkfifo', [path]);
    },
  ],
  [
    'a directory',
    (path) => {
      mkdirSync(path);
    },
  ],
  [
    'a file',
    (path) => {
      writeFileSync(path, 'theirs', { mode: 0o666 });
    },
  ],
];

const put = (make: (path: string) => void, path: string): void => {
  make(path);
  if (isRoot) lchownSync(path, other, other);
};

const untouched = (): void => {
  expect(readFileSync(victim, 'utf8')).toBe('precious');
  expect(existsSync(join(home, 'fresh'))).toBe(false);
};

describe.each(obstacles)('where %s stands', (_what, make) => {
  const taken = expect.objectContaining({ code: 'EEXIST' }) as Error;

  test('nothing is created', async () => {
    put(make, at);
    const before = lstatSync(at);
    expect(() => createNewFile(at)).toThrow(taken);
    expect(() => {
      writeNewFile(at, 'mine');
    }).toThrow(taken);
    await expect(openNewFile(at)).rejects.toThrow(taken);
    writeFileSync(join(shared, 'draft'), 'mine');
    expect(() => {
      moveToFreeName(join(shared, 'draft'), at);
    }).toThrow(taken);
    expect(lstatSync(at).ino).toBe(before.ino);
    untouched();
  });

  test('a whole file takes the name and follows nothing, or an error says that it cannot', async () => {
    const ways = [
      async () => {
        await Promise.resolve();
        replaceFile(at, 'mine');
      },
      () => replaceWithCopy(join(home, 'source'), at),
    ];
    for (const replace of ways) {
      writeFileSync(join(home, 'source'), 'mine');
      rmSync(at, { recursive: true, force: true });
      put(make, at);
      await replace().then(
        () => {
          expect(lstatSync(at).isFile()).toBe(true);
          expect(readFileSync(at, 'utf8')).toBe('mine');
          expect(statSync(at).mode & 0o777).toBe(0o600);
        },
        (error: unknown) => {
          expect(error).toMatchObject({ code: 'EISDIR' });
        },
      );
      expect(readdirSync(shared)).toEqual(['file']);
      untouched();
    }
  });

  test('no backup is written through it, nor waits for it', async () => {
    const wish = backupWish(at);
    put(make, `${at}.draft`);
    // Root and the directory's owner may remove the obstacle; then the backup is written.
    await writeBackup(wish, () => undefined).catch((error: unknown) => {
      expect(error).toMatchObject({ code: expect.stringMatching(/^(EISDIR|EPERM)$/) as string });
    });
    untouched();
    rmSync(`${at}.draft`, { recursive: true, force: true });
    rmSync(at, { force: true });

    put(make, at);
    await expect(writeBackup(wish, () => undefined)).rejects.toThrow(/^there is a file .* already: /);
    await expect(writeBackup({ ...wish, replace: true }, () => undefined)).rejects.toThrow(
      /is no Keyhearth backup, and only a backup is replaced by one/,
    );
    untouched();
  });

  test('no backup is read from it, nor waited for', async () => {
    put(make, at);
    await expect(BackupFile.open(at)).rejects.toThrow();
  });
});

const slot = {
  ...{
    id: 'one',
    kind: 'password' as const,
    parameters: '{}',
    wrapped: '00',
    createdAt: 1,
    confirmedAt: null,
  },
};

function backupWish(file: string): Parameters<typeof writeBackup>[0] {
  const copy = join(home, 'copy');
  writeFileSync(copy, 'a database');
  return {
    ...{ copy, file, replace: false, key: new Uint8Array(32) },
    header: {
      ...{ vaultId: '8e7f13e2-3ebf-42c5-9ed0-a0faad035be3', createdAt: 1_700_000_000_000, chunkSize: 65_536 },
      ...{ keySalt: '00'.repeat(32), fileSalt: '11'.repeat(32), keyslots: [slot] },
    },
  };
}

test.skipIf(!isRoot)(
  'in a directory like /tmp, what another user put there stays, and the backup says so',
  async () => {
    const wish = backupWish(at);
    chmodSync(join(home, 'copy'), 0o644);
    put((path) => {
      symlinkSync(victim, path);
    }, `${at}.draft`);
    process.seteuid?.(user);
    await expect(writeBackup(wish, () => undefined)).rejects.toMatchObject({ code: 'EPERM' });
    await expect(openNewFile(`${at}.draft`)).rejects.toMatchObject({ code: 'EEXIST' });
    process.seteuid?.(0);
    expect(lstatSync(`${at}.draft`)).toMatchObject({ uid: other });
    untouched();
  },
);

test.skipIf(process.platform === 'win32')('a program can be run as soon as it has its name', () => {
  const file = join(home, 'program');
  replaceProgram(file, '#!/bin/sh\n');
  // A program that runs keeps its file, and the next call has another.
  const before = statSync(file);
  replaceProgram(file, '#!/bin/sh\nexit 0\n');
  expect([before.mode & 0o777, statSync(file).mode & 0o777]).toEqual([0o700, 0o700]);
  expect(statSync(file).ino).not.toBe(before.ino);
  expect(readdirSync(home)).toEqual(['program', 'shared', 'victim']);
});

describe('a file that other programs have too', () => {
  test('keeps its permissions, and a link to it stays', () => {
    const link = join(home, 'link');
    symlinkSync(victim, link);
    chmodSync(victim, 0o640);
    changeFile(link, 'changed');
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readFileSync(victim, 'utf8')).toBe('changed');
    expect(statSync(victim).mode & 0o777).toBe(0o640);
  });

  test.skipIf(!isRoot)('is shared with the group that it was shared with, and with no other', () => {
    const changed = (gid: number, mode: number) => {
      chownSync(victim, user, gid);
      chmodSync(victim, mode);
      process.seteuid?.(user);
      changeFile(victim, 'changed');
      process.seteuid?.(0);
      const found = statSync(victim);
      return { gid: found.gid, mode: found.mode & 0o777 };
    };
    chownSync(home, user, 0);
    const [ofAnother, own] = [54_321, process.getegid?.()];
    // This user is not in that group, and cannot give it a file.
    expect(changed(ofAnother, 0o660)).toEqual({ gid: own, mode: 0o600 });
    expect(changed(ofAnother, 0o664)).toEqual({ gid: own, mode: 0o644 });
    const groups = process.getgroups?.() ?? [];
    process.setgroups?.([...groups, ofAnother]);
    try {
      expect(changed(ofAnother, 0o660)).toEqual({ gid: ofAnother, mode: 0o660 });
    } finally {
      process.setgroups?.(groups);
    }
  });

  test('is of this user alone where it is new, or where its link led nowhere', () => {
    symlinkSync(join(home, 'fresh'), join(home, 'link'));
    for (const file of [join(home, 'new'), join(home, 'link')]) {
      changeFile(file, 'new');
      expect(lstatSync(file)).toMatchObject({ mode: 0o100_600 });
    }
    expect(existsSync(join(home, 'fresh'))).toBe(false);
  });

  test.skipIf(!isRoot)('is not changed through a link of another user', () => {
    symlinkSync(victim, at);
    lchownSync(at, other, other);
    changeFile(at, 'changed');
    expect(readFileSync(victim, 'utf8')).toBe('precious');
    expect(lstatSync(at)).toMatchObject({ mode: 0o100_600 });
  });
});

/** Other places that open files for writing, and why no other user can put a link in the way. */
const elsewhere: Readonly<Record<string, string>> = {
  'main/files/new-files.ts': 'this is how',
  'main/files/log-file.ts': 'through no link, and on no file but its own',
  'main/index.ts': 'opens the app, and no file',
  'main/storage/file/vault-directory.ts': 'opened for reading',
  'main/doors/ssh/known-hosts.ts': 'opened for reading',
  'main/commands/ssh/find-key-files.ts':
    'through no link: key files that are read, and overwritten before they are deleted',
  'main/storage/file/vault-lock.ts': 'the vault’s own directory, which is closed to others first',
  'main/storage/connection.ts': 'the vault’s own directory',
  'main/storage/file/write-ahead-log.ts': 'the vault’s own directory',
  'main/audit/mark.ts': 'the vault’s own directory',
  'main/app/freeze-marker.ts': 'the vault’s own directory',
  'main/commands/shared/vault-file.ts': 'a directory that was made for the one file',
  'main/desktop/updates/updates.ts': 'the app’s own directory',
  'main/desktop/window-state.ts': 'the app’s own directory',
  'main/backup/file.ts': 'opened for reading',
  'main/http/window/files.ts': 'opened for reading',
  'main/commands/shared/file-text.ts': 'opened for reading',
  'main/commands/wallets/hand-out.ts': 'writes to a descriptor that it was given',
  'main/commands/secrets/env-file.ts': 'opened for reading',
  'main/files/open-files.ts': 'opens this program for reading',
  'main/standalone/decrypt-backup.mjs': 'runs without the rest; it creates exclusively too',
};

test('no other place of the product opens files for writing', () => {
  const main = join(import.meta.dirname, '..');
  const files = readdirSync(main, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|mjs)$/.test(name) && !name.endsWith('.test.ts'))
    // Packaging runs on the builder's machine. The code that it leaves in the executable unpacks into a
    // private directory.
    .filter((name) => !name.startsWith('packaging/') && name !== 'start.ts')
    .map((name) => `main/${name.replaceAll('\\', '/')}`);
  const opening =
    /(?<![.\w])(writeFile|writeFileSync|appendFile|appendFileSync|openSync|createWriteStream|copyFile|copyFileSync|cp|cpSync)\(|await open\(/;
  const found = files.filter((name) => {
    const text = readFileSync(join(main, '..', name), 'utf8');
    return /from 'node:fs(\/promises)?'/.test(text) && opening.test(text);
  });
  expect(found.filter((name) => elsewhere[name] === undefined)).toEqual([]);
  // The list holds no more than there is.
  expect(Object.keys(elsewhere).filter((name) => !found.includes(name))).toEqual([]);
});
