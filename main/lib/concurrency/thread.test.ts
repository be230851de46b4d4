import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { LatchkeyError } from '../errors.ts';
import { Thread } from './thread.ts';

const worker = `
import { workerData } from 'node:worker_threads';
import { LatchkeyError } from ${JSON.stringify(import.meta.resolve('../errors.ts'))};
import { serveJobs } from ${JSON.stringify(import.meta.resolve('./thread.ts'))};
serveJobs({
  data: () => workerData,
  length: (bytes) => bytes.length,
  never: () => new Promise(() => undefined),
  refuse: (text) => { throw new LatchkeyError('VAULT_TAMPERED', text); },
  fault: () => { throw new TypeError('a fault of the worker'); },
  unclonable: () => () => undefined,
  exit: () => process.exit(3),
  count: async (total, onProgress) => {
    for (let done = 1; done <= total; done++) {
      onProgress(done, total);
      await new Promise((resolve) => setTimeout(resolve, 110));
    }
    return total;
  },
});`;

// What the worker above serves.
// eslint-disable-next-line @typescript-eslint/consistent-type-definitions -- an interface has no index signature
type Served = {
  data: () => string;
  length: (bytes: Uint8Array) => number;
  never: () => undefined;
  refuse: (text: string) => undefined;
  fault: () => undefined;
  unclonable: () => undefined;
  exit: () => undefined;
  count: (total: number) => number;
};

let directory: string;
let thread: Thread<Served>;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'latchkey-thread-'));
  writeFileSync(join(directory, 'worker.ts'), worker);
});
afterAll(() => {
  rmSync(directory, { recursive: true });
});
afterEach(() => thread.close());

function newThread(): void {
  thread = new Thread<Served>({
    beside: pathToFileURL(join(directory, 'host.ts')).href,
    script: 'worker',
    data: 'given at first',
  });
}

test('a fault and a refusal end their own job, and not those beside it', async () => {
  newThread();
  expect(thread.isRunning).toBe(false);
  const beside = thread.ask('count', 2);
  await expect(thread.ask('fault', undefined)).rejects.toThrow('a fault of the worker');
  const refusal: unknown = await thread.ask('refuse', 'changed').catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(LatchkeyError);
  expect(refusal).toMatchObject({ code: 'VAULT_TAMPERED', message: 'changed' });
  await expect(thread.ask('unclonable', undefined)).rejects.toThrow('could not be cloned');
  expect(await beside).toBe(2);
  expect(await thread.ask('data', undefined)).toBe('given at first');
});

test.each(['no such job', 'constructor', 'toString'])(
  'a job that the worker has not is refused: %s',
  async (job) => {
    newThread();
    await expect(thread.ask(job as 'data', undefined)).rejects.toThrow(`the thread has no job ${job}`);
    expect(await thread.ask('data', undefined)).toBe('given at first');
  },
);

test('what is transferred leaves no copy here', async () => {
  newThread();
  const key = new Uint8Array(32);
  expect(await thread.ask('length', key, { transfer: [key.buffer] })).toBe(32);
  expect(key.byteLength).toBe(0);
});

test('what cannot be given is refused, and leaves nothing that waits', async () => {
  newThread();
  await expect(thread.ask('length', (() => 1) as never)).rejects.toThrow('could not be cloned');
  expect(await thread.ask('count', 0)).toBe(0);
});

test('progress is told, and a fault of whoever hears it ends the job', async () => {
  newThread();
  const heard = vi.fn();
  expect(await thread.ask('count', 3, { onProgress: heard })).toBe(3);
  expect(heard.mock.calls).toEqual([
    [1, 3],
    [2, 3],
    [3, 3],
  ]);
  const deaf = (): never => {
    throw new Error('not heard');
  };
  await expect(thread.ask('count', 1, { onProgress: deaf })).rejects.toThrow('not heard');
});

test('a thread that ends is told to all who wait, and begins anew with the next job', async () => {
  newThread();
  const waiting = expect(thread.ask('never', undefined)).rejects.toThrow('the thread worker has ended');
  await expect(thread.ask('exit', undefined)).rejects.toThrow('the thread worker has ended');
  await waiting;
  expect(thread.isRunning).toBe(false);
  expect(await thread.ask('data', undefined)).toBe('given at first');
});

test('closing ends a job in its middle, for the reason that is named', async () => {
  newThread();
  const reason = new Error('the vault was locked');
  const waiting = expect(thread.ask('never', undefined)).rejects.toBe(reason);
  await thread.close(reason);
  await waiting;
  expect(thread.isRunning).toBe(false);
});

test('a worker that does not load is told', async () => {
  thread = new Thread<Served>({ beside: import.meta.url, script: 'no-such-worker' });
  await expect(thread.ask('data', undefined)).rejects.toThrow('no-such-worker');
});
