/** The service's side of the thread that looks at a file. */
import { Worker } from 'node:worker_threads';
import type { Examined, ExamineProgress } from './examine.ts';
import type { ExamineJob, ExamineMessage } from './worker.ts';

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
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const job: ExamineJob = { file, rowKey: Uint8Array.from(rowKey) };
    const worker = new Worker(script, {
      workerData: job,
      transferList: [job.rowKey.buffer as ArrayBuffer],
      name: 'latchkey examination',
    });
    // A service that ends waits for nobody.
    worker.unref();
    const abort = (): void => {
      reject(signal.reason as Error);
      void worker.terminate();
    };
    signal.addEventListener('abort', abort, { once: true });
    worker.on('message', (message: ExamineMessage) => {
      // What was on its way when it was ended is no news.
      if (signal.aborted) return;
      if ('progress' in message) onProgress(...message.progress);
      else resolve(message.examined);
    });
    worker.on('error', reject);
    worker.on('exit', () => {
      signal.removeEventListener('abort', abort);
      // Nothing, where it answered before.
      reject(new Error('the thread that looks at the file ended without an answer'));
    });
  });
}
