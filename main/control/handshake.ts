/**
 * Both sides of a control connection prove that they know the secret of `endpoint.json`, before either sends anything else.
 * The server proves first, and neither proof serves on another connection or for the other side. So a socket that was
 * replaced, or a note that outlived its process, gets a random number and nothing more.
 *
 *     client   keyhearth-control 1 CLIENT_NONCE
 *     server   SERVER_NONCE PROOF
 *     client   PROOF
 *     server   ready
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { owned } from '../lib/faults.ts';
import { ExplainedError } from '../lib/errors.ts';

const greeting = 'keyhearth-control 1';
const ready = 'ready';
const longestLine = 200;
/** Milliseconds. A service may be busy with a backup or a large unlock; a stranger who says nothing is waited for no longer. */
const patience = 30_000;

/** 32 bytes, base64url. */
const token = /^[A-Za-z0-9_-]{43}$/;

const newNonce = (): string => randomBytes(32).toString('base64url');

const responseOf = (secret: string, side: 'server' | 'client', client: string, server: string): Buffer =>
  createHmac('sha256', secret).update([greeting, side, client, server].join('\n')).digest();

function isResponse(given: string, expected: Buffer): boolean {
  if (!token.test(given)) return false;
  return timingSafeEqual(Buffer.from(given, 'base64url'), expected);
}

/** The other side did not show that it knows the secret. */
export class UnprovenError extends ExplainedError {
  override readonly name = 'UnprovenError';
}

/** Proves this side as a client's, once the server has proven itself. @throws UnprovenError where it has not. */
export function proveToServer(socket: Duplex, secret: string): Promise<void> {
  return inTime(socket, async () => {
    const client = newNonce();
    socket.write(`${greeting} ${client}\n`);
    const [server = '', response = '', ...more] = (await readLine(socket)).split(' ');
    const isServer =
      token.test(server) &&
      isResponse(response, responseOf(secret, 'server', client, server)) &&
      more.length === 0;
    if (!isServer) throw new UnprovenError('it did not prove to know the secret of endpoint.json');
    socket.write(`${responseOf(secret, 'client', client, server).toString('base64url')}\n`);
    if ((await readLine(socket)) !== ready) throw new UnprovenError('it did not accept the proof');
  });
}

/** Proves this side as the server's, and has the client prove itself. @throws UnprovenError where it does not. */
export function admitClient(socket: Duplex, secret: string): Promise<void> {
  return inTime(socket, async () => {
    const [program, protocol, client = '', ...more] = (await readLine(socket)).split(' ');
    if (`${String(program)} ${String(protocol)}` !== greeting || !token.test(client) || more.length > 0) {
      throw new UnprovenError('it did not speak as a client does');
    }
    const server = newNonce();
    socket.write(`${server} ${responseOf(secret, 'server', client, server).toString('base64url')}\n`);
    if (!isResponse(await readLine(socket), responseOf(secret, 'client', client, server))) {
      throw new UnprovenError('it did not prove to know the secret of endpoint.json');
    }
    socket.write(`${ready}\n`);
  });
}

/** Ends the connection where the work fails, or takes too long. */
async function inTime(socket: Duplex, work: () => Promise<void>): Promise<void> {
  const timer = setTimeout(
    owned(() => {
      socket.destroy(new UnprovenError('it did not answer'));
    }),
    patience,
  );
  // The reader or writer of the socket reports a broken connection.
  socket.on(
    'error',
    owned(() => undefined),
  );
  try {
    await work();
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Reads up to the end of a line, and leaves what follows for the next reader. */
function readLine(socket: Duplex): Promise<string> {
  return new Promise((resolve, reject) => {
    let line = Buffer.alloc(0);
    const end = (): void => {
      socket.off('readable', read).off('close', closed).off('error', failed).off('end', closed);
    };
    const failed = owned((error: Error) => {
      end();
      reject(error);
    }, reject);
    const closed = owned(() => {
      failed(new UnprovenError('it ended the connection'));
    }, reject);
    const read = owned(() => {
      for (let chunk; (chunk = socket.read() as Buffer | null) !== null;) {
        line = Buffer.concat([line, chunk]);
        const at = line.indexOf(0x0a);
        if (at < 0 && line.length <= longestLine) continue;
        end();
        if (at < 0 || at > longestLine) {
          reject(new UnprovenError('it sent too long a line'));
          return;
        }
        if (at + 1 < line.length) socket.unshift(line.subarray(at + 1));
        resolve(line.toString('latin1', 0, at));
        return;
      }
    }, reject);
    socket.on('readable', read).on('close', closed).on('end', closed).on('error', failed);
    read();
  });
}
