/** Policies over the wire: who may do what by them, who makes them, and budgets to the last one. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as bitcoinjs from 'bitcoinjs-lib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { policyTemplates } from '../../renderer/features/policies/policy-templates.ts';
import {
  activityOf,
  CommandProcess,
  ethereumAccount,
  newTestKey,
  newWallet,
  resultOf,
  runCommand,
  startTestVault,
  temporaryDirectory,
  TestClient,
  testKeyOf,
} from '../support/support.ts';
import type { Answer, Json, TestVault } from '../support/support.ts';
import { fundedPsbt } from '../support/funded-psbt.ts';
import { hexOf, transaction as tronTransaction } from '../one-reading/tron-transactions.ts';

const hour = 60 * 60_000;

let service: TestVault;
let address: string;
let privateKeyId: string;

beforeAll(async () => {
  service = await startTestVault();
  const { root } = service;
  const wallet = await root.submit('create_wallet', 'CREATE_WALLET', {
    walletName: 'Hot',
    accounts: [ethereumAccount],
  });
  address = resultOf(wallet).addresses[0] ?? '';
  const keys = await root.submit('create_private_keys', 'CREATE_PRIVATE_KEYS_V2', {
    privateKeys: [
      { privateKeyName: 'Alone', curve: 'CURVE_SECP256K1', privateKeyTags: [], addressFormats: [] },
    ],
  });
  privateKeyId = resultOf(keys).privateKeys[0]?.privateKeyId ?? '';
});
afterAll(() => service[Symbol.asyncDispose]());

interface Texts {
  readonly condition?: string;
  readonly consensus?: string;
  readonly time?: string;
}

let names = 0;
const policyParameters = (effect: 'ALLOW' | 'DENY', texts: Texts): Json => ({
  policyName: `Policy ${String((names += 1))}`,
  effect: `EFFECT_${effect}`,
  notes: '',
  ...texts,
});

async function makePolicy(
  effect: 'ALLOW' | 'DENY',
  texts: Texts,
  client: TestClient = service.root,
): Promise<{ readonly policyId: string } & AsyncDisposable> {
  const answer = await client.submit('create_policy', 'CREATE_POLICY_V3', policyParameters(effect, texts));
  const { policyId } = resultOf(answer) as unknown as { readonly policyId: string };
  return {
    policyId,
    [Symbol.asyncDispose]: async () => {
      activityOf(await client.submit('delete_policy', 'DELETE_POLICY', { policyId }));
    },
  };
}

const sign = (client: TestClient, payload: string, signWith = address): Promise<Answer> =>
  client.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', {
    signWith,
    payload,
    encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
    hashFunction: 'HASH_FUNCTION_SHA256',
  });

const scriptOf = (segwit: string): string =>
  Buffer.from(bitcoinjs.address.toOutputScript(segwit, bitcoinjs.networks.regtest)).toString('hex');

/** The policies' evaluations in a refusal. */
function saidOf({ status, body = {} }: Answer) {
  const [detail] = body['details'] as readonly Json[];
  return { status, message: detail?.['message'], policyEvaluations: detail?.['policyEvaluations'] };
}

describe('who may do what', () => {
  test('a policy allows, and names what it speaks of', async () => {
    const { client } = await service.newUser('Signer');
    expect(saidOf(await sign(client, 'too early'))).toEqual({
      status: 403,
      message: 'No policies evaluated to outcome: Allow',
      policyEvaluations: [],
    });
    await using policy = await makePolicy('ALLOW', {
      condition: `activity.kind == 'SIGN_RAW_PAYLOAD' && activity.params.hash_function == 'HASH_FUNCTION_SHA256' && wallet_account.address == '${address}' && wallet.label == 'Hot' && wallet_account.path_indexes[0] == 44 && wallet_account.path_hardened[0]`,
      consensus: 'approvers.count() == 1',
    });
    expect(activityOf(await sign(client, 'now')).status).toBe('ACTIVITY_STATUS_COMPLETED');
    // A private key has no wallet: to ask for one is an error, and allows nothing.
    expect(saidOf(await sign(client, 'other', privateKeyId))).toEqual({
      status: 403,
      message: 'No policies evaluated to outcome: Allow',
      policyEvaluations: [{ policyId: policy.policyId, outcome: 'OUTCOME_ERROR' }],
    });
  });

  test('a policy that denies wins, and is named', async () => {
    const { userId, client } = await service.newUser('Denied');
    const consensus = `approvers.any(user, user.id == '${userId}')`;
    await using allowing = await makePolicy('ALLOW', { consensus });
    await using denying = await makePolicy('DENY', { condition: `private_key.id == '${privateKeyId}'` });
    expect(activityOf(await sign(client, 'allowed')).status).toBe('ACTIVITY_STATUS_COMPLETED');
    expect(saidOf(await sign(client, 'denied', privateKeyId))).toEqual({
      status: 403,
      message: `The following policies denied this action: ${denying.policyId}`,
      policyEvaluations: [
        { policyId: allowing.policyId, outcome: 'OUTCOME_ALLOW' },
        { policyId: denying.policyId, outcome: 'OUTCOME_DENY_EXPLICIT' },
      ],
    });
  });

  test('a refusal leaves nothing, and the same request is taken once it is allowed', async () => {
    const { client } = await service.newUser('Patient');
    const body = client.submitBody('CREATE_USER_TAG', { userTagName: 'Patience', userIds: [] });
    expect((await client.post('submit/create_user_tag', body)).status).toBe(403);
    await using policies = new AsyncDisposableStack();
    policies.use(await makePolicy('ALLOW', { condition: "activity.resource == 'USER'" }));
    expect(activityOf(await client.post('submit/create_user_tag', body)).status).toBe(
      'ACTIVITY_STATUS_COMPLETED',
    );
  });

  test('a user changes its own credentials and no other user’s, unless a policy says otherwise', async () => {
    const { userId, client } = await service.newUser('Own');
    const add = (whose: string) =>
      client.submit('create_api_keys', 'CREATE_API_KEYS_V2', {
        userId: whose,
        apiKeys: [
          {
            apiKeyName: `Key ${String((names += 1))}`,
            publicKey: newTestKey().publicKey,
            curveType: 'API_KEY_CURVE_P256',
          },
        ],
      });
    expect(activityOf(await add(userId)).status).toBe('ACTIVITY_STATUS_COMPLETED');
    expect((await add(service.rootUserId)).status).toBe(403);
    await using policies = new AsyncDisposableStack();
    policies.use(await makePolicy('DENY', { condition: "activity.kind == 'CREATE_API_KEYS'" }));
    expect((await add(userId)).status).toBe(403);
  });

  test('despite all policies, no user imports for another, and the organization is the quorum’s', async () => {
    const { userId, client } = await service.newUser('Importer');
    await using policies = new AsyncDisposableStack();
    policies.use(await makePolicy('ALLOW', {}));
    const init = (whose: string) =>
      client.submit('init_import_wallet', 'INIT_IMPORT_WALLET', { userId: whose });
    expect(activityOf(await init(userId)).status).toBe('ACTIVITY_STATUS_COMPLETED');
    expect((await init(service.rootUserId)).status).toBe(403);
    const renamed = await client.submit('update_organization_name', 'UPDATE_ORGANIZATION_NAME', {
      organizationName: 'Mine',
    });
    expect(saidOf(renamed)).toMatchObject({ status: 403, policyEvaluations: [] });
    const quorum = { threshold: 1, userIds: [userId] };
    expect((await client.submit('update_root_quorum', 'UPDATE_ROOT_QUORUM', quorum)).status).toBe(403);
  });

  test('a policy is in force while its time says so', async () => {
    const { client } = await service.newUser('Timely');
    await using policies = new AsyncDisposableStack();
    policies.use(
      await makePolicy('ALLOW', {
        condition: "activity.action == 'SIGN'",
        time: "time.now < Timestamp('2020-01-01T00:00:00Z')",
      }),
    );
    expect((await sign(client, 'too late')).status).toBe(403);
    const { body } = await client.query('get_active_policies');
    expect(body?.['statuses']).toMatchObject([{ active: false, timeExpr: expect.any(String) as string }]);
  });
});

describe('a policy is refused', () => {
  test.each<[string, Texts, string]>([
    ['that cannot be read', { condition: 'activity.type ==' }, 'invalid policy condition: line 1, column 17'],
    ['of the wrong type', { consensus: 'approvers' }, 'invalid policy consensus: line 1, column 1'],
    [
      'that speaks of what is not there',
      { condition: "wallet.nmae == 'a'" },
      'invalid policy condition: line 1, column 8',
    ],
  ])('%s', async (_name, texts, message) => {
    const answer = await service.root.submit(
      'create_policy',
      'CREATE_POLICY_V3',
      policyParameters('ALLOW', texts),
    );
    expect(answer.status).toBe(400);
    expect(String(answer.body?.['message'])).toContain(message);
  });

  test('among several, by its place, and none of them is created', async () => {
    const policies = [policyParameters('ALLOW', {}), policyParameters('DENY', { condition: 'true &&' })];
    const answer = await service.root.submit('create_policies', 'CREATE_POLICIES', { policies });
    expect(answer.body).toMatchObject({
      code: 3,
      message: expect.stringMatching(
        /^invalid policy condition: parameters\.policies\[1\]\.condition: line 1, column 8: /,
      ) as string,
    });
    const { body } = await service.root.query('list_policies');
    const made = (body as { policies: Json[] }).policies.map(({ policyName }) => policyName);
    expect(made).not.toContain(policies[0]?.['policyName']);
  });

  test('whose name is taken, and one change too many', async () => {
    await using policies = new AsyncDisposableStack();
    policies.use(await makePolicy('ALLOW', { condition: 'false' }));
    const taken = { ...policyParameters('ALLOW', {}), policyName: `Policy ${String(names - 1)}` };
    const answer = await service.root.submit('create_policy', 'CREATE_POLICY_V3', taken);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      code: 3,
      message: expect.stringContaining('policy label must be unique') as string,
    });
  });

  test('as it was written before there was a language, it is taken in its words', async () => {
    const made = await service.root.submit('create_policy', 'CREATE_POLICY_V2', {
      policyName: 'Selected',
      selectors: [
        {
          subject: 'activity.kind',
          operator: 'OPERATOR_IN',
          targets: ['SIGN_RAW_PAYLOAD', 'SIGN_TRANSACTION'],
        },
        { subject: 'wallet.imported', operator: 'OPERATOR_EQUAL', targets: ['false'] },
      ],
      effect: 'EFFECT_ALLOW',
    });
    const { policyId } = resultOf(made) as unknown as { readonly policyId: string };
    const { body } = await service.root.query('get_policy', { policyId });
    expect(body?.['policy']).toMatchObject({
      condition: "activity.kind in ['SIGN_RAW_PAYLOAD', 'SIGN_TRANSACTION'] && wallet.imported == false",
      consensus: '',
    });
    await service.root.submit('delete_policy', 'DELETE_POLICY', { policyId });
  });
});

test('a stored policy that is no longer readable allows nothing, and one that denies still denies', async () => {
  const { client } = await service.newUser('Broken');
  const allowing = await makePolicy('ALLOW', { condition: "activity.action == 'SIGN'" });
  await using other = await makePolicy('ALLOW', { condition: "activity.kind == 'CREATE_USER_TAG'" });
  const spoil = (policyId: string) =>
    service.vault.units.write((tx) => {
      tx.run("UPDATE policies SET condition = 'of another version ?' WHERE id = ?", policyId);
    });
  await spoil(allowing.policyId);
  expect(saidOf(await sign(client, 'broken'))).toEqual({
    status: 403,
    message: 'No policies evaluated to outcome: Allow',
    policyEvaluations: [
      { policyId: allowing.policyId, outcome: 'OUTCOME_ERROR' },
      { policyId: other.policyId, outcome: 'OUTCOME_DENY_IMPLICIT' },
    ],
  });
  const tag = (userTagName: string) =>
    client.submit('create_user_tag', 'CREATE_USER_TAG', { userTagName, userIds: [] });
  expect(activityOf(await tag('By the other')).status).toBe('ACTIVITY_STATUS_COMPLETED');
  await using denying = await makePolicy('DENY', { condition: "activity.action == 'EXPORT'" });
  await spoil(denying.policyId);
  expect(saidOf(await tag('Not any more'))).toMatchObject({
    status: 403,
    message: `The following policies denied this action: ${denying.policyId}`,
  });
  await allowing[Symbol.asyncDispose]();
});

/** Typed data of a type, which no contract takes. */
const typedData = (primaryType: string): string =>
  JSON.stringify({
    domain: { name: 'App' },
    primaryType,
    types: {
      EIP712Domain: [{ name: 'name', type: 'string' }],
      [primaryType]: [{ name: 'text', type: 'string' }],
    },
    message: { text: 'x' },
  });

describe('a denial is not got round by', () => {
  const signing = { signWith: '', encoding: 'PAYLOAD_ENCODING_EIP712', hashFunction: 'HASH_FUNCTION_NO_OP' };
  const signAll = (client: TestClient, ...types: string[]): Promise<Answer> =>
    client.submit('sign_raw_payloads', 'SIGN_RAW_PAYLOADS', {
      ...signing,
      signWith: address,
      payloads: types.map(typedData),
    });
  /** Lets a user do everything but what is denied. @returns the id of the policy that denies. */
  const allowAllBut = async (policies: AsyncDisposableStack, userId: string, denied: string) => {
    policies.use(await makePolicy('ALLOW', { consensus: `approvers.any(user, user.id == '${userId}')` }));
    return policies.use(await makePolicy('DENY', { condition: denied })).policyId;
  };

  test('a batch, wherever in it stands what is denied', async () => {
    const user = await service.newUser('Batches');
    await using policies = new AsyncDisposableStack();
    const policyId = await allowAllBut(policies, user.userId, "eth.eip_712.primary_type == 'Permit'");
    expect(activityOf(await signAll(user.client, 'Mail', 'Order')).status).toBe('ACTIVITY_STATUS_COMPLETED');
    for (const types of [['Permit'], ['Mail', 'Permit'], ['Permit', 'Mail'], ['Mail', 'Order', 'Permit']]) {
      expect((await signAll(user.client, ...types)).status).toBe(403);
    }
    expect(saidOf(await signAll(user.client, 'Mail', 'Permit')).message).toBe(
      `The following policies denied this action: ${policyId} (item 2 of 2)`,
    );
    // Nor by a digest, which may be one.
    const digest = { ...signing, signWith: address, encoding: 'PAYLOAD_ENCODING_HEXADECIMAL' };
    const raw = { ...digest, payload: 'ab'.repeat(32) };
    expect((await user.client.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', raw)).status).toBe(403);
    const batch = { ...digest, payloads: ['ab'.repeat(32), 'cd'.repeat(32)] };
    expect((await user.client.submit('sign_raw_payloads', 'SIGN_RAW_PAYLOADS', batch)).status).toBe(403);
  });

  test('an older type of the same activity', async () => {
    const user = await service.newUser('Older');
    await using policies = new AsyncDisposableStack();
    await allowAllBut(policies, user.userId, "activity.type == 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'");
    const { signWith: _, ...how } = signing;
    const payload = typedData('Mail');
    const older = await user.client.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD', {
      ...how,
      privateKeyId: address,
      payload,
    });
    expect(older.status).toBe(403);
    const newest = { ...how, signWith: address, payload };
    expect((await user.client.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', newest)).status).toBe(403);
    expect((await signAll(user.client, 'Mail')).status).toBe(200);
  });

  test('an address that the policy spells otherwise than the facts', async () => {
    const user = await service.newUser('Spellings');
    const bitcoin = { ...ethereumAccount, path: "m/84'/1'/0'/0/0" };
    const made = await service.root.submit('create_wallet', 'CREATE_WALLET', {
      walletName: 'Spellings',
      accounts: [
        ethereumAccount,
        { ...bitcoin, addressFormat: 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH' },
        { ...ethereumAccount, path: "m/44'/195'/0'", addressFormat: 'ADDRESS_FORMAT_TRON' },
      ],
    });
    const [ethereum = '', segwit = '', tron = ''] = resultOf(made).addresses;
    const hex = hexOf(tron);
    const transactions = {
      BITCOIN: [segwit, fundedPsbt(segwit).toHex()],
      TRON: [
        tron,
        Buffer.from(
          tronTransaction('TransferContract', { owner_address: hex, to_address: hex, amount: 1 }),
        ).toString('hex'),
      ],
    } as const;
    const pay = async (chain: keyof typeof transactions): Promise<number> => {
      const [signWith, unsignedTransaction] = transactions[chain];
      const parameters = { signWith, type: `TRANSACTION_TYPE_${chain}`, unsignedTransaction };
      return (await user.client.submit('sign_transaction', 'SIGN_TRANSACTION_V2', parameters)).status;
    };
    const outputs = (to: string): string => `bitcoin.tx.outputs.any(o, ${to})`;
    const contracts = (to: string): string => `tron.tx.contract.any(c, ${to})`;
    for (const denied of [
      outputs(`o.address == '${segwit.toUpperCase()}'`),
      outputs(`['', '${segwit.toUpperCase()}'].contains(o.address)`),
      outputs(`o.script_pubkey == '${scriptOf(segwit).toUpperCase()}'`),
      `wallet_account.address == '${segwit.toUpperCase()}'`,
    ]) {
      await using policies = new AsyncDisposableStack();
      await allowAllBut(policies, user.userId, denied);
      expect([denied, await pay('BITCOIN'), await pay('TRON')]).toEqual([denied, 403, 200]);
    }
    for (const denied of [
      contracts(`c.to_address in ['${hex}']`),
      contracts(`'0x${hex.toUpperCase()}' == c.to_address`),
      `wallet_account.address == '${hex}'`,
    ]) {
      await using policies = new AsyncDisposableStack();
      await allowAllBut(policies, user.userId, denied);
      expect([denied, await pay('TRON'), await pay('BITCOIN')]).toEqual([denied, 403, 200]);
    }
    await using policies = new AsyncDisposableStack();
    await allowAllBut(policies, user.userId, `wallet_account.address == '${ethereum.toLowerCase()}'`);
    expect((await sign(user.client, 'text', ethereum)).status).toBe(403);
    expect((await sign(user.client, 'text', address)).status).toBe(200);
  });

  test('what else is deleted along', async () => {
    const user = await service.newUser('Deleting');
    const [kept, other] = [await newWallet(service.root, 'Kept'), await newWallet(service.root, 'Other')];
    await using policies = new AsyncDisposableStack();
    await allowAllBut(policies, user.userId, `wallet.id == '${kept.walletId}'`);
    const remove = (...walletIds: string[]) =>
      user.client.submit('delete_wallets', 'DELETE_WALLETS', { walletIds, deleteWithoutExport: true });
    expect((await remove(other.walletId, kept.walletId)).status).toBe(403);
    expect((await remove(kept.walletId)).status).toBe(403);
    expect((await remove(other.walletId)).status).toBe(200);
  });

  test('and its explanation says which item it was about, and what was unknown of it', async () => {
    const user = await service.newUser('Explained');
    await using policies = new AsyncDisposableStack();
    const policyId = await allowAllBut(policies, user.userId, "eth.tx.to == '0xab'");
    const requestBody = JSON.stringify({
      type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOADS',
      parameters: {
        signWith: address,
        encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
        hashFunction: 'HASH_FUNCTION_NO_OP',
        payloads: ['ab'.repeat(32), 'cd'.repeat(32)],
      },
    });
    const { body } = await service.root.query('explain_policies', { requestBody, userId: user.userId });
    expect(body?.['policyExplanation']).toMatchObject({
      outcome: 'OUTCOME_DENY_EXPLICIT',
      item: 1,
      policyIds: [policyId],
      policies: expect.arrayContaining([
        expect.objectContaining({
          policyId,
          outcome: 'OUTCOME_ERROR',
          expressions: [
            expect.objectContaining({
              fault: expect.objectContaining({
                kind: 'unknown',
                message: expect.stringMatching(/^eth\.tx is unknown: a digest is signed as it is/) as string,
              }) as Json,
            }),
          ],
        }),
      ]) as Json[],
    });
  });
});

test('the ready-made policy for adding users gives no other right', async () => {
  const { userId, client } = await service.newUser('Adding');
  const signer = await service.newUser('Signing');
  const tag = await service.root.submit('create_user_tag', 'CREATE_USER_TAG', {
    userTagName: 'Signers',
    userIds: [signer.userId],
  });
  const { userTagId } = resultOf(tag) as unknown as { readonly userTagId: string };
  const template = policyTemplates.find(({ id }) => id === 'user-manager')?.draft;
  await using policies = new AsyncDisposableStack();
  policies.use(
    await makePolicy('ALLOW', {
      condition: template?.condition ?? '',
      consensus: template?.consensus.replace('…', userId) ?? '',
    }),
  );
  policies.use(
    await makePolicy('ALLOW', {
      condition: "activity.action in ['SIGN', 'EXPORT']",
      consensus: `approvers.any(user, user.tags.contains('${userTagId}'))`,
    }),
  );
  const add = (userName: string, userTags: readonly string[], key = newTestKey()) =>
    client.submit('create_users', 'CREATE_USERS_V3', {
      users: [
        {
          userName,
          apiKeys: [{ apiKeyName: 'key', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }],
          authenticators: [],
          oauthProviders: [],
          userTags,
        },
      ],
    });
  const key = newTestKey();
  expect((await add('Plain', [], key)).status).toBe(200);
  expect((await add('Tagged', [userTagId])).status).toBe(403);
  const mine = { userId: signer.userId, apiKeys: [{ apiKeyName: 'x', publicKey: newTestKey().publicKey }] };
  const others: readonly (readonly [string, string, Json])[] = [
    [
      'create_api_keys',
      'CREATE_API_KEYS_V2',
      { ...mine, apiKeys: [{ ...mine.apiKeys[0], curveType: 'API_KEY_CURVE_P256' }] },
    ],
    ['update_user_tag', 'UPDATE_USER_TAG', { userTagId, addUserIds: [userId], removeUserIds: [] }],
    ['update_user', 'UPDATE_USER', { userId, userTagIds: [userTagId] }],
    ['update_user_email', 'UPDATE_USER_EMAIL', { userId: signer.userId, userEmail: 'mine@example.com' }],
    ['delete_users', 'DELETE_USERS', { userIds: [signer.userId] }],
  ];
  for (const [path, type, parameters] of others) {
    expect((await client.submit(path, type, parameters)).status, path).toBe(403);
  }
  for (const each of [client, client.as(key)]) expect((await sign(each, 'mine')).status).toBe(403);
  expect((await sign(signer.client, 'allowed')).status).toBe(200);
});

describe('the root quorum', () => {
  test('of two decides together, and no policy keeps it from anything', async () => {
    await using home = await startTestVault();
    const { root } = home;
    const second = await home.newUser('Second');
    const third = await home.newUser('Third');
    const quorum = (threshold: number, ...userIds: string[]) =>
      root.submit('update_root_quorum', 'UPDATE_ROOT_QUORUM', { threshold, userIds });
    expect((await quorum(0, home.rootUserId)).status).toBe(400);
    expect((await quorum(3, home.rootUserId, second.userId)).body?.['message']).toContain(
      'quorum users missing',
    );
    // Whatever it says, what denies everything cannot be turned against those who can delete it.
    const denying = await makePolicy('DENY', {}, root);
    expect(resultOf(await quorum(2, home.rootUserId, second.userId))).toEqual({});
    const organization = await root.query('get_organization');
    expect(organization.body?.['organizationData']).toMatchObject({
      rootQuorum: { threshold: 2, userIds: [home.rootUserId, second.userId] },
    });
    const asked = activityOf(
      await root.submit('delete_policy', 'DELETE_POLICY', { policyId: denying.policyId }),
    );
    expect(asked.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
    const { fingerprint } = asked;
    const approve = (client: TestClient) =>
      client.submit('approve_activity', 'APPROVE_ACTIVITY', { fingerprint });
    expect((await approve(third.client)).status).toBe(403);
    expect(activityOf(await approve(second.client)).status).toBe('ACTIVITY_STATUS_COMPLETED');
    // One alone no longer suffices, and one who is not of the quorum neither.
    const alone = await second.client.submit('create_user_tag', 'CREATE_USER_TAG', {
      userTagName: 'Alone',
      userIds: [],
    });
    expect(activityOf(alone).status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
  });
});

describe('budgets', () => {
  const budget = "RollingCount('24h', submitter.id) <= 10";
  const concurrent = 64;

  test(`${String(concurrent)} requests at once against a budget of 10: exactly 10, and 10 more a day later`, async () => {
    const { userId, client } = await service.newUser('Spender');
    await using policies = new AsyncDisposableStack();
    policies.use(
      await makePolicy('ALLOW', {
        condition: `activity.kind == 'SIGN_RAW_PAYLOAD' && submitter.id == '${userId}' && ${budget}`,
      }),
    );
    const round = async (name: string) => {
      const answers = await Promise.all(
        Array.from({ length: concurrent }, (_each, index) => sign(client, `${name} ${String(index)}`)),
      );
      const statuses = answers.map(({ status }) => status);
      expect(new Set(statuses)).toEqual(new Set([200, 403]));
      return statuses.filter((status) => status === 200).length;
    };
    expect(await round('first')).toBe(10);
    // A failed activity releases its reservation, so it is not counted.
    service.clock.advance(25 * hour);
    const at = { timestampMs: String(service.clock.wall()) };
    const failing = await client.submit(
      'sign_raw_payload',
      'SIGN_RAW_PAYLOAD_V2',
      {
        signWith: address,
        payload: 'ab',
        encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
        hashFunction: 'HASH_FUNCTION_NO_OP',
      },
      at,
    );
    expect(failing.status).toBe(400);
    const later = await Promise.all(
      Array.from({ length: 12 }, (_each, index) =>
        client.submit(
          'sign_raw_payload',
          'SIGN_RAW_PAYLOAD_V2',
          {
            signWith: address,
            payload: `later ${String(index)}`,
            encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
            hashFunction: 'HASH_FUNCTION_SHA256',
          },
          { timestampMs: String(service.clock.wall() + index) },
        ),
      ),
    );
    expect(later.filter(({ status }) => status === 200)).toHaveLength(10);
    service.clock.advance(-25 * hour);
  });

  test('counts signatures, and one key under all of its names', async () => {
    const { userId, client } = await service.newUser('Counted');
    const formats = ['ETHEREUM', 'COMPRESSED', 'TRON', 'BITCOIN_MAINNET_P2WPKH'];
    const wallet = await service.root.submit('create_wallet', 'CREATE_WALLET', {
      walletName: 'Many names',
      accounts: formats.map((format) => ({ ...ethereumAccount, addressFormat: `ADDRESS_FORMAT_${format}` })),
    });
    const names = resultOf(wallet).addresses;
    await using policies = new AsyncDisposableStack();
    policies.use(
      await makePolicy('ALLOW', {
        condition: "activity.action == 'SIGN' && RollingCount('24h', wallet_account.address) <= 4",
        consensus: `approvers.any(user, user.id == '${userId}')`,
      }),
    );
    const signMany = (signWith: string, count: number) =>
      client.submit('sign_raw_payloads', 'SIGN_RAW_PAYLOADS', {
        signWith,
        encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
        hashFunction: 'HASH_FUNCTION_SHA256',
        payloads: Array.from({ length: count }, (_each, index) => `number ${String(index)}`),
      });
    expect((await signMany(names[0] ?? '', 5)).status).toBe(403);
    expect((await signMany(names[0] ?? '', 2)).status).toBe(200);
    expect((await signMany(names[1] ?? '', 3)).status).toBe(403);
    expect((await sign(client, 'third', names[2])).status).toBe(200);
    expect((await signMany(names[3] ?? '', 2)).status).toBe(403);
    expect((await sign(client, 'fourth', names[3])).status).toBe(200);
    for (const name of names) expect((await sign(client, 'fifth', name)).status).toBe(403);
  });

  test.each(['without a budget', 'with a budget of other requests'])(
    'a request of the root quorum that fails of its key or its payload is in the log, %s',
    async (which) => {
      await using own = await startTestVault();
      const { root } = own;
      await using policies = new AsyncDisposableStack();
      const counted = which.startsWith('with ') ? " && RollingCount('24h', signing_key.public_key) <= 1" : '';
      const condition = `activity.kind == 'EXPORT_WALLET'${counted}`;
      policies.use(await makePolicy('ALLOW', { condition }, root));
      const { ethereum } = await newWallet(root);
      const newest = async (): Promise<Json | undefined> => {
        const { body } = await root.query('list_activities', { paginationOptions: { limit: '1' } });
        const [activity] = (body?.['activities'] ?? []) as readonly Json[];
        return activity;
      };

      const missing = await sign(root, 'payload', 'no key');
      expect(missing.status).toBe(404);
      expect(missing.body?.['message']).toBe('Could not find any resource to sign with.');
      expect(await newest()).toMatchObject({
        status: 'ACTIVITY_STATUS_FAILED',
        intent: { signRawPayloadIntentV2: { signWith: 'no key' } },
      });

      const unreadable = await root.submit('sign_transaction', 'SIGN_TRANSACTION_V2', {
        signWith: ethereum,
        unsignedTransaction: '02c0',
        type: 'TRANSACTION_TYPE_ETHEREUM',
      });
      expect(unreadable).toMatchObject({ status: 400, body: { turnkeyErrorCode: 'INVALID_TRANSACTION' } });
      expect(await newest()).toMatchObject({
        status: 'ACTIVITY_STATUS_FAILED',
        intent: { signTransactionIntentV2: { signWith: ethereum } },
      });
    },
  );

  test('a request whose key is deleted while it waits fails at the last vote, and nothing is counted', async () => {
    await using own = await startTestVault();
    const { root } = own;
    const { client } = await own.newUser('Signer');
    const together = { condition: "activity.action == 'SIGN'", consensus: 'approvers.count() >= 2' };
    await using policies = new AsyncDisposableStack();
    policies.use(await makePolicy('ALLOW', together, root));
    const counted = "activity.kind == 'EXPORT_WALLET' && RollingCount('24h', signing_key.public_key) <= 9";
    policies.use(await makePolicy('ALLOW', { condition: counted }, root));
    const made = await root.submit('create_private_keys', 'CREATE_PRIVATE_KEYS_V2', {
      privateKeys: [
        { privateKeyName: 'Brief', curve: 'CURVE_SECP256K1', privateKeyTags: [], addressFormats: [] },
      ],
    });
    const brief = resultOf(made).privateKeys[0]?.privateKeyId ?? '';
    const { fingerprint, id, status } = activityOf(await sign(client, 'payload', brief));
    expect(status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
    resultOf(
      await root.submit('delete_private_keys', 'DELETE_PRIVATE_KEYS', {
        privateKeyIds: [brief],
        deleteWithoutExport: true,
      }),
    );
    const voted = await root.submit('approve_activity', 'APPROVE_ACTIVITY', { fingerprint });
    expect(voted.body?.['message']).toBe('Could not find any resource to sign with.');
    const { body } = await root.query('get_activity', { activityId: id });
    expect(body).toMatchObject({ activity: { status: 'ACTIVITY_STATUS_FAILED' } });
    const budgets = await root.query('list_policy_budgets');
    expect(budgets.body?.['policyBudgets']).toMatchObject([{ counters: [] }]);
  });

  test('are shown as they are counted, however many other counters of the same amount there are', async () => {
    const { userId, client } = await service.newUser('Shown');
    await using policies = new AsyncDisposableStack();
    const own = policies.use(
      await makePolicy('ALLOW', { condition: `submitter.id == '${userId}' && ${budget}` }),
    );
    const byKey = "activity.action == 'SIGN' && RollingCount('24h', signing_key.public_key) <= 3";
    const ofKeys = policies.use(await makePolicy('ALLOW', { condition: byKey }));
    activityOf(await sign(client, 'counted'));
    const most = 20;
    const made = await service.root.submit('create_private_keys', 'CREATE_PRIVATE_KEYS_V2', {
      privateKeys: Array.from({ length: most + 5 }, (_each, index) => ({
        ...{ privateKeyName: `Other ${String(index)}`, curve: 'CURVE_SECP256K1' },
        ...{ privateKeyTags: [], addressFormats: [] },
      })),
    });
    for (const { privateKeyId: each } of resultOf(made).privateKeys) {
      activityOf(await sign(service.root, 'of another key', each));
    }
    const { body } = await service.root.query('list_policy_budgets');
    const shown = body?.['policyBudgets'] as readonly (Json & { readonly counters: readonly Json[] })[];
    const countersOf = ({ policyId }: { readonly policyId: string }) =>
      shown.filter((each) => each['policyId'] === policyId).flatMap(({ counters }) => counters);
    expect(countersOf(own)).toEqual([{ by: [{ holder: 'requester', value: userId }], spent: '1' }]);
    expect(countersOf(ofKeys)).toHaveLength(most);
  });

  test(
    'a budget is exact over kill -9: what was spent stays spent, and nothing else',
    { timeout: 120_000 },
    async () => {
      using home = temporaryDirectory();
      const directory = join(home.path, 'vault');
      const locations = ['--data-dir', directory, '--config-dir', home.path];
      const secret = { descriptor3: 'a password for this test' };
      const made = await runCommand(
        ['init', '--no-keychain', '--json', ...locations, '--password-fd', '3'],
        secret,
      );
      const { organizationId } = JSON.parse(made.stdout) as { organizationId: string };
      const read = (name: string): string => readFileSync(join(home.path, 'keys', name), 'utf8').trim();
      const owner = testKeyOf(read('owner.private'), read('owner.public'));
      const key = newTestKey();
      await using processes = new AsyncDisposableStack();
      async function serve(): Promise<{ process: CommandProcess; url: string }> {
        const argv = ['serve', '--port', '0', '--no-keychain', '--json', ...locations, '--password-fd', '3'];
        const process = processes.use(new CommandProcess(argv, secret));
        return { process, ...(JSON.parse(await process.nextLine()) as { url: string }) };
      }

      let { process, url } = await serve();
      const root = new TestClient(url, organizationId, owner);
      const { ethereum } = await newWallet(root);
      const user = {
        userName: 'Spender',
        apiKeys: [{ apiKeyName: 'key', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }],
        authenticators: [],
        oauthProviders: [],
        userTags: [],
      };
      resultOf(await root.submit('create_users', 'CREATE_USERS_V3', { users: [user] }));
      await makePolicy('ALLOW', { condition: `activity.action == 'SIGN' && ${budget}` }, root);

      const bodies = new Map<string, number | undefined>();
      for (let round = 0; round < 3; round++) {
        const client = new TestClient(url, organizationId, key);
        let answered = 0;
        const all = Array.from({ length: concurrent }, async (_each, index) => {
          const body = client.submitBody('SIGN_RAW_PAYLOAD_V2', {
            signWith: ethereum,
            payload: `round ${String(round)}, ${String(index)}`,
            encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
            hashFunction: 'HASH_FUNCTION_SHA256',
          });
          bodies.set(body, undefined);
          try {
            bodies.set(body, (await client.post('submit/sign_raw_payload', body)).status);
            answered += 1;
            // In the middle of the first round: some are answered, some are on their way.
            if (round === 0 && answered === 4) await process.stop('SIGKILL');
          } catch {
            // The outcome is still unknown.
          }
        });
        await Promise.all(all);
        if (round === 0) ({ process, url } = await serve());
      }
      // Those that were not answered find out; it spends nothing to ask for what was done, and nothing is left to spend.
      const client = new TestClient(url, organizationId, key);
      for (const [body, status] of bodies) {
        if (status !== undefined) continue;
        bodies.set(body, (await client.post('submit/sign_raw_payload', body)).status);
      }
      expect([...bodies.values()].filter((status) => status === 200)).toHaveLength(10);
      expect([...bodies.values()].filter((status) => status === 403)).toHaveLength(3 * concurrent - 10);
      expect(await process.stop()).toBe(0);
    },
  );
});

describe('a change that says which policy it is over', () => {
  const before = {
    policyName: 'Over',
    policyCondition: "activity.kind == 'CREATE_WALLET'",
    policyConsensus: '',
  };
  const started = async (vault: TestVault) => {
    const { root } = vault;
    const { policyId } = resultOf(
      await root.submit('create_policy', 'CREATE_POLICY_V3', {
        ...{ policyName: before.policyName, effect: 'EFFECT_DENY', notes: '' },
        ...{ condition: before.policyCondition, consensus: before.policyConsensus },
      }),
    ) as unknown as { readonly policyId: string };
    const change = (changes: Json, client = root) =>
      client.submit('update_policy', 'UPDATE_POLICY_V2', { policyId, ...changes });
    const now = async () => (await root.query('get_policy', { policyId })).body?.['policy'] as Json;
    return { change, now };
  };

  test('comes about once, of many at once', async () => {
    await using vault = await startTestVault();
    const { change, now } = await started(vault);
    const tried = await Promise.all(
      Array.from({ length: 8 }, async (_, index) => {
        const policyNotes = `of person ${String(index)}`;
        return {
          policyNotes,
          answer: await change({ policyNotes, expected: { ...before, policyNotes: '' } }),
        };
      }),
    );
    const [made, ...others] = tried.filter(({ answer }) => answer.status === 200);
    expect(others).toEqual([]);
    expect(await now()).toMatchObject({ notes: made?.policyNotes });
    for (const { answer } of tried.filter((each) => each !== made)) {
      expect(answer).toMatchObject({ status: 400 });
      expect(answer.text).toMatch(/parameters\.expected: the policy [0-9a-f-]{36} was changed meanwhile/);
    }
    expect(
      (await change({ policyNotes: 'of all', expected: { policyEffect: 'EFFECT_DENY', time: '' } })).status,
    ).toBe(200);
    expect((await change({ policyNotes: 'of none', expected: { time: 'true' } })).status).toBe(400);
  });

  test('does not come about by a vote, over what was changed while it waited', async () => {
    await using vault = await startTestVault();
    const { root } = vault;
    const { change, now } = await started(vault);
    const { client } = await vault.newUser('Ben');
    resultOf(
      await root.submit('create_policy', 'CREATE_POLICY_V3', {
        ...{ policyName: 'By two', effect: 'EFFECT_ALLOW', notes: '' },
        ...{ condition: "activity.kind == 'UPDATE_POLICY'", consensus: 'approvers.count() >= 2' },
      }),
    );
    const { fingerprint } = activityOf(await change({ policyCondition: 'false', expected: before }, client));
    resultOf(await change({ policyConsensus: 'approvers.count() >= 1' }));
    const voted = await root.submit('approve_activity', 'APPROVE_ACTIVITY', { fingerprint });
    expect(voted.status, voted.text).toBe(400);
    expect(await now()).toMatchObject({ condition: before.policyCondition });
  });
});
