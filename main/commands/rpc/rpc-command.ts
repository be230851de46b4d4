/** The declarations of `keyhearth rpc`. */
import { Option, type Command } from 'commander';
import { ownerOptions, repeatable, withoutAsking } from '../shared/options.ts';
import type { OwnerOptions } from '../shared/owner-api.ts';
import { addSubcommand } from '../shared/subcommand.ts';
import type { AddToolOptions, NodeOptions } from './rpc.ts';

export function declareRpc(program: Command): void {
  const rpc = program
    .command('rpc')
    .description('Let Ethereum tools send transactions within a budget, over JSON-RPC');
  addSubcommand<OwnerOptions>(rpc, {
    name: 'list',
    description: 'List the tools and their permissions',
    options: ownerOptions(),
    run: async (config, flags) => (await import('./rpc.ts')).listTools(config, flags),
  });
  addSubcommand<AddToolOptions>(rpc, {
    name: 'add <name>',
    description: 'Pair a tool: a user, its policies, a key that the vault keeps, and a token',
    describes: { name: 'Name of the tool and its user: small letters, digits and hyphens' },
    options: [
      new Option(
        '--wallet <wallet>',
        'Wallet to send from: ID, start of the ID, or name',
      ).makeOptionMandatory(),
      new Option(
        '--budget <budget>',
        'Limit per hour, day or week, fees included, such as "0.5 ETH/day"',
      ).makeOptionMandatory(),
      new Option('--chain <numbers>', 'Chain IDs of the networks, separated by commas').default('1'),
      repeatable('--to <address>', 'Address that the tool may send to; default: any, and new contracts'),
      new Option('--tokens', 'Allow calls that move tokens, which the budget does not count'),
      new Option('--ask', 'Ask the owner beyond the budget and for messages; default: refuse both'),
      new Option('--expires <days>', 'Days until the tool loses access, such as 30d; default: never'),
      ...ownerOptions(),
    ],
    run: async (config, flags, [name = '']) => (await import('./rpc.ts')).addTool(config, name, flags),
  });
  addSubcommand<NodeOptions>(rpc, {
    name: 'node <chain-id> [url]',
    description: 'Set the node of a chain, which all that the vault does not answer is passed on to',
    describes: { 'chain-id': 'Chain ID of the network', url: 'Address of its JSON-RPC' },
    options: [
      new Option('--url-file <file>', 'Read the address from a file, where it has a secret'),
      new Option('--remove', 'Remove the node of the chain'),
      new Option(
        '--previews <switch>',
        'Ask the node what transactions that wait for approval would do; off for a new node',
      ).choices(['on', 'off']),
    ],
    run: async (config, flags, [chainId = '', url]) =>
      (await import('./rpc.ts')).setNode(config, chainId, url, flags),
  });
  addSubcommand<OwnerOptions & { readonly yes?: boolean }>(rpc, {
    name: 'remove <name>',
    description: 'Revoke a tool with its user, key, token and policies',
    describes: { name: 'Name of the tool' },
    options: [withoutAsking(), ...ownerOptions()],
    run: async (config, flags, [name = '']) =>
      (await import('../doors/programs.ts')).removeProgram(config, name, { ...flags, door: 'ethereum' }),
  });
}
