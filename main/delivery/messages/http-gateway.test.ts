import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parseSecret } from '../../lib/parse.ts';
import type { OutgoingMessage } from '../../lib/messages.ts';
import { TransportError } from './transport.ts';
import { gatewayTransport, type HttpGateway } from './http-gateway.ts';
import { mailParams, smsParams } from './settings.ts';

interface Received {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

let base = '';
let received: Received[] = [];
let answer: (response: ServerResponse) => void;
const server = createServer((request, response) => {
  void readText(request).then((body) => {
    received.push({ method: request.method, url: request.url, headers: request.headers, body });
    answer(response);
  });
});

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  base = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  received = [];
  answer = (response) => response.writeHead(202).end('queued');
});

const message: OutgoingMessage = {
  channel: 'sms',
  to: '+15551234567',
  subject: '',
  text: 'Line "one"\nis <b> & 100 %: 12345678',
  code: '12345678',
  expiresAt: 0,
};
const never = new AbortController().signal;
const template = (what: Partial<HttpGateway>): HttpGateway => ({
  kind: 'http',
  method: 'POST',
  url: `${base}/send`,
  headers: [],
  body: '{{to}}|{{text}}',
  ...what,
});
const send = (gateway: HttpGateway, signal = never, patienceMs = 5000): Promise<void> =>
  gatewayTransport(gateway, { patienceMs }).send('an-id', message, signal);
const failureOf = async (sending: Promise<void>): Promise<TransportError> => {
  const error: unknown = await sending.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof TransportError) return error;
  throw new Error(`expected a TransportError, got ${String(error)}`);
};

describe('a gateway by template', () => {
  test('takes JSON, with the message as texts of it', async () => {
    await send(
      template({
        headers: [
          { name: 'Content-Type', value: 'application/json; charset=utf-8' },
          { name: 'Authorization', value: 'Bearer a-token' },
        ],
        body: '{"recipients":["{{ to }}"],"content":{"text":"{{text}}","reference":"{{id}}"}}',
      }),
    );
    const [request] = received;
    expect(request).toMatchObject({ method: 'POST', url: '/send' });
    expect(request?.headers.authorization).toBe('Bearer a-token');
    expect(JSON.parse(request?.body ?? '')).toEqual({
      recipients: [message.to],
      content: { text: message.text, reference: 'an-id' },
    });
  });

  test('takes a form', async () => {
    await send(
      template({
        method: 'PUT',
        headers: [{ name: 'content-type', value: 'application/x-www-form-urlencoded' }],
        body: 'key=k&to={{to}}&text={{text}}',
      }),
    );
    const form = new URLSearchParams(received[0]?.body);
    expect(received[0]?.method).toBe('PUT');
    expect(form.get('to')).toBe(message.to);
    expect(form.get('text')).toBe(message.text);
  });

  test('takes XML, and plain text', async () => {
    const body = '<sms to="{{to}}">{{text}}</sms>';
    await send(template({ headers: [{ name: 'content-type', value: 'application/xml' }], body }));
    await send(template({ body: '{{text}}' }));
    expect(received[0]?.body).toBe(
      '<sms to="+15551234567">Line &quot;one&quot;\nis &lt;b&gt; &amp; 100 %: 12345678</sms>',
    );
    expect(received[1]?.body).toBe(message.text);
  });

  test('takes it all in the URL', async () => {
    await send(template({ method: 'GET', url: `${base}/cgi?k=1&to={{to}}&text={{text}}#x`, body: '' }));
    const url = new URL(received[0]?.url ?? '', base);
    expect(url.searchParams.get('to')).toBe(message.to);
    expect(url.searchParams.get('text')).toBe(message.text);
    expect(received[0]).toMatchObject({ method: 'GET', body: '' });
  });
});

describe('Twilio', () => {
  const twilio = {
    kind: 'twilio',
    accountSid: `AC${'1'.repeat(32)}`,
    apiKeySid: null,
    from: '+15550000000',
    password: 'the auth token',
  } as const;

  test('takes a message in its own shape', async () => {
    await gatewayTransport({ ...twilio, url: base }).send('an-id', message, never);
    const service = { ...twilio, apiKeySid: `SK${'2'.repeat(32)}`, from: `MG${'3'.repeat(32)}`, url: base };
    await gatewayTransport(service).send('an-id', message, never);
    const basic = (user: string): string =>
      `Basic ${Buffer.from(`${user}:the auth token`).toString('base64')}`;
    expect(received.map(({ method, url }) => `${String(method)} ${String(url)}`)).toEqual(
      Array.from({ length: 2 }, () => `POST /2010-04-01/Accounts/${twilio.accountSid}/Messages.json`),
    );
    expect(received.map(({ headers }) => headers.authorization)).toEqual([
      basic(twilio.accountSid),
      basic(service.apiKeySid),
    ]);
    expect(received.map(({ body }) => Object.fromEntries(new URLSearchParams(body)))).toEqual([
      { To: message.to, From: '+15550000000', Body: message.text },
      { To: message.to, MessagingServiceSid: service.from, Body: message.text },
    ]);
  });

  test('names the status of a refusal, and nothing of the request', async () => {
    answer = (response) =>
      response.writeHead(400).end(JSON.stringify({ code: 21211, message: `Bad ${message.text}` }));
    const error = await failureOf(gatewayTransport({ ...twilio, url: base }).send('an-id', message, never));
    expect(error.message).toBe('the SMS gateway answered HTTP 400 (Twilio’s error 21211)');
    expect(error.permanent).toBe(true);
  });
});

describe('a text message that does not go', () => {
  test.each([
    [400, true],
    [404, true],
    [401, false],
    [408, false],
    [429, false],
    [500, false],
    [503, false],
  ])('because the gateway answers %d', async (status, permanent) => {
    answer = (response) => response.writeHead(status).end(message.text);
    const error = await failureOf(send(template({})));
    expect(error.message).toBe(`the SMS gateway answered HTTP ${String(status)}`);
    expect(error.permanent).toBe(permanent);
  });

  test('because the gateway points elsewhere', async () => {
    answer = (response) => response.writeHead(307, { location: `${base}/elsewhere` }).end();
    const error = await failureOf(send(template({})));
    expect(error.message).toContain('a redirect, which is not followed');
    expect(received).toHaveLength(1);
  });

  test('because the gateway does not answer, or is not there', async () => {
    answer = () => undefined;
    const late = await failureOf(send(template({}), never, 100));
    expect(late).toMatchObject({ message: 'the SMS gateway did not answer in time', permanent: false });
    const gone = await failureOf(send(template({ url: 'http://127.0.0.1:1/?key=secret' })));
    expect(gone.permanent).toBe(false);
    expect(gone.message).not.toContain('secret');
  });

  test('because the answer has no end: no more than its beginning is read', async () => {
    answer = (response) => {
      response.writeHead(200);
      const more = (): void => {
        while (response.write('x'.repeat(10_000)));
        response.once('drain', more);
      };
      more();
    };
    await send(template({}), never, 10_000);
    expect(received).toHaveLength(1);
  });
});

describe('settings', () => {
  const http = {
    kind: 'http',
    method: 'POST',
    url: 'https://sms.example/x',
    headers: [],
    body: '{{to}}{{text}}',
  };
  const twilio = {
    kind: 'twilio',
    accountSid: `AC${'1'.repeat(32)}`,
    apiKeySid: null,
    from: '+15550000000',
    url: 'https://api.twilio.com',
    password: 'topsecret',
  };
  const mail = {
    host: 'mail.example.com',
    port: 587,
    security: 'starttls',
    user: 'ada',
    password: 'topsecret',
    from: { address: 'vault@example.com', name: null },
    replyTo: null,
    otherSenders: [],
    certificates: null,
  };

  test.each([
    [smsParams, { ...http, url: 'http://sms.example/topsecret' }, /sms.url: .*https/],
    [smsParams, { ...http, url: 'https://user:topsecret@sms.example/' }, /sms.url: /],
    [smsParams, { ...http, url: 'file:///topsecret' }, /sms.url: /],
    [smsParams, { ...http, url: 'https://{{host}}/topsecret' }, /sms.url: .*no field but/],
    [smsParams, { ...http, body: '{{to}} topsecret' }, /sms.body: .*\{\{to\}\} and \{\{text\}\}/],
    [smsParams, { ...http, body: '{{to}} {{text}} {{other}} topsecret' }, /sms.body: .*no field but/],
    [smsParams, { ...http, method: 'GET' }, /sms.body: /],
    [smsParams, { ...http, headers: [{ name: 'Host', value: 'topsecret' }] }, /sms.headers\[0\].name: /],
    [smsParams, { ...http, headers: [{ name: 'x', value: 'topsecret\r\ny: z' }] }, /headers\[0\].value: /],
    [smsParams, { ...twilio, accountSid: 'AC1' }, /sms.accountSid: /],
    [smsParams, { ...twilio, url: 'https://api.twilio.com/2010' }, /sms.url: /],
    [smsParams, { ...twilio, url: 'http://api.twilio.com' }, /sms.url: /],
    [smsParams, { ...twilio, password: 'topsecret\n' }, /sms.password: .*control characters/],
    [mailParams, { ...mail, host: 'mail.example.com:25' }, /sms.host: .*without a port/],
    [mailParams, { ...mail, security: 'none' }, /sms.security: .*for all to read/],
    [mailParams, { ...mail, otherSenders: ['example.com'] }, /sms.otherSenders\[0\]: /],
    [mailParams, { ...mail, certificates: 'topsecret' }, /sms.certificates: .*PEM/],
    [mailParams, { ...mail, from: { address: 'a@b.example', name: 'x\ny' } }, /sms.from.name: /],
  ])('%#: refused, and not repeated', (schema, value, problem) => {
    let thrown: unknown;
    try {
      parseSecret(schema, value, 'sms');
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ message: expect.stringMatching(problem) as string });
    expect(String(thrown)).not.toContain('topsecret');
  });

  test.each([
    [smsParams, http],
    [
      smsParams,
      { ...http, url: 'http://192.168.1.1/cgi-bin/sms?to={{to}}&text={{text}}', method: 'GET', body: '' },
    ],
    [smsParams, { ...http, url: 'http://[fd00::1]:8080/' }],
    [smsParams, { ...http, url: 'http://gateway.lan/' }],
    [smsParams, { ...http, url: 'http://localhost:1/' }],
    [smsParams, twilio],
    [mailParams, mail],
    [mailParams, { ...mail, host: '127.0.0.1', security: 'none' }],
    [mailParams, { ...mail, security: 'none', user: null, otherSenders: ['@example.com', 'a@b.example'] }],
  ])('%#: taken', (schema, value) => {
    expect(parseSecret(schema, value)).toEqual(value);
  });
});
