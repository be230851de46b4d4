/** The progress on a terminal while a large vault is unlocked, which takes seconds. */
import type { VaultEvent } from '../../../preload/contract.ts';
import { note } from './output.ts';

/** Milliseconds between two lines; nothing is said of what takes less. */
const pause = 2000;

/** @returns a listener that notes how far it is. */
export function unlockingNotes(): (event: VaultEvent) => void {
  let told = performance.now();
  return (event) => {
    if (event.kind !== 'unlocking') return;
    const now = performance.now();
    if (now - told < pause) return;
    told = now;
    const percent = Math.floor((100 * event.checked) / event.total);
    note(`Verifying the vault before unlocking: ${String(percent)} %.`);
  };
}
