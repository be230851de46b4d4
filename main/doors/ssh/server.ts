/** The socket of a program's SSH agent. Each connection asks one thing at a time; a client that leaves is not waited for. */
import type { Socket } from 'node:net';
import { readBinding } from '../../chains/ssh/bindings.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { owned, type OnFault } from '../../lib/faults.ts';
import type { OpenDoor, OpenOptions } from '../door.ts';
import type { Program } from '../program.ts';
import { openProgramSocket, whenRead, type ServedConnection } from '../program-socket.ts';
import { offeredKeys, signData, signMessage } from './keys.ts';
import {
  extensionRefused,
  failure,
  framed,
  keysAnswer,
  longestMessage,
  readRequest,
  signatureAnswer,
  signedMessageAnswer,
  success,
  type AgentRequest,
} from './messages.ts';

/** At once, of one program. */
const mostConnections = 1024;
/** Of one connection, as in OpenSSH's agent. */
const mostBindings = 16;
/** Bytes, as the API takes them. */
const longestBinding = 4096;

export const openSshAgent: OpenDoor = (program, options) =>
  openProgramSocket(
    `ssh-${program.name}`,
    options,
    mostConnections,
    (socket) => new Connection(program, socket, options),
  );

class Connection implements ServedConnection {
  readonly #program: Program;
  readonly #socket: Socket;
  readonly #homeDirectory: string;
  readonly #onFault: OnFault;
  readonly #gone = new AbortController();
  readonly #bindings: Uint8Array[] = [];
  #unread = Buffer.alloc(0);
  #isAnswering = false;

  constructor(program: Program, socket: Socket, { homeDirectory, onFault }: OpenOptions) {
    this.#program = program;
    this.#socket = socket;
    this.#homeDirectory = homeDirectory;
    this.#onFault = onFault;
    // A client that ends its side gets no answer: it is not there to read it.
    socket.on(
      'error',
      owned(() => undefined, onFault),
    );
    socket.on(
      'end',
      owned(() => {
        this.end();
      }, onFault),
    );
    socket.on(
      'data',
      owned((chunk: Buffer) => this.#read(chunk), onFault),
    );
  }

  end(): void {
    this.#gone.abort();
  }

  isBusy(): boolean {
    return this.#isAnswering;
  }

  async #read(chunk: Buffer): Promise<void> {
    this.#unread = Buffer.concat([this.#unread, chunk]);
    // A client waits for each answer: one that sends more than a message ahead is cut off.
    if (this.#unread.length > 2 * (longestMessage + 4)) this.#socket.destroy();
    if (this.#isAnswering) return;
    this.#isAnswering = true;
    try {
      for (let message; (message = this.#take()) !== undefined;) {
        const answer = await this.#answer(message);
        if (this.#gone.signal.aborted) return;
        this.#socket.write(framed(answer));
        // Answers that are not read would fill the memory.
        await whenRead(this.#socket);
      }
    } finally {
      this.#isAnswering = false;
    }
  }

  /** @returns the next message; undefined where it has not all come. */
  #take(): Buffer | undefined {
    if (this.#unread.length < 4) return undefined;
    const length = this.#unread.readUInt32BE();
    if (length === 0 || length > longestMessage) {
      this.#socket.destroy();
      return undefined;
    }
    if (this.#unread.length < 4 + length) return undefined;
    const message = this.#unread.subarray(4, 4 + length);
    this.#unread = this.#unread.subarray(4 + length);
    return message;
  }

  /** A refusal is an answer too: an agent has one word for all of them. */
  async #answer(message: Buffer): Promise<Uint8Array> {
    const read = readRequest(message);
    if (!read.ok) return failure;
    try {
      return await this.#handle(read.value);
    } catch (error) {
      if (!(error instanceof KeyhearthError)) this.#onFault(error);
      const reason = error instanceof KeyhearthError ? error.message : 'internal error';
      return read.value.kind === 'sign message' ? signedMessageAnswer(reason) : failure;
    }
  }

  async #handle(request: AgentRequest): Promise<Uint8Array> {
    const gone = this.#gone.signal;
    const wish = { bindings: this.#bindings, homeDirectory: this.#homeDirectory, gone };
    switch (request.kind) {
      case 'list keys':
        return keysAnswer(await offeredKeys(this.#program, gone));
      case 'sign':
        return signatureAnswer(await signData(this.#program, request, wish));
      case 'sign message':
        return signedMessageAnswer(await signMessage(this.#program, request, wish));
      case 'bind':
        return this.#bind(request.binding);
      case 'unknown extension':
        return extensionRefused;
    }
  }

  /**
   * A binding that does not hold is kept too: the way of every later request is then unknown, and policies refuse it. Without it
   * a request that another machine sent would pass as made here.
   */
  #bind(bytes: Uint8Array): Uint8Array {
    if (this.#bindings.length >= mostBindings || bytes.length > longestBinding) this.#socket.destroy();
    else this.#bindings.push(Uint8Array.from(bytes));
    return readBinding(bytes).ok ? success : failure;
  }
}
