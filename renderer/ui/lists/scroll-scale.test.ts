import { expect, test } from 'vitest';
import { laidOut, ScrollScale } from './scroll-scale.ts';

const seen = 600;

function scaleOf(height: number): ScrollScale {
  const scale = new ScrollScale();
  scale.resize(height, seen);
  return scale;
}

test('a list that fits is laid out as it is', () => {
  const scale = scaleOf(100_000);
  expect(laidOut(100_000)).toBe(100_000);
  for (const top of [0, 10, 700, 99_400]) expect(scale.scrolled(top)).toBe(top);
  expect(scale.shift).toBe(0);
  expect(scale.topFor(5_000)).toBe(5_000);
  expect(scale.isOff(5_000)).toBe(false);
});

test('a longer one moves by small steps as far as they say, and by long ways in proportion', () => {
  const height = 60_000_000;
  const scale = scaleOf(height);
  expect(laidOut(height)).toBeLessThan(33_000_000 / 4);
  expect(scale.scrolled(100)).toBe(100);
  expect(scale.scrolled(900)).toBe(900);
  const half = (laidOut(height) - seen) / 2;
  const middle = scale.scrolled(half);
  expect(middle).toBe((height - seen) / 2);
  expect(scale.scrolled(half + 100)).toBe(middle + 100);
  expect(scale.scrolled(half - 50)).toBe(middle - 50);
  expect(scale.scrolled(laidOut(height) - seen)).toBe(height - seen);
  expect(scale.scrolled(0)).toBe(0);
});

test('is put right where small steps have led far', () => {
  const scale = scaleOf(60_000_000);
  let top = 0;
  for (let step = 0; step < 100; step++) scale.scrolled((top += 1_000));
  expect(scale.isOff(top)).toBe(true);
  const position = scale.scrolled(top);
  top = scale.topFor(position);
  expect(scale.isOff(top)).toBe(false);
  expect(scale.scrolled(top)).toBe(position);
  expect(scale.scrolled(top + 56)).toBe(position + 56);
});

test('every row can be reached', () => {
  const scale = scaleOf(56_000_000);
  for (const row of [0, 1, 499_999, 999_000, 999_989]) {
    const top = scale.topFor(row * 56);
    expect(top + scale.shift).toBe(Math.min(row * 56, 56_000_000 - seen));
  }
});
