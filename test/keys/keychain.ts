/**
 * A real keyring (gnome-keyring on a D-Bus session of its own, in a temporary home directory), and processes
 * that use it. The keyring of the person who runs the tests is never used.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, constants, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { compileCache } from '../support/compile-cache.ts';
import type { Answer, Step } from './keychain-child.ts';

const run = promisify(execFile);

const tools = ['dbus-run-session', 'dbus-send', 'gnome-keyring-daemon'];
const install = 'install what is missing with: apt-get install -y gnome-keyring dbus libsecret-1-0';

const unlock = String.raw`printf 'the password of a test keyring\n' | gnome-keyring-daemon --replace --unlock --components=secrets`;

/** Says where the bus is and lives as long as its standard input is open; the bus and its services end with it. */
const session = String.raw`set -e
if [ "$1" = unlocked ]; then ${unlock} >/dev/null; fi
printf 'bus %s\n' "$DBUS_SESSION_BUS_ADDRESS"
exec cat >/dev/null`;

/** A bus that knows of no service to start. */
const bareBus = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
  "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:tmpdir=/tmp</listen>
  <policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/></policy>
</busconfig>
`;

/** All the variables of a process. */
export type Environment = Readonly<Record<string, string>>;

/**
 * `unlocked`: a keyring with an open `login` collection. `new`: one that starts on demand, holds no
 * collection, and finds no person to ask for a password. `bus`: a D-Bus session without a Secret Service.
 * `none`: no D-Bus session either.
 */
export type Start = 'unlocked' | 'new' | 'bus' | 'none';

export interface KeyringSession extends AsyncDisposable {
  /** The environment of a process that uses this keyring, and nothing of the machine's. */
  readonly environment: Environment;
  /** Locks the `login` collection. */
  lock(): Promise<void>;
  /** Unlocks the `login` collection, and makes one where there is none. */
  unlock(): Promise<void>;
  /** Stops the keyring's process: it is there and does not answer. @returns the function that lets it go on. */
  pause(): Promise<() => void>;
}

/** @throws Error with the line that installs what is missing. */
export async function startKeyring(start: Start): Promise<KeyringSession> {
  for (const tool of tools) await checkTool(tool);
  const home = await mkdtemp(join(tmpdir(), 'keyhearth-keyring-'));
  let bus: Bus | undefined;
  const dispose = async (): Promise<void> => {
    await bus?.end();
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    let environment = await homeEnvironment(home);
    if (start !== 'none') {
      const config = join(home, 'bare-bus.conf');
      await writeFile(config, bareBus);
      bus = await startBus(start, start === 'bus' ? [`--config-file=${config}`] : [], environment);
      environment = { ...environment, DBUS_SESSION_BUS_ADDRESS: bus.address };
    }
    if (start === 'unlocked') await checkWorks(environment);
    return keyringSession(environment, dispose);
  } catch (error) {
    await dispose();
    throw error;
  }
}

/**
 * Runs steps in one new process.
 * @returns Their answers, and how long the process lived once it was loaded, in milliseconds.
 * @throws Error where the process fails, or does not end by itself within a minute.
 */
export async function inProcess(
  environment: Environment,
  steps: readonly Step[],
): Promise<{ answers: Answer[]; lifetime: number }> {
  const started = performance.now();
  const script = fileURLToPath(new URL('./keychain-child.ts', import.meta.url));
  const { stdout } = await run(process.execPath, [script, JSON.stringify(steps)], {
    env: { ...environment, ...compileCache },
    timeout: 60_000,
    killSignal: 'SIGKILL',
  });
  const { begun, answers } = JSON.parse(stdout) as { begun: number; answers: Answer[] };
  return { answers, lifetime: performance.now() - started - begun };
}

async function checkTool(tool: string): Promise<void> {
  for (const directory of (process.env['PATH'] ?? '').split(delimiter)) {
    try {
      await access(join(directory, tool), constants.X_OK);
      return;
    } catch {
      // Not in this directory.
    }
  }
  throw new Error(`${tool} is not on the PATH; ${install}`);
}

/** That a keyring works is checked once here, so that a test that fails has found something about Keyhearth. */
async function checkWorks(environment: Environment): Promise<void> {
  const { answers } = await inProcess(environment, [{ do: 'probe' }]);
  const [answer] = answers;
  const state = answer !== undefined && 'value' in answer ? answer.value : null;
  if (state === null || typeof state === 'string' || !('available' in state) || !state.available) {
    throw new Error(`The test keyring does not work: ${JSON.stringify(answer)}; ${install}`);
  }
}

async function homeEnvironment(home: string): Promise<Environment> {
  const environment: Record<string, string> = {
    PATH: process.env['PATH'] ?? '',
    LANG: 'C.UTF-8',
    HOME: home,
  };
  for (const name of ['RUNTIME_DIR', 'DATA_HOME', 'CONFIG_HOME', 'CACHE_HOME']) {
    const directory = join(home, name.toLowerCase());
    await mkdir(directory, { mode: 0o700 });
    environment[`XDG_${name}`] = directory;
  }
  return environment;
}

interface Bus {
  readonly address: string;
  end(): Promise<void>;
}

async function startBus(start: Start, options: readonly string[], environment: Environment): Promise<Bus> {
  const child = spawn('dbus-run-session', [...options, '--', 'sh', '-c', session, 'sh', start], {
    env: environment,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const said: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => said.push(text));
  const exited = once(child, 'exit');
  const end = async (): Promise<void> => {
    child.stdin.end();
    await exited;
    // The services of the bus hold the other ends of these for as long as they take to end.
    child.stdout.destroy();
    child.stderr.destroy();
  };
  for await (const line of createInterface(child.stdout)) {
    if (line.startsWith('bus ')) return { address: line.slice('bus '.length), end };
  }
  await end();
  throw new Error(`The D-Bus session of the test keyring did not start: ${said.join('')}`);
}

function keyringSession(environment: Environment, dispose: () => Promise<void>): KeyringSession {
  const send = async (destination: string, path: string, ...message: string[]): Promise<string> => {
    const options = ['--session', '--print-reply', `--dest=${destination}`, path];
    return (await run('dbus-send', [...options, ...message], { env: environment, timeout: 10_000 })).stdout;
  };
  const service = 'org.freedesktop.secrets';
  const root = '/org/freedesktop/secrets';
  return {
    environment,
    lock: async () => {
      const login = `array:objpath:${root}/collection/login`;
      await send(service, root, 'org.freedesktop.Secret.Service.Lock', login);
    },
    unlock: async () => {
      await run('sh', ['-c', unlock], { env: environment, timeout: 10_000 });
    },
    pause: async () => {
      const dbus = 'org.freedesktop.DBus';
      const answer = await send(dbus, '/', `${dbus}.GetConnectionUnixProcessID`, `string:${service}`);
      const pid = Number(/uint32 (\d+)/.exec(answer)?.[1]);
      process.kill(pid, 'SIGSTOP');
      return () => {
        process.kill(pid, 'SIGCONT');
      };
    },
    [Symbol.asyncDispose]: dispose,
  };
}
