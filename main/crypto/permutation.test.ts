import { describe, expect, test } from 'vitest';
import { permuted, Permutation } from './permutation.ts';

const permutation = new Permutation(new Uint8Array(32).fill(7));
const numbers = [0, 1, 2, 3, 1000, 2 ** 24 - 1, 2 ** 24, 2 ** 31, 2 ** 32, permuted - 1];

describe('Permutation', () => {
  test('gives each number another, and takes it back', () => {
    const given = permutation.apply(numbers);
    expect(new Set(given).size).toBe(numbers.length);
    expect(given.every((each) => Number.isInteger(each) && each >= 0 && each < permuted)).toBe(true);
    expect(permutation.invert(given)).toEqual(numbers);
    expect(permutation.apply(permutation.invert(numbers))).toEqual(numbers);
    expect(permutation.apply([])).toEqual([]);
  });

  test('gives a number the same alone as among others', () => {
    expect(numbers.flatMap((each) => permutation.apply([each]))).toEqual(permutation.apply(numbers));
  });

  test('gives others under another key', () => {
    const other = new Permutation(new Uint8Array(32).fill(8)).apply(numbers);
    expect(other.filter((each, index) => each === permutation.apply(numbers)[index])).toEqual([]);
  });

  test('does not keep the order: neighbors rise as often as they fall, and lie far apart', () => {
    const given = permutation.apply(Array.from({ length: 4000 }, (_, index) => index));
    const steps = given.slice(1).map((each, index) => each - (given[index] ?? 0));
    const rising = steps.filter((step) => step > 0).length;
    // Six standard deviations to either side: with this fixed key it holds or does not.
    expect(Math.abs(rising - steps.length / 2)).toBeLessThan(6 * Math.sqrt(steps.length / 12));
    const distance = steps.reduce((sum, step) => sum + Math.abs(step), 0) / steps.length;
    expect(distance / permuted).toBeCloseTo(1 / 3, 1);
  });
});
