/** The declarations of `keyhearth audit`. */
import { Option, type Command } from 'commander';
import { noKeychain, repeatable, secretOptions } from '../shared/options.ts';
import type { SecretOptions } from '../shared/proof.ts';
import { addSubcommand } from '../shared/subcommand.ts';
import { defined } from '../../lib/defined.ts';

interface AuditVerifyFlags {
  readonly publicKey?: string;
  readonly head: readonly string[];
}

interface AcceptRollbackFlags extends SecretOptions {
  readonly yes?: true;
}

export function declareAudit(program: Command): void {
  const audit = program.command('audit').description('Export and verify the activity log');
  addSubcommand(audit, {
    name: 'export <file>',
    description: 'Export the log and its signed heads to a new file, as JSON lines',
    describes: { file: 'New file; - for standard output' },
    run: async (config, _options, json, [file = '']) => {
      const { auditExport } = await import('./audit.ts');
      await auditExport(config, file, json);
    },
  });
  addSubcommand<AuditVerifyFlags>(audit, {
    name: 'verify [file]',
    description: 'Verify every entry and signed head of an exported log, or of the vault itself',
    describes: { file: 'Exported log, - for standard input; default: the vault’s own log' },
    options: [
      new Option('--public-key <hex>', 'Require this signing key, as you noted it'),
      repeatable('--head <head>', 'Compare with a head that you noted, SEQUENCE:HASH'),
      noKeychain(),
    ],
    run: async (config, { publicKey, head }, json, [file]) => {
      const { auditVerify } = await import('./audit.ts');
      const given = {
        ...defined({ file, publicKey }),
      };
      await auditVerify(config, { ...given, heads: head }, json);
    },
  });
  addSubcommand(audit, {
    name: 'head',
    description: 'Show the newest signed head, to note outside this computer',
    run: async (config, _options, json) => {
      const { auditHead } = await import('./audit.ts');
      await auditHead(config, json);
    },
  });
  addSubcommand(audit, {
    name: 'timeline',
    description: 'Show the security timeline: unlocks, wrong secrets, freezes, backups, new unlock methods',
    run: async (config, _options, json) => {
      const { auditTimeline } = await import('./timeline.ts');
      await auditTimeline(config, json);
    },
  });
  addSubcommand<AcceptRollbackFlags>(audit, {
    name: 'accept-rollback',
    description: 'Accept an older vault file that you restored yourself',
    options: [...secretOptions(), new Option('--yes', 'Skip the confirmation')],
    run: async (config, { yes, ...flags }, json) => {
      const { acceptRollback } = await import('./audit.ts');
      await acceptRollback(config, { ...flags, yes: yes === true }, json);
    },
  });
}
