/**
 * The thread in which a file is looked at: all of a large vault's before it is unlocked, and any file's damage. It takes
 * seconds, and the service answers meanwhile. The file is opened for reading only, with a connection of its own.
 */
import { checkActivityChain } from '../tables/activities.ts';
import { HmacKey } from '../../crypto/hmac.ts';
import { serveJobs, type Progress } from '../../lib/concurrency/thread.ts';
import { Connection } from '../connection.ts';
import { findDamage } from '../file/find-damage.ts';
import type { RowFinding } from '../schema.ts';
import { verifyFile, type VerifiedFile } from './verify.ts';
import { describeFinding } from './refusal.ts';

/** The length of a log whose chain holds, and its last hash in hex. */
export interface LogFound {
  readonly rows: number;
  readonly head: string;
}

function onFile<T>(file: string, look: (connection: Connection) => T): T {
  const connection = Connection.openToVerify(file);
  try {
    return look(connection);
  } finally {
    connection.close();
  }
}

function verifyFull(connection: Connection): LogFound | { readonly problem: string } {
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

function verifyRows(connection: Connection, rowKey: Uint8Array, onProgress: Progress): VerifiedFile {
  const key = new HmacKey(rowKey);
  rowKey.fill(0);
  try {
    return connection.view(() => verifyFile(connection, (data) => key.mac(data), onProgress));
  } finally {
    key.erase();
  }
}

const jobs = {
  /** Looks for rows that were changed. @param given The row key has 32 bytes, which the thread erases. */
  rows: ({ file, rowKey }: { readonly file: string; readonly rowKey: Uint8Array }, onProgress: Progress) =>
    onFile(file, (connection) => verifyRows(connection, rowKey, onProgress)),
  /** Looks for pages that SQLite cannot read. */
  damage: (file: string): readonly RowFinding[] => onFile(file, findDamage),
  /** Looks at all of a file and the chain of its log. */
  whole: (file: string) => onFile(file, verifyFull),
};

export type IntegrityJobs = typeof jobs;

serveJobs(jobs);
