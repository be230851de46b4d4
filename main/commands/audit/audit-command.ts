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
  const audit = program
    .command('audit')
    .description('take out, check and note down the activity log, whether the vault runs or not');
  addSubcommand(audit, {
    name: 'export <file>',
    description:
      'write the log and its signed heads to a new file, a line of JSON each; - for standard output',
    run: async (config, _options, json, [file = '']) => {
      const { auditExport } = await import('./audit.ts');
      await auditExport(config, file, json);
    },
  });
  addSubcommand<AuditVerifyFlags>(audit, {
    name: 'verify [file]',
    description: 'check every row and signed head: of an exported log, or without a file of the vault’s own',
    options: [
      new Option('--public-key <hex>', 'the key that must have signed, as you noted it'),
      repeatable('--head <head>', 'a head that you noted, SEQUENCE:HASH'),
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
    description: 'write the newest signed head, to note down outside this machine',
    run: async (config, _options, json) => {
      const { auditHead } = await import('./audit.ts');
      await auditHead(config, json);
    },
  });
  addSubcommand<AcceptRollbackFlags>(audit, {
    name: 'accept-rollback',
    description: 'use a vault file that is older than the keychain knows of, because you put it back',
    options: [...secretOptions(), new Option('--yes', 'do not ask')],
    run: async (config, { yes, ...flags }, json) => {
      const { acceptRollback } = await import('./audit.ts');
      await acceptRollback(config, { ...flags, yes: yes === true }, json);
    },
  });
}
