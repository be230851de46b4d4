import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as threads from 'node:worker_threads';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { KeyhearthError } from '../errors.ts';
import { Thread } from './thread.ts';

// A limit of processes would hold for all that this user runs, so what Node throws at it comes from here.
const machine: { limits: threads.ResourceLimits; noThreads: boolean } = { limits: {}, noThreads: false };
vi.mock('node:worker_threads', async (original) => {
  const real = await original<typeof threads>();
  class Worker extends real.Worker {
    constructor(file: URL, options: threads.WorkerOptions) {
      if (machine.noThreads) {
        throw Object.assign(new Error('EAGAIN'), { code: 'ERR_WORKER_INIT_FAILED' });
      }
      super(file, { ...options, resourceLimits: machine.limits });
    }
  }
  return { ...real, Worker };
});

const worker = `
import { serveJobs } from ${JSON.stringify(import.meta.resolve('./thread.ts'))};
serveJobs({
  fill: () => {
    const held = [];
    for (;;) held.push(Array.from({ length: 1000 }, (_, index) => ({ index })));
  },
  work: () => 'done',
});`;

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'keyhearth-shortages-'));
  writeFileSync(join(directory, 'worker.ts'), worker);
});
afterAll(() => {
  rmSync(directory, { recursive: true });
});

const newThread = () =>
  new Thread<{ fill: () => undefined; work: () => string }>({
    beside: pathToFileURL(join(directory, 'host.ts')).href,
    script: 'worker',
  });

async function refusalOf(work: () => Promise<unknown>): Promise<KeyhearthError> {
  try {
    await work();
  } catch (error) {
    if (error instanceof KeyhearthError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

test('a thread that needs more memory than there is says so, and the next job is done', async () => {
  const thread = newThread();
  machine.limits = { maxOldGenerationSizeMb: 64 };
  const { code, message, cause } = await refusalOf(() => thread.ask('fill', undefined));
  expect(code).toBe('UNAVAILABLE');
  expect(message).toContain('not enough memory for it (end other programs');
  // The log has it.
  expect(cause).toMatchObject({ code: 'ERR_WORKER_OUT_OF_MEMORY' });
  machine.limits = {};
  expect(await thread.ask('work', undefined)).toBe('done');
  await thread.close();
});

test('a thread that cannot begin says so, and begins once it can', async () => {
  const thread = newThread();
  machine.noThreads = true;
  const { code, message, cause } = await refusalOf(() => thread.ask('work', undefined));
  expect(code).toBe('UNAVAILABLE');
  expect(message).toContain('can begin no more threads (end other programs');
  expect(cause).toMatchObject({ message: 'EAGAIN' });
  machine.noThreads = false;
  expect(await thread.ask('work', undefined)).toBe('done');
  await thread.close();
});
