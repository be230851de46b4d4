/** The command line: its subcommands, their options, and nothing of what they do. */
import { Command, CommanderError, Option } from 'commander';
import { defaultPort, makeConfig, version, type Config, type ConfigOptions } from '../config.ts';
import { fail } from './output.ts';
import { readPassword, type PasswordOptions } from './secrets.ts';

const exitCodeHelp = `
Exit codes: 0 done; 1 refused or failed; 2 wrong usage; 3 no vault, or it is not running; 4 the vault or the port is
in use; 5 locked, or what was given does not open it.`;

type GlobalOptions = ConfigOptions & { readonly json?: true };

export async function main(argv: readonly string[]): Promise<void> {
  const program = new Command('latchkey')
    .description('A key vault on your own machine: the service, and the commands to run it.')
    .version(version)
    .option('--data-dir <directory>', 'where the vault is (LATCHKEY_DATA_DIR)')
    .option('--config-dir <directory>', 'where API key files are (LATCHKEY_CONFIG_DIR)')
    .option('--json', 'write results as one line of JSON')
    .addHelpText('after', exitCodeHelp)
    .showHelpAfterError('(run latchkey --help for the commands)')
    .exitOverride();
  addCommands(program);
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : 2;
      return;
    }
    fail(program.opts<GlobalOptions>().json === true, error);
  }
}

const port = (): Option =>
  new Option(
    '--port <number>',
    `port to serve, 0 for any free one (LATCHKEY_PORT; default ${String(defaultPort)})`,
  );
const noKeychainOption = (): Option =>
  new Option('--no-keychain', 'do not use the operating system keychain');
const allowOrigin = (): Option =>
  new Option('--allow-origin <origin>', 'let pages of this origin call the API; repeatable').argParser(
    (value: string, previous: readonly string[] | undefined) => [...(previous ?? []), value],
  );
const passwordFile = (): Option =>
  new Option('--password-file <file>', 'read the password from the first line of a file');
const passwordFd = (): Option =>
  new Option('--password-fd <number>', 'read the password from a file descriptor');
const jsonOption = (): Option => new Option('--json', 'write the result as one line of JSON');

interface Subcommand<Options> {
  readonly name: string;
  readonly description: string;
  readonly options?: readonly Option[];
  /** Loads the command's own module, so that starting one command does not load them all. */
  readonly run: (config: Config, options: Options, json: boolean) => Promise<void>;
}

/** Adds a subcommand, run with the settings that its own options and the global ones make. */
function add<Options extends object>(program: Command, subcommand: Subcommand<Options>): void {
  const { name, description, options = [], run } = subcommand;
  const command = program.command(name).description(description);
  for (const option of [...options, jsonOption()]) command.addOption(option);
  command.action(async () => {
    const given = command.optsWithGlobals<Options & GlobalOptions>();
    await run(makeConfig(given), given, given.json === true);
  });
}

function addCommands(program: Command): void {
  add<InitFlags>(program, {
    name: 'init',
    description: 'make a vault: organization, owner, keyslots, and the owner’s first API key',
    options: [
      new Option('--organization <name>', 'name of the organization').default('My organization'),
      new Option('--user <name>', 'name of its first user, who is root').default('Owner'),
      new Option('--email <address>', 'email address of that user'),
      new Option('--key-name <name>', 'name of the API key files').default('owner'),
      noKeychainOption(),
      passwordFile(),
      passwordFd(),
    ],
    run: async (config, { organization, user, email, keyName, ...flags }, json) => {
      const { init } = await import('./init.ts');
      const password = readPassword(flags, config.credentialsDirectory);
      await init(config, {
        organization,
        user,
        keyName,
        json,
        ...(email === undefined ? {} : { email }),
        ...(password === undefined ? {} : { password }),
      });
    },
  });
  add<ServeFlags>(program, {
    name: 'serve',
    description: 'serve the API on this machine, unlocked from the keychain or a password',
    options: [
      port(),
      new Option('--ui', 'serve the window to the browser too'),
      new Option('--open', 'open the window in the browser'),
      allowOrigin(),
      noKeychainOption(),
      passwordFile(),
      passwordFd(),
    ],
    run: async (config, { open, ...flags }, json) => {
      const { serve } = await import('./serve.ts');
      const password = readPassword(flags, config.credentialsDirectory);
      await serve(config, { json, open: open === true, ...(password === undefined ? {} : { password }) });
    },
  });
  add<DevFlags>(program, {
    name: 'dev',
    description:
      'serve an ephemeral vault for tests: in memory, reproducible from a seed; writes one JSON line when ready',
    options: [
      port(),
      new Option('--seed <text>', 'make ids, keys, mnemonics and addresses reproducible'),
      new Option('--clock <mode>', 'time of records: the machine’s, or one that stands still')
        .choices(['real', 'fixed'])
        .default('real'),
      new Option('--ui', 'serve the window to the browser too'),
      allowOrigin(),
    ],
    run: async (config, { seed, clock }) => {
      const { dev } = await import('./dev.ts');
      await dev(config, { clock, ...(seed === undefined ? {} : { seed }) });
    },
  });
  add(program, {
    name: 'status',
    description: 'say whether the vault runs, and what state it is in',
    options: [],
    run: async (config, _options, json) => {
      const { status } = await import('./control.ts');
      await status(config, json);
    },
  });
  add(program, {
    name: 'lock',
    description: 'drop the keys of the running vault from memory',
    options: [],
    run: async (config, _options, json) => {
      const { lock } = await import('./control.ts');
      await lock(config, json);
    },
  });
  add<UnlockFlags>(program, {
    name: 'unlock',
    description: 'unlock the running vault',
    options: [
      new Option('--recovery-file <file>', 'unlock with the recovery phrase in a file'),
      new Option('--keychain', 'unlock from the operating system keychain'),
      passwordFile(),
      passwordFd(),
    ],
    run: async (config, flags, json) => {
      const { unlock } = await import('./control.ts');
      const password = readPassword(flags, undefined);
      await unlock(config, json, {
        keychain: flags.keychain === true,
        ...(flags.recoveryFile === undefined ? {} : { recoveryFile: flags.recoveryFile }),
        ...(password === undefined ? {} : { password }),
      });
    },
  });
  add<{ browser: boolean }>(program, {
    name: 'open',
    description: 'open the window of the running vault in the browser',
    options: [new Option('--no-browser', 'write the link only')],
    run: async (config, { browser }, json) => {
      const { openWindow } = await import('./control.ts');
      await openWindow(config, json, browser);
    },
  });
  add<KeygenFlags>(program, {
    name: 'keygen',
    description: 'make an API key pair, as NAME.public and NAME.private',
    options: [
      new Option('--name <name>', 'name of the key and its files').makeOptionMandatory(),
      new Option('--register', 'register the key for the owner in the running vault'),
    ],
    run: async (config, { name, register }, json) => {
      const { keygen } = await import('./keygen.ts');
      await keygen(config, { name, register: register === true, json });
    },
  });
  add<RequestFlags>(program, {
    name: 'request',
    description: 'stamp a request with an API key and post it',
    options: [
      new Option('--path <path>', 'path of the operation: /public/v1/query/whoami').makeOptionMandatory(),
      new Option('--body <json>', 'the body, @FILE, or - for standard input').makeOptionMandatory(),
      new Option('--key <name>', 'name of the API key files').default('owner'),
      new Option('--url <url>', 'base URL of the service; default: the vault that runs'),
      new Option('--raw', 'send the body to the letter: fill in neither organizationId nor timestampMs'),
    ],
    run: async (config, flags, json) => {
      const { request } = await import('./request.ts');
      await request(config, { ...flags, raw: flags.raw === true, json });
    },
  });
  add<Omit<RequestFlags, 'path' | 'url' | 'raw'>>(program, {
    name: 'stamp',
    description: 'write the X-Stamp header of a body, for curl',
    options: [
      new Option('--body <json>', 'the body, @FILE, or - for standard input').makeOptionMandatory(),
      new Option('--key <name>', 'name of the API key files').default('owner'),
    ],
    run: async (config, flags, json) => {
      const { writeStamp } = await import('./request.ts');
      writeStamp(config, { ...flags, json });
    },
  });
  add(program, {
    name: 'doctor',
    description: 'check the cryptography, the keychain, and the vault’s files and log',
    options: [noKeychainOption()],
    run: async (config, _options, json) => {
      const { doctor } = await import('./doctor.ts');
      await doctor(config, json);
    },
  });
}

interface InitFlags extends PasswordOptions {
  readonly organization: string;
  readonly user: string;
  readonly email?: string;
  readonly keyName: string;
}

interface ServeFlags extends PasswordOptions {
  readonly open?: true;
}

interface DevFlags {
  readonly seed?: string;
  readonly clock: 'real' | 'fixed';
}

interface UnlockFlags extends PasswordOptions {
  readonly recoveryFile?: string;
  readonly keychain?: true;
}

interface KeygenFlags {
  readonly name: string;
  readonly register?: true;
}

interface RequestFlags {
  readonly path: string;
  readonly body: string;
  readonly key: string;
  readonly url?: string;
  readonly raw?: true;
}
