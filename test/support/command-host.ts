/**
 * Runs commands of this build one after the other in one process: to load them takes longer than most of them take. Each has its own
 * words, environment and exit code, as in a process of its own.
 * Usage: node command-host.ts COMMAND; the runs come as messages of its parent.
 */
import { pathToFileURL } from 'node:url';

export interface HostedRun {
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Written to both outputs when the command has ended. */
  readonly end: string;
}

const [command = ''] = process.argv.slice(2);
let runs = 0;

// Each run adds its listeners.
for (const emitter of [process, process.stdout, process.stderr]) emitter.setMaxListeners(0);
// The parent has ended.
process.on('disconnect', () => process.exit());

process.on('message', ({ argv, environment, end }: HostedRun) => {
  for (const name of Object.keys(process.env)) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, environment);
  process.argv = [process.execPath, command, ...argv];
  process.exitCode = undefined;
  void run().then((code) => {
    process.exitCode = undefined;
    process.stdout.write(end);
    process.stderr.write(end);
    process.send?.(code);
  });
});

/** Evaluates the entry again. Its imports stay loaded. */
async function run(): Promise<number> {
  try {
    await import(`${pathToFileURL(command).href}?run=${String(runs++)}`);
    return Number(process.exitCode ?? 0);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? String(error.stack) : String(error)}\n`);
    return 1;
  }
}
