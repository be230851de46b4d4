import type { VaultEvent } from '../../preload/contract.ts';
import type { Clock } from '../lib/clock.ts';
import type { OnFault } from '../lib/faults.ts';

/** Dependencies of every part of a vault. */
export interface Surroundings {
  readonly clock: Clock;
  readonly onFault: OnFault;
  /** Emits an event to the windows. */
  readonly emit: (event: VaultEvent) => void;
}
