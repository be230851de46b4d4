/**
 * Declares the subcommands of a command group. Their implementations load later: `keyhearth --version` does
 * not wait for the database.
 */
import { join } from 'node:path';
import { Option, type Argument, type Command } from 'commander';
import { makeConfig, type Config, type ConfigOptions } from '../../app/config.ts';
import { describeOperands } from './help.ts';
import { vaultOptions } from './options.ts';
import { aboutVault, CommandError, exitCodes } from './output.ts';

export type GlobalOptions = ConfigOptions & { readonly json?: boolean };

const jsonOption = (): Option => new Option('--json', 'Print the result as one line of JSON');

/** The options as commander has them: a switch is `true` or absent. */
export type Given<Options> = Options & { readonly json: boolean };

interface Subcommand<Options> {
  /** And the names of its operands, in angle brackets. */
  readonly name: string;
  readonly description: string;
  /** Another name of it, in the window's word for instance. */
  readonly alias?: string;
  readonly options?: readonly Option[];
  /** Operands that accept a few words only. */
  readonly operands?: readonly Argument[];
  /**
   * Descriptions of its other operands, by their names. Wallets, users and similar ones have theirs already.
   */
  readonly describes?: Readonly<Record<string, string>>;
  /** It takes a secret, and does not repeat what is wrong on its command line: that may be the secret. */
  readonly discreet?: boolean;
  /** Loads the command's own module, so that starting one command does not load them all. */
  readonly run: (config: Config, options: Given<Options>, operands: readonly string[]) => Promise<void>;
}

/** A command of one of these names has the others too: no group has two of them. */
const removals: readonly string[] = ['remove', 'delete', 'rm'];

/** Adds a subcommand, run with the settings that its own options and the global ones make. @returns it. */
export function addSubcommand<Options extends object>(
  program: Command,
  subcommand: Subcommand<Options>,
): Command {
  const {
    name,
    description,
    alias,
    options = [],
    operands = [],
    describes = {},
    discreet = false,
    run,
  } = subcommand;
  const command = program.command(name).description(description);
  if (alias !== undefined) command.alias(alias);
  if (removals.includes(command.name())) {
    command.aliases(removals.filter((word) => word !== command.name()));
  }
  for (const operand of operands) command.addArgument(operand);
  describeOperands(command, describes);
  const usesApi = options.some(({ long }) => long === '--api-key');
  for (const option of [...options, ...(usesApi ? vaultOptions() : []), jsonOption()]) {
    command.addOption(option);
  }
  if (discreet) command.allowUnknownOption().allowExcessArguments();
  command.action(async () => {
    if (discreet) refuseOthers(command.args, command.registeredArguments.length);
    refuseEmptyPaths(command);
    const given = command.optsWithGlobals<Options & GlobalOptions>();
    const config = makeConfig({ ...given, apiKey: namedKey(command) });
    await run(config, { ...given, json: given.json === true }, command.args).catch((error: unknown) => {
      throw aboutVault(error, join(config.dataDirectory ?? '', 'vault.db'));
    });
  });
  return command;
}

/** @returns undefined where the name is the usual one: the environment may have a key, too. */
function namedKey(command: Command): string | undefined {
  const names = ['apiKey', 'key'].filter((option) => command.getOptionValueSource(option) === 'cli');
  const [name] = names.map((option): unknown => command.getOptionValue(option));
  return typeof name === 'string' ? name : undefined;
}

/** An empty path is mostly a variable that a script left unset. It would be read as the working directory. @throws CommandError */
function refuseEmptyPaths(command: Command): void {
  for (const [index, operand] of command.registeredArguments.entries()) {
    refuseEmptyPath(`<${operand.name()}>`, operand.name(), command.args[index]);
  }
  for (let owner: Command | null = command; owner !== null; owner = owner.parent) {
    for (const option of owner.options) {
      const [, kind] = /<([a-z]+)>$/.exec(option.flags) ?? [];
      refuseEmptyPath(option.long ?? option.flags, kind, owner.getOptionValue(option.attributeName()));
    }
  }
}

/** @param kind Of the value, as help says it. */
function refuseEmptyPath(name: string, kind: string | undefined, value: unknown): void {
  if ((kind !== 'file' && kind !== 'directory') || ![value].flat().includes('')) return;
  throw new CommandError(
    exitCodes.usage,
    `invalid ${name} "": expected the path of a ${kind}, got an empty one`,
  );
}

/** Refuses options that it does not have, and more operands than it has. @throws CommandError naming an option at most. */
function refuseOthers(given: readonly string[], operands: number): void {
  const other = given.find((argument) => argument.startsWith('-')) ?? given[operands];
  if (other === undefined) return;
  const [option] = /^--?[a-z-]+/.exec(other) ?? [];
  throw new CommandError(
    exitCodes.usage,
    `${option === undefined ? 'too many arguments' : `unknown option '${option}'`}: a secret is read from a file, a file descriptor or standard input alone`,
  );
}
