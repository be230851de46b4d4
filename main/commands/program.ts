/** The command line: its subcommands, their options, and nothing of what they do. */
import { Argument, Command, CommanderError, Option } from 'commander';
import { defaultPort, makeConfig, version, type Config, type ConfigOptions } from '../config.ts';
import type { ExportOptions, KeyForm } from './export.ts';
import type { ImportPrivateKeyOptions, ImportWalletOptions } from './import.ts';
import type { ChangeOptions, RotateOptions } from './keyslots.ts';
import type { MailOptions, SmsOptions } from './messages.ts';
import { CommandError, exitCodes, fail } from './output.ts';
import type { RecoveryOptions, SheetOptions } from './recovery.ts';
import type { RequestsOptions } from './requests.ts';
import type { ProofOptions } from './proof.ts';
import { readPassword, type PasswordOptions } from './secrets.ts';
import type { InstallOptions } from './service.ts';
import { settingNames, type SettingName } from './setting-names.ts';
import type { SignOptions, SignPayloadOptions, SignTransactionOptions } from './sign.ts';
import type { DeliveriesOptions, ListenOptions, ReplayOptions } from './webhooks.ts';

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
const oidcIssuer = (): Option =>
  new Option(
    '--oidc-issuer <url>',
    'let ID tokens of this OpenID Connect issuer sign users in; repeatable',
  ).argParser((value: string, previous: readonly string[] | undefined) => [...(previous ?? []), value]);
const rpId = (): Option =>
  new Option(
    '--rp-id <host>',
    'host name that passkeys are made for, on its pages and those of hosts below it (LATCHKEY_RP_ID; default localhost)',
  );
const passwordFile = (): Option =>
  new Option('--password-file <file>', 'read the password from the first line of a file');
const passwordFd = (): Option =>
  new Option('--password-fd <number>', 'read the password from a file descriptor');
const jsonOption = (): Option => new Option('--json', 'write the result as one line of JSON');

interface Subcommand<Options> {
  /** And the names of its operands, in angle brackets. */
  readonly name: string;
  readonly description: string;
  readonly options?: readonly Option[];
  /** Those of which only a few words are right. */
  readonly operands?: readonly Argument[];
  /** It takes a secret, and does not repeat what is wrong on its command line: that may be the secret. */
  readonly discreet?: true;
  /** Loads the command's own module, so that starting one command does not load them all. */
  readonly run: (
    config: Config,
    options: Options,
    json: boolean,
    operands: readonly string[],
  ) => Promise<void>;
}

/** Adds a subcommand, run with the settings that its own options and the global ones make. @returns it. */
function add<Options extends object>(program: Command, subcommand: Subcommand<Options>): Command {
  const { name, description, options = [], operands = [], discreet = false, run } = subcommand;
  const command = program.command(name).description(description);
  for (const operand of operands) command.addArgument(operand);
  for (const option of [...options, jsonOption()]) command.addOption(option);
  if (discreet) command.allowUnknownOption().allowExcessArguments();
  command.action(async () => {
    if (discreet) refuseOperands(command.args);
    const given = command.optsWithGlobals<Options & GlobalOptions>();
    await run(makeConfig(given), given, given.json === true, command.args);
  });
  return command;
}

/** @throws CommandError naming an option at most. */
function refuseOperands([first]: readonly string[]): void {
  if (first === undefined) return;
  const [option] = /^--?[a-z-]+/.exec(first) ?? [];
  throw new CommandError(
    exitCodes.usage,
    `${option === undefined ? 'too many arguments' : `unknown option '${option}'`}: a secret is read from a file, a file descriptor or standard input alone`,
  );
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
      rpId(),
      oidcIssuer(),
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
      rpId(),
      oidcIssuer(),
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
  add(program, {
    name: 'freeze',
    description:
      'stop all signing: drop the keys, reject what waits, and unlock with a secret alone from then on',
    options: [],
    run: async (config, _options, json) => {
      const { freeze } = await import('./freeze.ts');
      await freeze(config, json);
    },
  });
  add<UnlockFlags>(program, {
    name: 'unlock',
    description: 'unlock the running vault',
    options: [...secretOptions(), new Option('--keychain', 'unlock from the operating system keychain')],
    run: async (config, flags, json) => {
      const { unlock } = await import('./control.ts');
      await unlock(config, json, { ...flags, keychain: flags.keychain === true });
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
      new Option('--dry-run', 'ask what policies would make of it, and carry nothing out'),
    ],
    run: async (config, flags, json) => {
      const { request } = await import('./request.ts');
      await request(config, { ...flags, raw: flags.raw === true, dryRun: flags.dryRun === true, json });
    },
  });
  add<Omit<RequestFlags, 'path' | 'url' | 'raw' | 'dryRun'>>(program, {
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
  addSigning(program);
  addImports(program);
  addExports(program);
  addAudit(program);
  addKeyslots(program);
  addRecovery(program);
  addBackups(program);
  addPolicies(program);
  addWebhooks(program);
  addRequests(program);
  addSessions(program);
  addMessages(program);
  addSettings(program);
  addService(program);
  addCompletion(program);
  add<DoctorFlags>(program, {
    name: 'doctor',
    description: 'check the cryptography, the keychain, and the vault’s files, rows and log',
    options: [
      ...secretOptions(),
      new Option('--keychain', 'check the rows with what the operating system keychain opens'),
      noKeychainOption(),
      new Option(
        '--accept-changes',
        'use the vault’s file as it is now, though it was changed outside Latchkey',
      ),
      new Option('--yes', 'accept without asking'),
    ],
    run: async (config, { keychain, acceptChanges: accept, yes, ...flags }, json) => {
      const { acceptChanges, doctor } = await import('./doctor.ts');
      const options = { ...flags, keychain: keychain === true };
      await (accept === true
        ? acceptChanges(config, json, { ...options, yes: yes === true })
        : doctor(config, json, options));
    },
  });
}

const recoveryFile = (): Option =>
  new Option('--recovery-file <file>', 'read the recovery phrase from a file');
const shareFile = (): Option =>
  repeatable('--share-file <file>', 'read a share of the recovery phrase from a file, or from a sheet in it');
/** What opens a vault, or a backup of it. */
const secretOptions = (): readonly Option[] => [recoveryFile(), shareFile(), passwordFile(), passwordFd()];
/** What opens the vault now. A keyslot may be changed by whoever shows one. */
const proofOptions = (): readonly Option[] => [
  repeatable('--password-file <file>', 'read a password of the vault from the first line of a file'),
  passwordFd(),
  recoveryFile(),
  shareFile(),
  noKeychainOption(),
];

function addKeyslots(program: Command): void {
  const keyslots = program.command('keyslots').description('what opens the vault: list it, and change it');
  const newPassword = (): readonly Option[] => [
    new Option('--new-password-file <file>', 'read the new password from the first line of a file'),
    new Option('--new-password-fd <number>', 'read the new password from a file descriptor'),
  ];
  add(keyslots, {
    name: 'list',
    description: 'show the keyslots: of which kind, made when, checked when',
    run: async (config, _options, json) => {
      const { listKeyslots } = await import('./keyslots.ts');
      await listKeyslots(config, json);
    },
  });
  add<KeyslotFlags>(keyslots, {
    name: 'add <kind>',
    description: 'add a password, the keychain of this computer, or a recovery phrase (recovery)',
    options: [...newPassword(), ...proofOptions()],
    run: async (config, flags, json, [kind = '']) => {
      const { addKeyslot } = await import('./keyslots.ts');
      await addKeyslot(config, kind, { ...flags, json });
    },
  });
  add<KeyslotFlags>(keyslots, {
    name: 'change <keyslot>',
    description: 'put a new password or recovery phrase in the place of one, named by its id or kind',
    options: [...newPassword(), ...proofOptions()],
    run: async (config, flags, json, [keyslot = '']) => {
      const { changeKeyslot } = await import('./keyslots.ts');
      await changeKeyslot(config, keyslot, { ...flags, json });
    },
  });
  add<KeyslotFlags>(keyslots, {
    name: 'remove <keyslot>',
    description: 'remove a keyslot, named by its id or kind',
    options: proofOptions(),
    run: async (config, flags, json, [keyslot = '']) => {
      const { removeKeyslot } = await import('./keyslots.ts');
      await removeKeyslot(config, keyslot, { ...flags, json });
    },
  });
  add<Omit<RotateOptions, 'json' | 'dropOthers'> & { readonly dropOthers?: true }>(keyslots, {
    name: 'rotate',
    description: 'draw a new master key; keyslots stay whose secrets are given, and the keychain’s',
    options: [new Option('--drop-others', 'let the other keyslots go'), ...proofOptions()],
    run: async (config, flags, json) => {
      const { rotate } = await import('./keyslots.ts');
      await rotate(config, { ...flags, dropOthers: flags.dropOthers === true, json });
    },
  });
}

function addRecovery(program: Command): void {
  const recovery = program
    .command('recovery')
    .description('check the recovery phrase, and print it or shares of it');
  add<Omit<RecoveryOptions, 'json'>>(recovery, {
    name: 'check',
    discreet: true,
    description: 'say whether the recovery phrase, or shares of it, open the vault',
    options: [recoveryFile(), shareFile()],
    run: async (config, flags, json) => {
      const { checkRecovery } = await import('./recovery.ts');
      await checkRecovery(config, { ...flags, json });
    },
  });
  add<Omit<SheetOptions, 'json'>>(recovery, {
    name: 'sheet',
    discreet: true,
    description: 'write the recovery phrase, or shares of it, as a page to be printed',
    options: [
      new Option('--output <file>', 'the new page, for its owner alone').makeOptionMandatory(),
      new Option('--shares <counts>', 'a page for each share instead: how many are needed, like 2-of-3'),
      recoveryFile(),
      shareFile(),
    ],
    run: async (config, flags, json) => {
      const { writeSheet } = await import('./recovery.ts');
      await writeSheet(config, { ...flags, json });
    },
  });
}

const apiKey = (): Option => new Option('--api-key <name>', 'name of the API key files').default('owner');
const repeatable = (flags: string, description: string): Option =>
  new Option(flags, `${description}; repeatable`)
    .default([], 'none')
    .argParser((value: string, previous: readonly string[]) => [...previous, value]);
/** The options that name where a secret is read from; it is standard input without them, or the keyboard. */
const sourceOptions = (option: string, what: string): readonly Option[] => [
  new Option(`--${option}-file <file>`, `read the ${what} from a file`).conflicts(`${option}Fd`),
  new Option(`--${option}-fd <number>`, `read the ${what} from a file descriptor`),
];

function addImports(program: Command): void {
  const imports = program
    .command('import')
    .description('bring a wallet or a private key into the running vault, encrypted on the way')
    .allowUnknownOption()
    .allowExcessArguments();
  // Whoever forgets what to import may have written the secret in its place.
  imports.action(() => imports.help({ error: true }));
  add<ImportWalletFlags>(imports, {
    name: 'wallet',
    discreet: true,
    description: 'import a mnemonic, from standard input unless said otherwise',
    options: [
      new Option('--name <name>', 'name of the new wallet').makeOptionMandatory(),
      repeatable('--account <account>', 'ethereum, bitcoin, solana or any other chain, or CURVE:PATH:FORMAT'),
      ...sourceOptions('mnemonic', 'mnemonic'),
      ...sourceOptions('passphrase', 'BIP-39 passphrase'),
      apiKey(),
    ],
    run: async (config, flags, json) => {
      const { importWallet } = await import('./import.ts');
      await importWallet(config, { ...flags, json });
    },
  });
  add<ImportPrivateKeyFlags>(imports, {
    name: 'private-key',
    discreet: true,
    description:
      'import a key in hex, or as Solana’s tools write it, from standard input unless said otherwise',
    options: [
      new Option('--name <name>', 'name of the new private key').makeOptionMandatory(),
      new Option('--curve <curve>', 'secp256k1, ed25519 or p256').makeOptionMandatory(),
      repeatable('--address-format <format>', 'ethereum, solana, bitcoin-mainnet-p2wpkh and so on'),
      ...sourceOptions('key', 'private key'),
      apiKey(),
    ],
    run: async (config, flags, json) => {
      const { importPrivateKey } = await import('./import.ts');
      await importPrivateKey(config, { ...flags, json });
    },
  });
}

function addExports(program: Command): void {
  const exports = program
    .command('export')
    .description('take a wallet or a private key out of the running vault, encrypted on the way');
  const destination = (): readonly Option[] => [
    new Option('--output <file>', 'write the secret to a new file, for its owner alone'),
    new Option('--yes', 'show the secret on a terminal without asking'),
    apiKey(),
  ];
  const format = (): Option =>
    new Option('--format <form>', 'how the key is written; base58 and bytes are Solana’s')
      .choices(['hex', 'base58', 'bytes'] satisfies KeyForm[])
      .default('hex');
  add<ExportFlags>(exports, {
    name: 'wallet <wallet>',
    description: 'export the mnemonic of a wallet, named by its id or name',
    options: destination(),
    run: async (config, flags, json, [wallet = '']) => {
      const { exportWallet } = await import('./export.ts');
      await exportWallet(config, wallet, { ...flags, yes: flags.yes === true, json });
    },
  });
  add<ExportKeyFlags>(exports, {
    name: 'private-key <private-key>',
    description: 'export a private key, named by its id or name',
    options: [format(), ...destination()],
    run: async (config, flags, json, [privateKey = '']) => {
      const { exportPrivateKey } = await import('./export.ts');
      await exportPrivateKey(config, privateKey, flags.format, { ...flags, yes: flags.yes === true, json });
    },
  });
  add<ExportKeyFlags>(exports, {
    name: 'account <address>',
    description: 'export the private key of a wallet account',
    options: [format(), ...destination()],
    run: async (config, flags, json, [address = '']) => {
      const { exportAccount } = await import('./export.ts');
      await exportAccount(config, address, flags.format, { ...flags, yes: flags.yes === true, json });
    },
  });
}

function addSigning(program: Command): void {
  const sign = program
    .command('sign')
    .description('tell what a transaction or a payload does, and have the running vault sign it');
  const signing = (): readonly Option[] => [
    new Option('--with <key>', 'the key that signs: its id, public key or address').makeOptionMandatory(),
    new Option('--dry-run', 'tell what it does, and sign nothing'),
    new Option('--yes', 'sign on a terminal without asking'),
    apiKey(),
  ];
  add<SignFlags<SignTransactionOptions>>(sign, {
    name: 'transaction <file>',
    description: 'sign an unsigned transaction, and write the signed one; - for standard input',
    options: [
      new Option('--type <chain>', 'ethereum, solana, tron, or bitcoin for a PSBT').makeOptionMandatory(),
      new Option('--format <form>', 'how it is written in the file, and then with its signature')
        .choices(['hex', 'base64'] satisfies SignTransactionOptions['format'][])
        .default('hex'),
      ...signing(),
    ],
    run: async (config, flags, json, [file = '']) => {
      const { signTransaction } = await import('./sign.ts');
      await signTransaction(config, file, { ...flags, ...asSigning(flags), json });
    },
  });
  add<SignFlags<SignPayloadOptions>>(sign, {
    name: 'payload <file>',
    description: 'sign a text, bytes or typed data, and write r, s and v as JSON; - for standard input',
    options: [
      new Option('--encoding <name>', 'what the file holds: hex, text, eip712 or eip7702').default('hex'),
      new Option(
        '--hash <name>',
        'none, sha256, keccak256 or not-applicable; left out with eip712 and eip7702',
      ),
      ...signing(),
    ],
    run: async (config, flags, json, [file = '']) => {
      const { signPayload } = await import('./sign.ts');
      await signPayload(config, file, { ...flags, ...asSigning(flags), json });
    },
  });
}

type SignFlags<Options> = Omit<Options, 'json' | 'yes' | 'dryRun'> & {
  readonly yes?: true;
  readonly dryRun?: true;
};

const asSigning = ({ yes, dryRun }: SignFlags<SignOptions>) => ({
  yes: yes === true,
  dryRun: dryRun === true,
});

function addAudit(program: Command): void {
  const audit = program
    .command('audit')
    .description('take out, check and note down the activity log, whether the vault runs or not');
  add(audit, {
    name: 'export <file>',
    description:
      'write the log and its signed heads to a new file, a line of JSON each; - for standard output',
    run: async (config, _options, json, [file = '']) => {
      const { auditExport } = await import('./audit.ts');
      await auditExport(config, file, json);
    },
  });
  add<AuditVerifyFlags>(audit, {
    name: 'verify [file]',
    description: 'check every row and signed head: of an exported log, or without a file of the vault’s own',
    options: [
      new Option('--public-key <hex>', 'the key that must have signed, as you noted it'),
      repeatable('--head <head>', 'a head that you noted, SEQUENCE:HASH'),
      noKeychainOption(),
    ],
    run: async (config, { publicKey, head }, json, [file]) => {
      const { auditVerify } = await import('./audit.ts');
      const given = {
        ...(file === undefined ? {} : { file }),
        ...(publicKey === undefined ? {} : { publicKey }),
      };
      await auditVerify(config, { ...given, heads: head }, json);
    },
  });
  add(audit, {
    name: 'head',
    description: 'write the newest signed head, to note down outside this machine',
    run: async (config, _options, json) => {
      const { auditHead } = await import('./audit.ts');
      await auditHead(config, json);
    },
  });
  add<AcceptRollbackFlags>(audit, {
    name: 'accept-rollback',
    description: 'use a vault file that is older than the keychain knows of, because you put it back',
    options: [...secretOptions(), new Option('--yes', 'do not ask')],
    run: async (config, { yes, ...flags }, json) => {
      const { acceptRollback } = await import('./audit.ts');
      await acceptRollback(config, { ...flags, yes: yes === true }, json);
    },
  });
}

function addPolicies(program: Command): void {
  const policy = program
    .command('policy')
    .description('check policies, and try them on what has happened, before they are made');
  add(policy, {
    name: 'check <file>',
    description:
      'say what is wrong with the policies in a JSON file, each as create_policy takes it; - for standard input',
    run: async (_config, _options, json, [file = '']) => {
      const { checkPolicies } = await import('./policy.ts');
      checkPolicies(file, json);
    },
  });
  const asking = (): readonly Option[] => [
    new Option('--replace-all', 'leave the policies in force out'),
    new Option('--without-root', 'ask what policies make of it had nobody been of the root quorum'),
    apiKey(),
  ];
  add<PolicyAskFlags & { readonly against: string }>(policy, {
    name: 'test <file>',
    description:
      'replay past activities with the policies in a JSON file: what would be decided otherwise, and why',
    options: [
      new Option('--against <activities>', 'the newest so many of the log').default('last:100'),
      ...asking(),
    ],
    run: async (config, flags, json, [file = '']) => {
      const { testPolicies } = await import('./policy-test.ts');
      await testPolicies(config, file, { ...flags, ...asFlags(flags), json });
    },
  });
  add<PolicyAskFlags & { readonly body?: string; readonly user?: string; readonly with?: string }>(policy, {
    name: 'explain [activity]',
    description:
      'say what each policy makes of an activity, named by its id, or of a request that nobody has sent',
    options: [
      new Option('--body <file>', 'the body of a request, as it would be sent: nothing is carried out'),
      new Option('--user <id>', 'whose request it would be; default: the API key’s user'),
      new Option('--with <file>', 'policies in a JSON file, beside or in the place of those in force'),
      ...asking(),
    ],
    run: async (config, flags, json, [activity]) => {
      const { explainPolicies } = await import('./policy-test.ts');
      await explainPolicies(config, activity, { ...flags, ...asFlags(flags), json });
    },
  });
}

interface PolicyAskFlags {
  readonly replaceAll?: true;
  readonly withoutRoot?: true;
  readonly apiKey: string;
}

const asFlags = ({ replaceAll, withoutRoot }: PolicyAskFlags) => ({
  replaceAll: replaceAll === true,
  withoutRoot: withoutRoot === true,
});

function addRequests(program: Command): void {
  add<Omit<RequestsOptions, 'json'>>(program, {
    name: 'requests',
    description: 'list the last requests that came to the API, and explain those whose stamp did not hold',
    options: [
      new Option('--follow', 'write new ones as they come, until ended').default(false),
      new Option('--failed', 'only those that were refused').default(false),
    ],
    run: async (config, flags, json) => {
      const { showRequests } = await import('./requests.ts');
      await showRequests(config, { ...flags, json });
    },
  });
}

function addWebhooks(program: Command): void {
  const webhooks = program
    .command('webhooks')
    .description('where events are sent, what became of them, and a receiver to try it out');
  add<{ readonly apiKey: string }>(webhooks, {
    name: 'list',
    description: 'list the webhook endpoints',
    options: [apiKey()],
    run: async (config, flags, json) => {
      const { listWebhooks } = await import('./webhooks.ts');
      await listWebhooks(config, { ...flags, json });
    },
  });
  add<Omit<DeliveriesOptions, 'json'>>(webhooks, {
    name: 'deliveries',
    description: 'list what became of events, newest first',
    options: [
      new Option('--endpoint <id>', 'of one endpoint'),
      new Option('--state <state>', 'in one state').choices(['waiting', 'delivered', 'refused', 'parked']),
      new Option('--limit <number>', 'how many at most, 1 to 100').default('20'),
      apiKey(),
    ],
    run: async (config, flags, json) => {
      const { listWebhookDeliveries } = await import('./webhooks.ts');
      await listWebhookDeliveries(config, { ...flags, json });
    },
  });
  add<Omit<ReplayOptions, 'json'>>(webhooks, {
    name: 'replay <endpoint>',
    description: 'send an event to an endpoint again, or all since a time',
    options: [
      new Option('--delivery <id>', 'one delivery'),
      new Option('--since <time>', 'every event since then, like 2026-01-31T12:00:00Z'),
      apiKey(),
    ],
    run: async (config, flags, json, [endpoint = '']) => {
      const { replayWebhooks } = await import('./webhooks.ts');
      await replayWebhooks(config, endpoint, { ...flags, json });
    },
  });
  add<{ readonly apiKey: string }>(webhooks, {
    name: 'test <endpoint>',
    description: 'send an event to an endpoint, whatever it has subscribed to',
    options: [apiKey()],
    run: async (config, flags, json, [endpoint = '']) => {
      const { testWebhook } = await import('./webhooks.ts');
      await testWebhook(config, endpoint, { ...flags, json });
    },
  });
  add<Omit<ListenOptions, 'json'>>(webhooks, {
    name: 'listen',
    description: 'receive events on this machine until ended, and write those whose signature holds',
    options: [new Option('--port <number>', 'port to listen on, 0 for any free one').default('0'), apiKey()],
    run: async (config, flags, json) => {
      const { listenToWebhooks } = await import('./webhooks.ts');
      await listenToWebhooks(config, { ...flags, json });
    },
  });
}

function addSessions(program: Command): void {
  const sessions = program.command('sessions').description('say who is signed in, and end it');
  const userOption = (text: string): Option => new Option('--user <id>', text);
  add<{ readonly user?: string }>(sessions, {
    name: 'list',
    description: 'list the sessions that have not ended',
    options: [userOption('of one user alone')],
    run: async (config, { user }, json) => {
      const { listSessions } = await import('./sessions.ts');
      await listSessions(config, user, json);
    },
  });
  add<{ readonly user?: string }>(sessions, {
    name: 'revoke [ids...]',
    description: 'end sessions before their time',
    options: [userOption('all sessions of a user')],
    run: async (config, flags, json, ids) => {
      const { revokeSessions } = await import('./sessions.ts');
      await revokeSessions(config, ids, { ...flags, json });
    },
  });
}

function addBackups(program: Command): void {
  const backup = add<BackupFlags>(program, {
    name: 'backup [file]',
    description:
      'write the whole vault, encrypted, into one file; without a name into the directory of the schedule',
    options: [
      new Option('--force', 'replace an older backup of that name'),
      noKeychainOption(),
      ...secretOptions(),
    ],
    run: async (config, { force, ...flags }, json, [file]) => {
      const { backUp } = await import('./backup.ts');
      await backUp(config, file, { ...flags, force: force === true, json });
    },
  });
  add<ProofOptions>(backup, {
    name: 'verify <file>',
    description: 'try a backup as a restore would, in memory: open, derive and compare everything',
    options: [noKeychainOption(), ...secretOptions()],
    run: async (config, flags, json, [file = '']) => {
      const { verifyBackup } = await import('./backup.ts');
      await verifyBackup(config, file, { ...flags, json });
    },
  });
  add(backup, {
    name: 'status',
    description: 'say which backups there are, how old they are, and when the next is due',
    run: async (config, _options, json) => {
      const { backupStatus } = await import('./backup.ts');
      await backupStatus(config, json);
    },
  });
  add<ProofOptions & { readonly hours: string }>(backup, {
    name: 'schedule <directory>',
    description:
      'make backups into a directory while the service runs, keeping 7, 4 weekly and 12 monthly; or off',
    options: [
      new Option('--hours <number>', 'hours from one backup to the next').default('24'),
      noKeychainOption(),
      ...secretOptions(),
    ],
    run: async (config, { hours, ...flags }, json, [directory = '']) => {
      const { scheduleBackups } = await import('./backup.ts');
      await scheduleBackups(config, directory, { ...flags, hours, json });
    },
  });
  add<ProofOptions>(program, {
    name: 'restore <file>',
    description: 'make the vault of a backup anew, where there is none',
    options: [noKeychainOption(), ...secretOptions()],
    run: async (config, flags, json, [file = '']) => {
      const { restoreBackup } = await import('./restore.ts');
      await restoreBackup(config, file, { ...flags, json });
    },
  });
}

function addMessages(program: Command): void {
  const messages = program
    .command('messages')
    .description('how one-time codes reach people: by mail, by SMS, or on this computer');
  add(messages, {
    name: 'status',
    description: 'say what is set up, and what became of the last messages',
    run: async (config, _options, json) => {
      const { messagesStatus } = await import('./messages.ts');
      await messagesStatus(config, json);
    },
  });
  add<Omit<MailOptions, 'json'>>(messages, {
    name: 'mail [off]',
    description: 'send mail through a server, or no more',
    options: [
      new Option('--host <name>', 'name of the mail server'),
      new Option('--smtp-port <number>', 'its port; 587, 465 with --security tls, 25 with none'),
      new Option('--security <mode>', 'STARTTLS before anything else is said, TLS from the start, or none')
        .choices(['starttls', 'tls', 'none'])
        .default('starttls'),
      new Option('--user <name>', 'who signs in to it; nobody unless given'),
      ...sourceOptions('password', 'password of that user'),
      new Option('--from <address>', 'address that mail comes from'),
      new Option('--from-name <name>', 'name beside it'),
      new Option('--reply-to <address>', 'where answers go'),
      repeatable('--other-sender <address>', 'let requests send from this address too, or from @domain'),
      new Option('--certificates <file>', 'trust these certificates (PEM), and not those of the system'),
    ],
    run: async (config, flags, json, [operand]) => {
      const { setMail } = await import('./messages.ts');
      await setMail(config, operand, { ...flags, json });
    },
  });
  add<Omit<SmsOptions, 'json'>>(messages, {
    name: 'sms [off]',
    description: 'send text messages through an HTTP gateway or Twilio, or no more',
    options: [
      new Option('--gateway-file <file>', 'read the request to make, as JSON: method, url, headers, body'),
      new Option('--twilio-account <sid>', 'SID of the Twilio account'),
      new Option('--twilio-key <sid>', 'SID of an API key, whose secret is read instead of the auth token'),
      new Option('--twilio-url <url>', 'where its API is').default('https://api.twilio.com'),
      ...sourceOptions('password', 'auth token'),
      new Option('--from <sender>', 'a phone number of the account, or the SID of a messaging service'),
    ],
    run: async (config, flags, json, [operand]) => {
      const { setSms } = await import('./messages.ts');
      await setSms(config, operand, { ...flags, json });
    },
  });
  add(messages, {
    name: 'desktop <on-or-off>',
    description: 'show what has no other way on this computer; off unless turned on',
    run: async (config, _options, json, [operand = '']) => {
      const { setDesktop } = await import('./messages.ts');
      await setDesktop(config, operand, json);
    },
  });
  add(messages, {
    name: 'test <channel> [to]',
    description: 'send a test now, by mail, sms or desktop, and say what came of it',
    run: async (config, _options, json, [channel = '', to]) => {
      const { testMessages } = await import('./messages.ts');
      await testMessages(config, channel, to, json);
    },
  });
  add(messages, {
    name: 'retry <id>',
    description: 'try a message again at once',
    run: async (config, _options, json, [id = '']) => {
      const { retryMessage } = await import('./messages.ts');
      await retryMessage(config, id, json);
    },
  });
}

function addSettings(program: Command): void {
  const settings = program
    .command('settings')
    .description('how the vault behaves on this computer: when it locks, its port, what may leave it');
  const setting = (): Argument => new Argument('<name>', 'a setting').choices(settingNames);
  add(settings, {
    name: 'list',
    description: 'show all settings',
    run: async (config, _options, json) => {
      const { listSettings } = await import('./settings.ts');
      await listSettings(config, json);
    },
  });
  add(settings, {
    name: 'get',
    description: 'show a setting',
    operands: [setting()],
    run: async (config, _options, json, [name]) => {
      const { getSetting } = await import('./settings.ts');
      await getSetting(config, name as SettingName, json);
    },
  });
  add<ProofOptions>(settings, {
    name: 'set',
    description: 'change a setting of the vault that runs unlocked, or of its file with what opens it',
    operands: [setting(), new Argument('<value>', 'on, off, a number, never, usual or ask')],
    options: [noKeychainOption(), ...secretOptions()],
    run: async (config, flags, json, [name, value = '']) => {
      const { setSetting } = await import('./settings.ts');
      await setSetting(config, name as SettingName, value, { ...flags, json });
    },
  });
}

function addService(program: Command): void {
  const service = program
    .command('service')
    .description('serve the vault whenever you are signed in, by systemd or launchd');
  add<ServiceFlags>(service, {
    name: 'install',
    description: 'make the service, or put a new one in its place, and start it',
    options: [
      port(),
      new Option('--ui', 'serve the window to the browser too'),
      allowOrigin(),
      rpId(),
      oidcIssuer(),
      noKeychainOption(),
      passwordFile(),
      new Option('--print', 'write the file that would be made, and change nothing'),
    ],
    run: async (config, { ui, print, allowOrigin: origins, oidcIssuer: issuers, ...flags }, json) => {
      const { installService } = await import('./service.ts');
      const lists = { allowOrigin: origins ?? [], oidcIssuer: issuers ?? [] };
      await installService(config, { ...flags, ...lists, ui: ui === true, print: print === true, json });
    },
  });
  add(service, {
    name: 'uninstall',
    description: 'end the service and remove it; the vault stays',
    run: async (config, _options, json) => {
      const { uninstallService } = await import('./service.ts');
      await uninstallService(config, json);
    },
  });
  add(service, {
    name: 'status',
    description: 'say whether there is a service, and whether it runs',
    run: async (config, _options, json) => {
      const { serviceStatus } = await import('./service.ts');
      await serviceStatus(config, json);
    },
  });
}

interface ServiceFlags extends Pick<InstallOptions, 'keychain'> {
  readonly port?: string;
  readonly ui?: true;
  readonly allowOrigin?: readonly string[];
  readonly oidcIssuer?: readonly string[];
  readonly rpId?: string;
  readonly passwordFile?: string;
  readonly print?: true;
}

function addCompletion(program: Command): void {
  program
    .command('completion')
    .description('write a script with which a shell completes commands and options at the Tab key')
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']))
    .action(async (shell: 'bash' | 'zsh' | 'fish') => {
      const { completionScript } = await import('./completion.ts');
      process.stdout.write(completionScript(program, shell));
    });
}

interface AuditVerifyFlags {
  readonly publicKey?: string;
  readonly head: readonly string[];
}

interface AcceptRollbackFlags extends ProofOptions {
  readonly yes?: true;
}

interface BackupFlags extends ProofOptions {
  readonly force?: true;
}

type ImportWalletFlags = Omit<ImportWalletOptions, 'json'>;

type ImportPrivateKeyFlags = Omit<ImportPrivateKeyOptions, 'json'>;

type ExportFlags = Omit<ExportOptions, 'json' | 'yes'> & { readonly yes?: true };

type ExportKeyFlags = ExportFlags & { readonly format: KeyForm };

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

interface UnlockFlags extends ProofOptions {
  readonly keychain?: true;
}

interface DoctorFlags extends UnlockFlags {
  readonly acceptChanges?: true;
  readonly yes?: true;
}
type KeyslotFlags = Omit<ChangeOptions, 'json'>;

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
  readonly dryRun?: true;
}
