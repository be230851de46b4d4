import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createPrivateFile, readEndpoint, VaultDirectory, VaultInUseError } from './vault-directory.ts';

let parent: string;
let path: string;

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'keyhearth-directory-'));
  path = join(parent, 'deep', 'vault');
});
afterEach(() => {
  rmSync(parent, { recursive: true });
});

const modeOf = (file: string): number => statSync(file).mode & 0o777;
const endpoint = (): string => join(path, 'endpoint.json');

describe('acquire', () => {
  test('makes the directory and its files for their owner alone', () => {
    const directory = VaultDirectory.acquire(path);
    try {
      expect(modeOf(path)).toBe(0o700);
      expect(readdirSync(path).sort()).toEqual(expect.arrayContaining(['endpoint.json', 'lock']));
      for (const name of readdirSync(path)) expect(modeOf(join(path, name)), name).toBe(0o600);
      expect(directory.database).toBe(join(path, 'vault.db'));
    } finally {
      directory.release();
    }
  });

  test('closes a directory that was open to others', () => {
    VaultDirectory.acquire(path).release();
    chmodSync(path, 0o755);
    const directory = VaultDirectory.acquire(path);
    directory.release();
    expect(modeOf(path)).toBe(0o700);
  });

  test('notes who holds it: without a port at first, then with it, and takes the note away', () => {
    const directory = VaultDirectory.acquire(path);
    const { nonce } = directory;
    expect(nonce).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(readEndpoint(path)).toEqual({ pid: process.pid, port: null, socket: null, nonce });
    directory.publish({ port: 7377, socket: '/place/control.sock' });
    expect(readEndpoint(path)).toEqual({
      ...{ pid: process.pid, port: 7377, socket: '/place/control.sock', nonce },
    });
    expect(modeOf(endpoint())).toBe(0o600);
    directory.release();
    expect(existsSync(endpoint())).toBe(false);
    expect(readEndpoint(path)).toBeUndefined();
  });

  test('each run has a nonce of its own', () => {
    const first = VaultDirectory.acquire(path);
    first.release();
    const second = VaultDirectory.acquire(path);
    second.release();
    expect(second.nonce).not.toBe(first.nonce);
  });

  test('is refused while another holds it, naming process and port, and works once it is let go', () => {
    const holder = VaultDirectory.acquire(path);
    expect(() => VaultDirectory.acquire(path)).toThrow(
      `The vault in ${path} is in use by process ${String(process.pid)}. Stop it first, or use it as it is.`,
    );
    expect(() => VaultDirectory.acquire(path)).toThrow(VaultInUseError);
    holder.publish({ port: 7377, socket: null });
    const before = readFileSync(endpoint(), 'utf8');
    expect(() => VaultDirectory.acquire(path)).toThrow(
      `The vault in ${path} is in use by process ${String(process.pid)}, which serves port 7377. Stop it first, or use it as it is.`,
    );
    // A refused process does not change the holder's note.
    expect(readFileSync(endpoint(), 'utf8')).toBe(before);
    rmSync(endpoint());
    expect(() => VaultDirectory.acquire(path)).toThrow(`The vault in ${path} is in use by another process.`);
    holder.release();
    VaultDirectory.acquire(path).release();
  });

  test('is refused to another process, and the lock of a killed process does not count', () => {
    const module = join(import.meta.dirname, 'vault-directory.ts');
    const run = (after: string) =>
      spawnSync(
        process.execPath,
        [
          '--input-type=module',
          '-e',
          `const { VaultDirectory } = await import(${JSON.stringify(module)});
           try { VaultDirectory.acquire(${JSON.stringify(path)}); } catch (error) { console.log(error.name); process.exit(); }
           console.log('acquired'); ${after}`,
        ],
        { encoding: 'utf8' },
      );
    const holder = VaultDirectory.acquire(path);
    expect(run('').stdout).toBe('VaultInUseError\n');
    holder.release();
    const killed = run(`process.kill(process.pid, 'SIGKILL');`);
    expect(killed).toMatchObject({ signal: 'SIGKILL', stdout: 'acquired\n' });
    expect(readEndpoint(path)?.pid).toBe(killed.pid);
    const next = VaultDirectory.acquire(path);
    expect(next.left?.pid).toBe(killed.pid);
    expect(readEndpoint(path)?.pid).toBe(process.pid);
    next.release();
  });
});

describe('readEndpoint', () => {
  test.each([
    ['no JSON', '{"pid":'],
    ['no process', '{"port":1,"nonce":"x"}'],
    ['no nonce', '{"pid":1,"port":1}'],
    ['null', 'null'],
  ])('passes over a note with %s', (_what, text) => {
    VaultDirectory.acquire(path).release();
    writeFileSync(endpoint(), text);
    expect(readEndpoint(path)).toBeUndefined();
  });

  test('takes a port that is none for none', () => {
    VaultDirectory.acquire(path).release();
    writeFileSync(endpoint(), '{"pid":1,"port":"7377","nonce":"x"}');
    expect(readEndpoint(path)).toEqual({ pid: 1, port: null, socket: null, nonce: 'x' });
  });
});

test('createPrivateFile makes a file for its owner alone, and leaves one that is there', () => {
  const file = join(parent, 'file');
  createPrivateFile(file);
  expect(modeOf(file)).toBe(0o600);
  writeFileSync(file, 'content');
  createPrivateFile(file);
  expect(readFileSync(file, 'utf8')).toBe('content');
});
