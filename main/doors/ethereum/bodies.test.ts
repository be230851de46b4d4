import { expect, test } from 'vitest';
import { answerBody } from './bodies.ts';

test('the answers of a batch are bounded together: calls beyond are refused, and not made', async () => {
  const large = 'x'.repeat(4 * 1024 * 1024);
  let made = 0;
  const run = (): Promise<string> => {
    made += 1;
    return Promise.resolve(large);
  };
  const calls = Array.from({ length: 100 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'eth_call' }));
  const faults: unknown[] = [];
  const text = await answerBody(Buffer.from(JSON.stringify(calls)), run, (fault) => faults.push(fault));
  const answers = JSON.parse(text ?? '') as readonly {
    id: number;
    result?: string;
    error?: { code: number };
  }[];
  expect(answers.map(({ id }) => id)).toEqual(calls.map(({ id }) => id));
  expect(made).toBeLessThan(10);
  expect(answers.filter(({ result }) => result === large)).toHaveLength(made);
  expect(answers.at(-1)?.error?.code).toBe(-32005);
  expect(text?.length).toBeLessThan(40 * 1024 * 1024);
  expect(faults).toEqual([]);
});

test.each([
  [1, 1],
  ['a', 'a'],
  [null, null],
])('two calls of a batch with the ids %j and %j are not made: one answer would fit both', async (...ids) => {
  let made = 0;
  const run = (): Promise<string> => Promise.resolve(String((made += 1)));
  const calls = ids.map((id) => ({ jsonrpc: '2.0', id, method: 'eth_sendTransaction' }));
  const text = await answerBody(Buffer.from(JSON.stringify(calls)), run, () => undefined);
  expect(JSON.parse(text ?? '')).toMatchObject({ id: null, error: { code: -32600 } });
  expect(made).toBe(0);
});

test('one call of a batch may have null as its id', async () => {
  const calls = [null, 0].map((id) => ({ jsonrpc: '2.0', id, method: 'eth_chainId' }));
  const run = (): Promise<string> => Promise.resolve('0x1');
  const text = await answerBody(Buffer.from(JSON.stringify(calls)), run, () => undefined);
  expect(JSON.parse(text ?? '')).toMatchObject([{ id: null, result: '0x1' }, { id: 0 }]);
});
