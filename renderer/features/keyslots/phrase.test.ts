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

test.each([
  ['1. abandon 2. ability\n3. zoo'],
  ['1) abandon\n2) ability\n3) zoo'],
  ['1: Abandon 2: Ability 3: Zoo'],
  ['1 abandon\n2 ability\n24 zoo\n'],
  ['1.abandon 2.ability 3.zoo'],
  ['1.\nabandon\n2.\nability\n3.\nzoo'],
])('numbered words are read without their numbers: %j', (typed) => {
  expect(wordsOf(typed)).toEqual(expect.arrayContaining(['abandon', 'ability', 'zoo']));
  expect(wordsOf(typed)).toHaveLength(3);
});

test('a number that numbers no word stays, so that it is seen as one too many', () => {
  expect(wordsOf('abandon 7')).toEqual(['abandon', '7']);
  expect(wordsOf('123 abandon')).toEqual(['123', 'abandon']);
});

test('shares are read as they are printed, in fours and over lines', () => {
  const share = (letter: string) => `lkshare1${letter.repeat(80)}`;
  const inFours = (text: string) => text.replaceAll(/.{4}/g, '$& ').trim();
  const overLines = (text: string) => text.replaceAll(/.{30}/g, '$&\n');
  const shares = [share('q'), share('z'), share('7')];
  const typed = `Share 1 of 3\n${inFours(shares[0] ?? '')}\nShare 2 of 3: ${overLines(shares[1] ?? '')}\n3. ${shares[2] ?? ''}`;
  expect(toRecovery(recoveryOf(typed))).toEqual({ with: 'shares', shares });
  // Shares one after another, and a cut one, do not run into each other.
  expect(recoveryOf(`${shares.join(' ')} lkshare1qqqq zzzz`)).toEqual({
    kind: 'shares',
    shares: [...shares, 'lkshare1qqqq'],
  });
});
