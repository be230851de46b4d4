/**
 * The thread in which a file is looked at: all of a large vault's before it is unlocked, and any file's damage. It takes
 * seconds, and the service answers meanwhile. The file is opened for reading only, with a connection of its own.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { checkActivityChain } from '../db/activities.ts';
import { HmacKey } from '../crypto/hmac.ts';
import { Connection } from '../db/connection.ts';
import { findDamage } from '../db/find-damage.ts';
import type { RowFinding } from '../db/schema.ts';
import { examineFile, type Examined } from './examine.ts';
import { describeFinding } from './refusal.ts';

/** The length of a log whose chain holds, and its last hash in hex. */
export interface LogFound {
  readonly rows: number;
  readonly head: string;
}

/** Looks for rows that were changed, for pages that SQLite cannot read, or at all of a file and the chain of its log. */
export type ExamineJob = { readonly file: string } & (
  | {
      readonly look: 'rows';
      /** 32 bytes, which the thread erases. */
      readonly rowKey: Uint8Array;
    }
  | { readonly look: 'damage' | 'whole' }
);

/** What the thread says: how far it is, and then what it found. */
export type ExamineMessage =
  | { readonly progress: readonly [checked: number, total: number] }
  | { readonly examined: Examined }
  | { readonly damage: readonly RowFinding[] }
  | { readonly whole: LogFound | { readonly problem: string } };

/** Milliseconds between two reports of progress. */
const reportEvery = 100;

const tell = (message: ExamineMessage): void => {
  parentPort?.postMessage(message);
};

function run(job: ExamineJob): void {
  const connection = Connection.openToExamine(job.file);
  try {
    if (job.look === 'rows') tell({ examined: examineAll(connection, job.rowKey) });
    else if (job.look === 'damage') tell({ damage: findDamage(connection) });
    else tell({ whole: examineWhole(connection) });
  } finally {
    connection.close();
  }
}

function examineWhole(connection: Connection): LogFound | { readonly problem: string } {
  const damaged = (problem: string): { readonly problem: string } => ({
    problem: `its database is damaged: ${problem}`,
  });
  const [finding] = findDamage(connection);
  if (finding !== undefined) return damaged(describeFinding(finding));
  const integrity = String(connection.pragma('integrity_check'));
  if (integrity !== 'ok') return damaged(integrity);
  const chain = checkActivityChain(connection);
  if (!chain.ok) return { problem: `its activity log is broken: ${chain.problem}` };
  return { rows: chain.rows, head: chain.head };
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
