/** `keyhearth service`: `keyhearth serve` whenever its user is signed in, run by systemd or launchd. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { makeDirectory } from '../../files/directories.ts';
import type { Config } from '../../app/config.ts';
import { homeDirectory } from '../../app/home-directory.ts';
import { replaceFile } from '../../files/new-files.ts';
import { noVault } from '../shared/client.ts';
import { CommandError, exitCodes, note, print } from '../shared/output.ts';
import { launchdAgent, launchdLabel, madeBy, systemdName, systemdUnit } from './service-files.ts';
import type { ServiceSpecification } from './service-files.ts';
import { programPath } from '../../app/program-path.ts';
import { thisProgram } from '../../app/this-program.ts';
import { hasVaultFile } from '../shared/vault-file.ts';
import { oneAfterAnotherLater } from './one-after-another.ts';

export interface InstallOptions {
  readonly port?: string;
  readonly ui?: boolean;
  readonly allowOrigin?: readonly string[];
  readonly oidcIssuer?: readonly string[];
  readonly rpId?: string;
  readonly keychain: boolean;
  readonly passwordFile?: string;
  /** Write the file to standard output, and change nothing. */
  readonly print?: boolean;
  readonly json: boolean;
}

/** A manager of services for a user. */
interface Manager {
  readonly file: string;
  readonly fileOf: (specification: ServiceSpecification) => string;
  /** Loads the file, and starts the service or restarts it. */
  readonly start: () => Promise<void>;
  /** Ends the service and lets it go; the file is removed after it. */
  readonly stop: () => Promise<void>;
  readonly forget: () => Promise<void>;
  readonly isRunning: () => Promise<boolean>;
  /** The command that shows the service's log. */
  readonly log: string;
  readonly hint: string;
}

/** Creates or replaces the service, and starts it. */
export async function installService(config: Config, options: InstallOptions): Promise<void> {
  const manager = managerOf(config);
  const { passwordFile } = options;
  const text = manager.fileOf({
    command: [...lastingProgram(), ...serveArguments(config, options)],
    ...(passwordFile === undefined ? {} : { passwordFile: existing(passwordFile) }),
  });
  if (options.print === true) {
    process.stdout.write(text);
    return;
  }
  const { dataDirectory } = config;
  if (dataDirectory === null || !hasVaultFile(dataDirectory)) {
    throw noVault(String(dataDirectory));
  }
  await oneAfterAnotherLater(config, async () => {
    if (existsSync(manager.file)) refuseStrangers(manager.file);
    makeDirectory(dirname(manager.file));
    replaceFile(manager.file, text);
    await manager.start();
    const isRunning = await startsToRun(manager);
    if (!isRunning) process.exitCode = exitCodes.failed;
    print(options.json, { file: manager.file, running: isRunning }, [
      `${isRunning ? 'The service runs' : 'The service is installed, but does not run'}: ${manager.file}`,
      `Log: ${manager.log}`,
      ...(isRunning ? [manager.hint] : []),
    ]);
  });
}

/** Milliseconds. Managers come to it in a moment. */
const startMs = 3000;

/** @returns false where the service ended at once, or was not begun in time. */
async function startsToRun({ isRunning }: Manager): Promise<boolean> {
  const end = performance.now() + startMs;
  while (performance.now() < end) {
    if (await isRunning()) return true;
    await setTimeout(100);
  }
  return false;
}

/** Ends the service and removes its file; the vault stays. */
export async function uninstallService(config: Config, json: boolean): Promise<void> {
  const manager = managerOf(config);
  const removed = await oneAfterAnotherLater(config, async () => {
    if (!existsSync(manager.file)) return false;
    refuseStrangers(manager.file);
    await manager.stop();
    rmSync(manager.file);
    await manager.forget();
    return true;
  });
  print(
    json,
    { file: manager.file, removed },
    removed
      ? 'The service was removed. The vault stays where it is.'
      : `No service is installed: ${manager.file} does not exist.`,
  );
}

export async function serviceStatus(config: Config, json: boolean): Promise<void> {
  const manager = managerOf(config);
  const installed = existsSync(manager.file);
  const isRunning = installed && (await manager.isRunning());
  if (!isRunning) process.exitCode = exitCodes.absent;
  print(
    json,
    { file: manager.file, installed, running: isRunning },
    installed
      ? `The service ${isRunning ? 'runs' : 'does not run'}: ${manager.file}\nLog: ${manager.log}`
      : 'No service is installed. Install one with `keyhearth service install`.',
  );
}

function serveArguments(config: Config, options: InstallOptions): string[] {
  const repeated = (flag: string, values: readonly string[]): string[] =>
    values.flatMap((value) => [flag, value]);
  return [
    'serve',
    // Services have an environment of their own.
    ...['--data-dir', String(config.dataDirectory)],
    ...(options.port === undefined ? [] : ['--port', options.port]),
    ...(options.ui === true ? ['--ui'] : []),
    ...repeated('--allow-origin', options.allowOrigin ?? []),
    ...repeated('--oidc-issuer', options.oidcIssuer ?? []),
    ...(options.rpId === undefined ? [] : ['--rp-id', options.rpId]),
    ...(options.keychain ? [] : ['--no-keychain']),
  ];
}

/** @returns the words that start the service, with a note where they will not work for long. */
function lastingProgram(): readonly [string, ...string[]] {
  const program = thisProgram();
  const [, script = ''] = program;
  if (/[\\/]_npx[\\/]/.test(script)) {
    note(
      `${script} is in npm's cache, which npm may empty. Install Keyhearth so that the service keeps working.`,
    );
  }
  return program;
}

function existing(file: string): string {
  const path = resolve(file);
  if (existsSync(path)) return path;
  throw new CommandError(exitCodes.usage, `--password-file ${file} does not exist`);
}

function refuseStrangers(file: string): void {
  if (readFileSync(file, 'utf8').includes(madeBy)) return;
  throw new CommandError(
    exitCodes.failed,
    `${file} was not written by this command. Move it away first, and compare it with \`keyhearth service install --print\``,
  );
}

function managerOf(config: Config): Manager {
  const manager = managers[process.platform];
  if (manager !== undefined) return manager(config);
  throw new CommandError(
    exitCodes.failed,
    `a service needs systemd on Linux or launchd on macOS: on ${process.platform}, let the system's scheduler run \`keyhearth serve\` when you sign in`,
  );
}

const managers: Partial<Record<NodeJS.Platform, (config: Config) => Manager>> = {
  linux: systemd,
  darwin: launchd,
};

function systemd({ unitDirectory }: Config): Manager {
  const systemctl = (...words: string[]): Promise<string> => run('systemctl', ['--user', ...words]);
  return {
    file: join(unitDirectory, systemdName),
    fileOf: systemdUnit,
    async start() {
      await systemctl('daemon-reload');
      await systemctl('enable', systemdName);
      await systemctl('restart', systemdName);
    },
    async stop() {
      await systemctl('disable', '--now', systemdName);
    },
    async forget() {
      await systemctl('daemon-reload');
    },
    isRunning: () =>
      systemctl('is-active', '--quiet', systemdName).then(
        () => true,
        () => false,
      ),
    log: `journalctl --user --unit ${systemdName}`,
    hint: 'The service runs while you are signed in. `loginctl enable-linger` keeps it running afterwards.',
  };
}

function launchd(): Manager {
  const domain = `gui/${String(process.getuid?.() ?? 0)}`;
  const target = `${domain}/${launchdLabel}`;
  const file = join(homeDirectory(), 'Library', 'LaunchAgents', `${launchdLabel}.plist`);
  const log = join(homeDirectory(), 'Library', 'Logs', 'Keyhearth.log');
  const isLoaded = (): Promise<boolean> =>
    run('launchctl', ['print', target]).then(
      () => true,
      () => false,
    );
  const stop = async (): Promise<void> => {
    if (await isLoaded()) await run('launchctl', ['bootout', target]);
  };
  return {
    file,
    fileOf: (specification) => launchdAgent(specification, log),
    async start() {
      await stop();
      await run('launchctl', ['bootstrap', domain, file]);
    },
    stop,
    forget: () => Promise.resolve(),
    isRunning: () =>
      run('launchctl', ['print', target]).then(
        (text) => /^\s*state = running$/m.test(text),
        () => false,
      ),
    log,
    hint: 'The service runs while you are signed in.',
  };
}

/** @throws CommandError with what the program said. */
function run(program: string, argv: readonly string[]): Promise<string> {
  return new Promise((done, reject) => {
    execFile(programPath(program), argv, { encoding: 'utf8', timeout: 60_000 }, (error, stdout, stderr) => {
      if (error === null) {
        done(stdout);
        return;
      }
      const said = stderr.trim() === '' ? error.message : stderr.trim();
      reject(new CommandError(exitCodes.failed, `\`${[program, ...argv].join(' ')}\` failed: ${said}`));
    });
  });
}
