import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sourceLines } from './source-lines.ts';

let directory: string;
beforeEach(() => {
  directory = `${mkdtempSync(join(tmpdir(), 'keyhearth lines-'))}${sep}`;
  // Line 2, column 5 of the program is line 11, column 3 of the source.
  const map = { version: 3, sources: ['../../main/app/compose.ts'], names: [], mappings: ';IAUE' };
  writeFileSync(join(directory, 'compose-a1.js.map'), JSON.stringify(map));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

test('a place in the program is one in its sources, by path and by address', () => {
  const read = sourceLines(directory);
  const file = join(directory, 'compose-a1.js');
  const stack = (path: string): string => `Error: no\n    at work (${path}:2:5)\n    at node:events:1:2`;
  const expected = stack('main/app/compose.ts').replace('2:5', '11:3');
  expect(read(stack(file))).toBe(expected);
  expect(read(stack(pathToFileURL(file).href))).toBe(expected);
});

test('all else stays as it is: no map is read that is not the program’s', () => {
  const read = sourceLines(directory);
  for (const path of ['/etc/passwd.js', `${directory}../x.js`, 'compose-a1.js', `${directory}other.js`]) {
    expect(read(`at ${path}:2:5`)).toBe(`at ${path}:2:5`);
  }
});
