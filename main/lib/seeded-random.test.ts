import { describe, expect, test } from 'vitest';
import { SeededRandom } from './seeded-random.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

describe('SeededRandom', () => {
  test('generates the same from the same seed, in every version', () => {
    const [one, two] = [new SeededRandom('a'), new SeededRandom('a')];
    for (let read = 0; read < 5; read++) expect(one.generate('key', 32)).toEqual(two.generate('key', 32));
    // Scripts rely on the values of a seed, so they must not change.
    expect(hex(new SeededRandom('a').generate('user', 16))).toBe('4be55b8e886672b56c798cb183dabed3');
  });

  test('generates something else each time, for each purpose, and from each seed', () => {
    const random = new SeededRandom('a');
    const reads = [
      ...Array.from({ length: 100 }, () => random.generate('key', 32)),
      ...Array.from({ length: 100 }, () => random.generate('other', 32)),
      new SeededRandom('b').generate('key', 32),
      new SeededRandom('').generate('key', 32),
    ].map(hex);
    expect(new Set(reads).size).toBe(reads.length);
  });

  test('keeps a stream for each purpose, which no other moves', () => {
    const [alone, among] = [new SeededRandom('a'), new SeededRandom('a')];
    const first = [alone.generate('key', 32), alone.generate('key', 32)];
    among.generate('noise', 7);
    const again = [among.generate('key', 32)];
    among.generate('noise', 7);
    again.push(among.generate('key', 32));
    expect(again).toEqual(first);
  });

  test.each([0, 1, 16, 31, 32, 33, 64, 100])(
    'generates %i bytes, and a longer read begins with the shorter one',
    (length) => {
      const bytes = new SeededRandom('a').generate('key', length);
      expect(bytes).toHaveLength(length);
      expect(hex(new SeededRandom('a').generate('key', 128))).toMatch(new RegExp(`^${hex(bytes)}`));
    },
  );

  test('blocks of one read differ from each other', () => {
    const bytes = hex(new SeededRandom('a').generate('key', 96));
    expect(new Set([bytes.slice(0, 64), bytes.slice(64, 128), bytes.slice(128)]).size).toBe(3);
  });

  test('goes back to where it stood', () => {
    const random = new SeededRandom('a');
    random.generate('key', 32);
    const positions = random.positions();
    const after = [random.generate('key', 32), random.generate('other', 32)];
    random.rewind(positions);
    expect([random.generate('key', 32), random.generate('other', 32)]).toEqual(after);
    // Later reads do not move the saved positions.
    random.rewind(positions);
    expect(random.generate('key', 32)).toEqual(after[0]);
  });
});
