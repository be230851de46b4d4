/** Mail by SMTP (RFC 5321), with STARTTLS (RFC 3207) or TLS from the start (RFC 8314). */
import { defined } from '../../lib/defined.ts';
import type { OutgoingMessage } from '../../lib/messages.ts';
import { TransportError, quoted, type MessageTransport } from './transport.ts';
import { reasonOfCode } from '../../lib/text/reasons.ts';

export interface SmtpSettings {
  readonly host: string;
  readonly port: number;
  /** TLS from the start, TLS by STARTTLS before anything else is said, or none. */
  readonly security: 'tls' | 'starttls' | 'none';
  readonly user: string | null;
  readonly from: { readonly address: string; readonly name: string | null };
  readonly replyTo: string | null;
  /** Certificates in PEM that the server's must follow from, instead of the system's. */
  readonly certificates: string | null;
}

interface SmtpOptions {
  /** Milliseconds until a server that says nothing counts as gone; shorter in tests. */
  readonly patienceMs?: number;
}

const patience = 15_000;
/** A message may take this many times as long. A server that keeps sending a little is never silent, and may never end. */
const longest = 8;
const connections = 3;

/** Connections are kept for the next message, until the server closes them. */
export function smtpTransport(
  settings: SmtpSettings,
  password: string | undefined,
  { patienceMs = patience }: SmtpOptions = {},
): MessageTransport {
  const closing = new AbortController();
  let opened: ReturnType<typeof openPool> | undefined;
  return {
    async send(id, message, signal) {
      const pool = await (opened ??= openPool(settings, password, patienceMs));
      if (closing.signal.aborted) pool.close({ force: true });
      const { to, subject, text, html, code } = message;
      const { address, name } = { ...settings.from, ...message.from };
      const replyTo = message.replyTo ?? settings.replyTo;
      const late = AbortSignal.timeout(longest * patienceMs);
      try {
        await pool.sendMail({
          messageId: `<${id}@${domainOf(address)}>`,
          from: { address, name: name ?? '' },
          // As an object: a text would be read as a list.
          to: { address: to, name: '' },
          ...(replyTo === null ? {} : { replyTo: { address: replyTo, name: '' } }),
          subject,
          text,
          ...defined({ html }),
          // RFC 3834: asks for no automatic replies.
          headers: { 'Auto-Submitted': 'auto-generated' },
          signal: AbortSignal.any([signal, late]),
        });
      } catch (error) {
        if (late.aborted) throw new TransportError(tooLate, false);
        throw toCarryError(error, [code, password ?? '']);
      }
    },
    close() {
      closing.abort();
      void opened?.then((pool) => {
        pool.close({ force: true });
      });
    },
  };
}

async function openPool(settings: SmtpSettings, password: string | undefined, patienceMs: number) {
  // Loaded only where mail is sent, to keep the start fast.
  const { createTransport } = await import('nodemailer');
  const { host, port, security, user, certificates } = settings;
  return createTransport({
    pool: true,
    maxConnections: connections,
    host,
    port,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    ...(user === null ? {} : { auth: { user, pass: password ?? '' } }),
    tls: {
      minVersion: 'TLSv1.2',
      // Else a variable of the environment (NODE_TLS_REJECT_UNAUTHORIZED) decides.
      rejectUnauthorized: true,
      ...(certificates === null ? {} : { ca: certificates }),
    },
    dnsTimeout: patienceMs,
    connectionTimeout: patienceMs,
    greetingTimeout: patienceMs,
    socketTimeout: patienceMs,
    // A text that begins like a path or an address stays a text.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** True if this server may send messages of this sender. */
export function maySendFrom(
  { from, otherSenders }: Pick<SmtpSettings, 'from'> & { readonly otherSenders: readonly string[] },
  sender: OutgoingMessage['from'],
): boolean {
  const address = sender?.address?.toLowerCase();
  if (address === undefined || address === from.address.toLowerCase()) return true;
  return otherSenders.some((allowed) =>
    allowed.startsWith('@') ? address.endsWith(allowed.toLowerCase()) : address === allowed.toLowerCase(),
  );
}

const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1);

const tooLate = 'the mail server did not answer in time';

const words: Readonly<Record<string, string>> = {
  ECONNECTION: 'the connection to the mail server was closed',
  ETIMEDOUT: tooLate,
  ESOCKET: 'the connection to the mail server failed',
  EDNS: 'the name of the mail server was not found',
  ETLS: 'no TLS with the mail server',
  EAUTH: 'the mail server refused user and password',
  EPROTOCOL: 'the mail server does not speak SMTP',
  EENVELOPE: 'the mail server refused sender or recipient',
  EMESSAGE: 'the mail server refused the message',
  EABORT: 'sending was given up',
};

function toCarryError(error: unknown, secrets: readonly string[]): TransportError {
  if (!(error instanceof Error)) return new TransportError('the mail was not sent', false);
  const { code, response, permanent } = error as { code?: unknown; response?: unknown; permanent?: unknown };
  const name = typeof code === 'string' ? code : '';
  const what = words[name] ?? 'the mail was not sent';
  // The server's own words say why; the library's do not.
  const said =
    typeof response === 'string' && response !== '' ? response : reasonOfCode(error.cause ?? error);
  return new TransportError(
    said === undefined ? what : `${what}: ${quoted(said, secrets)}`,
    // A fault of connection or password may be fixed before the message expires.
    permanent === true && (name === 'EENVELOPE' || name === 'EMESSAGE'),
  );
}
