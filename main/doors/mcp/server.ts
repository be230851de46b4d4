/** The door of the Model Context Protocol: each connection of a program's socket is a session of one agent. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { ProgramRequest } from '../../http/door-routes.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { serverNote } from '../../lib/text/agent-tools.ts';
import { owned } from '../../lib/faults.ts';
import type { OpenDoor } from '../door.ts';
import { openProgramSocket } from '../program-socket.ts';
import { readBody, sharedId, sharesIds } from '../read-body.ts';
import { shownJson, type AgentParts } from './answers.ts';
import { accountsOf, rightsOf } from './rights.ts';
import { SocketTransport } from './socket-transport.ts';
import { registerTools } from './tools.ts';

/** At once, of one agent. */
const mostConnections = 64;
/** Milliseconds. Clients give up on a call without a sign of life after a minute. */
const progressMs = 5000;

export const openMcp: OpenDoor = async (program, options) => {
  const { onFault } = options;
  const parts = { program, onFault, everyMs: progressMs };
  const open = await openProgramSocket(`mcp-${program.name}`, options, mostConnections, (socket) => {
    const gone = new AbortController();
    const server = agentServer({ ...parts, gone: gone.signal });
    // The reader gives up on a message that is too long: nothing more is read then.
    server.server.onclose = () => {
      socket.destroy();
    };
    socket.on(
      'error',
      owned(() => undefined, onFault),
    );
    server.connect(new SocketTransport(socket, onFault)).catch(onFault);
    return {
      end: () => {
        gone.abort();
        server.close().catch(onFault);
      },
      // A session is quiet while its model thinks.
      isBusy: () => true,
    };
  });
  return { ...open, answer: (asked) => answerOverHttp(agentServer({ ...parts, gone: asked.gone }), asked) };
};

/** Streamable HTTP, a server for each request: the token alone says which agent asks, so there is no session to take over. */
async function answerOverHttp(
  server: McpServer,
  { request, response, raw, gone }: ProgramRequest,
): Promise<void> {
  if (request.method !== 'POST') {
    throw new KeyhearthError('METHOD_NOT_ALLOWED', `expected POST, got ${String(request.method)}`);
  }
  const body = readBody(raw);
  // The transport knows by its id alone which call an answer is of.
  if (Array.isArray(body) && sharesIds(body)) throw new KeyhearthError('INVALID_ARGUMENT', sharedId);
  const transport = new StreamableHTTPServerTransport();
  await server.connect(transport);
  gone.addEventListener('abort', () => void server.close(), { once: true });
  await transport.handleRequest(request, response, body);
}

function agentServer(parts: AgentParts): McpServer {
  const { program, gone } = parts;
  const server = new McpServer({ name: 'keyhearth', version: '1' }, { instructions: serverNote });
  registerTools(server, parts);
  const resource = (name: string, title: string, read: () => Promise<unknown>): void => {
    const uri = `keyhearth://${name}`;
    server.registerResource(name, uri, { title, mimeType: 'application/json' }, async () => ({
      contents: [{ uri, mimeType: 'application/json', text: shownJson(await read()) }],
    }));
  };
  resource('accounts', 'Accounts that may sign', async () =>
    accountsOf(program, await rightsOf(program, gone), gone),
  );
  resource('policies', 'What this agent may do', async () => {
    const { words: rights, paused, budgets } = await rightsOf(program, gone);
    return { rights, paused, budgets };
  });
  server.registerPrompt(
    'rights',
    {
      title: 'Your rights',
      description: 'What you may sign, what is left of it, and what is always refused.',
    },
    async () => {
      const { words, budgets } = await rightsOf(program, gone);
      const left = budgets.map((each) => `Left of ${each.limit} per ${each.per}: ${each.left}.`);
      const text = ['You act through Keyhearth, within these rights:', ...words, ...left].join('\n');
      return { messages: [{ role: 'user', content: { type: 'text', text } }] };
    },
  );
  return server;
}
