/** The transports that send messages out of the vault, and how they fail. */
import type { OutgoingMessage } from '../../lib/messages.ts';
import { ExplainedError } from '../../lib/errors.ts';
import { shortened } from '../../lib/text/up-to.ts';

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

const onOneLine = (text: string): string => text.replace(/[\p{C}\s]+/gu, ' ').trim();

/** Quotes a server's answer on one line, bounded and without the secrets of the request. */
export function quoted(answer: string, secrets: readonly string[]): string {
  const lines = secrets.map(onOneLine).filter((secret) => secret !== '');
  let text = onOneLine(answer);
  for (const secret of lines) {
    if (secret.length >= shortestSecret) text = text.replaceAll(secret, '[…]');
  }
  // A server that does not know a command repeats it, and a login is sent in base64. The server may cut it off.
  text = text.replace(/[A-Za-z0-9+/]{4,}=*/g, (word) => {
    const decoded = Buffer.from(word, 'base64').toString('utf8');
    return lines.some((secret) => decoded.includes(secret.slice(0, shortestSecret))) ? '[…]' : word;
  });
  return shortened(text, longestAnswer);
}
