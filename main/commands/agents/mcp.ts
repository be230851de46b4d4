/**
 * `keyhearth mcp`: joins standard input and output to the agent's socket. The server runs in the process that holds the vault,
 * so this one holds no key.
 */
import { createConnection } from 'node:net';
import { pipeline } from 'node:stream/promises';
import type { Config } from '../../app/config.ts';
import { checkSocket } from '../../control/socket-path.ts';
import { findProgram } from '../doors/doors.ts';
import { CommandError, exitCodes } from '../shared/output.ts';

export async function serveMcp(config: Config, name: string): Promise<void> {
  const { socket } = await findProgram(config, 'mcp', name);
  if (socket === null || !checkSocket(socket)) {
    throw new CommandError(exitCodes.failed, `the socket of ${name} is not open: \`keyhearth doors list\``);
  }
  const connection = createConnection(socket);
  // The end of either side is the end of the session.
  await Promise.all([
    pipeline(process.stdin, connection).catch(() => connection.destroy()),
    pipeline(connection, process.stdout, { end: false }).catch(() => undefined),
  ]);
}
