/** With the network switched off nothing leaves this machine, and what is on it goes on. */
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { describe, expect, test, vi } from 'vitest';
import { IssuerKeys } from '../../main/auth/issuer-keys.ts';
import { systemClock } from '../../main/lib/clock.ts';
import type { MailSettings } from '../../preload/contract.ts';
import { mailUser, startMailServer } from './mail-server.ts';
import { activityOf, resultOf, startTestVault, type Json, type TestVault } from '../support/support.ts';
import { WebhookReceiver } from './webhook-receiver.ts';

const patience = { timeout: 20_000, interval: 10 };
const off = 'the network is switched off in the settings';

const mail = (host: string, port: number, certificates: string | null): MailSettings => ({
  host,
  port,
  security: 'starttls',
  user: mailUser.user,
  from: { address: 'vault@example.com', name: null },
  replyTo: null,
  otherSenders: [],
  certificates,
});

describe('with the network off', () => {
  test('mail goes to a server on this machine, and to no other', async () => {
    await using server = await startMailServer();
    await using service = await startTestVault();
    const { rpc } = service.vault;
    await rpc.changeSettings({ network: false });
    const { password } = mailUser;
    const set = (settings: MailSettings) =>
      rpc.changeMessages({ channel: 'mail', settings: { ...settings, password } });
    const tryIt = () => rpc.testMessages({ channel: 'mail', to: 'ada@example.com' });
    await set(mail('127.0.0.1', server.port, server.certificate));
    expect(await tryIt()).toEqual({ note: `taken by 127.0.0.1:${String(server.port)}` });
    for (const host of ['mail.example.com', '10.0.0.1']) {
      await set(mail(host, 587, null));
      await expect(tryIt()).rejects.toMatchObject({ code: 'UNAVAILABLE', message: off });
      // A message that could only wait is refused at once.
      const answer = await service.root.submit('init_otp', 'INIT_OTP_V3', {
        appName: 'Test',
        otpType: 'OTP_TYPE_EMAIL',
        contact: 'ada@example.com',
      });
      expect(answer.status, answer.text).toBe(400);
      expect(answer.body?.['message']).toBe(off);
    }
  });

  test('text messages go to a gateway on this machine, and to no other', async () => {
    await using service = await startTestVault();
    const { rpc } = service.vault;
    await rpc.changeSettings({ network: false });
    const gateway = { kind: 'http', method: 'POST', headers: [], body: '{{to}} {{text}}' } as const;
    const tryIt = () => rpc.testMessages({ channel: 'sms', to: '+15551234567' });
    await rpc.changeMessages({
      channel: 'sms',
      settings: { ...gateway, url: 'https://sms.example.com/send' },
    });
    await expect(tryIt()).rejects.toMatchObject({ message: off });
    await rpc.changeMessages({ channel: 'sms', settings: { ...gateway, url: 'http://127.0.0.1:9/send' } });
    await expect(tryIt()).rejects.not.toMatchObject({ message: off });
  });

  test('events wait for a receiver elsewhere, and go at once when the network is on again', async () => {
    await using receiver = await WebhookReceiver.start();
    await using service = await startTestVault({ substitutes: { shell: { isOnline: () => true } } });
    const { rpc } = service.vault;
    await rpc.changeSettings({ network: false });
    const here = await endpoint(service, receiver.url);
    // This name does not exist: RFC 6761.
    const elsewhere = await endpoint(service, 'https://receiver.invalid/hook');
    const tag = activityOf(
      await service.root.submit('create_user_tag', 'CREATE_USER_TAG', { userTagName: 'x', userIds: [] }),
    );
    await vi.waitFor(() => {
      expect(receiver.ids).toContain(tag.id);
    }, patience);
    await vi.waitFor(async () => {
      expect(await lastOf(service, here)).toMatchObject({ state: 'delivered' });
    }, patience);
    // Nothing was tried, so nothing will have been tried for too long.
    expect((await lastOf(service, elsewhere))['lastResult'] ?? null).toBeNull();
    await rpc.changeSettings({ network: true });
    await vi.waitFor(async () => {
      expect(String((await lastOf(service, elsewhere))['lastResult'])).toMatch(/^it could not be reached/);
    }, patience);
  });

  test('the keys of issuers are not fetched, nor are their names looked up', async () => {
    const lookup = vi.fn();
    const keys = new IssuerKeys({
      clock: systemClock,
      isNetworkOn: () => false,
      lookup: lookup as never,
    });
    await expect(keys.of('https://accounts.example')({ alg: 'ES256' }, {} as never)).rejects.toThrow(off);
    expect(lookup).not.toHaveBeenCalled();
    // An issuer on this machine is contacted; it is not running.
    const here = keys.of('http://127.0.0.1:9')({ alg: 'ES256' }, {} as never);
    await expect(here).rejects.toThrow(/cannot be reached/);
  });

  test('the switch is part of the file: who turns it from outside is noticed', async () => {
    await using service = await startTestVault();
    const { vault } = service;
    await vault.rpc.changeSettings({ network: false });
    expect(vault.guard.verifyNow()).toEqual([]);
    const other = new Sqlite(join(service.directory, 'vault.db'));
    other.exec("UPDATE settings SET value = 'true' WHERE name = 'network'");
    other.close();
    expect(vault.guard.verifyNow()).toContainEqual(
      expect.objectContaining({ table: 'settings', row: 'network' }),
    );
    expect((await vault.rpc.status()).state).toBe('locked');
  });
});

describe('without a network', () => {
  test('outgoing deliveries are counted without an attempt, and start as soon as there is a network', async () => {
    let online = false;
    await using receiver = await WebhookReceiver.start();
    await using service = await startTestVault({ substitutes: { shell: { isOnline: () => online } } });
    const { rpc } = service.vault;
    const told = vi.fn<() => void>();
    const stop = rpc.onEvent(({ kind }) => {
      if (kind === 'status') told();
    });
    const here = await endpoint(service, receiver.url);
    const elsewhere = await endpoint(service, 'https://receiver.invalid/hook');
    expect((await rpc.status()).delayed).toBeNull();
    const password = mailUser.password;
    await rpc.changeMessages({
      channel: 'mail',
      settings: { ...mail('mail.invalid', 587, null), password },
    });
    const asked = await service.root.submit('init_otp', 'INIT_OTP_V3', {
      ...{ appName: 'Test', otpType: 'OTP_TYPE_EMAIL', contact: 'ada@example.com' },
    });
    expect(asked.status, asked.text).toBe(200);
    await vi.waitFor(async () => {
      expect((await rpc.status()).delayed).toEqual({ why: 'offline', messages: 1, endpoints: 1 });
    }, patience);
    await vi.waitFor(async () => {
      expect(await lastOf(service, here)).toMatchObject({ state: 'delivered' });
    }, patience);
    expect((await lastOf(service, elsewhere))['lastResult'] ?? null).toBeNull();
    expect(told).not.toHaveBeenCalled();
    online = true;
    await vi.waitFor(async () => {
      expect(String((await lastOf(service, elsewhere))['lastResult'])).toMatch(/^it could not be reached/);
    }, patience);
    expect(told).toHaveBeenCalledOnce();
    await vi.waitFor(async () => {
      expect((await rpc.status()).delayed).toEqual({ why: 'failing', messages: 1, endpoints: 1 });
    }, patience);
    await rpc.lock();
    expect((await rpc.status()).delayed).toBeNull();
    stop();
  });
});

async function endpoint(service: TestVault, url: string): Promise<string> {
  const answer = await service.root.submit('create_webhook_endpoint', 'CREATE_WEBHOOK_ENDPOINT', {
    url,
    name: 'Receiver',
  });
  return (resultOf(answer) as unknown as { endpointId: string }).endpointId;
}

async function lastOf(service: TestVault, endpointId: string): Promise<Json> {
  const { body } = await service.root.query('list_webhook_deliveries', {
    endpointId,
    paginationOptions: { limit: '10' },
  });
  return (body as { deliveries: Json[] }).deliveries[0] ?? {};
}
