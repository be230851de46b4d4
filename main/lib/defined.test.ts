import { expect, test } from 'vitest';
import { defined } from './defined.ts';

test('leaves out what is undefined, and nothing else', () => {
  const given = { none: undefined, empty: '', zero: 0, no: false, nothing: null, list: [undefined] };
  expect(Object.entries(defined(given))).toEqual([
    ['empty', ''],
    ['zero', 0],
    ['no', false],
    ['nothing', null],
    ['list', [undefined]],
  ]);
});
