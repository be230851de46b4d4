/** The page about compatibility, its sources, and what the papers name. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { operations } from '../../main/operations/index.ts';
import { compatibility, partOf, specified, withWritten, writtenParts } from './docs.ts';
import { missingInComments, missingInPaper, missingInProject } from './papers.ts';
import { installedVendorOperations, keptVendorOperations, taken } from '../vendor/vendor-operations.ts';

describe('the list of the real API’s operations', () => {
  test('is that of the package that is installed (node test/vendor/vendor-operations.ts writes it)', () => {
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
      ['later', 31],
      ['never', 63],
      ['next', 98],
    ]);
  });

  test('has every operation of Keyhearth’s but its own, and of the newest type that it has', () => {
    const types = new Map(keptVendorOperations().operations.map(({ path, type }) => [path, type]));
    for (const [path, operation] of taken) {
      const newest = operation.kind === 'activity' ? operation.versions[0]?.type : null;
      expect(types.get(path), path).toBe(newest);
    }
  });
});

test('the specification’s twenty operations are there', () => {
  expect(new Set(specified).size).toBe(20);
  expect(specified.filter((path) => !operations.byPath.has(path))).toEqual([]);
});

describe.each(writtenParts)('what is written into $paper', (part) => {
  const marks = [`<!-- ${part.mark}:start -->\n`, `<!-- ${part.mark}:end -->`] as const;

  test('gets everything between its marks, and keeps what is around them', () => {
    const made = withWritten(`before\n${marks[0]}old\n${marks[1]}\nafter\n`, part);
    expect(made).toBe(`before\n${marks[0]}\n${part.content()}\n${marks[1]}\nafter\n`);
    expect(withWritten(made, part)).toBe(made);
  });

  test.each(['', marks[0], marks[1], `${marks[1]}${marks[0]}`])(
    'must have both marks, in order: %j',
    (text) => {
      const missing = new RegExp(`^${part.paper} has no <!-- ${part.mark}:(start|end) -->$`);
      expect(() => withWritten(text, part)).toThrow(missing);
    },
  );
});

describe('the page about compatibility', () => {
  test('has a row for every operation, with its types and a method', () => {
    const rows = compatibility()
      .split('\n')
      .filter((line) => line.startsWith('| ') && line.includes('`'));
    const [, ...body] = rows;
    expect(body).toHaveLength(operations.byPath.size);
    expect(body).toContain('|  | `sign_raw_payloads` | `SIGN_RAW_PAYLOADS` | `signRawPayloads` |');
    expect(body.join('\n')).not.toContain('none yet');
    expect(body.filter((row) => row.includes('Keyhearth’s own'))).toHaveLength(
      operations.byPath.size - taken.size,
    );
  });
});

describe('the papers', () => {
  const code = { paths: ['main/auth/schemes.ts'], names: new Set(['UnitOfWork', 'write', 'startVault']) };
  const missing = (text: string): string[] => missingInPaper({ path: 'docs/paper.md', text }, code);
  const comment = (text: string): string[] => missingInComments({ path: 'main/file.ts', text }, code);

  test('name what is there, as the comments do', () => {
    expect(missingInProject()).toEqual([]);
  });

  test.each([
    '`main/auth/schemes.ts`, `main/auth/` and `package.json`',
    '`main/chains/<chain>/read.ts` and `main/*/`',
    '`UnitOfWork.write`, `startVault()` and `write`',
    '`dist/standalone/verify-log.mjs`',
    '[a decision](../README.md#start) and [a page](https://example.com/none.md)',
    '`a span that a line\nbreaks`, then `main/auth/`',
    '```\nmain/none.ts `main/none.ts`\n```',
  ])('may say %j', (text) => {
    expect(missing(text)).toEqual([]);
  });

  test.each([
    ['`main/auth/none.ts`', 'main/auth/none.ts'],
    ['`main/none/`', 'main/none/'],
    ['`auth/schemes.ts`', 'auth/schemes.ts'],
    ['`schemes.ts`', 'schemes.ts'],
    ['`main/none/<chain>.ts`', 'main/none/<chain>.ts'],
    ['`stopVault()`', 'stopVault'],
    ['`UnitOfWork.writeLater`', 'writeLater'],
    ['[a decision](README.txt)', 'README.txt'],
    ['```\ncode\n```\n`main/none.ts`', 'main/none.ts'],
  ])('may not say %j', (text, named) => {
    expect(missing(text)).toEqual([`docs/paper.md names ${named}, which is not there`]);
  });

  // The class: a promise without a test. The tables with the column are those of attackers that something keeps out.
  test('name a test in each row of the threat model', () => {
    const text = readFileSync(join(import.meta.dirname, '../../docs/threat-model.md'), 'utf8');
    const tables = text.split(/\n{2,}/).filter((block) => block.startsWith('| who |'));
    const shown = tables.filter((table) => table.includes('| shown by |'));
    expect(tables.length - shown.length, 'tables of what is not defended against').toBe(1);
    const rows = shown.flatMap((table) => table.split('\n').slice(2));
    expect(rows.length).toBeGreaterThan(28);
    const tested = /\| (`(test|main|renderer)\/[\w./-]+(\.test\.tsx?|\/)`(, )?)+ \|$/;
    expect(rows.filter((row) => !tested.test(row))).toEqual([]);
  });

  test('say on one screen how to report a weakness', () => {
    const text = readFileSync(join(import.meta.dirname, '../../SECURITY.md'), 'utf8');
    expect(text.split('\n').length).toBeLessThanOrEqual(60);
  });

  test('list every decision, in order and by its title', () => {
    const directory = join(import.meta.dirname, '../../docs/decisions');
    const records = readdirSync(directory)
      .filter((name) => name !== 'README.md')
      .sort();
    // Numbers may be missing: records that are written at the same time have theirs from the start.
    expect(new Set(records.map((name) => name.slice(0, 4))).size).toBe(records.length);
    const rows = records.map((name) => {
      const number = name.slice(0, 4);
      const [title = ''] = readFileSync(join(directory, name), 'utf8').split('\n');
      expect(title, name).toMatch(new RegExp(`^# ${number}\\. .+`));
      return `| [${number}](${name}) | ${title.slice(8)} |`;
    });
    expect(rows.length).toBeGreaterThan(40);
    const index = readFileSync(join(directory, 'README.md'), 'utf8').split('\n');
    expect(index.filter((line) => line.startsWith('| ['))).toEqual(rows);
  });

  // The class: a paper lists what a script runs, and the script has changed since.
  test('the table of checks names those that `npm run check` runs', () => {
    const root = join(import.meta.dirname, '../..');
    const [, listed = ''] =
      /^const checks = \[(.*)\];$/m.exec(readFileSync(join(root, 'test/project/check.ts'), 'utf8')) ?? [];
    const table = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')
      .split('## Checks')[1]
      ?.split('\n## ')[0];
    const rows = [...(table ?? '').matchAll(/^\| `(\w+)` \|/gm)].map(([, name = '']) => name);
    expect(rows.toSorted()).toEqual([...listed.matchAll(/\w+/g)].map(([name]) => name).toSorted());
    expect(rows).toContain('lint');
  });

  test('a comment names a file by the end of its path', () => {
    expect(comment('// As `auth/schemes.ts` says.\n/** `schemes.ts` */\n')).toEqual([]);
    expect(comment('  // As `keys/schemes.ts` says.\nconst code = `none.ts`;\n')).toEqual([
      'main/file.ts names keys/schemes.ts, which is not there',
    ]);
  });
});
