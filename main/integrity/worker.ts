/**
 * The thread in which a file is looked at: all of a large vault's before it is unlocked, and any file's damage. It takes
 * seconds, and the service answers meanwhile. The file is opened for reading only, with a connection of its own.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { HmacKey } from '../crypto/hmac.ts';
import { Connection } from '../db/connection.ts';
import { findDamage } from '../db/damage.ts';
import type { RowFinding } from '../db/schema.ts';
import { examineFile, type Examined } from './examine.ts';

export interface ExamineJob {
  /** The vault's file. */
  readonly file: string;
  /** 32 bytes, which the thread erases; undefined where only the damage of the file is to be named. */
  readonly rowKey: Uint8Array | undefined;
}

/** What the thread says: how far it is, and then what it found. */
export type ExamineMessage =
  | { readonly progress: readonly [checked: number, total: number] }
  | { readonly examined: Examined }
  | { readonly damage: readonly RowFinding[] };

/** Milliseconds between two reports of progress. */
const reportEvery = 100;

const tell = (message: ExamineMessage): void => {
  parentPort?.postMessage(message);
};

function run({ file, rowKey }: ExamineJob): void {
  const connection = Connection.openToExamine(file);
  try {
    if (rowKey === undefined) tell({ damage: findDamage(connection) });
    else tell({ examined: examineAll(connection, rowKey) });
  } finally {
    connection.close();
  }
}

function examineAll(connection: Connection, rowKey: Uint8Array): Examined {
  const key = new HmacKey(rowKey);
  rowKey.fill(0);
  let reported = -Infinity;
  try {
    return connection.view(() =>
      examineFile(
        connection,
        (data) => key.mac(data),
        (checked, total) => {
          const now = performance.now();
          if (now - reported < reportEvery) return;
          reported = now;
          tell({ progress: [checked, total] });
        },
      ),
    );
  } finally {
    key.erase();
  }
}

run(workerData as ExamineJob);
