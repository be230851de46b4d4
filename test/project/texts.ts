// `npm run texts`: gathers what the window says in renderer/locales/en.json, for translators and the pseudo-locale, from the
// calls of t() and <Trans> in renderer/, and from the titles of the operations, which go to main/lib/text/activity-titles.json
// too. Forms of numbers stand in numbers.json, written by people: what is missing there is proposed. `--check` only compares.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { doorKinds } from '../../main/lib/policies/doors.ts';
import { kindOf } from '../../main/lib/text/activity-types.ts';
import { operations } from '../../main/operations/index.ts';

const projectRoot = join(import.meta.dirname, '../..');
const renderer = join(projectRoot, 'renderer');
/** Written, and read for the forms that people gave. */
const numbersFile = 'renderer/locales/numbers.json';

interface Found {
  readonly text: string;
  readonly counted: boolean;
  readonly where: string;
}

/**
 * @returns the texts of one file; a text that is not a plain literal is a problem, since translators could
 * not see it.
 */
function textsOf(path: string, problems: string[]): Found[] {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  const found: Found[] = [];
  const add = (node: ts.Node, text: ts.Node | undefined, counted: boolean): void => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart());
    const where = `${relative(projectRoot, path)}:${line + 1}`;
    if (text !== undefined && ts.isStringLiteralLike(text)) found.push({ text: text.text, counted, where });
    else problems.push(`${where}: the text of t() or <Trans> must be written there, in full`);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && node.expression.getText() === 't') {
      const [text, values] = node.arguments;
      // These are gathered below.
      if (/^(?:activityTitle\(|kind\.words\b)/.test(text?.getText() ?? '')) return;
      add(node, text, values !== undefined && hasCount(values));
    } else if (
      (ts.isJsxSelfClosingElement(node) || ts.isJsxOpeningElement(node)) &&
      node.tagName.getText() === 'Trans'
    ) {
      const attribute = (name: string): ts.Node | undefined => {
        const at = node.attributes.properties.find((each) => each.name?.getText() === name);
        if (at === undefined || !ts.isJsxAttribute(at) || at.initializer === undefined) return undefined;
        return ts.isJsxExpression(at.initializer) ? at.initializer.expression : at.initializer;
      };
      const values = attribute('values');
      const counted = attribute('count') !== undefined || (values !== undefined && hasCount(values));
      add(node, attribute('i18nKey'), counted);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const hasCount = (values: ts.Node): boolean =>
  ts.isObjectLiteralExpression(values) && values.properties.some((each) => each.name?.getText() === 'count');

/** A first idea of how a text reads of one thing, for a person to correct. */
export function ofOne(text: string): string {
  return text.replace(
    /(\{\{count\}\}(?: (?!of\b|and\b|in\b)[\w-]+){0,3}?) ([\w-]+?)(ies|ches|shes|sses|xes|s)\b( are\b| were\b| have\b)?/,
    (_all, before: string, stem: string, ending: string, verb: string | undefined) => {
      const noun = stem + (ending === 'ies' ? 'y' : ending === 's' ? '' : ending.slice(0, -2));
      const verbs: Readonly<Record<string, string>> = { ' are': ' is', ' were': ' was', ' have': ' has' };
      return `${before} ${noun}${verbs[verb ?? ''] ?? ''}`;
    },
  );
}

const sorted = (texts: Readonly<Record<string, string>>): string => {
  const keys = Object.keys(texts).sort((a, b) => (a < b ? -1 : 1));
  return `${JSON.stringify(Object.fromEntries(keys.map((key) => [key, texts[key]])), null, 2)}\n`;
};

const read = (file: string): string => {
  try {
    return readFileSync(join(projectRoot, file), 'utf8');
  } catch {
    return '{}';
  }
};

/** The expected content of each file. */
function gather(): { readonly files: Readonly<Record<string, string>>; readonly problems: string[] } {
  const problems: string[] = [];
  const found = readdirSync(renderer, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name) && !name.endsWith('i18n/text.ts'))
    .sort()
    .flatMap((name) => textsOf(join(renderer, name), problems));
  const written = JSON.parse(read(numbersFile)) as Readonly<Record<string, string>>;
  const numbers: Record<string, string> = {};
  /** English has no other form of these than the text itself, which the window says without a form. */
  const usual: Record<string, string> = {};
  const texts: Record<string, string> = {};
  const titles: Record<string, string> = {};
  for (const [type, { operation }] of operations.byType) titles[kindOf(type)] = operation.title;
  for (const text of Object.values(titles)) texts[text] = text;
  for (const { words } of Object.values(doorKinds)) {
    for (const text of Object.values(words)) texts[text] = text;
  }
  for (const { text, counted } of found) {
    if (!counted) {
      texts[text] = text;
      continue;
    }
    numbers[`${text}_one`] = written[`${text}_one`] ?? ofOne(text);
    usual[`${text}_other`] = text;
  }
  return {
    files: {
      [numbersFile]: sorted(numbers),
      'renderer/locales/en.json': sorted({ ...texts, ...usual, ...numbers }),
      'main/lib/text/activity-titles.json': sorted(titles),
    },
    problems,
  };
}

if (import.meta.main) {
  const { files, problems } = gather();
  for (const [file, content] of Object.entries(files)) {
    if (read(file) === content) continue;
    if (process.argv.includes('--check')) problems.push(`${file} is not up to date: npm run texts`);
    else writeFileSync(join(projectRoot, file), content);
  }
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}
