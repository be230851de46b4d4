/** Backups whose disk does not answer. A pipe without a writer stands for it: the call that opens it comes back with one. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, openSync, closeSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Jobs } from './jobs.ts';
import type { VerifyJob } from './worker.ts';

/** Says what it is told to, then opens the file of its job, which hangs where that is a pipe. */
const script = (uses: string): URL =>
  new URL(
    `data:text/javascript,${encodeURIComponent(`
      import { closeSync, existsSync, openSync } from 'node:fs';
      import { parentPort, workerData } from 'node:worker_threads';
      parentPort.postMessage({ uses: '${uses}' });
      if (existsSync(workerData.file)) closeSync(openSync(workerData.file, 'r'));
      parentPort.postMessage({ result: { size: 1 } });
    `)}`,
  );

const limits = { silentMs: 60, longestMs: 60_000 };
const noProgress = (): void => undefined;

let home: string;
const job = (file: string): VerifyJob => ({
  ...{ job: 'verify', file, masterKey: new Uint8Array(32), database: undefined },
});

/** A file of a disk that hangs until the pipe has a writer. */
function hanging(name: string): { readonly file: string; readonly answer: () => void } {
  mkdirSync(join(home, name));
  const file = join(home, name, 'a.backup');
  execFileSync('mkfifo', [file]);
  return {
    file,
    answer: () => {
      closeSync(openSync(file, 'r+'));
    },
  };
}

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'latchkey-jobs-'));
});
afterEach(() => {
  rmSync(home, { recursive: true, force: true });
});

test.runIf(process.platform !== 'win32')(
  'a disk that does not answer is given up; others go on, and it does once it answers',
  async () => {
    const jobs = new Jobs({ script: script('backups'), limits });
    const { file, answer } = hanging('share');
    const refusal = { code: 'UNAVAILABLE', message: expect.stringContaining(join(home, 'share')) as string };
    await expect(jobs.verify(job(file), noProgress)).rejects.toMatchObject(refusal);
    // Its thread hangs: another would hang beside it.
    await expect(jobs.verify(job(join(home, 'share', 'other')), noProgress)).rejects.toMatchObject(refusal);
    await expect(jobs.verify(job(join(home, 'stick')), noProgress)).resolves.toEqual({ size: 1 });
    answer();
    await vi.waitFor(async () => {
      await expect(jobs.verify(job(join(home, 'share', 'other')), noProgress)).resolves.toEqual({ size: 1 });
    });
    await jobs.close();
  },
);

test.runIf(process.platform !== 'win32')(
  'with two disks that do not answer nothing more is begun, as threads for files are few',
  async () => {
    const jobs = new Jobs({ script: script('backups'), limits });
    const shares = [hanging('one'), hanging('two')];
    for (const { file } of shares) {
      await expect(jobs.verify(job(file), noProgress)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    }
    const elsewhere = (): Promise<unknown> => jobs.verify(job(join(home, 'stick')), noProgress);
    await expect(elsewhere()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    shares[0]?.answer();
    await vi.waitFor(async () => {
      await expect(elsewhere()).resolves.toEqual({ size: 1 });
    });
    shares[1]?.answer();
    await jobs.close();
  },
);

test.runIf(process.platform !== 'win32')(
  'work on the vault’s own disk has the limit of all work alone',
  async () => {
    const jobs = new Jobs({ script: script('own'), limits: { silentMs: 6, longestMs: 400 } });
    const { file, answer } = hanging('share');
    await expect(jobs.verify(job(file), noProgress)).rejects.toMatchObject({
      message: expect.stringContaining('is too slow') as string,
    });
    answer();
    await jobs.close();
  },
);
