/** The entry of `ssh setup`, read by the system's own ssh. The class: ssh uses that very agent, whatever the path has in it. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { configEntry } from './setup.ts';

test.each([
  '/home/ann/.local/share/keyhearth/ssh-laptop.sock',
  '/home/ann/my vault/ssh-laptop.sock',
  '/home/100%h/"quoted"/it\'s\\here/#1/ssh-laptop.sock',
  String.raw`\\.\pipe\keyhearth-0123456789abcdef-ssh-laptop`,
])('%s', (socket) => {
  const directory = mkdtempSync(join(tmpdir(), 'ssh-config-'));
  try {
    const file = join(directory, 'config');
    writeFileSync(file, configEntry('example.com *.example.org', socket));
    const read = (host: string) =>
      execFileSync('ssh', ['-G', '-F', file, host], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      });
    const shown = `identityagent ${socket}\n`;
    expect(read('example.com')).toContain(shown);
    expect(read('www.example.org')).toContain(shown);
    expect(read('example.net')).not.toContain('identityagent');
  } finally {
    rmSync(directory, { recursive: true });
  }
});
