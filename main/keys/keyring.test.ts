import { createHmac, randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import { Keyring } from './keyring.ts';

const random: Random = (_purpose, length) => Uint8Array.from(randomBytes(length));
const masterKey = random('test', 32);
const context = { table: 'wallets', rowId: 'row-1', organizationId: 'org-1' };
const secret = Uint8Array.of(1, 2, 3);
const zeros = new Uint8Array(3);
const locked =
  'The vault is locked: unlock it with its password, keychain or recovery phrase, then send the request again.';

const unlockedKeyring = (options: { maxEntries?: number; timeToLive?: number } = {}): Keyring => {
  const keyring = new Keyring({ random, clock: systemClock, ...options });
  keyring.unlock(masterKey);
  return keyring;
};

const refuseToMake = (): never => {
  throw new Error('made although it was held');
};

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('another master key', () => {
  test('holds what was moved to it, and nothing else; the opened keys are erased', () => {
    const keyring = unlockedKeyring();
    const next = random('test', 32);
    const [kept, moved] = [
      keyring.seal(context, secret),
      keyring.rewrap(next, context, keyring.seal(context, secret)),
    ];
    const opened = keyring.cached('a', () => Uint8Array.of(1, 2, 3));
    const told: boolean[] = [];
    keyring.onChange((unlocked) => told.push(unlocked));
    expect(() => keyring.open(context, moved)).toThrow('does not open');
    expect([keyring.holds(masterKey), keyring.holds(next)]).toEqual([true, false]);
    keyring.replaceKey(next);
    expect(keyring.unlocked).toBe(true);
    expect(told).toEqual([true]);
    expect([keyring.holds(masterKey), keyring.holds(next)]).toEqual([false, true]);
    expect(opened).toEqual(zeros);
    expect(keyring.open(context, moved)).toEqual(secret);
    expect(() => keyring.open(context, kept)).toThrow('does not open');
    // The caller may erase its own.
    next.fill(0);
    expect(keyring.open(context, moved)).toEqual(secret);
  });

  test.each([0, 31, 33])('of %i bytes is refused, and the old one stays', (length) => {
    const keyring = unlockedKeyring();
    const wrong = new Uint8Array(length);
    expect(() => {
      keyring.replaceKey(wrong);
    }).toThrow('masterKey: expected');
    expect(() => keyring.holds(wrong)).toThrow('masterKey: expected');
    expect(keyring.holds(masterKey)).toBe(true);
  });
});

describe('lock and unlock', () => {
  test('a new keyring is locked: each of its methods throws VAULT_LOCKED', () => {
    const keyring = new Keyring({ random, clock: systemClock });
    expect(keyring.unlocked).toBe(false);
    const calls = [
      () => keyring.seal(context, secret),
      () => keyring.open(context, secret),
      () => keyring.cached('a', refuseToMake),
      () => keyring.mac('a'),
      () => {
        keyring.checkUnlocked();
      },
      () => keyring.holds(masterKey),
      () => keyring.rewrap(masterKey, context, secret),
      () => {
        keyring.replaceKey(masterKey);
      },
    ];
    for (const call of calls) {
      expect(call).toThrow(expect.objectContaining({ code: 'VAULT_LOCKED', message: locked }));
    }
  });

  test('what is sealed opens, also after a lock and an unlock, and not with another master key', () => {
    const keyring = unlockedKeyring();
    const sealed = keyring.seal(context, secret);
    expect(keyring.open(context, sealed)).toEqual(secret);
    keyring.lock();
    expect(keyring.unlocked).toBe(false);
    expect(() => keyring.open(context, sealed)).toThrow(locked);
    keyring.unlock(masterKey);
    expect(keyring.open(context, sealed)).toEqual(secret);
    keyring.unlock(random('test', 32));
    expect(() => keyring.open(context, sealed)).toThrow('does not open');
  });

  test('the caller may erase its master key after unlock', () => {
    const given = Uint8Array.from(masterKey);
    const keyring = new Keyring({ random, clock: systemClock });
    keyring.unlock(given);
    given.fill(0);
    expect(unlockedKeyring().open(context, keyring.seal(context, secret))).toEqual(secret);
  });

  test.each([0, 31, 33])(
    'a master key of %i bytes is refused, and leaves the keyring as it was',
    (length) => {
      const keyring = unlockedKeyring();
      const sealed = keyring.seal(context, secret);
      expect(() => {
        keyring.unlock(new Uint8Array(length));
      }).toThrow('masterKey: expected a Uint8Array of 32 bytes');
      expect(keyring.open(context, sealed)).toEqual(secret);
    },
  );

  test('the row key authenticates until the lock, also under a new master key', () => {
    const rowKey = random('test', 32);
    const expected = createHmac('sha256', rowKey).update('row').digest();
    const keyring = new Keyring({ random, clock: systemClock });
    keyring.unlock(masterKey, rowKey);
    rowKey.fill(0);
    expect(Buffer.from(keyring.mac('row'))).toEqual(expected);
    keyring.unlock(random('test', 32));
    expect(Buffer.from(keyring.mac('row'))).toEqual(expected);
    expect(() => {
      keyring.unlock(masterKey, new Uint8Array(31));
    }).toThrow('key: expected a Uint8Array of 32 bytes');
    expect(Buffer.from(keyring.mac('row'))).toEqual(expected);
    keyring.unlock(masterKey, random('test', 32));
    expect(Buffer.from(keyring.mac('row'))).not.toEqual(expected);
    keyring.lock();
    expect(() => keyring.mac('row')).toThrow(locked);
    keyring.unlock(masterKey);
    expect(() => keyring.mac('row')).toThrow(locked);
  });

  test('listeners hear each change once, until they stop', () => {
    const heard: boolean[] = [];
    const keyring = new Keyring({ random, clock: systemClock });
    const stop = keyring.onChange((unlocked) => heard.push(unlocked));
    keyring.lock();
    keyring.unlock(masterKey);
    keyring.lock();
    keyring.lock();
    expect(heard).toEqual([true, false]);
    stop();
    keyring.unlock(masterKey);
    expect(heard).toEqual([true, false]);
  });

  test('a listener that throws finds the keys already dropped', () => {
    const keyring = unlockedKeyring();
    const key = keyring.cached('a', () => Uint8Array.from(secret));
    keyring.onChange(() => {
      throw new Error('listener');
    });
    expect(() => {
      keyring.lock();
    }).toThrow('listener');
    expect(keyring.unlocked).toBe(false);
    expect(key).toEqual(zeros);
  });
});

describe('cached', () => {
  const make = () => Uint8Array.from(secret);

  test('a key is built once and held', () => {
    const keyring = unlockedKeyring();
    const key = keyring.cached('a', make);
    expect(key).toEqual(secret);
    expect(keyring.cached('a', refuseToMake)).toBe(key);
    expect(keyring.cached('b', make)).not.toBe(key);
  });

  test('a key that cannot be built leaves nothing behind', () => {
    const keyring = unlockedKeyring();
    expect(() => keyring.cached('a', refuseToMake)).toThrow('made although it was held');
    expect(keyring.cached('a', make)).toEqual(secret);
  });

  test('a key may be derived from another held key', () => {
    const keyring = unlockedKeyring();
    const child = keyring.cached('child', () => keyring.cached('parent', make).map((byte) => byte + 1));
    expect(child).toEqual(Uint8Array.of(2, 3, 4));
    expect(keyring.cached('parent', refuseToMake)).toEqual(secret);
  });

  test('lock, and an unlock with another key, erase every held key', () => {
    const keyring = unlockedKeyring();
    const first = keyring.cached('a', make);
    keyring.lock();
    expect(first).toEqual(zeros);
    keyring.unlock(masterKey);
    const second = keyring.cached('a', make);
    keyring.unlock(masterKey);
    expect(second).toEqual(zeros);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('a key whose making locks the vault is erased and refused', () => {
    const keyring = unlockedKeyring();
    const bytes = make();
    const call = () =>
      keyring.cached('a', () => {
        keyring.lock();
        return bytes;
      });
    expect(call).toThrow(locked);
    expect(bytes).toEqual(zeros);
  });

  test('beyond its bound, the key unused for longest is erased', () => {
    const keyring = unlockedKeyring({ maxEntries: 2 });
    const a = keyring.cached('a', make);
    const b = keyring.cached('b', make);
    keyring.cached('a', refuseToMake);
    const c = keyring.cached('c', make);
    expect([a, b, c]).toEqual([secret, zeros, secret]);
    expect(keyring.cached('a', refuseToMake)).toBe(a);
    expect(keyring.cached('b', make)).not.toBe(b);
    expect(c).toEqual(zeros);
  });

  test('the bound is 1024 unless said otherwise', () => {
    const keyring = unlockedKeyring();
    const keys = Array.from({ length: 1025 }, (_, index) => keyring.cached(String(index), make));
    expect(keys.filter((key) => key.every((byte) => byte === 0)).length).toBe(1);
    expect(keys[0]).toEqual(zeros);
  });

  test('each key is erased at the end of its own time, however often it was used', () => {
    const keyring = unlockedKeyring({ timeToLive: 1000 });
    const a = keyring.cached('a', make);
    vi.advanceTimersByTime(600);
    const b = keyring.cached('b', make);
    keyring.cached('a', refuseToMake);
    vi.advanceTimersByTime(399);
    expect([a, b]).toEqual([secret, secret]);
    vi.advanceTimersByTime(1);
    expect([a, b]).toEqual([zeros, secret]);
    vi.advanceTimersByTime(600);
    expect(b).toEqual(zeros);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('a stale key is not answered where the timer came late, nor after the clock was set back', () => {
    let now = 1_000_000;
    const keyring = new Keyring({ random, clock: { now: () => 0, wall: () => now }, timeToLive: 1000 });
    keyring.unlock(masterKey);
    const first = keyring.cached('a', make);
    now += 1000;
    const second = keyring.cached('a', make);
    expect([first, second]).toEqual([zeros, secret]);
    now -= 1;
    const third = keyring.cached('a', make);
    expect([second, third]).toEqual([zeros, secret]);
  });
});
