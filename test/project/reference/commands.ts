/** The reference of the commands, a page for each heading of the help, from the declarations that the help is made of. */
import type { Command, Help } from 'commander';
import { declareCommands, newProgram } from '../../../main/commands/program.ts';
import { code, inText, pageText, table } from './markdown.ts';

/** An option that so many commands have is described once for all of them. */
const commonUses = 8;

/** Commands whose heading in the help has too many for one page. */
const apart: Readonly<Record<string, string>> = {
  policies: 'Policies and approvals',
  approvals: 'Policies and approvals',
};

interface Described {
  /** As it is typed: `keyhearth wallets create`. */
  readonly name: string;
  /** Of its page, as the help has it: `Vault`. */
  readonly heading: string;
  readonly command: Command;
}

const optionRow = (help: Help, option: Command['options'][number]): readonly string[] => [
  code(option.flags),
  inText(help.optionDescription(option)),
];

/** Every command that does something by itself, in the order of the help. */
function describedCommands(program: Command): readonly Described[] {
  const within = (command: Command, name: string, heading: string): readonly Described[] => [
    ...(command.commands.length === 0 || command.options.length > 0 ? [{ name, heading, command }] : []),
    ...command.commands.flatMap((each) => within(each, `${name} ${each.name()}`, heading)),
  ];
  return program.commands.flatMap((command) =>
    within(
      command,
      `keyhearth ${command.name()}`,
      apart[command.name()] ?? command.helpGroup().replace(/:$/, ''),
    ),
  );
}

export interface WrittenPage {
  /** In `docs/`, without `.md`. */
  readonly path: string;
  readonly title: string;
  readonly text: string;
}

const slug = (heading: string): string => heading.toLowerCase().replaceAll(/[^a-z]+/g, '-');

/** @returns the pages, and the names of all commands in them. */
export function commandPages(): {
  readonly pages: readonly WrittenPage[];
  readonly names: readonly string[];
} {
  const program = newProgram();
  declareCommands(program);
  const commands = describedCommands(program);
  const uses = new Map<string, number>();
  for (const { command } of commands) {
    for (const option of command.createHelp().visibleOptions(command)) {
      const row = optionRow(command.createHelp(), option).join(' | ');
      uses.set(row, (uses.get(row) ?? 0) + 1);
    }
  }
  const isCommon = (row: readonly string[]): boolean => (uses.get(row.join(' | ')) ?? 0) >= commonUses;
  const described = ({ name, command }: Described): string => {
    const help = command.createHelp();
    const operands = help
      .visibleArguments(command)
      .map((operand) => [code(help.argumentTerm(operand)), inText(help.argumentDescription(operand))]);
    const options = help.visibleOptions(command).map((option) => optionRow(help, option));
    const rows = [...operands, ...options.filter((row) => !isCommon(row))];
    const shared = options
      .filter(isCommon)
      .map(([flags = '']) => `\`${/--[a-z-]+/.exec(flags)?.[0] ?? ''}\``);
    const about = `${inText(command.description())}. Usage: ${code(`${name} ${command.usage()}`)}`;
    const common = '[common options](commands.md#common-options)';
    const parts =
      rows.length === 0
        ? [`${about}, with the ${common} ${shared.join(', ')}.`]
        : [about, table(['operand or option', 'meaning'], [...rows, [common, shared.join(', ')]])];
    return [`## ${name}`, ...parts].join('\n\n');
  };
  const headings = [...new Set(commands.map(({ heading }) => heading))];
  const grouped = headings.map((heading) => ({
    path: `reference/commands-${slug(heading)}`,
    title: `Commands: ${heading}`,
    of: commands.filter((each) => each.heading === heading),
  }));
  const row =
    (path: string) =>
    ({ name, command }: Described): readonly string[] => [
      `[${code(name)}](${path.replace('reference/', '')}.md#${name.replaceAll(' ', '-')})`,
      inText(command.description()),
    ];
  const help = program.createHelp();
  const index = pageText(
    'Commands',
    'Every command of `keyhearth`. In a checkout the command is `./keyhearth`. `keyhearth COMMAND --help` shows the same.',
    ...grouped.map(({ title, path, of }) =>
      [`## ${title.replace('Commands: ', '')}`, table(['command', 'what it does'], of.map(row(path)))].join(
        '\n\n',
      ),
    ),
    '## Common options',
    table(
      ['option', 'meaning'],
      [...uses].filter(([, count]) => count >= commonUses).map(([cells]) => cells.split(' | ')),
    ),
    'Every command has these too, before or after its name:',
    table(
      ['option', 'meaning'],
      program.options.map((option) => optionRow(help, option)),
    ),
  );
  return {
    names: commands.map(({ name }) => name),
    pages: [
      { path: 'reference/commands', title: 'Commands', text: index },
      ...grouped.map(({ path, title, of }) => ({
        path,
        title,
        text: pageText(title, ...of.map(described)),
      })),
    ],
  };
}
