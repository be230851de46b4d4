/**
 * One request keeps no other waiting: the largest bodies of every kind of work are refused, answered in steps, or done within
 * a turn. What a request may be is published, and told by name where it is more.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requestLimits } from '../../main/lib/published-limits.ts';
import { newTestKey, newWallet, resultOf, startTestVault } from '../support/support.ts';
import type { Answer, Json, TestVault } from '../support/support.ts';
import { atLength, report } from './length.ts';

let service: TestVault;
let ethereum: string;

beforeAll(async () => {
  service = await startTestVault();
  ({ ethereum } = await newWallet(service.root));
});
afterAll(() => service[Symbol.asyncDispose]());

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

const typedData = (values: number): string =>
  JSON.stringify({
    types: { EIP712Domain: [], Many: [{ name: 'a', type: 'string[]' }] },
    primaryType: 'Many',
    domain: {},
    message: { a: Array(values).fill('') },
  });

const digest = { encoding: 'PAYLOAD_ENCODING_EIP712', hashFunction: 'HASH_FUNCTION_NO_OP' };
const hex = { encoding: 'PAYLOAD_ENCODING_HEXADECIMAL', hashFunction: 'HASH_FUNCTION_KECCAK256' };

const signAll = (payloads: readonly string[], how: Json) =>
  service.root.submit('sign_raw_payloads', 'SIGN_RAW_PAYLOADS', { signWith: ethereum, payloads, ...how });

let names = 0;
const newUsers = (users: number, keys: number) =>
  service.root.submit('create_users', 'CREATE_USERS_V3', {
    users: times(users, () => ({
      userName: `User ${String(++names)}`,
      apiKeys: times(keys, (index) => ({
        apiKeyName: `Key ${String(index)}`,
        publicKey: newTestKey().publicKey,
        curveType: 'API_KEY_CURVE_P256',
      })),
      authenticators: [],
      oauthProviders: [],
      userTags: [],
    })),
  });

const newKeys = (keys: number, addressFormats: readonly string[]) =>
  service.root.submit('create_private_keys', 'CREATE_PRIVATE_KEYS_V2', {
    privateKeys: times(keys, () => ({
      privateKeyName: `Private key ${String(++names)}`,
      curve: 'CURVE_SECP256K1',
      privateKeyTags: [],
      addressFormats,
    })),
  });

const twoFormats = ['ADDRESS_FORMAT_ETHEREUM', 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR'];

const refused = ({ status, body }: Answer, message: RegExp): void => {
  expect(status).toBe(400);
  expect(body?.['message']).toMatch(message);
};

describe('what one request may be is the same for many small parts as for a large one', () => {
  test('values of JSON that is signed', async () => {
    refused(await signAll([typedData(5000)], digest), /at most 4,000 values/);
    refused(
      await signAll(
        times(50, () => typedData(100)),
        digest,
      ),
      /^invalid parameters\.payloads: expected JSON of at most 4,000 values/,
    );
    expect((await signAll([typedData(1000), typedData(2000)], digest)).status).toBe(200);
  });

  test('characters that are signed', async () => {
    const most = requestLimits.payloadCharacters / 100;
    const payloads = times(100, (index) => index.toString(16).padStart(most, '0'));
    expect((await signAll(payloads, hex)).status).toBe(200);
    refused(
      await signAll([...payloads.slice(1), '0'.repeat(most + 2)], hex),
      /^invalid parameters\.payloads: expected at most 1000000 characters in one request, got 1000002/,
    );
  });

  test('credentials of new users', async () => {
    refused(
      await newUsers(21, 10),
      /^invalid parameters\.users: expected at most 200 credentials in one request/,
    );
    expect((await newUsers(20, 10)).status).toBe(200);
  });

  test('addresses of new private keys', async () => {
    refused(
      await newKeys(67, [...twoFormats, 'ADDRESS_FORMAT_TRON']),
      /^invalid parameters\.privateKeys: expected at most 200 address formats in one request, got 201/,
    );
    expect((await newKeys(100, twoFormats)).status).toBe(200);
  });
});

/** Processor time of this thread, in milliseconds: a loaded machine does not add to it. */
function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** @returns the most processor time between two turns of the event loop while something is done. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let isOver = false;
  let last = processorMs();
  const turn = (): void => {
    const now = processorMs();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  isOver = true;
  turn();
  return longest;
}

/** Twice what the longest was when it was measured: to derive and store a hundred keys, which is one transaction. */
const mostMs = 160;

describe('the largest work of each kind, and the longest turn that it takes', () => {
  const long = (unit: string, join: string) =>
    Array(Math.floor(65_000 / (unit.length + join.length)))
      .fill(unit)
      .join(join);
  const drafts = (condition: string) =>
    times(Math.floor(4_000_000 / 65_200), () => ({ effect: 'EFFECT_DENY', condition }));
  const describeIt = (payload: string, how: Json) =>
    service.root.query('describe_payload', { payload, ...how });
  const works: Readonly<Record<string, () => Promise<Answer>>> = {
    'drafts whose texts are unknown': () =>
      service.root.query('check_policies', { policies: drafts(`activity.type in [${long("'A'", ', ')}]`) }),
    'drafts of many comparisons': () =>
      service.root.query('check_policies', {
        policies: drafts(long("activity.kind == 'SIGN_RAW_PAYLOA'", ' || ')),
      }),
    'a test of many drafts': () =>
      service.root.query('test_policies', {
        limit: 1000,
        withoutRootQuorum: true,
        policies: drafts(long("eth.tx.to == 'a'", ' || ')),
      }),
    'an explanation of many drafts': () =>
      service.root.query('explain_policies', {
        requestBody: JSON.stringify({
          type: 'ACTIVITY_TYPE_CREATE_WALLET',
          parameters: { walletName: 'Explained', accounts: [] },
        }),
        policies: drafts(long("eth.tx.to == 'a'", ' || ')),
      }),
    'typed data': () => describeIt(typedData(3900), digest),
    'more typed data': () => describeIt(typedData(300_000), digest),
    'a megabyte of bytes': () => describeIt('ab'.repeat(500_000), hex),
    'a hundred payloads': () =>
      signAll(
        times(100, (index) => index.toString(16).padStart(10_000, '1')),
        hex,
      ),
    'a hundred accounts': () =>
      service.root.submit('create_wallet', 'CREATE_WALLET', {
        walletName: `Wallet ${String(++names)}`,
        accounts: times(100, (index) => ({
          curve: 'CURVE_SECP256K1',
          pathFormat: 'PATH_FORMAT_BIP32',
          path: `m/44'/60'/${String(index)}'/0/0`,
          addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
        })),
      }),
    'private keys': () => newKeys(100, twoFormats),
    'a body of brackets': () =>
      service.root.post(
        'query/whoami',
        `{"organizationId":"${service.organizationId}","more":${'['.repeat(2e6)}${']'.repeat(2e6)}}`,
      ),
  };

  // Short, they are done once each, so that the list cannot rot.
  test('each is answered', { timeout: 300_000 }, async () => {
    const figures: Record<string, string> = {};
    for (const [name, work] of Object.entries(works)) {
      const turns: number[] = [];
      for (let round = 0; round < atLength(1, 3); round += 1) {
        turns.push(
          await longestTurn(async () => {
            const { status } = await work();
            expect([200, 400, 413, 429], name).toContain(status);
          }),
        );
      }
      figures[name] = `${Math.min(...turns).toFixed(0)} ms`;
      if (atLength(0, 1) === 1) expect(Math.min(...turns), name).toBeLessThan(mostMs);
    }
    report(`longest turns, of at most ${String(mostMs)} ms of processor time`, figures);
    expect(resultOf(await newKeys(1, twoFormats)).privateKeys).toHaveLength(1);
  });
});
