import { expect, test } from 'vitest';
import { upTo } from './up-to.ts';

test.each([
  ['', 3, ''],
  ['abc', 3, 'abc'],
  ['abcd', 3, 'abc'],
  ['ab🔥', 3, 'ab'],
  ['a🔥c', 3, 'a🔥'],
  ['🔥', 1, ''],
  ['🔥', 0, ''],
  ['🔥🔥', 3, '🔥'],
  ['ab\ud83d', 3, 'ab\ud83d'],
])('%j up to %i is %j', (text, most, beginning) => {
  expect(upTo(text, most)).toBe(beginning);
});
