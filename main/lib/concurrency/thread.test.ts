import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { KeyhearthError } from '../errors.ts';
import { Thread } from './thread.ts';

const worker = `
import { writeFileSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { KeyhearthError } from ${JSON.stringify(import.meta.resolve('../errors.ts'))};
import { serveJobs } from ${JSON.stringify(import.meta.resolve('./thread.ts'))};
const { promise: outside, reject: onEnd } = Promise.withResolvers();
// It keeps the thread from ending, as a connection would.
outside.catch(() => clearInterval(connection));
const connection = setInterval(() => undefined, 1000);
serveJobs({
  data: () => workerData,
  length: (bytes) => bytes.length,
  never: () => new Promise(() => undefined),
  pieces: (file, onProgress) => {
    const memory = new Int32Array(new SharedArrayBuffer(4));
    try {
      for (;;) {
        onProgress(1, 2);
        Atomics.wait(memory, 0, 0, 1);
      }
    } finally {
      writeFileSync(file, 'given up');
    }
  },
  outside: () => outside,
  hang: (_given, onProgress) => {
    onProgress(1, 2);
    for (;;);
  },
  refuse: (text) => { throw new KeyhearthError('VAULT_TAMPERED', text); },
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
}, onEnd);`;

// The jobs of the worker above.
// oxlint-disable-next-line typescript/consistent-type-definitions -- an interface has no index signature
type Served = {
  data: () => string;
  length: (bytes: Uint8Array) => number;
  never: () => undefined;
  pieces: (file: string) => undefined;
  outside: () => undefined;
  hang: (nothing: string) => undefined;
  refuse: (text: string) => undefined;
  fault: () => undefined;
  unclonable: () => undefined;
  exit: () => undefined;
  count: (total: number) => number;
};

let directory: string;
let thread: Thread<Served>;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'keyhearth-thread-'));
  writeFileSync(join(directory, 'worker.ts'), worker);
});
afterAll(() => {
  rmSync(directory, { recursive: true });
});
afterEach(() => thread.close());

function newThread(options: { readonly endsWithinMs?: number } = {}): void {
  thread = new Thread<Served>({
    ...options,
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
  expect(refusal).toBeInstanceOf(KeyhearthError);
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

test('progress is reported, and a fault of its listener ends the job', async () => {
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

test('a thread that ends rejects all waiting jobs, and starts again with the next job', async () => {
  newThread();
  const lost = {
    code: 'UNAVAILABLE',
    message: 'a thread of Keyhearth has ended before its work was done (try again; the log has the cause)',
    cause: new Error('the thread worker has ended'),
  };
  const waiting = expect(thread.ask('never', undefined)).rejects.toMatchObject(lost);
  await expect(thread.ask('exit', undefined)).rejects.toMatchObject(lost);
  await waiting;
  expect(thread.isRunning).toBe(false);
  expect(await thread.ask('data', undefined)).toBe('given at first');
});

// Node may lose the whole process where a thread is cut off, so a thread is asked to end and ends by itself.
describe('closing', () => {
  const terminate = vi.spyOn(Worker.prototype, 'terminate');
  afterEach(() => {
    terminate.mockClear();
  });
  afterAll(() => {
    terminate.mockRestore();
  });

  /** Asks for a job. @returns what it answers, once the thread is in the middle of it. */
  async function begin(
    job: 'pieces' | 'hang',
    given: string,
  ): Promise<{ readonly answer: Promise<undefined> }> {
    const { promise: begun, resolve } = Promise.withResolvers<undefined>();
    const onProgress = (): void => {
      resolve(undefined);
    };
    const answer = thread.ask(job, given, { onProgress });
    await Promise.race([begun, answer]);
    return { answer };
  }

  test('ends a job at its next piece of work: its finally is run, and nothing is terminated', async () => {
    newThread();
    const file = join(directory, 'given-up');
    const reason = new Error('the vault was locked');
    const { answer } = await begin('pieces', file);
    const refused = expect(answer).rejects.toBe(reason);
    const closed = thread.close(reason);
    expect(thread.isRunning).toBe(false);
    await refused;
    await closed;
    expect(readFileSync(file, 'utf8')).toBe('given up');
    expect(thread.hasEnded).toBe(true);
    expect(terminate).not.toHaveBeenCalled();
  });

  test.each(['never', 'outside'] as const)('ends a job that waits (%s)', async (job) => {
    newThread();
    expect(await thread.ask('count', 0)).toBe(0);
    const refused = expect(thread.ask(job, undefined)).rejects.toThrow('the thread worker has ended');
    await thread.close();
    await refused;
    expect(thread.hasEnded).toBe(true);
    expect(terminate).not.toHaveBeenCalled();
  });

  test('while it loads, begins no job of those that wait', async () => {
    newThread();
    const files = ['first', 'second'].map((name) => join(directory, name));
    const refused = files.map((file) => expect(thread.ask('pieces', file)).rejects.toThrow('has ended'));
    await thread.close();
    await Promise.all(refused);
    expect(files.filter((file) => existsSync(file))).toEqual([]);
    expect(thread.hasEnded).toBe(true);
    expect(terminate).not.toHaveBeenCalled();
  });

  test('twice at once waits for the same end', async () => {
    newThread();
    expect(await thread.ask('count', 0)).toBe(0);
    const hasEnded = Array.from({ length: 2 }, async () => {
      await thread.close();
      return thread.hasEnded;
    });
    expect(await Promise.all(hasEnded)).toEqual([true, true]);
    expect(terminate).not.toHaveBeenCalled();
  });

  test('terminates a thread that hangs, once its limit has passed', async () => {
    newThread({ endsWithinMs: 50 });
    const { answer } = await begin('hang', '');
    const refused = expect(answer).rejects.toThrow('has ended');
    const closed = thread.close();
    await refused;
    expect(terminate).not.toHaveBeenCalled();
    await closed;
    expect(terminate).toHaveBeenCalledTimes(1);
    await vi.waitUntil(() => thread.hasEnded);
  });

  test('terminates no thread that loads', async () => {
    newThread({ endsWithinMs: 0 });
    const refused = expect(thread.ask('never', undefined)).rejects.toThrow('has ended');
    await thread.close();
    await refused;
    expect(thread.hasEnded).toBe(false);
    await vi.waitUntil(() => thread.hasEnded);
    expect(terminate).not.toHaveBeenCalled();
  });
});

test('a worker that does not load is reported', async () => {
  thread = new Thread<Served>({ beside: import.meta.url, script: 'no-such-worker' });
  await expect(thread.ask('data', undefined)).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    cause: { message: expect.stringContaining('no-such-worker') as unknown },
  });
});
