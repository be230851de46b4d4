/** The declaration of `keyhearth doctor`. */
import { Option, type Command } from 'commander';
import { noKeychain, secretOptions } from '../shared/options.ts';
import type { SecretOptions } from '../shared/proof.ts';
import { addSubcommand } from '../shared/subcommand.ts';

interface DoctorFlags extends SecretOptions {
  readonly keychain?: true;
  readonly acceptChanges?: true;
  readonly yes?: true;
}

export function declareDoctor(program: Command): void {
  addSubcommand<DoctorFlags>(program, {
    name: 'doctor',
    description: 'check the cryptography, the keychain, and the vault’s files, rows and log',
    options: [
      ...secretOptions(),
      new Option('--keychain', 'check the rows with what the operating system keychain opens'),
      noKeychain(),
      new Option(
        '--accept-changes',
        'use the vault’s file as it is now, though it was changed outside Keyhearth',
      ),
      new Option('--yes', 'accept without asking'),
    ],
    run: async (config, { keychain, acceptChanges: accept, yes, ...flags }, json) => {
      const { acceptChanges, doctor } = await import('./doctor.ts');
      const options = { ...flags, keychain: keychain === true };
      await (accept === true
        ? acceptChanges(config, json, { ...options, yes: yes === true })
        : doctor(config, json, options));
    },
  });
}
