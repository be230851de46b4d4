import { expect, test } from 'vitest';
import { explain } from './explain.ts';
import type { Facts } from '../decide/facts.ts';

const facts: Facts = {
  approvers: [
    { userId: 'ada', root: false, tags: ['ops'] },
    { userId: 'bob', root: false },
  ],
  rootQuorumThreshold: 1,
  items: [{ 'eth.tx': () => ({ to: '0xAB', value: 10n ** 20n }) }],
};

test('an explanation gives each part its value and place', () => {
  const source = "eth.tx.to in ['0xab'] && (eth.tx.value < 5 || wallet.id == 'w')";
  const { value, fault, parts } = explain(source, 'condition', facts);
  expect(value).toBeUndefined();
  expect(fault).toEqual({
    kind: 'missing',
    message: 'this activity has no wallet',
    at: { from: 46, to: 52 },
  });
  expect(parts.map(({ text, values }) => [text, ...values])).toEqual([
    [source, 'error'],
    ["eth.tx.to in ['0xab']", 'true'],
    ['eth.tx.to', "'0xab'"],
    ['eth.tx', "{ to: '0xAB', value: 100000000000000000000 }"],
    ["['0xab']", "['0xab']"],
    ["(eth.tx.value < 5 || wallet.id == 'w')", 'error'],
    ['eth.tx.value < 5', 'false'],
    ['eth.tx.value', '100000000000000000000'],
    ['eth.tx', "{ to: '0xAB', value: 100000000000000000000 }"],
    ["wallet.id == 'w'", 'error'],
    ['wallet.id', 'error'],
    ['wallet', 'error'],
  ]);
  for (const { from, to, text } of parts) expect(source.slice(from, to)).toBe(text);
});

test('a part that is asked of each element has a value for each', () => {
  const { value, parts } = explain("approvers.any(u, u.tags.contains('ops'))", 'consensus', facts);
  expect(value).toBe(true);
  expect(parts.find(({ text }) => text === "u.tags.contains('ops')")).toMatchObject({
    values: ['true', 'false'],
    times: 2,
  });
});

test('what is shown is bounded', () => {
  const keys = Array.from({ length: 1_000 }, () => 'k'.repeat(1_000));
  const { parts } = explain("solana.tx.account_keys.all(k, k == 'x')", 'condition', {
    ...facts,
    items: [{ 'solana.tx': () => ({ account_keys: keys }) }],
  });
  expect(parts.find(({ text }) => text === 'k')).toMatchObject({ times: 1_000 });
  for (const { values } of parts) {
    expect(values.length).toBeLessThanOrEqual(20);
    for (const shown of values) expect(shown.length).toBeLessThanOrEqual(200);
  }
});

test('of a long expression, as many parts are shown as a person reads, and each with its beginning', () => {
  const source = Array(3000).fill("eth.tx.to == 'a'").join(' || ');
  const { parts, leftOut } = explain(source, 'condition', facts);
  expect(parts).toHaveLength(200);
  // The whole, and of each comparison itself, the field, and what has it.
  expect(leftOut).toBe(1 + 3 * 3000 - 200);
  for (const { text } of parts) expect(text.length).toBeLessThanOrEqual(1000);
});
