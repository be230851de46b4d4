/** The settings of mail and SMS: what they may be, and how they are kept. What is secret in them is sealed. */
import { z } from 'zod';
import { isThisMachine } from '../../lib/network.ts';
import { fieldNames, fieldsOf } from './http-gateway.ts';

const oneLine = (length: number) =>
  z
    .string()
    .min(1)
    .max(length)
    .regex(/^[^\p{C}]+$/u, 'Expected no control characters');
const secret = (length: number) => oneLine(length).meta({ format: 'password' });
const address = z.email('Expected an email address').max(254);

const host = z
  .string()
  .max(253)
  .regex(/^([A-Za-z0-9._-]+|[0-9A-Fa-f:]+)$/, 'Expected a host name or an IP address, without a port');

const certificates = z
  .string()
  .max(100_000)
  .regex(
    /^\s*-----BEGIN CERTIFICATE-----[\s\S]+-----END CERTIFICATE-----\s*$/,
    'Expected certificates in PEM (-----BEGIN CERTIFICATE-----)',
  );

/** True for hosts on this machine, which need no TLS. */
const isHere = (name: string): boolean => isThisMachine(name) || name.endsWith('.localhost');

/** The settings of a mail server; without `password`, the kept one stays. */
export const mailParams = z
  .object({
    host,
    port: z.int().min(1).max(65_535),
    security: z.enum(['tls', 'starttls', 'none']),
    user: oneLine(320).nullable(),
    password: secret(1000).optional(),
    from: z.object({ address, name: oneLine(64).nullable() }),
    replyTo: address.nullable(),
    otherSenders: z
      .array(
        z.union([address, z.string().regex(/^@[A-Za-z0-9.-]+$/, 'Expected an address, or @ and a domain')]),
      )
      .max(20),
    certificates: certificates.nullable(),
  })
  .refine(({ security, user, host: name }) => security !== 'none' || user === null || isHere(name), {
    path: ['security'],
    error: 'Expected tls or starttls: without it user and password would go over the network for all to read',
  });

/** Names of hosts and addresses that are of one's own network, where a gateway may speak plain HTTP. */
const isNear = (name: string): boolean =>
  isHere(name) ||
  !/[.:]/.test(name) ||
  /\.(local|lan|internal|home\.arpa)$/.test(name) ||
  /^(10|192\.168|172\.(1[6-9]|2\d|3[01])|169\.254)\.[0-9.]+$/.test(name) ||
  /^f[cd][0-9a-f]{2}:/.test(name);

/** URLs to send to: by TLS, or within one's own network, and always to the same host. */
const isSendable = (text: string): boolean => {
  if (/^[^/]*\/\/[^/?#]*\{\{/.test(text)) return false;
  const url = URL.parse(text.replaceAll(/\{\{[^{}]*\}\}/g, 'x'));
  if (url?.username !== '' || url.password !== '') return false;
  return (
    url.protocol === 'https:' || (url.protocol === 'http:' && isNear(url.hostname.replace(/^\[|\]$/g, '')))
  );
};

const template = (length: number) =>
  z
    .string()
    .max(length)
    .refine((text) => fieldsOf(text).every((name) => (fieldNames as readonly string[]).includes(name)), {
      error: `Expected no field but ${fieldNames.map((name) => `{{${name}}}`).join(', ')}`,
      params: { secret: true },
    })
    .meta({ format: 'password' });

const url = template(2048).refine(isSendable, {
  error: 'Expected a URL that begins with https://, or http:// for a gateway in your own network',
  params: { secret: true },
});

/** Headers that are the connection's own. */
const reserved = /^(host|content-length|transfer-encoding|connection|upgrade|expect|te|trailer|keep-alive)$/i;

const headers = z
  .array(
    z.object({
      name: z
        .string()
        .max(100)
        .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'Expected the name of a header')
        .refine((name) => !reserved.test(name), 'Expected a header that is not the connection’s own'),
      value: z
        .string()
        .max(4000)
        .refine((text) => /^[\t -~]*$/.test(text) && !text.includes('{{'), {
          error: 'Expected ASCII on one line, without fields',
          params: { secret: true },
        })
        .meta({ format: 'password' }),
    }),
  )
  .max(20);

const httpParams = z
  .object({
    kind: z.literal('http'),
    method: z.enum(['GET', 'POST', 'PUT']),
    url,
    headers,
    body: template(10_000),
  })
  .refine(
    ({ method, url: target, body }) => {
      const fields = [...fieldsOf(target), ...(method === 'GET' ? [] : fieldsOf(body))];
      return fields.includes('to') && fields.includes('text');
    },
    { path: ['body'], error: 'Expected {{to}} and {{text}}, here or in the URL', params: { secret: true } },
  );

const twilioParams = z.object({
  kind: z.literal('twilio'),
  accountSid: z.string().regex(/^AC[0-9a-fA-F]{32}$/, 'Expected an account SID: AC and 32 hex digits'),
  apiKeySid: z
    .string()
    .regex(/^SK[0-9a-fA-F]{32}$/, 'Expected the SID of an API key: SK and 32 hex digits')
    .nullable(),
  from: z
    .string()
    .regex(
      /^(\+[1-9][0-9]{5,14}|MG[0-9a-fA-F]{32}|[A-Za-z0-9 ]{1,11})$/,
      'Expected a phone number like +15551234567, a sender’s name, or the SID of a messaging service',
    ),
  url: z
    .string()
    .max(200)
    .refine(isSendable, 'Expected a URL that begins with https://')
    .refine(
      (text) => URL.parse(text)?.origin === text,
      'Expected a scheme and a host, and nothing after them',
    ),
  password: secret(200).optional(),
});

export const smsParams = z.discriminatedUnion('kind', [httpParams, twilioParams]);

/** One change of how messages leave; settings that are null turn their channel off. */
export const channelChange = z.discriminatedUnion('channel', [
  z.object({ channel: z.literal('mail'), settings: mailParams.nullable() }),
  z.object({ channel: z.literal('sms'), settings: smsParams.nullable() }),
  z.object({ channel: z.literal('desktop'), on: z.boolean() }),
]);

export const messageTest = z.discriminatedUnion('channel', [
  z.object({ channel: z.literal('mail'), to: address }),
  z.object({
    channel: z.literal('sms'),
    to: z.string().regex(/^\+[1-9][0-9]{5,14}$/, 'Expected a phone number like +15551234567'),
  }),
  z.object({ channel: z.literal('desktop') }),
]);
