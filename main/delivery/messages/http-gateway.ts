/** Text messages by an HTTP request to a gateway: any of them by a template, and Twilio's by its own shape. */
import { Outbound, OutboundError } from '../../net/outbound.ts';
import { TransportError, type MessageTransport } from './transport.ts';

export interface HttpGateway {
  readonly kind: 'http';
  readonly method: 'GET' | 'POST' | 'PUT';
  /** `{{to}}`, `{{text}}` and `{{id}}` stand for parts of a message, here and in the body. */
  readonly url: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly body: string;
}

export interface TwilioGateway {
  readonly kind: 'twilio';
  readonly accountSid: string;
  /** The SID of an API key, whose secret is the password then; null for the account's own auth token. */
  readonly apiKeySid: string | null;
  /** A phone number of the account, or the SID of a messaging service. */
  readonly from: string;
  /** `https://api.twilio.com` unless the account is in another region. */
  readonly url: string;
}

export const fieldNames = ['to', 'text', 'id'] as const;
type Fields = Readonly<Record<(typeof fieldNames)[number], string>>;

const field = /\{\{\s*([^{}]*?)\s*\}\}/g;

/** @returns the names between `{{` and `}}`, known or not. */
export const fieldsOf = (template: string): string[] =>
  [...template.matchAll(field)].map(([, name = '']) => name);

type Encode = (text: string) => string;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Writes a text inside a body of each kind, so that it stays one text. */
const encodings: readonly { readonly type: RegExp; readonly encode: Encode }[] = [
  // Between the quotation marks that the template has.
  { type: /[/+]json\b/i, encode: (text) => JSON.stringify(text).slice(1, -1) },
  { type: /x-www-form-urlencoded/i, encode: encodeURIComponent },
  { type: /[/+]xml\b/i, encode: (text) => text.replace(/[&<>"']/g, (each) => entities[each] ?? '') },
];

const filled = (template: string, fields: Fields, encode: Encode): string =>
  template.replace(field, (whole, name: string) =>
    Object.hasOwn(fields, name) ? encode(fields[name as keyof Fields]) : whole,
  );

interface GatewayRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

export function templateRequest({ method, url, headers, body }: HttpGateway, fields: Fields): GatewayRequest {
  const type = headers.find(({ name }) => name.toLowerCase() === 'content-type')?.value ?? '';
  const encode = encodings.find((encoding) => encoding.type.test(type))?.encode ?? ((text) => text);
  return {
    method,
    url: filled(url, fields, encodeURIComponent),
    headers: Object.fromEntries(headers.map(({ name, value }) => [name, value])),
    body: method === 'GET' ? undefined : filled(body, fields, encode),
  };
}

/** Twilio's Message resource, made by POST (https://www.twilio.com/docs/messaging/api/message-resource). */
export function twilioRequest(
  { accountSid, apiKeySid, from, url }: TwilioGateway,
  password: string,
  { to, text }: Pick<Fields, 'to' | 'text'>,
): GatewayRequest {
  const sender = from.startsWith('MG') ? { MessagingServiceSid: from } : { From: from };
  return {
    method: 'POST',
    url: `${url}/2010-04-01/Accounts/${accountSid}/Messages.json`,
    headers: {
      authorization: `Basic ${Buffer.from(`${apiKeySid ?? accountSid}:${password}`).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams({ To: to, ...sender, Body: text }).toString(),
  };
}

/** Headers that gateways expect of any client; headers of the settings override them. */
const usualHeaders = (hasBody: boolean): Readonly<Record<string, string>> => ({
  accept: '*/*',
  'user-agent': 'Keyhearth',
  ...(hasBody && { 'content-type': 'text/plain;charset=UTF-8' }),
});

const patience = 15_000;
const largestAnswer = 64 * 1024;

interface GatewayOptions {
  /** Milliseconds for the whole exchange; shorter in tests. */
  readonly patienceMs?: number;
}

export function gatewayTransport(
  gateway: HttpGateway | (TwilioGateway & { readonly password: string }),
  { patienceMs = patience }: GatewayOptions = {},
): MessageTransport {
  return {
    async send(id, { to, text }, signal) {
      const fields = { to, text, id };
      if (gateway.kind === 'http') await exchange(templateRequest(gateway, fields), signal, patienceMs);
      else await exchange(twilioRequest(gateway, gateway.password, fields), signal, patienceMs, twilioCode);
    },
    close() {
      // Nothing is kept between two messages.
    },
  };
}

/** Answers that ask for another try, beside those of a server's own trouble. */
const retriedStatuses: ReadonlySet<number> = new Set([401, 402, 403, 408, 425, 429]);

/**
 * Sends the request. The gateway's answer is not shown, since it may repeat the message.
 * @param explain Reads the part of a refusal's body that is safe to show.
 */
async function exchange(
  { url, ...request }: GatewayRequest,
  signal: AbortSignal,
  patienceMs: number,
  explain: (body: string) => string = () => '',
): Promise<void> {
  const { status, body } = await answerOf(url, request, signal, patienceMs);
  if (status >= 200 && status < 300) return;
  const isRedirect = status >= 300 && status < 400;
  throw new TransportError(
    `the SMS gateway answered HTTP ${String(status)}${isRedirect ? ', a redirect, which is not followed' : explain(body)}`,
    // Credentials may be set right, and credit bought, before the message is too old.
    status < 500 && !retriedStatuses.has(status),
  );
}

async function answerOf(
  url: string,
  { method, headers, body }: Omit<GatewayRequest, 'url'>,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<{ readonly status: number; readonly body: string }> {
  // Its owner named it in the settings, and it may be a box in the same room.
  const options = { method, reach: 'anywhere', timeoutMs, mostBytes: largestAnswer, signal } as const;
  try {
    const all = { ...usualHeaders(body !== undefined), ...headers };
    const answer = await new Outbound(new URL(url), options).send(all, body);
    return { status: answer.status, body: answer.body.toString('utf8') };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    if (error.kind === 'late' || signal.aborted)
      throw new TransportError('the SMS gateway did not answer in time', false);
    throw new TransportError(`the SMS gateway cannot be reached (${error.code})`, false);
  }
}

/** Twilio numbers what is wrong: https://www.twilio.com/docs/api/errors. */
function twilioCode(body: string): string {
  try {
    const { code } = JSON.parse(body) as { code?: unknown };
    return typeof code === 'number' ? ` (Twilio’s error ${String(code)})` : '';
  } catch {
    return '';
  }
}
