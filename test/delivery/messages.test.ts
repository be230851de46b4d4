/** Messages to people, from the transaction that posts one to the server that takes it. */
import { spawn } from 'node:child_process';
import { createECDH } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { startDev } from '../../main/commands/vault/dev.ts';
import { makeConfig } from '../../main/app/config.ts';
import type { OutgoingMessage } from '../../main/lib/messages.ts';
import { startVault } from '../../main/app/compose.ts';
import type {
  MessageChannelChange,
  MessageDelivery,
  MessagesStatus,
  VaultEvent,
} from '../../preload/contract.ts';
import { mailUser, startMailServer, type MailServer } from './mail-server.ts';
import type { Orders } from './messages-child.ts';
import { filesIn } from '../support/secret-watch.ts';
import { resultOf, send, startTestVault, type TestVault } from '../support/support.ts';

const code = 'QX7R-41ZK';

const message = (what: Partial<OutgoingMessage> & { readonly lastsMs?: number } = {}): OutgoingMessage => {
  const { lastsMs = 300_000, ...fields } = what;
  return {
    channel: 'email',
    to: 'ada@example.com',
    subject: 'Your code',
    text: `It is ${code}.\n`,
    code,
    expiresAt: Date.now() + lastsMs,
    ...fields,
  };
};

const textMessage = (what: Partial<OutgoingMessage> = {}): OutgoingMessage =>
  message({ channel: 'sms', to: '+15551234567', subject: '', ...what });

const mailSettings = (
  server: Pick<MailServer, 'port' | 'certificate'>,
): Extract<MessageChannelChange, { channel: 'mail' }> & { readonly settings: object } => ({
  channel: 'mail',
  settings: {
    host: '127.0.0.1',
    port: server.port,
    security: 'starttls',
    user: mailUser.user,
    password: mailUser.password,
    from: { address: 'vault@example.com', name: 'The vault' },
    replyTo: null,
    otherSenders: ['@apps.example'],
    certificates: server.certificate,
  },
});

const post = (service: Pick<TestVault, 'vault' | 'organizationId'>, what: OutgoingMessage): Promise<void> =>
  service.vault.units.write((tx) => {
    service.vault.messages.post(tx, service.organizationId, what);
  });

async function deliveries({ vault }: Pick<TestVault, 'vault'>): Promise<readonly MessageDelivery[]> {
  return (await vault.rpc.messages()).deliveries;
}

async function lastState(service: Pick<TestVault, 'vault'>): Promise<string | undefined> {
  return (await deliveries(service))[0]?.state;
}

/** A vault whose files are searched for what its messages say, once they are gone. */
async function startWatchedVault(): Promise<TestVault> {
  const service = await startTestVault();
  service.secrets.addText('a code', code);
  service.secrets.addText('the mail password', mailUser.password);
  return service;
}

describe('mail', () => {
  test('leaves after the commit, by the server that is set up, and is in the log without its text', async () => {
    await using server = await startMailServer();
    await using service = await startWatchedVault();
    const { rpc } = service.vault;
    const status = await rpc.changeMessages(mailSettings(server));
    expect(JSON.stringify(status)).not.toContain(mailUser.password);
    expect(status.mail).toMatchObject({ host: '127.0.0.1', user: mailUser.user });

    await post(service, message());
    await expect.poll(() => server.mails.length).toBe(1);
    expect(server.mails[0]).toMatchObject({
      subject: 'Your code',
      from: { address: 'vault@example.com', name: 'The vault' },
      recipients: ['ada@example.com'],
    });
    await expect.poll(() => lastState(service)).toBe('delivered');
    const [delivery] = await deliveries(service);
    expect(server.mails[0]?.messageId).toBe(`<${delivery?.id ?? ''}@example.com>`);
    expect(delivery).toMatchObject({
      channel: 'email',
      to: 'ada@example.com',
      attempts: 1,
      note: `taken by 127.0.0.1:${String(server.port)}`,
      canRetry: false,
    });
    await expect(rpc.retryMessage(delivery?.id ?? '')).rejects.toThrow('was delivered');
    expect(JSON.stringify(await rpc.messages())).not.toContain(code);
  });

  test('does not leave where its transaction is undone', async () => {
    await using server = await startMailServer();
    await using service = await startWatchedVault();
    await service.vault.rpc.changeMessages(mailSettings(server));
    await expect(
      service.vault.units.write((tx) => {
        service.vault.messages.post(tx, service.organizationId, message());
        throw new Error('undone');
      }),
    ).rejects.toThrow('undone');
    await post(service, message({ to: 'other@example.com' }));
    await expect.poll(() => server.mails.length).toBe(1);
    expect(server.mails[0]?.recipients).toEqual(['other@example.com']);
  });

  test('comes from whom a request says, if the settings allow it', async () => {
    await using server = await startMailServer();
    await using service = await startWatchedVault();
    await service.vault.rpc.changeMessages(mailSettings(server));
    await post(service, message({ from: { address: 'shop@apps.example', name: 'Shop' } }));
    await expect.poll(() => server.mails.length).toBe(1);
    expect(server.mails[0]?.from).toMatchObject({ address: 'shop@apps.example', name: 'Shop' });
    await expect(post(service, message({ from: { address: 'shop@else.example' } }))).rejects.toMatchObject({
      code: 'FAILED_PRECONDITION',
      message: expect.stringContaining('sendFromEmailAddress "shop@else.example" is not among') as string,
    });
  });

  test('does not come from a sender that the settings no longer allow', async () => {
    await using service = await startWatchedVault();
    const away = await startMailServer();
    await away[Symbol.asyncDispose]();
    const { settings } = mailSettings(away);
    await service.vault.rpc.changeMessages({ channel: 'mail', settings });
    await post(service, message({ from: { address: 'shop@apps.example' } }));
    await service.vault.rpc.changeMessages({
      channel: 'mail',
      settings: { ...settings, otherSenders: [] },
    });
    await expect.poll(() => lastState(service)).toBe('refused');
    expect((await deliveries(service))[0]?.note).toContain('"shop@apps.example" is not among the senders');
  });

  test('waits for a server that is away, and goes when it is back', async () => {
    await using service = await startWatchedVault();
    const away = await startMailServer();
    const { port } = away;
    await away[Symbol.asyncDispose]();
    await service.vault.rpc.changeMessages(mailSettings(away));
    await post(service, message());
    await expect.poll(async () => (await deliveries(service))[0]?.attempts).toBeGreaterThan(0);
    const [waiting] = await deliveries(service);
    expect(waiting).toMatchObject({ state: 'waiting', canRetry: true });
    expect(waiting?.note).toContain('the connection to the mail server');
    await using server = await startMailServer({}, port);
    await service.vault.rpc.retryMessage(waiting?.id ?? '');
    await expect.poll(() => server.mails.length).toBe(1);
    await expect.poll(() => lastState(service)).toBe('delivered');
  });

  test('that is refused is not tried again by itself, and can be while its code is good', async () => {
    let refuse = true;
    await using server = await startMailServer({
      onRcptTo(_address, _session, done) {
        done(refuse ? Object.assign(new Error('no such mailbox'), { responseCode: 550 }) : null);
      },
    });
    await using service = await startWatchedVault();
    await service.vault.rpc.changeMessages(mailSettings(server));
    await post(service, message());
    await expect.poll(() => lastState(service)).toBe('refused');
    const [refused] = await deliveries(service);
    expect(refused).toMatchObject({ attempts: 1, canRetry: true });
    expect(refused?.note).toContain('550 no such mailbox');
    refuse = false;
    await service.vault.rpc.retryMessage(refused?.id ?? '');
    await expect.poll(() => server.mails.length).toBe(1);
  });

  test('of which it is not known whether it was taken goes again, as the same mail', async () => {
    const ids: string[] = [];
    const sockets: Socket[] = [];
    await using server = await startMailServer({
      onSecure(socket, _session, done) {
        sockets.push(socket);
        done();
      },
      onData(stream, _session, done) {
        void readText(stream).then((raw) => {
          ids.push(/^Message-ID: (.+)\r$/im.exec(raw)?.[1] ?? '');
          if (ids.length > 1) done();
          // The server has the mail, and can no longer say so.
          else for (const socket of sockets) socket.destroy();
        });
      },
    });
    await using service = await startWatchedVault();
    await service.vault.rpc.changeMessages(mailSettings(server));
    await post(service, message());
    await expect.poll(() => lastState(service)).toBe('delivered');
    expect(ids).toHaveLength(2);
    expect(ids[1]).toBe(ids[0]);
    expect((await deliveries(service))[0]).toMatchObject({ attempts: 2 });
  });

  test('whose code has expired is not sent', async () => {
    await using service = await startWatchedVault();
    const away = await startMailServer();
    await away[Symbol.asyncDispose]();
    await service.vault.rpc.changeMessages(mailSettings(away));
    await post(service, message());
    await expect.poll(async () => (await deliveries(service))[0]?.attempts).toBeGreaterThan(0);
    service.clock.advance(400_000);
    await using server = await startMailServer({}, away.port);
    service.vault.outbox.look();
    await expect.poll(() => lastState(service)).toBe('expired');
    const [expired] = await deliveries(service);
    await expect(service.vault.rpc.retryMessage(expired?.id ?? '')).rejects.toThrow('has expired');
    expect(server.mails).toEqual([]);
  });

  test('that was committed goes after a kill, unless its code has expired', async () => {
    await using server = await startMailServer();
    await using first = await startWatchedVault();
    const { directory, recoveryPhrase, organizationId } = first;
    await first.vault.rpc.changeMessages(mailSettings(server));
    await first.vault.close();

    const orders: Orders = {
      directory,
      phrase: recoveryPhrase,
      organizationId,
      messages: [
        message({ to: 'good@example.com' }),
        message({ to: 'late@example.com', lastsMs: 400 }),
        message({ to: 'also@example.com' }),
      ],
    };
    const child = spawn(
      process.execPath,
      [join(import.meta.dirname, 'messages-child.ts'), JSON.stringify(orders)],
      { stdio: ['ignore', 'ignore', 'inherit'] },
    );
    const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
    expect(signal).toBe('SIGKILL');
    expect(server.mails).toEqual([]);
    await expect.poll(() => Date.now() > (orders.messages[1]?.expiresAt ?? Infinity)).toBe(true);

    const again = await startVault(makeConfig({ dataDir: directory, port: '0', keychain: false }, {}));
    try {
      // Locked, it sends nothing: the rows could not be authenticated, nor opened.
      expect(server.mails).toEqual([]);
      await again.rpc.unlock({ with: 'recovery', phrase: recoveryPhrase });
      await expect
        .poll(async () => (await deliveries({ vault: again })).map(({ to, state }) => `${to} ${state}`))
        .toEqual(['also@example.com delivered', 'late@example.com expired', 'good@example.com delivered']);
      expect(server.mails.map(({ recipients }) => recipients[0]).sort()).toEqual([
        'also@example.com',
        'good@example.com',
      ]);
    } finally {
      await again.close();
    }
  });

  test('goes on under a new master key', async () => {
    await using server = await startMailServer();
    await using service = await startWatchedVault();
    const { rpc } = service.vault;
    await rpc.changeMessages(mailSettings(server));
    const proof = { with: 'recovery', phrase: service.recoveryPhrase } as const;
    await rpc.changeKeyslots({ proof, do: 'rotate', secrets: [], dropOthers: false });
    await post(service, message());
    await expect.poll(() => server.mails.length).toBe(1);
  });
});

describe('a request for a code', () => {
  const asks = {
    otpType: 'OTP_TYPE_EMAIL',
    contact: 'ada@example.com',
    appName: 'Engine',
    emailCustomization: { magicLinkTemplate: 'https://engine.example/in?code=%s' },
    sendFromEmailAddress: 'engine@apps.example',
  };

  test('brings it by mail, and the code signs in', async () => {
    await using server = await startMailServer();
    await using service = await startTestVault();
    const { root, rootUserId, vault } = service;
    const named = { userId: rootUserId, userEmail: asks.contact };
    expect((await root.submit('update_user_email', 'UPDATE_USER_EMAIL', named)).status).toBe(200);

    // Nothing could send it: nothing has happened, and the same request works once something can.
    const body = root.submitBody('INIT_OTP_AUTH_V3', asks);
    const refused = await root.post('submit/init_otp_auth', body);
    expect(refused).toMatchObject({ status: 400, body: { code: 9 } });
    expect(refused.body).toMatchObject({ turnkeyErrorCode: 'EMAIL_SENDING_DISABLED' });
    await vault.rpc.changeMessages(mailSettings(server));
    const asked = await root.post('submit/init_otp_auth', body);
    const { otpId } = resultOf(asked);

    await expect.poll(() => server.mails.length).toBe(1);
    const [mail] = server.mails;
    expect(mail).toMatchObject({
      from: { address: 'engine@apps.example', name: 'Notifications' },
      subject: 'Your sign-in code for Engine',
      recipients: [asks.contact],
    });
    const [, otpCode = ''] = /engine\.example\/in\?code=([0-9A-Z]{9})\b/.exec(mail?.text ?? '') ?? [];
    expect(otpCode).not.toBe('');
    // Later it is in the log, spent, as the request that signs in with it says it.
    const files = [...filesIn(service.directory).values()];
    expect(files.filter((bytes) => bytes.includes(otpCode))).toEqual([]);
    expect(mail?.html).toContain(`>${otpCode}<`);
    const targetPublicKey = createECDH('prime256v1').generateKeys('hex');
    const signedIn = await root.submit('otp_auth', 'OTP_AUTH', { otpId, otpCode, targetPublicKey });
    expect(resultOf(signedIn)).toMatchObject({ userId: rootUserId });
  });
});

describe('settings', () => {
  test('keep a password for the server and the account that it was given for, and no others', async () => {
    await using server = await startMailServer();
    await using service = await startWatchedVault();
    const { rpc } = service.vault;
    const change = mailSettings(server);
    const { password, ...settings } = change.settings;
    await rpc.changeMessages(change);
    await rpc.changeMessages({ channel: 'mail', settings: { ...settings, replyTo: 'help@example.com' } });
    await post(service, message());
    await expect.poll(() => server.mails.length).toBe(1);
    for (const other of [{ host: 'localhost' }, { port: 1 }, { user: 'other' }, { certificates: null }]) {
      await expect(
        rpc.changeMessages({ channel: 'mail', settings: { ...settings, ...other } }),
      ).rejects.toThrow('missing field settings.password');
    }
    await rpc.changeMessages({ channel: 'mail', settings: null });
    await expect(rpc.changeMessages({ channel: 'mail', settings })).rejects.toThrow('settings.password');
    expect(password).toBe(mailUser.password);
  });

  test('are refused in words that hold no secret, and by a locked vault', async () => {
    await using service = await startWatchedVault();
    const { rpc } = service.vault;
    const change = { channel: 'mail', settings: { host: 'x', password: 'a secret\n' } };
    const error: unknown = await rpc.changeMessages(change as never).catch((reason: unknown) => reason);
    expect(String(error)).toContain('messages.settings.');
    expect(String(error)).not.toContain('a secret');
    await rpc.lock();
    await expect(rpc.changeMessages({ channel: 'desktop', on: true })).rejects.toMatchObject({
      code: 'VAULT_LOCKED',
    });
    expect((await rpc.messages()).desktop).toBe(false);
  });

  test('a test says at once whether they work', async () => {
    await using server = await startMailServer();
    await using service = await startWatchedVault();
    const { rpc } = service.vault;
    const to = 'ada@example.com';
    await expect(rpc.testMessages({ channel: 'mail', to })).rejects.toMatchObject({
      code: 'FAILED_PRECONDITION',
    });
    const change = mailSettings(server);
    await rpc.changeMessages(change);
    await expect(rpc.testMessages({ channel: 'mail', to })).resolves.toEqual({
      note: `taken by 127.0.0.1:${String(server.port)}`,
    });
    expect(server.mails[0]).toMatchObject({ subject: 'A test from Keyhearth', recipients: [to] });
    await rpc.changeMessages({
      ...change,
      settings: { ...change.settings, password: 'not the right one' },
    });
    const error: unknown = await rpc.testMessages({ channel: 'mail', to }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'UNAVAILABLE' });
    expect(String(error)).toContain('the mail server refused user and password');
    expect(String(error)).not.toContain('not the right one');
  });
});

describe('a text message', () => {
  test('goes to the gateway; the template is sealed and not shown', async () => {
    const received: { readonly authorization: string | undefined; readonly body: string }[] = [];
    const gateway = createServer((request, response) => {
      void readText(request).then((body) => {
        received.push({ authorization: request.headers.authorization, body });
        response.writeHead(201).end();
      });
    }).listen(0, '127.0.0.1');
    await once(gateway, 'listening');
    const origin = `http://127.0.0.1:${String((gateway.address() as AddressInfo).port)}`;
    await using service = await startWatchedVault();
    service.secrets.addText('the token of the gateway', 'token-7f3a9c');
    service.secrets.addText('the key in the URL', 'key-55d1b2');
    const status = await service.vault.rpc.changeMessages({
      channel: 'sms',
      settings: {
        kind: 'http',
        method: 'POST',
        url: `${origin}/send?key=key-55d1b2`,
        headers: [
          { name: 'Authorization', value: 'Bearer token-7f3a9c' },
          { name: 'Content-Type', value: 'application/json' },
        ],
        body: '{"to":"{{to}}","text":"{{text}}"}',
      },
    });
    expect(status.sms).toEqual({
      kind: 'http',
      method: 'POST',
      origin,
      headers: ['Authorization', 'Content-Type'],
    });
    await post(service, textMessage());
    await expect.poll(() => received.length).toBe(1);
    expect(received[0]?.authorization).toBe('Bearer token-7f3a9c');
    expect(JSON.parse(received[0]?.body ?? '')).toEqual({ to: '+15551234567', text: `It is ${code}.\n` });
    await expect.poll(() => lastState(service)).toBe('delivered');
    gateway.closeAllConnections();
    gateway.close();
  });
});

describe('the desktop channel', () => {
  test('is off by default: what nothing is set up for is refused, with the way on', async () => {
    await using service = await startWatchedVault();
    await expect(post(service, message())).rejects.toMatchObject({
      code: 'FAILED_PRECONDITION',
      turnkeyErrorCode: 'EMAIL_SENDING_DISABLED',
      message: expect.stringContaining('`keyhearth messages mail`') as string,
    });
    await expect(post(service, textMessage())).rejects.toMatchObject({
      message: expect.stringContaining('`keyhearth messages sms`') as string,
    });
    expect(await deliveries(service)).toEqual([]);
  });

  test('shows what has no other way, until it expires or the vault is locked', async () => {
    await using server = await startMailServer();
    await using service = await startWatchedVault();
    const { rpc } = service.vault;
    const events: VaultEvent[] = [];
    rpc.onEvent((event) => events.push(event));
    await rpc.changeMessages({ channel: 'desktop', on: true });
    await post(service, textMessage());
    await expect.poll(() => lastState(service)).toBe('delivered');
    const [shown] = await rpc.shownMessages();
    expect(shown).toMatchObject({ channel: 'sms', to: '+15551234567', code });
    expect(events).toContainEqual({ kind: 'message', id: shown?.id });
    // A window that is not the owner's sees events too.
    expect(JSON.stringify(events)).not.toContain(code);

    await rpc.changeMessages(mailSettings(server));
    await post(service, message());
    await expect.poll(() => server.mails.length).toBe(1);
    expect(await rpc.shownMessages()).toHaveLength(1);

    service.clock.advance(400_000);
    expect(await rpc.shownMessages()).toEqual([]);
    await post(service, textMessage({ expiresAt: service.clock.now() + 60_000 }));
    await expect.poll(async () => (await rpc.shownMessages()).length).toBe(1);
    await rpc.lock();
    expect(await rpc.shownMessages()).toEqual([]);
  });
});

describe('the inbox of `keyhearth dev`', () => {
  const config = makeConfig({ port: '0', keychain: false }, {});
  const inbox = async (url: string): Promise<unknown> =>
    JSON.parse((await send(url, { method: 'GET', path: '/dev/inbox' })).text) as unknown;

  test('has every message, in order, as soon as the request that posted it is answered', async () => {
    const { vault, line } = await startDev(config, { clock: 'fixed' });
    const dev = { vault, organizationId: line.organizationId };
    const { now } = (await send(line.url, { method: 'GET', path: '/dev/clock' })).body as { now: number };
    const expiresAt = now + 300_000;
    expect(await inbox(line.url)).toEqual([]);
    for (let number = 0; number < 20; number++) {
      await post(dev, message({ to: `user${String(number)}@example.com`, expiresAt }));
    }
    const all = (await inbox(line.url)) as { to: string }[];
    expect(all.map(({ to }) => to)).toEqual(
      Array.from({ length: 20 }, (_, number) => `user${String(number)}@example.com`),
    );
    expect(all[0]).toEqual({
      id: expect.any(String) as string,
      channel: 'email',
      to: 'user0@example.com',
      subject: 'Your code',
      text: `It is ${code}.\n`,
      code,
      at: now,
    });

    const { id } = (await send(line.url, { path: '/dev/snapshot' })).body as { id: string };
    await post(dev, textMessage({ expiresAt }));
    expect(await inbox(line.url)).toHaveLength(21);
    await send(line.url, { path: '/dev/reset' });
    expect(await inbox(line.url)).toEqual([]);
    await send(line.url, { path: '/dev/reset', body: JSON.stringify({ id }) });
    expect(await inbox(line.url)).toHaveLength(20);
    const status: MessagesStatus = await vault.rpc.messages();
    expect(status).toMatchObject({ inboxOnly: true, mail: null });
    await vault.close();
  });
});
