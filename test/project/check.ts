// `npm run check`: every check, however many fail. Two at a time, the longest first.
import { spawn } from 'node:child_process';
import { join } from 'node:path';

const projectRoot = join(import.meta.dirname, '../..');

/** Each is also a script of its own: `npm run check:lint`, which checks the types too. */
const checks = ['lint', 'format', 'layers', 'unused', 'docs', 'voice', 'texts', 'folders', 'lock'];

/** @returns whether the check found nothing. */
async function run(name: string): Promise<boolean> {
  const started = performance.now();
  const child = spawn(process.execPath, ['--run', `check:${name}`], {
    cwd: projectRoot,
    env: { ...process.env, ...(process.stdout.isTTY && { FORCE_COLOR: '1' }) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${code === 0 ? 'ok    ' : 'FAILED'} check:${name} (${seconds} s)`);
  if (code !== 0) console.log(output.trim());
  return code === 0;
}

const waiting = [...checks];
const failed: string[] = [];
const worker = async (): Promise<void> => {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    if (!(await run(name))) failed.push(name);
  }
};
await Promise.all([worker(), worker()]);
if (failed.length > 0) {
  console.log(`\nFailed: ${failed.join(', ')}`);
  process.exitCode = 1;
}
