/** A real mail server on this machine, whose ways a test may change. */
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import type { AddressInfo } from 'node:net';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { localCertificate } from '../support/certificates.ts';

export interface MailServer extends AsyncDisposable {
  readonly port: number;
  /** Accepted mails, oldest first, with the recipients of the envelope. */
  readonly mails: readonly (Email & { readonly recipients: readonly string[] })[];
  /** The actions of clients: `connect`, `auth USER`, `secure`. */
  readonly events: readonly string[];
  /** PEM; clients need it to trust the server. */
  readonly certificate: string;
}

export const mailUser = { user: 'vault@example.com', password: 'correct horse battery' };

const identity = localCertificate();

/** Takes mail of `mailUser` alone, over TLS, unless told otherwise. */
export async function startMailServer(options: SMTPServerOptions = {}, port = 0): Promise<MailServer> {
  const mails: (Email & { recipients: string[] })[] = [];
  const events: string[] = [];
  const server = new SMTPServer({
    key: identity.key,
    cert: identity.certificate,
    onConnect(_session, done) {
      events.push('connect');
      done();
    },
    onAuth({ username = '', password }, _session, done) {
      events.push(`auth ${username}`);
      if (username === mailUser.user && password === mailUser.password) done(null, { user: username });
      else done(new Error(`Invalid login: ${String(password)}`));
    },
    onSecure(_socket, _session, done) {
      events.push('secure');
      done();
    },
    onData(stream, { envelope }, done) {
      buffer(stream)
        .then((raw) => PostalMime.parse(raw))
        .then((mail) => {
          mails.push({ ...mail, recipients: envelope.rcptTo.map(({ address }) => address) });
          done();
        })
        .catch((error: unknown) => {
          done(error instanceof Error ? error : new Error(String(error)));
        });
    },
    logger: false,
    ...options,
  });
  // A client that goes away is the client's affair.
  server.on('error', () => undefined);
  const listening = server.listen(port, '127.0.0.1');
  await once(listening, 'listening');
  return {
    port: (listening.address() as AddressInfo).port,
    mails,
    events,
    certificate: identity.certificate,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        for (const { _socket: socket } of server.connections) socket.destroy();
      }),
  };
}
