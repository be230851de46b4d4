import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { LogFile, logFileLimits, logFileNames, readLogEnd } from './log-file.ts';

/** Takes the place of the system's write, where a test sets it. */
let hold: ((finish: () => void) => void) | undefined;
/** Bytes that the disk takes, where a test sets it. */
let room: number | undefined;
vi.mock('node:fs', async (original) => {
  const real = await original<typeof fs>();
  return {
    ...real,
    write: (
      descriptor: number,
      bytes: Uint8Array,
      finish: (error: NodeJS.ErrnoException | null, written: number) => void,
    ) => {
      const begin = (): void => {
        if (room === 0) {
          finish(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }), 0);
          return;
        }
        const part = bytes.subarray(0, room);
        if (room !== undefined) room -= part.length;
        real.write(descriptor, part, finish);
      };
      if (hold) hold(begin);
      else begin();
    },
  };
});

let home: string;
let directory: string;
let file: string;
let troubles: unknown[];
let log: LogFile;

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'keyhearth-log-')));
  directory = join(home, 'vault');
  mkdirSync(directory, { mode: 0o700 });
  file = join(directory, 'keyhearth.log');
  troubles = [];
  log = new LogFile(directory, (error) => troubles.push(error));
});
afterEach(() => {
  hold = undefined;
  room = undefined;
  vi.restoreAllMocks();
  log[Symbol.dispose]();
  rmSync(home, { recursive: true, force: true });
});

const text = (name = file): string => readFileSync(name, 'utf8');
const until = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 10_000, interval: 5 });
/** Passes the time after which a file that failed is tried again. */
const wait = (): void => {
  const later = performance.now() + logFileLimits.pause;
  vi.spyOn(performance, 'now').mockReturnValue(later);
};

test('lines come in order, into a file of this user alone', async () => {
  const lines = Array.from({ length: 500 }, (_, index) => `line ${String(index)}\n`);
  for (const line of lines) log.write(line);
  await until(() => {
    expect(text()).toBe(lines.join(''));
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(troubles).toEqual([]);
});

test('a file that others may read is closed to them', async () => {
  writeFileSync(file, 'before\n', { mode: 0o644 });
  chmodSync(file, 0o644);
  log.write('after\n');
  await until(() => {
    expect(text()).toBe('before\nafter\n');
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('number and size of the files are bounded, and the newest lines are kept', async () => {
  const line = `${'x'.repeat(9999)}\n`;
  const count = Math.ceil((6 * logFileLimits.file) / line.length);
  for (let index = 0; index < count; index++) {
    const entry = `${String(index)} ${line}`;
    log.write(entry);
    if (index % 10 === 0 || index === count - 1) {
      await until(() => {
        expect(readLogEnd(directory)).toContain(entry);
      });
    }
  }
  expect(readdirSync(directory).sort()).toEqual([...logFileNames].sort());
  for (const name of logFileNames) {
    expect(statSync(join(directory, name)).size).toBeLessThan(logFileLimits.file + logFileLimits.waiting);
    expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600);
  }
  expect(text()).toContain(`${String(count - 1)} x`);
  expect(text(join(directory, 'keyhearth.log.1'))).toContain('x');
});

test('two processes on one file turn it over once', async () => {
  using other = new LogFile(directory, (error) => troubles.push(error));
  other.write('other\n');
  await until(() => {
    expect(text()).toBe('other\n');
  });
  writeFileSync(file, `${'x'.repeat(logFileLimits.file)}\n`);
  log.write('mine\n');
  await until(() => {
    expect(text()).toBe('mine\n');
  });
  other.write('other again\n');
  await until(() => {
    expect(text()).toBe('mine\nother again\n');
  });
  expect(existsSync(join(directory, 'keyhearth.log.2'))).toBe(false);
  expect(troubles).toEqual([]);
});

test('a file that was deleted is created again', async () => {
  log.write('one\n');
  await until(() => {
    expect(text()).toBe('one\n');
  });
  rmSync(file);
  log.write('two\n');
  await until(() => {
    expect(text()).toBe('two\n');
  });
});

describe('what is in the place of the file', () => {
  const victim = (): string => join(home, 'victim');
  const obstacles: readonly (readonly [string, () => void])[] = [
    [
      'a link to a file',
      () => {
        symlinkSync(victim(), file);
      },
    ],
    [
      'a link to nothing',
      () => {
        symlinkSync(join(home, 'fresh'), file);
      },
    ],
    [
      'another name of a file',
      () => {
        linkSync(victim(), file);
      },
    ],
    [
      'a link to a device',
      () => {
        symlinkSync('/dev/null', file);
      },
    ],
    [
      'a FIFO',
      () => {
        spawnSync('mkfifo', [file]);
      },
    ],
    [
      'a directory',
      () => {
        mkdirSync(file);
      },
    ],
  ];

  test.skipIf(process.platform === 'win32').each(obstacles)(
    'is not written to where it is %s, told once, and the log goes on once it is gone',
    async (_what, put) => {
      writeFileSync(victim(), 'precious');
      put();
      const { ino } = lstatSync(file);
      for (let count = 0; count < 50; count++) log.write('line\n');
      expect(troubles).toEqual([new Error(`${file} is not this user’s own file: move it away`)]);
      expect(lstatSync(file).ino).toBe(ino);
      expect(readFileSync(victim(), 'utf8')).toBe('precious');
      expect(existsSync(join(home, 'fresh'))).toBe(false);
      expect(readLogEnd(directory)).toBeUndefined();

      rmSync(file, { recursive: true });
      wait();
      log.write('again\n');
      await until(() => {
        expect(text()).toBe('(50 entries are missing here)\nagain\n');
      });
      expect(troubles).toHaveLength(1);
    },
  );

  test.runIf(process.geteuid?.() === 0)('is not written to where it is of another user', () => {
    writeFileSync(file, 'theirs\n', { mode: 0o666 });
    fs.chownSync(file, 65_534, 65_534);
    log.write('line\n');
    expect(troubles).toHaveLength(1);
    expect(text()).toBe('theirs\n');
    expect(readLogEnd(directory)).toBeUndefined();
  });
});

test('a disk that hangs blocks no caller, and the lines that wait for it are bounded', async () => {
  let finish: (() => void) | undefined;
  hold = (begin) => {
    finish = begin;
  };
  const line = `${'y'.repeat(1023)}\n`;
  for (let count = 0; count < 10_000; count++) log.write(line);
  expect(finish).toBeDefined();
  hold = undefined;
  finish?.();
  await until(() => {
    const written = text();
    expect(written.length).toBeGreaterThan(logFileLimits.waiting - 2 * line.length);
    expect(written.length).toBeLessThan(logFileLimits.waiting + 2 * line.length);
  });
  log.write('last\n');
  await until(() => {
    expect(text()).toMatch(/\n\(97\d\d entries are missing here\)\n/);
    expect(text()).toMatch(/\nlast\n$/);
  });
});

test('a disk that takes a part of a line has the log say that lines are missing, on a line of its own', async () => {
  room = 8;
  log.write('line 1\n');
  log.write('line 2\n');
  await until(() => {
    expect(troubles).toMatchObject([{ code: 'ENOSPC' }]);
  });
  room = undefined;
  wait();
  log.write('again\n');
  await until(() => {
    expect(text()).toBe('line 1\nl\n(1 entries are missing here)\nagain\n');
  });
});

test('what waits as the process ends is written', () => {
  const script = `
    import { LogFile } from ${JSON.stringify(join(import.meta.dirname, 'log-file.ts'))};
    const log = new LogFile(${JSON.stringify(directory)}, () => undefined);
    process.on('exit', () => log.flush());
    for (const line of ['one', 'two', 'three']) log.write(line + '\\n');
    process.exit(1);`;
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(text().split('\n').sort()).toEqual(['', 'one', 'three', 'two']);
});

test('the end that is read has whole lines alone', async () => {
  for (let index = 0; index < 100; index++) log.write(`line ${String(index)}\n`);
  await until(() => {
    expect(readLogEnd(directory, 20)).toBe('line 98\nline 99\n');
  });
  renameSync(file, join(home, 'elsewhere'));
  symlinkSync(join(home, 'elsewhere'), file);
  expect(readLogEnd(directory)).toBeUndefined();
});
