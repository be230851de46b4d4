/**
 * Messages to people: what may send them, the carriers that do, and those that are shown here instead. They leave by the
 * outbox, sealed until then.
 */
import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import type { MessageDelivery, MessagesStatus, MessageTest, ShownMessage } from '../../preload/contract.ts';
import type { Place } from '../crypto/sealing.ts';
import type { Reader, Writer } from '../db/connection.ts';
import {
  deleteMessageChannel,
  getMessageChannel,
  messageChannelPlace,
  putMessageChannel,
  type MessageChannelName,
  type MessageChannelRow,
} from '../db/message-channels.ts';
import { isNetworkOn } from '../db/settings.ts';
import {
  findDelivery,
  hasWaiting,
  hasOutboxPayload,
  listDeliveriesOfKind,
  sendAgain,
  type OutboxRow,
} from '../db/outbox.ts';
import type { UnitOfWork } from '../db/unit-of-work.ts';
import { requireVault } from '../db/vault.ts';
import type { Clock } from '../lib/clock.ts';
import { LatchkeyError } from '../lib/errors.ts';
import { isThisMachine, networkIsOff } from '../lib/network.ts';
import type { Message } from '../lib/messages.ts';
import type { Carrier, Delivery, Outbox, Outcome } from '../outbox/outbox.ts';
import { CarryError, type MessageCarrier } from './carrier.ts';
import { gatewayCarrier, type HttpGateway, type TwilioGateway } from './http-gateway.ts';
import type { channelChange } from './settings.ts';
import { maySendFrom, smtpCarrier } from './smtp.ts';

type ChannelChange = z.output<typeof channelChange>;

interface MessageKeys {
  readonly unlocked: boolean;
  checkUnlocked(): void;
  seal(place: Place, secret: Uint8Array): Uint8Array;
  open(place: Place, sealed: Uint8Array): Uint8Array;
  onChange(listener: (unlocked: boolean) => void): () => void;
}

export interface MessageParts {
  readonly units: UnitOfWork;
  readonly keys: MessageKeys;
  readonly clock: Clock;
  readonly outbox: Pick<Outbox, 'carry' | 'enqueue' | 'look'>;
  /** Whether nothing is sent, and all is kept to be read: `latchkey dev`. */
  readonly inboxOnly: boolean;
  /** What is known of messages has changed. */
  readonly onChange: () => void;
  /** A message came that is shown here. */
  readonly onShown: (id: string) => void;
}

/** The kind of these deliveries in the outbox. */
export const messageKind = 'message';

interface Settings {
  readonly mail: NonNullable<MessagesStatus['mail']>;
  readonly sms: NonNullable<MessagesStatus['sms']>;
}
interface Secrets {
  readonly password?: string;
  /** A gateway's template, any part of which may be secret. */
  readonly gateway?: HttpGateway;
}

interface HeldCarrier {
  /** The settings that it was made of. */
  readonly row: MessageChannelRow;
  readonly carrier: MessageCarrier;
  /** Where it brings what it is given. */
  readonly at: string;
}

/** What is shown, with its place in the outbox, since several are delivered at once. */
interface KeptMessage extends ShownMessage {
  readonly sequence: number;
  /** By the machine's clock. */
  readonly expiresAt: number;
}

/** A message on its way. */
interface Sending extends Pick<KeptMessage, 'id' | 'sequence' | 'expiresAt'> {
  readonly message: Message;
}

/** Which setting sends what goes by a channel. */
const channelOf = { email: 'mail', sms: 'sms' } as const;

/** Of what is shown on a desktop, where more is a flood; and in an inbox, which tests look through. */
const mostShown = 200;
const mostInInbox = 10_000;
const loggedDeliveries = 100;
const testPatienceMs = 30_000;
const testLastsMs = 5 * 60_000;

export class Messages {
  readonly #parts: MessageParts;
  readonly #carriers = new Map<keyof Settings, HeldCarrier>();
  readonly #stopListening: () => void;
  #shown: readonly KeptMessage[] = [];
  readonly #waiting: (() => void)[] = [];

  constructor(parts: MessageParts) {
    this.#parts = parts;
    parts.outbox.carry({
      kind: messageKind,
      deliver: (...given) => this.#deliver(...given),
    } satisfies Carrier);
    this.#stopListening = parts.keys.onChange((unlocked) => {
      if (!unlocked) this.#onLock();
    });
  }

  /**
   * Puts a message into the outbox.
   * @throws LatchkeyError FAILED_PRECONDITION where nothing is set up that could send it.
   */
  post(tx: Writer, organizationId: string, message: Message): void {
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

  /** @throws LatchkeyError VAULT_LOCKED, or INVALID_ARGUMENT where a password is missing that is not kept. */
  async change(change: ChannelChange): Promise<MessagesStatus> {
    const { units, keys, outbox, onChange } = this.#parts;
    keys.checkUnlocked();
    await units.write((tx) => {
      requireVault(tx);
      this.#change(tx, change);
      // What could not be delivered is tried with the new settings.
      for (const { id, organizationId, state } of listDeliveriesOfKind(tx, messageKind, loggedDeliveries)) {
        if (state === 'waiting') sendAgain(tx, organizationId, id);
      }
    });
    this.#dropCarriers();
    outbox.look();
    onChange();
    return this.status();
  }

  /**
   * Sends a message that says it is a test, without the outbox: whoever asks waits for what comes of it.
   * @throws LatchkeyError FAILED_PRECONDITION where the channel is not set up, UNAVAILABLE where it did not work.
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
    const message: Message = {
      channel: test.channel === 'sms' ? 'sms' : 'email',
      to: 'to' in test ? test.to : 'this computer',
      subject: test.channel === 'sms' ? '' : 'A test from Latchkey',
      text: 'This is a test from Latchkey. Messages from your key vault arrive here.\n',
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
      if (error instanceof CarryError) throw new LatchkeyError('UNAVAILABLE', error.message);
      throw error;
    }
  }

  /** @throws LatchkeyError NOT_FOUND, or FAILED_PRECONDITION for what cannot be sent any more. */
  async retry(id: string): Promise<MessagesStatus> {
    const { units, keys, clock, outbox } = this.#parts;
    keys.checkUnlocked();
    await units.write((tx) => {
      const row = findDelivery(tx, messageKind, id);
      if (row === undefined) throw new LatchkeyError('NOT_FOUND', 'there is no such message');
      if (!canRetry(tx, row, clock.wall())) {
        throw new LatchkeyError(
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

  /** Messages that are shown here, newest last. In an inbox they stay; on a desktop, until they expire. */
  shown(): readonly ShownMessage[] {
    this.#forgetExpired();
    return this.#shown.map(({ id, channel, to, subject, text, code, at }) => ({
      id,
      channel,
      to,
      subject,
      text,
      code,
      at,
    }));
  }

  /** What `restore` takes, to show what was shown before. */
  get kept(): readonly KeptMessage[] {
    return this.#shown;
  }

  restore(kept: readonly KeptMessage[]): void {
    this.#shown = kept;
  }

  /** Something has come of a message. */
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
    this.#shown = [];
    this.#dropCarriers();
  }

  #checkPostable(tx: Reader, message: Message): void {
    const route = this.#routeOf(tx, message);
    if (route === undefined) throw notSetUp(channelOf[message.channel]);
    const problem = senderProblem(tx, route, message);
    if (problem === undefined && isCutOff(tx, route)) {
      throw new LatchkeyError('FAILED_PRECONDITION', networkIsOff);
    }
    if (problem === undefined) return;
    throw new LatchkeyError('FAILED_PRECONDITION', problem, { turnkeyErrorCode: 'EMAIL_SENDING_DISABLED' });
  }

  /** The channel's own setting; where it has none, this computer if that is allowed. */
  #routeOf(tx: Reader, { channel }: Pick<Message, 'channel'>): MessageChannelName | undefined {
    if (this.#parts.inboxOnly) return 'desktop';
    const routes = [channelOf[channel], 'desktop'] as const;
    return routes.find((name) => getMessageChannel(tx, name) !== undefined);
  }

  async #deliver({ id, sequence, payload, expiresAt }: Delivery, signal: AbortSignal): Promise<Outcome> {
    if (payload === undefined) return { outcome: 'refused', note: 'what it said is not there' };
    const message = JSON.parse(Buffer.from(payload).toString('utf8')) as Message;
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
      if (!(error instanceof CarryError)) throw error;
      return { outcome: error.permanent ? 'refused' : 'retry', note: error.message };
    }
  }

  /** @returns what took it, in words. @throws CarryError */
  async #send(route: MessageChannelName, sending: Sending, signal: AbortSignal): Promise<string> {
    if (route === 'desktop') {
      this.#show(sending);
      return this.#parts.inboxOnly ? 'kept in the inbox' : 'shown on this computer';
    }
    if (this.#parts.units.read((tx) => isCutOff(tx, route))) throw new CarryError(networkIsOff, false);
    const { carrier, at } = this.#carrierOf(route);
    await carrier.send(sending.id, sending.message, signal);
    return `taken by ${at}`;
  }

  #show({ id, message, sequence, expiresAt }: Sending): void {
    this.#forgetExpired();
    const { channel, to, subject, text, code } = message;
    const at = this.#parts.clock.now();
    const others = this.#shown.filter((each) => each.id !== id);
    this.#shown = [...others, { id, channel, to, subject, text, code, at, sequence, expiresAt }]
      .sort((a, b) => a.sequence - b.sequence)
      .slice(-(this.#parts.inboxOnly ? mostInInbox : mostShown));
    if (this.#parts.inboxOnly) this.#parts.onChange();
    else this.#parts.onShown(id);
  }

  /** The carrier of the settings as they are now; the one before it is closed. */
  #carrierOf(name: keyof Settings): { readonly carrier: MessageCarrier; readonly at: string } {
    const { units, keys } = this.#parts;
    const row = units.read((tx) => getMessageChannel(tx, name));
    if (row === undefined) throw new CarryError(notSetUp(name).message, false);
    const held = this.#carriers.get(name);
    if (held?.row.sealed.length === row.sealed.length && Buffer.compare(held.row.sealed, row.sealed) === 0) {
      return held;
    }
    held?.carrier.close();
    const made = { row, ...makeCarrier(row, secretsOf(row, keys)) };
    this.#carriers.set(name, made);
    return made;
  }

  #change(tx: Writer, change: ChannelChange): void {
    const { keys, clock } = this.#parts;
    const name = change.channel;
    const put = (settings: object, secrets: Secrets): void => {
      const opened = Buffer.from(JSON.stringify(secrets));
      const sealed = keys.seal(messageChannelPlace(name), opened);
      opened.fill(0);
      putMessageChannel(tx, { name, settings: JSON.stringify(settings), sealed, updatedAt: clock.now() });
    };
    if (change.channel === 'desktop') {
      if (change.on) put({}, {});
      else deleteMessageChannel(tx, name);
      return;
    }
    const { settings } = change;
    if (settings === null) {
      deleteMessageChannel(tx, name);
      return;
    }
    if ('kind' in settings && settings.kind === 'http') {
      const { kind, method, url, headers } = settings;
      const shown = {
        kind,
        method,
        origin: new URL(url).origin,
        headers: headers.map((header) => header.name),
      };
      put(shown, { gateway: settings });
      return;
    }
    const { password, ...shown } = settings;
    const before = getMessageChannel(tx, name);
    if ('host' in shown && shown.user === null) put(shown, {});
    else put(shown, { password: password ?? this.#keptPassword(before, shown) });
  }

  /** A password stays with where it was given for: it is not sent to another server, or to another's account. */
  #keptPassword(row: MessageChannelRow | undefined, settings: object): string {
    const before = row && (JSON.parse(row.settings) as Record<string, unknown>);
    const isSame = boundTo.every((key) => before?.[key] === (settings as Record<string, unknown>)[key]);
    const kept = row && isSame ? secretsOf(row, this.#parts.keys).password : undefined;
    if (kept !== undefined) return kept;
    throw new LatchkeyError(
      'INVALID_ARGUMENT',
      'missing field settings.password: one is kept only for the same server, security and account',
    );
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #onLock(): void {
    this.#wake();
    this.#dropCarriers();
    if (!this.#parts.inboxOnly) this.#shown = [];
  }

  #dropCarriers(): void {
    for (const { carrier } of this.#carriers.values()) carrier.close();
    this.#carriers.clear();
  }

  #forgetExpired(): void {
    if (this.#parts.inboxOnly) return;
    const now = this.#parts.clock.wall();
    this.#shown = this.#shown.filter(({ expiresAt }) => expiresAt > now);
  }
}

/** What of the settings a password is for. */
const boundTo = [
  'kind',
  'host',
  'port',
  'security',
  'user',
  'certificates',
  'accountSid',
  'apiKeySid',
  'url',
];

const settingsOf = <Name extends keyof Settings>(tx: Reader, name: Name): Settings[Name] | null => {
  const row = getMessageChannel(tx, name);
  return row === undefined ? null : (JSON.parse(row.settings) as Settings[Name]);
};

/** Why a message may not go by a route, by whom it is to come from. */
function senderProblem(
  tx: Reader,
  route: MessageChannelName | undefined,
  { from }: Message,
): string | undefined {
  const mail = route === 'mail' ? settingsOf(tx, 'mail') : null;
  if (mail === null || maySendFrom(mail, from)) return undefined;
  const allowed = [mail.from.address, ...mail.otherSenders].join(', ');
  return `sendFromEmailAddress ${JSON.stringify(from?.address)} is not among the senders of the vault's mail settings: ${allowed}`;
}

/** Whether a route leads off this machine while nothing may leave it. */
function isCutOff(tx: Reader, route: MessageChannelName): boolean {
  if (route === 'desktop' || isNetworkOn(tx)) return false;
  if (route === 'mail') return !isThisMachine(settingsOf(tx, 'mail')?.host ?? '');
  const sms = settingsOf(tx, 'sms');
  return sms === null || !isThisMachine(new URL(sms.kind === 'http' ? sms.origin : sms.url).hostname);
}

function secretsOf({ name, sealed }: MessageChannelRow, keys: MessageKeys): Secrets {
  const opened = keys.open(messageChannelPlace(name), sealed);
  try {
    return JSON.parse(Buffer.from(opened).toString('utf8')) as Secrets;
  } finally {
    opened.fill(0);
  }
}

/** @returns a carrier, and where it brings what it is given. */
function makeCarrier(
  { name, settings }: MessageChannelRow,
  { password, gateway }: Secrets,
): { readonly carrier: MessageCarrier; readonly at: string } {
  if (name === 'mail') {
    const mail = JSON.parse(settings) as Settings['mail'];
    return { carrier: smtpCarrier(mail, password), at: `${mail.host}:${String(mail.port)}` };
  }
  const account = gateway ?? { ...(JSON.parse(settings) as TwilioGateway), password: password ?? '' };
  return { carrier: gatewayCarrier(account), at: new URL(account.url).host };
}

const waysOn: Readonly<Record<MessageChannelName, readonly [what: string, how: string]>> = {
  mail: ['no mail server is set up', 'set one up with `latchkey messages mail`'],
  sms: ['no SMS gateway is set up', 'set one up with `latchkey messages sms`'],
  desktop: ['messages are not shown on this computer', 'turn it on with `latchkey messages desktop on`'],
};

function notSetUp(name: MessageChannelName): LatchkeyError {
  const [what, how] = waysOn[name];
  const instead =
    name === 'desktop' ? '' : ', or have messages shown on this computer with `latchkey messages desktop on`';
  return new LatchkeyError(
    'FAILED_PRECONDITION',
    `${what}: ${how}${instead}`,
    name === 'mail' ? { turnkeyErrorCode: 'EMAIL_SENDING_DISABLED' } : {},
  );
}

const canRetry = (tx: Reader, { id, state, expiresAt }: OutboxRow, now: number): boolean =>
  state !== 'delivered' && (expiresAt === null || expiresAt > now) && hasOutboxPayload(tx, id);

function toDelivery(tx: Reader, row: OutboxRow, now: number): MessageDelivery {
  const { channel, to } = JSON.parse(row.reference) as Pick<Message, 'channel' | 'to'>;
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
