import { describe, expect, test } from 'vitest';
import { LongList, type Block, type ListSource } from './long-list.ts';

interface Line {
  readonly place: number;
  readonly open: boolean;
}

/** A list whose newest place is `newest` and whose parts have `perPart` blocks; it counts what it is asked. */
function source(newest: number, perPart = 3) {
  const asked: (readonly number[])[] = [];
  const block = (first: number, last: number): Block => ({
    createdAt: { seconds: String(first), nanos: '0' },
    count: first - last + 1,
    runs: [[first, last]],
  });
  const open = new Set<number>();
  const made: ListSource<Line> = {
    outline: (from = newest + 1) => {
      const blocks: Block[] = [];
      let before = from;
      while (blocks.length < perPart && before > 1) {
        const last = Math.max(1, before - 100);
        blocks.push(block(before - 1, last));
        before = last;
      }
      return Promise.resolve({ blocks, ...(before > 1 ? { next: before } : {}) });
    },
    newer: (known) => Promise.resolve({ blocks: known < newest + 5 ? [block(newest + 5, known + 1)] : [] }),
    browse: (places) => {
      asked.push(places);
      return Promise.resolve(places.map((place) => ({ place, open: open.has(place) })));
    },
    isOpen: ({ open: still }) => still,
  };
  return { made, asked, open };
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

describe('a long list', () => {
  test('knows all its places, and reads those in sight and their neighbours', async () => {
    const { made, asked } = source(25_050);
    const list = new LongList(made);
    list.show(0, 9);
    await list.start();
    await settled();
    expect(list.total).toBe(25_050);
    expect(list.isComplete).toBe(true);
    for (const index of [0, 1, 99, 100, 12_345, 25_049]) expect(list.placeAt(index)).toBe(25_050 - index);
    expect(list.placeAt(25_050)).toBeUndefined();
    expect(list.lineAt(0)).toEqual({ place: 25_050, open: false });
    expect(list.lineAt(49)).toBeDefined();
    expect(list.lineAt(60)).toBeUndefined();
    expect(asked.flat()).toHaveLength(55);

    list.show(20_000, 20_009);
    await settled();
    expect(list.lineAt(20_000)).toEqual({ place: 5_050, open: false });
    expect(asked.flat()).toHaveLength(55 + 100);
    // A step further everything is there; some steps further more is read at once.
    list.show(20_001, 20_010);
    await settled();
    expect(asked).toHaveLength(2);
    list.show(20_031, 20_040);
    await settled();
    expect(asked).toHaveLength(3);
    expect(asked.at(-1)?.length).toBeGreaterThan(20);
  });

  test('forgets what was read first', async () => {
    const { made } = source(20_000);
    const list = new LongList(made);
    await list.start();
    for (let first = 0; first < 6_000; first += 90) {
      list.show(first, first + 9);
      await settled();
    }
    expect(list.lineAt(0)).toBeUndefined();
    list.show(0, 9);
    await settled();
    expect(list.lineAt(0)).toBeDefined();
  });

  test('puts what is new before the rest, and reads again what may have changed', async () => {
    const { made, asked, open } = source(250);
    const list = new LongList(made);
    open.add(248);
    list.show(0, 9);
    await list.start();
    await settled();
    expect(list.lineAt(2)).toEqual({ place: 248, open: true });
    open.delete(248);
    const before = asked.length;
    await list.catchUp();
    await settled();
    expect(list.total).toBe(255);
    expect(list.prepended).toBe(5);
    expect(list.placeAt(0)).toBe(255);
    expect(list.lineAt(7)).toEqual({ place: 248, open: false });
    expect(
      asked
        .slice(before)
        .flat()
        .filter((place) => place <= 250 && place > 205),
    ).toEqual([248]);
    await list.catchUp();
    expect(list.total).toBe(255);
  });

  test('finds a time', async () => {
    const { made } = source(10_000);
    const list = new LongList(made);
    await list.start();
    expect(list.placeAt(list.indexAtTime(5_000_000))).toBe(5_000);
    expect(list.indexAtTime(99_999_999)).toBe(0);
    expect(list.indexAtTime(0)).toBe(9_999);
  });

  test('says what went wrong, and can be begun again', async () => {
    const { made } = source(10);
    let broken = true;
    const list = new LongList({
      ...made,
      outline: (from) => (broken ? Promise.reject(new Error('gone')) : made.outline(from)),
    });
    await list.start();
    expect(list.error?.message).toBe('gone');
    broken = false;
    await list.start();
    expect(list.error).toBeNull();
    expect(list.total).toBe(10);
  });
});
