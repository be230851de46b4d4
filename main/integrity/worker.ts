/**
 * The thread in which the file of a large vault is looked at before it is unlocked: it takes seconds, and the service
 * answers meanwhile. It opens the file for reading only, with a connection of its own.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { HmacKey } from '../crypto/hmac.ts';
import { Connection } from '../db/connection.ts';
import { examineFile, type Examined } from './examine.ts';

export interface ExamineJob {
  /** The vault's file. */
  readonly file: string;
  /** 32 bytes, which the thread erases. */
  readonly rowKey: Uint8Array;
}

/** What the thread says: how far it is, and then what it found. */
export type ExamineMessage =
  { readonly progress: readonly [checked: number, total: number] } | { readonly examined: Examined };

/** Milliseconds between two reports of progress. */
const reportEvery = 100;

function run({ file, rowKey }: ExamineJob): void {
  const tell = (message: ExamineMessage): void => {
    parentPort?.postMessage(message);
  };
  const key = new HmacKey(rowKey);
  rowKey.fill(0);
  const connection = Connection.openToExamine(file);
  try {
    let reported = -Infinity;
    const examined = connection.view(() =>
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
    tell({ examined });
  } finally {
    key.erase();
    connection.close();
  }
}

run(workerData as ExamineJob);
