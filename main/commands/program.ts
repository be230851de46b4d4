/** The command line: puts the groups of subcommands together. Each declares its own in `<group>-command.ts`. */
import { Command, CommanderError } from 'commander';
import { takeLauncher, turnColorsOff, version } from '../app/config.ts';
import { quoted } from '../lib/errors.ts';
import { declareActivities } from './requests/activities-command.ts';
import { declareAgents, declareMcp } from './agents/agents-command.ts';
import { declareAddresses } from './addresses/addresses-command.ts';
import { declareApprovals } from './requests/approvals-command.ts';
import { declareAudit } from './audit/audit-command.ts';
import { declareBackup } from './backup/backup-command.ts';
import { declareBots } from './bots/bots-command.ts';
import { declareCompletion } from './completion/completion-command.ts';
import { declareControl } from './vault/control-command.ts';
import { declareDev } from './vault/dev-command.ts';
import { declareDocs } from './docs/docs-command.ts';
import { declareDoors } from './doors/doors-command.ts';
import { declareGit, declareSsh, declareTakeover } from './ssh/ssh-command.ts';
import { declareDoctor } from './vault/doctor-command.ts';
import { declareExport } from './wallets/export-command.ts';
import { declareImport } from './wallets/import-command.ts';
import { declareInit } from './vault/init-command.ts';
import { declareKeygen } from './credentials/keygen-command.ts';
import { declareKeyslots } from './keyslots/keyslots-command.ts';
import { declareMessages } from './messages/messages-command.ts';
import { examplesOf } from './shared/examples.ts';
import { helpConfiguration } from './shared/help.ts';
import { CommandError, exitCodes, exitCodeTexts, fail, watchOutput } from './shared/output.ts';
import { suggestChoices } from './shared/suggestions.ts';
import { isColored } from './shared/table.ts';
import { nameCommand, namingCommand } from './shared/command-name.ts';
import { declarePolicies } from './policies/policies-command.ts';
import { declarePrivateKeys } from './private-keys/private-keys-command.ts';
import { declareRecovery } from './keyslots/recovery-command.ts';
import { declareRequest } from './requests/request-command.ts';
import { declareRequests } from './requests/requests-command.ts';
import { declareRun, declareSecret } from './secrets/secrets-command.ts';
import { declareServe } from './vault/serve-command.ts';
import { declareRpc } from './rpc/rpc-command.ts';
import { declareService } from './vault/service-command.ts';
import { declareSessions } from './credentials/sessions-command.ts';
import { declareSettings } from './settings/settings-command.ts';
import { declareSign } from './requests/sign-command.ts';
import { declareUsers } from './users/users-command.ts';
import { declareWallets } from './wallets/wallets-command.ts';
import { declareWebhooks } from './webhooks/webhooks-command.ts';

const footer = `
Run \`keyhearth COMMAND --help\` for the options of a command.

Exit codes:
${Object.entries(exitCodeTexts)
  .map(([code, text]) => `  ${code}  ${text}`)
  .join('\n')}`;

type Declare = (program: Command) => void;

/** In the order in which help names them, under the headings that it has. */
const groups: Readonly<Record<string, readonly Declare[]>> = {
  'Vault:': [
    declareInit,
    declareServe,
    declareDev,
    declareControl,
    declareService,
    declareSettings,
    declareDoctor,
  ],
  'Keys and signing:': [declareWallets, declarePrivateKeys, declareSign, declareImport, declareExport],
  'Secrets of programs:': [declareSecret, declareRun],
  'Bots and agents:': [declareBots, declareAgents, declareMcp],
  'Programs:': [declareDoors, declareSsh, declareGit, declareTakeover, declareRpc],
  'Users and permissions:': [
    declareUsers,
    declareKeygen,
    declarePolicies,
    declareApprovals,
    declareAddresses,
    declareSessions,
  ],
  'API, log and events:': [
    declareRequest,
    declareRequests,
    declareActivities,
    declareAudit,
    declareWebhooks,
    declareMessages,
  ],
  'Recovery and backups:': [declareKeyslots, declareRecovery, declareBackup],
  'Help:': [declareDocs, declareCompletion],
};

export function declareCommands(program: Command): void {
  for (const [heading, declares] of Object.entries(groups)) {
    program.commandsGroup(heading);
    for (const declare of declares) declare(program);
  }
  for (const command of program.commands) command.addHelpText('after', examplesOf(command.name()));
  suggestIn(program);
}

function suggestIn(command: Command): void {
  [...command.options, ...command.registeredArguments].forEach(suggestChoices);
  command.commands.forEach(suggestIn);
}

/** The command itself, without the commands below it. */
export function newProgram(): Command {
  const program = new Command('keyhearth')
    .description('A key vault on your own computer.')
    .version(version, '-V, --version', 'Show the version')
    .helpOption('-h, --help', 'Show help')
    .option('--data-dir <directory>', 'Directory of the vault (KEYHEARTH_DATA_DIR)')
    .option('--config-dir <directory>', 'Directory of the API key files (KEYHEARTH_CONFIG_DIR)')
    .option('--json', 'Print the result as one line of JSON')
    .option('--no-color', 'Print without colors (NO_COLOR)')
    .addHelpText('after', footer);
  return program.configureHelp(helpConfiguration(program));
}

export async function main(argv: readonly string[]): Promise<void> {
  // Parsing may fail before it comes to the option.
  const own = ownArguments(argv);
  const json = own.includes('--json');
  if (own.includes('--no-color')) turnColorsOff();
  watchOutput();
  nameCommand(takeLauncher());
  const program: Command = newProgram()
    .configureOutput({
      getOutHasColors: () => isColored(process.stdout),
      getErrHasColors: () => isColored(process.stderr),
      outputError: (text, write) => {
        write(`keyhearth: ${namingCommand(plain(text))}`);
      },
      // Help and usage. An error is written as JSON instead, once.
      writeOut: (text) => process.stdout.write(namingCommand(text)),
      writeErr: json ? () => undefined : (text) => process.stderr.write(namingCommand(text)),
    })
    .exitOverride();
  declareCommands(program);
  nameHelp(program, program.name());
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    if (error instanceof CommanderError) wrongUsage(error, json);
    else fail(json, error);
  }
}

/** Without a command that this one is to run: its options are its own. */
function ownArguments(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  return end === -1 ? argv : argv.slice(0, end);
}

/** Rewords Commander's messages about wrong usage in the style of the others. */
const plain = (text: string): string =>
  text
    .replace(/^error: /, '')
    .replace(
      /^unknown option '--(?:url|vault-file|organization-id)'/,
      '$&: this command works on the vault of this computer only',
    )
    .replace(
      /^command-argument value '(.*)' is invalid for argument '(.*?)'\. (?=expected )/s,
      (_, given: string, name: string) => `invalid <${name}> ${quoted(given)}: `,
    )
    .replace(
      /^option '(?:-\w, )?(--[\w-]+)[^']*' argument '(.*)' is invalid\. (?=expected )/s,
      (_, option: string, given: string) => `invalid ${option} ${quoted(given)}: `,
    );

/** A usage error names the help of that very command. */
function nameHelp(command: Command, path: string): void {
  command.showHelpAfterError(
    `Run \`${path} --help\` for ${command.commands.length > 0 ? 'the commands' : 'the options'}.`,
  );
  for (const child of command.commands) nameHelp(child, `${path} ${child.name()}`);
}

/** Commander has written it for people; help and the version come this way too. */
function wrongUsage(error: CommanderError, json: boolean): void {
  if (error.exitCode === 0) {
    process.exitCode = exitCodes.ok;
    return;
  }
  process.exitCode = exitCodes.usage;
  if (!json) return;
  const message =
    error.code === 'commander.help'
      ? 'expected a command: run with --help for the commands'
      : plain(error.message);
  fail(json, new CommandError(exitCodes.usage, message));
}
