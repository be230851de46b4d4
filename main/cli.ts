/** The `keyhearth` command. Checks the runtime before anything native loads: on Node 20 the database crashes the process. */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(
    `Keyhearth needs Node 22.18 or newer, and this is ${process.version}. Run it as \`./keyhearth\`, which brings its own.\n`,
  );
  process.exitCode = 2;
} else {
  // In `keyhearth requests | head` the reader has heard enough: end as by a signal, which closes what is open.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.kill(process.pid, 'SIGTERM');
  });
  // Output that fails, on a closed terminal for instance, must not end a service.
  process.stderr.on('error', () => undefined);
  const { main } = await import('./commands/program.ts');
  await main(process.argv);
}
