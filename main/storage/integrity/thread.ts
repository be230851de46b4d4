/** The service's side of the thread that looks at a file. */
import { Thread, type AskOptions, type JobAnswer, type Progress } from '../../lib/concurrency/thread.ts';
import type { RowFinding } from '../schema.ts';
import type { IntegrityJobs, LogFound } from './integrity-worker.ts';
import type { VerifiedFile } from './verify.ts';

/**
 * Looks at the file as it is when the thread begins.
 * @param rowKey 32 bytes, of which a copy moves to the thread.
 * @param signal Ends the thread; the promise then rejects with its reason.
 */
export function verifyFileAside(
  file: string,
  rowKey: Uint8Array,
  aside: { readonly signal: AbortSignal; readonly onProgress: Progress },
): Promise<VerifiedFile> {
  const own = Uint8Array.from(rowKey);
  return inThread('rows', { file, rowKey: own }, { transfer: [own.buffer], ...aside });
}

/** Names the damaged pages of a file. */
export const findDamageAside = (file: string): Promise<readonly RowFinding[]> => inThread('damage', file);

/** Looks at all of a database that is in use by the caller alone. @returns its log, or what is wrong with it. */
export const verifyLogAside = (file: string): Promise<LogFound | { readonly problem: string }> =>
  inThread('whole', file);

/** A thread for each job, so that it can be ended in the middle of it. */
async function inThread<Name extends keyof IntegrityJobs>(
  job: Name,
  given: Parameters<IntegrityJobs[Name]>[0],
  { signal, ...options }: AskOptions & { readonly signal?: AbortSignal } = {},
): Promise<JobAnswer<IntegrityJobs, Name>> {
  signal?.throwIfAborted();
  const thread = new Thread<IntegrityJobs>({ beside: import.meta.url, script: 'integrity-worker' });
  const abort = (): void => {
    void thread.close(signal?.reason);
  };
  signal?.addEventListener('abort', abort, { once: true });
  try {
    return await thread.ask(job, given, options);
  } finally {
    signal?.removeEventListener('abort', abort);
    void thread.close();
  }
}
