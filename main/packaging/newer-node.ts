/** The command on a Node that is too old for it: runs it again on one that is not. Nothing native may load here. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { become } from './become.ts';

/** As far above this file in the sources as in a build. */
const packageRoot = fileURLToPath(new URL('../..', import.meta.url));

/** @param version as Node says it, with or without its `v`. */
export function isNewEnough(version: string): boolean {
  const [, major = 0, minor = 0] = (/^v?(\d+)[.](\d+)[.]/.exec(version) ?? []).map(Number);
  return major > 22 || (major === 22 && minor >= 18);
}

/** @returns paths in the order in which they are to be tried: what Keyhearth brings comes before what the machine has. */
function candidates(root: string, environment: NodeJS.ProcessEnv): string[] {
  const name = process.platform === 'win32' ? 'node.exe' : 'node';
  const onPath = (environment['PATH'] ?? '')
    .split(delimiter)
    // A relative entry means another directory each time.
    .filter((directory) => isAbsolute(directory))
    .map((directory) => join(directory, name));
  return [join(root, 'runtime', name), join(root, 'node_modules/node/bin', name), ...onPath];
}

/** @returns the path of a Node that can run the command; undefined where there is none. */
export function findNode(
  root: string = packageRoot,
  environment: NodeJS.ProcessEnv = process.env,
): string | undefined {
  return [...new Set(candidates(root, environment))].find((program) => {
    if (!existsSync(program)) return false;
    const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8', timeout: 10_000 });
    return isNewEnough(stdout || '');
  });
}

/** @returns the numbers of all files that options like `--password-fd 3` name. */
export const descriptorsIn = (argv: readonly string[]): number[] =>
  [...argv.join('\n').matchAll(/^--[a-z-]+-fd[=\n](\d{1,3})$/gm)].map(([, number]) => Number(number));

/** Runs this very command on a newer Node, or says what is missing and how to get it. */
export async function runOnNewerNode(): Promise<void> {
  const node = findNode();
  const [, script = '', ...argv] = process.argv;
  if (node !== undefined) {
    await become(node, [script, ...argv], process.env, descriptorsIn(argv));
    return;
  }
  process.stderr.write(
    `Keyhearth needs Node 22.18 or newer. This is ${process.version}, and no other is on the PATH. Install a newer one, or let Keyhearth fetch one for itself: node ${JSON.stringify(join(packageRoot, 'main/packaging/bring-node.mjs'))}\n`,
  );
  process.exitCode = 2;
}
