/** The `keyhearth` command. Looks at the runtime before anything native loads: on Node 20 the database crashes the process. */
import { closedDebugger, keepDebuggersOut } from './app/no-debugger.ts';
import { keepOwnRights } from './app/own-rights.ts';
import { isNewEnough, runOnNewerNode } from './packaging/newer-node.ts';

if (isNewEnough(process.versions.node)) {
  keepOwnRights();
  // In `keyhearth requests | head` the reader has heard enough: end as by a signal, which closes what is open.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.kill(process.pid, 'SIGTERM');
  });
  // Output that fails, on a closed terminal for instance, must not end a service.
  process.stderr.on('error', () => undefined);
  if (keepDebuggersOut()) process.stderr.write(`keyhearth: ${closedDebugger}\n`);
  const { main } = await import('./commands/program.ts');
  await main(process.argv);
} else {
  await runOnNewerNode();
}
