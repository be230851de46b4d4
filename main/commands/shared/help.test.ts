/** Every command, operand and option says in help what it is, and in the same voice. */
import { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { declareCommands } from '../program.ts';
import { examples } from './examples.ts';
import { exitCodes, exitCodeTexts } from './output.ts';

const program = new Command('keyhearth');
declareCommands(program);

interface Described {
  readonly name: string;
  readonly text: string;
}

function describedIn(command: Command, path: string): Described[] {
  const help = command.createHelp();
  return [
    { name: path, text: command.description() },
    ...command.registeredArguments.map((operand) => ({
      name: `${path} <${operand.name()}>`,
      text: operand.description,
    })),
    ...help
      .visibleOptions(command)
      .flatMap(({ long, description }) =>
        long === '--help' ? [] : [{ name: `${path} ${String(long)}`, text: description }],
      ),
    ...command.commands.flatMap((child) => describedIn(child, `${path} ${child.name()}`)),
  ];
}

const all = program.commands.flatMap((command) => describedIn(command, command.name()));

/** Private words, and people where the field has actors. */
const refused =
  /\b(makes?|made|draws?|drawn|takes? (out|away)|tells?|tries|try|proven|whoever|nobody|somebody|unless given|no more|what becomes?|came of)\b/i;

describe('help', () => {
  test('finds the commands', () => {
    expect(all.length).toBeGreaterThan(300);
  });

  test('describes each in a sentence that begins with a capital letter and ends without a full stop', () => {
    const wrong = all.filter(({ text }) => !/^[A-Z0-9].*[^.;:\s]$/.test(text));
    expect(wrong).toEqual([]);
  });

  test('uses no private word', () => {
    expect(all.filter(({ text }) => refused.test(text))).toEqual([]);
  });

  test('stays short', () => {
    expect(all.filter(({ text }) => text.split(' ').length > 25)).toEqual([]);
  });

  test('names every exit code', () => {
    const codes = Object.values(exitCodes).map(String);
    expect(Object.keys(exitCodeTexts)).toEqual(codes);
  });
});

describe('examples', () => {
  /** The program without anything behind its commands. */
  function inert(): Command {
    const parsing = new Command('keyhearth').option('--json');
    declareCommands(parsing);
    const walk = (command: Command): void => {
      command.exitOverride().configureOutput({ writeErr: () => undefined });
      if (command.commands.length === 0 || command.registeredArguments.length > 0)
        command.action(() => undefined);
      command.commands.forEach(walk);
    };
    walk(parsing);
    return parsing;
  }

  const words = (line: string): readonly string[] =>
    [...line.matchAll(/"([^"]*)"|'([^']*)'|([^\s"']+)/g)].map(
      ([, double, single, bare]) => double ?? single ?? bare ?? '',
    );

  test('are there for every command of the first level', () => {
    const without = ['version', 'help'];
    const named = program.commands.map((command) => command.name()).filter((name) => !without.includes(name));
    expect(Object.keys(examples).sort()).toEqual(named.sort());
  });

  test.each(Object.entries(examples).flatMap(([name, lines]) => lines.map((line) => [line, name] as const)))(
    '%s',
    async (line, name) => {
      const [, own = ''] = /keyhearth ([^|)]*)/.exec(line) ?? [];
      expect(own).toMatch(new RegExp(`^${name}( |$)`));
      await inert().parseAsync([...words(own)], { from: 'user' });
    },
  );
});
