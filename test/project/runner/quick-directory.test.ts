import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../support/support.ts';
import { quickDirectory } from './quick-directory.ts';

test('is the directory where it has room, and the usual one where it has none or no file can be written', () => {
  using home = temporaryDirectory();
  expect(quickDirectory(home.path, 1)).toBe(home.path);
  expect(quickDirectory(home.path, Infinity)).toBe(tmpdir());
  expect(quickDirectory(`${home.path}/none`, 1)).toBe(tmpdir());
  expect(quickDirectory('/proc', 0)).toBe(tmpdir());
});
