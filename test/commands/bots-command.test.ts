/** `keyhearth bots` and `keygen --user` on a served vault: what a bot may do, by attack. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { serializeTransaction } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  activityOf,
  ethereumAccount,
  newTestKey,
  newWallet,
  resultOf,
  runCommand,
  solanaAccount,
  startTestVault,
  temporaryDirectory,
  testKeyOf,
  type Json,
  type TestClient,
  type TestKey,
  type TestVault,
} from '../support/support.ts';

const password = 'correct horse battery staple';

interface Made {
  readonly userId: string;
  readonly privateKeyFile: string;
  readonly publicKeyFile: string;
  readonly words: readonly string[];
}

let service: TestVault;
let root: TestClient;
let bob: TestClient;
let first = '';
let second = '';
let solana = '';
let other = '';
let privateKeyId = '';
let alone = '';

const configDirectory = (): string => join(dirname(service.directory), 'config');

function keepKey(name: string, { publicKey, privateKey }: TestKey): void {
  const { keysDirectory } = service.config;
  mkdirSync(keysDirectory, { recursive: true });
  writeFileSync(join(keysDirectory, `${name}.public`), publicKey);
  writeFileSync(join(keysDirectory, `${name}.private`), privateKey, { mode: 0o600 });
}

beforeAll(async () => {
  service = await startTestVault({ password });
  ({ root } = service);
  keepKey('owner', service.key);
  bob = (await service.newUser('Bob')).client;
  keepKey('bob', bob.key);
  const accounts = [ethereumAccount, { ...ethereumAccount, path: "m/44'/60'/0'/0/1" }, solanaAccount];
  const daily = await root.submit('create_wallet', 'CREATE_WALLET', { walletName: 'Daily', accounts });
  [first = '', second = '', solana = ''] = resultOf(daily).addresses;
  other = (await newWallet(root, 'Savings')).ethereum;
  const key = {
    privateKeyName: 'Alone',
    curve: 'CURVE_SECP256K1',
    privateKeyTags: [],
    addressFormats: ['ADDRESS_FORMAT_ETHEREUM'],
  };
  const keys = resultOf(
    await root.submit('create_private_keys', 'CREATE_PRIVATE_KEYS_V2', { privateKeys: [key] }),
  );
  privateKeyId = keys.privateKeys[0]?.privateKeyId ?? '';
  alone = keys.privateKeys[0]?.addresses[0]?.address ?? '';
});
afterAll(() => service[Symbol.asyncDispose]());

const run = (argv: readonly string[], keys = configDirectory()) =>
  runCommand(argv, {
    environment: {
      HOME: service.directory,
      KEYHEARTH_DATA_DIR: service.directory,
      KEYHEARTH_CONFIG_DIR: keys,
    },
  });

async function ask<T = Json>(...argv: readonly string[]): Promise<T> {
  const { code, stdout, stderr } = await run([...argv, '--json']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as T;
}

/** The bot, with the key that the command wrote. */
const clientOf = ({ publicKeyFile, privateKeyFile }: Made): TestClient =>
  root.as(testKeyOf(readFileSync(privateKeyFile, 'utf8').trim(), readFileSync(publicKeyFile, 'utf8').trim()));

const friend = '0x5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a';
const gwei = 10n ** 9n;
let nonce = 0;

/** A payment of which the fee is 0.00021 ETH at most. */
const payment = (ether: number, change: object = {}): string =>
  serializeTransaction({
    type: 'eip1559',
    chainId: 1,
    nonce: nonce++,
    to: friend,
    value: BigInt(Math.round(ether * 1e9)) * gwei,
    gas: 21_000n,
    maxFeePerGas: 10n * gwei,
    maxPriorityFeePerGas: gwei,
    ...change,
  });

async function sign(client: TestClient, signWith: string, unsignedTransaction: string, type = 'ETHEREUM') {
  const parameters = { signWith, unsignedTransaction, type: `TRANSACTION_TYPE_${type}` };
  return (await client.submit('sign_transaction', 'SIGN_TRANSACTION_V2', parameters)).status;
}

async function userNames(): Promise<readonly string[]> {
  const { body } = await root.query('list_users');
  return (body as { users: { userName: string }[] }).users.map(({ userName }) => userName);
}

async function policies(): Promise<readonly { policyId: string; policyName: string }[]> {
  return (await root.query('list_policies')).body?.['policies'] as { policyId: string; policyName: string }[];
}

async function withPolicy(draft: object, act: () => Promise<void>): Promise<void> {
  const made = await root.submit('create_policy', 'CREATE_POLICY_V3', { notes: '', ...draft });
  const { policyId } = resultOf(made);
  await act();
  resultOf(await root.submit('delete_policy', 'DELETE_POLICY', { policyId }));
}

const anything = { policyName: 'Anything', effect: 'EFFECT_ALLOW' };

describe('a bot', () => {
  let made: Made;
  let bot: TestClient;

  beforeAll(async () => {
    made = await ask<Made>('bots', 'add', 'claude', '--wallet', 'Daily', '--budget', '0.05 ETH/day');
    bot = clientOf(made);
  });

  test('is described in words that say what it may do', () => {
    expect(made.words[0]).toBe(
      'May send at most 0.05 ETH from the wallet "Daily" on Ethereum in any day, fees included.',
    );
  });

  /** Requests that a bot may not make, even if policies allow them to all users. */
  const attacks = (): readonly (readonly [string, string, string, Json])[] => {
    const userId = made.userId;
    const key = { apiKeyName: 'mine', publicKey: newTestKey().publicKey, curveType: 'API_KEY_CURVE_P256' };
    const user = { userName: 'Twin', apiKeys: [key], authenticators: [], oauthProviders: [], userTags: [] };
    const transaction = (signWith: string, unsignedTransaction: string) => ({
      signWith,
      unsignedTransaction,
      type: 'TRANSACTION_TYPE_ETHEREUM',
    });
    const raw = {
      signWith: first,
      encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
      hashFunction: 'HASH_FUNCTION_NO_OP',
    };
    const call = `0xa9059cbb${'0'.repeat(128)}` as const;
    return [
      ['another wallet', 'sign_transaction', 'SIGN_TRANSACTION_V2', transaction(other, payment(0.001))],
      ['a private key', 'sign_transaction', 'SIGN_TRANSACTION_V2', transaction(alone, payment(0.001))],
      [
        'a private key by its id',
        'sign_transaction',
        'SIGN_TRANSACTION_V2',
        transaction(privateKeyId, payment(0.001)),
      ],
      ['a token', 'sign_transaction', 'SIGN_TRANSACTION_V2', transaction(first, payment(0, { data: call }))],
      [
        'another chain',
        'sign_transaction',
        'SIGN_TRANSACTION_V2',
        transaction(first, payment(0.001, { chainId: 137 })),
      ],
      [
        'a new contract',
        'sign_transaction',
        'SIGN_TRANSACTION_V2',
        transaction(first, payment(0, { to: undefined, data: '0x00' })),
      ],
      ['a digest', 'sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', { ...raw, payload: 'ab'.repeat(32) }],
      [
        'a payment as a payload',
        'sign_raw_payload',
        'SIGN_RAW_PAYLOAD_V2',
        { ...raw, payload: payment(0.001).slice(2), hashFunction: 'HASH_FUNCTION_KECCAK256' },
      ],
      ['many payloads', 'sign_raw_payloads', 'SIGN_RAW_PAYLOADS', { ...raw, payloads: ['ab'.repeat(32)] }],
      [
        'Solana',
        'sign_raw_payload',
        'SIGN_RAW_PAYLOAD_V2',
        { ...raw, signWith: solana, payload: 'ab', hashFunction: 'HASH_FUNCTION_NOT_APPLICABLE' },
      ],
      ['a user', 'create_users', 'CREATE_USERS_V4', { users: [user] }],
      ['a key of its own', 'create_api_keys', 'CREATE_API_KEYS_V2', { userId, apiKeys: [key] }],
      [
        'a key of its own by an older type',
        'create_api_keys',
        'CREATE_API_KEYS',
        { userId, apiKeys: [{ apiKeyName: 'mine', publicKey: key.publicKey }] },
      ],
      ['its name', 'update_user_name', 'UPDATE_USER_NAME', { userId, userName: 'Ann' }],
      ['its mail address', 'update_user_email', 'UPDATE_USER_EMAIL', { userId, userEmail: 'a@example.com' }],
      ['a session', 'create_read_only_session', 'CREATE_READ_ONLY_SESSION', {}],
      ['a policy', 'create_policy', 'CREATE_POLICY_V3', { ...anything, notes: '' }],
      ['the end of its denials', 'delete_policies', 'DELETE_POLICIES', { policyIds: [] }],
      [
        'an export',
        'export_wallet_account',
        'EXPORT_WALLET_ACCOUNT',
        { address: first, targetPublicKey: '04'.padEnd(130, '1') },
      ],
      ['a wallet', 'create_wallet', 'CREATE_WALLET', { walletName: 'Mine', accounts: [] }],
    ];
  };

  async function refusedAll(): Promise<void> {
    const policyIds = (await policies())
      .filter(({ policyName }) => policyName.startsWith('Bot claude'))
      .map(({ policyId }) => policyId);
    expect(policyIds).toHaveLength(5);
    const outcomes: Record<string, unknown> = {};
    for (const [what, path, type, parameters] of attacks()) {
      const given = path === 'delete_policies' ? { policyIds } : parameters;
      const { status, body } = await bot.submit(path, type, given);
      outcomes[what] = [status, body?.['turnkeyErrorCode']];
    }
    const expected = attacks().map(([what]) => [what, [403, 'REQUEST_NOT_AUTHORIZED']]);
    expect(outcomes).toEqual(Object.fromEntries(expected));
  }

  test('does nothing else, even if other policies allow all users everything', async () => {
    await refusedAll();
    await withPolicy(anything, async () => {
      await refusedAll();
      const [listed] = (await ask<{ bots: (Made & { asCreated: boolean })[] }>('bots', 'list')).bots;
      expect(listed).toMatchObject({ userId: made.userId, asCreated: false });
      expect(listed?.words).toContain('The policy "Anything" may allow payments beyond the budget.');
      const refused = await run(['bots', 'add', 'late', '--wallet', 'Daily', '--budget', '1 wei/day']);
      expect(refused).toMatchObject({ code: 1, stdout: '' });
      expect(refused.stderr).toContain('the budget would not hold. The policy "Anything" may allow payments');
      expect(await userNames()).not.toContain('late');
      expect((await policies()).filter(({ policyName }) => policyName.includes('late'))).toEqual([]);
      expect(existsSync(join(service.config.keysDirectory, 'late.private'))).toBe(false);
    });
  });

  test('is not a second vote for any user', async () => {
    const two = { policyName: 'Two', effect: 'EFFECT_ALLOW', consensus: 'approvers.count() >= 2' };
    await withPolicy(two, async () => {
      const asked = await bob.submit('create_wallet', 'CREATE_WALLET', { walletName: 'Bob’s', accounts: [] });
      const { fingerprint } = activityOf(asked);
      const vote = await bot.submit('approve_activity', 'APPROVE_ACTIVITY', { fingerprint });
      const { body } = await root.query('list_wallets');
      expect(JSON.stringify(body)).not.toContain('Bob’s');
      expect(vote.status).not.toBe(500);
      resultOf(await root.submit('reject_activity', 'REJECT_ACTIVITY', { fingerprint }));
    });
  });

  test('pays from its wallet alone when names change places', async () => {
    const { body } = await root.query('list_wallets');
    const wallets = body?.['wallets'] as { walletId: string; walletName: string }[];
    const idOf = (name: string) => wallets.find(({ walletName }) => walletName === name)?.walletId;
    const rename = async (from: string, walletName: string) => {
      resultOf(await root.submit('update_wallet', 'UPDATE_WALLET', { walletId: idOf(from), walletName }));
    };
    await rename('Daily', 'Old');
    await rename('Savings', 'Daily');
    expect(await sign(bot, other, payment(0.001))).toBe(403);
    expect(await sign(bot, first, payment(0.001))).toBe(200);
    const { stdout } = await run(['bots', 'list']);
    expect(stdout).toContain('from the wallet "Old"');
    await rename('Savings', 'Savings');
    await rename('Daily', 'Daily');
  });

  test('pays within its budget, which all keys of the wallet share', async () => {
    expect(await sign(bot, first, payment(0.03))).toBe(200);
    expect(await sign(bot, second, payment(0.03))).toBe(403);
    expect(await sign(bot, first, payment(0.05))).toBe(403);
    // With what the test above spent, and the fees, 0.05 ETH are spent to the last wei.
    expect(await sign(bot, second, payment(0.018370001))).toBe(403);
    expect(await sign(bot, second, payment(0.01837))).toBe(200);
    expect(await sign(bot, first, payment(0))).toBe(403);
  });

  test('is removed with its key, policies and files, and its key opens nothing', async () => {
    expect((await run(['bots', 'remove', 'Bob'])).stderr).toContain('no bot has the id or the name "Bob"');
    expect(await ask('bots', 'remove', made.userId.slice(0, 8))).toMatchObject({ userName: 'claude' });
    expect(await sign(bot, first, payment(0))).toBe(401);
    expect(await policies()).toEqual([]);
    expect(existsSync(made.privateKeyFile)).toBe(false);
    expect(await run(['bots', 'list'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^No bots\./) as unknown,
    });
  });
});

describe('bots add', () => {
  const add = (name: string, ...more: readonly string[]) => [
    ...['bots', 'add', name, '--wallet', 'Daily', '--budget', '0.05 ETH/day'],
    ...more,
  ];

  test.each([
    ['a name that is another’s', add('Bob'), 1, 'user name must be unique, "Bob" is taken'],
    ['a budget in another unit', [...add('x'), '--budget', '5 USDC/day'], 2, 'invalid --budget "5 USDC/day"'],
    ['a chain of another coin', add('x', '--chain', '137'), 2, 'invalid --chain "137"'],
    ['a chain whose fee nothing bounds', add('x', '--chain', '10'), 2, 'invalid --chain "10"'],
    ['a receiver that is none', add('x', '--to', 'alice.eth'), 2, 'invalid --to "alice.eth"'],
    [
      'a receiver that is mistyped',
      add('x', '--to', '0x71C7656EC7ab88b098defB751B7401B5f6d8976A'),
      2,
      'invalid --to "0x71C7656EC7ab88b098defB751B7401B5f6d8976A"',
    ],
    [
      'a wallet that is none',
      [...add('x'), '--wallet', 'None'],
      1,
      'no wallet has the id or the name "None"',
    ],
    ['a name that is no file’s', add('../x'), 2, 'invalid key name "../x"'],
  ])('refuses %s, and leaves nothing', async (_, argv, expected, message) => {
    const before = [await userNames(), await policies()];
    const { code, stdout, stderr } = await run(argv);
    expect({ code, stdout }).toEqual({ code: expected, stdout: '' });
    expect(stderr).toContain(message);
    expect([await userNames(), await policies()]).toEqual(before);
    expect(existsSync(join(service.config.keysDirectory, 'x.private'))).toBe(false);
    expect(existsSync(join(service.config.keysDirectory, 'Bob.private'))).toBe(false);
  });

  test('takes everything back where its policies are refused', async () => {
    await withPolicy({ policyName: 'Bot x: pays', effect: 'EFFECT_DENY', condition: 'false' }, async () => {
      const { code, stderr } = await run(add('x'));
      expect({ code, stderr }).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('is taken') as string,
      });
      expect(await userNames()).not.toContain('x');
      expect((await policies()).map(({ policyName }) => policyName)).toEqual(['Bot x: pays']);
      expect(existsSync(join(service.config.keysDirectory, 'x.private'))).toBe(false);
    });
  });

  test('makes one bot of two at once, and the other run takes nothing of it', async () => {
    const elsewhere = join(service.directory, '..', 'elsewhere');
    using papers = temporaryDirectory();
    const secret = join(papers.path, 'password');
    writeFileSync(secret, password);
    const runs = await Promise.all([
      run([...add('one'), '--json']),
      // Without a key of the owner's on the disk: a secret of the vault proves the owner.
      run([...add('one', '--password-file', secret), '--json'], elsewhere),
    ]);
    expect(runs.map(({ code }) => code).sort()).toEqual([0, 1]);
    const made = JSON.parse(runs.find(({ code }) => code === 0)?.stdout ?? '') as Made;
    expect(await sign(clientOf(made), first, payment(0.001))).toBe(200);
    const { bots } = await ask<{ bots: Json[] }>('bots', 'list');
    expect(bots).toMatchObject([{ userId: made.userId, apiKeys: 1, asCreated: true }]);
    const ofWinner = runs[0].code === 0 ? configDirectory() : elsewhere;
    expect((await run(['bots', 'remove', 'one', '--json'], ofWinner)).code).toBe(0);
    expect(existsSync(made.privateKeyFile)).toBe(false);
    expect((await run(add('one', '--password-file', secret), elsewhere)).code).toBe(0);
    expect((await run(['bots', 'remove', 'one'], elsewhere)).code).toBe(0);
    expect(existsSync(join(elsewhere, 'keys', 'one.private'))).toBe(false);
  });

  test('waits for votes at each step, and cannot sign before the last', async () => {
    const two = { policyName: 'Two', effect: 'EFFECT_ALLOW', consensus: 'approvers.count() >= 2' };
    const approve = async (stderr: string) => {
      const { error } = JSON.parse(stderr) as { error: { fingerprint: string; message: string } };
      expect(error.message).toContain('run the same command again with --continue');
      const { fingerprint } = error;
      activityOf(await root.submit('approve_activity', 'APPROVE_ACTIVITY', { fingerprint }));
    };
    await withPolicy(two, async () => {
      const argv = add('slow', '--api-key', 'bob', '--json');
      const files = join(service.config.keysDirectory, 'slow');
      const bot = async () =>
        sign(
          root.as(
            testKeyOf(
              readFileSync(`${files}.private`, 'utf8').trim(),
              readFileSync(`${files}.public`, 'utf8').trim(),
            ),
          ),
          first,
          payment(0.001),
        );
      const user = await run(argv);
      expect(user).toMatchObject({ code: 6, stdout: '' });
      await approve(user.stderr);
      expect(await bot()).toBe(401);
      const rules = await run([...argv, '--continue']);
      expect(rules.code).toBe(6);
      expect(await bot()).toBe(401);
      await approve(rules.stderr);
      const other = await run([...argv, '--continue', '--budget', '9 ETH/day']);
      expect(other).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('has other policies already') as string,
      });
      const key = await run([...argv, '--continue']);
      expect(key.code).toBe(6);
      expect(await bot()).toBe(401);
      await approve(key.stderr);
      expect(await bot()).toBe(200);
      expect((await run([...argv, '--continue'])).code).toBe(0);
    });
    const meanwhile = { policyName: 'Meanwhile', effect: 'EFFECT_ALLOW', notes: '' };
    const { policyId } = resultOf(await root.submit('create_policy', 'CREATE_POLICY_V3', meanwhile));
    expect(await run([...add('slow'), '--continue'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        'its key works already: remove it with `keyhearth bots remove',
      ) as string,
    });
    resultOf(await root.submit('delete_policy', 'DELETE_POLICY', { policyId }));
    expect((await run(['bots', 'remove', 'slow'])).code).toBe(0);
  });

  /** Where two people decide, while the second approves of all that waits. */
  async function withSecondPerson(
    name: string,
    act: (directory: string) => ReturnType<typeof run>,
    before: (approve: (fingerprint: string) => Promise<unknown>, type: string) => Promise<void> = () =>
      Promise.resolve(),
  ) {
    const { userId, client } = await service.newUser(name);
    const { rootUserId } = service;
    const quorum = { threshold: 2, userIds: [rootUserId, userId] };
    await root.submit('update_root_quorum', 'UPDATE_ROOT_QUORUM', quorum);
    using directory = temporaryDirectory();
    writeFileSync(join(directory.path, 'secret'), password);
    const approve = (fingerprint: string) =>
      client.submit('approve_activity', 'APPROVE_ACTIVITY', { fingerprint });
    const ended = new AbortController();
    const acted = act(directory.path).finally(() => {
      ended.abort();
    });
    while (!ended.signal.aborted) {
      const { body } = await client.query('list_activities', {
        filterByStatus: ['ACTIVITY_STATUS_CONSENSUS_NEEDED'],
      });
      for (const { fingerprint, type } of (body as { activities: Json[] }).activities) {
        await before(approve, String(type));
        await approve(String(fingerprint));
      }
      await pause(100);
    }
    const alone = { threshold: 1, userIds: [rootUserId] };
    const back = activityOf(await root.submit('update_root_quorum', 'UPDATE_ROOT_QUORUM', alone));
    await approve(back.fingerprint);
    return await acted;
  }

  test('waits with --wait for the votes on each step, also where the owner has no key on the disk', async () => {
    const { code, stdout } = await withSecondPerson('Dora', async (directory) => {
      const owner = ['--password-file', join(directory, 'secret')];
      const made = await run([...add('paced'), ...owner, '--wait', '60', '--json'], directory);
      expect(await sign(clientOf(JSON.parse(made.stdout) as Made), first, payment(0.001))).toBe(200);
      return made;
    });
    expect({ code, stdout }).toMatchObject({ code: 0 });
    expect((await run(['bots', 'remove', 'paced'])).code).toBe(0);
  });

  test('leaves no bot that another policy lets do more by the time that it has its key', async () => {
    let policyId = '';
    const { code, stderr } = await withSecondPerson(
      'Emil',
      (directory) =>
        run([...add('wide'), '--password-file', join(directory, 'secret'), '--wait', '60'], directory),
      async (approve, type) => {
        if (policyId !== '' || !type.includes('CREATE_API_KEYS')) return;
        const meanwhile = { policyName: 'Meanwhile', effect: 'EFFECT_ALLOW', notes: '' };
        const asked = activityOf(await root.submit('create_policy', 'CREATE_POLICY_V3', meanwhile));
        ({ policyId } = resultOf((await approve(asked.fingerprint)) as never) as never);
      },
    );
    expect(code).toBe(1);
    expect(stderr).toContain('The policy "Meanwhile" may allow payments beyond the budget.');
    expect(await userNames()).not.toContain('wide');
    expect((await policies()).map(({ policyName }) => policyName)).toEqual(['Meanwhile']);
    resultOf(await root.submit('delete_policy', 'DELETE_POLICY', { policyId }));
  });

  test('says how to go on after a command that was killed once it had created the user', async () => {
    const key = newTestKey();
    keepKey('cut', key);
    const user = { userName: 'cut', apiKeys: [], authenticators: [], oauthProviders: [], userTags: [] };
    resultOf(await root.submit('create_users', 'CREATE_USERS_V3', { users: [user] }));
    const again = await run(add('cut'));
    expect(again.code).toBe(1);
    expect(again.stderr).toContain('add --continue');
    expect((await run(add('cut', '--continue'))).code).toBe(0);
    expect(await sign(root.as(key), first, payment(0.001))).toBe(200);
    expect((await run(['bots', 'remove', 'cut'])).code).toBe(0);
  });

  test.each(['neither half', 'the private half'])(
    'advises no key of the owner’s where it has %s of a key to go on with',
    async (had) => {
      keepKey('none', newTestKey());
      const files = join(service.config.keysDirectory, 'none');
      rmSync(`${files}.public`);
      if (had === 'neither half') rmSync(`${files}.private`);
      const { code, stderr } = await run(add('none', '--continue'));
      rmSync(`${files}.private`, { force: true });
      expect(code).toBe(1);
      expect(stderr).toContain('leave out --continue');
      expect(stderr).not.toContain('keygen');
    },
  );

  test('does not go on with another user of the same name', async () => {
    const key = newTestKey();
    keepKey('Bob', key);
    const { code, stderr } = await run(add('Bob', '--continue'));
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is not a bot that waits') as string,
    });
    expect((await root.as(key).query('whoami')).status).toBe(401);
  });
});

describe('keygen --register', () => {
  test('says of a key that waits for another person that it waits', async () => {
    const { userId, client } = await service.newUser('Frida');
    const { rootUserId } = service;
    /** As the owner, with the other person's vote. */
    const together = async (path: string, type: string, parameters: Json): Promise<void> => {
      const { fingerprint } = activityOf(await root.submit(path, type, parameters));
      activityOf(await client.submit('approve_activity', 'APPROVE_ACTIVITY', { fingerprint }));
    };
    const quorum = { threshold: 2, userIds: [rootUserId, userId] };
    resultOf(await root.submit('update_root_quorum', 'UPDATE_ROOT_QUORUM', quorum));
    // A user may change its own credentials unless a policy decides otherwise.
    await together('create_policy', 'CREATE_POLICY_V3', {
      policyName: 'Two for keys',
      effect: 'EFFECT_DENY',
      condition: "activity.type == 'ACTIVITY_TYPE_CREATE_API_KEYS_V2'",
      consensus: 'approvers.count() < 2',
      notes: '',
    });
    using directory = temporaryDirectory();
    const secret = join(directory.path, 'secret');
    writeFileSync(secret, password);
    const argv = ['keygen', '--register', '--name', 'mine', '--password-file', secret, '--json'];
    const { code, stdout, stderr } = await run(argv, directory.path);
    const alone = { threshold: 1, userIds: [rootUserId] };
    await together('update_root_quorum', 'UPDATE_ROOT_QUORUM', alone);
    const { policies } = (await root.query('list_policies')).body as { policies: readonly Json[] };
    const policyId = policies.find(({ policyName }) => policyName === 'Two for keys')?.['policyId'];
    resultOf(await root.submit('delete_policy', 'DELETE_POLICY', { policyId }));
    expect({ code, stdout }).toEqual({ code: 6, stdout: '' });
    expect(stderr).toContain('fingerprint');
    // It is of use once it is approved.
    expect(existsSync(join(directory.path, 'keys', 'mine.private'))).toBe(true);
  });
});

describe('keygen --user', () => {
  test('registers the key for that user, with what policies allow it', async () => {
    const { body } = await bob.query('whoami');
    const made = await ask<Made>('keygen', '--name', 'bobs', '--user', String(body?.['userId']).slice(0, 8));
    expect((await clientOf(made).query('whoami')).body).toMatchObject({ username: 'Bob' });
  });

  test('leaves no files where the user is unknown or the key is refused', async () => {
    const nobody = await run(['keygen', '--name', 'nobody', '--user', 'Nobody']);
    expect(nobody).toMatchObject({ code: 1, stdout: '' });
    const refused = await run(['keygen', '--name', 'nobody', '--user', 'Root', '--api-key', 'bob']);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(existsSync(join(service.config.keysDirectory, 'nobody.private'))).toBe(false);
  });

  test('says that it waits for approvals, and keeps the files for then', async () => {
    const two = { policyName: 'Two', effect: 'EFFECT_ALLOW', consensus: 'approvers.count() >= 2' };
    const { userId } = await service.newUser('Cleo');
    await withPolicy(two, async () => {
      const { code } = await run(['keygen', '--name', 'cleo', '--user', userId, '--api-key', 'bob']);
      expect(code).toBe(6);
      expect(existsSync(join(service.config.keysDirectory, 'cleo.private'))).toBe(true);
    });
  });
});
