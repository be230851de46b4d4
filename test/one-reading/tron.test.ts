import { expect, test } from 'vitest';
import { atLength } from '../campaigns/length.ts';
import { violationsOf } from './law.ts';
import { tronLaw } from './tron-law.ts';

const options = { ...tronLaw, reads: 3000, tries: 40_000, seed: 15 };

test('transactions that are shown alike, or give policies the same facts, do the same', () => {
  const reads = atLength(600, options.reads);
  const { violations, read } = violationsOf({ ...options, reads });
  expect(violations).toEqual([]);
  expect(read).toBe(reads);
});

test.each(['Amount', 'Signed by permission', 'Actives 1: Operations'])(
  'the law is broken by a description without %s',
  (label) => {
    const { violations } = violationsOf({
      ...options,
      read(payload) {
        const reading = tronLaw.read(payload);
        if (reading === undefined) return undefined;
        const { description } = reading;
        const parts = description.parts.map((part) => ({
          title: '',
          lines: part.lines.filter((line) => line.label !== label),
        }));
        return {
          facts: undefined,
          description: { ...description, title: '', lines: [], parts, warnings: [] },
        };
      },
    });
    expect(violations[0]).toContain('the same description of different effects');
  },
);
