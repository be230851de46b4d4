/**
 * Locking on Linux, where Electron reports nothing: a stand-in for logind on a real bus, and the auto-lock
 * that listens to it. The class of fault: a locked screen, or an unattended desk, that the vault does not
 * notice.
 */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { BusService, type Answer, type HeardCall, type Typed } from '../support/bus-service.ts';
import { startKeyring, type KeyringSession } from '../keys/keychain.ts';
import { RpcDouble } from './rpc-double.ts';

vi.mock('electron', () => import('./fake-electron.ts'));

const { becomeReady, machine } = await import('./fake-electron.ts');
const { startAutoLock } = await import('../../main/desktop/auto-lock.ts');
becomeReady();

const path = '/org/freedesktop/login1/session/_32';
const session = 'org.freedesktop.login1.Session';
const errors = 'org.freedesktop.DBus.Error';

/** logind, with one session. */
class Logind {
  properties: Record<string, Typed> = {
    Active: ['b', true],
    LockedHint: ['b', false],
    IdleHint: ['b', false],
    IdleSinceHint: ['t', 0n],
    // Other properties, which are never read.
    User: ['(uo)', [1000, '/org/freedesktop/login1/user/_1000']],
    Name: ['s', 'ann'],
  };
  /** The names under which the session is found. */
  names = ['auto'];
  reads = 0;
  service: BusService | undefined;

  async start(address: string): Promise<void> {
    this.service = await BusService.start(address, ['org.freedesktop.login1'], (call) => this.answer(call));
  }

  answer({ member, path: of, text }: HeardCall): Answer {
    if (member === 'GetSession') {
      return this.names.includes(text) ? [['o', path]] : 'org.freedesktop.login1.NoSuchSession';
    }
    if (member !== 'GetAll' || of !== path || text !== session) return `${errors}.UnknownMethod`;
    this.reads += 1;
    return [['a{sv}', Object.entries(this.properties)]];
  }

  change(changed: Record<string, Typed>, invalidated: readonly string[] = []): void {
    Object.assign(this.properties, changed);
    this.service?.signal(
      path,
      'org.freedesktop.DBus.Properties',
      'PropertiesChanged',
      ['s', session],
      ['a{sv}', Object.entries(changed)],
      ['as', invalidated],
    );
  }

  lock(of = path): void {
    this.service?.signal(of, session, 'Lock');
  }
}

let systemBus: KeyringSession;
let logind: Logind;
let double: RpcDouble;
let lock: ReturnType<typeof startAutoLock> | undefined;
const address = (): string => systemBus.environment['DBUS_SESSION_BUS_ADDRESS'] ?? '';

beforeEach(async () => {
  vi.spyOn(process, 'platform', 'get').mockReturnValue('linux');
  // As on Wayland, where neither a screen saver nor the compositor tells.
  machine.saysLocked = false;
  machine.saysIdle = false;
  machine.screenLocked = true;
  machine.idleSeconds = 3_600;
  systemBus = await startKeyring('bus');
  logind = new Logind();
  double = new RpcDouble();
});

afterEach(async () => {
  lock?.[Symbol.dispose]();
  lock = undefined;
  await logind.service?.[Symbol.asyncDispose]();
  await systemBus[Symbol.asyncDispose]();
  vi.useRealTimers();
  vi.restoreAllMocks();
});

function start(more: Partial<Parameters<typeof startAutoLock>[1]> = {}): void {
  const config = { systemBus: address(), sessionBus: undefined, loginSession: undefined, ...more };
  lock = startAutoLock(
    double,
    config,
    () => Infinity,
    () => undefined,
  );
}

/** Starts, and waits until logind has been heard. */
async function follow(more?: Parameters<typeof start>[0]): Promise<void> {
  await logind.start(address());
  start(more);
  await vi.waitFor(() => {
    expect(logind.reads).toBe(1);
  });
}

const locks = (times = 1): Promise<void> =>
  vi.waitFor(() => {
    expect(double.count('lock')).toBe(times);
  });

describe('a vault in a session of logind', () => {
  test('locks when the desktop says that the screen is locked', async () => {
    await follow();
    logind.change({ LockedHint: ['b', true] });
    await locks();
    expect(lock?.reportsLock).toBe(true);
  });

  test('locks when something asks for a locked screen, and not when it asks that of another session', async () => {
    await follow();
    logind.lock('/org/freedesktop/login1/session/_37');
    logind.lock();
    await locks();
  });

  test('locks when another user gets the screen', async () => {
    await follow();
    logind.change({ Active: ['b', false] });
    await locks();
  });

  test('asks again for what is only said to have changed', async () => {
    await follow();
    logind.properties['LockedHint'] = ['b', true];
    logind.change({}, ['LockedHint']);
    await locks();
  });

  test('finds the session that a program is in whose starter is in none', async () => {
    logind.names = ['2'];
    await follow({ loginSession: '2' });
    logind.change({ LockedHint: ['b', true] });
    await locks();
  });

  test('locks when the user has been idle for ten minutes, and not before', async () => {
    const since = (minutes: number): Typed => ['t', BigInt(Date.now() - minutes * 60_000) * 1_000n];
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    await follow();
    logind.change({ IdleHint: ['b', true], IdleSinceHint: since(9) });
    // It is read in order: what came after this has been heard, what came before it too.
    logind.change({}, ['IdleHint']);
    await vi.waitFor(() => {
      expect(logind.reads).toBe(2);
    });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(double.count('lock')).toBe(0);
    logind.change({ IdleSinceHint: since(10) });
    await vi.waitFor(async () => {
      await vi.advanceTimersByTimeAsync(5_000);
      expect(double.count('lock')).toBe(1);
    });
  });

  test('stays open while the settings do not have it lock with the screen', async () => {
    const { settingsNow } = double;
    double.settingsNow = { ...settingsNow, autoLock: { ...settingsNow.autoLock, onScreenLock: false } };
    await follow();
    logind.change({ LockedHint: ['b', true] });
    logind.change({}, ['LockedHint']);
    await vi.waitFor(() => {
      expect(logind.reads).toBe(2);
    });
    expect(double.count('lock')).toBe(0);
  });

  test('locks by a logind that was started again', async () => {
    await follow();
    await logind.service?.[Symbol.asyncDispose]();
    await logind.start(address());
    logind.change({ LockedHint: ['b', true] });
    await locks();
  });

  test('stops listening when it is disposed of', async () => {
    await follow();
    lock?.[Symbol.dispose]();
    logind.change({ LockedHint: ['b', true] });
    expect(await isStill()).toBe(true);
  });
});

describe('a peer of the bus that is not logind, and sends signals to every connection', () => {
  const properties = 'org.freedesktop.DBus.Properties';
  const states = (values: Record<string, Typed>): readonly Typed[] => [
    ['s', session],
    ['a{sv}', Object.entries(values)],
    ['as', []],
  ];

  async function tellAll(from: string, member: string, ...values: readonly Typed[]): Promise<void> {
    await using peer = await BusService.start(address(), ['app.keyhearth.Peer'], () => []);
    for (let number = 0; number < 16; number++) {
      peer.signalTo(`:1.${String(number)}`, path, from, member, ...values);
    }
    await peer.hasSent();
  }

  test.each<[string, string, string, readonly Typed[]]>([
    ['asks for a locked screen', session, 'Lock', []],
    ['says that the screen is locked', properties, 'PropertiesChanged', states({ LockedHint: ['b', true] })],
    ['says that another user has it', properties, 'PropertiesChanged', states({ Active: ['b', false] })],
  ])('does not lock the vault when it %s', async (_what, from, member, values) => {
    await follow();
    await tellAll(from, member, ...values);
    logind.change({}, ['LockedHint']);
    await vi.waitFor(() => {
      expect(logind.reads).toBe(2);
    });
    await isStill();
    expect(double.count('lock')).toBe(0);
  });

  test('does not keep the vault open when it says that the user is there', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    await follow();
    logind.change({
      IdleHint: ['b', true],
      IdleSinceHint: ['t', BigInt(Date.now() - 10 * 60_000) * 1_000n],
    });
    await tellAll(properties, 'PropertiesChanged', ...states({ IdleHint: ['b', false] }));
    logind.change({}, []);
    await isStill();
    await vi.advanceTimersByTimeAsync(5_000);
    await locks();
  });

  let nested: Typed = ['s', ''];
  for (let depth = 0; depth < 40; depth++) nested = ['v', nested];
  test.each<[string, Typed]>([
    ['long', ['s', 'x'.repeat(70_000)]],
    ['long beyond any portion', ['s', 'x'.repeat(3_000_000)]],
    ['deep', nested],
  ])('does not end the watch by a message that is %s', async (_what, value) => {
    await follow();
    await tellAll(session, 'Lock', value);
    logind.change({ LockedHint: ['b', true] });
    await locks();
    expect(lock?.reportsLock).toBe(true);
  });
});

/** Waits until the bus has forwarded all messages: a call there and back comes after them. */
async function isStill(): Promise<boolean> {
  const other = await BusService.start(address(), ['app.keyhearth.Test'], () => []);
  await other[Symbol.asyncDispose]();
  return double.count('lock') === 0;
}

describe('a desktop is known not to report a locked screen', () => {
  const reports = (expected: boolean): Promise<void> =>
    vi.waitFor(() => {
      expect(lock?.reportsLock).toBe(expected);
    });

  test('without logind and without a screen saver', async () => {
    start({ sessionBus: address() });
    expect(lock?.reportsLock).toBe(true);
    await reports(false);
  });

  test('without any bus at all', async () => {
    start({ systemBus: 'unix:path=/nowhere/bus' });
    await reports(false);
  });

  test('of whose session logind does not know', async () => {
    logind.names = [];
    await logind.start(address());
    start();
    await reports(false);
  });

  test('that goes away', async () => {
    await follow();
    expect(lock?.reportsLock).toBe(true);
    await systemBus[Symbol.asyncDispose]();
    await reports(false);
  });

  test('whose screen saver has a name and no answer', async () => {
    logind.service = await BusService.start(
      address(),
      ['org.freedesktop.ScreenSaver'],
      () => `${errors}.NotSupported`,
    );
    start({ sessionBus: address() });
    await reports(false);
  });

  test('but not with a screen saver that Electron asks', async () => {
    let asked = 0;
    logind.service = await BusService.start(address(), ['org.gnome.ScreenSaver'], ({ member, path: of }) => {
      if (member !== 'GetActive' || of !== '/org/gnome/ScreenSaver') return `${errors}.UnknownMethod`;
      asked += 1;
      return [['b', false]];
    });
    start({ sessionBus: address() });
    await vi.waitFor(() => {
      expect(asked).toBe(1);
    });
    // Its answer has been passed on when a call there and back is through.
    await isStill();
    expect(lock?.reportsLock).toBe(true);
  });
});
