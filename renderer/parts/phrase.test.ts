import { expect, test } from 'vitest';
import { drawPositions, randomBelow, wordsOf } from './phrase.ts';

test('a phrase is read whatever its case and spacing', () => {
  expect(wordsOf('  Abandon\n\tABOUT  zoo ')).toEqual(['abandon', 'about', 'zoo']);
  expect(wordsOf('  ')).toEqual([]);
});

test('positions are distinct, rising and within the phrase; each one comes up', () => {
  const seen = new Set<number>();
  for (let round = 0; round < 400; round += 1) {
    const positions = drawPositions(3, 24, randomBelow);
    expect(new Set(positions).size).toBe(3);
    expect(positions.toSorted((a, b) => a - b)).toEqual(positions);
    for (const position of positions) seen.add(position);
  }
  expect([...seen].sort((a, b) => a - b)).toEqual(Array.from({ length: 24 }, (_, index) => index + 1));
});

test('the drawing follows its source', () => {
  expect(drawPositions(3, 24, () => 0)).toEqual([1, 2, 3]);
  expect(drawPositions(3, 24, (below) => below - 1)).toEqual([22, 23, 24]);
});
