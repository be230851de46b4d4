import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Answer, SlotJson, Step } from './keychain-child.ts';
import { inProcess, startKeyring } from './keychain.ts';
import type { Environment } from './keychain.ts';

const hex = (length: number): string => randomBytes(length).toString('hex');
const probe: Step = { do: 'probe' };

const values = ({ answers }: { answers: readonly Answer[] }): unknown[] =>
  answers.map((answer) => ('value' in answer ? answer.value : answer));

const unavailable = (reason: string): unknown =>
  expect.objectContaining({ available: false, reason: expect.stringContaining(reason) as string });

const refused = (message: string): unknown =>
  expect.objectContaining({ code: 'INVALID_ARGUMENT', message: expect.stringContaining(message) as string });

async function makeSlot(environment: Environment, vaultId: string, masterKey: string): Promise<SlotJson> {
  const [slot] = values(await inProcess(environment, [{ do: 'makeSlot', vaultId, masterKey }]));
  return slot as SlotJson;
}

describe('a real keyring', () => {
  test('what one process stores, another reads, replaces and deletes', async () => {
    await using keyring = await startKeyring('unlocked');
    const [account, secret, other] = ['vault/slot', hex(32), hex(32)];
    const { environment } = keyring;
    expect(values(await inProcess(environment, [{ do: 'set', account, secret }]))).toEqual([null]);
    const second = await inProcess(environment, [
      { do: 'get', account },
      { do: 'get', account: 'vault/other' },
      { do: 'set', account, secret: other },
    ]);
    expect(values(second)).toEqual([secret, null, null]);
    const third = await inProcess(environment, [
      { do: 'get', account },
      { do: 'delete', account },
      { do: 'delete', account },
      { do: 'get', account },
    ]);
    expect(values(third)).toEqual([other, null, null, null]);
  });

  test('a keychain slot made in one process opens in another, for its own vault, until it is forgotten', async () => {
    await using keyring = await startKeyring('unlocked');
    const masterKey = hex(32);
    const slot = await makeSlot(keyring.environment, 'vault-1', masterKey);
    expect(JSON.stringify(slot)).not.toContain(masterKey);
    const opened = await inProcess(keyring.environment, [
      { do: 'openSlot', vaultId: 'vault-1', slot },
      { do: 'openSlot', vaultId: 'vault-2', slot },
      { do: 'forgetSlot', vaultId: 'vault-1', slot },
      { do: 'openSlot', vaultId: 'vault-1', slot },
    ]);
    const missing = refused('The keychain holds no key for this vault');
    expect(values(opened)).toEqual([masterKey, missing, null, missing]);
  });

  // libsecret has them for tests of its own: in a file that they name, under a password that they have.
  test('variables of the environment name no other place for what it keeps', async () => {
    await using keyring = await startKeyring('unlocked');
    const file = join(keyring.environment['HOME'] ?? '', 'elsewhere');
    const environment = {
      ...keyring.environment,
      SECRET_BACKEND: 'file',
      SECRET_FILE_TEST_PATH: file,
      SECRET_FILE_TEST_PASSWORD: 'known',
    };
    const kept = await inProcess(environment, [{ do: 'set', account: 'a', secret: '00' }]);
    expect(values(kept)).toEqual([null]);
    expect(existsSync(file)).toBe(false);
    expect(values(await inProcess(keyring.environment, [{ do: 'get', account: 'a' }]))).toEqual(['00']);
  });

  test('vaults and slots keep apart, and a probe in between disturbs none', async () => {
    await using keyring = await startKeyring('unlocked');
    const keys = [hex(32), hex(32), hex(32)];
    const [first = '', second = '', third = ''] = keys;
    const slots = await inProcess(keyring.environment, [
      { do: 'makeSlot', vaultId: 'vault-1', masterKey: first },
      { do: 'makeSlot', vaultId: 'vault-1', masterKey: second },
      probe,
      { do: 'makeSlot', vaultId: 'vault-2', masterKey: third },
    ]);
    const [a, b, state, c] = values(slots);
    expect(state).toEqual({ available: true });
    const opened = await inProcess(keyring.environment, [
      { do: 'openSlot', vaultId: 'vault-2', slot: c as SlotJson },
      { do: 'openSlot', vaultId: 'vault-1', slot: b as SlotJson },
      { do: 'openSlot', vaultId: 'vault-1', slot: a as SlotJson },
    ]);
    expect(values(opened)).toEqual([third, second, first]);
  });

  test('while it is locked a slot does not open and says so; unlocked again, it opens', async () => {
    await using keyring = await startKeyring('unlocked');
    const masterKey = hex(32);
    const slot = await makeSlot(keyring.environment, 'vault-1', masterKey);
    const open: Step = { do: 'openSlot', vaultId: 'vault-1', slot };
    await keyring.lock();
    const locked = await inProcess(keyring.environment, [
      probe,
      open,
      { do: 'makeSlot', vaultId: 'vault-1', masterKey },
    ]);
    expect(values(locked)).toEqual([
      unavailable('The keyring is locked'),
      refused('The keyring is locked'),
      refused('The keyring is locked'),
    ]);
    await keyring.unlock();
    expect(values(await inProcess(keyring.environment, [probe, open]))).toEqual([
      { available: true },
      masterKey,
    ]);
  });

  test('one that has stopped answering costs some seconds and no thread: the process ends', async () => {
    await using keyring = await startKeyring('unlocked');
    const goOn = await keyring.pause();
    try {
      const result = await inProcess(keyring.environment, [probe]);
      expect(values(result)).toEqual([
        unavailable('The Secret Service (keyring) of this session does not answer'),
      ]);
      expect(result.lifetime).toBeLessThan(10_000);
    } finally {
      goOn();
    }
    expect(values(await inProcess(keyring.environment, [probe]))).toEqual([{ available: true }]);
  });
});

describe('no usable keyring: one line says what is missing, soon, and the process ends', () => {
  const calls: Step[] = [probe, { do: 'get', account: 'a' }, { do: 'set', account: 'a', secret: '00' }];
  const everyCall = (reason: string): unknown[] => [unavailable(reason), refused(reason), refused(reason)];

  test('no D-Bus session', async () => {
    await using keyring = await startKeyring('none');
    const { XDG_RUNTIME_DIR: _left, ...bare } = keyring.environment;
    for (const environment of [
      keyring.environment,
      bare,
      { ...bare, DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere/bus' },
    ]) {
      const result = await inProcess(environment, calls);
      expect(values(result)).toEqual(everyCall('There is no D-Bus session'));
      expect(result.lifetime).toBeLessThan(5_000);
    }
  });

  test('an address that only the keychain library understands', async () => {
    await using keyring = await startKeyring('none');
    const environment = { ...keyring.environment, DBUS_SESSION_BUS_ADDRESS: 'autolaunch:' };
    const result = await inProcess(environment, calls);
    expect(values(result)).toEqual(everyCall('There is no D-Bus session'));
  });

  // The program that listens there would get the secrets of the keychain.
  test('a D-Bus session that may be on another machine', async () => {
    await using keyring = await startKeyring('unlocked');
    const other = `tcp:host=127.0.0.1,port=1;${String(keyring.environment['DBUS_SESSION_BUS_ADDRESS'])}`;
    const result = await inProcess({ ...keyring.environment, DBUS_SESSION_BUS_ADDRESS: other }, calls);
    expect(values(result)).toEqual(everyCall('is not a socket of this user'));
  });

  test('a D-Bus session without a Secret Service', async () => {
    await using keyring = await startKeyring('bus');
    const result = await inProcess(keyring.environment, calls);
    expect(values(result)).toEqual(everyCall('No Secret Service (keyring) runs in this session'));
    expect(result.lifetime).toBeLessThan(5_000);
  });

  test('a keyring that was never set up, without a person to ask for a password', async () => {
    await using keyring = await startKeyring('new');
    const result = await inProcess(keyring.environment, [probe, { do: 'set', account: 'a', secret: '00' }]);
    const reason = 'The keyring of this session is not set up';
    expect(values(result)).toEqual([unavailable(reason), refused(reason)]);
    expect(result.lifetime).toBeLessThan(10_000);
    // The advice in the error is enough.
    await keyring.unlock();
    expect(values(await inProcess(keyring.environment, [probe]))).toEqual([{ available: true }]);
  });

  test('a machine whose libsecret does not load', async () => {
    await using keyring = await startKeyring('unlocked');
    const directory = await mkdtemp(join(tmpdir(), 'keyhearth-libsecret-'));
    try {
      // The loader finds this file first, and it is not a library.
      await writeFile(join(directory, 'libsecret-1.so.0'), '');
      const result = await inProcess({ ...keyring.environment, LD_LIBRARY_PATH: directory }, calls);
      expect(values(result)).toEqual(everyCall('apt install libsecret-1-0 gnome-keyring'));
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  test('a bus that accepts and never answers', async () => {
    await using keyring = await startKeyring('none');
    const directory = await mkdtemp(join(tmpdir(), 'keyhearth-bus-'));
    const server = createServer(() => undefined);
    try {
      const path = join(directory, 'bus');
      await new Promise<void>((resolve) => server.listen(path, resolve));
      const environment = { ...keyring.environment, DBUS_SESSION_BUS_ADDRESS: `unix:path=${path}` };
      const result = await inProcess(environment, [probe]);
      expect(values(result)).toEqual([unavailable('The D-Bus session does not answer')]);
      expect(result.lifetime).toBeLessThan(10_000);
    } finally {
      server.close();
      await rm(directory, { recursive: true });
    }
  });
});

test('a machine without the tools gets advice on what to install', async () => {
  const path = process.env['PATH'];
  process.env['PATH'] = '/nowhere';
  try {
    await expect(startKeyring('unlocked')).rejects.toThrow(
      'apt-get install -y gnome-keyring dbus libsecret-1-0',
    );
  } finally {
    process.env['PATH'] = path;
  }
});
