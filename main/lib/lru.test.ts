import { expect, test } from 'vitest';
import { Lru } from './lru.ts';

test('the entry used least recently goes first', () => {
  const lru = new Lru<string, number>(2);
  lru.set('a', 1);
  lru.set('b', 2);
  expect(lru.get('a')).toBe(1);
  lru.set('c', 3);
  expect([lru.get('a'), lru.get('b'), lru.get('c'), lru.size]).toEqual([1, undefined, 3, 2]);
});

test('an entry set again is not counted twice', () => {
  const lru = new Lru<string, number>(2);
  lru.set('a', 1);
  lru.set('a', 2);
  lru.set('b', 3);
  expect([lru.get('a'), lru.get('b'), lru.size]).toEqual([2, 3, 2]);
});

test('a capacity below one is refused', () => {
  expect(() => new Lru(0)).toThrow('capacity: expected a whole number of 1 or more, got 0');
});

test('an entry that was deleted is gone', () => {
  const lru = new Lru<string, number>(2);
  lru.set('a', 1);
  lru.delete('a');
  expect([lru.get('a'), lru.size]).toEqual([undefined, 0]);
});
