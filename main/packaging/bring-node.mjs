// Runs when the package is installed: fetches a Node for the command where npm runs on one that is too old for it. It
// never fails an installation: the command looks for other Nodes too, and says what is missing. Plain JavaScript for Node 20.
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath, URL } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { platform, arch } = process;

/** The package that holds Node's program for this machine, by the names of those who publish it. */
const name = `${platform === 'darwin' && arch === 'arm64' ? 'node-bin' : 'node'}-${platform === 'win32' ? 'win' : platform}-${arch}`;
const program = platform === 'win32' ? 'node.exe' : 'node';

function bringNode() {
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const version = devDependencies.node.replace(/^\D+/, '');
  process.stdout.write(
    `Keyhearth needs a newer Node than ${process.version}: fetching ${version} for it, once.\n`,
  );
  const runtime = join(root, 'runtime');
  mkdirSync(runtime, { recursive: true });
  const temporary = mkdtempSync(join(runtime, 'fetched-'));
  try {
    const npm = process.env.npm_execpath;
    const argv = [
      'install',
      ...['--prefix', temporary, '--global=false', '--location=project', '--no-save', '--no-package-lock'],
      ...['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', `${name}@${version}`],
    ];
    // npm is a script, which Windows starts by its shell alone.
    const { status, stderr, error } = npm
      ? spawnSync(process.execPath, [npm, ...argv], { encoding: 'utf8' })
      : spawnSync('npm', argv, { encoding: 'utf8', shell: platform === 'win32' });
    if (status !== 0) throw error ?? new Error(stderr.trim().split('\n')[0] || 'npm failed');
    const fetched = join(temporary, 'node_modules', name);
    copyFileSync(join(fetched, 'LICENSE'), join(runtime, 'LICENSE'));
    const brought = join(fetched, 'bin', program);
    chmodSync(brought, 0o755);
    // In its place as a whole or not at all.
    renameSync(brought, join(runtime, program));
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

try {
  // Node has this from the first version on that Keyhearth runs on.
  if (!process.features.typescript) bringNode();
} catch (error) {
  process.stderr.write(
    `No Node was fetched (${error.message}). Install Node 22.18 or newer, or try again: node ${JSON.stringify(join(dirname(fileURLToPath(import.meta.url)), 'bring-node.mjs'))}\n`,
  );
}
