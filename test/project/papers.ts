// Checks that the papers name existing things: each path and each name of the code in backticks, and each
// link to a file. Comments of the code may name a file by the end of its path.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const projectRoot = join(import.meta.dirname, '../..');

/** A path from the root of the project. `<name>` and `*` stand for any name. */
const path = /^(main|preload|renderer|test|docs|\.github|\.ci|\.vscode)\/[\w./<>*@-]*$/;
const file = /^[\w./<>*-]+\.(ts|tsx|mjs)$/;
/** Output of a build or a test. */
const generated = /^(dist|test\/output)\//;

/** `camelCase`, also of a member or a call: `UnitOfWork.write`, `startVault()`. */
const name = /^[A-Za-z]\w*(\.[a-z]\w*)*(\(\))?$/;
const isCamelCase = (word: string): boolean => /[a-z\d][A-Z]/.test(word);

interface Source {
  /** From the root of the project. */
  readonly path: string;
  readonly text: string;
}

/** The existing names and paths. */
export interface Code {
  readonly paths: readonly string[];
  readonly names: ReadonlySet<string>;
}

/** @returns a sentence about each thing that a paper names and that is not there. */
export function missingInPaper(paper: Source, { names }: Code): string[] {
  const prose = paper.text.replaceAll(/^(```+)[^]*?^\1$/gm, '');
  const quoted = quotedIn(prose);
  const links = [...prose.matchAll(/\]\(([^()\s#]+)(#[^()\s]*)?\)/g)].map(([, target = '']) => target);
  const words = quoted
    .filter((token) => name.test(token))
    .flatMap((token) => token.replace('()', '').split('.'))
    .filter(isCamelCase);
  return sentences(paper, [
    ...quoted.filter((token) => (path.test(token) || file.test(token)) && !isThere(token)),
    ...links.filter((target) => !/^[a-z]+:/.test(target) && !isThere(join(dirname(paper.path), target))),
    ...words.filter((word) => !names.has(word)),
  ]);
}

/** @returns a sentence about each file that a comment names and that is not there. */
export function missingInComments(source: Source, { paths }: Code): string[] {
  const comments = source.text.match(/^\s*(\/\/|\/\*\*|\*).*$/gm) ?? [];
  const files = quotedIn(comments.join('\n')).filter((token) => file.test(token) && !/[<*]/.test(token));
  return sentences(
    source,
    files.filter((token) => !paths.some((each) => `/${each}`.endsWith(`/${token}`))),
  );
}

const quotedIn = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, token = '']) => token);

const sentences = ({ path }: Source, missing: readonly string[]): string[] =>
  missing.map((token) => `${path} names ${token}, which is not there`);

function isThere(token: string): boolean {
  if (generated.test(token)) return true;
  const pattern = token.replaceAll(/<[\w-]+>/g, '*');
  return pattern.includes('*')
    ? globSync(pattern, { cwd: projectRoot }).length > 0
    : existsSync(join(projectRoot, pattern));
}

const read = (patterns: string[]): Source[] =>
  globSync(patterns, { cwd: projectRoot, exclude: ['node_modules/**', 'test/output/**'] })
    .sort()
    .map((found) => ({
      path: found.replaceAll('\\', '/'),
      text: readFileSync(join(projectRoot, found), 'utf8'),
    }));

/** @returns what is missing in all papers and comments. */
export function missingInProject(): string[] {
  const sources = read(['{main,preload,renderer,test}/**/*.{ts,tsx,mjs}']);
  const settings = read(['*.{ts,js,mjs,json,yml}']);
  const code: Code = {
    paths: [...sources, ...settings].map((source) => source.path),
    names: new Set([...sources, ...settings].flatMap(({ text }) => text.match(/\w+/g) ?? [])),
  };
  const papers = read(['*.md', '{.github,docs,main,preload,renderer,test}/**/*.md']);
  return [
    ...papers.flatMap((paper) => missingInPaper(paper, code)),
    ...sources.flatMap((source) => missingInComments(source, code)),
  ];
}
