/** The reader's own values for a page in `docs/`. A block that is typed as it stands needs no row here. */
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import * as bitcoinjs from 'bitcoinjs-lib';
import { serializeTransaction } from 'viem';
import { mailUser } from '../delivery/mail-server.ts';
import { fundedPsbt } from '../support/funded-psbt.ts';
import { newTestKey, resultOf } from '../support/support.ts';
import { password, type Own, type Reader, type Reading } from './reader.ts';

/** The reader's way through one page. */
interface PageReading {
  /**
   * True if the page begins without a vault. The others begin with a vault of Ann's and a service that holds
   * it.
   */
  readonly fromNothing?: boolean;
  readonly blocks?: readonly Reading[];
}

const root = join(import.meta.dirname, '../..');
const ethereum = 'ADDRESS_FORMAT_ETHEREUM';
const bitcoin = 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH';

/** The words of BIP-39's first example: what the pages import. */
const savings = `${'abandon '.repeat(11)}about`;

const ofDaily = async (reader: Reader, format: string): Promise<string> => reader.addressOf('Daily', format);

async function thingsToSign(reader: Reader): Promise<void> {
  const to = '0x71c7656ec7ab88b098defb751b7401b5f6d8976f';
  const transaction = { chainId: 1, to, value: 1n, gas: 21_000n, maxFeePerGas: 10n, nonce: 0 } as const;
  reader.write('unsigned.hex', `${serializeTransaction({ ...transaction, type: 'eip1559' })}\n`);
  const psbt = fundedPsbt(await ofDaily(reader, bitcoin), bitcoinjs.networks.bitcoin);
  reader.write('unsigned.psbt', `${psbt.toBase64()}\n`);
}

const atDaily = async (reader: Reader): Promise<Own> => [
  ['0x3b8c…', await ofDaily(reader, ethereum)],
  ['bc1q…', await ofDaily(reader, bitcoin)],
];

const organization = async (reader: Reader): Promise<Own> => [
  ['<organization id>', (await reader.client()).organizationId],
];

async function newestActivity(reader: Reader, status = 'ACTIVITY_STATUS_COMPLETED'): Promise<string> {
  const { body } = await (await reader.client()).query('list_activities', { filterByStatus: [status] });
  return (body as { activities: readonly { id: string }[] }).activities[0]?.id ?? '';
}

const stick = (reader: Reader): Own => [
  ['/media/stick', join(reader.directory, 'stick')],
  ['~/', `${reader.directory}/`],
];

/** The newest signed head, as `SEQUENCE:HASH`, and the key that signs heads. */
async function headOf(reader: Reader): Promise<Own> {
  const { head } = await reader.ask<{ head: { sequence: number; hash: string; publicKey: string } }>(
    ...['audit', 'head'],
  );
  return [
    ['1234:9c0f…', `${String(head.sequence)}:${head.hash}`],
    ['04…', head.publicKey],
  ];
}

const writeWords = (reader: Reader): void => {
  reader.write('words.txt', `${reader.words().join(' ')}\n`);
};

const bring = (reader: Reader, program: string): void => {
  copyFileSync(join(root, 'dist/standalone', program), join(reader.directory, program));
};

export const pageReadings: Readonly<Record<string, PageReading>> = {
  start: {
    fromNothing: true,
    blocks: [
      { block: 'npm install && npm start', elsewhere: 'test/project/start.test.ts' },
      { block: 'npm install --global .', elsewhere: 'test/project/installed-command.test.ts' },
      // The run that this test is a part of.
      { block: 'npm install && npm test', elsewhere: 'test/project/pages.test.ts' },
      {
        block: 'keyhearth init',
        until: /Keyhearth serves http\S+ the vault is unlocked/,
        sees: /Owner +Ann/,
      },
      { block: 'keyhearth wallets create', sees: /bc1q/ },
      { block: "printf 'hello'", own: atDaily, sees: /"v":"0[01]"/ },
      { block: 'keyhearth activities list', sees: /completed/ },
    ],
  },
  ssh: {
    blocks: [
      {
        block: 'keyhearth import ssh-key',
        before: "ssh-keygen -q -t ed25519 -N '' -f ~/.ssh/id_ed25519\n",
        sees: /Imported private key "laptop"/,
      },
    ],
  },
  'ethereum-tools': {
    blocks: [{ block: 'export ETH_RPC_URL', elsewhere: 'test/commands/ethereum-tools.test.ts' }],
  },
  secrets: {
    blocks: [
      {
        block: 'printf',
        prepare: (reader) => {
          reader.write('id_deploy', '-----BEGIN KEY-----\nkey of the pages\n-----END KEY-----\n');
        },
      },
      { block: "keyhearth run --env .env.keyhearth -- node -p 'process.env.PGUSER'", sees: /^app$/m },
      {
        block: "keyhearth run --env .env.keyhearth -- node -p 'process.env.PGPASSWORD'",
        sees: /<keyhearth:\/\/database-password>/,
      },
    ],
  },
  wallets: {
    blocks: [
      {
        block: 'keyhearth import wallet',
        prepare: (reader) => {
          reader.write('savings.txt', `${savings}\n`);
          reader.write('key.hex', `${'9d'.repeat(32)}\n`);
        },
      },
      {
        block: 'keyhearth export wallet',
        own: () => [['0x9858…', '0x9858EfFD232B4033E47d90003D41EC34EcaEda94']],
        sees: /is in id.json/,
      },
      { block: 'keyhearth request --path', sees: /ACTIVITY_STATUS_COMPLETED/ },
    ],
  },
  signing: {
    blocks: [
      { block: "printf 'hello'", prepare: thingsToSign, own: atDaily, sees: /"v":"0[01]"/ },
      { block: `BODY='{"organizationId"`, own: organization, sees: /"username":\s*"Ann"/ },
      {
        block: `BODY='{"type"`,
        own: async (reader) => [...(await atDaily(reader)), ...(await organization(reader))],
        sees: /"signRawPayloadResult"/,
      },
      {
        block: 'KEYS=',
        own: async (reader) => [['~/.config', '$XDG_CONFIG_HOME'], ...(await organization(reader))],
      },
      { block: 'node --env-file=.env sign.mjs', sees: /v: '0[01]'/ },
    ],
  },
  policies: {
    blocks: [
      {
        block: 'keyhearth wallets create',
        sees: /May send at most 0.05 ETH from the wallet "Daily"/,
      },
      {
        block: 'keyhearth policies test',
        prepare: async (reader) => {
          const { organizationId } = await reader.client();
          const parameters = { walletName: 'New', accounts: [] };
          const type = 'ACTIVITY_TYPE_CREATE_WALLET';
          const request = { type, timestampMs: String(Date.now()), organizationId, parameters };
          reader.write('request.json', JSON.stringify(request));
        },
        own: async (reader) => [
          ['0190a1b2-…', await newestActivity(reader)],
          ['8f14e45f-…', (await reader.ask<{ owner: { userId: string } }>('status')).owner.userId],
        ],
      },
    ],
  },
  approvals: {
    blocks: [
      { block: 'keyhearth policies create', sees: /needs approvals of other users/ },
      {
        block: 'keyhearth approvals list',
        own: async (reader) => [
          ['01a2018f-63…', await newestActivity(reader, 'ACTIVITY_STATUS_CONSENSUS_NEEDED')],
        ],
        sees: /Shared/,
      },
    ],
  },
  webhooks: {
    blocks: [
      { block: 'keyhearth webhooks listen', until: /http:\/\/127\.0\.0\.1/ },
      {
        block: 'node receiver.mjs',
        // The other way around: the vault retries until the receiver listens, and nothing has to be waited for.
        own: () => [[/^(node .* &)\n(.*)$/gm, '$2\n$1']],
        until: /verified \S+ ACTIVITY_TYPE_TEST_WEBHOOK_ENDPOINT/,
      },
    ],
  },
  'sign-in-and-messages': {
    blocks: [
      {
        block: 'keyhearth messages mail',
        prepare: (reader) => {
          reader.write('pw', `${mailUser.password}\n`);
          reader.write('token', 'a token\n');
          reader.write('mail.pem', reader.mailCertificate);
        },
        own: (reader) => [
          [
            '--host smtp.example.com',
            `--host localhost --smtp-port ${String(reader.mailPort)} --certificates mail.pem`,
          ],
          ['--user me@example.com', `--user ${mailUser.user}`],
          ['AC…', `AC${'0'.repeat(32)}`],
        ],
      },
      { block: 'keyhearth dev --port 0', sees: /signed in as Grace/ },
      { block: 'keyhearth serve --oidc-issuer', elsewhere: 'test/sign-in/sign-in.test.ts' },
      {
        block: 'keyhearth sessions list',
        prepare: async (reader) => {
          const owner = await reader.client();
          const { publicKey } = newTestKey();
          resultOf(await owner.submit('stamp_login', 'STAMP_LOGIN', { publicKey, expirationSeconds: '600' }));
        },
        own: async (reader) => {
          const { sessions } = await reader.ask<{ sessions: readonly { sessionId: string }[] }>(
            ...['sessions', 'list'],
          );
          return [[/ID (?= )/g, `${sessions[0]?.sessionId ?? ''} `]];
        },
      },
    ],
  },
  'sub-organizations': {
    blocks: [
      {
        block: 'keyhearth request --path /public/v1/submit/create_sub_organization',
        sees: /ACTIVITY_STATUS_COMPLETED/,
      },
      { block: 'keyhearth request --path /public/v1/query/list_suborgs', sees: /"organizationIds": \[\s+"/ },
    ],
  },
  'backup-and-recovery': {
    blocks: [
      {
        block: 'keyhearth lock\nkeyhearth unlock --recovery-file',
        prepare: (reader) => {
          writeWords(reader);
          reader.write('pw', `${password}\n`);
          reader.write('new-pw', 'staple battery horse correct\n');
        },
      },
      {
        block: 'keyhearth backup /media',
        prepare: (reader) => {
          for (const name of ['stick', 'Synced/Keyhearth']) {
            mkdirSync(join(reader.directory, name), { recursive: true });
          }
        },
        own: stick,
      },
      {
        block: 'keyhearth restore',
        // On another machine.
        own: (reader) => [...stick(reader), ['keyhearth restore', 'keyhearth --data-dir other restore']],
        sees: /restored/i,
      },
      {
        block: 'node decrypt-backup.mjs',
        prepare: (reader) => {
          for (const name of ['decrypt-backup.mjs', 'bip39-english.txt']) bring(reader, name);
        },
        own: stick,
      },
      { block: 'litestream replicate', elsewhere: 'test/storage/litestream.test.ts' },
      { block: 'mkdir -p -m 700', elsewhere: 'test/storage/litestream.test.ts' },
    ],
  },
  'activity-log': {
    blocks: [
      { block: 'keyhearth audit verify --head', own: headOf, sees: /The log is intact/ },
      {
        block: 'node verify-log.mjs',
        prepare: (reader) => {
          bring(reader, 'verify-log.mjs');
        },
        // The head that was noted is one of the rows that were exported.
        before: 'rm log.jsonl; keyhearth audit export log.jsonl\n',
        own: headOf,
      },
      {
        block: 'keyhearth doctor --recovery-file',
        prepare: writeWords,
        before: 'kill %1; wait %1 || true\n',
      },
    ],
  },
  'service-and-updates': {
    blocks: [
      // Its service manager is one that the test brings.
      { block: 'keyhearth service install', elsewhere: 'test/commands/service-command.test.ts' },
      { block: 'npm run package', elsewhere: 'test/desktop/installers.test.ts' },
    ],
  },
  'scripts-and-ci': {
    blocks: [
      {
        block: 'keyhearth dev -- npm test',
        own: () => [['npm test', 'keyhearth wallets list']],
        sees: /No wallets/,
      },
      { block: 'keyhearth dev --port 0', until: /"apiPrivateKey"/ },
    ],
  },
  troubleshooting: {
    blocks: [{ block: 'STAMP=', sees: /SIGNATURE_INVALID/ }],
  },
};
