import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';

/** A thread that is terminated while it loads an addon ends the process, and it is not terminated before its modules are loaded. */
test('a thread has the addon of the database once it has loaded its modules', async () => {
  const code = `import(${JSON.stringify(import.meta.resolve('./connection.ts'))}).then(() => {
    require('node:worker_threads').parentPort.postMessage(Object.keys(require.cache));
  });`;
  const worker = new Worker(code, { eval: true });
  const ended = once(worker, 'exit');
  const [[files]] = (await Promise.all([once(worker, 'message'), ended])) as [[string[]], unknown];
  expect(files.filter((file) => /better[-_]sqlite3[/\\].*[.]node$/.test(file))).toHaveLength(1);
});
