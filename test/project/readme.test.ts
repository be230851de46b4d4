/**
 * README.md as a reader tries it: every block that a shell can run, in its order, in one checkout and one shell on a terminal.
 * What a reader has of their own (files, ids, a mail server) takes the place of what the text shows for it.
 */
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as bitcoinjs from 'bitcoinjs-lib';
import { expect, test } from 'vitest';
import { serializeTransaction } from 'viem';
import { mailUser } from '../delivery/mail-server.ts';
import { fundedPsbt } from '../support/funded-psbt.ts';
import { newTestKey, resultOf, TestClient } from '../support/support.ts';
import { commandsOf, password, Reader, startSurroundings, type Own, type Reading } from './reader.ts';

const root = join(import.meta.dirname, '../..');

const ethereum = 'ADDRESS_FORMAT_ETHEREUM';
const bitcoin = 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH';

/** The words of BIP-39's first example: what the text imports. */
const savings = `${'abandon '.repeat(11)}about`;

const grace = newTestKey();

/** A second user, and something that waits for the owner's vote. */
async function askForApproval(reader: Reader): Promise<void> {
  const owner = await reader.client();
  const users = [
    {
      userName: 'Grace',
      apiKeys: [{ apiKeyName: 'Grace', publicKey: grace.publicKey, curveType: 'API_KEY_CURVE_P256' }],
      ...{ authenticators: [], oauthProviders: [], userTags: [] },
    },
  ];
  resultOf(await owner.submit('create_users', 'CREATE_USERS_V3', { users }));
  resultOf(
    await owner.submit('create_policy', 'CREATE_POLICY_V3', {
      policyName: 'Wallets by two',
      effect: 'EFFECT_ALLOW',
      condition: "activity.type == 'ACTIVITY_TYPE_CREATE_WALLET'",
      consensus: 'approvers.count() >= 2',
      notes: '',
    }),
  );
  const hers = new TestClient(owner.url, owner.organizationId, grace);
  await hers.submit('create_wallet', 'CREATE_WALLET', { walletName: 'For Grace', accounts: [] });
}

async function lastActivity(reader: Reader, status = 'ACTIVITY_STATUS_COMPLETED'): Promise<string> {
  const { body } = await (await reader.client()).query('list_activities', { filterByStatus: [status] });
  return (body as { activities: readonly { id: string }[] }).activities[0]?.id ?? '';
}

const readme = readFileSync(join(root, 'README.md'), 'utf8');

/** The policy that README shows. */
const policyExample = (): string => /^```json\n([^]*?)^```$/m.exec(readme)?.[1] ?? '';

/** The request to a gateway that README shows. */
const gateway = (): string =>
  (/^ {4}\{ "method"[^]*?(?=\n\n)/m.exec(readme)?.[0] ?? '')
    .replaceAll(/^ {4}/gm, '')
    .replace('…', 'a-token');

const stick = (reader: Reader): Own => [['/media/stick', join(reader.directory, 'stick')]];

const atDaily = async (reader: Reader): Promise<Own> => [
  ['0x3b8c…', await reader.addressOf('Daily', ethereum)],
  ['bc1q…', await reader.addressOf('Daily', bitcoin)],
];

async function thingsToSign(reader: Reader): Promise<void> {
  const to = '0x71c7656ec7ab88b098defb751b7401b5f6d8976f';
  const transaction = { chainId: 1, to, value: 1n, gas: 21_000n, maxFeePerGas: 10n, nonce: 0 } as const;
  reader.write('unsigned.hex', `${serializeTransaction({ ...transaction, type: 'eip1559' })}\n`);
  const psbt = fundedPsbt(await reader.addressOf('Daily', bitcoin), bitcoinjs.networks.bitcoin);
  reader.write('unsigned.psbt', `${psbt.toBase64()}\n`);
  const types = {
    EIP712Domain: [{ name: 'name', type: 'string' }],
    Order: [{ name: 'amount', type: 'uint256' }],
  };
  reader.write(
    'order.json',
    JSON.stringify({ types, primaryType: 'Order', domain: { name: 'Shop' }, message: { amount: '3' } }),
  );
}

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

/** In README's order. */
const readings: readonly Reading[] = [
  { block: 'npm install && npm start', elsewhere: 'test/project/start.test.ts' },
  { block: 'npm install --global .', elsewhere: 'test/project/installed-command.test.ts' },
  // The run that this test is a part of.
  { block: 'npm install && npm test', elsewhere: 'test/project/readme.test.ts' },
  { block: './keyhearth init', until: /Keyhearth serves http\S+ the vault is unlocked/, sees: /Owner Ann/ },
  { block: './keyhearth wallets create', sees: /bc1q/ },
  { block: './keyhearth bots add', sees: /It may send at most 0.05 ETH from the wallet "Daily"/ },
  { block: './keyhearth request --path /public/v1/submit/create_wallet', sees: /ACTIVITY_STATUS_COMPLETED/ },
  {
    block: "BODY='",
    own: async (reader) => [['<organization id>', (await reader.client()).organizationId]],
    sees: /"username":\s*"Ann"/,
  },
  {
    block: './keyhearth import wallet',
    prepare: (reader) => {
      reader.write('savings.txt', `${savings}\n`);
      reader.write('key.hex', `${'9d'.repeat(32)}\n`);
    },
    own: () => [['0x9858…', '0x9858EfFD232B4033E47d90003D41EC34EcaEda94']],
    sees: /is in id.json/,
  },
  {
    block: './keyhearth sign transaction',
    prepare: thingsToSign,
    own: atDaily,
    sees: /"v":"0[01]"/,
  },
  {
    block: './keyhearth dev -- npm test',
    own: () => [['npm test', 'keyhearth wallets list']],
    sees: /No wallet/,
  },
  { block: './keyhearth dev --port 0', until: /"apiPrivateKey"/ },
  { block: './keyhearth webhooks listen', until: /http:\/\/127\.0\.0\.1/ },
  {
    block: './keyhearth messages mail',
    prepare: (reader) => {
      reader.write('pw', `${mailUser.password}\n`);
      reader.write('token', 'a token\n');
      reader.write('gateway.json', gateway());
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
  {
    block: './keyhearth sessions list',
    prepare: async (reader) => {
      const owner = await reader.client();
      const { publicKey } = newTestKey();
      resultOf(await owner.submit('stamp_login', 'STAMP_LOGIN', { publicKey, expirationSeconds: '600' }));
    },
    own: async (reader) => {
      const { sessions } = await reader.ask<{ sessions: readonly { sessionId: string }[] }>(
        'sessions',
        'list',
      );
      return [[/ID (?= )/g, `${sessions[0]?.sessionId ?? ''} `]];
    },
  },
  {
    block: './keyhearth policies check',
    prepare: async (reader) => {
      await askForApproval(reader);
      reader.write('policies.json', policyExample());
      const { organizationId } = await reader.client();
      const parameters = { walletName: 'New', accounts: [] };
      const type = 'ACTIVITY_TYPE_CREATE_WALLET';
      reader.write(
        'request.json',
        JSON.stringify({ type, timestampMs: String(Date.now()), organizationId, parameters }),
      );
    },
    own: async (reader) => [
      ['0190a1b2-…', await lastActivity(reader)],
      ['8f14e45f-…', (await reader.ask<{ owner: { userId: string } }>('status')).owner.userId],
    ],
  },
  {
    block: './keyhearth request --path /public/v1/submit/create_sub_organization',
    sees: /ACTIVITY_STATUS_COMPLETED/,
  },
  {
    block: './keyhearth approvals list',
    own: async (reader) => [['01a2018f-63…', await lastActivity(reader, 'ACTIVITY_STATUS_CONSENSUS_NEEDED')]],
    sees: /For Grace/,
  },
  // Its service manager is one that the test brings.
  { block: 'eval "$(keyhearth completion bash)"', elsewhere: 'test/commands/service-command.test.ts' },
  { block: './keyhearth audit verify', own: headOf },
  {
    block: 'node verify-log.mjs',
    prepare: (reader) => {
      copyFileSync(join(root, 'dist/standalone/verify-log.mjs'), join(reader.directory, 'verify-log.mjs'));
    },
    own: headOf,
  },
  {
    block: './keyhearth keyslots list',
    prepare: (reader) => {
      reader.write('words.txt', `${reader.words().join(' ')}\n`);
      reader.write('pw', `${password}\n`);
      reader.write('new-pw', 'staple battery horse correct\n');
    },
  },
  { block: './keyhearth keyslots rotate' },
  { block: './keyhearth recovery sheet' },
  {
    block: './keyhearth backup',
    prepare: (reader) => {
      for (const name of ['stick', 'Synced/Keyhearth'])
        mkdirSync(join(reader.directory, name), { recursive: true });
    },
    own: (reader) => [...stick(reader), ['~/', `${reader.directory}/`]],
  },
  {
    block: './keyhearth restore',
    // On another machine.
    own: (reader) => [...stick(reader), ['./keyhearth', './keyhearth --data-dir other --config-dir other']],
    sees: /restored/i,
  },
  { block: 'litestream replicate', elsewhere: 'test/storage/litestream.test.ts' },
  { block: 'mkdir -p -m 700', elsewhere: 'test/storage/litestream.test.ts' },
  { block: './keyhearth doctor', before: 'kill %1; wait %1 || true\n' },
  {
    block: './keyhearth settings list',
    before: './keyhearth serve --password-file new-pw &\n',
    until: /the vault is unlocked/,
  },
  { block: './keyhearth freeze' },
];

test('the list of blocks is README’s own', () => {
  // What a shell runs is indented, so that none is overlooked.
  const languages = [...readme.matchAll(/^```(\w*)\n[^]*?^```$/gm)].map(([, language]) => language);
  expect(new Set(languages)).toEqual(
    new Set(['ts', 'json', 'yaml'].filter((each) => languages.includes(each))),
  );
  const blocks = commandsOf(readme);
  expect(
    blocks.map((block) => readings.find((each) => block.startsWith(each.block))?.block ?? block),
  ).toEqual(readings.map(({ block }) => block));
});

test('every block does what it says, in its order', { timeout: 300_000 }, async () => {
  await using surroundings = await startSurroundings();
  await using reader = await Reader.start(surroundings);
  await reader.read(readme, readings);
});
