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
    description: 'Check the cryptography, the keychain, and the vault’s files, rows and log',
    options: [
      ...secretOptions(),
      new Option('--keychain', 'Unlock with the operating system keychain to check the rows'),
      noKeychain(),
      new Option('--accept-changes', 'Accept changes from outside Keyhearth'),
      new Option('--yes', 'Skip the confirmation'),
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
