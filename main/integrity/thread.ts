/** The service's side of the thread that looks at a file. */
import { Worker } from 'node:worker_threads';
import type { RowFinding } from '../db/schema.ts';
import type { Examined, ExamineProgress } from './examine.ts';
import type { ExamineJob, ExamineMessage, LogFound } from './worker.ts';
import { owned } from '../lib/faults.ts';

/** Beside this file: as source, or as the bundle that the build makes of it. */
const script = new URL(
  import.meta.url.endsWith('.ts') ? './worker.ts' : './integrity-worker.js',
  import.meta.url,
);

/**
 * Looks at the file as it is when the thread begins.
 * @param rowKey 32 bytes, of which a copy moves to the thread.
 * @param signal Ends the thread; the promise then rejects with its reason.
 */
export function examineAside(
  file: string,
  rowKey: Uint8Array,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: ExamineProgress },
): Promise<Examined> {
  return inThread({ file, look: 'rows', rowKey: Uint8Array.from(rowKey) }, signal, (message) => {
    if ('examined' in message) return message.examined;
    if ('progress' in message) onProgress(...message.progress);
    return undefined;
  });
}

/** Names the damaged pages of a file. */
export const findDamageAside = (file: string): Promise<readonly RowFinding[]> =>
  inThread({ file, look: 'damage' }, undefined, (message) =>
    'damage' in message ? message.damage : undefined,
  );

/** Looks at all of a database that is in use by the caller alone. @returns its log, or what is wrong with it. */
export const examineWholeAside = (file: string): Promise<LogFound | { readonly problem: string }> =>
  inThread({ file, look: 'whole' }, undefined, (message) => ('whole' in message ? message.whole : undefined));

/** @param take Takes what the thread says; what it returns is the answer. */
function inThread<Answer>(
  job: ExamineJob,
  signal: AbortSignal | undefined,
  take: (message: ExamineMessage) => Answer | undefined,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const worker = new Worker(script, {
      workerData: job,
      transferList: job.look === 'rows' ? [job.rowKey.buffer as ArrayBuffer] : [],
      name: 'latchkey examination',
    });
    // A service that ends waits for nobody.
    worker.unref();
    const abort = (): void => {
      reject(signal?.reason as Error);
      void worker.terminate();
    };
    signal?.addEventListener('abort', abort, { once: true });
    const hear = (message: ExamineMessage): void => {
      // What was on its way when it was ended is no news.
      if (signal?.aborted === true) return;
      const answer = take(message);
      if (answer !== undefined) resolve(answer);
    };
    worker.on('message', owned(hear, reject));
    worker.on('error', reject);
    const ended = (): void => {
      signal?.removeEventListener('abort', abort);
      // Nothing, where it answered before.
      reject(new Error('the thread that looks at the file ended without an answer'));
    };
    worker.on('exit', owned(ended, reject));
  });
}
