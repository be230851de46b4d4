/** Erases what was freed while the vault was open, once it is locked. */
import { owned } from '../lib/faults.ts';
import { eraseFreeMemory } from './erase-free-memory.ts';
import type { Keyring } from './keyring.ts';

/** When it is done after a lock, in milliseconds: requests that were under way hold what they were given until they end. */
const rounds = [50, 1000, 10_000, 30_000] as const;

/** @returns the function that stops it. */
export function eraseAfterLock(keyring: Pick<Keyring, 'onChange'>): () => void {
  let timers: NodeJS.Timeout[] = [];
  const cancel = (): void => {
    for (const timer of timers) clearTimeout(timer);
    timers = [];
  };
  const stop = keyring.onChange((unlocked) => {
    cancel();
    if (!unlocked) timers = rounds.map((delay) => setTimeout(owned(eraseFreeMemory), delay).unref());
  });
  return () => {
    cancel();
    stop();
  };
}
