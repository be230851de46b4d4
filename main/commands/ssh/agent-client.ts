/** Asks a program's agent as an SSH client does. */
import { createConnection } from 'node:net';
import { CommandError, exitCodes } from '../shared/output.ts';
import { checkSocket } from '../../control/socket-path.ts';
import { owned } from '../../lib/faults.ts';
import { longestMessage } from '../../doors/ssh/messages.ts';
import { listKeysRequest, readKeys, type AgentKey } from './agent-messages.ts';

/** @param request Framed. @returns the answer without its length. */
export async function askAgent(socket: string, request: Uint8Array): Promise<Uint8Array> {
  const refuse = (problem: string): CommandError =>
    new CommandError(
      exitCodes.failed,
      `the agent at ${socket} ${problem}: is the vault open and the door on? \`keyhearth ssh status\``,
    );
  if (!checkSocket(socket)) throw refuse('is not there');
  return new Promise((resolve, reject) => {
    const connection = createConnection(socket);
    const fail = (error: unknown): void => {
      reject(error instanceof Error ? error : refuse('failed'));
    };
    let answer = Buffer.alloc(0);
    connection.on(
      'data',
      owned((chunk: Buffer) => {
        answer = Buffer.concat([answer, chunk]);
        if (answer.length < 4) return;
        const length = answer.readUInt32BE();
        if (length > longestMessage) throw refuse('sent too much');
        if (answer.length < 4 + length) return;
        connection.destroy();
        resolve(answer.subarray(4, 4 + length));
      }, fail),
    );
    connection.on(
      'error',
      owned(() => {
        reject(refuse('does not answer'));
      }, fail),
    );
    connection.on(
      'close',
      owned(() => {
        reject(refuse('closed the connection'));
      }, fail),
    );
    connection.write(request);
  });
}

export async function listAgentKeys(socket: string): Promise<readonly AgentKey[]> {
  const keys = readKeys(await askAgent(socket, listKeysRequest));
  if (keys.ok) return keys.value;
  throw new CommandError(exitCodes.failed, `the agent lists no keys: ${keys.problem}`);
}

/** As a line of `authorized_keys`. */
export const publicLine = ({ blob, comment }: AgentKey): string => {
  const length = Buffer.from(blob).readUInt32BE();
  const type = Buffer.from(blob.subarray(4, 4 + length)).toString('latin1');
  return `${type} ${Buffer.from(blob).toString('base64')} ${comment.replaceAll(/[^ -~]/g, '?')}`;
};
