/** The thread that moves what is in a write-ahead log to its file. It answers why it could not, or null. */
import { parentPort } from 'node:worker_threads';
import { owned } from '../lib/faults.ts';
import { Connection } from './connection.ts';

function move(file: string): string | null {
  try {
    Connection.moveLog(file);
    return null;
  } catch (error) {
    return `the write-ahead log of ${file} could not be moved to it: ${error instanceof Error ? error.message : String(error)}`;
  }
}

parentPort?.on(
  'message',
  owned((file: string) => {
    parentPort?.postMessage(move(file));
  }),
);
