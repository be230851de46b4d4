/**
 * Messages of the Model Context Protocol on a socket, one on each line. They are read as the vault reads all that says what is
 * signed: numbers to the last digit, and each name once. The SDK's own transport rounds numbers, and takes the last of two names.
 */
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  JSONRPCMessageSchema,
  RequestIdSchema,
  type JSONRPCMessage,
} from '@modelcontextprotocol/sdk/types.js';
import { isObject } from '../../crypto/json.ts';
import { messageOf } from '../../lib/errors.ts';
import { owned, type OnFault } from '../../lib/faults.ts';
import { rpcCodes } from '../../lib/web/json-rpc.ts';
import { whenRead } from '../program-socket.ts';
import { readBody } from '../read-body.ts';

/** Bytes of one message and what has come after it. */
const longestMessage = 1024 * 1024;

export class SocketTransport implements Transport {
  onclose?: () => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #socket: Socket;
  readonly #onFault: OnFault;
  #isClosed = false;
  #unread = Buffer.alloc(0);

  constructor(socket: Socket, onFault: OnFault) {
    this.#socket = socket;
    this.#onFault = onFault;
  }

  start(): Promise<void> {
    this.#socket.on(
      'data',
      owned((chunk: Buffer) => this.#take(chunk), this.#onFault),
    );
    return Promise.resolve();
  }

  /** A message that is too long ends the connection. */
  async #take(chunk: Buffer): Promise<void> {
    if (this.#unread.length + chunk.length > longestMessage) {
      this.#socket.destroy();
      return;
    }
    this.#unread = Buffer.concat([this.#unread, chunk]);
    // Nothing more is read of a client that does not read its answers: they would fill the memory.
    this.#socket.pause();
    for (let end; !this.#isClosed && (end = this.#unread.indexOf('\n')) !== -1;) {
      const line = this.#unread.subarray(0, end);
      this.#unread = this.#unread.subarray(end + 1);
      await this.#hand(line);
      await whenRead(this.#socket);
      // A client that sends thousands at once would keep all others from being served.
      await setImmediate();
    }
    this.#socket.resume();
  }

  async #hand(line: Buffer): Promise<void> {
    let message: JSONRPCMessage;
    try {
      message = JSONRPCMessageSchema.parse(readBody(line));
    } catch (error) {
      const id = idIn(line);
      if (id !== undefined)
        await this.send({ jsonrpc: '2.0', id, error: { code: rpcCodes.parse, message: messageOf(error) } });
      return;
    }
    this.onmessage?.(message);
  }

  close(): Promise<void> {
    this.#isClosed = true;
    this.#unread = Buffer.alloc(0);
    this.onclose?.();
    return Promise.resolve();
  }

  send(message: JSONRPCMessage): Promise<void> {
    this.#socket.write(serializeMessage(message));
    return Promise.resolve();
  }
}

/** The id of a message that is refused, for its caller to know which. */
function idIn(line: Buffer): string | number | undefined {
  try {
    const message: unknown = JSON.parse(line.toString('utf8'));
    return isObject(message) ? RequestIdSchema.safeParse(message['id']).data : undefined;
  } catch {
    return undefined;
  }
}
