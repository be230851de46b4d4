import { expect, test } from 'vitest';
import { beginningOf, isShort, rowsOf } from './description.ts';

const lines = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ label: 'To', value: String(index) }));
const parts = (count: number, each: number) =>
  Array.from({ length: count }, (_, index) => ({ title: String(index), lines: lines(each) }));

test.each([
  [{ lines: lines(3), parts: parts(2, 4) }, 13],
  [{ lines: lines(200), parts: [] }, 200],
  [{ lines: [], parts: parts(50, 3) }, 200],
])('a short description is shown whole: %#', (description, rows) => {
  expect(rowsOf(description)).toBe(rows);
  expect(isShort(description)).toBe(true);
  expect(beginningOf(description)).toEqual(description);
});

test.each([
  { lines: lines(201), parts: [] },
  { lines: lines(5), parts: parts(1000, 3) },
  { lines: lines(500), parts: parts(3, 3) },
  { lines: lines(1), parts: parts(1, 5000) },
  { lines: lines(199), parts: parts(1, 1) },
])('of a long one there are as many rows at first as a person scrolls past: %#', (description) => {
  expect(isShort(description)).toBe(false);
  const begun = beginningOf(description);
  expect(rowsOf(begun)).toBe(200);
  expect(begun.lines).toEqual(description.lines.slice(0, begun.lines.length));
  for (const [index, part] of begun.parts.entries()) {
    const whole = description.parts[index];
    expect(part).toEqual({ title: whole?.title, lines: whole?.lines.slice(0, part.lines.length) });
  }
});
