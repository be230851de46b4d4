/** Agents at the door of the Model Context Protocol. Their policies are those of spenders. */
import type { DoorKind } from './door-kind.ts';

export const mcpDoor: DoorKind = {
  words: {
    title: 'Agents',
    about: 'AI agents ask for payments and signatures by the Model Context Protocol (MCP).',
    may: 'Spends within budgets.',
    asks: 'Payments beyond a budget wait for your approval.',
    command: 'Command of the MCP server',
    url: 'Over HTTP',
    header: 'With the header',
  },
  endpoint: 'mcp',
  keyTag: undefined,
  hasNodes: false,
  curves: ['CURVE_SECP256K1'],
  takes: [],
  policies: undefined,
  addedBy: 'keyhearth agents add',
  read: undefined,
  setup: ({ name, address, token }) => [
    { what: 'command', text: `keyhearth mcp --as ${name}` },
    { what: 'url', text: address },
    { what: 'header', text: `Authorization: Bearer ${token}` },
  ],
};

/** Names of the policies of an agent begin so. */
export const agentTitle = (name: string): string => `Agent ${name}`;
