/** Agents at the door of the Model Context Protocol. Their policies are those of spenders. */
import type { DoorKind } from './door-kind.ts';

/** Names of the policies of an agent begin so. */
export const agentTitle = (name: string): string => `Agent ${name}`;

export const mcpDoor: DoorKind = {
  policyTitle: agentTitle,
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
  screen: '/agents',
  addedBy: 'keyhearth agents add',
  read: undefined,
  setup: ({ name, address, token }) => [
    { what: 'command', text: `keyhearth mcp --as ${name}` },
    { what: 'url', text: address },
    { what: 'header', text: `Authorization: Bearer ${token}` },
  ],
};

/** An entry of `mcpServers` in the configuration of a client. */
export interface ClientEntry {
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * How a client starts the server of an agent. It has no secret: the key stays in the vault, and the server reaches it by a socket
 * that only this user may open.
 * @param program The words that run the command.
 */
export const clientEntry = (
  [command, ...rest]: readonly [string, ...string[]],
  name: string,
  directory: string,
): ClientEntry => ({ command, args: [...rest, 'mcp', '--as', name, '--data-dir', directory] });

/** For a client that cannot start a program. The token is the agent's only credential there. */
export const httpEntry = (url: string, token: string) => ({
  type: 'http',
  url,
  headers: { Authorization: `Bearer ${token}` },
});

export const serverOf = (name: string): string => `keyhearth-${name}`;

/** The configuration of a client that has no other server. */
export const clientFile = (name: string, entry: object) => ({ mcpServers: { [serverOf(name)]: entry } });
