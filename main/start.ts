// `npm start`: builds what is out of date, then opens the desktop app; where Electron's runtime cannot be had, the same
// service and the same window on loopback. It runs from source under plain Node and imports nothing of the product.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { constants, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const projectRoot = dirname(import.meta.dirname);

/** What a build is made of, relative to the project. */
const sources = [
  'main',
  'preload',
  'renderer',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'vite.config.ts',
] as const;

/** What a build makes; `.built` carries the time at which it began. */
const outputs = [
  '.built',
  'main/cli.js',
  'main/index.js',
  'preload/index.cjs',
  'renderer/index.html',
] as const;

const isTest = /[.]test[.]tsx?$/;

/** Milliseconds since the epoch at which the newest source changed. */
async function newestSource(path: string): Promise<number> {
  const found = await stat(path);
  if (!found.isDirectory()) return found.mtimeMs;
  const names = (await readdir(path)).filter((name) => !isTest.test(name));
  return Math.max(0, ...(await Promise.all(names.map((name) => newestSource(join(path, name))))));
}

/** Whether `dist` is missing, incomplete or older than a source. */
export async function isBuildStale(root: string): Promise<boolean> {
  const dist = join(root, 'dist');
  if (!outputs.every((name) => existsSync(join(dist, name)))) return true;
  const built = (await stat(join(dist, '.built'))).mtimeMs;
  const present = sources.map((name) => join(root, name)).filter((path) => existsSync(path));
  const changed = await Promise.all(present.map(newestSource));
  return changed.some((time) => time > built);
}

/**
 * Runs `vite build` where `dist` is missing or out of date.
 * @returns whether it built.
 * @throws Error with Vite's output when the build fails.
 */
export async function buildIfNeeded(): Promise<boolean> {
  if (!(await isBuildStale(projectRoot))) return false;
  const vite = join(projectRoot, 'node_modules/vite/bin/vite.js');
  const build = spawn(process.execPath, [vite, 'build', '--logLevel', 'warn'], {
    cwd: projectRoot,
    // A test runner's NODE_ENV would make a development build of React.
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [build.stdout, build.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    build.once('error', reject).once('close', resolve);
  });
  if (code !== 0) throw new Error(`"vite build" failed with exit code ${String(code)}:\n${output}`);
  return true;
}

/** The parts of a computer that decide whether a desktop app can open. */
export interface Computer {
  readonly platform: NodeJS.Platform;
  /** Undefined on Windows. */
  readonly userId: number | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Why no desktop app can open on this computer, whatever is installed; undefined where it can. */
export function desktopObstacle({ platform, userId, environment }: Computer): string | undefined {
  if (platform !== 'linux') return undefined;
  if (!environment['DISPLAY'] && !environment['WAYLAND_DISPLAY']) {
    return 'there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set)';
  }
  if (userId === 0) return 'Chromium gives root no sandbox';
  return undefined;
}

/**
 * Why Chromium's sandbox cannot start here, which would end the app at once; undefined where it can.
 * @param setting reads a kernel setting, for example `kernel/unprivileged_userns_clone`; undefined where there is none.
 * @param helperIsSetuid whether Electron's chrome-sandbox belongs to root and is setuid, which works without user namespaces.
 */
export function sandboxObstacle(
  setting: (name: string) => string | undefined,
  helperIsSetuid: boolean,
): string | undefined {
  if (helperIsSetuid) return undefined;
  const forbidding = [
    ['kernel/apparmor_restrict_unprivileged_userns', '1'],
    ['kernel/unprivileged_userns_clone', '0'],
    ['user/max_user_namespaces', '0'],
  ] as const;
  const found = forbidding.find(([name, value]) => setting(name) === value);
  return (
    found &&
    `this system keeps user namespaces, and so Chromium's sandbox, from programs (${found.join('=')})`
  );
}

function kernelSetting(name: string): string | undefined {
  try {
    return readFileSync(join('/proc/sys', name), 'utf8').trim();
  } catch {
    return undefined;
  }
}

function isSetuidRoot(path: string): boolean {
  try {
    const { uid, mode } = statSync(path);
    return uid === 0 && (mode & 0o4000) !== 0;
  } catch {
    return false;
  }
}

/** Where Electron's program is, or would be once fetched, by the rules of Electron's own launcher. */
function electronProgram(electron: string): { readonly path: string; readonly present: boolean } {
  const elsewhere = process.env['ELECTRON_OVERRIDE_DIST_PATH'];
  // Written by Electron's install script when it is done.
  const pathFile = join(electron, 'path.txt');
  const name = existsSync(pathFile) ? readFileSync(pathFile, 'utf8') : undefined;
  const path = join(elsewhere ?? join(electron, 'dist'), name ?? 'electron');
  return { path, present: (name ?? elsewhere) !== undefined && existsSync(path) };
}

/** Bytes in a directory; what vanishes meanwhile counts as nothing. */
async function sizeOf(directory: string): Promise<number> {
  const entries = await readdir(directory, { recursive: true }).catch(() => []);
  const sizes = entries.map((name) =>
    stat(join(directory, name)).then(
      ({ size }) => size,
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** How a script that fetches something is run and watched. */
export interface Fetching {
  /** Path of the script, run by this Node. */
  readonly script: string;
  /** The directory it unpacks into; it downloads into the system's temporary directory. */
  readonly into: string;
  /** How long it may write nothing. */
  readonly idleMs: number;
  /** How long it may take in all, so that a trickle ends too. */
  readonly totalMs: number;
}

/**
 * Runs the script until it ends, or until it has written nothing for too long: a network that drops packets answers no
 * connection and closes none.
 * @returns why it failed; undefined when it did not.
 */
export async function fetchWatched({ script, into, idleMs, totalMs }: Fetching): Promise<string | undefined> {
  const temporary = await mkdtemp(join(tmpdir(), 'latchkey-electron-'));
  const fetching = spawn(process.execPath, [script], {
    env: {
      ...process.env,
      ELECTRON_GET_NO_PROGRESS: '1',
      // The download grows in here, where it can be watched and is left by nobody.
      TMPDIR: temporary,
      TMP: temporary,
      TEMP: temporary,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let complaint = '';
  fetching.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text));

  const started = performance.now();
  let written = -1;
  let writtenAt = started;
  let late: string | undefined;
  let looking = false;
  const look = async (): Promise<void> => {
    if (looking) return;
    looking = true;
    const size = (await sizeOf(temporary)) + (await sizeOf(into));
    const now = performance.now();
    if (size !== written) {
      written = size;
      writtenAt = now;
    }
    if (now - writtenAt > idleMs) late = `nothing came for ${String(Math.round(idleMs / 1000))} s`;
    else if (now - started > totalMs) late = `it took over ${String(Math.round(totalMs / 60_000))} min`;
    if (late !== undefined) fetching.kill('SIGKILL');
    looking = false;
  };
  const watch = setInterval(() => void look(), Math.min(1000, idleMs / 4));
  const stop = (): void => void fetching.kill('SIGKILL');
  process.once('exit', stop);
  try {
    const code = await new Promise<number | null>((resolve) => {
      fetching.once('error', () => {
        resolve(null);
      });
      fetching.once('close', resolve);
    });
    if (late !== undefined) return late;
    if (code === 0) return undefined;
    const [first = ''] = complaint.trim().split('\n');
    return first === ''
      ? `its install script ended with exit code ${String(code)}`
      : first.replace(/^\w*Error: /, '');
  } finally {
    clearInterval(watch);
    process.off('exit', stop);
    await rm(temporary, { recursive: true, force: true });
  }
}

/** A line for a person at a terminal, gone once the wait is over; a log gets none of it. */
async function whileSaying<T>(text: string, work: Promise<T>): Promise<T> {
  const terminal = process.stderr.isTTY;
  if (terminal) process.stderr.write(text);
  try {
    return await work;
  } finally {
    if (terminal) process.stderr.write('\r\u001b[2K');
  }
}

/** Why the program does not start at all, for want of shared libraries for example; undefined when it does. */
async function startFailure(program: string): Promise<string | undefined> {
  const trial = spawn(program, ['--version'], { stdio: ['ignore', 'ignore', 'pipe'], timeout: 20_000 });
  let complaint = '';
  trial.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text));
  return new Promise((resolve) => {
    trial.once('error', (error) => {
      resolve(error.message);
    });
    trial.once('close', (code, signal) => {
      const [first = ''] = complaint.trim().split('\n');
      if (code === 0) resolve(undefined);
      else resolve(first === '' ? `it ended with ${String(signal ?? code)}` : first);
    });
  });
}

/** The path of an Electron that can open a window here, fetched first where it is missing; or why there is none. */
async function findElectron(): Promise<{ readonly program: string } | { readonly obstacle: string }> {
  const { platform } = process;
  const obstacle = desktopObstacle({ platform, userId: process.getuid?.(), environment: process.env });
  if (obstacle !== undefined) return { obstacle };
  let electron: string;
  try {
    // The package's main module would start a download of its own.
    electron = dirname(createRequire(import.meta.url).resolve('electron/package.json'));
  } catch {
    return { obstacle: 'the "electron" package is not installed (npm install)' };
  }
  const dist = join(electron, 'dist');
  if (!electronProgram(electron).present) {
    const fetching = {
      script: join(electron, 'install.js'),
      into: dist,
      idleMs: 20_000,
      totalMs: 20 * 60_000,
    };
    const failure = await whileSaying("Fetching Electron's runtime, once ...", fetchWatched(fetching));
    if (failure !== undefined) return { obstacle: `Electron's runtime could not be fetched (${failure})` };
  }
  const { path, present } = electronProgram(electron);
  if (!present) return { obstacle: `Electron's runtime is not at ${path}` };
  if (platform === 'linux') {
    const sandbox = sandboxObstacle(kernelSetting, isSetuidRoot(join(dirname(path), 'chrome-sandbox')));
    if (sandbox !== undefined) return { obstacle: sandbox };
  }
  const failure = await startFailure(path);
  if (failure !== undefined) return { obstacle: `Electron's runtime does not start (${failure})` };
  return { program: path };
}

/** Runs the program in place of this one: same terminal, signals passed on, exit code kept. */
async function become(program: string, argv: readonly string[]): Promise<void> {
  // Some editors set this in their terminals; it would make Electron a plain Node.
  const { ELECTRON_RUN_AS_NODE: _, ...environment } = process.env;
  const child = spawn(program, argv, { cwd: process.cwd(), env: environment, stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      // A terminal sends its interrupt to the child as well; a second one would mean "at once".
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
  }
  // npm passes its own on to its shell alone, which ends and tells nobody.
  const shell = process.ppid;
  const watch = setInterval(() => {
    if (process.env['npm_lifecycle_event'] === 'start' && process.ppid !== shell) child.kill('SIGTERM');
  }, 500).unref();
  process.exitCode = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      clearInterval(watch);
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}

/**
 * Starts Latchkey from a checkout.
 * @param argv what follows `npm start --`, passed on as it is; `--build` alone builds and goes no further, for
 *   `npm install`, which must not take away the files of a running vault without need.
 */
async function start(argv: readonly string[]): Promise<void> {
  await whileSaying('Building ...', buildIfNeeded());
  if (argv[0] === '--build') return;
  const electron = await findElectron();
  if ('program' in electron) {
    await become(electron.program, [projectRoot, ...argv]);
    return;
  }
  process.stderr.write(`No desktop app: ${electron.obstacle}. The window opens in the browser instead.\n`);
  // In this process: one that npm ends, or that is killed, leaves no other behind it that holds the vault.
  const command = join(projectRoot, 'dist/main/cli.js');
  process.argv.splice(1, Infinity, command, 'serve', '--ui', '--open', ...argv);
  await import(pathToFileURL(command).href);
}

if (import.meta.main) {
  try {
    await start(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
