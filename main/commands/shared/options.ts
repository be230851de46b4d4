/** Options that several commands share, each created for the command that has it. */
import { Option } from 'commander';
import { defaultPort } from '../../app/config.ts';

/** Options of a command that asks the API with an API key. */
export interface ApiOptions {
  readonly apiKey: string;
  readonly json: boolean;
}

export const repeatable = (flags: string, description: string): Option =>
  new Option(flags, `${description}; repeatable`)
    .default([])
    .argParser((value: string, previous: readonly string[]) => [...previous, value]);

export const apiKey = (): Option =>
  apiKeyOption('API key to use; default: KEYHEARTH_API_KEY, else owner').default('owner');

export const apiKeyOption = (description: string): Option =>
  new Option('--api-key <key-name>', description).helpGroup(connection);

/** The heading of options that say which vault is asked, and as whom. */
const connection = 'Vault and API key:';

/** Options for the vault of an API key; every command with such a key has them. */
export const vaultOptions = (): readonly Option[] =>
  [
    new Option('--url <url>', 'URL of the vault; default: the vault of this computer (KEYHEARTH_URL)'),
    new Option('--organization-id <id>', 'Organization of the vault at --url (KEYHEARTH_ORGANIZATION)'),
    new Option(
      '--vault-file <file>',
      'Read URL, organization and API key from the line of `keyhearth dev` (KEYHEARTH_VAULT_FILE)',
    ),
    new Option('--wait <seconds>', 'Wait so long for the approvals that a request needs'),
    new Option('--allow-http', 'Allow requests to another computer without TLS (KEYHEARTH_ALLOW_HTTP=1)'),
  ].map((option) => option.helpGroup(connection));

export const withoutAsking = (): Option => new Option('--yes', 'Delete without confirmation');

export const account = (): Option =>
  repeatable(
    '--account <account>',
    'Account: ethereum, bitcoin, solana … for the next free index, ethereum:1, or CURVE:PATH:FORMAT',
  );

// Options for serving a vault.

export const port = (): Option =>
  new Option(
    '--port <number>',
    `Port to serve; 0 for any free port; default: ${String(defaultPort)} (KEYHEARTH_PORT)`,
  );

export const allowOrigin = (): Option =>
  new Option(
    '--allow-origin <origin>',
    'Allow web pages of this origin to call the API; repeatable',
  ).argParser((value: string, previous: readonly string[] | undefined) => [...(previous ?? []), value]);

export const oidcIssuer = (): Option =>
  new Option(
    '--oidc-issuer <url>',
    'Allow sign-in with ID tokens of this OpenID Connect issuer; repeatable',
  ).argParser((value: string, previous: readonly string[] | undefined) => [...(previous ?? []), value]);

export const rpId = (): Option =>
  new Option(
    '--rp-id <host>',
    'Host name of passkeys, valid for its subdomains too; default: localhost (KEYHEARTH_RP_ID)',
  );

export const verbose = (): Option =>
  new Option('--verbose', 'Log each request without its content, and print the log on standard error');

// Options for secrets.

export const noKeychain = (): Option => new Option('--no-keychain', 'Skip the operating system keychain');

export const passwordFile = (): Option =>
  new Option('--password-file <file>', 'Read the password from the first line of a file');

export const passwordFd = (): Option =>
  new Option('--password-fd <number>', 'Read the password from a file descriptor');

export const recoveryFile = (): Option =>
  new Option('--recovery-file <file>', 'Read the recovery phrase from a file');

export const shareFile = (): Option =>
  repeatable('--share-file <file>', 'Read a share of the recovery phrase from a file or a sheet');

/** Options for a secret that opens a vault, or a backup of it. */
export const secretOptions = (): readonly Option[] =>
  [recoveryFile(), shareFile(), passwordFile(), passwordFd()].map((option) =>
    option.helpGroup(secretOfVault),
  );

/** The owner asks, where no key is named and there is none called owner. */
export const ownerOptions = (): readonly Option[] => [
  apiKeyOption('API key to use; default: owner, or a secret of the vault'),
  ...secretOptions(),
];

const secretOfVault = 'Secret of the vault:';

/** A secret that opens the vault now. A change of keyslots needs one. */
export const ownerSecretOptions = (): readonly Option[] =>
  [
    repeatable('--password-file <file>', 'Read a password of the vault from the first line of a file'),
    passwordFd(),
    recoveryFile(),
    shareFile(),
    noKeychain(),
  ].map((option) => option.helpGroup(secretOfVault));

/** The options that name where a secret is read from; it is standard input without them, or the keyboard. */
export const sourceOptions = (option: string, what: string): readonly Option[] => [
  new Option(`--${option}-file <file>`, `Read the ${what} from a file`).conflicts(`${option}Fd`),
  new Option(`--${option}-fd <number>`, `Read the ${what} from a file descriptor`),
];
