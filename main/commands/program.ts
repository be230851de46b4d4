/** The command line: puts the groups of subcommands together. Each declares its own in `<group>-command.ts`. */
import { Command, CommanderError } from 'commander';
import { version } from '../app/config.ts';
import { declareActivities } from './requests/activities-command.ts';
import { declareApprovals } from './requests/approvals-command.ts';
import { declareAudit } from './audit/audit-command.ts';
import { declareBackup } from './backup/backup-command.ts';
import { declareBots } from './bots/bots-command.ts';
import { declareCompletion } from './completion/completion-command.ts';
import { declareControl } from './vault/control-command.ts';
import { declareDev } from './vault/dev-command.ts';
import { declareDoctor } from './vault/doctor-command.ts';
import { declareExport } from './wallets/export-command.ts';
import { declareImport } from './wallets/import-command.ts';
import { declareInit } from './vault/init-command.ts';
import { declareKeygen } from './credentials/keygen-command.ts';
import { declareKeyslots } from './keyslots/keyslots-command.ts';
import { declareMessages } from './messages/messages-command.ts';
import { CommandError, exitCodes, fail, watchOutput } from './shared/output.ts';
import { declarePolicies } from './policies/policies-command.ts';
import { declarePrivateKeys } from './private-keys/private-keys-command.ts';
import { declareRecovery } from './keyslots/recovery-command.ts';
import { declareRequest } from './requests/request-command.ts';
import { declareRequests } from './requests/requests-command.ts';
import { declareServe } from './vault/serve-command.ts';
import { declareService } from './vault/service-command.ts';
import { declareSessions } from './credentials/sessions-command.ts';
import { declareSettings } from './settings/settings-command.ts';
import { declareSign } from './requests/sign-command.ts';
import { declareUsers } from './users/users-command.ts';
import { declareWallets } from './wallets/wallets-command.ts';
import { declareWebhooks } from './webhooks/webhooks-command.ts';

const exitCodeHelp = `
Exit codes: 0 done; 1 refused or failed; 2 wrong usage; 3 no vault, or it is not running; 4 the vault or the port is
in use, or its process does not answer; 5 locked, or what was given does not open it; 6 asked for, and others have to
approve of it first; 7 the vault's file is damaged or was changed; 8 a disk is full, can only be read, or fails.`;

type Declare = (program: Command) => void;

/** In the order in which help names them, under the headings that it has. */
const groups: Readonly<Record<string, readonly Declare[]>> = {
  'The vault:': [
    declareInit,
    declareServe,
    declareDev,
    declareControl,
    declareService,
    declareSettings,
    declareDoctor,
  ],
  'Keys and signing:': [declareWallets, declarePrivateKeys, declareSign, declareImport, declareExport],
  'Users and what they may do:': [
    declareBots,
    declareUsers,
    declareKeygen,
    declarePolicies,
    declareApprovals,
    declareSessions,
  ],
  'The API and what was asked of it:': [
    declareRequest,
    declareRequests,
    declareActivities,
    declareAudit,
    declareWebhooks,
    declareMessages,
  ],
  'Ways in and backups:': [declareKeyslots, declareRecovery, declareBackup],
  'Shell:': [declareCompletion],
};

export function declareCommands(program: Command): void {
  for (const [heading, declares] of Object.entries(groups)) {
    program.commandsGroup(heading);
    for (const declare of declares) declare(program);
  }
}

export async function main(argv: readonly string[]): Promise<void> {
  // Parsing may fail before it comes to the option.
  const json = ownArguments(argv).includes('--json');
  watchOutput();
  const program: Command = new Command('keyhearth')
    .description('A key vault on your own machine: the service, and the commands to run it.')
    .version(version)
    .option('--data-dir <directory>', 'where the vault is (KEYHEARTH_DATA_DIR)')
    .option('--config-dir <directory>', 'where API key files are (KEYHEARTH_CONFIG_DIR)')
    .option('--json', 'write results as one line of JSON')
    .addHelpText('after', exitCodeHelp)
    .configureOutput({
      outputError: (text, write) => {
        write(`keyhearth: ${plain(text)}`);
      },
      // What is wrong is then written as JSON, once.
      ...(json ? { writeErr: () => undefined } : {}),
    })
    .configureHelp({
      showGlobalOptions: true,
      // Commands have the others themselves.
      visibleGlobalOptions: (command) =>
        command === program ? [] : program.options.filter(({ long }) => long?.endsWith('-dir') === true),
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

/** What Commander says of wrong usage, in the words of the others. */
const plain = (text: string): string =>
  text
    .replace(/^error: /, '')
    .replace(
      /^unknown option '--(?:url|vault-file|organization-id)'/,
      '$&: this command acts on the vault of this machine alone',
    )
    .replace(/^command-argument value '(.*)' is invalid for argument '(.*)'\./, "invalid <$2> '$1'.");

/** A usage error names the help of that very command. */
function nameHelp(command: Command, path: string): void {
  command.showHelpAfterError(
    `(run ${path} --help for ${command.commands.length > 0 ? 'the commands' : 'what it takes'})`,
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
      ? 'expected a command: run it with --help, which names those that there are'
      : plain(error.message);
  fail(json, new CommandError(exitCodes.usage, message));
}
