/**
 * The channels by which messages leave: their settings, as they are kept, and what carries messages by them. What is secret
 * in settings is sealed.
 */
import type { z } from 'zod';
import type { MessagesStatus } from '../../preload/contract.ts';
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
import { LatchkeyError } from '../lib/errors.ts';
import type { Message } from '../lib/messages.ts';
import { isThisMachine } from '../lib/network.ts';
import { CarryError, type MessageCarrier } from './carrier.ts';
import { gatewayCarrier, type HttpGateway, type TwilioGateway } from './http-gateway.ts';
import type { channelChange } from './settings.ts';
import { maySendFrom, smtpCarrier } from './smtp.ts';

export type ChannelChange = z.output<typeof channelChange>;

/** The unlocked vault, as far as settings need it. */
export interface ChannelKeys {
  seal(place: Place, secret: Uint8Array): Uint8Array;
  open(place: Place, sealed: Uint8Array): Uint8Array;
}

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

/** A channel that leads off this computer. */
export type CarriedChannel = keyof Settings;

/** Which setting sends what goes by a channel. */
export const channelOf = { email: 'mail', sms: 'sms' } as const;

export class Channels {
  readonly #keys: ChannelKeys;
  readonly #held = new Map<CarriedChannel, HeldCarrier>();

  constructor(keys: ChannelKeys) {
    this.#keys = keys;
  }

  /** @throws LatchkeyError VAULT_LOCKED, or INVALID_ARGUMENT where a password is missing that is not kept. */
  change(tx: Writer, change: ChannelChange, now: number): void {
    const name = change.channel;
    const put = (settings: object, secrets: Secrets): void => {
      const opened = Buffer.from(JSON.stringify(secrets));
      const sealed = this.#keys.seal(messageChannelPlace(name), opened);
      opened.fill(0);
      putMessageChannel(tx, { name, settings: JSON.stringify(settings), sealed, updatedAt: now });
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
    const kept = row && isSame ? secretsOf(row, this.#keys).password : undefined;
    if (kept !== undefined) return kept;
    throw new LatchkeyError(
      'INVALID_ARGUMENT',
      'missing field settings.password: one is kept only for the same server, security and account',
    );
  }

  /** The carrier of the settings as they are now; the one before it is closed. */
  carrierOf(tx: Reader, name: CarriedChannel): { readonly carrier: MessageCarrier; readonly at: string } {
    const row = getMessageChannel(tx, name);
    if (row === undefined) throw new CarryError(notSetUp(name).message, false);
    const held = this.#held.get(name);
    if (held?.row.sealed.length === row.sealed.length && Buffer.compare(held.row.sealed, row.sealed) === 0) {
      return held;
    }
    held?.carrier.close();
    const made = { row, ...makeCarrier(row, secretsOf(row, this.#keys)) };
    this.#held.set(name, made);
    return made;
  }

  /** Closes what carries: the settings have changed, or the vault is locked. */
  dropCarriers(): void {
    for (const { carrier } of this.#held.values()) carrier.close();
    this.#held.clear();
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

export const settingsOf = <Name extends CarriedChannel>(tx: Reader, name: Name): Settings[Name] | null => {
  const row = getMessageChannel(tx, name);
  return row === undefined ? null : (JSON.parse(row.settings) as Settings[Name]);
};

/** Why a message may not go by a route, by whom it is to come from. */
export function senderProblem(
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
export function isCutOff(tx: Reader, route: MessageChannelName): boolean {
  if (route === 'desktop' || isNetworkOn(tx)) return false;
  if (route === 'mail') return !isThisMachine(settingsOf(tx, 'mail')?.host ?? '');
  const sms = settingsOf(tx, 'sms');
  return sms === null || !isThisMachine(new URL(sms.kind === 'http' ? sms.origin : sms.url).hostname);
}

function secretsOf({ name, sealed }: MessageChannelRow, keys: ChannelKeys): Secrets {
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

export function notSetUp(name: MessageChannelName): LatchkeyError {
  const [what, how] = waysOn[name];
  const instead =
    name === 'desktop' ? '' : ', or have messages shown on this computer with `latchkey messages desktop on`';
  return new LatchkeyError(
    'FAILED_PRECONDITION',
    `${what}: ${how}${instead}`,
    name === 'mail' ? { turnkeyErrorCode: 'EMAIL_SENDING_DISABLED' } : {},
  );
}
