/**
 * Locks the vault when its owner leaves, as the settings say: the screen locks, the machine sleeps, or the user is idle and,
 * where they count, requests are too.
 */
import { powerMonitor } from 'electron';
import type { Settings, WindowRpc } from '../../preload/contract.ts';
import { KeyhearthError } from '../lib/errors.ts';
import { report } from './report.ts';
import { watchSession } from './session-watch.ts';
import { every } from '../lib/concurrency/every.ts';
import { LockWarning } from '../lib/concurrency/lock-warning.ts';

/** Until the settings are known, and where they cannot be: a file that is refused is locked anyway. */
const cautious: Settings['autoLock'] = {
  idleMinutes: 10,
  requestsKeepOpen: false,
  onScreenLock: true,
  onSuspend: true,
};
const pollMilliseconds = 5_000;

/** The automatic lock, and what the system reports for it. */
export interface AutoLock extends Disposable {
  /** True if this system reports a locked screen. */
  readonly reportsLock: boolean;
}

/**
 * Watches until it is disposed of, and follows the settings.
 * @param sinceRequestMs Milliseconds since a request used the vault last.
 * @param warn Called with the seconds until the lock, and with null once that is not near any longer.
 */
export function startAutoLock(
  rpc: Pick<WindowRpc, 'status' | 'lock' | 'settings' | 'onEvent'>,
  config: Parameters<typeof watchSession>[0],
  sinceRequestMs: () => number,
  warn: (seconds: number | null) => void,
): AutoLock {
  let wanted = cautious;

  let asked = 0;
  async function follow(): Promise<void> {
    const question = ++asked;
    try {
      const { autoLock } = await rpc.settings();
      if (question === asked) wanted = autoLock;
    } catch (error) {
      if (question === asked) wanted = cautious;
      if (!(error instanceof KeyhearthError)) report('auto-lock does not know its settings', error);
    }
  }

  async function lock(): Promise<void> {
    try {
      await rpc.lock();
    } catch (error) {
      // A refusal says that there is no open vault, which is what is wanted.
      if (!(error instanceof KeyhearthError)) report('the vault did not lock', error);
    }
  }

  // Without asking for the state first: the machine may be asleep before an answer.
  const onScreenLock = (): void => {
    if (wanted.onScreenLock) void lock();
  };
  const onSuspend = (): void => {
    if (wanted.onSuspend) void lock();
  };
  // Whatever the settings say: the user is away after it.
  const onShutdown = (): void => {
    void lock();
  };

  const session = process.platform === 'linux' ? watchSession(config, onScreenLock) : undefined;

  const warning = new LockWarning(warn);
  let polling = false;
  async function poll(): Promise<void> {
    const { idleMinutes, requestsKeepOpen, onScreenLock: locksWithScreen } = wanted;
    // Longer than any absence, if being idle does not count.
    const seconds = idleMinutes === null ? 2 ** 31 - 1 : idleMinutes * 60;
    // On Linux, either may be all that knows; elsewhere Electron does.
    const isLocked = powerMonitor.getSystemIdleState(seconds) === 'locked' || session?.isLocked === true;
    const userIdle = Math.max(powerMonitor.getSystemIdleTime(), session?.idleSeconds ?? 0);
    const idle = requestsKeepOpen ? Math.min(userIdle, sinceRequestMs() / 1_000) : userIdle;
    // A screen that is locked is an idle one some time after.
    const left = (isLocked && locksWithScreen) || idle >= seconds;
    warning.look(idle * 1_000, idleMinutes === null ? null : seconds * 1_000);
    if (polling || !left) return;
    polling = true;
    try {
      if ((await rpc.status()).state === 'unlocked') await lock();
    } catch (error) {
      report('auto-lock does not know the state of the vault', error);
    } finally {
      polling = false;
    }
  }

  void follow();
  const stopEvents = rpc.onEvent((event) => {
    // A new or newly opened vault has its own settings.
    if (event.kind === 'settings' || event.kind === 'status') void follow();
  });
  const listeners = [
    ['lock-screen', onScreenLock],
    // Another person of this machine has its screen.
    ['user-did-resign-active', onScreenLock],
    ['suspend', onSuspend],
    ['shutdown', onShutdown],
  ] as const;
  for (const [name, listener] of listeners) powerMonitor.on(name as 'suspend', listener);
  const stopPolling = every(pollMilliseconds, poll);
  return {
    get reportsLock() {
      return session?.reportsLock ?? true;
    },
    [Symbol.dispose]() {
      session?.[Symbol.dispose]();
      stopPolling();
      stopEvents();
      for (const [name, listener] of listeners) powerMonitor.off(name as 'suspend', listener);
    },
  };
}
