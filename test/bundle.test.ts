/** How much code the window is: what its first sight needs, and all of it. A budget, in bytes as they are compressed. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

const renderer = join(import.meta.dirname, '../dist/renderer');
const budgets = { entry: 320_000, all: 520_000 };

const sizeOf = (file: string): number => gzipSync(readFileSync(join(renderer, file))).length;
const sum = (files: readonly string[]): number => files.reduce((total, file) => total + sizeOf(file), 0);

test('the window keeps to its budget', () => {
  const page = readFileSync(join(renderer, 'index.html'), 'utf8');
  const named = [...page.matchAll(/(?:src|href)="\/?(?:\.\/)?(assets\/[^"]+\.(?:js|css))"/g)];
  const entry = [...new Set(named.map(([, file = '']) => file))];
  const all = readdirSync(join(renderer, 'assets'))
    .filter((file) => /\.(js|css)$/.test(file))
    .map((file) => `assets/${file}`);
  expect(entry.length).toBeGreaterThan(1);
  // What is not in the page is fetched when one goes there.
  expect(all.length).toBeGreaterThan(entry.length + 20);
  expect(sum(entry)).toBeLessThan(budgets.entry);
  expect(sum(all)).toBeLessThan(budgets.all);
});

test('the styles that all others stand on come first', () => {
  const page = readFileSync(join(renderer, 'index.html'), 'utf8');
  const [first = ''] = [...page.matchAll(/rel="stylesheet"[^>]*href="\/?(?:\.\/)?([^"]+)"/g)].map(
    ([, file = '']) => file,
  );
  // Mantine's own, and the tokens.
  const styles = readFileSync(join(renderer, first), 'utf8');
  expect(styles).toContain('--mantine-color-body');
  expect(styles).toContain('--lk-ground:');
});
