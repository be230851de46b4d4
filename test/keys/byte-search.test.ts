/** The search that says that no secret is there must find each one that is. */
import { randomBytes, randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { ByteSearch } from '../support/byte-search.ts';

/** Few values, so that patterns overlap, repeat and begin alike. */
const bytesOf = (length: number): Buffer => Buffer.from(randomBytes(length).map((byte) => byte % 3));

/** Looks at every place. */
function countOf(bytes: Buffer, pattern: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(pattern); at !== -1; at = bytes.indexOf(pattern, at + 1)) count += 1;
  return count;
}

test.each([4, 5, 7, 11, 16, 40])('finds each place of patterns of %d bytes and more, once', (shortest) => {
  for (let round = 0; round < 40; round += 1) {
    const bytes = bytesOf(randomInt(400));
    const search = new ByteSearch<string>();
    const patterns = new Map<string, Buffer>();
    for (let count = 0; count < 20; count += 1) {
      const length = shortest + randomInt(12);
      const from = randomInt(bytes.length + 1);
      const pattern = count % 2 === 0 ? bytesOf(length) : Buffer.from(bytes.subarray(from, from + length));
      if (pattern.length < shortest) continue;
      patterns.set(pattern.toString('hex'), pattern);
      search.add(pattern, pattern.toString('hex'));
    }
    const found = new Map([...patterns.keys()].map((name) => [name, 0]));
    search.find(bytes, (name) => found.set(name, (found.get(name) ?? 0) + 1));
    const expected = new Map([...patterns].map(([name, pattern]) => [name, countOf(bytes, pattern)]));
    expect(found).toEqual(expected);
  }
});

test('takes patterns after a search, and refuses those that are too short', () => {
  const search = new ByteSearch<string>();
  const bytes = Buffer.from('one and another');
  const found: string[] = [];
  search.find(bytes, (value) => found.push(value));
  search.add(Buffer.from('another'), 'long');
  search.find(bytes, (value) => found.push(value));
  search.add(Buffer.from('and '), 'short');
  search.find(bytes, (value) => found.push(value));
  expect(found).toEqual(['long', 'short', 'long']);
  expect(() => {
    search.add(Buffer.from('one'), 'too short');
  }).toThrow('at least 4 bytes');
});
