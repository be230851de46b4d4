/** The thread that moves what is in a write-ahead log to its file. */
import { reasonOf } from '../lib/text/reasons.ts';
import { serveJobs } from '../lib/concurrency/thread.ts';
import { Connection } from './connection.ts';

const jobs = {
  move: (file: string): void => {
    try {
      Connection.moveLog(file);
    } catch (error) {
      throw new Error(`the write-ahead log of ${file} could not be moved to it: ${reasonOf(error)}`, {
        cause: error,
      });
    }
  },
};

export type CheckpointJobs = typeof jobs;

serveJobs(jobs);
