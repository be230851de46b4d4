import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { digestOf, unpack } from './unpack.ts';

const files: Readonly<Record<string, string>> = { 'a.js': 'one', 'deep/er/b.js': 'two' };
const manifest = Object.fromEntries(Object.entries(files).map(([path, text]) => [path, digestOf(text)]));
const read = (path: string): Uint8Array => Buffer.from(files[path] ?? '');

const base = mkdtempSync(join(tmpdir(), 'keyhearth-unpack-'));
afterEach(() => {
  rmSync(base, { recursive: true });
  mkdirSync(base, { mode: 0o700 });
});

const found = (directory: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => {
        const file = join(entry.parentPath, entry.name);
        return [file.slice(directory.length + 1), readFileSync(file, 'utf8')];
      }),
  );

test('writes the files, once, and leaves nothing half done', () => {
  const directory = unpack(base, manifest, read);
  expect(found(directory)).toEqual(files);
  expect(readdirSync(base)).toHaveLength(1);
  const unread = (path: string): Uint8Array => {
    throw new Error(`${path} was read again`);
  };
  expect(unpack(base, manifest, unread)).toBe(directory);
});

test('puts right what was changed, cut off or added, and what a link took the place of', () => {
  const directory = unpack(base, manifest, read);
  writeFileSync(join(directory, 'a.js'), 'evil');
  writeFileSync(join(directory, 'deep/package.json'), '{"type":"commonjs"}');
  rmSync(join(directory, 'deep/er'), { recursive: true });
  const elsewhere = join(base, 'elsewhere');
  mkdirSync(elsewhere);
  writeFileSync(join(elsewhere, 'b.js'), 'two');
  symlinkSync(elsewhere, join(directory, 'deep/er'));
  unpack(base, manifest, read);
  expect(found(directory)).toEqual(files);
  expect(readFileSync(join(elsewhere, 'b.js'), 'utf8')).toBe('two');
});

test('another version has a directory of its own', () => {
  const other = unpack(base, { 'a.js': digestOf('one') }, read);
  expect(found(other)).toEqual({ 'a.js': 'one' });
  expect(unpack(base, manifest, read)).not.toBe(other);
});

test.skipIf(process.platform === 'win32')('runs nothing from where others may write', () => {
  chmodSync(base, 0o777);
  expect(() => unpack(base, manifest, read)).toThrow('nobody else may write');
  chmodSync(base, 0o700);
  expect(() => unpack(join(base, 'a', 'b'), manifest, read)).not.toThrow();
});

test('a file that is not what the manifest says is not written', () => {
  expect(() => unpack(base, { 'a.js': digestOf('three') }, read)).toThrow('a.js is not what');
});
