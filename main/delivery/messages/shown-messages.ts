/**
 * Messages that are shown here instead of sent. In the inbox of `keyhearth dev` they stay; on a desktop, until they expire or
 * the vault is locked.
 */
import type { ShownMessage } from '../../../preload/contract.ts';
import type { Clock } from '../../lib/clock.ts';
import type { OutgoingMessage } from '../../lib/messages.ts';

/** A shown message with its number in the outbox, since several are delivered at once. */
export interface KeptMessage extends ShownMessage {
  readonly sequence: number;
  /** By the machine's clock. */
  readonly expiresAt: number;
}

/** A message on its way. */
export interface Sending extends Pick<KeptMessage, 'id' | 'sequence' | 'expiresAt'> {
  readonly message: OutgoingMessage;
}

/** Of what is shown on a desktop, where more is a flood; and in an inbox, which tests look through. */
const mostShown = 200;
const mostInInbox = 10_000;

export class ShownMessages {
  readonly #clock: Clock;
  readonly #isInbox: boolean;
  #kept: readonly KeptMessage[] = [];

  constructor(clock: Clock, isInbox: boolean) {
    this.#clock = clock;
    this.#isInbox = isInbox;
  }

  /** Newest last. */
  list(): readonly ShownMessage[] {
    this.#forgetExpired();
    return this.#kept.map(({ id, channel, to, subject, text, code, at }) => ({
      id,
      channel,
      to,
      subject,
      text,
      code,
      at,
    }));
  }

  /** The input of `restore`, to show the same messages again. */
  get kept(): readonly KeptMessage[] {
    return this.#kept;
  }

  restore(kept: readonly KeptMessage[]): void {
    this.#kept = kept;
  }

  add({ id, message, sequence, expiresAt }: Sending): void {
    this.#forgetExpired();
    const { channel, to, subject, text, code } = message;
    const at = this.#clock.now();
    const others = this.#kept.filter((each) => each.id !== id);
    this.#kept = [...others, { id, channel, to, subject, text, code, at, sequence, expiresAt }]
      .sort((a, b) => a.sequence - b.sequence)
      .slice(-(this.#isInbox ? mostInInbox : mostShown));
  }

  onLock(): void {
    if (!this.#isInbox) this.#kept = [];
  }

  #forgetExpired(): void {
    if (this.#isInbox) return;
    const now = this.#clock.wall();
    this.#kept = this.#kept.filter(({ expiresAt }) => expiresAt > now);
  }
}
