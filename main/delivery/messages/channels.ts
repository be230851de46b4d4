/**
 * The channels by which messages leave: their settings, as they are kept, and their transports. Secrets in settings are
 * sealed.
 */
import type { z } from 'zod';
import type { MessagesStatus } from '../../../preload/contract.ts';
import type { SealContext } from '../../crypto/sealing.ts';
import type { Reader, Writer } from '../../storage/connection.ts';
import {
  deleteMessageChannel,
  getMessageChannel,
  messageChannelContext,
  putMessageChannel,
  type MessageChannelName,
  type MessageChannelRow,
} from '../../storage/tables/message-channels.ts';
import { isNetworkOn } from '../../storage/tables/settings.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import type { OutgoingMessage } from '../../lib/messages.ts';
import { isThisMachine } from '../../lib/network.ts';
import { TransportError, type MessageTransport } from './transport.ts';
import { gatewayTransport, type HttpGateway, type TwilioGateway } from './http-gateway.ts';
import type { channelChange } from './settings.ts';
import { maySendFrom, smtpTransport } from './smtp.ts';

export type ChannelChange = z.output<typeof channelChange>;

/** The unlocked vault, as far as settings need it. */
export interface ChannelKeys {
  seal(context: SealContext, secret: Uint8Array): Uint8Array;
  open(context: SealContext, sealed: Uint8Array): Uint8Array;
}

interface ChannelSettings {
  readonly mail: NonNullable<MessagesStatus['mail']>;
  readonly sms: NonNullable<MessagesStatus['sms']>;
}
interface Secrets {
  readonly password?: string;
  /** A gateway's template, any part of which may be secret. */
  readonly gateway?: HttpGateway;
}

interface OpenTransport {
  /** The settings that it was made of. */
  readonly row: MessageChannelRow;
  readonly transport: MessageTransport;
  /** The server that it sends to. */
  readonly at: string;
}

/** A channel that leads off this computer. */
export type RemoteChannel = keyof ChannelSettings;

/** The setting that sends messages of a channel. */
export const channelOf = { email: 'mail', sms: 'sms' } as const;

export class Channels {
  readonly #keys: ChannelKeys;
  readonly #open = new Map<RemoteChannel, OpenTransport>();

  constructor(keys: ChannelKeys) {
    this.#keys = keys;
  }

  /** @throws KeyhearthError VAULT_LOCKED, or INVALID_ARGUMENT where a password is missing that is not kept. */
  change(tx: Writer, change: ChannelChange, now: number): void {
    const name = change.channel;
    const put = (settings: object, secrets: Secrets): void => {
      const opened = Buffer.from(JSON.stringify(secrets));
      const sealed = this.#keys.seal(messageChannelContext(name), opened);
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
    throw new KeyhearthError(
      'INVALID_ARGUMENT',
      'missing field settings.password: one is kept only for the same server, security and account',
    );
  }

  /** The transport of the settings as they are now; the one before it is closed. */
  transportOf(
    tx: Reader,
    name: RemoteChannel,
  ): { readonly transport: MessageTransport; readonly at: string } {
    const row = getMessageChannel(tx, name);
    if (row === undefined) throw new TransportError(notSetUp(name).message, false);
    const present = this.#open.get(name);
    if (
      present?.row.sealed.length === row.sealed.length &&
      Buffer.compare(present.row.sealed, row.sealed) === 0
    ) {
      return present;
    }
    present?.transport.close();
    const made = { row, ...makeTransport(row, secretsOf(row, this.#keys)) };
    this.#open.set(name, made);
    return made;
  }

  /** Closes the transports: the settings have changed, or the vault is locked. */
  closeTransports(): void {
    for (const { transport } of this.#open.values()) transport.close();
    this.#open.clear();
  }
}

/** The settings to which a password is bound. */
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

export const settingsOf = <Name extends RemoteChannel>(
  tx: Reader,
  name: Name,
): ChannelSettings[Name] | null => {
  const row = getMessageChannel(tx, name);
  return row === undefined ? null : (JSON.parse(row.settings) as ChannelSettings[Name]);
};

/** Why a message may not go by a route, by whom it is to come from. */
export function senderProblem(
  tx: Reader,
  route: MessageChannelName | undefined,
  { from }: OutgoingMessage,
): string | undefined {
  const mail = route === 'mail' ? settingsOf(tx, 'mail') : null;
  if (mail === null || maySendFrom(mail, from)) return undefined;
  const allowed = [mail.from.address, ...mail.otherSenders].join(', ');
  return `sendFromEmailAddress ${JSON.stringify(from?.address)} is not among the senders of the vault's mail settings: ${allowed}`;
}

/** True for a route that leads off this machine while the network is off. */
export function isCutOff(tx: Reader, route: MessageChannelName): boolean {
  if (route === 'desktop' || isNetworkOn(tx)) return false;
  if (route === 'mail') return !isThisMachine(settingsOf(tx, 'mail')?.host ?? '');
  const sms = settingsOf(tx, 'sms');
  return sms === null || !isThisMachine(new URL(sms.kind === 'http' ? sms.origin : sms.url).hostname);
}

function secretsOf({ name, sealed }: MessageChannelRow, keys: ChannelKeys): Secrets {
  const opened = keys.open(messageChannelContext(name), sealed);
  try {
    return JSON.parse(Buffer.from(opened).toString('utf8')) as Secrets;
  } finally {
    opened.fill(0);
  }
}

/** @returns a transport, and the server that it sends to. */
function makeTransport(
  { name, settings }: MessageChannelRow,
  { password, gateway }: Secrets,
): { readonly transport: MessageTransport; readonly at: string } {
  if (name === 'mail') {
    const mail = JSON.parse(settings) as ChannelSettings['mail'];
    return { transport: smtpTransport(mail, password), at: `${mail.host}:${String(mail.port)}` };
  }
  const account = gateway ?? { ...(JSON.parse(settings) as TwilioGateway), password: password ?? '' };
  return { transport: gatewayTransport(account), at: new URL(account.url).host };
}

const waysOn: Readonly<Record<MessageChannelName, readonly [what: string, how: string]>> = {
  mail: ['no mail server is set up', 'set one up with `keyhearth messages mail`'],
  sms: ['no SMS gateway is set up', 'set one up with `keyhearth messages sms`'],
  desktop: ['messages are not shown on this computer', 'turn it on with `keyhearth messages desktop on`'],
};

export function notSetUp(name: MessageChannelName): KeyhearthError {
  const [what, how] = waysOn[name];
  const instead =
    name === 'desktop'
      ? ''
      : ', or have messages shown on this computer with `keyhearth messages desktop on`';
  return new KeyhearthError(
    'FAILED_PRECONDITION',
    `${what}: ${how}${instead}`,
    name === 'mail' ? { turnkeyErrorCode: 'EMAIL_SENDING_DISABLED' } : {},
  );
}
