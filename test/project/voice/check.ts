// `npm run check:voice`: finds phrases of `patterns.ts` in comments, names of tests, texts of the command and the window, and Markdown.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { patterns, type Kind } from './patterns.ts';
import { commentsOf, localeTextsOf, markdownTextsOf, sentencesOf, testNamesOf, type Text } from './texts.ts';

const projectRoot = join(import.meta.dirname, '../../..');

/** These hold the phrases as data. */
const examples = new Set(['test/project/voice/patterns.ts']);

/** @returns a sentence for each pattern that a text matches. */
export function faultsOf({ kind, text }: { readonly kind: Kind; readonly text: string }): string[] {
  return patterns
    .filter(({ phrase, kinds }) => kinds?.includes(kind) !== false && phrase.test(text))
    .map(({ phrase, name, instead }) => {
      const found = phrase.exec(text)?.[0] ?? name;
      return `"${found}" in a ${kind}: ${instead}. It reads: ${text.length > 160 ? `${text.slice(0, 160)}…` : text}`;
    });
}

/** @returns the texts of one file for people, by the kind of the file. */
export function textsOf(path: string, content: string): Text[] {
  if (path.endsWith('.md')) return markdownTextsOf(content);
  if (path.endsWith('.json')) return localeTextsOf(content);
  const source = ts.createSourceFile(path, content, ts.ScriptTarget.Latest, true);
  const isTest = path.includes('.test.');
  const isCommand = /^main\/(commands\/|cli\.ts)/.test(path) && !isTest;
  return [
    ...(examples.has(path) ? [] : commentsOf(source)),
    ...(isTest ? testNamesOf(source) : []),
    ...(isCommand ? sentencesOf(source) : []),
  ];
}

const isIn = (path: string, prefix: string): boolean => path === prefix || path.startsWith(`${prefix}/`);

/**
 * @param prefixes Files and folders; without any, the whole project.
 * @returns a line for each fault, as `path:line: sentence`.
 */
export function faultsIn(prefixes: readonly string[]): string[] {
  return globSync(
    [
      '*.md',
      '*.{js,mjs,ts}',
      '{.github,docs,main,preload,renderer,test}/**/*.{js,md,mjs,ts,tsx}',
      'renderer/locales/en.json',
    ],
    { cwd: projectRoot, exclude: ['test/output/**', '**/node_modules/**'] },
  )
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => prefixes.length === 0 || prefixes.some((prefix) => isIn(path, prefix)))
    .sort()
    .flatMap((path) =>
      textsOf(path, readFileSync(join(projectRoot, path), 'utf8')).flatMap((text) =>
        faultsOf(text).map((fault) => `${path}:${text.line}: ${fault}`),
      ),
    );
}

if (import.meta.main) {
  const named = process.argv.slice(2);
  const faults = faultsIn(named);
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) process.exitCode = 1;
}
