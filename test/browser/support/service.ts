/** The built `keyhearth` command as a service with a window, on a vault of its own. */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { join } from 'node:path';

import {
  CommandProcess,
  runCommand,
  startTestVault,
  temporaryDirectory,
  TestClient,
  testKeyOf,
} from '../../support/support.ts';
import type { TestVault } from '../../support/support.ts';
import { systemClock } from '../../../main/lib/clock.ts';
import type { Environment } from '../../keys/keychain.ts';
import { password } from './steps.ts';

/** A running service; disposing it ends the process and leaves the vault. */
export interface Service extends AsyncDisposable {
  readonly url: string;
  /** The link that signs one browser in, once. */
  readonly windowUrl: string;
  /** The origin of the link: the same service, by name. */
  readonly windowOrigin: string;
  stop(): Promise<void>;
  /** Its standard error, which receives its own faults. */
  stderr(): string;
}

/** `keyhearth dev`, with a client that may do everything. */
export interface DevService extends Service {
  readonly root: TestClient;
  /** The recovery phrase that opens it. */
  readonly recoveryPhrase: string;
}

/** A vault with a window that this process serves, by the system's clock: a test changes it without the window's knowledge. */
export const startWindowVault = (): Promise<TestVault> =>
  startTestVault({ password, config: { ui: true }, substitutes: { clock: systemClock } });

/** A vault's directory, served or not. */
export interface VaultHome extends Disposable {
  /** The vault's own directory. */
  readonly path: string;
  /** @param port 0 for any free one. */
  serve(port?: number): Promise<Service>;
  /** Serves with whatever keychain there is in the environment of a keyring's session. */
  serveWithKeychain(keyring: Environment): Promise<Service>;
  /** A link for one more browser, from the service that runs: `keyhearth open`. */
  newLink(): Promise<string>;
  /** Has the service that runs make a backup of its open vault. */
  backUp(file: string): Promise<void>;
  /** Runs `keyhearth settings set` beside the window. */
  changeSetting(name: string, value: string): Promise<void>;
}

/** A port for a service that returns to it: from below those that a system assigns for port 0. */
export async function portToKeep(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => {
        resolve(false);
      });
      server.listen(port, '127.0.0.1', () => {
        resolve(true);
      });
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}

interface ReadyLine {
  readonly url: string;
  readonly windowUrl: string;
}

interface DevLine extends ReadyLine {
  readonly organizationId: string;
  readonly apiPublicKey: string;
  readonly apiPrivateKey: string;
  readonly recoveryPhrase: string;
}

interface Started<Line> extends Service {
  readonly line: Line;
}

async function start<Line extends ReadyLine>(
  argv: readonly string[],
  environment: Environment = {},
): Promise<Started<Line>> {
  const process = new CommandProcess(argv, { environment });
  try {
    const line = JSON.parse(await process.nextLine()) as Line;
    const { url, windowUrl } = line;
    const stop = async (): Promise<void> => {
      await process.stop();
    };
    const windowOrigin = new URL(windowUrl).origin;
    return {
      line,
      url,
      windowUrl,
      windowOrigin,
      stop,
      stderr: () => process.stderr,
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await process[Symbol.asyncDispose]();
    throw error;
  }
}

/** A directory for a vault that does not exist yet; no keychain is used unless one is given. */
export function newVaultHome(): VaultHome {
  const directory = temporaryDirectory();
  const places = [
    '--data-dir',
    join(directory.path, 'vault'),
    '--config-dir',
    join(directory.path, 'config'),
  ];
  /** @returns what a command says about the service that runs. */
  const tell = async (...argv: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await runCommand([...argv, '--json', ...places]);
    if (code !== 0) throw new Error(`keyhearth ${argv.join(' ')} ended with ${String(code)}: ${stderr}`);
    return stdout;
  };
  return {
    path: join(directory.path, 'vault'),
    serve: (port = 0) =>
      start(['serve', '--ui', '--port', String(port), '--json', '--no-keychain', ...places]),
    serveWithKeychain: (keyring) => start(['serve', '--ui', '--port', '0', '--json', ...places], keyring),
    newLink: async () => {
      const { windowUrl } = JSON.parse(await tell('open', '--no-browser')) as { windowUrl: string };
      return windowUrl;
    },
    backUp: async (file) => {
      await tell('backup', file);
    },
    changeSetting: async (name, value) => {
      await tell('settings', 'set', name, value);
    },
    [Symbol.dispose]: () => {
      directory[Symbol.dispose]();
    },
  };
}

/** A vault in memory, made and unlocked already: `keyhearth dev`. */
export async function serveDevVault(more: readonly string[] = []): Promise<DevService> {
  const service = await start<DevLine>(['dev', '--ui', '--port', '0', '--json', ...more]);
  const { url, organizationId, apiPrivateKey, apiPublicKey, recoveryPhrase } = service.line;
  const root = new TestClient(url, organizationId, testKeyOf(apiPrivateKey, apiPublicKey));
  return { ...service, root, recoveryPhrase };
}
