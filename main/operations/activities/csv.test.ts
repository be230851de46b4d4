import { expect, test } from 'vitest';
import { csvLine } from './csv.ts';

test('fields are quoted where they need it', () => {
  expect(csvLine(['plain', 7, 'a,b', 'say "no"', 'two\nlines', ''])).toBe(
    'plain,7,"a,b","say ""no""","two\nlines",',
  );
});

test('what a spreadsheet would run is a text', () => {
  expect(csvLine(['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '{"a":"=1"}'])).toBe(
    `'=1+1,'+1,'-1,'@SUM(A1),'\tx,"{""a"":""=1""}"`,
  );
  expect(csvLine([-1])).toBe('-1');
});
