/**
 * Shared memory that says on which disk a backup thread works, and if it proceeds: a thread that hangs in a
 * call cannot report so itself.
 */
import { owned } from '../lib/faults.ts';

/** The vault's own disk, or that of the backup, which may be a share that hangs. */
type Disk = 'own' | 'backups';

export class DiskUse {
  readonly memory: SharedArrayBuffer;
  readonly #isOfBackups: Int32Array;
  readonly #steps: Int32Array;

  constructor(memory = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#isOfBackups = new Int32Array(memory, 0, 1);
    this.#steps = new Int32Array(memory, Int32Array.BYTES_PER_ELEMENT, 1);
  }

  uses(disk: Disk): void {
    this.step();
    Atomics.store(this.#isOfBackups, 0, disk === 'backups' ? 1 : 0);
  }

  /** Called after each piece of work. */
  step(): void {
    Atomics.add(this.#steps, 0, 1);
  }

  get isOfBackups(): boolean {
    return Atomics.load(this.#isOfBackups, 0) === 1;
  }

  /** Another number than before where the thread went on. */
  get steps(): number {
    return Atomics.load(this.#steps, 0);
  }
}

/** A silence has so many parts, each seen by a timer of its own: a computer that slept was silent in one of them. */
const partsOfSilence = 6;

/**
 * Sees whether a thread goes on.
 * @param onSilent Called where the disk of backups gave nothing back for that many milliseconds.
 * @returns what stops it.
 */
export function watchDisk(use: DiskUse, silentMs: number, onSilent: () => void): () => void {
  let { steps } = use;
  let silentParts = 0;
  // Each part begins when the one before it was looked at, so that parts never pile up behind a long turn.
  const next = (): NodeJS.Timeout => setTimeout(owned(look), silentMs / partsOfSilence).unref();
  const look = (): void => {
    timer = next();
    const isSilent = use.isOfBackups && use.steps === steps;
    ({ steps } = use);
    silentParts = isSilent ? silentParts + 1 : 0;
    if (silentParts === partsOfSilence) onSilent();
  };
  let timer = next();
  return () => {
    clearTimeout(timer);
  };
}
