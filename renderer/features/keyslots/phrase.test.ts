import { expect, test } from 'vitest';
import { choosePositions, randomBelow, recoveryOf, recoveryProblem, toRecovery, wordsOf } from './phrase.ts';

test('a phrase is read whatever its case and spacing', () => {
  expect(wordsOf('  Abandon\n\tABOUT  zoo ')).toEqual(['abandon', 'about', 'zoo']);
  expect(wordsOf('  ')).toEqual([]);
});

test('positions are distinct, rising and within the phrase; each one comes up', () => {
  const seen = new Set<number>();
  for (let round = 0; round < 400; round += 1) {
    const positions = choosePositions(3, 24, randomBelow);
    expect(new Set(positions).size).toBe(3);
    expect(positions.toSorted((a, b) => a - b)).toEqual(positions);
    for (const position of positions) seen.add(position);
  }
  expect([...seen].sort((a, b) => a - b)).toEqual(Array.from({ length: 24 }, (_, index) => index + 1));
});

test('the choice follows its source', () => {
  expect(choosePositions(3, 24, () => 0)).toEqual([1, 2, 3]);
  expect(choosePositions(3, 24, (below) => below - 1)).toEqual([22, 23, 24]);
});

test('where a phrase may be typed, shares of it may be too', () => {
  const words = Array.from({ length: 24 }, () => 'zoo');
  expect(recoveryProblem(recoveryOf(words.join('  ')))).toBeNull();
  expect(toRecovery(recoveryOf(` ${words.join('\n')} `))).toEqual({
    with: 'recovery',
    phrase: words.join(' '),
  });
  expect(recoveryProblem(recoveryOf('zoo zoo'))).toBe('A recovery phrase has 24 words; you entered 2.');
  const typed = `1: lkshare1qyfru3t8\nShare 2 of 3: LKSHARE1QYFRU3T9.`;
  expect(recoveryProblem(recoveryOf(typed))).toBeNull();
  expect(toRecovery(recoveryOf(typed))).toEqual({
    with: 'shares',
    shares: ['lkshare1qyfru3t8', 'LKSHARE1QYFRU3T9'],
  });
});
