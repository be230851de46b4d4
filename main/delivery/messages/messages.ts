/** Messages to people: they leave by the outbox, sealed until then, and are sent by a channel or shown here. */
import { randomUUID } from 'node:crypto';
import type {
  MessageDelivery,
  MessagesStatus,
  MessageTest,
  ShownMessage,
} from '../../../preload/contract.ts';
import type { Reader, Writer } from '../../storage/connection.ts';
import { getMessageChannel, type MessageChannelName } from '../../storage/tables/message-channels.ts';
import {
  findDelivery,
  hasWaiting,
  hasOutboxPayload,
  listDeliveriesOfKind,
  sendAgain,
  type OutboxRow,
} from '../../storage/tables/outbox.ts';
import type { UnitOfWork } from '../../storage/unit-of-work.ts';
import { requireVault } from '../../storage/tables/vault.ts';
import type { Clock } from '../../lib/clock.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import type { OutgoingMessage } from '../../lib/messages.ts';
import { networkIsOff } from '../../lib/network.ts';
import type { Transport, Delivery, Outbox, DeliveryOutcome } from '../queue/outbox.ts';
import { TransportError } from './transport.ts';
import {
  channelOf,
  Channels,
  isCutOff,
  notSetUp,
  senderProblem,
  settingsOf,
  type ChannelChange,
  type ChannelKeys,
} from './channels.ts';
import { ShownMessages, type KeptMessage, type Sending } from './shown-messages.ts';

interface MessageKeys extends ChannelKeys {
  readonly unlocked: boolean;
  checkUnlocked(): void;
  onChange(listener: (unlocked: boolean) => void): () => void;
}

export interface MessageParts {
  readonly units: UnitOfWork;
  readonly keys: MessageKeys;
  readonly clock: Clock;
  readonly outbox: Pick<Outbox, 'register' | 'enqueue' | 'look'>;
  /** Sends nothing and keeps all messages to be read: `keyhearth dev`. */
  readonly inboxOnly: boolean;
  /** Called when the state of messages has changed. */
  readonly onChange: () => void;
  /** A message came that is shown here. */
  readonly onShown: (id: string) => void;
}

/** The kind of these deliveries in the outbox. */
export const messageKind = 'message';

const loggedDeliveries = 100;
const testPatienceMs = 30_000;
const testLastsMs = 5 * 60_000;

export class Messages {
  readonly #parts: MessageParts;
  readonly #channels: Channels;
  readonly #shown: ShownMessages;
  readonly #stopListening: () => void;
  readonly #waiting: (() => void)[] = [];

  constructor(parts: MessageParts) {
    this.#parts = parts;
    this.#channels = new Channels(parts.keys);
    this.#shown = new ShownMessages(parts.clock, parts.inboxOnly);
    parts.outbox.register({
      kind: messageKind,
      deliver: (...given) => this.#deliver(...given),
    } satisfies Transport);
    this.#stopListening = parts.keys.onChange((unlocked) => {
      if (unlocked) return;
      this.#wake();
      this.#channels.closeTransports();
      this.#shown.onLock();
    });
  }

  /**
   * Puts a message into the outbox.
   * @throws KeyhearthError FAILED_PRECONDITION where nothing is set up that could send it.
   */
  post(tx: Writer, organizationId: string, message: OutgoingMessage): void {
    this.#checkPostable(tx, message);
    const { clock, outbox } = this.#parts;
    const { channel, to } = message;
    const payload = Buffer.from(JSON.stringify(message));
    outbox.enqueue(tx, {
      organizationId,
      kind: messageKind,
      reference: JSON.stringify({ channel, to }),
      // Of the machine's clock, by which the outbox goes.
      expiresAt: clock.wall() + message.expiresAt - clock.now(),
      payload,
    });
    payload.fill(0);
  }

  status(): MessagesStatus {
    const { units, clock, inboxOnly } = this.#parts;
    const now = clock.wall();
    return units.read((tx) => ({
      inboxOnly,
      mail: settingsOf(tx, 'mail'),
      sms: settingsOf(tx, 'sms'),
      desktop: getMessageChannel(tx, 'desktop') !== undefined,
      deliveries: listDeliveriesOfKind(tx, messageKind, loggedDeliveries).map((row) =>
        toDelivery(tx, row, now),
      ),
    }));
  }

  /** @throws KeyhearthError VAULT_LOCKED, or INVALID_ARGUMENT where a password is missing that is not kept. */
  async change(change: ChannelChange): Promise<MessagesStatus> {
    const { units, keys, clock, outbox, onChange } = this.#parts;
    keys.checkUnlocked();
    await units.write((tx) => {
      requireVault(tx);
      this.#channels.change(tx, change, clock.now());
      // Failed messages are sent again with the new settings.
      for (const { id, organizationId, state } of listDeliveriesOfKind(tx, messageKind, loggedDeliveries)) {
        if (state === 'waiting') sendAgain(tx, organizationId, id);
      }
    });
    this.#channels.closeTransports();
    outbox.look();
    onChange();
    return this.status();
  }

  /**
   * Sends a message that says it is a test, without the outbox: the caller waits for the result.
   * @throws KeyhearthError FAILED_PRECONDITION where the channel is not set up, UNAVAILABLE where it did not work.
   */
  async test(test: MessageTest): Promise<{ readonly note: string }> {
    const { units, clock, keys, inboxOnly } = this.#parts;
    keys.checkUnlocked();
    const isOn = units.read((tx) => {
      requireVault(tx);
      return inboxOnly || getMessageChannel(tx, test.channel) !== undefined;
    });
    if (!isOn) throw notSetUp(test.channel);
    const id = randomUUID();
    const now = clock.now();
    const message: OutgoingMessage = {
      channel: test.channel === 'sms' ? 'sms' : 'email',
      to: 'to' in test ? test.to : 'this computer',
      subject: test.channel === 'sms' ? '' : 'A test from Keyhearth',
      text: 'This is a test from Keyhearth. Messages from your key vault arrive here.\n',
      code: test.channel === 'desktop' ? 'TEST' : '',
      expiresAt: now + testLastsMs,
    };
    try {
      const note = await this.#send(
        inboxOnly ? 'desktop' : test.channel,
        { id, message, sequence: Number.MAX_SAFE_INTEGER, expiresAt: clock.wall() + testLastsMs },
        AbortSignal.timeout(testPatienceMs),
      );
      return { note };
    } catch (error) {
      if (error instanceof TransportError) throw new KeyhearthError('UNAVAILABLE', error.message);
      throw error;
    }
  }

  /** @throws KeyhearthError NOT_FOUND, or FAILED_PRECONDITION for a message that can no longer be sent. */
  async retry(id: string): Promise<MessagesStatus> {
    const { units, keys, clock, outbox } = this.#parts;
    keys.checkUnlocked();
    await units.write((tx) => {
      const row = findDelivery(tx, messageKind, id);
      if (row === undefined) throw new KeyhearthError('NOT_FOUND', 'there is no such message');
      if (!canRetry(tx, row, clock.wall())) {
        throw new KeyhearthError(
          'FAILED_PRECONDITION',
          row.state === 'delivered'
            ? 'this message was delivered, and what it said is not kept: ask for a new one'
            : 'this message has expired, and what it said is not kept: ask for a new one',
        );
      }
      sendAgain(tx, row.organizationId, id);
    });
    outbox.look();
    return this.status();
  }

  /** Messages that are shown here, newest last. */
  shown(): readonly ShownMessage[] {
    return this.#shown.list();
  }

  /** The input of `restore`, to show the same messages again. */
  get kept(): readonly KeptMessage[] {
    return this.#shown.kept;
  }

  restore(kept: readonly KeptMessage[]): void {
    this.#shown.restore(kept);
  }

  /** The state of a message has changed. */
  noticed(): void {
    this.#wake();
    this.#parts.onChange();
  }

  /** Resolves once nothing waits that can be delivered now. */
  async settled(): Promise<void> {
    const { units, keys } = this.#parts;
    while (keys.unlocked && units.read((tx) => hasWaiting(tx, messageKind))) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  close(): void {
    this.#stopListening();
    this.#wake();
    this.#shown.restore([]);
    this.#channels.closeTransports();
  }

  #checkPostable(tx: Reader, message: OutgoingMessage): void {
    const route = this.#routeOf(tx, message);
    if (route === undefined) throw notSetUp(channelOf[message.channel]);
    const problem = senderProblem(tx, route, message);
    if (problem === undefined && isCutOff(tx, route)) {
      throw new KeyhearthError('FAILED_PRECONDITION', networkIsOff);
    }
    if (problem === undefined) return;
    throw new KeyhearthError('FAILED_PRECONDITION', problem, { turnkeyErrorCode: 'EMAIL_SENDING_DISABLED' });
  }

  /** The channel's own setting; where it has none, this computer if that is allowed. */
  #routeOf(tx: Reader, { channel }: Pick<OutgoingMessage, 'channel'>): MessageChannelName | undefined {
    if (this.#parts.inboxOnly) return 'desktop';
    const routes = [channelOf[channel], 'desktop'] as const;
    return routes.find((name) => getMessageChannel(tx, name) !== undefined);
  }

  async #deliver(
    { id, sequence, payload, expiresAt }: Delivery,
    signal: AbortSignal,
  ): Promise<DeliveryOutcome> {
    if (payload === undefined) return { outcome: 'refused', note: 'what it said is not there' };
    const message = JSON.parse(Buffer.from(payload).toString('utf8')) as OutgoingMessage;
    const { route, problem } = this.#parts.units.read((tx) => {
      const way = this.#routeOf(tx, message);
      return { route: way, problem: senderProblem(tx, way, message) };
    });
    if (route === undefined) return { outcome: 'retry', note: notSetUp(channelOf[message.channel]).message };
    // The settings are not those of when it was posted.
    if (problem !== undefined) return { outcome: 'refused', note: problem };
    try {
      const sending = { id, message, sequence, expiresAt: expiresAt ?? Infinity };
      return { outcome: 'delivered', note: await this.#send(route, sending, signal) };
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      return { outcome: error.permanent ? 'refused' : 'retry', note: error.message };
    }
  }

  /** @returns what took it, in words. @throws TransportError */
  async #send(route: MessageChannelName, sending: Sending, signal: AbortSignal): Promise<string> {
    const { units, inboxOnly, onChange, onShown } = this.#parts;
    if (route === 'desktop') {
      this.#shown.add(sending);
      if (inboxOnly) onChange();
      else onShown(sending.id);
      return inboxOnly ? 'kept in the inbox' : 'shown on this computer';
    }
    const { transport, at } = units.read((tx) => {
      if (isCutOff(tx, route)) throw new TransportError(networkIsOff, false);
      return this.#channels.transportOf(tx, route);
    });
    await transport.send(sending.id, sending.message, signal);
    return `taken by ${at}`;
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

const canRetry = (tx: Reader, { id, state, expiresAt }: OutboxRow, now: number): boolean =>
  state !== 'delivered' && (expiresAt === null || expiresAt > now) && hasOutboxPayload(tx, id);

function toDelivery(tx: Reader, row: OutboxRow, now: number): MessageDelivery {
  const { channel, to } = JSON.parse(row.reference) as Pick<OutgoingMessage, 'channel' | 'to'>;
  const { id, createdAt, state, attempts, note, nextAt, finishedAt } = row;
  return {
    id,
    channel,
    to,
    createdAt,
    state,
    attempts,
    note,
    nextAt: state === 'waiting' && nextAt > now ? nextAt : null,
    finishedAt,
    canRetry: canRetry(tx, row, now),
  };
}
