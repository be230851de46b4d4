/** The order of the tests' files names files that are there. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { longest } from './sequencer.ts';

const projectRoot = join(import.meta.dirname, '../../..');

test('the files that take longest are there', () => {
  expect(longest.filter((file) => !existsSync(join(projectRoot, file)))).toEqual([]);
});
