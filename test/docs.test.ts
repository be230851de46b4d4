/** What the README says of compatibility, and what it says it from. */
import { describe, expect, test } from 'vitest';
import { operations } from '../main/operations/index.ts';
import { compatibility, partOf, specified, withCompatibility } from './docs.ts';
import { installedVendorOperations, keptVendorOperations, taken } from './vendor-operations.ts';

describe('the list of the real API’s operations', () => {
  test('is that of the package that is installed (node test/vendor-operations.ts writes it)', () => {
    expect(keptVendorOperations()).toEqual(installedVendorOperations());
  });

  test('has 74 queries and 118 activities, each once', () => {
    const { source, operations: list } = keptVendorOperations();
    expect(source).toMatch(/^@turnkey\/http 6\.6\.0, /);
    expect(new Set(list.map(({ path }) => path)).size).toBe(192);
    expect(list.filter(({ path, type }) => path.startsWith('query/') && type === null)).toHaveLength(74);
    expect(list.filter(({ path, type }) => path.startsWith('submit/') && type !== null)).toHaveLength(118);
  });

  test('falls into what is a vault’s own, what may come, and what stays with the vendor', () => {
    const plans = Map.groupBy(keptVendorOperations().operations, ({ path }) => partOf(path)?.plan ?? 'next');
    expect([...plans].map(([plan, list]) => [plan, list.length]).sort()).toEqual([
      ['later', 39],
      ['never', 63],
      ['next', 90],
    ]);
  });

  test('has every operation of Latchkey’s but its own, and of the newest type that it has', () => {
    const types = new Map(keptVendorOperations().operations.map(({ path, type }) => [path, type]));
    for (const [path, operation] of taken) {
      const newest = operation.kind === 'activity' ? operation.versions[0]?.type : null;
      expect(types.get(path), path).toBe(newest);
    }
  });
});

test('the specification’s twenty operations are there', () => {
  expect(new Set(specified).size).toBe(20);
  expect(specified.filter((path) => !operations.has(path))).toEqual([]);
});

describe('the README', () => {
  const marks = ['<!-- compatibility:start -->\n', '<!-- compatibility:end -->'] as const;

  test('gets everything between its marks, and keeps what is around them', () => {
    const made = withCompatibility(`before\n${marks[0]}old\n${marks[1]}\nafter\n`);
    expect(made).toBe(`before\n${marks[0]}\n${compatibility()}\n${marks[1]}\nafter\n`);
    expect(withCompatibility(made)).toBe(made);
  });

  test.each(['', marks[0], marks[1], `${marks[1]}${marks[0]}`])(
    'must have both marks, in order: %j',
    (text) => {
      expect(() => withCompatibility(text)).toThrow(/^README\.md has no <!-- compatibility:(start|end) -->$/);
    },
  );

  test('has a row for every operation, with its types and a method', () => {
    const rows = compatibility()
      .split('\n')
      .filter((line) => line.startsWith('| ') && line.includes('`'));
    const [, ...body] = rows;
    expect(body).toHaveLength(operations.size);
    expect(body).toContain('|  | `sign_raw_payloads` | `SIGN_RAW_PAYLOADS` | `signRawPayloads` |');
    expect(body.join('\n')).not.toContain('none yet');
    expect(body.filter((row) => row.includes('Latchkey’s own'))).toHaveLength(operations.size - taken.size);
  });
});
