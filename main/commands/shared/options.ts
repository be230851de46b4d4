/** Options that several commands have, each made anew for the command that takes it. */
import { Option } from 'commander';
import { defaultPort } from '../../app/config.ts';

export const repeatable = (flags: string, description: string): Option =>
  new Option(flags, `${description}; repeatable`)
    .default([], 'none')
    .argParser((value: string, previous: readonly string[]) => [...previous, value]);

export const apiKey = (): Option =>
  new Option('--api-key <name>', 'name of the API key files (else KEYHEARTH_API_KEY)').default('owner');

/** Where the vault is that an API key is for; every command that takes such a key has them. */
export const vaultOptions = (): readonly Option[] => [
  new Option(
    '--url <url>',
    'the vault to use, by its address (KEYHEARTH_URL; default: the one of this machine)',
  ),
  new Option('--organization-id <id>', 'its organization (KEYHEARTH_ORGANIZATION)'),
  new Option(
    '--vault-file <file>',
    'the same, and its keys, from the line that `keyhearth dev` writes (KEYHEARTH_VAULT_FILE)',
  ),
  new Option('--allow-http', 'let requests go to another machine without TLS (KEYHEARTH_ALLOW_HTTP=1)'),
];

export const withoutAsking = (): Option => new Option('--yes', 'delete on a terminal without asking');

export const account = (): Option =>
  repeatable(
    '--account <account>',
    'ethereum or any other chain: its next free index, or ethereum:1; or CURVE:PATH:FORMAT',
  );

// How a vault is served.

export const port = (): Option =>
  new Option(
    '--port <number>',
    `port to serve, 0 for any free one (KEYHEARTH_PORT; default ${String(defaultPort)})`,
  );

export const allowOrigin = (): Option =>
  new Option('--allow-origin <origin>', 'let pages of this origin call the API; repeatable').argParser(
    (value: string, previous: readonly string[] | undefined) => [...(previous ?? []), value],
  );

export const oidcIssuer = (): Option =>
  new Option(
    '--oidc-issuer <url>',
    'let ID tokens of this OpenID Connect issuer sign users in; repeatable',
  ).argParser((value: string, previous: readonly string[] | undefined) => [...(previous ?? []), value]);

export const rpId = (): Option =>
  new Option(
    '--rp-id <host>',
    'host name that passkeys are made for, on its pages and those of hosts below it (KEYHEARTH_RP_ID; default localhost)',
  );

export const verbose = (): Option =>
  new Option(
    '--verbose',
    'log each request too, without what is in it, and write the whole log to standard error',
  );

// Where secrets come from.

export const noKeychain = (): Option =>
  new Option('--no-keychain', 'do not use the operating system keychain');

export const passwordFile = (): Option =>
  new Option('--password-file <file>', 'read the password from the first line of a file');

export const passwordFd = (): Option =>
  new Option('--password-fd <number>', 'read the password from a file descriptor');

export const recoveryFile = (): Option =>
  new Option('--recovery-file <file>', 'read the recovery phrase from a file');

export const shareFile = (): Option =>
  repeatable('--share-file <file>', 'read a share of the recovery phrase from a file, or from a sheet in it');

/** What opens a vault, or a backup of it. */
export const secretOptions = (): readonly Option[] => [
  recoveryFile(),
  shareFile(),
  passwordFile(),
  passwordFd(),
];

/** A secret that opens the vault now. A change of keyslots needs one. */
export const ownerSecretOptions = (): readonly Option[] => [
  repeatable('--password-file <file>', 'read a password of the vault from the first line of a file'),
  passwordFd(),
  recoveryFile(),
  shareFile(),
  noKeychain(),
];

/** The options that name where a secret is read from; it is standard input without them, or the keyboard. */
export const sourceOptions = (option: string, what: string): readonly Option[] => [
  new Option(`--${option}-file <file>`, `read the ${what} from a file`).conflicts(`${option}Fd`),
  new Option(`--${option}-fd <number>`, `read the ${what} from a file descriptor`),
];
