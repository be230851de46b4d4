/** Shortcuts that are one key alone. Speech input and a slip of the hand press them too, so a person can switch them off. */

import { useSyncExternalStore } from 'react';

const kept = 'keyhearth.single-keys';
const listeners = new Set<() => void>();

/** A page may be refused its storage. */
const storage = (): Storage | undefined => {
  try {
    return globalThis.localStorage;
  } catch {
    return undefined;
  }
};

export const singleKeysOn = (): boolean => storage()?.getItem(kept) !== 'off';

/** Keeps the choice in this browser. */
export function switchSingleKeys(on: boolean): void {
  if (on) storage()?.removeItem(kept);
  else storage()?.setItem(kept, 'off');
  for (const listener of listeners) listener();
}

export const useSingleKeys = (): boolean =>
  useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, singleKeysOn);
