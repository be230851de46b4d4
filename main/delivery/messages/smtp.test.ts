import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { once } from 'node:events';
import { describe, expect, test, vi } from 'vitest';
import { mailUser, startMailServer } from '../../../test/delivery/mail-server.ts';
import type { MailServer } from '../../../test/delivery/mail-server.ts';
import type { OutgoingMessage } from '../../lib/messages.ts';
import { TransportError, quoted } from './transport.ts';
import { maySendFrom, smtpTransport, type SmtpSettings } from './smtp.ts';

const message: OutgoingMessage = {
  channel: 'email',
  to: 'ada@example.com',
  subject: 'Your code',
  text: 'Here it is: ZX81QL99\n',
  html: '<p>Here it is: <b>ZX81QL99</b></p>\n',
  code: 'ZX81QL99',
  expiresAt: 0,
};

const settingsFor = (server: Pick<MailServer, 'port' | 'certificate'>): SmtpSettings => ({
  host: '127.0.0.1',
  port: server.port,
  security: 'starttls',
  user: mailUser.user,
  from: { address: 'vault@example.com', name: 'The vault' },
  replyTo: null,
  certificates: server.certificate,
});

const never = new AbortController().signal;

async function send(
  settings: SmtpSettings,
  what: Partial<OutgoingMessage> = {},
  { password = mailUser.password, signal = never, patienceMs = 10_000 } = {},
): Promise<void> {
  const transport = smtpTransport(settings, password, { patienceMs });
  try {
    await transport.send('an-id', { ...message, ...what }, signal);
  } finally {
    transport.close();
  }
}

const failure = async (sending: Promise<void>): Promise<TransportError> => {
  const error: unknown = await sending.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof TransportError) return error;
  throw new Error(`expected a TransportError, got ${String(error)}`);
};

describe('mail', () => {
  test('arrives over STARTTLS, as text and HTML, from whom it is', async () => {
    await using server = await startMailServer();
    await send(settingsFor(server));
    expect(server.events).toEqual(['connect', 'secure', `auth ${mailUser.user}`]);
    const [mail] = server.mails;
    expect(mail).toMatchObject({
      from: { address: 'vault@example.com', name: 'The vault' },
      to: [{ address: 'ada@example.com' }],
      subject: 'Your code',
      messageId: '<an-id@example.com>',
      recipients: ['ada@example.com'],
    });
    expect(mail?.text?.trim()).toBe('Here it is: ZX81QL99');
    expect(mail?.html).toContain('<b>ZX81QL99</b>');
    expect(mail?.headers).toContainEqual(
      expect.objectContaining({ key: 'auto-submitted', value: 'auto-generated' }),
    );
    // The mail does not say which program sent it.
    expect(mail?.headers.map(({ key }) => key)).not.toContain('x-mailer');
  });

  test('arrives over TLS from the start', async () => {
    await using server = await startMailServer({ secure: true });
    await send({ ...settingsFor(server), security: 'tls' });
    expect(server.mails).toHaveLength(1);
  });

  test('arrives without TLS where that is asked for', async () => {
    await using server = await startMailServer({ hideSTARTTLS: true, authOptional: true });
    await send({ ...settingsFor(server), security: 'none', user: null });
    expect(server.mails).toHaveLength(1);
    expect(server.events).toEqual(['connect']);
  });

  test('goes one after the other over a connection that is kept', async () => {
    await using server = await startMailServer();
    const transport = smtpTransport(settingsFor(server), mailUser.password);
    for (const id of ['1', '2', '3']) await transport.send(id, message, never);
    transport.close();
    expect(server.mails).toHaveLength(3);
    expect(server.events.filter((event) => event === 'connect')).toHaveLength(1);
  });

  test('comes from whom the message says, and answers go where it says', async () => {
    await using server = await startMailServer();
    await send(
      { ...settingsFor(server), replyTo: 'help@example.com' },
      { from: { address: 'other@sub.example', name: 'A "quoted", <name>' }, replyTo: 'reply@sub.example' },
    );
    await send({ ...settingsFor(server), replyTo: 'help@example.com' }, { from: { name: 'Only a name' } });
    expect(server.mails[0]).toMatchObject({
      from: { address: 'other@sub.example', name: 'A "quoted", <name>' },
      replyTo: [{ address: 'reply@sub.example' }],
      messageId: '<an-id@sub.example>',
    });
    expect(server.mails[1]).toMatchObject({
      from: { address: 'vault@example.com', name: 'Only a name' },
      replyTo: [{ address: 'help@example.com' }],
    });
  });

  test('has one recipient, and headers of its own alone', async () => {
    await using server = await startMailServer();
    await send(settingsFor(server), {
      subject: 'Code\r\nBcc: eve@example.com',
      from: { name: 'Vault\r\nBcc: eve@example.com' },
    });
    await failure(send(settingsFor(server), { to: 'ada@example.com, eve@example.com' }));
    expect(server.mails.map(({ recipients, bcc }) => ({ recipients, bcc }))).toEqual([
      { recipients: ['ada@example.com'], bcc: undefined },
    ]);
  });

  test('reads no file and no address, whatever its text looks like', async () => {
    await using server = await startMailServer();
    await send(settingsFor(server), { text: 'file:///etc/passwd', html: 'http://127.0.0.1:1/' });
    expect(server.mails[0]?.text?.trim()).toBe('file:///etc/passwd');
  });
});

describe('mail that does not go', () => {
  test('because the server has no STARTTLS: it receives nothing', async () => {
    await using server = await startMailServer({ disabledCommands: ['STARTTLS'], authOptional: true });
    const error = await failure(send(settingsFor(server)));
    expect(error.message).toContain('no TLS with the mail server');
    expect(error.permanent).toBe(false);
    expect(server.mails).toEqual([]);
    expect(server.events).toEqual(['connect']);
  });

  test('because the certificate is not from a trusted authority, or is for another host', async () => {
    await using server = await startMailServer();
    for (const settings of [
      { ...settingsFor(server), certificates: null },
      { ...settingsFor(server), host: '127.0.0.2' },
    ]) {
      const error = await failure(send(settings));
      expect(error.permanent).toBe(false);
    }
    expect(server.events.filter((event) => event.startsWith('auth'))).toEqual([]);
    expect(server.mails).toEqual([]);
  });

  // The class: a variable that some other program needs lets a stranger between have the password and the codes.
  test('because the certificate is not trusted, also where the environment says to trust any', async () => {
    await using server = await startMailServer();
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    try {
      await failure(send({ ...settingsFor(server), certificates: null }));
    } finally {
      vi.unstubAllEnvs();
    }
    expect(server.events.filter((event) => event.startsWith('auth'))).toEqual([]);
    expect(server.mails).toEqual([]);
  });

  test('because the password is wrong: it may be set right, and is not repeated', async () => {
    await using server = await startMailServer();
    const error = await failure(send(settingsFor(server), {}, { password: 'wrong password' }));
    expect(error.message).toContain('the mail server refused user and password');
    expect(error.message).not.toContain('wrong password');
    expect(error.permanent).toBe(false);
  });

  test('because the server does not know the login, which it repeats', async () => {
    const forgetful = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.write('220 mail\r\n');
      socket.on('data', (line) => {
        const said = line.toString().trim();
        socket.write(
          said.startsWith('EHLO')
            ? '250-mail\r\n250 AUTH PLAIN\r\n'
            : `500 5.5.1 Command unrecognized: "${said}"\r\n`,
        );
      });
    }).listen(0, '127.0.0.1');
    await once(forgetful, 'listening');
    const { port } = forgetful.address() as AddressInfo;
    const settings = { ...settingsFor({ port, certificate: '' }), certificates: null };
    const error = await failure(send({ ...settings, security: 'none' }));
    expect(error.message).toContain('500 5.5.1 Command unrecognized: "AUTH PLAIN […]"');
    forgetful.close();
  });

  test('because the server keeps sending a little, and never ends: it is given up', async () => {
    let isHeld = true;
    const trickling = createServer((socket) => {
      const trickle = setInterval(() => socket.write('250-SIZE\r\n'), 20);
      socket
        .on('error', () => undefined)
        .on('close', () => {
          clearInterval(trickle);
          isHeld = false;
        });
      socket.resume().write('220 mail\r\n');
    }).listen(0, '127.0.0.1');
    await once(trickling, 'listening');
    const { port } = trickling.address() as AddressInfo;
    const transport = smtpTransport(
      { ...settingsFor({ port, certificate: '' }), certificates: null },
      undefined,
      {
        patienceMs: 100,
      },
    );
    const error = await failure(transport.send('an-id', message, never));
    expect(error.message).toContain('did not answer in time');
    expect(error.permanent).toBe(false);
    await expect.poll(() => isHeld).toBe(false);
    transport.close();
    trickling.close();
  });

  test.each([
    [550, true],
    [451, false],
  ])('because the recipient is answered %d', async (responseCode, permanent) => {
    await using server = await startMailServer({
      onRcptTo(_address, _session, done) {
        done(Object.assign(new Error('mailbox of ZX81QL99 is not here'), { responseCode }));
      },
    });
    const error = await failure(send(settingsFor(server)));
    expect(error.permanent).toBe(permanent);
    expect(error.message).toContain(`${String(responseCode)} mailbox of […] is not here`);
    expect(error.message).not.toContain(message.code);
  });

  test('because the server dies in the midst of it', async () => {
    const sockets: Socket[] = [];
    await using server = await startMailServer({
      onData(stream) {
        stream.once('data', () => {
          for (const socket of sockets) socket.destroy();
        });
      },
      onSecure(socket, _session, done) {
        sockets.push(socket);
        done();
      },
    });
    const error = await failure(send(settingsFor(server)));
    expect(error.permanent).toBe(false);
  });
  test('because the server says nothing, within the patience for it', async () => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const settings = { ...settingsFor({ port, certificate: '' }), certificates: null };
    const error = await failure(send(settings, {}, { patienceMs: 100 }));
    expect(error.message).toMatch(/did not answer in time/);
    silent.close();
    // The server is gone now.
    expect((await failure(send(settings))).permanent).toBe(false);
  });

  test('because the vault closes', async () => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const closing = new AbortController();
    const sending = failure(
      send({ ...settingsFor({ port, certificate: '' }), certificates: null }, {}, { signal: closing.signal }),
    );
    setImmediate(() => {
      closing.abort();
    });
    expect((await sending).permanent).toBe(false);
    silent.close();
  });
});

test('a sender is the server’s own, or one that the settings name', () => {
  const settings = {
    from: { address: 'vault@example.com', name: null },
    otherSenders: ['@apps.example', 'one@other.example'],
  };
  expect(maySendFrom(settings, undefined)).toBe(true);
  expect(maySendFrom(settings, { name: 'Anybody' })).toBe(true);
  expect(maySendFrom(settings, { address: 'Vault@Example.com' })).toBe(true);
  expect(maySendFrom(settings, { address: 'shop@apps.example' })).toBe(true);
  expect(maySendFrom(settings, { address: 'One@other.example' })).toBe(true);
  expect(maySendFrom(settings, { address: 'shop@evil-apps.example' })).toBe(false);
  expect(maySendFrom(settings, { address: 'two@other.example' })).toBe(false);
  expect(maySendFrom(settings, { address: 'shop@sub.apps.example' })).toBe(false);
});

test('an answer is quoted on one line, bounded, and without secrets', () => {
  expect(quoted('550\r\nno CODE1234\u0000 here', ['CODE1234', ''])).toBe('550 no […] here');
  expect(quoted('x'.repeat(1000), [])).toHaveLength(201);
});

test('an answer is quoted without secrets in the forms that a server may repeat', () => {
  const password = 'correct  horse battery';
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const plain = base64(`\0vault@example.com\0${password}`);
  expect(quoted(`500 unknown: "AUTH PLAIN ${plain}"`, [password])).toBe('500 unknown: "AUTH PLAIN […]"');
  expect(quoted(`500 unknown: AUTH PLAIN ${plain.slice(0, 40)}...`, [password])).toBe(
    '500 unknown: AUTH PLAIN […]...',
  );
  expect(quoted(`500 unknown: "${base64(password)}"`, [password])).toBe('500 unknown: "[…]"');
  expect(quoted(`535 no ${password} here`, [password])).toBe('535 no […] here');
  expect(quoted('535 5.7.8 Authentication credentials invalid', [password, ''])).toBe(
    '535 5.7.8 Authentication credentials invalid',
  );
});
