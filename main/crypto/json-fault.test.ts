import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonFault } from './json-fault.ts';

test.each([
  ['[1, 2', 'line 1, column 6'],
  ['', 'line 1, column 1'],
  ['[{"type": "function",}]', 'line 1, column 22'],
  ['{\n  "name": transfer\n}', 'line 2, column 11'],
  ['[1] 2', 'line 1, column 5'],
  ['[01]', 'line 1, column 3'],
  ['["a\nb"]', 'line 1, column 2'],
  ['{"a" 1}', 'line 1, column 6'],
  ['[}', 'line 1, column 2'],
])('%s ends being JSON at %s', (text, place) => {
  expect(jsonFault(text)).toBe(place);
});

test('it finds a fault wherever the platform does, and nowhere else', () => {
  const edits = fc.array(fc.tuple(fc.nat(200), fc.constantFrom(...Array.from('[]{},:"\\0-.e1tnu \n'))), {
    maxLength: 3,
  });
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 3 }), edits, (value, changes) => {
      const text = changes.reduce(
        (before, [at, put]) => {
          const place = at % (before.length + 1);
          return before.slice(0, place) + put + before.slice(place + (at % 2));
        },
        JSON.stringify(value, null, 1),
      );
      expect(jsonFault(text) === undefined, text).toBe(isJson(text));
    }),
    { numRuns: 2_000 },
  );
});

test('depth and length cost no more than their size', () => {
  expect(jsonFault('['.repeat(400_000))).toBe('line 1, column 400001');
  expect(jsonFault(`"${'a'.repeat(400_000)}`)).toBe('line 1, column 1');
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
