/** Backups whose disk does not answer. A pipe without a writer stands for it: the call that opens it comes back with one. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, openSync, closeSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Jobs, type JobLimits } from './jobs.ts';
import type { VerifyJob } from './backup-worker.ts';

/** Says that it works on the named disk, then opens the file of its job, which hangs where that is a pipe. */
const worker = (disk: 'own' | 'backups'): string => `
import { closeSync, existsSync, openSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { DiskUse } from ${JSON.stringify(import.meta.resolve('./disk-use.ts'))};
import { serveJobs } from ${JSON.stringify(import.meta.resolve('../lib/concurrency/thread.ts'))};
serveJobs({
  verify: ({ file }) => {
    new DiskUse(workerData).uses('${disk}');
    if (existsSync(file)) closeSync(openSync(file, 'r'));
    return { size: 1 };
  },
});`;

const limits = { silentMs: 60, longestMs: 60_000 };
const noProgress = (): void => undefined;

let home: string;
const job = (file: string): VerifyJob => ({ file, masterKey: new Uint8Array(32), database: undefined });

function newJobs(disk: 'own' | 'backups', limitsOfJobs: JobLimits): Jobs {
  writeFileSync(join(home, 'worker.ts'), worker(disk));
  const beside = pathToFileURL(join(home, 'host.ts')).href;
  return new Jobs({ thread: { beside, script: 'worker' }, limits: limitsOfJobs });
}

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
  home = mkdtempSync(join(tmpdir(), 'keyhearth-jobs-'));
});
afterEach(() => {
  rmSync(home, { recursive: true, force: true });
});

test.runIf(process.platform !== 'win32')(
  'a disk that does not answer is given up; others go on, and it does once it answers',
  async () => {
    const jobs = newJobs('backups', limits);
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
    const jobs = newJobs('backups', limits);
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
    const jobs = newJobs('own', { silentMs: 6, longestMs: 400 });
    const { file, answer } = hanging('share');
    await expect(jobs.verify(job(file), noProgress)).rejects.toMatchObject({
      message: expect.stringContaining('is too slow') as string,
    });
    answer();
    await jobs.close();
  },
);

test.runIf(process.platform !== 'win32')(
  'closing refuses at once what runs and what waits, also while a disk does not answer',
  async () => {
    const jobs = newJobs('own', limits);
    const { file, answer } = hanging('share');
    const asked = [file, join(home, 'stick')].map((each) => jobs.verify(job(each), noProgress));
    const refused = Promise.all(
      asked.map(async (each) => {
        await expect(each).rejects.toThrow('the backup was not finished');
      }),
    );
    // In its turn, the first job begins.
    await Promise.resolve();
    const closed = jobs.close();
    await refused;
    answer();
    await closed;
  },
);
