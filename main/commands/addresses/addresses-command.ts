/** The declarations of `keyhearth addresses`. */
import { Option, type Command } from 'commander';
import { apiKey, type ApiOptions } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';

export function declareAddresses(program: Command): void {
  const addresses = program.command('addresses').description('Name addresses of others');
  addSubcommand<ApiOptions>(addresses, {
    name: 'list',
    description: 'List the addresses that have a name',
    options: [apiKey()],
    run: async (config, flags) => (await import('./addresses.ts')).listAddresses(config, flags),
  });
  addSubcommand<ApiOptions>(addresses, {
    name: 'add <name> <address>',
    description: 'Name an address',
    describes: { name: 'Name of the address', address: 'Address, compared with the receiver' },
    options: [apiKey()],
    run: async (config, flags, [name = '', address = '']) =>
      (await import('./addresses.ts')).addAddress(config, { name, address }, flags),
  });
  addSubcommand<ApiOptions & { readonly yes?: boolean }>(addresses, {
    name: 'remove <name>',
    description: 'Delete the name of an address',
    describes: { name: 'Name, or the address' },
    options: [new Option('--yes', 'Delete without confirmation'), apiKey()],
    run: async (config, flags, [name = '']) =>
      (await import('./addresses.ts')).removeAddress(config, name, flags),
  });
}
