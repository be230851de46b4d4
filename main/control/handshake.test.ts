/** Both sides of the handshake against strangers: neither gives away anything but a random number until the other is proven. */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { duplexPair, type Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import { admitClient, proveToServer, UnprovenError } from './handshake.ts';

const secret = 'the secret of this run';

/** Writes each line once the other side has said something, and notes all that it said. */
function play(socket: Duplex, lines: readonly ((heard: string) => string)[]): () => string {
  let heard = '';
  const waiting = [...lines];
  socket.on('error', () => undefined).setEncoding('utf8');
  socket.on('data', (text: string) => {
    heard += text;
    const line = waiting.shift()?.(heard);
    if (line !== undefined) socket.write(line);
  });
  return () => heard;
}

const nonce = 'A'.repeat(43);
const proof = (key: string, side: string, client: string): string =>
  createHmac('sha256', key).update(`keyhearth-control 1\n${side}\n${client}\n${nonce}`).digest('base64url');
const clientNonce = (heard: string): string => heard.trim().split(' ').at(-1) ?? '';

test('both sides prove themselves, and what follows is left for who reads next', async () => {
  const [client, server] = duplexPair();
  await Promise.all([proveToServer(client, secret), admitClient(server, secret)]);
  client.write('GET / HTTP/1.1\r\n');
  await once(server, 'readable');
  expect(String(server.read())).toBe('GET / HTTP/1.1\r\n');
});

test('another secret on either side is refused by both', async () => {
  const [client, server] = duplexPair();
  const outcomes = await Promise.allSettled([proveToServer(client, 'other'), admitClient(server, secret)]);
  for (const outcome of outcomes) expect(outcome).toMatchObject({ status: 'rejected' });
});

test.each<[string, (heard: string) => string]>([
  ['nonsense', () => 'hello\n'],
  ['HTTP', () => 'HTTP/1.1 200 OK\r\n\r\n{"value":{}}'],
  ['a proof under another secret', (heard) => `${nonce} ${proof('other', 'server', clientNonce(heard))}\n`],
  ['the proof of the other side', (heard) => `${nonce} ${proof(secret, 'client', clientNonce(heard))}\n`],
  ['a proof for another connection', () => `${nonce} ${proof(secret, 'server', 'B'.repeat(43))}\n`],
  ['a right proof, and more', (heard) => `${nonce} ${proof(secret, 'server', clientNonce(heard))} x\n`],
  ['no end of a line', () => 'x'.repeat(500)],
])('a client tells a server nothing that answers with %s', async (_what, answer) => {
  const [client, server] = duplexPair();
  const heard = play(server, [answer]);
  await expect(proveToServer(client, secret)).rejects.toThrow(UnprovenError);
  expect(client.destroyed).toBe(true);
  expect(heard()).toMatch(/^keyhearth-control 1 [A-Za-z0-9_-]{43}\n$/);
});

test.each([
  ['nonsense', 'hello\n'],
  ['HTTP', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['another version', `keyhearth-control 2 ${nonce}\n`],
  ['a short nonce', 'keyhearth-control 1 A\n'],
])('a server answers nothing to a client that begins with %s', async (_what, line) => {
  const [client, server] = duplexPair();
  const heard = play(client, []);
  client.write(line);
  await expect(admitClient(server, secret)).rejects.toThrow(UnprovenError);
  expect(heard()).toBe('');
});

test('a server lets in no client that repeats the server’s own proof', async () => {
  const [client, server] = duplexPair();
  const heard = play(client, [(said) => `${clientNonce(said)}\n`]);
  client.write(`keyhearth-control 1 ${nonce}\n`);
  await expect(admitClient(server, secret)).rejects.toThrow(UnprovenError);
  expect(heard()).not.toContain('ready');
});

test('either side ends with the other', async () => {
  const [client, server] = duplexPair();
  server.destroy();
  await expect(proveToServer(client, secret)).rejects.toThrow();
});
