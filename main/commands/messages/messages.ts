/** `keyhearth messages`: how codes reach people, by mail, by SMS, or on this computer. */
import type {
  HttpGatewaySettings,
  MailSettings,
  MessageChannelChange,
  MessageDelivery,
  MessagesStatus,
  MessageTest,
} from '../../../preload/contract.ts';
import type { Config } from '../../app/config.ts';
import { when } from '../backup/backup.ts';
import type { Ask } from '../shared/answers.ts';
import { requireRunning } from '../shared/client.ts';
import { dataDirectory } from '../vault/control.ts';
import { readTextFile } from '../shared/file-text.ts';
import { findNamed, isId } from '../shared/named.ts';
import { withVault } from '../shared/opened-vault.ts';
import { CommandError, exitCodes, print, type Shown } from '../shared/output.ts';
import { didYouMean } from '../shared/suggestions.ts';
import { fields, table, type Cell } from '../shared/table.ts';
import {
  askForPassword,
  canAsk,
  readPassword,
  readSecretFile,
  type PasswordOptions,
} from '../shared/secrets.ts';
import { defined } from '../../lib/defined.ts';
import { repeatsName } from '../../lib/plain-json.ts';

export interface MailOptions extends PasswordOptions {
  readonly host?: string;
  readonly smtpPort?: string;
  readonly security: MailSettings['security'];
  readonly user?: string;
  readonly from?: string;
  readonly fromName?: string;
  readonly replyTo?: string;
  readonly otherSender: readonly string[];
  readonly certificates?: string;
  readonly json: boolean;
}

export interface SmsOptions extends PasswordOptions {
  readonly gatewayFile?: string;
  readonly twilioAccount?: string;
  readonly twilioKey?: string;
  readonly twilioUrl: string;
  readonly from?: string;
  readonly json: boolean;
}

export async function messagesStatus(config: Config, json: boolean): Promise<void> {
  const status = await withVault(config, (vault) => vault.call('messages'));
  print(json, status, describe(status));
}

/** @param operand `off`, or nothing. */
export async function setMail(
  config: Config,
  operand: string | undefined,
  options: MailOptions,
): Promise<void> {
  if (isOff(operand)) {
    return change(config, options.json, { channel: 'mail', settings: null }, 'Email is off.');
  }
  const { host, smtpPort, security, user, from, fromName, replyTo, otherSender, certificates } = options;
  if (host === undefined || from === undefined) {
    throw new CommandError(
      exitCodes.usage,
      'missing --host or --from: give the SMTP server and the sender address, or run `keyhearth messages mail off`',
    );
  }
  const password =
    user === undefined ? undefined : await passwordOf(options, `Password of ${user} on ${host}`);
  await change(
    config,
    options.json,
    {
      channel: 'mail',
      settings: {
        host,
        port: portOf(smtpPort, security),
        security,
        user: user ?? null,
        ...defined({ password }),
        from: { address: from, name: fromName ?? null },
        replyTo: replyTo ?? null,
        otherSenders: otherSender,
        certificates: certificates === undefined ? null : readSecretFile('--certificates', certificates),
      },
    },
    `Email is set up through ${host}. Test it with: keyhearth messages test mail ADDRESS`,
  );
}

/** @param operand `off`, or nothing. */
export async function setSms(
  config: Config,
  operand: string | undefined,
  options: SmsOptions,
): Promise<void> {
  if (isOff(operand)) {
    return change(config, options.json, { channel: 'sms', settings: null }, 'SMS is off.');
  }
  const { gatewayFile, twilioAccount, twilioKey, twilioUrl, from } = options;
  if ((gatewayFile === undefined) === (twilioAccount === undefined)) {
    throw new CommandError(
      exitCodes.usage,
      'expected one of --gateway-file and --twilio-account, or `keyhearth messages sms off`',
    );
  }
  const done = 'SMS is set up. Test it with: keyhearth messages test sms NUMBER';
  if (gatewayFile !== undefined) {
    return change(config, options.json, { channel: 'sms', settings: readGateway(gatewayFile) }, done);
  }
  if (from === undefined) {
    throw new CommandError(
      exitCodes.usage,
      'missing --from: give a phone number of the account, or the SID of a messaging service',
    );
  }
  const password = await passwordOf(options, 'Auth token, or secret of the API key');
  await change(
    config,
    options.json,
    {
      channel: 'sms',
      settings: {
        kind: 'twilio',
        accountSid: twilioAccount ?? '',
        apiKeySid: twilioKey ?? null,
        from,
        url: twilioUrl,
        ...defined({ password }),
      },
    },
    done,
  );
}

export async function setDesktop(config: Config, operand: string, json: boolean): Promise<void> {
  if (operand !== 'on' && operand !== 'off') {
    throw new CommandError(exitCodes.usage, `expected on or off, got ${JSON.stringify(operand)}`);
  }
  await change(
    config,
    json,
    { channel: 'desktop', on: operand === 'on' },
    operand === 'on'
      ? 'Codes are shown on this computer when nothing else is set up. Anyone at this computer can then sign in as any user of the vault.'
      : 'Codes are no longer shown on this computer.',
  );
}

export async function testMessages(
  config: Config,
  channel: string,
  to: string | undefined,
  json: boolean,
): Promise<void> {
  const test = toTest(channel, to);
  const call = await ask(config);
  const { note } = await call('testMessages', test);
  print(json, { note }, `Sent the test: ${note}.`);
}

/** @param wanted The message's id, or how that of one of the last messages begins. */
export async function retryMessage(config: Config, wanted: string, json: boolean): Promise<void> {
  const call = await ask(config);
  const { deliveries } = await call('messages');
  const id = isId(wanted)
    ? wanted
    : findNamed('message', wanted, deliveries, ({ id: each }) => ({ id: each })).id;
  const status = await call('retryMessage', id);
  print(json, status, 'Retrying the message now.');
}

function toTest(wanted: string, to: string | undefined): MessageTest {
  const channel = wanted === 'email' ? 'mail' : wanted;
  if (channel === 'desktop') return { channel };
  if (channel !== 'mail' && channel !== 'sms') {
    throw new CommandError(
      exitCodes.usage,
      `invalid channel ${JSON.stringify(channel)}: expected email, sms or desktop${didYouMean(channel, ['email', 'mail', 'sms', 'desktop'])}`,
    );
  }
  if (to === undefined) {
    throw new CommandError(exitCodes.usage, 'missing <to>: give an email address or a phone number');
  }
  return { channel, to };
}

/** Settings are sealed: it takes the process that has the vault unlocked. */
const ask = async (config: Config): Promise<Ask> => (await requireRunning(dataDirectory(config))).call;

async function change(
  config: Config,
  json: boolean,
  wish: MessageChannelChange,
  done: string,
): Promise<void> {
  const call = await ask(config);
  print(json, await call('changeMessages', wish), done);
}

function isOff(operand: string | undefined): boolean {
  if (operand === undefined || operand === 'off') return operand === 'off';
  throw new CommandError(exitCodes.usage, `expected off, or options alone, got ${JSON.stringify(operand)}`);
}

const usualPorts = { tls: 465, starttls: 587, none: 25 } as const;

function portOf(text: string | undefined, security: MailSettings['security']): number {
  if (text === undefined) return usualPorts[security];
  if (/^[0-9]{1,5}$/.test(text)) return Number(text);
  throw new CommandError(
    exitCodes.usage,
    `invalid --smtp-port ${JSON.stringify(text)}: expected a number from 1 to 65535`,
  );
}

/** @returns undefined where none was given and there is no terminal to prompt on: the kept one stays then. */
async function passwordOf(options: PasswordOptions, question: string): Promise<string | undefined> {
  const given = readPassword(options, undefined);
  return given ?? (canAsk() ? askForPassword(question) : undefined);
}

/** The file has `{ "method", "url", "headers": { NAME: VALUE }, "body" }`; any of it may be secret. */
function readGateway(file: string): HttpGatewaySettings {
  const expected = `--gateway-file ${file}: expected JSON with "url", "body", and perhaps "method" and "headers"`;
  const refuse = (problem: string): CommandError =>
    new CommandError(exitCodes.usage, `--gateway-file ${file} ${problem}`);
  const text = readTextFile(file, `--gateway-file ${file}`);
  let gateway: unknown;
  try {
    gateway = JSON.parse(text, exactly);
  } catch (error) {
    if (error instanceof RangeError)
      throw refuse('has a number that would be sent as another: put it in quotes');
    throw new CommandError(exitCodes.usage, expected);
  }
  if (repeatsName(text)) throw refuse('has a name twice in one object: expected each name once');
  if (typeof gateway !== 'object' || gateway === null) throw new CommandError(exitCodes.usage, expected);
  const { method = 'POST', url = '', headers = {}, body = '' } = gateway as Record<string, unknown>;
  // The service checks it all; a body may be written as the JSON that it is.
  return {
    kind: 'http',
    method: method as HttpGatewaySettings['method'],
    url: url as string,
    headers: Object.entries(headers as object).map(([name, value]) => ({ name, value: String(value) })),
    body: typeof body === 'string' ? body : JSON.stringify(body),
  };
}

/** @throws RangeError for a whole number that JavaScript cannot hold. */
function exactly(_name: string, value: unknown): unknown {
  if (!Number.isInteger(value) || Number.isSafeInteger(value)) return value;
  throw new RangeError('a number is too large');
}

function describe({ inboxOnly, mail, sms, desktop, deliveries }: MessagesStatus): Shown {
  if (inboxOnly) return 'This vault sends nothing: read its messages with GET /dev/inbox.';
  return [
    fields([
      [
        'Email',
        mail === null
          ? 'not set up'
          : `${mail.host}:${String(mail.port)} (${mail.security}), from ${mail.from.address}`,
      ],
      [
        'SMS',
        sms === null
          ? 'not set up'
          : sms.kind === 'http'
            ? `${sms.method} to ${sms.origin}`
            : `Twilio account ${sms.accountSid}, from ${sms.from}`,
      ],
      ['This computer', desktop ? 'shows codes when nothing else is set up' : 'off'],
    ]),
    '',
    deliveries.length === 0
      ? 'No messages yet.'
      : table(['ID', 'Created', 'State', 'Attempts', 'Channel', 'To', 'Result'], deliveries.map(deliveryRow)),
  ];
}

const deliveryRow = ({
  id,
  channel,
  to,
  createdAt,
  state,
  attempts,
  note,
}: MessageDelivery): readonly Cell[] => [
  id,
  when(createdAt),
  deliveryState(state),
  String(attempts),
  channel,
  to,
  note ?? '',
];

/** The state of what leaves the vault. */
export const deliveryState = (state: string): Cell => ({
  text: state,
  tone: state === 'delivered' ? 'good' : state === 'waiting' ? 'notable' : 'bad',
});
