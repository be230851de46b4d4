import { describe, expect, test } from 'vitest';
import { formerName } from '../../lib/text/former-name.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { systemKeychain } from './keychain.ts';
import type { PasswordStore, SystemKeychainOptions } from './keychain.ts';

/** A store in memory that fails or hangs on demand; the real one is tested in test/keys/keychain.test.ts. */
function memoryStore(): PasswordStore & { readonly entries: Map<string, string> } {
  const entries = new Map<string, string>();
  return {
    entries,
    getPassword: (service, account) => Promise.resolve(entries.get(`${service}:${account}`) ?? null),
    setPassword: (service, account, password) => {
      entries.set(`${service}:${account}`, password);
      return Promise.resolve();
    },
    deletePassword: (service, account) => Promise.resolve(entries.delete(`${service}:${account}`)),
  };
}

/** No D-Bus is asked on macOS, so the store alone is under test. */
const keychainOver = (store: Partial<PasswordStore>, options: Partial<SystemKeychainOptions> = {}) =>
  systemKeychain({
    sessionBus: undefined,
    platform: 'darwin',
    load: () => Promise.resolve({ ...memoryStore(), ...store }),
    ...options,
  });

async function reasonOf(call: Promise<unknown>): Promise<string> {
  const error: unknown = await call.then(
    () => 'resolved',
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(KeyhearthError);
  if (!(error instanceof KeyhearthError)) return '';
  expect(error.code).toBe('INVALID_ARGUMENT');
  expect(error.message).not.toContain('\n');
  return error.message;
}

const never = (): Promise<never> => new Promise(() => undefined);

describe('systemKeychain', () => {
  test('keeps any bytes, as base64 under the service "keyhearth"', async () => {
    const store = memoryStore();
    const keychain = keychainOver(store);
    const secret = Uint8Array.from({ length: 256 }, (_, index) => index);
    await keychain.set('vault/slot', secret);
    expect([...store.entries]).toEqual([['keyhearth:vault/slot', Buffer.from(secret).toString('base64')]]);
    expect(await keychain.get('vault/slot')).toEqual(secret);
    expect(await keychain.get('vault/other')).toBeUndefined();
    await keychain.delete('vault/slot');
    await keychain.delete('vault/slot');
    expect(await keychain.get('vault/slot')).toBeUndefined();
  });

  test('moves an entry of the former name when it is read, and deletes it with ours', async () => {
    const store = memoryStore();
    const keychain = keychainOver(store);
    store.entries.set(`${formerName}:vault/slot`, 'AQI=');
    store.entries.set(`${formerName}:vault/unread`, 'AwQ=');
    expect(await keychain.get('vault/slot')).toEqual(Uint8Array.of(1, 2));
    expect([...store.entries.keys()].sort()).toEqual(['keyhearth:vault/slot', `${formerName}:vault/unread`]);
    expect(await keychain.get('vault/slot')).toEqual(Uint8Array.of(1, 2));
    // Ours wins: an entry that another program creates later under the former name opens nothing.
    store.entries.set(`${formerName}:vault/slot`, 'BQY=');
    expect(await keychain.get('vault/slot')).toEqual(Uint8Array.of(1, 2));
    await keychain.delete('vault/slot');
    await keychain.delete('vault/unread');
    expect(store.entries.size).toBe(0);
  });

  test('keeps an entry of the former name where ours cannot be written', async () => {
    const store = memoryStore();
    store.entries.set(`${formerName}:vault/slot`, 'AQI=');
    const keychain = keychainOver({ ...store, setPassword: () => Promise.reject(new Error('full')) });
    await expect(keychain.get('vault/slot')).rejects.toThrow('full');
    expect([...store.entries.keys()]).toEqual([`${formerName}:vault/slot`]);
  });

  test('a probe leaves nothing behind', async () => {
    const store = memoryStore();
    expect(await keychainOver(store).probe()).toEqual({ available: true });
    expect(store.entries.size).toBe(0);
  });

  test('a probe finds out a keychain that forgets', async () => {
    const keychain = keychainOver({ getPassword: () => Promise.resolve(null) });
    expect(await keychain.probe()).toMatchObject({
      available: false,
      reason: expect.stringContaining('did not give back') as string,
    });
  });

  test.each([
    ['Cannot create an item in a locked collection', 'The keyring is locked'],
    ['Prompt was dismissed', 'The keyring is locked'],
    ['The user name or passphrase you entered is not correct.', 'The keychain is locked'],
    ['User interaction is not allowed.', 'a service or a remote login'],
    [
      'A specified logon session does not exist. It may already have been terminated.',
      'a service or a remote login',
    ],
    [
      'Object does not exist at path “/org/freedesktop/secrets/collection/login”',
      'gnome-keyring-daemon --replace --unlock',
    ],
    ['The name org.freedesktop.secrets was not provided by any .service files', 'apt install gnome-keyring'],
    ['Cannot autolaunch D-Bus without X11 $DISPLAY', 'There is no D-Bus session'],
    ['Timeout was reached', 'does not answer'],
    ['Something\nnew.', 'Keychain refused: Something new. Try again, or use a password instead.'],
  ])('the library saying %j', async (says, meaning) => {
    const fail = () => Promise.reject(new Error(says));
    const keychain = keychainOver({ getPassword: fail, setPassword: fail, deletePassword: fail });
    const state = await keychain.probe();
    expect(state).toMatchObject({ available: false, reason: expect.stringContaining(meaning) as string });
    expect(await reasonOf(keychain.get('a'))).toContain(meaning);
    expect(await reasonOf(keychain.set('a', Uint8Array.of(1)))).toContain(meaning);
    expect(await reasonOf(keychain.delete('a'))).toContain(meaning);
  });

  test.each([
    ['Cannot create an item in a locked collection', undefined],
    ['Something new.', undefined],
    ['The name org.freedesktop.secrets was not provided by any .service files', true],
  ])('says if it can be asked again without a prompt, after %j', async (says, quiet) => {
    const state = await keychainOver({ setPassword: () => Promise.reject(new Error(says)) }).probe();
    expect('quiet' in state ? state.quiet : undefined).toBe(quiet);
  });

  test('a library that does not load: what is missing, by platform; and it is asked for again', async () => {
    let loads = 0;
    const load = () => {
      loads += 1;
      return loads <= 2
        ? Promise.reject(new Error('Failed to load keytar native addon'))
        : Promise.resolve(memoryStore());
    };
    const linux = keychainOver({}, { platform: 'linux', sessionBus: 'autolaunch:', load });
    const state = await linux.probe();
    expect(state).toEqual({
      available: false,
      reason: expect.stringContaining('apt install libsecret-1-0 gnome-keyring') as string,
      quiet: true,
    });
    const mac = await keychainOver({}, { load }).probe();
    expect(mac).toEqual({
      available: false,
      reason: expect.stringContaining('Install Keyhearth again') as string,
      quiet: true,
    });
    expect(await linux.probe()).toEqual({ available: true });
  });

  test('on Linux without a D-Bus session nothing is loaded', async () => {
    const load = () => Promise.reject(new Error('loaded'));
    const keychain = keychainOver({}, { platform: 'linux', sessionBus: undefined, load });
    expect(await reasonOf(keychain.get('a'))).toContain('There is no D-Bus session');
    const gone = keychainOver({}, { platform: 'linux', sessionBus: 'unix:path=/nowhere/bus', load });
    expect(await reasonOf(gone.get('a'))).toContain('There is no D-Bus session');
  });
});

describe('a keychain that hangs', () => {
  const limits = { call: 60, probe: 30 };
  const inTime = 'did not answer in time';

  test('every call ends at its limit', async () => {
    for (const call of ['getPassword', 'setPassword', 'deletePassword'] as const) {
      const keychain = () => keychainOver({ [call]: never }, { limits });
      expect(await keychain().probe()).toEqual({
        available: false,
        reason: expect.stringContaining(inTime) as string,
      });
      if (call === 'getPassword') expect(await reasonOf(keychain().get('a'))).toContain(inTime);
      if (call === 'setPassword')
        expect(await reasonOf(keychain().set('a', Uint8Array.of(1)))).toContain(inTime);
      if (call === 'deletePassword') expect(await reasonOf(keychain().delete('a'))).toContain(inTime);
    }
  });

  test('while one call hangs no other reaches the library; once it ends, they do', async () => {
    const hanging = Promise.withResolvers<string | null>();
    let calls = 0;
    const keychain = keychainOver(
      {
        getPassword: () => {
          calls += 1;
          return calls === 1 ? hanging.promise : Promise.resolve('AQ==');
        },
      },
      { limits },
    );
    const [first, second] = [keychain.get('a'), keychain.get('b')].map(reasonOf);
    expect(await first).toContain(inTime);
    expect(await second).toContain(inTime);
    // Without waiting for its own time to be over.
    const soon = new Promise((resolve) => setTimeout(resolve, limits.call / 2, 'too late'));
    expect(await Promise.race([reasonOf(keychain.get('c')), soon])).toContain(inTime);
    expect(calls).toBe(1);
    hanging.resolve('AQ==');
    await hanging.promise;
    await new Promise(setImmediate);
    expect(await keychain.get('d')).toEqual(Uint8Array.of(1));
    expect(calls).toBe(2);
  });

  test('calls made together are answered one after the other', async () => {
    let running = 0;
    let most = 0;
    const keychain = keychainOver({
      getPassword: async () => {
        running += 1;
        most = Math.max(most, running);
        await new Promise(setImmediate);
        running -= 1;
        return 'AQ==';
      },
    });
    const answers = await Promise.all(Array.from({ length: 5 }, () => keychain.get('a')));
    expect(answers).toEqual(Array.from({ length: 5 }, () => Uint8Array.of(1)));
    expect(most).toBe(1);
  });
});
