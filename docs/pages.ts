/**
 * The pages of the documentation: their order, titles and summaries. The pages that the service serves at `/docs`, the
 * website, `llms.txt`, the palette of the window and the command `docs` all follow from this list.
 */

export interface Page {
  /** Of the file in `docs/`, without `.md`; also the page's address below `/docs/`. */
  readonly path: string;
  /** The heading of the file. */
  readonly title: string;
  /** One sentence about what a reader can do with the page. */
  readonly summary: string;
}

export interface Group {
  readonly title: string;
  readonly pages: readonly Page[];
}

const listed = [
  {
    title: 'Guide',
    pages: [
      {
        path: 'start',
        title: 'Start',
        summary: 'Create a vault and sign for the first time.',
      },
      {
        path: 'wallets',
        title: 'Wallets',
        summary: 'Create, import and export wallets, accounts and private keys.',
      },
      {
        path: 'signing',
        title: 'Signing',
        summary: 'Sign from the window, the command, curl and the SDK.',
      },
      {
        path: 'policies',
        title: 'Policies and budgets',
        summary: 'Say what users and programs may do, and how much they may spend.',
      },
      {
        path: 'approvals',
        title: 'Approvals',
        summary: 'Require the approval of two or more people.',
      },
      {
        path: 'ssh',
        title: 'SSH',
        summary: 'Log in to servers with keys of the vault.',
      },
      {
        path: 'agents',
        title: 'Agents',
        summary: 'Let an AI agent pay and sign within budgets.',
      },
      {
        path: 'git',
        title: 'Git',
        summary: 'Sign commits and tags with keys of the vault.',
      },
      {
        path: 'ethereum-tools',
        title: 'Ethereum tools',
        summary: 'Send transactions from Foundry, Hardhat, viem, ethers and web3 within a budget.',
      },
      {
        path: 'secrets',
        title: 'Secrets',
        summary: 'Keep passwords and tokens, and give them to programs without a file.',
      },
      {
        path: 'webhooks',
        title: 'Webhooks',
        summary: 'Receive every activity, and verify who sent it.',
      },
      {
        path: 'sign-in-and-messages',
        title: 'Sign-in and messages',
        summary: 'Sign users in by codes, identity providers, passkeys and sessions.',
      },
      {
        path: 'sub-organizations',
        title: 'Sub-organizations',
        summary: 'Keep the wallets of each customer apart.',
      },
      {
        path: 'backup-and-recovery',
        title: 'Backup and recovery',
        summary: 'Back up, test, restore, change the keys to the vault, freeze.',
      },
      {
        path: 'activity-log',
        title: 'The activity log',
        summary: 'Read the log and verify it, with or without Keyhearth.',
      },
      {
        path: 'service-and-updates',
        title: 'Service and updates',
        summary: 'Run as a service, change settings, build installers, update.',
      },
      {
        path: 'scripts-and-ci',
        title: 'Scripts and CI',
        summary: 'Give programs keys of their own, and test against a temporary vault.',
      },
      {
        path: 'works-with',
        title: 'Works with',
        summary: 'Which packages of the vendor work with Keyhearth.',
      },
      {
        path: 'troubleshooting',
        title: 'Troubleshooting',
        summary: 'Understand a refused request and common errors.',
      },
      {
        path: 'limits',
        title: 'Limits',
        summary: 'What Keyhearth does not do, and how much it accepts.',
      },
      {
        path: 'formats',
        title: 'Formats',
        summary: 'Every file that Keyhearth writes.',
      },
      {
        path: 'translations',
        title: 'Add a language',
        summary: 'Translate the window.',
      },
    ],
  },
  {
    title: 'Security',
    pages: [
      {
        path: 'threat-model',
        title: 'Threat model',
        summary: 'Each attacker: the gains, the limits, and the tests that show them.',
      },
      {
        path: 'protection',
        title: 'How the vault is protected',
        summary: 'Secrets on disk and in memory, processes, requests, the file, messages, updates.',
      },
      {
        path: 'faults',
        title: 'Faults and recovery',
        summary: 'Crashes, power losses, full disks, rot and wrong clocks.',
      },
    ],
  },
  {
    title: 'Reference',
    pages: [
      {
        path: 'reference/commands',
        title: 'Commands',
        summary: 'Every command, and the options that many commands share.',
      },
      {
        path: 'reference/commands-vault',
        title: 'Commands: Vault',
        summary: 'Create, serve, lock, freeze and check a vault.',
      },
      {
        path: 'reference/commands-keys-and-signing',
        title: 'Commands: Keys and signing',
        summary: 'Wallets, private keys, signatures, imports and exports.',
      },
      {
        path: 'reference/commands-bots-and-agents',
        title: 'Commands: Bots and agents',
        summary: 'Users who spend within budgets, and the MCP server.',
      },
      {
        path: 'reference/commands-programs',
        title: 'Commands: Programs',
        summary: 'Doors, SSH, git and Ethereum tools.',
      },
      {
        path: 'reference/commands-secrets-of-programs',
        title: 'Commands: Secrets of programs',
        summary: 'Secrets, and programs that run with them.',
      },
      {
        path: 'reference/commands-users-and-permissions',
        title: 'Commands: Users and permissions',
        summary: 'Users, tags, API keys, the address book and sessions.',
      },
      {
        path: 'reference/commands-policies-and-approvals',
        title: 'Commands: Policies and approvals',
        summary: 'Policies, their tests, and votes.',
      },
      {
        path: 'reference/commands-api-log-and-events',
        title: 'Commands: API, log and events',
        summary: 'Requests, the activity log, webhooks and messages.',
      },
      {
        path: 'reference/commands-recovery-and-backups',
        title: 'Commands: Recovery and backups',
        summary: 'Keyslots, recovery phrase, backups and restores.',
      },
      {
        path: 'reference/commands-help',
        title: 'Commands: Help',
        summary: 'The documentation in the terminal, and completion in a shell.',
      },
      {
        path: 'reference/policy-language',
        title: 'Policy language',
        summary: 'Every keyword, function and operator, each with an example.',
      },
      {
        path: 'reference/policy-types',
        title: 'Policy types',
        summary: 'The fields of each type of the policy language.',
      },
      {
        path: 'reference/settings',
        title: 'Settings',
        summary: 'Every setting, with its values and default.',
      },
      {
        path: 'reference/environment',
        title: 'Environment variables',
        summary: 'Every variable that Keyhearth reads.',
      },
      {
        path: 'reference/errors',
        title: 'Error codes',
        summary: 'HTTP status, code and meaning of every error of the API.',
      },
      {
        path: 'reference/exit-codes',
        title: 'Exit codes',
        summary: 'How a command ends.',
      },
      {
        path: 'reference/limits',
        title: 'Limits of requests and organizations',
        summary: 'The numbers beyond which a request is refused.',
      },
      {
        path: 'reference/compatibility',
        title: 'Compatibility',
        summary: 'Which operations of the real API Keyhearth has.',
      },
      {
        path: 'reference/backup-format',
        title: 'Backup format, version 1',
        summary: 'Open a backup without Keyhearth.',
      },
      {
        path: 'reference/log-format',
        title: 'Log format, version 1',
        summary: 'Verify an exported log without Keyhearth.',
      },
    ],
  },
] as const satisfies readonly Group[];

export type PagePath = (typeof listed)[number]['pages'][number]['path'];

export const groups: readonly Group[] = listed;

export const pages: readonly Page[] = groups.flatMap((group) => group.pages);
