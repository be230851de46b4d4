/** The command line: puts the groups of subcommands together. Each declares its own in `GROUP-command.ts`. */
import { Command, CommanderError } from 'commander';
import { version } from '../config.ts';
import { declareAudit } from './audit-command.ts';
import { declareBackup } from './backup-command.ts';
import { declareCompletion } from './completion-command.ts';
import { declareControl } from './control-command.ts';
import { declareDev } from './dev-command.ts';
import { declareDoctor } from './doctor-command.ts';
import { declareExport } from './export-command.ts';
import { declareImport } from './import-command.ts';
import { declareInit } from './init-command.ts';
import { declareKeygen } from './keygen-command.ts';
import { declareKeyslots } from './keyslots-command.ts';
import { declareMessages } from './messages-command.ts';
import { fail } from './output.ts';
import { declarePolicy } from './policy-command.ts';
import { declareRecovery } from './recovery-command.ts';
import { declareRequest } from './request-command.ts';
import { declareRequests } from './requests-command.ts';
import { declareServe } from './serve-command.ts';
import { declareService } from './service-command.ts';
import { declareSessions } from './sessions-command.ts';
import { declareSettings } from './settings-command.ts';
import { declareSign } from './sign-command.ts';
import type { GlobalOptions } from './subcommand.ts';
import { declareWebhooks } from './webhooks-command.ts';

const exitCodeHelp = `
Exit codes: 0 done; 1 refused or failed; 2 wrong usage; 3 no vault, or it is not running; 4 the vault or the port is
in use; 5 locked, or what was given does not open it.`;

/** In the order in which help names them. */
const groups: readonly ((program: Command) => void)[] = [
  declareInit,
  declareServe,
  declareDev,
  declareControl,
  declareKeygen,
  declareRequest,
  declareSign,
  declareImport,
  declareExport,
  declareAudit,
  declareKeyslots,
  declareRecovery,
  declareBackup,
  declarePolicy,
  declareWebhooks,
  declareRequests,
  declareSessions,
  declareMessages,
  declareSettings,
  declareService,
  declareCompletion,
  declareDoctor,
];

export async function main(argv: readonly string[]): Promise<void> {
  const program = new Command('latchkey')
    .description('A key vault on your own machine: the service, and the commands to run it.')
    .version(version)
    .option('--data-dir <directory>', 'where the vault is (LATCHKEY_DATA_DIR)')
    .option('--config-dir <directory>', 'where API key files are (LATCHKEY_CONFIG_DIR)')
    .option('--json', 'write results as one line of JSON')
    .addHelpText('after', exitCodeHelp)
    .showHelpAfterError('(run latchkey --help for the commands)')
    .exitOverride();
  for (const declare of groups) declare(program);
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : 2;
      return;
    }
    fail(program.opts<GlobalOptions>().json === true, error);
  }
}
