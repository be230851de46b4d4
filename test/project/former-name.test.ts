/** The product's former name occurs only in code that opens earlier files, and in the history. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { expect, test } from 'vitest';
import { formerName } from '../../main/lib/text/former-name.ts';

const root = join(import.meta.dirname, '../..');

/** Labels inside derivations, signatures and seals: every letter of them matters to existing files. */
const labels = [
  ...['backup v1', 'backup v1 file', 'keyslot', 'recovery phrase', 'recovery shares', 'sealed record'],
  ...['integrity 1', 'log head', 'mark', 'dev seed', 'update metadata 1'],
].map((label) => new RegExp(`(['"\`])${formerName} ${label}(?=\\1|\\\\n| \\$\\{)`, 'g'));

/** By file: how often the name is there, and what for. */
const allowed: Readonly<Record<string, number>> = {
  // The name itself.
  'main/lib/text/former-name.ts': 2,
  // Programs that stand alone read both names, and import nothing.
  'main/standalone/decrypt-backup.mjs': 1,
  'main/standalone/verify-log.mjs': 1,
};

/** Output of npm, the build and the tests is not part of the project. */
const made = /^(?:node_modules|dist|release|\.git|\.vitest|test\/output)(?:\/|$)/;
const binary = /\.(?:png|ico|icns|gz|backup|woff2|wasm|log|eslintcache)$/;

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name);
    if (made.test(path)) return [];
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

const files = filesBelow('').filter(
  (file) => file !== 'CHANGELOG.md' && !file.startsWith('test/fixtures/') && !binary.test(file),
);

test('no file but those speaks of it', () => {
  expect(files.length).toBeGreaterThan(1000);
  const found: Record<string, number> = {};
  for (const file of files) {
    const text = labels.reduce(
      (rest, label) => rest.replaceAll(label, ''),
      readFileSync(join(root, file), 'utf8'),
    );
    const count = text.match(new RegExp(formerName, 'gi'))?.length ?? 0;
    if (count > 0) found[file] = count;
  }
  expect(found).toEqual(allowed);
  expect(files.filter((file) => file.toLowerCase().includes(formerName))).toEqual([]);
});
