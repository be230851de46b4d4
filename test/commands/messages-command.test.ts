/** `keyhearth messages`, against the built service, a real mail server and a real gateway. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import type { MessagesStatus } from '../../preload/contract.ts';
import { mailUser, startMailServer } from '../delivery/mail-server.ts';
import { CommandProcess, runCommand, temporaryDirectory } from '../support/support.ts';

const password = 'correct horse battery staple';

/** A vault that runs, and commands about its messages. */
async function serve() {
  await using resources = new AsyncDisposableStack();
  const { path } = resources.use(temporaryDirectory());
  const secret = (name: string, text: string): string => {
    const file = join(path, name);
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  };
  const environment = {
    HOME: path,
    KEYHEARTH_DATA_DIR: join(path, 'vault'),
    KEYHEARTH_CONFIG_DIR: join(path, 'config'),
  };
  const opens = ['--no-keychain', '--password-file', secret('password', password)];
  const made = await runCommand(['init', ...opens], { environment });
  expect(made).toMatchObject({ code: 0 });
  const messages = (...argv: string[]) => runCommand(['messages', ...argv], { environment });
  const whileStopped = await messages('status');
  const service = resources.use(
    new CommandProcess(['serve', '--json', '--port', '0', ...opens], { environment }),
  );
  await service.nextLine();
  const owned = resources.move();
  return { messages, secret, whileStopped, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

// The class: what a gateway is sent is what the file says, or the file is refused.
test.each([
  [
    'bytes that are not UTF-8',
    Buffer.from('{"url":"http://127.0.0.1/","body":"k\xfcy {{to}} {{text}}"}', 'latin1'),
  ],
  ['a name twice', '{"url":"http://127.0.0.1/","url":"http://127.0.0.2/","body":"{{to}} {{text}}"}'],
  [
    'a number beyond doubles',
    '{"url":"http://127.0.0.1/","body":{"id":12345678901234567890,"m":"{{to}} {{text}}"}}',
  ],
  [
    'a header of such a number',
    '{"url":"http://127.0.0.1/","headers":{"X-Id":9007199254740993},"body":"{{to}} {{text}}"}',
  ],
])('a gateway file with %s is refused', async (_what, content) => {
  using home = temporaryDirectory();
  const file = join(home.path, 'gateway.json');
  writeFileSync(file, content);
  const environment = { HOME: home.path, KEYHEARTH_DATA_DIR: join(home.path, 'vault') };
  const { code, stderr } = await runCommand(['messages', 'sms', '--gateway-file', file], { environment });
  expect({ code, stderr }).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--gateway-file') as string,
  });
});

test('a file with certificates whose bytes are not UTF-8 is refused', async () => {
  using home = temporaryDirectory();
  const file = join(home.path, 'mail.pem');
  writeFileSync(file, Buffer.from('M\xfcller', 'latin1'));
  const environment = { HOME: home.path, KEYHEARTH_DATA_DIR: join(home.path, 'vault') };
  const words = ['--host', 'localhost', '--from', 'a@example.com', '--certificates', file];
  const { code, stderr } = await runCommand(['messages', 'email', ...words], { environment });
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: `keyhearth: --certificates ${file} is not text in UTF-8\n`,
  });
});

describe('keyhearth messages', () => {
  test('sets up mail and SMS, tests them, and shows the result', async () => {
    await using server = await startMailServer();
    const received: string[] = [];
    const gateway = createServer((request, response) => {
      void readText(request).then((body) => {
        received.push(`${String(request.headers['x-token'])} ${body}`);
        response.end();
      });
    }).listen(0, '127.0.0.1');
    await once(gateway, 'listening');
    await using vault = await serve();
    const { messages, secret, whileStopped } = vault;
    expect(whileStopped.stdout).toMatch(/^Email +not set up\n/);

    const refused = await messages('test', 'email', 'ada@example.com');
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.stderr).toContain('no mail server is set up: set one up with `keyhearth messages mail`');

    const host = ['--host', '127.0.0.1', '--smtp-port', String(server.port), '--from', 'vault@example.com'];
    const trust = ['--certificates', secret('ca.pem', server.certificate), '--user', mailUser.user];
    const given = ['--password-file', secret('mail', `${mailUser.password}\n`)];
    const mail = await messages('mail', ...host, ...trust, ...given, '--json');
    expect(mail).toMatchObject({ code: 0, stderr: '' });
    expect(mail.stdout).not.toContain(mailUser.password);
    expect(await messages('test', 'mail', 'ada@example.com')).toMatchObject({
      code: 0,
      stdout: `Sent the test: taken by 127.0.0.1:${String(server.port)}.\n`,
    });
    expect(server.mails[0]).toMatchObject({
      subject: 'A test from Keyhearth',
      recipients: ['ada@example.com'],
    });
    // Without a password the one that is kept stays.
    expect(await messages('mail', ...host, ...trust, '--reply-to', 'help@example.com')).toMatchObject({
      code: 0,
    });

    const { port } = gateway.address() as AddressInfo;
    const template = {
      url: `http://127.0.0.1:${String(port)}/sms`,
      headers: { 'X-Token': 'gateway-token', 'Content-Type': 'application/json' },
      body: { to: '{{to}}', text: '{{text}}' },
    };
    const file = secret('gateway.json', JSON.stringify(template));
    expect(await messages('sms', '--gateway-file', file)).toMatchObject({ code: 0 });
    expect(await messages('test', 'sms', '+15551234567')).toMatchObject({ code: 0 });
    expect(received[0]).toContain('gateway-token {"to":"+15551234567","text":"This is a test');

    const on = await messages('desktop', 'on');
    expect(on.stdout).toContain('Anyone at this computer can then sign in as any user of the vault');
    const { stdout } = await messages('status', '--json');
    const status = JSON.parse(stdout) as MessagesStatus;
    expect(status).toMatchObject({
      inboxOnly: false,
      mail: { host: '127.0.0.1', replyTo: 'help@example.com', security: 'starttls' },
      sms: { kind: 'http', method: 'POST', origin: `http://127.0.0.1:${String(port)}` },
      desktop: true,
      deliveries: [],
    });
    expect(stdout).not.toContain('gateway-token');
    for (const channel of ['mail', 'sms']) {
      expect(await messages(channel, 'off')).toMatchObject({ code: 0 });
    }
    expect((await messages('desktop', 'off')).stdout).toContain('no longer shown on this computer');
    expect((await messages('status')).stdout).toMatch(
      /^Email +not set up\nSMS +not set up\nThis computer +off\n\nNo messages yet\.\n$/,
    );

    for (const [argv, code, problem] of [
      [['mail'], 2, 'missing --host or --from'],
      [['mail', ...host, '--smtp-port', 'x'], 2, 'invalid --smtp-port'],
      [['mail', '--host', 'mail.example.com', '--from', 'nobody'], 1, 'messages.settings.from.address'],
      [['sms'], 2, 'expected one of --gateway-file and --twilio-account'],
      [['sms', '--gateway-file', secret('bad.json', '{ token')], 2, 'expected JSON'],
      [['retry', '3f0e2a5c-6f0b-4d59-9f0f-0f2c1c1b7f51'], 1, 'there is no such message'],
    ] as const) {
      const ended = await messages(...argv);
      expect(ended, argv.join(' ')).toMatchObject({ code });
      expect(ended.stderr).toContain(problem);
    }
    gateway.closeAllConnections();
    gateway.close();
  });
});
