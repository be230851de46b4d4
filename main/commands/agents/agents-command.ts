/** The declarations of `keyhearth agents` and `keyhearth mcp`. */
import { Option, type Command } from 'commander';
import { ownerOptions, repeatable, withoutAsking } from '../shared/options.ts';
import type { OwnerOptions } from '../shared/owner-api.ts';
import { addSubcommand } from '../shared/subcommand.ts';
import type { AddAgentOptions } from './add-agent.ts';

const name = { name: 'Name of the agent' };

export function declareAgents(program: Command): void {
  const agents = program
    .command('agents')
    .description('Manage AI agents that spend within budgets, by the Model Context Protocol');
  addSubcommand<OwnerOptions>(agents, {
    name: 'list',
    description: 'List the agents, their permissions and what is left of their budgets',
    options: ownerOptions(),
    run: async (config, flags) => (await import('./agents.ts')).listAgents(config, flags),
  });
  addSubcommand<AddAgentOptions>(agents, {
    name: 'add <name>',
    description: 'Create an agent: a user, its policies and a key that the vault keeps',
    describes: { name: 'Name of the agent: small letters, digits and hyphens' },
    options: [
      new Option(
        '--wallet <wallet>',
        'Wallet to spend from: ID, start of the ID, or name',
      ).makeOptionMandatory(),
      repeatable('--budget <budget>', 'Limit per hour, day or week, such as "5 USDC/day" or "0.05 ETH/day"'),
      repeatable('--to <address>', 'Address that may be paid, or may spend by an approval; default: any'),
      repeatable('--chain <number>', 'Chain ID of a network; default: 1'),
      new Option('--messages', 'Allow texts to be signed, such as sign-ins'),
      new Option('--ask', 'Ask the owner for approval beyond a budget, instead of refusing'),
      new Option('--expires <days>', 'Days until the agent loses access; default: never'),
      new Option('--client <file>', 'JSON file of an MCP client to add the server to, once it is shown'),
      new Option('--yes', 'Write the file of the client without confirmation'),
      ...ownerOptions(),
    ],
    run: async (config, flags, [wanted = '']) =>
      (await import('./add-agent.ts')).addAgent(config, wanted, flags),
  });
  addSubcommand<OwnerOptions>(agents, {
    name: 'show <name>',
    description: 'Show an agent: what it may do, what it has spent, its last and its refused requests',
    describes: name,
    options: ownerOptions(),
    run: async (config, flags, [wanted = '']) =>
      (await import('./agents.ts')).showAgent(config, wanted, flags),
  });
  for (const [verb, description, paused] of [
    ['pause', 'Refuse everything that an agent asks for, until it is resumed', true],
    ['resume', 'Let an agent work again within its budgets', false],
  ] as const) {
    addSubcommand<OwnerOptions>(agents, {
      name: `${verb} <name>`,
      description,
      describes: name,
      options: ownerOptions(),
      run: async (config, flags, [wanted = '']) =>
        (await import('./agents.ts')).pauseAgent(config, wanted, paused, flags),
    });
  }
  addSubcommand<OwnerOptions & { readonly yes?: boolean }>(agents, {
    name: 'remove <name>',
    description: 'Revoke an agent with its user, key and policies',
    describes: name,
    options: [withoutAsking(), ...ownerOptions()],
    run: async (config, flags, [wanted = '']) =>
      (await import('../doors/programs.ts')).removeProgram(config, wanted, { ...flags, door: 'mcp' }),
  });
  addSubcommand(agents, {
    name: 'skill',
    description: 'Print a SKILL.md by which an agent learns to use its tools',
    run: async (config, { json }) => (await import('./skill.ts')).printSkill(config, json),
  });
}

export function declareMcp(program: Command): void {
  addSubcommand<{ readonly as: string }>(program, {
    name: 'mcp',
    description: 'Serve an agent by the Model Context Protocol on standard input and output',
    options: [new Option('--as <name>', 'Name of the agent').makeOptionMandatory()],
    run: async (config, { as }) => {
      const { serveMcp } = await import('./mcp.ts');
      await serveMcp(config, as);
    },
  });
}
