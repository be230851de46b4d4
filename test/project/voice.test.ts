import ts from 'typescript';
import { expect, test } from 'vitest';
import { faultsOf, textsOf } from './voice/check.ts';
import { patterns } from './voice/patterns.ts';
import { commentsOf } from './voice/texts.ts';

const comments = (path: string, content: string): string[] =>
  commentsOf(ts.createSourceFile(path, content, ts.ScriptTarget.Latest, true)).map(({ text }) => text);

test.each(patterns)('the pattern "$name" finds its bad example and accepts its good one', (pattern) => {
  const [kind = 'comment'] = pattern.kinds ?? [];
  expect(pattern.phrase.test(pattern.bad)).toBe(true);
  expect(faultsOf({ kind, text: pattern.good })).toEqual([]);
});

test('a pattern of one kind of text leaves the others alone', () => {
  expect(faultsOf({ kind: 'text', text: 'What to expect' })).toEqual([]);
  expect(faultsOf({ kind: 'comment', text: 'What to expect' })).toHaveLength(1);
});

test('comments are found wherever they stand, and line comments below each other are one', () => {
  const content = [
    '// The first line',
    '// goes on here.',
    'const url = "https://nobody.example"; // after code',
    'const pattern = /\\/\\/ whoever/; const text = `// ${url /* in a template */} nobody`;',
    '/** Adds.',
    ' * @returns the sum.',
    ' */',
    'function add(/* inline */ a: number) { return a; // at the end',
    '}',
    '// oxlint-disable-next-line no-console',
  ].join('\n');
  expect(comments('a.ts', content)).toEqual([
    'The first line goes on here.',
    'after code',
    'in a template',
    'Adds. @returns the sum.',
    'inline',
    'at the end',
  ]);
});

test('text of JSX is not a comment, and a comment in JSX is', () => {
  const content = 'const a = <p>https://nobody.example {/* a comment */} // text</p>;';
  expect(comments('a.tsx', content)).toEqual(['a comment']);
});

test.each([
  {
    path: 'main/x.test.ts',
    content: "test('nobody asks', () => { say('nobody'); });",
    found: ['nobody asks'],
  },
  { path: 'main/x.test.ts', content: 'it.each([1])(`nobody ${1} asks`, f);', found: ['nobody … asks'] },
  {
    path: 'main/commands/x.ts',
    content: "option('--all', 'For nobody at all');",
    found: ['For nobody at all'],
  },
  { path: 'main/x.ts', content: "throw new Error('For nobody at all');", found: [] },
  { path: 'renderer/locales/en.json', content: '{\n  "a": "Nobody asks"\n}', found: ['Nobody asks'] },
  {
    path: 'docs/x.md',
    content: '# A title\n\n`nobody` asks\nhere.\n\n    nobody in code\n\n| a |\n|---|\n| b |\n',
    found: ['A title', '`code` asks here.', '| a | |---| | b |'],
  },
])('$path gives $found', ({ path, content, found }) => {
  const texts = textsOf(path, content).map(({ text }) => text);
  expect(texts.filter((text) => text !== '')).toEqual(found);
});
