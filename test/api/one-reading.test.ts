/**
 * One reading, through the real port: what a policy decides is about what is signed, whichever way the request spells it.
 * The classes: another encoding, another type, a batch, another name of the key, and bytes that the chain reads and the vault
 * does not. Each denial is tried with every spelling; each must be refused, and what is harmless must go through.
 */
import { encodeFunctionData, erc20Abi, keccak256, maxUint256, serializeTransaction, toHex } from 'viem';
import type { Hex } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { permit, permitBatch } from '../one-reading/typed-data.ts';
import { activityOf, resultOf, startTestVault } from '../support/support.ts';
import type { Answer, Json, TestClient, TestVault } from '../support/support.ts';

let service: TestVault;
let client: TestClient;
let user: string;
/** Of one key: its address in each format, and its public key. */
let names: readonly string[];

const formats = ['ETHEREUM', 'COMPRESSED', 'UNCOMPRESSED'] as const;
const token = '0x5555555555555555555555555555555555555555';
const stranger = '0x3535353535353535353535353535353535353535';

beforeAll(async () => {
  service = await startTestVault();
  const { root } = service;
  const made = await root.submit('create_wallet', 'CREATE_WALLET', {
    walletName: 'Hot',
    accounts: formats.map((format) => ({
      curve: 'CURVE_SECP256K1',
      pathFormat: 'PATH_FORMAT_BIP32',
      path: "m/44'/60'/0'/0/0",
      addressFormat: `ADDRESS_FORMAT_${format}`,
    })),
  });
  names = resultOf(made).addresses;
  const added = await service.newUser('Script');
  ({ client } = added);
  user = `approvers.any(user, user.id == '${added.userId}')`;
  activityOf(
    await root.submit('create_smart_contract_interface', 'CREATE_SMART_CONTRACT_INTERFACE', {
      smartContractAddress: token,
      smartContractInterface: JSON.stringify(erc20Abi),
      type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
      label: 'Token',
    }),
  );
});
afterAll(() => service[Symbol.asyncDispose]());

/** Keeps a policy for as long as it is used. */
async function policy(effect: 'ALLOW' | 'DENY', condition: string): Promise<AsyncDisposable> {
  const answer = await service.root.submit('create_policy', 'CREATE_POLICY_V3', {
    policyName: `${effect} ${String(Math.random())}`,
    effect: `EFFECT_${effect}`,
    condition,
    consensus: effect === 'ALLOW' ? user : '',
    notes: '',
  });
  const { policyId } = resultOf(answer) as unknown as { readonly policyId: string };
  return {
    async [Symbol.asyncDispose]() {
      activityOf(await service.root.submit('delete_policy', 'DELETE_POLICY', { policyId }));
    },
  };
}

type Encoding = 'HEXADECIMAL' | 'TEXT_UTF8' | 'EIP712';
type Hashing = 'NO_OP' | 'KECCAK256' | 'SHA256';

const how = (encoding: Encoding, hashFunction: Hashing) => ({
  encoding: `PAYLOAD_ENCODING_${encoding}`,
  hashFunction: `HASH_FUNCTION_${hashFunction}`,
});

const first = (): string => names[0] ?? '';

const raw = (payload: string, encoding: Encoding, hashing: Hashing, more: Json = {}): Promise<Answer> =>
  client.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', {
    signWith: first(),
    payload,
    ...how(encoding, hashing),
    ...more,
  });

const older = (payload: string, encoding: Encoding, hashing: Hashing): Promise<Answer> =>
  client.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD', {
    privateKeyId: first(),
    payload,
    ...how(encoding, hashing),
  });

const batch = (payloads: readonly string[], encoding: Encoding, hashing: Hashing): Promise<Answer> =>
  client.submit('sign_raw_payloads', 'SIGN_RAW_PAYLOADS', {
    signWith: first(),
    payloads,
    ...how(encoding, hashing),
  });

const transaction = (unsignedTransaction: string, signWith = first()): Promise<Answer> =>
  client.submit('sign_transaction', 'SIGN_TRANSACTION_V2', {
    signWith,
    unsignedTransaction,
    type: 'TRANSACTION_TYPE_ETHEREUM',
  });

const calling = (data: Hex, more: object = {}): Hex =>
  serializeTransaction({ type: 'eip1559', chainId: 1, to: token, data, ...more });

const statuses = async (answers: readonly Promise<Answer>[]): Promise<readonly number[]> =>
  (await Promise.all(answers)).map(({ status }) => status);

const refused = (count: number): readonly number[] => Array.from({ length: count }, () => 403);

const text = 'thirty-two letters make a digest';

describe('a denied permit', () => {
  const payload = JSON.stringify(permit(1n));
  const harmless = JSON.stringify({
    types: { Note: [{ name: 'text', type: 'string' }] },
    primaryType: 'Note',
    domain: { name: 'Notes', chainId: 1 },
    message: { text: 'hello' },
  });

  test('is denied alone, in a batch, as an older type, and as what it is hashed to', async () => {
    await using allowing = await policy('ALLOW', "activity.action == 'SIGN'");
    await using denying = await policy('DENY', "eth.eip_712.primary_type == 'Permit'");
    expect([allowing, denying]).toHaveLength(2);
    const digest = 'ab'.repeat(32);
    const answers = [
      raw(payload, 'EIP712', 'NO_OP'),
      older(payload, 'EIP712', 'NO_OP'),
      batch([payload], 'EIP712', 'NO_OP'),
      batch([harmless, payload], 'EIP712', 'NO_OP'),
      batch([payload, harmless], 'EIP712', 'NO_OP'),
      // A digest may be the permit's.
      raw(digest, 'HEXADECIMAL', 'NO_OP'),
      raw(text, 'TEXT_UTF8', 'NO_OP'),
      batch([digest], 'HEXADECIMAL', 'NO_OP'),
      // The bytes whose hash is the digest of typed data.
      raw(`1901${'ab'.repeat(64)}`, 'HEXADECIMAL', 'KECCAK256'),
    ];
    expect(await statuses(answers)).toEqual(refused(answers.length));
    expect(
      await statuses([
        raw(harmless, 'EIP712', 'NO_OP'),
        batch([harmless, harmless], 'EIP712', 'NO_OP'),
        raw('hello', 'TEXT_UTF8', 'KECCAK256'),
        transaction(calling('0x')),
      ]),
    ).toEqual([200, 200, 200, 200]);
  });

  test.each([25, 240])('of %i tokens shows the last of them, and who may spend', async (entries) => {
    const { body } = await service.root.query('describe_payload', {
      payload: JSON.stringify(permitBatch(entries)),
      ...how('EIP712', 'NO_OP'),
    });
    const shown = JSON.stringify(body);
    expect(shown).toContain(`details[${String(entries - 1)}]`);
    expect(shown).toContain('spender');
  });
});

test('typed data beyond the bound names the spender, counts the rest, and is unknown to policies', async () => {
  const payload = JSON.stringify(permitBatch(300));
  const { body } = await service.root.query('describe_payload', { payload, ...how('EIP712', 'NO_OP') });
  const { title, warnings } = (
    body as unknown as {
      readonly description: { readonly title: string; readonly warnings: readonly string[] };
    }
  ).description;
  expect(title).toContain(stranger);
  expect(warnings.join(' ')).toContain('Only the first 1000 are shown');
  await using allowing = await policy('ALLOW', "activity.action == 'SIGN'");
  await using denying = await policy('DENY', "eth.eip_712.message['spender'] == '0x01'");
  expect([allowing, denying]).toHaveLength(2);
  expect((await raw(payload, 'EIP712', 'NO_OP')).status).toBe(403);
});

describe('a denied call', () => {
  const approve = encodeFunctionData({
    abi: erc20Abi,
    functionName: 'approve',
    args: [stranger, maxUint256],
  });
  const dirty = approve.replace('0x095ea7b3000000000000000000000000', '0x095ea7b3000000000000000000000001');
  const spellings: Readonly<Record<string, Hex>> = {
    'as it is': approve,
    'with a dirty bit before the address': dirty as Hex,
    'with a byte left out': approve.slice(0, -2) as Hex,
    'with a byte more': `${approve}00`,
    'with half of its selector': '0x095e',
  };
  const conditions = [
    "eth.tx.function_name == 'approve'",
    "eth.tx.function_signature == '0x095ea7b3'",
    `eth.tx.contract_call_args['spender'] == '${stranger}'`,
    "eth.tx.contract_call_args['amount'] > 1000",
  ];

  test.each(conditions)('%s is denied however the call is spelt', async (condition) => {
    await using allowing = await policy('ALLOW', "activity.action == 'SIGN'");
    await using denying = await policy('DENY', condition);
    expect([allowing, denying]).toHaveLength(2);
    const answers = Object.values(spellings).flatMap((data) => [
      transaction(calling(data)),
      transaction(calling(data, { type: 'legacy' })),
      // The very bytes, as a raw payload.
      raw(calling(data), 'HEXADECIMAL', 'KECCAK256'),
      raw(keccak256(calling(data)), 'HEXADECIMAL', 'NO_OP'),
      raw(keccak256(calling(data)), 'HEXADECIMAL', 'NO_OP', {
        preimage: { bytes: calling(data), hashFunction: 'HASH_FUNCTION_KECCAK256' },
      }),
    ]);
    expect(await statuses(answers)).toEqual(refused(answers.length));
    expect(await statuses([transaction(calling('0x')), raw('hello', 'TEXT_UTF8', 'KECCAK256')])).toEqual([
      200, 200,
    ]);
  });

  test.each(conditions.slice(0, 1).concat(conditions.slice(2)))(
    '%s allows nothing that is not read to its last byte',
    async (condition) => {
      await using allowing = await policy('ALLOW', `${condition} && eth.tx.contract_call_args['amount'] > 0`);
      expect(allowing).toBeDefined();
      const { 'as it is': plain = '0x', ...others } = spellings;
      expect((await transaction(calling(plain))).status).toBe(200);
      const answers = Object.values(others).map((data) => transaction(calling(data)));
      expect(await statuses(answers)).toEqual(refused(answers.length));
    },
  );
});

describe('denials of signing in general', () => {
  test('a type is denied by the name of any of its versions', async () => {
    await using allowing = await policy('ALLOW', "activity.action == 'SIGN'");
    expect(allowing).toBeDefined();
    for (const version of ['', '_V2']) {
      await using denying = await policy(
        'DENY',
        `activity.type == 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD${version}'`,
      );
      expect(denying).toBeDefined();
      expect(await statuses([raw('hi', 'TEXT_UTF8', 'SHA256'), older('ho', 'TEXT_UTF8', 'SHA256')])).toEqual([
        403, 403,
      ]);
    }
  });

  test('digests are denied in either encoding', async () => {
    await using allowing = await policy('ALLOW', "activity.action == 'SIGN'");
    await using denying = await policy(
      'DENY',
      "activity.params.encoding == 'PAYLOAD_ENCODING_HEXADECIMAL' && activity.params.hash_function == 'HASH_FUNCTION_NO_OP'",
    );
    expect([allowing, denying]).toHaveLength(2);
    expect(
      await statuses([
        raw('ab'.repeat(32), 'HEXADECIMAL', 'NO_OP'),
        raw(text, 'TEXT_UTF8', 'NO_OP'),
        batch([text], 'TEXT_UTF8', 'NO_OP'),
        raw(text, 'TEXT_UTF8', 'KECCAK256'),
      ]),
    ).toEqual([403, 403, 403, 200]);
  });

  test('a transaction that names no chain is on every one', async () => {
    await using allowing = await policy('ALLOW', "activity.action == 'SIGN'");
    await using denying = await policy('DENY', 'eth.tx.chain_id != 1');
    expect([allowing, denying]).toHaveLength(2);
    expect(
      (await transaction(serializeTransaction({ type: 'legacy', to: stranger, value: 1n }))).status,
    ).toBe(403);
    expect((await transaction(calling('0x'))).status).toBe(200);
  });
});

describe('a budget', () => {
  test('is one for a key, whichever of its names signs, and of a batch counts each', async () => {
    await using budget = await policy(
      'ALLOW',
      "eth.tx.data == '0x' && RollingSum(eth.tx.value, '24h', wallet_account.address) <= 1000",
    );
    expect(budget).toBeDefined();
    const pay = (signWith: string, value: bigint): Promise<Answer> =>
      transaction(serializeTransaction({ type: 'eip1559', chainId: 1, to: stranger, value }), signWith);
    const { accounts } = (await service.root.query('list_wallet_accounts', {})).body as unknown as {
      readonly accounts: readonly { readonly publicKey: string }[];
    };
    const publicKey = accounts[0]?.publicKey ?? '';
    const results: number[] = [];
    for (const name of [...names, publicKey, toHex(Buffer.from(publicKey, 'hex'))]) {
      results.push((await pay(name, 1000n)).status);
    }
    expect(results.filter((status) => status === 200)).toHaveLength(1);
  });

  test('of signatures counts each payload of a batch', async () => {
    await using allowing = await policy('ALLOW', "activity.action == 'SIGN'");
    await using rate = await policy('DENY', "RollingCount('1h', submitter.id, activity.resource) > 3");
    expect([allowing, rate]).toHaveLength(2);
    const many = Array.from({ length: 100 }, (_, index) => `text ${String(index)}`);
    expect((await batch(many, 'TEXT_UTF8', 'SHA256')).status).toBe(403);
    expect((await batch(many.slice(0, 3), 'TEXT_UTF8', 'SHA256')).status).toBe(200);
    expect((await raw('one more', 'TEXT_UTF8', 'SHA256')).status).toBe(403);
  });
});
