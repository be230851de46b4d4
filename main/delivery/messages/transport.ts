/** The transports that send messages out of the vault, and how they fail. */
import type { OutgoingMessage } from '../../lib/messages.ts';
import { ExplainedError } from '../../lib/errors.ts';

export interface MessageTransport {
  /**
   * Hands a message over to the server that delivers it.
   * @param id The same at every try of one message, so that its reader's side can tell a second copy.
   * @throws TransportError
   */
  send(id: string, message: OutgoingMessage, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** Why a message was not taken, in words that hold neither its text nor a secret of the settings. */
export class TransportError extends ExplainedError {
  override readonly name = 'TransportError';
  /** True if the same message would be refused again. */
  readonly permanent: boolean;

  constructor(message: string, permanent: boolean) {
    super(message);
    this.permanent = permanent;
  }
}

/** Of what a stranger's server says. */
const longestAnswer = 200;
/** Shorter texts are in words by chance. */
const shortestSecret = 4;

/** Quotes a server's answer on one line, bounded and without the secrets of the request. */
export function quoted(answer: string, secrets: readonly string[]): string {
  let text = answer.replace(/[\p{C}\s]+/gu, ' ').trim();
  for (const secret of secrets) {
    if (secret.length >= shortestSecret) text = text.replaceAll(secret, '[…]');
  }
  return text.length <= longestAnswer ? text : `${text.slice(0, longestAnswer)}…`;
}
