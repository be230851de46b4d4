import { expect, test } from 'vitest';
import { atLength } from '../campaigns/length.ts';
import { violationsOf } from './law.ts';
import { solanaLaw } from './solana-law.ts';

const options = { ...solanaLaw, reads: 1500, tries: 40_000, seed: 15 };

test('transactions that are shown alike, or give policies the same facts, do the same', () => {
  const reads = atLength(600, options.reads);
  const { violations, read } = violationsOf({ ...options, reads });
  expect(violations).toEqual([]);
  expect(read).toBe(reads);
});

/** Data is read by its program or shown as it is: neither part of a description may be missing. */
test.each(['Account 2', 'Data', 'Lamports', 'Bytes after the end'])(
  'the law is broken by a description without %s',
  (label) => {
    const { violations } = violationsOf({
      ...options,
      read(payload) {
        const reading = solanaLaw.read(payload);
        if (reading === undefined) return undefined;
        const { description } = reading;
        const parts = description.parts.map((part) => ({
          title: '',
          lines: part.lines.filter((line) => !line.label.startsWith(label)),
        }));
        const lines = description.lines.filter((line) => line.label.startsWith('Account'));
        return { facts: undefined, description: { ...description, title: '', lines, parts, warnings: [] } };
      },
    });
    expect(violations[0]).toContain('the same description of different effects');
  },
);
