import { expect, test } from 'vitest';
import { SharedKey } from './shared-key.ts';

test('a shared key is there on both sides until it is erased', () => {
  const owner = new SharedKey();
  const other = new SharedKey(owner.memory);
  expect(other.take()).toBeUndefined();
  const key = new Uint8Array(32).fill(7);
  const put = owner.put(key);
  expect(owner.put(key)).toBe(put);
  expect(other.holds(put)).toBe(true);
  expect(other.take()).toEqual(key);
  owner.put(new Uint8Array(32).fill(8));
  expect(other.take()).toEqual(new Uint8Array(32).fill(8));
  owner.erase();
  owner.erase();
  expect(other.take()).toBeUndefined();
  expect(new Uint8Array(owner.memory).subarray(4)).toEqual(new Uint8Array(32));
  owner.put(key);
  expect(other.take()).toEqual(key);
  // The same key, and yet erased in between.
  expect(other.holds(put)).toBe(false);
});

test('a copy taken while the key changed is discarded', () => {
  const owner = new SharedKey();
  owner.put(new Uint8Array(32).fill(7));
  // As between the two steps of erasing.
  Atomics.add(new Int32Array(owner.memory, 0, 1), 0, 1);
  expect(new SharedKey(owner.memory).take()).toBeUndefined();
});
