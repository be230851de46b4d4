/** The declaration of `keyhearth doctor`. */
import { Option, type Command } from 'commander';
import { noKeychain, secretOptions } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';
import type { DoctorOptions } from './doctor.ts';

export function declareDoctor(program: Command): void {
  addSubcommand<DoctorOptions & { readonly acceptChanges?: boolean }>(program, {
    name: 'doctor',
    description: 'Check the cryptography, the keychain, and the vault’s files, rows and log',
    options: [
      ...secretOptions(),
      new Option('--keychain', 'Unlock with the operating system keychain to check the rows'),
      noKeychain(),
      new Option('--accept-changes', 'Accept changes from outside Keyhearth'),
      new Option('--yes', 'Skip the confirmation'),
    ],
    run: async (config, { acceptChanges: isAccepting, ...flags }) => {
      const { acceptChanges, doctor } = await import('./doctor.ts');
      await (isAccepting === true ? acceptChanges(config, flags) : doctor(config, flags));
    },
  });
}
