/** Turns: no share is kept waiting by another, sockets are served between, and what is too much is refused early. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import type { Paced } from './paced.ts';
import { callersLine, mostSmallBytes, OverloadError, ownersLine, Turns, unprovenLine } from './turns.ts';

const mebibytes = 1024 * 1024;

/** Keeps the processor busy. */
function work(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

const user = (organizationId: string, userId = 'someone') => callersLine({ organizationId, userId });

/** Tasks of several lines, and the order in which they were done. */
function recorded(turns: Turns) {
  const done: string[] = [];
  const all: Promise<unknown>[] = [];
  const add = (line: readonly string[], name: string, ms = 0, bytes = 0): Promise<unknown> => {
    const task = turns.take(
      line,
      name,
      () => {
        work(ms);
        done.push(name);
        return {};
      },
      bytes,
    );
    task.catch(() => undefined);
    all.push(task);
    return task;
  };
  return { done, add, all: () => Promise.allSettled(all) };
}

describe('turns', () => {
  test('are fair by time: a caller who asks for less does not wait for one who asks for more', async () => {
    const { done, add, all } = recorded(new Turns());
    for (let task = 0; task < 200; task++) void add(user('busy'), 'busy', 1);
    for (let task = 0; task < 5; task++) void add(user('quiet'), 'quiet');
    await all();
    expect(done.lastIndexOf('quiet')).toBeLessThan(done.lastIndexOf('busy'));
  });

  test('are shared by organization first: many users of one do not outweigh one of another', async () => {
    const { done, add, all } = recorded(new Turns());
    for (let task = 0; task < 200; task++) void add(user('many', `user ${String(task)}`), 'many', 1);
    for (let task = 0; task < 5; task++) void add(user('one'), 'one', 1);
    await all();
    expect(done.lastIndexOf('one')).toBeLessThan(done.lastIndexOf('many'));
  });

  test('of unproven callers delay no proven ones, and large bodies no small ones', async () => {
    const { done, add, all } = recorded(new Turns());
    for (let task = 0; task < 60; task++) void add(unprovenLine(4 * mebibytes), 'large', 2, 4 * mebibytes);
    for (let task = 0; task < 5; task++) void add(unprovenLine(mostSmallBytes), 'small', 1);
    for (let task = 0; task < 5; task++) void add(user('known'), 'known', 1);
    await all();
    expect(done.lastIndexOf('small')).toBeLessThan(done.lastIndexOf('large'));
    expect(done.lastIndexOf('known')).toBeLessThan(done.lastIndexOf('large'));
  });

  test('are the owner’s before all others’', async () => {
    const { done, add, all } = recorded(new Turns());
    for (let task = 0; task < 20; task++) void add(user('other'), 'other', 1);
    for (let task = 0; task < 20; task++) void add(ownersLine, 'owner', 1);
    await all();
    expect(done.lastIndexOf('owner')).toBe(19);
  });

  test('end after some milliseconds: the event loop has its own between', async () => {
    const { done, add, all } = recorded(new Turns());
    for (let task = 0; task < 40; task++) void add(user('busy'), 'busy', 5);
    const seen: number[] = [];
    while (done.length < 40) {
      await nextTurn();
      seen.push(done.length);
    }
    await all();
    const steps = seen.map((count, index) => count - (seen[index - 1] ?? 0));
    expect(Math.max(...steps)).toBeLessThanOrEqual(3);
  });

  test('go on with what they lead to before the event loop has its own, and no longer than others', async () => {
    const turns = new Turns();
    let done = 0;
    const follow = async (count: number, ms: number): Promise<void> => {
      for (let task = 0; task < count; task++) {
        await turns.take(task === 0 ? unprovenLine(1) : user('known'), 'task', () => {
          work(ms);
          done++;
          return {};
        });
      }
    };
    const clock = vi.spyOn(performance, 'now').mockReturnValue(0);
    const short = follow(2, 0);
    await nextTurn();
    clock.mockRestore();
    expect(done).toBe(2);
    await short;
    const long = follow(20, 5);
    let last = done;
    let most = 0;
    while (done < 22) {
      await nextTurn();
      most = Math.max(most, done - last);
      last = done;
    }
    await long;
    expect(most).toBeLessThanOrEqual(3);
  });

  test('start no work of others while a caller presses, then one task each, and the owner’s all the while', async () => {
    const turns = new Turns();
    const { done, add, all } = recorded(turns);
    const release = turns.press();
    for (let task = 0; task < 5; task++) void add(user('busy'), 'busy');
    await add(ownersLine, 'owner');
    await nextTurn();
    expect(done.splice(0)).toEqual(['owner']);
    // As if it never came.
    work(300);
    const seen: number[] = [];
    while (done.length < 5) {
      await nextTurn();
      seen.push(done.length);
    }
    expect(seen.map((count, index) => count - (seen[index - 1] ?? 0)).every((step) => step <= 1)).toBe(true);
    release();
    release();
    await all();
    for (let task = 0; task < 5; task++) void add(user('busy'), 'again');
    await nextTurn();
    await nextTurn();
    expect(done.filter((name) => name === 'again')).toHaveLength(5);
  });

  test('begin nothing of others while what was begun waits to be written', async () => {
    let isBusy = true;
    const { done, add } = recorded(new Turns({ isBusy: () => isBusy }));
    const other = add(user('other'), 'other');
    await add(ownersLine, 'owner');
    await nextTurn();
    expect(done).toEqual(['owner']);
    isBusy = false;
    await other;
    expect(done).toEqual(['owner', 'other']);
  });
});

test('tell that more is coming while a task waits that has not begun, and no caller presses', async () => {
  const turns = new Turns();
  let count = 0;
  const seen: boolean[] = [];
  const note = (): object => {
    seen.push(turns.isMoreComing);
    return {};
  };
  const take = () => turns.take(user(String((count += 1))), 'task', note);
  expect(turns.isMoreComing).toBe(false);
  const tasks = [take(), take()];
  expect(turns.isMoreComing).toBe(true);
  const release = turns.press();
  expect(turns.isMoreComing).toBe(false);
  release();
  await Promise.all(tasks);
  expect(seen).toEqual([true, false]);
  // One that is under way comes to no write of its own soon: nothing is held for it.
  let isOver = false;
  const long = turns.take(user('asking'), 'long', function* () {
    while (!isOver) yield;
    return {};
  });
  await nextTurn();
  expect(turns.isMoreComing).toBe(false);
  isOver = true;
  await long;
});

describe('a long question', () => {
  function* steps(name: string, count: number, done: string[]): Paced<object> {
    for (let step = 0; step < count; step++) {
      done.push(name);
      work(1);
      yield;
    }
    done.push(`${name} is answered`);
    return {};
  }

  test('lets others, and its caller’s other requests, have their turns between its steps', async () => {
    const turns = new Turns();
    const { done, add } = recorded(turns);
    const long = turns.take(user('asking'), 'long', () => steps('step', 50, done));
    await nextTurn();
    void add(user('asking'), 'short of the same caller');
    void add(user('other'), 'short of another');
    await long;
    expect(done.indexOf('short of the same caller')).toBeGreaterThan(0);
    expect(done.indexOf('short of the same caller')).toBeLessThan(done.length - 1);
    expect(done.indexOf('short of another')).toBeLessThan(done.length - 1);
  });

  test('is the only one of its caller under way: another waits for its end', async () => {
    const turns = new Turns();
    const done: string[] = [];
    const ask = (line: readonly string[], name: string) =>
      turns.take(line, name, () => steps(name, 10, done));
    await Promise.all([ask(user('a'), 'first'), ask(user('a'), 'second'), ask(user('b'), 'of another')]);
    const second = done.indexOf('second');
    // Its first step told that it is long.
    expect(done.indexOf('second', second + 1)).toBeGreaterThan(done.indexOf('first is answered'));
    expect(done.indexOf('of another')).toBeLessThan(done.indexOf('first is answered'));
  });

  test('that throws ends, and its line goes on', async () => {
    const turns = new Turns();
    const long = turns.take(user('a'), 'long', function* (): Paced<object> {
      yield;
      throw new Error('broken');
    });
    await expect(long).rejects.toThrow('broken');
    expect(await turns.take(user('a'), 'short', () => ({ is: 'done' }))).toEqual({ is: 'done' });
  });
});

describe('too much', () => {
  const refused = async (tasks: readonly Promise<unknown>[]): Promise<number> =>
    (await Promise.allSettled(tasks)).filter(
      (result) => result.status === 'rejected' && result.reason instanceof OverloadError,
    ).length;

  test('of one caller is refused at once, and none of another', async () => {
    const { add } = recorded(new Turns());
    const mine = Array.from({ length: 1500 }, () => add(user('a', 'me'), 'mine'));
    const others = Array.from({ length: 10 }, () => add(user('a', 'you'), 'yours'));
    expect(await refused(mine)).toBe(1500 - 1024);
    expect(await refused(others)).toBe(0);
  });

  test('counts what is under way, and by its size', async () => {
    const turns = new Turns();
    let end: () => void = () => undefined;
    const underWay = new Promise<object>((resolve) => {
      end = () => {
        resolve({});
      };
    });
    const large = Array.from({ length: 20 }, () =>
      turns.take(user('a'), 'large', () => underWay, 4 * mebibytes),
    );
    expect(await Promise.race([refused(large.slice(15)), nextTurn('none')])).toBe(5);
    end();
    await Promise.allSettled(large);
    // Answered requests do not count.
    await expect(turns.take(user('a'), 'large', () => ({}), 4 * mebibytes)).resolves.toEqual({});
  });

  test('of two organizations keeps no third out: the newest of the largest goes instead', async () => {
    const { add } = recorded(new Turns());
    const flood = (organization: string) =>
      Array.from({ length: 2048 }, (_, index) =>
        add(user(organization, `user ${String(index % 2)}`), organization),
      );
    const floods = [flood('a'), flood('b')];
    const third = Array.from({ length: 10 }, () => add(user('third'), 'third'));
    expect(await refused(third)).toBe(0);
    expect((await Promise.all(floods.map(refused))).reduce((sum, count) => sum + count)).toBe(10);
  });

  test('is answered with the time to wait', () => {
    expect(new OverloadError()).toMatchObject({ code: 'RESOURCE_EXHAUSTED', retryAfterSeconds: 1 });
  });
});

test('the longest turn is kept, with its name alone', async () => {
  const turns = new Turns();
  expect(turns.longest).toBeNull();
  const { add, all } = recorded(turns);
  void add(user('a'), 'query/short');
  void add(user('a'), 'query/long', 20);
  void add(user('a'), 'query/short');
  await all();
  expect(turns.longest).toMatchObject({ name: 'query/long' });
  turns.charge(user('gone'), 'a transaction', 1000);
  expect(turns.longest).toMatchObject({ name: 'a transaction', ms: 1000 });
});
