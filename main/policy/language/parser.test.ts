import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from './parser.ts';
import { print } from './printer.ts';
import { comparisons, ExpressionError, iterations, maxDepth, maxInt, minInt, type Node } from './syntax.ts';

/** A tree without its positions. */
const bare = (node: Node): unknown =>
  JSON.parse(
    JSON.stringify(node, (key, value: unknown) => {
      if (key === 'from' || key === 'to' || key === 'nameAt') return undefined;
      return typeof value === 'bigint' ? `${value}n` : value;
    }),
  );

function refusal(source: string): ExpressionError {
  try {
    parse(source);
  } catch (error) {
    if (error instanceof ExpressionError) return error;
    throw error;
  }
  throw new Error(`${source} parses`);
}

describe('what an expression means', () => {
  test.each([
    ['a || b && c', 'a || (b && c)'],
    ['a && b || c', '(a && b) || c'],
    ['a == 1 && b != 2', '(a == 1) && (b != 2)'],
    ['!a == b', '(!a) == b'],
    ['!a.b', '!(a.b)'],
    ['!!a', '!(!a)'],
    ['a in [1] || b', '(a in [1]) || b'],
    ['( a )', 'a'],
    ['x.any(y,y==1)', 'x.any(y, (y == 1))'],
    ['a\n\t.b\r\n [0]', '(a.b)[0]'],
    ['x[-1]', 'x[(-1)]'],
    ['x[1..2][0..1]', '(x[1..2])[0..1]'],
  ])('%s is %s', (source, same) => {
    expect(bare(parse(source))).toEqual(bare(parse(same)));
  });

  test.each([
    '(a || b) && c',
    '(a || b) || c',
    'a || b || c',
    '(a == b) == c',
    '(!a).b',
    '!(a == b)',
    "eth.tx.data[0..10] == '0xa9059cbb'",
    "approvers.filter(u, u.tags.contains('t')).count() >= 2",
    "CronSpan('0 9 * * 1-5', '8h', 'America/New_York')",
    "eth.eip_712.message['permitted'].all(p, p['token'] in ['0x1', '0x2'])",
    '[]',
    '[[1, -2], []]',
    "'a\"b\\c'",
    '115792089237316195423570985008687907853269984665640564039457584007913129639935',
    'in_flight.internal == true_ish',
  ])('%s is printed as it is written', (source) => {
    expect(print(parse(source))).toBe(source);
  });
});

describe('what does not parse', () => {
  test.each([
    ['', 1, 1, undefined, 'a value'],
    ['a &&', 1, 5, undefined, 'a value'],
    ['a b', 1, 3, 'b', 'an operator or the end'],
    ['a == ', 1, 6, undefined, 'a value'],
    ['a = 1', 1, 3, '=', '"=="'],
    ['a & b', 1, 3, '&', '"&&"'],
    ['a | b', 1, 3, '|', '"||"'],
    ['a + 1', 1, 3, '+', 'a comparison'],
    ['a == "x"', 1, 6, '"', "a text in '…'"],
    ["a == 'x", 1, 6, "'x", "a text that ends with a '"],
    ['a ==\n  b c', 2, 5, 'c', 'an operator or the end'],
    ['a\r\n&& )', 2, 4, ')', 'a value'],
    ['a == b == c', 1, 8, '==', '"&&", "||" or the end'],
    ['1.5 < a', 1, 1, '1.5', 'a whole decimal number'],
    ['0x10 < a', 1, 1, '0x10', 'a whole decimal number'],
    ['1_000 < a', 1, 1, '1_000', 'a whole decimal number'],
    ['1e18 < a', 1, 1, '1e18', 'a whole decimal number'],
    [`a < ${maxInt + 1n}`, 1, 5, String(maxInt + 1n), 'a number below 2^256'],
    [`a < ${'9'.repeat(5000)}`, 1, 5, '9'.repeat(5000), 'a number below 2^256'],
    [`a < ${minInt - 1n}`, 1, 5, String(minInt - 1n), 'a number from -2^127'],
    ['-a', 1, 2, 'a', 'a number'],
    ['(a', 1, 3, undefined, 'an operator or ")"'],
    ['[1, 2', 1, 6, undefined, '"," or "]"'],
    ['[1, ]', 1, 5, ']', 'a value'],
    ['[1; 2]', 1, 3, ';', 'a name, a number, a text in single quotes or an operator'],
    ['x[', 1, 3, undefined, 'a value'],
    ['x[1', 1, 4, undefined, '"]" or ".."'],
    ['x[..2]', 1, 3, '..', 'a value'],
    ['x[1..]', 1, 6, ']', 'a value'],
    ['x.', 1, 3, undefined, 'the name of a field or method'],
    ["x.'a'", 1, 3, "'a'", 'the name of a field or method'],
    ['x.any()', 1, 7, ')', 'a name for the element, as in .any(x, …)'],
    ['x.any(true, true)', 1, 7, 'true', 'a name for the element, as in .any(x, …)'],
    ['x.any(y)', 1, 8, ')', '"," and what to say of each element'],
    ['x.any(y, )', 1, 10, ')', 'a value'],
    ['x.any(y, z, w)', 1, 11, ',', 'an operator or ")"'],
    ['in [1]', 1, 1, 'in', 'a value'],
    ['a # b', 1, 3, '#', 'a name, a number, a text in single quotes or an operator'],
    ['a 😀', 1, 3, '😀', 'a name, a number, a text in single quotes or an operator'],
    ['a and b', 1, 3, 'and', 'an operator or the end'],
    ['true()', 1, 5, '(', 'an operator or the end'],
  ])('%j: line %i, column %i, found %j, expected %s', (source, line, column, found, expected) => {
    const error = refusal(source);
    expect([error.line, error.column, error.found, error.expected]).toEqual([line, column, found, expected]);
    const lines = source.split('\n').slice(0, line - 1);
    expect(error.at.from).toBe(lines.reduce((sum, { length }) => sum + length + 1, 0) + column - 1);
    expect(error.message).toContain(`line ${line}, column ${column}: expected ${expected}, found `);
    expect(error.message.length).toBeLessThan(300);
  });

  test('tells what to write instead', () => {
    expect(refusal('a AND b').message).toBe(
      'line 1, column 3: expected an operator or the end, found "AND" (write "&&")',
    );
    expect(refusal('a == “x”').message).toContain('found "“"');
  });

  test.each([
    ['parentheses', (depth: number) => `${'('.repeat(depth)}a${')'.repeat(depth)}`],
    ['lists', (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`],
    ['negations', (depth: number) => `${'!'.repeat(depth)}a`],
    ['indexes', (depth: number) => `a${'[0]'.repeat(depth)}`],
    ['fields', (depth: number) => `a${'.b'.repeat(depth)}`],
    ['calls', (depth: number) => `${'f('.repeat(depth)}a${')'.repeat(depth)}`],
    ['iterations', (depth: number) => `${'x.any(y, '.repeat(depth)}a${')'.repeat(depth)}`],
  ])('bounds the depth of %s', (_, nest) => {
    expect(() => parse(nest(maxDepth - 4))).not.toThrow();
    expect(refusal(nest(maxDepth + 1)).expected).toBe(`at most ${maxDepth} levels`);
    expect(refusal(nest(5_000)).expected).toBe(`at most ${maxDepth} levels`);
  });

  test('bounds the length, and takes a chain that long', () => {
    expect(refusal(`${'a||'.repeat(30_000)}a`).expected).toBe('at most 65536 characters');
    const chain = parse(`${'a||'.repeat(20_000)}a`);
    expect(chain.kind === 'logic' && chain.operands.length).toBe(20_001);
  });
});

const identifier = fc
  .stringMatching(/^[a-z_][a-z0-9_]{0,6}$/)
  .filter((name) => !['true', 'false', 'in'].includes(name) && !iterations.some((known) => known === name));
const at = { from: 0, to: 0 };
const place = { ...at, nameAt: at };

const trees = fc.letrec<{ node: Node }>((tie) => {
  const node = tie('node');
  const nodes = fc.array(node, { maxLength: 3 });
  return {
    node: fc.oneof(
      { maxDepth: 6 },
      fc
        .record({ kind: fc.constant('int' as const), value: fc.bigInt(minInt, maxInt) })
        .map((n) => ({ ...n, ...at })),
      fc.record({ kind: fc.constant('bool' as const), value: fc.boolean() }).map((n) => ({ ...n, ...at })),
      fc
        .record({ kind: fc.constant('text' as const), value: fc.string().map((s) => s.replaceAll("'", '')) })
        .map((n) => ({ ...n, ...at })),
      fc.record({ kind: fc.constant('name' as const), name: identifier }).map((n) => ({ ...n, ...at })),
      fc.record({ kind: fc.constant('list' as const), items: nodes }).map((n) => ({ ...n, ...at })),
      fc
        .record({ kind: fc.constant('field' as const), of: node, name: identifier })
        .map((n) => ({ ...n, ...place })),
      fc.record({ kind: fc.constant('index' as const), of: node, index: node }).map((n) => ({ ...n, ...at })),
      fc
        .record({ kind: fc.constant('slice' as const), of: node, start: node, end: node })
        .map((n) => ({ ...n, ...at })),
      fc
        .record({ kind: fc.constant('method' as const), of: node, name: identifier, args: nodes })
        .map((n) => ({ ...n, ...place })),
      fc
        .record({
          kind: fc.constant('each' as const),
          of: node,
          name: fc.constantFrom(...iterations),
          variable: identifier,
          body: node,
        })
        .map((n) => ({ ...n, ...at })),
      fc
        .record({ kind: fc.constant('call' as const), name: identifier, args: nodes })
        .map((n) => ({ ...n, ...place })),
      fc.record({ kind: fc.constant('not' as const), of: node }).map((n) => ({ ...n, ...at })),
      fc
        .record({
          kind: fc.constant('compare' as const),
          operator: fc.constantFrom(...comparisons),
          left: node,
          right: node,
        })
        .map((n) => ({ ...n, ...at })),
      fc
        .record({
          kind: fc.constant('logic' as const),
          operator: fc.constantFrom('&&' as const, '||' as const),
          operands: fc.array(node, { minLength: 2, maxLength: 4 }),
        })
        .map((n) => ({ ...n, ...at })),
    ),
  };
});

describe('for any input', () => {
  test('a printed tree parses to itself', () => {
    fc.assert(
      fc.property(trees.node, (tree) => {
        expect(bare(parse(print(tree)))).toEqual(bare(tree));
      }),
      { numRuns: 1_000 },
    );
  });

  test('the text of a node, taken from the source, parses to that node', () => {
    const check = (source: string, node: Node): void => {
      expect(bare(parse(source.slice(node.from, node.to)))).toEqual(bare(node));
      for (const child of Object.values(node).flat() as unknown[]) {
        if (typeof child === 'object' && child !== null && 'kind' in child) check(source, child as Node);
      }
    };
    fc.assert(
      fc.property(trees.node, (tree) => {
        const source = print(tree);
        check(source, parse(source));
      }),
      { numRuns: 200 },
    );
  });

  const words = fc.constantFrom(
    ...[
      'a',
      'eth.tx',
      "'x'",
      '1',
      '(',
      ')',
      '[',
      ']',
      '..',
      '.',
      ',',
      '&&',
      '||',
      '!',
      '==',
      'in',
      'any',
      '-',
      "'",
    ],
  );
  test.each([
    ['any text', fc.string({ unit: 'binary', maxLength: 60 })],
    ['any words of the language', fc.array(words, { maxLength: 30 }).map((parts) => parts.join(' '))],
    [
      'any words of the language, run together',
      fc.array(words, { maxLength: 30 }).map((parts) => parts.join('')),
    ],
  ])('%s parses, or is refused with a position in it', (_, sources) => {
    fc.assert(
      fc.property(sources, (source) => {
        try {
          expect(bare(parse(print(parse(source))))).toEqual(bare(parse(source)));
        } catch (error) {
          if (!(error instanceof ExpressionError)) throw error;
          expect(error.at.from).toBeLessThanOrEqual(source.length);
          expect(error.found === undefined).toBe(error.at.from === source.length);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
