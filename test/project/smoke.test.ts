/**
 * The smoke test of a release, on the command that is built here: its steps pass on what works. The class that the rest is
 * about: a smoke test that passes whatever it is given.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { createPackage } from '@electron/asar';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isDrawn, smoke } from '../smoke/smoke.ts';
import { builtCommand, install, type Subject } from '../smoke/subject.ts';
import { isAlive, splitCommandLine, splitExec, thisSystem, type System } from '../smoke/system.ts';
import { temporaryDirectory } from '../support/support.ts';

const minute = 60_000;

test(
  'passes on the command: it answers, tests itself, starts its threads, ends, and opens again',
  async () => {
    const lines: string[] = [];
    await smoke(builtCommand, { say: (line) => lines.push(line) });
    expect(lines.map((line) => line.replace(/ [(].*$/s, ''))).toEqual(
      [
        'starts',
        'asks the keychain',
        'makes a vault',
        'answers on its port',
        'passes its self-test',
        'starts its threads',
        'quits',
        'starts again',
        'opens the vault again',
        'quits again',
      ].map((step) => `ok  the command ${step}`),
    );
    expect(lines.find((line) => line.includes('self-test'))).toMatch(/cryptography ok, rows ok, log ok/);
  },
  3 * minute,
);

describe('fails on', () => {
  const directory = temporaryDirectory();
  const icons = join(import.meta.dirname, '../../main/desktop/icons');
  /** The command, which takes Chromium's switches and writes its log, as the app does. */
  const app = join(directory.path, 'app.mjs');
  const archive = join(directory.path, 'app.asar');
  const emptyArchive = join(directory.path, 'empty.asar');

  beforeAll(async () => {
    writeFileSync(
      app,
      `import { writeFileSync } from 'node:fs';
       const [, , violation, ...argv] = process.argv;
       const log = argv.find((word) => word.startsWith('--log-file='))?.slice('--log-file='.length);
       writeFileSync(log, 'VERBOSE1: it starts\\n' + violation);
       const ours = argv.filter((word) => !/^--(enable-logging|log-file|v)=/.test(word));
       const command = ${JSON.stringify(builtCommand.program[1])};
       process.argv.splice(1, Infinity, command, 'serve', '--ui', ...ours);
       await import(command);`,
    );
    for (const [file, isEmpty] of [
      [archive, false],
      [emptyArchive, true],
    ] as const) {
      const folder = `${file}-folder`;
      const images = join(folder, 'main/desktop/icons');
      mkdirSync(images, { recursive: true });
      for (const name of ['tray', 'trayTemplate', 'trayWaiting', 'trayWaitingTemplate']) {
        for (const size of ['', '@2x']) {
          const path = `${name}${size}.png`;
          writeFileSync(join(images, path), isEmpty ? emptyPng(32) : readFileSync(join(icons, path)));
        }
      }
      await createPackage(folder, file);
    }
  });
  afterAll(() => {
    directory[Symbol.dispose]();
  });

  const desktop = (violation = ''): Subject => ({
    ...{ name: 'the app', isDesktop: true, archive, remove: () => Promise.resolve() },
    program: [process.execPath, app, violation],
  });

  const right: System = {
    ...thisSystem(),
    windowsOf: () => Promise.resolve([{ title: 'Home · Keyhearth', identity: 'app.keyhearth.Keyhearth' }]),
    pagesOf: () => Promise.resolve([{ pid: 1, isSandboxed: true }]),
  };

  const outcome = async (
    subject: Subject,
    changes: Partial<System> = {},
    patience = 2000,
  ): Promise<{ readonly failure: string; readonly passed: number }> => {
    let [failure, passed] = ['', 0];
    await smoke(subject, {
      system: { ...right, ...changes },
      say: () => passed++,
      ...{ patience, longestQuit: patience },
    }).catch((error: unknown) => (failure = String(error)));
    return { failure, passed };
  };

  test('a program that does not start', async () => {
    const { failure, passed } = await outcome({
      ...builtCommand,
      program: [process.execPath, '-e', 'console.error("no such module"); process.exit(7)', '--'],
    });
    expect(failure).toMatch(/the command starts: it ended with 7\n.*no such module/s);
    expect(passed).toBe(0);
  });

  test(
    'a program that does not end, which it ends itself',
    async () => {
      let pid = 0;
      const { failure } = await outcome(builtCommand, {
        quit(asked) {
          pid = asked;
          return Promise.resolve();
        },
      });
      expect(failure).toMatch(/the command quits: process \d+ is gone: not within 2 s/);
      await expect.poll(() => isAlive(pid)).toBe(false);
    },
    3 * minute,
  );

  test(
    'a program that ends without closing its vault',
    async () => {
      const kill = (pid: number): Promise<void> => {
        process.kill(pid, 'SIGKILL');
        return Promise.resolve();
      };
      const { failure } = await outcome(builtCommand, { quit: kill }, minute);
      expect(failure).toContain('it left its note behind');
    },
    3 * minute,
  );

  test.each<[string, RegExp, Partial<System>, Subject]>([
    ['no window', /shows its window: .*not within/, { windowsOf: () => Promise.resolve([]) }, desktop()],
    [
      'a window whose page does not run',
      /shows its window: .*its title is Keyhearth/,
      { windowsOf: () => Promise.resolve([{ title: 'Keyhearth', identity: undefined }]) },
      desktop(),
    ],
    [
      'a window that the desktop cannot tell',
      /the desktop takes it for keyhearth-desktop/,
      { windowsOf: () => Promise.resolve([{ title: 'Home · Keyhearth', identity: 'keyhearth-desktop' }]) },
      desktop(),
    ],
    [
      'a page that breaks its policy',
      /keeps to the policy of its page: .*CONSOLE/,
      {},
      desktop(
        '[1:1122/101010.1:INFO:CONSOLE(1)] "Executing inline script violates the following Content Security Policy directive \'script-src\'", source: keyhearth://app/ (1)',
      ),
    ],
    [
      'a page outside the sandbox',
      /keeps its page in the sandbox: process 4 is not in the sandbox/,
      {
        pagesOf: () =>
          Promise.resolve([
            { pid: 3, isSandboxed: true },
            { pid: 4, isSandboxed: false },
          ]),
      },
      desktop(),
    ],
    [
      'a tray without images',
      /has images for the tray: tray.png shows nothing/,
      {},
      { ...desktop(), archive: emptyArchive },
    ],
    // All before it passed: the command itself starts with no session.
    ['a login that starts nothing', /can start at login: /, {}, desktop()],
  ])(
    '%s',
    async (_what, complaint, changes, subject) => {
      expect((await outcome(subject, changes)).failure).toMatch(complaint);
    },
    3 * minute,
  );

  test('a file that is not a package', async () => {
    await expect(install('release/keyhearth-0.1.0.tar.gz')).rejects.toThrow('expected a file that ends in');
  });
});

test.each([
  [
    String.raw`"C:\Program Files\Keyhearth\Keyhearth.exe" --hidden`,
    ['C:\\Program Files\\Keyhearth\\Keyhearth.exe', '--hidden'],
  ],
  [
    String.raw`C:\a\b.exe "--data-dir=C:\my vault\\" --port=0`,
    ['C:\\a\\b.exe', '--data-dir=C:\\my vault\\', '--port=0'],
  ],
  // Electron has quoted the value once more: the directory is another one.
  [String.raw`x.exe "\"--data-dir=C:\vault\""`, ['x.exe', '"--data-dir=C:\\vault"']],
  [String.raw`a "" b\\"c d" "e\\\"f"`, ['a', '', 'b\\c d', 'e\\"f']],
  ['  ', []],
])('a command line of Windows: %s', (line, words) => {
  expect(splitCommandLine(line)).toEqual(words);
});

test.each([
  [
    '"/opt/Keyhearth/keyhearth-desktop" --hidden "--data-dir=/home/a b/100%%"',
    ['/opt/Keyhearth/keyhearth-desktop', '--hidden', '--data-dir=/home/a b/100%'],
  ],
  [String.raw`"/a\\$b\\"c\\\\d"`, ['/a$b"c\\d']],
])('a line of a desktop entry: %s', (line, words) => {
  expect(splitExec(line)).toEqual(words);
});

/** A PNG of so many points a side, all transparent. */
function emptyPng(side: number): Buffer {
  const chunk = (name: string, content: Buffer): Buffer => {
    const bytes = Buffer.alloc(content.length + 12);
    bytes.writeUInt32BE(content.length, 0);
    bytes.write(name, 4, 'latin1');
    content.copy(bytes, 8);
    return bytes;
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([8, 6], 8);
  // Each row begins with its filter: "up", of nothing.
  const rows = Buffer.concat(
    Array.from({ length: side }, () => Buffer.concat([Buffer.from([2]), Buffer.alloc(side * 4)])),
  );
  return Buffer.concat([
    Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

test('an image shows something, or does not', () => {
  expect(isDrawn(emptyPng(16))).toBe(false);
  expect(isDrawn(new Uint8Array())).toBe(false);
  expect(isDrawn(readFileSync(join(import.meta.dirname, '../../main/desktop/icons/tray.png')))).toBe(true);
});
