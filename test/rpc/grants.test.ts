/**
 * Approvals for a time. The classes: a grant lets through the like of the request that waited and nothing wider, it ends by the
 * clock, by a timer, by a lock and by a freeze, and what cannot be bounded is approved once.
 */
import { createECDH, generateKeyPairSync, sign } from 'node:crypto';
import Sqlite from 'better-sqlite3';
import { serializeTransaction } from 'viem';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { encodeSshMessage } from '../../main/chains/ssh/payloads.ts';
import { encodeSshKey, sshString } from '../../main/chains/ssh/wire.ts';
import { GrantEnds } from '../../main/operations/policies/grant-ends.ts';
import { grantNotes, grantTime } from '../../main/lib/policies/grants.ts';
import {
  activityOf,
  ethereumAccount,
  resultOf,
  startTestVault,
  type Answer,
  type Json,
  type TestClient,
  type TestVault,
} from '../support/support.ts';

const password = 'correct horse battery staple';
const receiver = `0x${'35'.repeat(20)}` as const;
const other = `0x${'36'.repeat(20)}` as const;

let service: TestVault;
let root: TestClient;
let bot: TestClient;
let botId = '';
let addresses: readonly string[] = [];

beforeAll(async () => {
  service = await startTestVault({ password });
  ({ root } = service);
  const made = await service.newUser('Bot');
  ({ client: bot, userId: botId } = made);
  ({ addresses } = resultOf(
    await root.submit('create_wallet', 'CREATE_WALLET', {
      walletName: 'Daily',
      accounts: [ethereumAccount, { ...ethereumAccount, path: "m/44'/60'/0'/0/1" }],
    }),
  ));
  const { users } = (await root.query('list_users', {})).body as {
    users: { userId: string; userName: string }[];
  };
  const owner = users.find(({ userName }) => userName === 'Root')?.userId ?? '';
  resultOf(
    await root.submit('create_policy', 'CREATE_POLICY_V3', {
      policyName: 'Ask me',
      effect: 'EFFECT_ALLOW',
      condition: `submitter.id == '${botId}' && activity.action == 'SIGN' || activity.action == 'EXPORT'`,
      consensus: `approvers.any(user, user.id == '${botId}') && approvers.any(user, user.id == '${owner}')`,
      notes: '',
    }),
  );
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

interface Payment {
  readonly to?: `0x${string}`;
  readonly value?: bigint;
  readonly data?: `0x${string}`;
  readonly from?: string;
  readonly maxFeePerGas?: bigint;
}

let nonce = 0;
const pay = async ({ to = receiver, value = 10n, data, from, maxFeePerGas = 5n }: Payment = {}) =>
  activityOf(
    await bot.submit('sign_transaction', 'SIGN_TRANSACTION_V2', {
      signWith: from ?? addresses[0],
      type: 'TRANSACTION_TYPE_ETHEREUM',
      unsignedTransaction: serializeTransaction({
        ...{ type: 'eip1559', chainId: 1, nonce: nonce++, gas: 21_000n, to, value, maxFeePerGas },
        ...(data && { data }),
      }),
    }),
  );
const outcome = async (payment?: Payment) => (await pay(payment)).status.slice('ACTIVITY_STATUS_'.length);
const grant = async (fingerprint: string, span = 'TEN_MINUTES') =>
  root.submit('create_grant', 'CREATE_GRANT', { fingerprint, span });
const waiting = 'CONSENSUS_NEEDED';
const grants = async (): Promise<readonly Json[]> => {
  const { policies } = (await root.query('list_policies', {})).body as { policies: readonly Json[] };
  return policies.filter(({ notes }) => notes === grantNotes);
};

afterEach(() => {
  vi.useRealTimers();
});

beforeEach(async () => {
  for (const { policyId } of await grants())
    resultOf(await root.submit('delete_policy', 'DELETE_POLICY', { policyId }));
});

test('a grant follows from a policy whose condition is blank', async () => {
  const { policies } = (await root.query('list_policies', {})).body as { policies: readonly Json[] };
  const { policyId, condition } = policies.find(({ policyName }) => policyName === 'Ask me') ?? {};
  const change = async (policyCondition: unknown) =>
    resultOf(await root.submit('update_policy', 'UPDATE_POLICY_V2', { policyId, policyCondition }));
  await change(' \n');
  const asked = await pay();
  activityOf(await grant(asked.fingerprint));
  expect(await outcome()).toBe('COMPLETED');
  expect(await outcome({ to: other })).toBe(waiting);
  await change(condition);
  expect(await grants()).toEqual([]);
  expect(await outcome()).toBe(waiting);
});

test('a grant lets through the like, and nothing wider', async () => {
  const asked = await pay();
  expect(asked.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
  const made = activityOf(await grant(asked.fingerprint));
  expect(made.type).toBe('ACTIVITY_TYPE_CREATE_GRANT');
  // The request itself is still for the vote.
  const { status } = activityOf(await root.query('get_activity', { activityId: asked.id }));
  expect(status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
  expect(await outcome()).toBe('COMPLETED');
  expect(await outcome({ value: 3n })).toBe('COMPLETED');
  for (const payment of [
    { to: other },
    { value: 11n },
    { data: '0x01' },
    { from: addresses[1] ?? '' },
    { maxFeePerGas: 50n },
  ] as const) {
    expect(
      await outcome(payment),
      JSON.stringify(payment, (_, value: unknown) => String(value)),
    ).toBe(waiting);
  }
  const blind = await bot.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', {
    signWith: addresses[0],
    payload: 'ab'.repeat(32),
    encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
    hashFunction: 'HASH_FUNCTION_NO_OP',
  });
  expect(activityOf(blind).status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
});

test('a grant names its user by whole characters', async () => {
  const rename = async (userName: string) =>
    resultOf(await root.submit('update_user_name', 'UPDATE_USER_NAME', { userId: botId, userName }));
  await rename(`${'a'.repeat(99)}🔥🔥`);
  activityOf(await grant((await pay()).fingerprint));
  await rename('Bot');
  expect((await grants()).map(({ policyName }) => policyName)).toEqual([
    expect.stringMatching(/^Until .* UTC: a{99}$/),
  ]);
});

describe('a grant of a login or a message of SSH', () => {
  const keyOf = (publicKey: string): Uint8Array =>
    encodeSshKey({ curve: 'CURVE_ED25519', publicKey: Buffer.from(publicKey, 'hex') });
  const newServer = () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const { x = '' } = publicKey.export({ format: 'jwk' });
    const key = keyOf(Buffer.from(x, 'base64url').toString('hex'));
    const binding = (session: Uint8Array, forwards: boolean): string => {
      const signature = [sshString('ssh-ed25519'), sshString(sign(null, session, privateKey))];
      return Buffer.concat([
        ...[sshString(key), sshString(session), sshString(Buffer.concat(signature))],
        Uint8Array.of(Number(forwards)),
      ]).toString('hex');
    };
    return { key, binding };
  };
  const session = Buffer.alloc(32, 5);
  const [own, jump, otherJump] = [newServer(), newServer(), newServer()];
  const forwardedBy = ({ binding }: typeof jump) => binding(Buffer.alloc(32, 6), true);
  let signWith = '';

  beforeAll(async () => {
    const privateKeys = [
      { privateKeyName: 'SSH', curve: 'CURVE_ED25519', privateKeyTags: [], addressFormats: [] },
    ];
    const made = await root.submit('create_private_keys', 'CREATE_PRIVATE_KEYS_V2', { privateKeys });
    const privateKeyId = resultOf(made).privateKeys[0]?.privateKeyId;
    const { body = {} } = await root.query('get_private_key', { privateKeyId });
    ({ publicKey: signWith } = body['privateKey'] as { readonly publicKey: string });
  });

  const payloads = {
    login: () =>
      Buffer.concat([
        ...[sshString(session), Uint8Array.of(50)],
        ...['git', 'ssh-connection', 'publickey-hostbound-v00@openssh.com'].map(sshString),
        ...[Uint8Array.of(1), sshString('ssh-ed25519'), sshString(keyOf(signWith)), sshString(own.key)],
      ]),
    message: () => Buffer.from(encodeSshMessage('file', 'sha512', Buffer.from('text'))),
  };
  const ask = async (what: keyof typeof payloads, bindings: readonly string[]) =>
    activityOf(
      await bot.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', {
        signWith,
        payload: payloads[what]().toString('hex'),
        encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
        hashFunction: 'HASH_FUNCTION_NOT_APPLICABLE',
        origin: { door: 'ssh', program: 'git', bindings },
      }),
    );
  const ends = { login: [own.binding(session, false)], message: [] } as const;

  test.each(['login', 'message'] as const)(
    'lets through no %s that came through a server, unless it was asked for through that server',
    async (what) => {
      const through = async (...servers: readonly (typeof jump)[]) =>
        ask(what, [...servers.map(forwardedBy), ...ends[what]]);
      const statusOf = async (...servers: readonly (typeof jump)[]) =>
        (await through(...servers)).status.slice('ACTIVITY_STATUS_'.length);
      const { policyId: local } = resultOf(await grant((await through()).fingerprint)) as Json;
      expect(await statusOf()).toBe('COMPLETED');
      expect(await statusOf(jump)).toBe(waiting);
      resultOf(await root.submit('delete_policy', 'DELETE_POLICY', { policyId: local }));
      resultOf(await grant((await through(jump)).fingerprint));
      expect(await statusOf(jump)).toBe('COMPLETED');
      expect(await statusOf(otherJump)).toBe(waiting);
      expect(await statusOf(jump, otherJump)).toBe(waiting);
    },
  );
});

test('another user with the same key has nothing of it, and a denial stands above it', async () => {
  activityOf(await grant((await pay()).fingerprint));
  const before = bot;
  ({ client: bot } = await service.newUser('Other'));
  const denied = await bot.submit('sign_transaction', 'SIGN_TRANSACTION_V2', {
    signWith: addresses[0],
    type: 'TRANSACTION_TYPE_ETHEREUM',
    unsignedTransaction: serializeTransaction({ type: 'eip1559', chainId: 1, to: receiver, value: 1n }),
  });
  bot = before;
  expect(denied.status).toBe(403);
  const deny = {
    policyName: 'No',
    effect: 'EFFECT_DENY',
    condition: "eth.tx.to != ''",
    consensus: '',
    notes: '',
  };
  const { policyId } = resultOf(
    await root.submit('create_policy', 'CREATE_POLICY_V3', deny),
  ) as unknown as Json;
  await expect(pay()).rejects.toThrow();
  resultOf(await root.submit('delete_policy', 'DELETE_POLICY', { policyId }));
});

describe('the end', () => {
  type Change = (policyId: unknown) => Promise<Answer>;
  const update =
    (changes: Json): Change =>
    (policyId) =>
      root.submit('update_policy', 'UPDATE_POLICY_V2', { policyId, ...changes });
  const textOfAsking = async () => {
    const { policies } = (await root.query('list_policies', {})).body as { policies: readonly Json[] };
    return policies.find(({ policyName }) => policyName === 'Ask me') ?? {};
  };
  /** Puts back what a test changed. */
  const putBack = async ({ condition, consensus, effect }: Json): Promise<void> => {
    const now = await textOfAsking();
    const text = { condition, consensus, effect, notes: '' };
    const { policyId } = now;
    if (policyId !== undefined) resultOf(await root.submit('delete_policy', 'DELETE_POLICY', { policyId }));
    resultOf(await root.submit('create_policy', 'CREATE_POLICY_V3', { policyName: 'Ask me', ...text }));
  };

  test.each<readonly [string, Change]>([
    ['a narrower condition', update({ policyCondition: `submitter.id == 'no one'` })],
    ['more votes', update({ policyConsensus: 'approvers.count() >= 3' })],
    ['another time', update({ time: "time.now < Timestamp('2020-01-01T00:00:00Z')" })],
    ['a denial', update({ policyEffect: 'EFFECT_DENY', policyConsensus: 'false' })],
    ['its deletion', (policyId) => root.submit('delete_policy', 'DELETE_POLICY', { policyId })],
    [
      'its deletion beside that of the grant',
      async (policyId) => {
        const policyIds = [policyId, ...(await grants()).map((each) => each['policyId'])];
        return root.submit('delete_policies', 'DELETE_POLICIES', { policyIds });
      },
    ],
  ])('comes with %s of the policy that asked', async (_what, change) => {
    const asking = await textOfAsking();
    activityOf(await grant((await pay()).fingerprint, 'TODAY'));
    expect(await outcome()).toBe('COMPLETED');
    try {
      resultOf(await change(asking['policyId']));
      expect(await grants()).toEqual([]);
      const { text } = await bot.submit('sign_transaction', 'SIGN_TRANSACTION_V2', {
        signWith: addresses[0],
        type: 'TRANSACTION_TYPE_ETHEREUM',
        unsignedTransaction: serializeTransaction({ type: 'eip1559', chainId: 1, to: receiver, value: 1n }),
      });
      expect(text).not.toContain('ACTIVITY_STATUS_COMPLETED');
    } finally {
      await putBack(asking);
    }
  });

  test('comes neither with another name of the policy that asked, nor with the end of another policy', async () => {
    const { policyId } = await textOfAsking();
    const { policyId: another } = resultOf(
      await root.submit('create_policy', 'CREATE_POLICY_V3', {
        policyName: 'Another',
        effect: 'EFFECT_ALLOW',
        condition: "activity.action == 'CREATE'",
        consensus: 'approvers.count() >= 2',
        notes: '',
      }),
    ) as unknown as Json;
    activityOf(await grant((await pay()).fingerprint));
    resultOf(await update({ policyName: 'Asks me', policyNotes: 'of today' })(policyId));
    resultOf(await update({ policyName: 'Ask me' })(policyId));
    resultOf(await root.submit('delete_policy', 'DELETE_POLICY', { policyId: another }));
    expect(await outcome()).toBe('COMPLETED');
  });

  test('comes with a lower budget of its user, which another policy has', async () => {
    const within = (most: number) =>
      `submitter.id == '${botId}' && RollingSum(eth.tx.value, '24h', submitter.id) <= ${String(most)}`;
    const { policyId } = resultOf(
      await root.submit('create_policy', 'CREATE_POLICY_V3', {
        policyName: 'Pays',
        effect: 'EFFECT_ALLOW',
        condition: within(5),
        consensus: `approvers.any(user, user.id == '${botId}')`,
        notes: '',
      }),
    ) as unknown as Json;
    activityOf(await grant((await pay()).fingerprint));
    activityOf(await grant((await pay({ to: other })).fingerprint));
    const [one] = await grants();
    // One grant ends alone.
    resultOf(await root.submit('delete_policy', 'DELETE_POLICY', { policyId: one?.['policyId'] }));
    expect(await grants()).toHaveLength(1);
    resultOf(await update({ policyCondition: within(1) })(policyId));
    expect(await grants()).toEqual([]);
    expect(await outcome({ to: other })).toBe(waiting);
    resultOf(await root.submit('delete_policy', 'DELETE_POLICY', { policyId }));
  });

  test('comes by the clock, and a clock set back before the grant gives nothing', async () => {
    activityOf(await grant((await pay()).fingerprint));
    service.clock.advance(-60_000);
    expect(await outcome()).toBe(waiting);
    service.clock.advance(60_000 + 599_000);
    expect(await outcome()).toBe('COMPLETED');
    service.clock.advance(1_000);
    expect(await outcome()).toBe(waiting);
    service.clock.advance(-600_000);
  });

  test.each(['lock', 'freeze'] as const)('comes by %s, and an unlock brings nothing back', async (how) => {
    activityOf(await grant((await pay()).fingerprint, 'TODAY'));
    expect(await outcome()).toBe('COMPLETED');
    await service.vault.rpc[how]();
    await service.unlock();
    expect(await grants()).toEqual([]);
    await vi.waitFor(async () => {
      expect(await outcome()).toBe(waiting);
    });
  });

  test('comes by a lock also where the disk takes nothing at the unlock', async () => {
    activityOf(await grant((await pay()).fingerprint));
    expect(await outcome()).toBe('COMPLETED');
    const { connection, rpc } = service.vault;
    await rpc.lock();
    const exec = connection.run.bind(connection);
    const full = vi.spyOn(connection, 'run').mockImplementation((sql, ...values) => {
      if (sql.startsWith('DELETE FROM policies '))
        throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
      return exec(sql, ...values);
    });
    try {
      await service.unlock();
      await expect.poll(() => full.mock.results.some(({ type }) => type === 'throw')).toBe(true);
    } finally {
      full.mockRestore();
    }
    expect(await outcome()).toBe(waiting);
    expect(await grants()).toEqual([]);
  });

  test('comes by a lock also where another process holds the file at the unlock', async () => {
    activityOf(await grant((await pay()).fingerprint));
    expect(await outcome()).toBe('COMPLETED');
    const { connection, rpc } = service.vault;
    await rpc.lock();
    const holder = new Sqlite(connection.file);
    holder.exec('BEGIN IMMEDIATE');
    // Else each try waits for five seconds.
    connection.pragma('busy_timeout = 1');
    const asked = vi.spyOn(connection, 'transaction');
    try {
      await service.unlock();
      await expect.poll(() => asked.mock.results.some(({ type }) => type === 'throw')).toBe(true);
    } finally {
      asked.mockRestore();
      holder.close();
      connection.pragma('busy_timeout = 5000');
    }
    expect(await outcome()).toBe(waiting);
    expect(await grants()).toEqual([]);
    const isOther = (fault: unknown): boolean => !String(fault).includes('database is locked');
    expect(service.faults.splice(0).filter(isOther)).toEqual([]);
  });

  test('comes by a timer, wherever the clock is set', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const row = { id: 'one', effect: 'EFFECT_ALLOW', notes: grantNotes, time: grantTime(0, 600_000) };
    const deleted: unknown[] = [];
    const tx = {
      all: () => (deleted.length === 0 ? [row] : []),
      run: (_: string, id: unknown) => deleted.push(id),
    };
    const units = {
      read: (work: (tx: unknown) => unknown) => work(tx),
      owe: (work: (tx: unknown) => unknown) => {
        work(tx);
        return () => undefined;
      },
    };
    let now = 0;
    const ends = new GrantEnds({
      units: units as never,
      keys: { unlocked: true, onChange: () => () => undefined },
      clock: { now: () => now, wall: () => now },
      onFault: (fault) => {
        throw fault;
      },
      onEnd: () => undefined,
    });
    ends.look();
    now = -1_000_000;
    ends.look();
    vi.advanceTimersByTime(599_999);
    expect(deleted).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(deleted).toEqual(['one']);
    ends.close();
  });
});

describe('is refused for', () => {
  const refusedFor = async (fingerprint: string) => {
    const answer = await grant(fingerprint);
    expect(answer.status, answer.text).toBe(400);
    return answer.text;
  };

  test('bytes that the vault cannot bound, and what creates a contract', async () => {
    const text = activityOf(
      await bot.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', {
        signWith: addresses[0],
        payload: 'hello',
        encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
        hashFunction: 'HASH_FUNCTION_KECCAK256',
      }),
    );
    expect(await refusedFor(text.fingerprint)).toContain('can only be approved once');
  });

  test('an export, a request that was decided, and one that does not exist', async () => {
    const asked = await pay();
    activityOf(await root.submit('approve_activity', 'APPROVE_ACTIVITY', { fingerprint: asked.fingerprint }));
    expect(await refusedFor(asked.fingerprint)).toContain('waits for no approval');
    expect((await grant(`sha256:${'0'.repeat(64)}`)).status).toBe(404);
    const exported = await bot.submit('export_wallet', 'EXPORT_WALLET', {
      walletId: ((await root.query('list_wallets', {})).body as { wallets: { walletId: string }[] })
        .wallets[0]?.walletId,
      targetPublicKey: createECDH('prime256v1').generateKeys('hex'),
    });
    expect(await refusedFor(activityOf(exported).fingerprint)).toContain('more than one signature');
  });

  test('a user who may not create policies', async () => {
    const { fingerprint } = await pay();
    const answer = await bot.submit('create_grant', 'CREATE_GRANT', { fingerprint, span: 'TODAY' });
    expect(answer.status).toBe(403);
  });
});
