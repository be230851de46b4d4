/** The declarations of `keyhearth audit`. */
import { Option, type Command } from 'commander';
import { noKeychain, repeatable, secretOptions } from '../shared/options.ts';
import type { AcceptRollbackOptions, AuditVerifyOptions } from './audit.ts';
import { addSubcommand } from '../shared/subcommand.ts';

export function declareAudit(program: Command): void {
  const audit = program.command('audit').description('Export and verify the activity log');
  addSubcommand(audit, {
    name: 'export <file>',
    description: 'Export the log and its signed heads to a new file, as JSON lines',
    describes: { file: 'New file; - for standard output' },
    run: async (config, { json }, [file = '']) =>
      (await import('./audit.ts')).auditExport(config, file, json),
  });
  addSubcommand<AuditVerifyOptions>(audit, {
    name: 'verify [file]',
    description: 'Verify every entry and signed head of an exported log, or of the vault itself',
    describes: { file: 'Exported log, - for standard input; default: the vault’s own log' },
    options: [
      new Option('--public-key <hex>', 'Require this signing key, as you noted it'),
      repeatable('--head <head>', 'Compare with a head that you noted, SEQUENCE:HASH'),
      noKeychain(),
    ],
    run: async (config, flags, [file]) => (await import('./audit.ts')).auditVerify(config, file, flags),
  });
  addSubcommand(audit, {
    name: 'head',
    description: 'Show the newest signed head, to note outside this computer',
    run: async (config, { json }) => (await import('./audit.ts')).auditHead(config, json),
  });
  addSubcommand(audit, {
    name: 'timeline',
    description: 'Show the security timeline: unlocks, wrong secrets, freezes, backups, new unlock methods',
    run: async (config, { json }) => (await import('./timeline.ts')).auditTimeline(config, json),
  });
  addSubcommand<AcceptRollbackOptions>(audit, {
    name: 'accept-rollback',
    description: 'Accept an older vault file that you restored yourself',
    options: [...secretOptions(), new Option('--yes', 'Skip the confirmation')],
    run: async (config, flags) => (await import('./audit.ts')).acceptRollback(config, flags),
  });
}
