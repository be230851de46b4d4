/**
 * Watches the session on Linux: a locked screen, an idle user, another user at the screen.
 *
 * Electron sends no event for a locked screen there. Chromium asks a screen saver of the session, where there is one, and
 * knows the idle time of few compositors on Wayland (ui/base/idle/idle_linux.cc, wayland_screen.cc). The desktops tell
 * logind: org.freedesktop.login1(5), the objects of sessions.
 */
import type { Config } from '../app/config.ts';
import { owned } from '../lib/faults.ts';
import {
  BusAnswerError,
  BusError,
  busSocket,
  MessageBus,
  theBus,
  type BusSignal,
  type BusValue,
} from '../bus/message-bus.ts';
import { report } from './report.ts';

export interface SessionWatch extends Disposable {
  /**
   * True if logind, or a screen saver that Electron asks, reports a locked screen; also until that is known.
   */
  readonly reportsLock: boolean;
  readonly isLocked: boolean;
  /** Since the user's last input, as far as logind knows; 0 while the user is active. */
  readonly idleSeconds: number;
}

const logind = 'org.freedesktop.login1';
const sessionInterface = `${logind}.Session`;
const properties = 'org.freedesktop.DBus.Properties';

/** As ui/base/idle/idle_linux.cc asks them: each by a name of its own, at a path that is made of it. */
const screenSavers = ['freedesktop', 'cinnamon', 'gnome', 'mate', 'xfce'].map(
  (desktop) => `org.${desktop}.ScreenSaver`,
);

/** A bus that is silent for so long reports nothing. Milliseconds. */
const patience = 5_000;

/**
 * Watches until it is disposed of.
 * @param onLeft Called when the screen is locked, when something asks for that, and when another user gets the screen.
 */
export function watchSession(
  config: Pick<Config, 'systemBus' | 'sessionBus' | 'loginSession'>,
  onLeft: () => void,
): SessionWatch {
  const session = new Session(onLeft);
  const buses = new DisposableStack();
  let isReported = true;
  let byLogind = false;
  let byScreenSaver = false;
  const settle = (): void => {
    isReported = byLogind || byScreenSaver;
  };
  const timer = setTimeout(owned(settle), patience).unref();

  async function queryLogind(): Promise<void> {
    const bus = connect(buses, config.systemBus);
    if (bus === undefined) return;
    await session.follow(bus, config.loginSession);
    byLogind = true;
    void bus.ended.then(() => {
      byLogind = false;
      settle();
    });
  }
  async function queryScreenSavers(): Promise<void> {
    const bus = connect(buses, config.sessionBus);
    if (bus === undefined) return;
    byScreenSaver = await hasScreenSaver(bus);
    bus[Symbol.dispose]();
  }
  void Promise.all([queryLogind().catch(unlessTrouble), queryScreenSavers().catch(unlessTrouble)]).then(
    settle,
  );

  return {
    get reportsLock() {
      return isReported;
    },
    get isLocked() {
      return session.isLocked;
    },
    get idleSeconds() {
      return session.idleSeconds;
    },
    [Symbol.dispose]() {
      clearTimeout(timer);
      buses.dispose();
    },
  };
}

function connect(buses: DisposableStack, addresses: string | undefined): MessageBus | undefined {
  const socket = busSocket(addresses ?? '');
  return socket === undefined ? undefined : buses.use(new MessageBus(socket));
}

/** A machine without the one or the other is an ordinary one. */
function unlessTrouble(error: unknown): void {
  if (error instanceof BusError || error instanceof BusAnswerError) return;
  report('the session of this desktop', error);
}

class Session {
  readonly #onLeft: () => void;
  #isActive = false;
  #isIdle = false;
  #idleSince = 0;
  isLocked = false;

  constructor(onLeft: () => void) {
    this.#onLeft = onLeft;
  }

  get idleSeconds(): number {
    return this.#isIdle ? Math.max(0, (Date.now() - this.#idleSince) / 1_000) : 0;
  }

  /** @throws BusAnswerError, BusError where there is no logind, or no session of this user. */
  async follow(bus: MessageBus, id: string | undefined): Promise<void> {
    const path = await findSession(bus, id);
    const ask = async (): Promise<void> => {
      const call = { destination: logind, path, interface: properties, member: 'GetAll' };
      const [all] = await bus.call({ ...call, values: [sessionInterface] });
      this.#take(all);
    };
    await bus.listen({ destination: logind, path }, (signal) => {
      if (this.#hear(signal)) ask().catch(unlessTrouble);
    });
    await ask();
  }

  /** @returns whether the state changed without a signal. */
  #hear({ interface: from, member, values }: BusSignal): boolean {
    if (from === sessionInterface && member === 'Lock') this.#onLeft();
    const [of, changed, invalidated] = values;
    if (member !== 'PropertiesChanged' || of !== sessionInterface) return false;
    this.#take(changed);
    return Array.isArray(invalidated) && invalidated.length > 0;
  }

  /** @param entries Names and values of its properties. */
  #take(entries: BusValue | undefined): void {
    const found = new Map(entries as readonly (readonly [string, BusValue])[]);
    const { LockedHint, IdleHint, IdleSinceHint, Active } = Object.fromEntries(found);
    if (typeof IdleHint === 'boolean') {
      if (IdleHint && !this.#isIdle) this.#idleSince = Date.now();
      this.#isIdle = IdleHint;
    }
    // Microseconds of the clock on the wall.
    if (typeof IdleSinceHint === 'bigint' && IdleSinceHint > 0n) {
      this.#idleSince = Number(IdleSinceHint / 1_000n);
    }
    const wasThere = !this.isLocked;
    const wasActive = this.#isActive;
    if (typeof LockedHint === 'boolean') this.isLocked = LockedHint;
    if (typeof Active === 'boolean') this.#isActive = Active;
    if ((wasThere && this.isLocked) || (wasActive && !this.#isActive)) this.#onLeft();
  }
}

/** @returns the path of this process's session, or of its user's where it is in none: systems start programs outside of them. */
async function findSession(bus: MessageBus, id: string | undefined): Promise<string> {
  const manager = { destination: logind, path: '/org/freedesktop/login1', interface: `${logind}.Manager` };
  const find = async (name: string): Promise<string> => {
    const [path] = await bus.call({ ...manager, member: 'GetSession', values: [name] });
    return String(path);
  };
  try {
    return await find('auto');
  } catch (error) {
    if (id === undefined || !(error instanceof BusAnswerError)) throw error;
    return find(id);
  }
}

/** Asks each that is there whether the screen is locked: some have the name and no answer. */
async function hasScreenSaver(bus: MessageBus): Promise<boolean> {
  for (const name of screenSavers) {
    const [isThere] = await bus.call({ ...theBus, member: 'NameHasOwner', values: [name] });
    if (isThere !== true) continue;
    const path = `/${name.replaceAll('.', '/')}`;
    try {
      const [isActive] = await bus.call({ destination: name, path, interface: name, member: 'GetActive' });
      if (typeof isActive === 'boolean') return true;
    } catch (error) {
      if (!(error instanceof BusAnswerError)) throw error;
    }
  }
  return false;
}
