/** Settings from arguments and environment, as one frozen value. The only reader of the environment. */
import { realpathSync } from 'node:fs';
import { platform } from 'node:os';
import { dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import packageJson from '../../package.json' with { type: 'json' };
import { defined } from '../lib/defined.ts';
import { endsWithParent } from './parent.ts';
import { homeDirectory } from './home-directory.ts';
import { formerTitle } from '../lib/text/former-name.ts';
import { ExplainedError } from '../lib/errors.ts';

export const version: string = packageJson.version;

export const defaultPort = 7377;

/** A vault that commands reach by its URL, as options and environment name it. Nothing of it is checked yet. */
export interface RemoteNames {
  readonly url?: string;
  readonly organizationId?: string;
  /** Hex, uncompressed: the key that the vault signs bundles of secrets with. */
  readonly signer?: string;
  /** A file with the line that `keyhearth dev` writes. */
  readonly vaultFile?: string;
  /** Allows requests to other machines without TLS. */
  readonly allowHttp: boolean;
}

export interface Config {
  /** The vault's directory; null for a vault in memory. */
  readonly dataDirectory: string | null;
  /** The directory of API key pair files. */
  readonly keysDirectory: string;
  /** The vault that commands speak to, where it is not this machine's own. */
  readonly remote: RemoteNames | undefined;
  /** A secret: a key pair in hex, or the path of a file that holds one. Undefined where the command line names another key. */
  readonly apiKey: string | undefined;
  /** True if the command line names key files. */
  readonly apiKeyNamed: boolean;
  /** Both directories under the product's former name; undefined if the owner chose a directory. */
  readonly former: { readonly data: string; readonly keys: string } | undefined;
  /** For how many seconds a command waits for the approvals of others. */
  readonly waitSeconds: number;
  /** 0 for any free port; null where none is given: the vault's settings have it then, or it is `defaultPort`. */
  readonly port: number | null;
  /** Serves the window on the HTTP port too. */
  readonly ui: boolean;
  /** Browser origins that may call the API, as browsers write them: `https://app.example`. */
  readonly allowedOrigins: readonly string[];
  /** The addresses beside loopback that `dev` listens on, and the Host headers beside loopback's that it answers. */
  readonly exposure: { readonly address: string | undefined; readonly hosts: readonly string[] };
  /** Allows every page on this machine's loopback addresses to call the API. */
  readonly allowLoopbackOrigins: boolean;
  /** The relying party of passkeys: a host name, `localhost` unless set. */
  readonly rpId: string;
  /** OpenID Connect issuers whose tokens sign users in; no other is contacted. */
  readonly oidcIssuers: readonly string[];
  /** Allows an issuer on this machine, without TLS. */
  readonly allowLoopbackIssuers: boolean;
  /** Allows the operating system's keychain. */
  readonly useKeychain: boolean;
  /** Linux: the address of the D-Bus session, on which the keychain is. */
  readonly sessionBus: string | undefined;
  /** Linux: the address of the system's D-Bus, on which logind is. */
  readonly systemBus: string;
  /** Linux: what logind calls the session, where this runs in one. */
  readonly loginSession: string | undefined;
  /** Linux: `wayland` or `x11`, where this runs in a desktop session. */
  readonly sessionType: string | undefined;
  /** Linux: a directory of this user alone, which goes with the session. */
  readonly runtimeDirectory: string | undefined;
  /** Linux: the file of the AppImage that this runs from; what it is unpacked to is gone after it. */
  readonly appImage: string | undefined;
  /** The directory in which systemd puts this service's credentials. */
  readonly credentialsDirectory: string | undefined;
  /** Linux: where the user's own systemd looks for units. */
  readonly unitDirectory: string;
  /** For what the user's vaults share, whichever of them is meant. */
  readonly userDirectory: string;
  /** Ends a long-running process with the process that started it. */
  readonly endsWithParent: boolean;
  /** Logs each request, and copies the whole log to standard error. */
  readonly verbose: boolean;
  /** The built window. */
  readonly rendererDirectory: string;
  /** The code of the API's reference page. */
  readonly referenceDirectory: string;
  /** The pages of the documentation. */
  readonly siteDirectory: string;
}

/** Options of the command line; each is optional. */
export interface ConfigOptions {
  readonly dataDir?: string | undefined;
  readonly configDir?: string | undefined;
  readonly port?: string | undefined;
  readonly ui?: boolean | undefined;
  readonly allowOrigin?: readonly string[] | undefined;
  readonly rpId?: string | undefined;
  readonly oidcIssuer?: readonly string[] | undefined;
  readonly keychain?: boolean | undefined;
  readonly verbose?: boolean | undefined;
  readonly url?: string | undefined;
  readonly organizationId?: string | undefined;
  readonly vaultFile?: string | undefined;
  readonly allowHttp?: boolean | undefined;
  readonly wait?: string | undefined;
  /** The name of key files, where the command line has one. */
  readonly apiKey?: string | undefined;
}

/** A setting that cannot be used; the message names it. */
export class ConfigError extends ExplainedError {
  override readonly name = 'ConfigError';
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Options win over the environment (`KEYHEARTH_…`), that over defaults. */
export function makeConfig(options: ConfigOptions, variables: Environment = process.env): Config {
  const environment = usable(variables);
  const usual = defaultDirectories('Keyhearth', environment);
  const chosen = [
    options.dataDir,
    options.configDir,
    environment['KEYHEARTH_DATA_DIR'],
    environment['KEYHEARTH_CONFIG_DIR'],
  ];
  const former = defaultDirectories(formerTitle, environment);
  return Object.freeze({
    former: chosen.every((each) => each === undefined)
      ? { data: former.data, keys: join(former.config, 'keys') }
      : undefined,
    dataDirectory: vaultPath(options.dataDir ?? environment['KEYHEARTH_DATA_DIR'] ?? usual.data),
    keysDirectory: join(
      resolve(options.configDir ?? environment['KEYHEARTH_CONFIG_DIR'] ?? usual.config),
      'keys',
    ),
    remote: remoteNames(options, environment),
    apiKey:
      options.apiKey === undefined && options.vaultFile === undefined
        ? environment['KEYHEARTH_API_KEY']
        : undefined,
    apiKeyNamed: options.apiKey !== undefined,
    waitSeconds: secondsOf(options.wait),
    port: portNumber(options.port ?? environment['KEYHEARTH_PORT']),
    ui: options.ui ?? false,
    allowedOrigins: (options.allowOrigin ?? []).map(origin),
    exposure: { address: undefined, hosts: [] },
    allowLoopbackOrigins: false,
    rpId: hostName(options.rpId ?? environment['KEYHEARTH_RP_ID'] ?? 'localhost'),
    oidcIssuers: (options.oidcIssuer ?? []).map(issuer),
    allowLoopbackIssuers: false,
    useKeychain: options.keychain ?? true,
    sessionBus: sessionBusAddress(environment),
    systemBus: environment['DBUS_SYSTEM_BUS_ADDRESS'] ?? 'unix:path=/run/dbus/system_bus_socket',
    loginSession: environment['XDG_SESSION_ID'],
    sessionType: environment['XDG_SESSION_TYPE'],
    runtimeDirectory: environment['XDG_RUNTIME_DIR'],
    appImage: appImageOf(environment),
    credentialsDirectory: environment['CREDENTIALS_DIRECTORY'],
    unitDirectory: join(
      environment['XDG_CONFIG_HOME'] ?? join(homeDirectory(), '.config'),
      'systemd',
      'user',
    ),
    userDirectory: usual.config,
    endsWithParent: endsWithParent(environment, process.ppid),
    verbose: options.verbose ?? false,
    rendererDirectory: built('renderer'),
    referenceDirectory: built('reference'),
    siteDirectory: built('site'),
  });
}

/** The desktop app's settings, from its arguments; what Chromium and the system add to them is passed over. */
export function readConfig(argv: readonly string[], environment: Environment = process.env): Config {
  const { values } = parseArgs({
    args: [...argv],
    strict: false,
    options: {
      'data-dir': { type: 'string' },
      'config-dir': { type: 'string' },
      port: { type: 'string' },
      'allow-origin': { type: 'string', multiple: true },
      'rp-id': { type: 'string' },
      'oidc-issuer': { type: 'string', multiple: true },
      verbose: { type: 'boolean' },
    },
  });
  const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
  const texts = (list: readonly unknown[] = []): string[] =>
    list.filter((value) => typeof value === 'string');
  return makeConfig(
    {
      dataDir: text(values['data-dir']),
      configDir: text(values['config-dir']),
      port: text(values.port),
      allowOrigin: texts(values['allow-origin']),
      rpId: text(values['rp-id']),
      oidcIssuer: texts(values['oidc-issuer']),
      verbose: values.verbose === true,
    },
    environment,
  );
}

/**
 * The arguments that start the desktop app with this configuration from any directory and without its
 * environment. Paths are absolute, and defaults are left out.
 */
export function startArguments(
  config: Config,
  environment: Environment = process.env,
): {
  readonly args: readonly string[];
  /** The vault's directory where it is not the default. */ readonly elsewhere?: string;
} {
  const { LOCALAPPDATA, APPDATA } = environment;
  const usual = makeConfig({}, { LOCALAPPDATA, APPDATA });
  const { dataDirectory, keysDirectory, port, allowedOrigins, rpId, oidcIssuers } = config;
  const elsewhere =
    dataDirectory === null || dataDirectory === usual.dataDirectory ? undefined : dataDirectory;
  const args = [
    ...(elsewhere === undefined ? [] : [`--data-dir=${elsewhere}`]),
    ...(keysDirectory === usual.keysDirectory ? [] : [`--config-dir=${dirname(keysDirectory)}`]),
    ...(port === null ? [] : [`--port=${String(port)}`]),
    ...allowedOrigins.map((each) => `--allow-origin=${each}`),
    ...(rpId === usual.rpId ? [] : [`--rp-id=${rpId}`]),
    ...oidcIssuers.map((each) => `--oidc-issuer=${each}`),
  ];
  return { args, ...defined({ elsewhere }) };
}

/** Prompts, and programs that a command starts, go by the same variables. */
export function turnColorsOff(environment: NodeJS.ProcessEnv = process.env): void {
  environment['NO_COLOR'] = '1';
  delete environment['FORCE_COLOR'];
}

/**
 * Takes away the name by which the launcher of a checkout was started: programs that this process starts do not inherit it.
 * @returns undefined where no launcher started this process.
 */
export function takeLauncher(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  const name = environment['KEYHEARTH_LAUNCHED_AS'];
  delete environment['KEYHEARTH_LAUNCHED_AS'];
  return name;
}

/**
 * Takes away what would have the keychain's library keep secrets in a file that the environment names, under a password that it
 * has. libsecret has these for its own tests.
 */
export function takeOtherKeyrings(environment: NodeJS.ProcessEnv = process.env): void {
  for (const name of ['SECRET_BACKEND', 'SECRET_FILE_TEST_PATH', 'SECRET_FILE_TEST_PASSWORD']) {
    Reflect.deleteProperty(environment, name);
  }
}

/** The variables by which a command, and what it starts, reach a vault. */
export interface VaultVariables {
  readonly KEYHEARTH_URL: string;
  readonly KEYHEARTH_ORGANIZATION: string;
  readonly KEYHEARTH_SIGNER: string;
  readonly KEYHEARTH_API_KEY: string;
}

/** @returns this process's environment with those variables in place of all that names another vault. */
export function environmentWith(
  variables: VaultVariables,
  environment: Environment = process.env,
): Environment {
  return { ...environment, KEYHEARTH_VAULT_FILE: undefined, ...variables };
}

/**
 * @returns this process's environment with more variables, for a program that gets no more of a vault than they say: the key
 * that reaches the vault stays behind.
 */
export const environmentWithoutKey = (variables: Environment = {}): Environment => ({
  ...process.env,
  KEYHEARTH_API_KEY: undefined,
  ...variables,
});

/**
 * A vault file among the options stands for all variables, and a vault's directory there for a vault of this machine: what
 * is named on the command line is not mixed with a vault that the environment names.
 */
function remoteNames(options: ConfigOptions, environment: Environment): RemoteNames | undefined {
  const { url, organizationId, vaultFile, dataDir, allowHttp } = options;
  const variables = vaultFile === undefined && dataDir === undefined ? environment : {};
  const names = defined({
    url: url ?? variables['KEYHEARTH_URL'],
    organizationId: organizationId ?? variables['KEYHEARTH_ORGANIZATION'],
    signer: variables['KEYHEARTH_SIGNER'],
    vaultFile: vaultFile ?? variables['KEYHEARTH_VAULT_FILE'],
  });
  if (Object.keys(names).length === 0) return undefined;
  return { ...names, allowHttp: allowHttp ?? environment['KEYHEARTH_ALLOW_HTTP'] === '1' };
}

/** Programs that an AppImage starts inherit its variables, as those of a terminal do: they count where this program is in it. */
function appImageOf({ APPIMAGE: file, APPDIR: mounted }: Environment): string | undefined {
  if (mounted === undefined) return undefined;
  try {
    return process.execPath.startsWith(realpathSync(mounted) + sep) ? file : undefined;
  } catch {
    return undefined;
  }
}

/** The address of the D-Bus session, found as GLib does, which the keychain library uses. */
export function sessionBusAddress(environment: Environment): string | undefined {
  const address = environment['DBUS_SESSION_BUS_ADDRESS'];
  if (address !== undefined && address !== '') return address;
  const directory = environment['XDG_RUNTIME_DIR'];
  return directory === undefined || directory === ''
    ? undefined
    : `unix:path=${encodeURIComponent(directory).replaceAll('%2F', '/')}/bus`;
}

/** In bytes. SQLite takes 504 for a file, and the longest name of one there is `vault.db.restore`. */
const longestVaultPath = 504 - '/vault.db.restore'.length;

/** @throws ConfigError for a directory in which SQLite could open no file. */
function vaultPath(text: string): string {
  const path = resolve(text);
  const bytes = Buffer.byteLength(path);
  if (bytes <= longestVaultPath) return path;
  throw new ConfigError(
    `the path of the vault’s directory is too long: it has ${String(bytes)} bytes, and SQLite takes at most ${String(longestVaultPath)}. Choose a shorter one: ${path}`,
  );
}

/**
 * @returns the variables without empty ones, and without relative XDG directories, which that specification ignores. Either
 * would put the vault into the working directory.
 */
const usable = (environment: Environment): Environment =>
  Object.fromEntries(
    Object.entries(environment).filter(
      ([name, value = '']) => value !== '' && (!/^XDG_\w+_HOME$/.test(name) || isAbsolute(value)),
    ),
  );

/** Votes lapse after a day. */
const longestWait = 24 * 60 * 60;

function secondsOf(wait: string | undefined): number {
  if (wait === undefined) return 0;
  const seconds = /^[0-9]{1,5}$/.test(wait) ? Number(wait) : 0;
  if (seconds >= 1 && seconds <= longestWait) return seconds;
  throw new ConfigError(
    `invalid --wait ${JSON.stringify(wait)}: expected seconds, from 1 to ${String(longestWait)}`,
  );
}

function portNumber(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^[0-9]{1,5}$/.test(text) || Number(text) > 65_535) {
    throw new ConfigError(
      `invalid port ${JSON.stringify(text)}: expected a number from 0 (any free port) to 65535`,
    );
  }
  return Number(text);
}

function origin(text: string): string {
  const parsed = URL.parse(text);
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || parsed.origin !== text) {
    throw new ConfigError(
      `invalid origin ${JSON.stringify(text)}: expected scheme, host and port alone, like https://app.example:8443`,
    );
  }
  return text;
}

function hostName(text: string): string {
  if (URL.parse(`https://${text}`)?.host !== text) {
    throw new ConfigError(
      `invalid relying party ID ${JSON.stringify(text)}: expected a host name alone, in lower case, like localhost or vault.example`,
    );
  }
  return text;
}

function issuer(text: string): string {
  const parsed = URL.parse(text);
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || /[?#@]/.test(text)) {
    throw new ConfigError(
      `invalid issuer ${JSON.stringify(text)}: expected its URL as its tokens write it, like https://accounts.example`,
    );
  }
  return text;
}

/**
 * The default data and configuration directories of a product for this user.
 * @param product Begins with a capital.
 */
function defaultDirectories(
  product: string,
  environment: Environment,
): { readonly data: string; readonly config: string } {
  const home = homeDirectory();
  switch (platform()) {
    case 'darwin':
      return {
        data: join(home, 'Library', 'Application Support', product),
        config: join(home, 'Library', 'Preferences', product),
      };
    case 'win32':
      return {
        data: join(environment['LOCALAPPDATA'] ?? join(home, 'AppData', 'Local'), product),
        config: join(environment['APPDATA'] ?? join(home, 'AppData', 'Roaming'), product),
      };
    default:
      return {
        data: join(environment['XDG_DATA_HOME'] ?? join(home, '.local', 'share'), product.toLowerCase()),
        config: join(environment['XDG_CONFIG_HOME'] ?? join(home, '.config'), product.toLowerCase()),
      };
  }
}

/** A directory of `dist`, from the source tree as from the bundle in `dist/main`. */
function built(name: string): string {
  const here = fileURLToPath(new URL('.', import.meta.url));
  return /[\\/]dist[\\/]main[\\/]/.test(here) ? join(here, '..', name) : join(here, '../../dist', name);
}
