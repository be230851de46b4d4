/** JSON that is read one way. The class: an object with a name twice, which readers understand differently. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJson } from './json.ts';

const read = (text: string) => () => parseJson('body', text);
const twice = 'invalid body: expected each name once in a JSON object, got one twice';

describe('a name that stands twice in an object', () => {
  test.each([
    '{"to":1,"to":1}',
    '{"to":1,"\\u0074o":2}',
    '{"a":{"b":[{"c":1,"d":{},"c":2}]}}',
    '[{"":1 ,"" \n:2}]',
    '{"__proto__":1,"__proto__":2}',
    '{"\\"":1,"\\"":2}',
    '{"a\\\\":"}","a\\\\":"{"}',
  ])('is refused: %s', (text) => {
    expect(read(text)).toThrow(twice);
  });

  test.each([
    '{"a":"a","b":"a"}',
    '[{"a":1},{"a":2}]',
    '{"a":{"a":{"a":[]}}}',
    '["a","a"]',
    '{"a":"\\"a\\":1","b":"{\\"b\\":"}',
    '"a"',
    '{"A":1,"a":2}',
  ])('is not seen where it stands once: %s', (text) => {
    expect(read(text)()).toEqual(JSON.parse(text));
  });

  test('is found in any JSON, and only there', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), fc.nat(4), (object, spaces) => {
        const text = JSON.stringify(object, undefined, spaces);
        expect(read(text)).not.toThrow();
        const [name = ''] = Object.keys(object);
        const other = `{${JSON.stringify(name)}:0,${text.trim().slice(1)}`;
        expect(read(other)).toThrow(twice);
      }),
      { numRuns: 2000, seed: 24 },
    );
  });
});
