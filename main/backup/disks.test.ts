import { expect, test, vi } from 'vitest';
import { Disks } from './disks.ts';

const answer = { code: 'UNAVAILABLE' };
const limitMs = 20;
const soon = { limitMs };

/** A call that returns on demand. */
function hanging<T>(value: T) {
  const { promise, resolve } = Promise.withResolvers<T>();
  const begun = vi.fn(() => promise);
  return {
    begun,
    comeBack: () => {
      resolve(value);
    },
  };
}

test('gives what the work gives, or its error, in turn for a directory', async () => {
  const disks = new Disks();
  const order: string[] = [];
  const step = (name: string) => async () => {
    order.push(`${name} begins`);
    await Promise.resolve();
    order.push(`${name} ends`);
    return name;
  };
  const all = [disks.run('/a', step('one')), disks.run('/a', step('two'))];
  expect(await Promise.all(all)).toEqual(['one', 'two']);
  expect(order).toEqual(['one begins', 'one ends', 'two begins', 'two ends']);
  await expect(disks.run('/a', () => Promise.reject(new Error('no such file')))).rejects.toThrow(
    'no such file',
  );
  expect(await disks.run('/a', step('three'))).toBe('three');
});

test('a disk that does not answer holds one call, and refuses the others in time; other disks go on', async () => {
  const disks = new Disks();
  const first = hanging('first');
  const second = hanging('second');
  const discard = vi.fn();
  await expect(disks.run('/gone', first.begun, { ...soon, discard })).rejects.toMatchObject({
    ...answer,
    message:
      'the disk of /gone does not answer: see that the drive or the network share is connected, and try again',
  });
  await expect(disks.run('/gone', second.begun, soon)).rejects.toMatchObject(answer);
  expect(await disks.run('/here', () => Promise.resolve('here'), soon)).toBe('here');
  expect(first.begun).toHaveBeenCalledOnce();
  // One thread waits for it, and no second one.
  expect(second.begun).not.toHaveBeenCalled();
  first.comeBack();
  expect(await disks.run('/gone', () => Promise.resolve('back'))).toBe('back');
  expect(discard.mock.calls).toEqual([['first']]);
  expect(second.begun).not.toHaveBeenCalled();
});

test('however often it is asked, few wait for a disk that does not answer', async () => {
  const disks = new Disks();
  const call = hanging('late');
  const asked = Array.from({ length: 1000 }, () => disks.run('/gone', call.begun, { limitMs: 60_000 }));
  const refused = await Promise.allSettled(asked.slice(20));
  expect(refused.every(({ status }) => status === 'rejected')).toBe(true);
  call.comeBack();
  expect(await Promise.all(asked.slice(0, 20))).toEqual(Array.from({ length: 20 }, () => 'late'));
});
