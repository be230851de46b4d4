/**
 * The address of a program's agent on Windows, under this system: where there are no named pipes, the name of one is a file in the
 * working directory. The class: the address is the same at every start, other for each vault and program, and never the system's own.
 */
import { chdir, cwd } from 'node:process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkSocket, namedSocketPath } from '../../main/control/socket-path.ts';
import { configEntry } from '../../main/commands/ssh/setup.ts';
import { runProgram } from '../support/programs.ts';
import { makeTaggedKey, pairSshProgram } from '../support/ssh-agent.ts';
import { startTestVault, temporaryDirectory } from '../support/support.ts';

const { platform } = process;
const setPlatform = (value: string): void => {
  Object.defineProperty(process, 'platform', { value });
};
const directory = temporaryDirectory();
const before = cwd();

beforeAll(() => {
  chdir(directory.path);
});
afterAll(() => {
  setPlatform(platform);
  chdir(before);
  directory[Symbol.dispose]();
});

/** Runs as on Windows. */
function onWindows<T>(work: () => T): T {
  setPlatform('win32');
  try {
    return work();
  } finally {
    setPlatform(platform);
  }
}

test('the address names vault and program, and no other', () => {
  const addresses = onWindows(() =>
    [
      ['C:\\Users\\Ann\\Keyhearth', 'ssh-laptop'],
      ['C:\\Users\\Ben\\Keyhearth', 'ssh-laptop'],
      ['C:\\Users\\Ann\\Keyhearth', 'ssh-ci'],
    ].map(([vault = '', name = '']) => namedSocketPath(vault, name) ?? ''),
  );
  expect(new Set(addresses).size).toBe(3);
  for (const address of addresses) {
    expect(address).toMatch(/^\\\\\.\\pipe\\keyhearth-[0-9a-f]{16}-ssh-(laptop|ci)$/);
    expect(checkSocket(address)).toBe(true);
  }
  // Windows takes both spellings of a directory for one.
  expect(onWindows(() => namedSocketPath('c:\\users\\ann\\keyhearth', 'ssh-laptop'))).toBe(addresses[0]);
});

test('ssh-add speaks to the agent there, by the name that is written for ssh', async () => {
  await using service = await startTestVault({ password: 'correct horse battery staple' });
  const key = await makeTaggedKey(service);
  setPlatform('win32');
  const { socket } = await pairSshProgram(service, key, 'laptop').finally(() => {
    setPlatform(platform);
  });
  expect(socket).toContain('pipe');
  expect(configEntry('*', socket)).toContain(String.raw`"\\\\.\\pipe\\keyhearth-`);
  const listed = await runProgram('ssh-add', ['-L'], { cwd: directory.path, env: { SSH_AUTH_SOCK: socket } });
  expect(listed.out).toContain(' github');
});
