/** The declarations of `keyhearth addresses`. */
import { Option, type Command } from 'commander';
import { apiKey } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';

interface ApiFlags {
  readonly apiKey: string;
}

export function declareAddresses(program: Command): void {
  const addresses = program.command('addresses').description('Name addresses of others');
  addSubcommand<ApiFlags>(addresses, {
    name: 'list',
    description: 'List the addresses that have a name',
    options: [apiKey()],
    run: async (config, flags, json) => {
      const { listAddresses } = await import('./addresses.ts');
      await listAddresses(config, { ...flags, json });
    },
  });
  addSubcommand<ApiFlags>(addresses, {
    name: 'add <name> <address>',
    description: 'Name an address',
    describes: { name: 'Name of the address', address: 'Address, compared with the receiver' },
    options: [apiKey()],
    run: async (config, flags, json, [name = '', address = '']) => {
      const { addAddress } = await import('./addresses.ts');
      await addAddress(config, { name, address }, { ...flags, json });
    },
  });
  addSubcommand<ApiFlags & { readonly yes?: true }>(addresses, {
    name: 'remove <name>',
    description: 'Delete the name of an address',
    describes: { name: 'Name, or the address' },
    options: [new Option('--yes', 'Delete without confirmation'), apiKey()],
    run: async (config, flags, json, [name = '']) => {
      const { removeAddress } = await import('./addresses.ts');
      await removeAddress(config, name, { ...flags, yes: flags.yes === true, json });
    },
  });
}
