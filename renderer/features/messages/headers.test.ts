import { expect, test } from 'vitest';
import { headerProblem, headersOf } from './headers.ts';

test('headers are typed one a line', () => {
  const text = 'Authorization: Bearer a:b\n\n X-Key :  1 \n';
  expect(headerProblem(text)).toBeNull();
  expect(headersOf(text)).toEqual([
    { name: 'Authorization', value: 'Bearer a:b' },
    { name: 'X-Key', value: '1' },
  ]);
  expect(headersOf('')).toEqual([]);
  expect(headerProblem('')).toBeNull();
});

test.each(['%j is not a header', ': no name', 'two words: value'])('%j is refused', (line) => {
  expect(headerProblem(`Good: one\n${line}`)).toBe('Line 2 is not in the form Name: value.');
});
