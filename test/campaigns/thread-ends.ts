/**
 * Begins threads of the service and ends them at any moment, several at a time, while free memory is overwritten beside them.
 * `thread-ends.test.ts` runs it in a process of its own. Its arguments: a directory with a vault, and how many threads.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { BackupJobs, WriteJob } from '../../main/backup/backup-worker.ts';
import { DiskUse } from '../../main/backup/disk-use.ts';
import { defaultChunkSize, slotsForHeader } from '../../main/backup/format.ts';
import { eraseFreeMemory } from '../../main/keys/erase-free-memory.ts';
import { Thread } from '../../main/lib/concurrency/thread.ts';
import { Connection } from '../../main/storage/connection.ts';
import type { CheckpointJobs } from '../../main/storage/checkpoint-worker.ts';
import type { IntegrityJobs } from '../../main/storage/integrity/integrity-worker.ts';
import { listKeyslots } from '../../main/storage/tables/keyslots.ts';
import { requireVault } from '../../main/storage/tables/vault.ts';

/** The output of the process: the number of threads for each kind of end. */
export interface ThreadEnds {
  readonly answered: number;
  readonly refused: number;
  readonly terminated: number;
}

const [directory = '', count = ''] = process.argv.slice(2);
const file = join(directory, 'vault.db');
const reason = new Error('the thread is ended');
const lanes = 4;
/**
 * Of this many rounds, the first is left to answer: it says how long the jobs take on this machine, now. The second is ended
 * at once, and the others at any moment.
 */
const roundsPerMeasure = 6;

const beside = new URL('../../dist/main/cli.js', import.meta.url).href;
const ends = { answered: 0, refused: 0, terminated: 0 };
const terminate = Worker.prototype.terminate; // oxlint-disable-line typescript/unbound-method -- it is called on its worker
Worker.prototype.terminate = function (this: Worker) {
  ends.terminated++;
  return terminate.call(this);
};

// As in a service, a connection stays open: SQLite locks the file while it closes the last.
const connection = Connection.open(file);
const header = {
  vaultId: requireVault(connection).id,
  createdAt: Date.now(),
  chunkSize: defaultChunkSize,
  keySalt: randomBytes(32).toString('hex'),
  fileSalt: randomBytes(32).toString('hex'),
  keyslots: slotsForHeader(listKeyslots(connection)),
};

function backupOf(index: number): WriteJob {
  const at = (name: string): string => join(directory, `${name}-${String(index)}`);
  return {
    ...{ database: file, copy: at('copy'), file: at('file'), replace: false, gently: false },
    ...{ header, key: new Uint8Array(randomBytes(32)) },
  };
}

/** Begins a thread with a job. */
const kinds = [
  (): [Thread<IntegrityJobs>, Promise<unknown>] => {
    const thread = new Thread<IntegrityJobs>({ beside, script: 'integrity-worker' });
    return [thread, thread.ask('rows', { file, rowKey: new Uint8Array(randomBytes(32)) })];
  },
  (): [Thread<IntegrityJobs>, Promise<unknown>] => {
    const thread = new Thread<IntegrityJobs>({ beside, script: 'integrity-worker' });
    return [thread, thread.ask('whole', file)];
  },
  (): [Thread<CheckpointJobs>, Promise<unknown>] => {
    const thread = new Thread<CheckpointJobs>({ beside, script: 'checkpoint-worker' });
    return [thread, thread.ask('move', file)];
  },
  (index: number): [Thread<BackupJobs>, Promise<unknown>] => {
    const data = new DiskUse().memory;
    const thread = new Thread<BackupJobs>({ beside, script: 'backup-worker', data });
    return [thread, thread.ask('write', backupOf(index))];
  },
] as const;

/** Milliseconds from the start of a thread to its last answer, by kind. */
const lengths: number[] = [];

let next = 0;
async function beginAndEnd(): Promise<void> {
  while (next < Number(count)) {
    const index = next++;
    const kind = index % kinds.length;
    const begin = kinds[kind] ?? kinds[0];
    const round = Math.floor(index / kinds.length) % roundsPerMeasure;
    const length = lengths[kind];
    const begun = performance.now();
    const [thread, answer] = begin(index);
    const heard = answer.then(
      () => ends.answered++,
      (error: unknown) => {
        if (error !== reason) throw error;
        ends.refused++;
      },
    );
    if (round === 0 || length === undefined) {
      await heard;
      lengths[kind] = performance.now() - begun;
    } else if (round > 1) {
      // From before the thread has loaded until after its job is done.
      await wait(Math.random() * 1.5 * length);
    }
    await Promise.all([heard, thread.close(reason)]);
    if (!thread.hasEnded) throw new Error('a thread that was closed has not ended');
  }
}

let isOver = false;
async function eraseMeanwhile(): Promise<void> {
  while (!isOver) {
    await wait(Math.random() * 500);
    await eraseFreeMemory();
  }
}

const erasing = eraseMeanwhile();
await Promise.all(Array.from({ length: lanes }, beginAndEnd));
isOver = true;
await erasing;
connection.close();
process.stdout.write(JSON.stringify(ends satisfies ThreadEnds));
