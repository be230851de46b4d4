// `npm start`: builds what is out of date, then opens the desktop app; where Electron's runtime cannot be had, the same
// service and the same window on loopback. It runs from source under plain Node and imports hardly anything of the product.
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { become } from './packaging/become.ts';

const projectRoot = dirname(import.meta.dirname);

/** The sources of a build, relative to the project. */
const sources = [
  'docs',
  'main',
  'preload',
  'renderer',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'vite.config.ts',
] as const;

/** The output of a build; `.built` carries the time of its start. */
export const outputs = [
  '.built',
  'main/cli.js',
  'main/index.js',
  'preload/index.cjs',
  'renderer/index.html',
  'site/docs/index.html',
] as const;

const isTest = /[.]test[.]tsx?$/;

/** Milliseconds since the epoch at which the newest source changed. */
async function newestSource(path: string): Promise<number> {
  const found = await stat(path);
  if (!found.isDirectory()) return found.mtimeMs;
  const names = (await readdir(path)).filter((name) => !isTest.test(name));
  return Math.max(0, ...(await Promise.all(names.map((name) => newestSource(join(path, name))))));
}

/** True if `dist` is missing, incomplete or older than a source. */
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
  const { said, complaint, failure } = await endOf(build);
  if (failure !== undefined) throw new Error(`"vite build" failed:\n${said}${complaint || failure}`);
  return true;
}

/**
 * Waits for the end of a program. Answers its output and, for a failure, the reason and the first line of its
 * errors.
 */
async function endOf(
  program: ChildProcess,
): Promise<{ readonly said: string; readonly complaint: string; readonly failure: string | undefined }> {
  let [said, complaint] = ['', ''];
  program.stdout?.setEncoding('utf8').on('data', (text: string) => (said += text));
  program.stderr?.setEncoding('utf8').on('data', (text: string) => (complaint += text));
  const failure = await new Promise<string | undefined>((resolve) => {
    program.once('error', ({ message }) => {
      resolve(message);
    });
    program.once('close', (code, signal) => {
      const [first = ''] = complaint.trim().split('\n');
      if (code === 0) resolve(undefined);
      else resolve(first === '' ? `it ended with ${signal ?? `exit code ${String(code)}`}` : first);
    });
  });
  return { said, complaint, failure };
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The parts of a computer that decide whether a desktop app can open. */
export interface Computer {
  readonly platform: NodeJS.Platform;
  /** Undefined on Windows. */
  readonly userId: number | undefined;
  readonly environment: Environment;
  /** Reads a setting of Linux's kernel, `kernel/unprivileged_userns_clone` for example; undefined where there is none. */
  readonly kernelSetting: (name: string) => string | undefined;
}

const thisComputer: Computer = {
  platform: process.platform,
  userId: process.getuid?.(),
  environment: process.env,
  kernelSetting,
};

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
 * Why Chromium's sandbox cannot start here, which would end the app at once, and how to let it; undefined where it can.
 * @param helper Electron's chrome-sandbox. Where it belongs to root and is setuid, it works without user namespaces.
 */
export function sandboxObstacle(
  { platform, kernelSetting: setting }: Computer,
  helper: string,
): string | undefined {
  if (platform !== 'linux' || isSetuidRoot(helper)) return undefined;
  const forbidding = [
    ['kernel/apparmor_restrict_unprivileged_userns', '1'],
    ['kernel/unprivileged_userns_clone', '0'],
    ['user/max_user_namespaces', '0'],
  ] as const;
  const found = forbidding.find(([name, value]) => setting(name) === value);
  if (found === undefined) return undefined;
  const byHelper = existsSync(helper)
    ? `, or let Electron's helper start the sandbox: sudo chown root: '${helper}' && sudo chmod 4755 '${helper}'`
    : '';
  return `this system keeps user namespaces, and so Chromium's sandbox, from programs (${found.join('=')}). To get the desktop app, install its deb or rpm, which \`npm run package\` makes${byHelper}`;
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

/** The path of Electron's program in its distribution, as in Electron's install script. */
function programIn(distribution: string, platform: NodeJS.Platform): string {
  const programs: Partial<Record<NodeJS.Platform, string>> = {
    darwin: 'Electron.app/Contents/MacOS/Electron',
    win32: 'electron.exe',
  };
  return join(distribution, programs[platform] ?? 'electron');
}

/** The Electron that a shell would run; undefined where there is none. */
function programOnPath({ platform, environment }: Computer): string | undefined {
  const name = platform === 'win32' ? 'electron.exe' : 'electron';
  for (const directory of (environment['PATH'] ?? '').split(delimiter)) {
    // A relative entry means another directory each time.
    const entry = join(directory, name);
    if (!isAbsolute(directory) || !existsSync(entry)) continue;
    const program = realpathSync(entry);
    if (basename(program) !== 'cli.js') return program;
    // npm's launcher, which would fetch what is missing: npm puts the project's own first on the path of a script.
    const launched = programIn(join(dirname(program), 'dist'), platform);
    if (existsSync(launched)) return launched;
  }
  return undefined;
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

/** Options for running and watching a script that downloads a file. */
export interface Fetching {
  /** Path of the script, run by this Node. */
  readonly script: string;
  /** The directory it unpacks into; it downloads into the system's temporary directory. */
  readonly into: string;
  /** Milliseconds that it may be silent. */
  readonly idleMs: number;
  /** Milliseconds in all, so that a trickle ends too. */
  readonly totalMs: number;
}

/**
 * Runs the script until it ends, or until it has written nothing for too long: a network that drops packets answers no
 * connection and closes none.
 * @returns why it failed; undefined when it did not.
 */
export async function fetchWatched({ script, into, idleMs, totalMs }: Fetching): Promise<string | undefined> {
  const temporary = await mkdtemp(join(tmpdir(), 'keyhearth-electron-'));
  const fetching = spawn(process.execPath, [script], {
    env: {
      ...process.env,
      // By these, a mirror would say itself what its files are to be. The package has the digests of the real ones.
      electron_use_remote_checksums: undefined,
      npm_config_electron_use_remote_checksums: undefined,
      ELECTRON_GET_NO_PROGRESS: '1',
      // The download grows in here, where its progress shows and an interrupted one leaves nothing.
      TMPDIR: temporary,
      TMP: temporary,
      TEMP: temporary,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = endOf(fetching);
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
    const { failure } = await ended;
    return late ?? failure?.replace(/^\w*Error: /, '');
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

/**
 * The environment without what an installed app's fuses have Electron ignore. Some editors set both in their terminals: one
 * would make Electron a plain Node, the other opens debuggers and loads code.
 */
function forElectron({
  ELECTRON_RUN_AS_NODE: _,
  NODE_OPTIONS: __,
  ...environment
}: Environment): Environment {
  return environment;
}

/**
 * The reason why the program is not an Electron that can run this project: another version, or missing
 * libraries for example.
 */
async function programObstacle(
  program: string,
  wanted: string,
  environment: Environment,
): Promise<string | undefined> {
  const trial = spawn(program, ['--version'], {
    env: forElectron(environment),
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 20_000,
  });
  const { said, failure } = await endOf(trial);
  if (failure !== undefined) return `Electron's runtime does not start (${failure})`;
  const [, major] = /^v?(\d+)[.]\d+[.]\d+/.exec(said.trim()) ?? [];
  const [wantedMajor = ''] = wanted.split('.');
  if (major === wantedMajor) return undefined;
  const [first = ''] = said.trim().split('\n');
  return `${program} is no Electron ${wantedMajor} (it says ${JSON.stringify(first.slice(0, 40))})`;
}

/** The `electron` package: its directory, and the version that the project needs. */
export interface ElectronPackage {
  readonly directory: string;
  readonly version: string;
}

/** The path of a program, or why there is none. */
export type Search = { readonly program: string } | { readonly obstacle: string };

/**
 * Finds an Electron that can open a window here: the one in `ELECTRON_OVERRIDE_DIST_PATH` where that is set; else the
 * package's own, the first on the `PATH`, and at last the one that the package fetches.
 * @param fetchInto Fetches the distribution into its directory. @returns why it failed.
 */
export async function findElectron(
  computer: Computer,
  { directory, version }: ElectronPackage,
  fetchInto: (distribution: string) => Promise<string | undefined>,
): Promise<Search> {
  const nowhere = desktopObstacle(computer);
  if (nowhere !== undefined) return { obstacle: nowhere };
  const judge = async (program: string): Promise<Search> => {
    if (!existsSync(program)) return { obstacle: `Electron's runtime is not at ${program}` };
    const obstacle =
      sandboxObstacle(computer, join(dirname(program), 'chrome-sandbox')) ??
      (await programObstacle(program, version, computer.environment));
    return obstacle === undefined ? { program } : { obstacle };
  };
  const elsewhere = computer.environment['ELECTRON_OVERRIDE_DIST_PATH'];
  // A named place excludes all others.
  if (elsewhere) return judge(programIn(elsewhere, computer.platform));
  const distribution = join(directory, 'dist');
  const own = programIn(distribution, computer.platform);
  // Electron's install script writes this file when it is done.
  if (existsSync(join(directory, 'path.txt')) && existsSync(own)) return judge(own);
  const onPath = programOnPath(computer);
  const found = onPath === undefined ? undefined : await judge(onPath);
  if (found !== undefined && 'program' in found) return found;
  const failure = await fetchInto(distribution);
  if (failure === undefined) return judge(own);
  const passedOver = found === undefined ? '' : `; ${found.obstacle}`;
  return { obstacle: `Electron's runtime could not be fetched (${failure})${passedOver}` };
}

/** The path of an Electron that can open a window here, fetched first where there is none; or why there is none. */
async function electronHere(): Promise<Search> {
  let manifest: string;
  try {
    // The package's main module would start a download of its own.
    manifest = createRequire(import.meta.url).resolve('electron/package.json');
  } catch {
    return { obstacle: 'the "electron" package is not installed (npm install)' };
  }
  const directory = dirname(manifest);
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string };
  return findElectron(thisComputer, { directory, version }, (into) =>
    whileSaying(
      "Fetching Electron's runtime, once ...",
      fetchWatched({
        ...{ script: join(directory, 'install.js'), into },
        ...{ idleMs: 20_000, totalMs: 20 * 60_000 },
      }),
    ),
  );
}

/**
 * Starts Keyhearth from a checkout.
 * @param argv what follows `npm start --`, passed on as it is; `--build` alone builds and goes no further, for
 *   `npm install`, which must not take away the files of a running vault without need.
 */
async function start(argv: readonly string[]): Promise<void> {
  await whileSaying('Building ...', buildIfNeeded());
  if (argv[0] === '--build') return;
  const electron = await electronHere();
  if ('program' in electron) {
    await become(electron.program, [projectRoot, ...argv], forElectron(process.env));
    return;
  }
  process.stderr.write(`No desktop app: ${electron.obstacle}. The window opens in the browser instead.\n`);
  // In this process: one that npm ends, or that is killed, leaves no other behind it that holds the vault.
  const command = join(projectRoot, 'dist/main/cli.js');
  // As its launcher would: what the command prints can be pasted where `npm start` was typed.
  process.env['KEYHEARTH_LAUNCHED_AS'] =
    process.env['INIT_CWD'] === projectRoot ? './keyhearth' : join(projectRoot, 'keyhearth');
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
