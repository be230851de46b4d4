/** The layout of help: headings, operands and the values of options, the same in every command. */
import { styleText } from 'node:util';
import type { Argument, Command, HelpConfiguration, Option } from 'commander';
import { isColored } from './table.ts';

const named = 'ID, start of the ID, or name';

/** By the name of an operand, where a command says nothing else of it. */
const operandTexts: Readonly<Record<string, string>> = {
  wallet: `Wallet: ${named}`,
  'private-key': `Private key: ${named}`,
  secret: `Secret: ${named}`,
  secrets: `Secrets: ${named}`,
  user: `User: ${named}`,
  users: `Users: ${named}`,
  tag: `Tag: ${named}`,
  tags: `Tags: ${named}`,
  policy: `Policy: ${named}`,
  policies: `Policies: ${named}`,
  bot: `Bot: ${named}`,
  activity: 'Activity: ID or start of the ID',
  endpoint: `Webhook endpoint: ${named}`,
  keyslot: 'Keyslot: ID or kind',
};

/** Describes the operands of a command that it does not describe itself. */
export function describeOperands(command: Command, texts: Readonly<Record<string, string>>): void {
  for (const operand of command.registeredArguments) {
    operand.description ||= texts[operand.name()] ?? operandTexts[operand.name()] ?? '';
  }
}

/** Joins words as a sentence has them: `a, b or c`. */
export const anyOf = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${String(words.at(-1))}`;

/** A description, with the values that are accepted and the one that is the default. */
function withValues(described: Option | Argument): string {
  const { description, argChoices } = described;
  const defaultValue: unknown = described.defaultValue;
  const isShown = typeof defaultValue === 'string' && !description.includes('default:');
  const values = [
    ...('mandatory' in described && described.mandatory ? ['required'] : []),
    ...(argChoices === undefined ? [] : [anyOf(argChoices)]),
    ...(isShown ? [`default: ${defaultValue}`] : []),
  ];
  return values.length === 0 ? description : `${description} (${values.join('; ')})`;
}

/** @param program The command that the others are below. */
export const helpConfiguration = (program: Command): HelpConfiguration => ({
  showGlobalOptions: true,
  // Commands have the others themselves.
  visibleGlobalOptions: (command) =>
    command === program
      ? []
      : program.options.filter(({ long }) => /^--(data-dir|config-dir|no-color)$/.test(long ?? '')),
  // Each shows its help by `--help`: a command of that name would say the same.
  visibleCommands: ({ commands }) => [...commands],
  optionDescription: withValues,
  argumentDescription: withValues,
  styleTitle: (title) => bold(title.replace('Global Options', 'Global options')),
});

const bold = (text: string): string => (isColored(process.stdout) ? styleText('bold', text) : text);
