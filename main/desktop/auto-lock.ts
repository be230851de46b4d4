/** Locks the vault when its owner leaves: the screen locks, the machine sleeps, or nobody touches it for a while. */
import { powerMonitor } from 'electron';
import type { Bridge } from '../../preload/contract.ts';
import { LatchkeyError } from '../lib/errors.ts';
import { report } from './report.ts';

export const defaultIdleSeconds = 10 * 60;
const pollMilliseconds = 5_000;

/**
 * Watches until it is disposed of.
 * @param idleSeconds How long without a key or a pointer moved, in whole seconds.
 */
export function startAutoLock(
  bridge: Pick<Bridge, 'status' | 'lock'>,
  idleSeconds = defaultIdleSeconds,
): Disposable {
  if (!Number.isSafeInteger(idleSeconds) || idleSeconds < 1) {
    throw new TypeError(`idleSeconds: expected a whole number of seconds from 1, got ${String(idleSeconds)}`);
  }

  async function lock(): Promise<void> {
    try {
      await bridge.lock();
    } catch (error) {
      // A refusal says that there is no open vault, which is what is wanted.
      if (!(error instanceof LatchkeyError)) report('the vault did not lock', error);
    }
  }

  // Without asking for the state first: the machine may be asleep before an answer.
  const leave = (): void => {
    void lock();
  };

  let polling = false;
  async function poll(): Promise<void> {
    // Linux has no event for a locked screen; it is seen here.
    const state = powerMonitor.getSystemIdleState(idleSeconds);
    if (polling || (state !== 'idle' && state !== 'locked')) return;
    polling = true;
    try {
      if ((await bridge.status()).state === 'unlocked') await lock();
    } catch (error) {
      report('auto-lock does not know the state of the vault', error);
    } finally {
      polling = false;
    }
  }

  powerMonitor.on('lock-screen', leave);
  powerMonitor.on('suspend', leave);
  powerMonitor.on('user-did-resign-active', leave);
  const timer = setInterval(() => void poll(), pollMilliseconds).unref();
  return {
    [Symbol.dispose]() {
      clearInterval(timer);
      powerMonitor.off('lock-screen', leave);
      powerMonitor.off('suspend', leave);
      powerMonitor.off('user-did-resign-active', leave);
    },
  };
}
