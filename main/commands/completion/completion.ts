/** `keyhearth completion`: what a shell offers at the Tab key, made from the commands themselves. */
import type { Command, Option } from 'commander';
import { kindOfValue, type OfferedKind } from './kinds.ts';

type Shell = 'bash' | 'zsh' | 'fish';

/** The value after an option or a command: a file, a directory, one of a few words, one of the vault's things, or anything. */
type Value =
  | { readonly kind: 'file' | 'directory' | 'any' }
  | { readonly kind: 'vault'; readonly offered: OfferedKind }
  | { readonly kind: 'words'; readonly words: readonly string[] };

interface OptionEntry {
  /** `--port`, and `-h` where it has a short form. */
  readonly flags: readonly string[];
  readonly description: string;
  /** Undefined where it takes none. */
  readonly value: Value | undefined;
}

interface CommandEntry {
  /** The words that lead to it: `keyhearth backup verify`. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly OptionEntry[];
  readonly operand: Value | undefined;
}

/**
 * @param own The words that run this command. At the Tab key the script runs these, and not the command on the line: that
 *   may be another program of the same name, and Enter was not pressed.
 * @returns a script that makes the shell complete the program's commands, options and their values.
 */
export function completionScript(program: Command, shell: Shell, own: readonly string[]): string {
  return scripts[shell](program.name(), entriesOf(program, program.name(), []), own);
}

type Script = (name: string, entries: readonly CommandEntry[], own: readonly string[]) => string;

const scripts: Readonly<Record<Shell, Script>> = {
  bash,
  zsh,
  fish,
};

/** The command and everything below it. Options of a command are taken by those below it too. */
function entriesOf(command: Command, path: string, inherited: readonly OptionEntry[]): CommandEntry[] {
  const help = command.createHelp();
  const own = help.visibleOptions(command).map(optionEntry);
  const flags = new Set(own.flatMap((option) => option.flags));
  const options = [...own, ...inherited.filter((option) => !option.flags.some((flag) => flags.has(flag)))];
  const below = help.visibleCommands(command).filter((child) => child.name() !== 'help');
  // `--version` and `--help` speak for the command that has them.
  const passedOn = options.filter((option) => !option.flags.some((flag) => /^--(version|help)$/.test(flag)));
  const [argument] = command.registeredArguments;
  const entry: CommandEntry = {
    path,
    commands: below.map((child) => ({ name: child.name(), description: summary(child.description()) })),
    options,
    operand: argument && valueOf(argument.name(), argument.argChoices),
  };
  return [entry, ...below.flatMap((child) => entriesOf(child, `${path} ${child.name()}`, passedOn))];
}

function optionEntry(option: Option): OptionEntry {
  const [, name] = /[<[]([^>\]]+)[>\]]/.exec(option.flags) ?? [];
  return {
    flags: [option.long, option.short].filter((flag) => typeof flag === 'string'),
    description: summary(option.description),
    value: name === undefined ? undefined : valueOf(name, option.argChoices),
  };
}

function valueOf(name: string, choices: readonly string[] | undefined): Value {
  if (choices !== undefined) return { kind: 'words', words: choices };
  const offered = kindOfValue(name);
  if (offered !== undefined) return { kind: 'vault', offered };
  return { kind: name === 'file' || name === 'directory' ? name : 'any' };
}

/** The first part of a description, short enough for a list of commands. */
const summary = (text: string): string => text.replaceAll(/ \([^)]*\)/g, '').split(/[:;] /)[0] ?? '';

/** Single quotes, as all three shells read them, but for what fish has of its own. */
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const offeredOf = (value: Value): string => (value.kind === 'vault' ? value.offered : '');

const words = (list: readonly string[]): string => list.map(quote).join(' ');

/** The lines of a case for each command that has something to say. */
const cases = (
  entries: readonly CommandEntry[],
  lineOf: (entry: CommandEntry) => string | undefined,
): string[] =>
  entries.flatMap((entry) => {
    const line = lineOf(entry);
    return line === undefined ? [] : [`    ${quote(entry.path)}) ${line} ;;`];
  });

const childPaths = (entries: readonly CommandEntry[]): string[] => entries.slice(1).map(({ path }) => path);

/** Each command with each option that takes a value, in the words that lead there. */
const takers = (
  entries: readonly CommandEntry[],
): { readonly words: string; readonly value: Value; readonly flags: readonly string[] }[] =>
  entries.flatMap(({ path, options }) =>
    options.flatMap(({ flags, value }) =>
      value === undefined ? [] : flags.map((flag) => ({ words: `${path} ${flag}`, value, flags })),
    ),
  );

/** Bash and zsh share how they find out where the cursor is; `at` is the command, `for` the option that takes what comes. */
const whereabouts = (entries: readonly CommandEntry[], loop: string, word: string): string[] => [
  `  for (( ${loop} )); do`,
  `    word=${word}`,
  '    if [[ -n $for ]]; then for=; continue; fi',
  '    case "$at $word" in',
  `      ${childPaths(entries).map(quote).join('|')}) at="$at $word" ;;`,
  `      ${takers(entries)
    .map((taker) => quote(taker.words))
    .join('|')}) for=$word ;;`,
  '    esac',
  '  done',
];

function bash(name: string, entries: readonly CommandEntry[], own: readonly string[]): string {
  const files = 'compopt -o default 2>/dev/null; COMPREPLY=()';
  const offer: Readonly<Record<Value['kind'], (value: Value) => string>> = {
    file: () => files,
    directory: () => 'compopt -o dirnames 2>/dev/null; COMPREPLY=()',
    words: (value) => `offered=${quote(value.kind === 'words' ? value.words.join(' ') : '')}`,
    // Names are foreign text: `compgen -W` would execute them.
    vault: (value) => `_${name}_offer ${offeredOf(value)}`,
    any: () => ':',
  };
  return [
    `# Completion of ${name} for bash. To use it: eval "$(${name} completion bash)"`,
    `_${name}_offer() {`,
    '  local value before=("${COMP_WORDS[@]:1:COMP_CWORD-1}")',
    '  while IFS= read -r value; do',
    `    [[ -z $value || $value != "$cur"* ]] || COMPREPLY+=("$(printf '%q' "$value")")`,
    `  done < <(${words(own)} completion bash --offer "$1" -- "\${before[@]}" 2>/dev/null </dev/null)`,
    '}',
    `_${name}() {`,
    `  local cur=\${COMP_WORDS[COMP_CWORD]} at=${name} for= word i offered=`,
    '  COMPREPLY=()',
    ...whereabouts(entries, 'i = 1; i < COMP_CWORD; i++', '${COMP_WORDS[i]}'),
    '  if [[ -n $for ]]; then',
    '    case "$at $for" in',
    ...takers(entries)
      .filter(({ value }) => value.kind !== 'any')
      .map(({ words: path, value }) => `      ${quote(path)}) ${offer[value.kind](value)} ;;`),
    '    esac',
    '  elif [[ $cur == -* ]]; then',
    '    case $at in',
    ...cases(entries, ({ options }) => `offered=${quote(options.flatMap(({ flags }) => flags).join(' '))}`),
    '    esac',
    '  else',
    '    case $at in',
    ...cases(entries, ({ commands, operand }) => {
      const parts = [
        ...(operand === undefined ? [] : [offer[operand.kind](operand)]),
        ...(commands.length === 0 ? [] : [`offered=${quote(commands.map((child) => child.name).join(' '))}`]),
      ];
      return parts.length === 0 ? undefined : parts.join('; ');
    }),
    '    esac',
    '  fi',
    '  [[ -z $offered ]] || COMPREPLY=($(compgen -W "$offered" -- "$cur"))',
    '}',
    `complete -F _${name} ${name}`,
    '',
  ].join('\n');
}

function zsh(name: string, entries: readonly CommandEntry[], own: readonly string[]): string {
  /** Of zsh's own lists, a colon parts the word from its description. */
  const described = (list: readonly { readonly name: string; readonly description: string }[]): string =>
    words(list.map((one) => `${one.name.replaceAll(':', '\\:')}:${one.description}`));
  const offer: Readonly<Record<Value['kind'], (value: Value) => string>> = {
    file: () => '_files',
    directory: () => '_files -/',
    words: (value) => `compadd -- ${words(value.kind === 'words' ? value.words : [])}`,
    vault: (value) => `_${name}_offer ${offeredOf(value)}`,
    any: () => "_message 'a value'",
  };
  return [
    `#compdef ${name}`,
    `# Completion of ${name} for zsh. To use it: eval "$(${name} completion zsh)", after compinit; or as a file _${name} in $fpath.`,
    `_${name}_offer() {`,
    '  local -a values',
    `  values=("\${(@f)$(${words(own)} completion zsh --offer "$1" -- "\${(@Q)words[2,CURRENT-1]}" 2>/dev/null </dev/null)}")`,
    '  values=(${values:#})',
    '  (( $#values )) && compadd -- "${values[@]}"',
    '}',
    `_${name}() {`,
    `  local at=${name} for= word cur=\${words[CURRENT]}`,
    '  local -a offered',
    '  integer i',
    ...whereabouts(entries, 'i = 2; i < CURRENT; i++', '${words[i]}'),
    '  if [[ -n $for ]]; then',
    '    case "$at $for" in',
    ...takers(entries).map(
      ({ words: path, value }) => `      ${quote(path)}) ${offer[value.kind](value)} ;;`,
    ),
    '    esac',
    '    return',
    '  fi',
    '  if [[ $cur == -* ]]; then',
    '    case $at in',
    ...cases(
      entries,
      ({ options }) =>
        `offered=(${described(options.flatMap(({ flags, description }) => flags.map((flag) => ({ name: flag, description }))))})`,
    ),
    '    esac',
    '    _describe -o option offered',
    '    return',
    '  fi',
    '  case $at in',
    ...cases(entries, ({ commands, operand }) => {
      const parts = [
        ...(commands.length === 0 ? [] : [`offered=(${described(commands)}); _describe command offered`]),
        ...(operand === undefined ? [] : [offer[operand.kind](operand)]),
      ];
      return parts.length === 0 ? undefined : parts.join('; ');
    }),
    '  esac',
    '}',
    `if [[ $funcstack[1] == _${name} ]]; then _${name} "$@"; else compdef _${name} ${name}; fi`,
    '',
  ].join('\n');
}

function fish(name: string, entries: readonly CommandEntry[], own: readonly string[]): string {
  // A backslash counts inside fish's single quotes.
  const fished = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const given: Readonly<Record<Value['kind'], (value: Value) => string>> = {
    file: () => ' -F',
    directory: () => " -f -a '(__fish_complete_directories)'",
    words: (value) => ` -f -a ${fished(value.kind === 'words' ? value.words.join(' ') : '')}`,
    vault: (value) => ` -f -a ${fished(`(__${name}_offer ${offeredOf(value)})`)}`,
    any: () => ' -f',
  };
  const rules = entries.flatMap(({ path, commands, options, operand }) => {
    const rule = `complete -c ${name} -n ${fished(`__${name}_at ${fished(path)}`)}`;
    return [
      ...commands.map((child) => `${rule} -f -a ${fished(child.name)} -d ${fished(child.description)}`),
      ...(operand === undefined || operand.kind === 'any' ? [] : [rule + given[operand.kind](operand)]),
      ...options.map(({ flags, description, value }) => {
        const spelled = flags.map((flag) =>
          flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`,
        );
        const takes = value === undefined ? '' : ` -r${given[value.kind](value)}`;
        return `${rule} ${spelled.join(' ')}${takes} -d ${fished(description)}`;
      }),
    ];
  });
  return [
    `# Completion of ${name} for fish. To use it: ${name} completion fish | source`,
    `function __${name}_offer`,
    '    set -l before (commandline -opc)',
    `    ${own.map(fished).join(' ')} completion fish --offer $argv[1] -- $before[2..-1] 2>/dev/null </dev/null`,
    'end',
    `function __${name}_at`,
    `    set -l at ${name}`,
    '    set -l for',
    '    for word in (commandline -opc)[2..-1]',
    '        if test -n "$for"',
    '            set for',
    '            continue',
    '        end',
    '        switch "$at $word"',
    `            case ${childPaths(entries).map(fished).join(' ')}`,
    '                set at "$at $word"',
    `            case ${takers(entries)
      .map((taker) => fished(taker.words))
      .join(' ')}`,
    '                set for $word',
    '        end',
    '    end',
    '    test "$at" = "$argv[1]"',
    'end',
    `complete -c ${name} -f`,
    ...rules,
    '',
  ].join('\n');
}
