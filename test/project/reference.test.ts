/** The pages that are written from the code: that they have everything, and that what they show is so. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { pages } from '../../docs/pages.ts';
import { declareCommands, newProgram } from '../../main/commands/program.ts';
import { errorCodes } from '../../main/lib/errors.ts';
import { allFacts } from '../../main/policy/decide/facts.ts';
import { compile } from '../../main/policy/language/compile.ts';
import { Evaluation } from '../../main/policy/language/evaluation.ts';
import { describeLanguage } from '../../main/policy/language/language.ts';
import type { ConditionFacts } from '../../main/policy/language/schema.ts';
import { writtenPages } from './docs.ts';
import {
  exampleApprovers,
  exampleFacts,
  examples,
  exampleTime,
  type Example,
} from './reference/language-examples.ts';
import { specificCodes, variableTexts } from './reference/tables.ts';

const root = join(import.meta.dirname, '../..');
const sources = globSync('{main,preload}/**/*.{ts,mjs}', { cwd: root, exclude: ['**/*.test.ts'] }).map(
  (file) => readFileSync(join(root, file), 'utf8'),
);
const allSources = sources.join('\n');

test('each written page is in the list of pages', () => {
  const titles = new Map(pages.map(({ path, title }) => [path, title]));
  for (const { path, title } of writtenPages) expect(titles.get(path), path).toBe(title);
});

describe('the commands', () => {
  const sections = new Map(
    writtenPages.flatMap(({ text }) =>
      text.split(/^## /m).map((section) => [section.split('\n')[0] ?? '', section] as const),
    ),
  );
  const program = newProgram();
  declareCommands(program);
  const commands: [string, Command][] = [];
  const walk = (command: Command, name: string): void => {
    if (command.commands.length === 0) commands.push([name, command]);
    for (const each of command.commands) walk(each, `${name} ${each.name()}`);
  };
  walk(program, 'keyhearth');

  test('each has a section with every operand and option', () => {
    expect(commands.length).toBeGreaterThan(80);
    for (const [name, command] of commands) {
      const section = sections.get(name) ?? '';
      for (const { long, hidden } of command.options) {
        expect(section.includes(`\`${String(long)}`), `${name} ${String(long)}`).toBe(!hidden);
      }
      for (const operand of command.registeredArguments) expect(section, name).toContain(operand.name());
    }
  });
});

describe('the policy language', () => {
  const valueOf = ({ source, field }: Example, facts: ConditionFacts): unknown => {
    const given = { approvers: exampleApprovers, rootQuorumThreshold: 1, now: exampleTime };
    const counters = { total: () => 0n };
    const evaluation = new Evaluation(allFacts(given, facts), exampleTime, counters);
    return evaluation.start(compile(source, field).run);
  };

  test.each(examples)('$source holds', (example) => {
    expect(valueOf(example, exampleFacts)).toBe(true);
    // Of an activity without any of these facts a condition says nothing; a counter counts that activity.
    if (example.field === 'condition' && !example.source.includes('submitter')) {
      expect(valueOf(example, {})).not.toBe(true);
    }
  });

  test('every keyword, function and method has an example that uses it', () => {
    const { places, methods } = describeLanguage();
    const named = places.flatMap(({ field, keywords, functions }) =>
      [...keywords, ...functions].map(({ name }) => ({ name, field })),
    );
    for (const { name } of [...named, ...methods.map(({ name }) => ({ name: `.${name}` }))]) {
      expect(examples.find(({ of }) => of === name)?.source, name).toContain(name);
    }
  });
});

describe('the codes of errors', () => {
  const thrown = sources.flatMap((text) => [
    ...text.matchAll(
      /new KeyhearthError\(\s*'([A-Z_]+)'(?:(?!new KeyhearthError)[^])*?turnkeyErrorCode: '([A-Z_]+)'/g,
    ),
  ]);

  test('are those that the code throws, with their status', () => {
    expect(thrown.length).toBeGreaterThan(8);
    for (const [, error = '', name = ''] of thrown) {
      const [documented = 'INTERNAL'] = specificCodes[name] ?? [];
      expect(errorCodes[documented].http, name).toBe(errorCodes[error as keyof typeof errorCodes].http);
    }
    for (const name of Object.keys(specificCodes)) expect(allSources, name).toContain(`'${name}'`);
    const given = [
      ...allSources.matchAll(/turnkeyErrorCode: '([A-Z_]+)'/g),
      ...allSources.matchAll(
        /unauthenticated\((?:(?!unauthenticated\()[^;])*?'([A-Z]+(?:_[A-Z]+)+)',?\s*\)/g,
      ),
    ].map(([, name = '']) => name);
    expect(given).toContain('SIGNATURE_MISSING');
    for (const name of given) expect(Object.keys(specificCodes)).toContain(name);
  });
});

test('every variable of the environment that the code names has a row', () => {
  const named = new Set(allSources.match(/KEYHEARTH_[A-Z_]*[A-Z]/g));
  expect(Object.keys(variableTexts).sort()).toEqual([...named].sort());
});
