/**
 * The protocol of the Ethereum door, over a node that the test answers for. The classes: a field that is not understood is not
 * signed; a repeated request is one transaction, whatever was lost between; no body and no node brings the service down.
 */
import { createServer, request as httpRequest, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import {
  getAddress,
  keccak256,
  parseTransaction,
  recoverAddress,
  recoverMessageAddress,
  recoverTransactionAddress,
  serializeTransaction,
  toFunctionSelector,
  type Hex,
} from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { atLength, report } from '../campaigns/length.ts';
import { Program } from '../../main/doors/program.ts';
import { OverloadError } from '../../main/lib/concurrency/turns.ts';
import { tokenFunctions } from '../../main/lib/policies/ethereum-programs.ts';
import { intentOf, toBeSigned, type PendingActivity } from '../../main/lib/text/to-be-signed.ts';
import { logEnd } from '../../main/storage/tables/activities.ts';
import {
  deleteTransaction,
  insertTransaction,
  listTransactions,
} from '../../main/storage/tables/ethereum-transactions.ts';
import clef from '../vectors/clef.json' with { type: 'json' };
import vectors from '../vectors/eip712.json' with { type: 'json' };
import { activityOf, send, type Json } from '../support/support.ts';
import { doorBodies } from '../support/ethereum-bodies.ts';
import { rpc, startToolVault, type ToolVault } from '../support/tool-vault.ts';

type Says = (params: readonly unknown[], response: ServerResponse) => unknown;

/** A node that says what a test wants. */
let says: Record<string, Says>;
const raws: string[] = [];
const server = createServer((incoming, response) => {
  void text(incoming).then(async (body) => {
    const { id, method, params } = JSON.parse(body) as { id: number; method: string; params: unknown[] };
    const result = Object.hasOwn(says, method) ? await says[method]?.(params, response) : null;
    if (response.destroyed || response.writableEnded || result === hangs) return;
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: result ?? null }));
  });
});
const hangs = Symbol('no answer');

const honest = (): Record<string, Says> => ({
  eth_chainId: () => '0x1',
  eth_getTransactionCount: () => `0x${raws.length.toString(16)}`,
  eth_estimateGas: () => '0x5208',
  eth_getBlockByNumber: () => ({ hash: '0xaa', baseFeePerGas: '0x3b9aca00' }),
  eth_maxPriorityFeePerGas: () => '0x3b9aca00',
  eth_gasPrice: () => '0x77359400',
  eth_getTransactionByHash: ([hash]) => raws.find((raw) => keccak256(raw as Hex) === hash) ?? null,
  eth_sendRawTransaction: ([raw]) => {
    if (!raws.includes(String(raw))) raws.push(String(raw));
    return '0x00';
  },
});

let vault: ToolVault;
let url = '';
let asking = '';
let from = '';
const to = '0x1111111111111111111111111111111111111111';

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  vault = await startToolVault(undefined);
  [from = ''] = vault.accounts;
  const nodeUrl = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  await vault.keyhearth('rpc', 'node', '1', nodeUrl);
  url = await vault.add('strict', '--chain', '1', '--budget', '5 ETH/day');
  asking = await vault.add('asking', '--chain', '1', '--budget', '0.001 ETH/day', '--ask');
}, 120_000);
beforeEach(() => {
  raws.length = 0;
  says = honest();
});
afterAll(async () => {
  await vault[Symbol.asyncDispose]();
  server.closeAllConnections();
  server.close();
});

const whole = () => ({
  ...{ from, to, value: '0x1', nonce: '0x0', gas: '0x5208', data: '0x' },
  ...{ maxFeePerGas: '0x77359400', maxPriorityFeePerGas: '0x1' },
});
const post = async (body: string, where = url) => {
  const { origin, pathname } = new URL(where);
  return send(origin, { path: pathname, headers: { 'content-type': 'application/json' }, body });
};

/** Votes on all that waits. */
async function voteOnAll(how: 'approve' | 'reject'): Promise<void> {
  const { root } = vault.service;
  const waiting = await root.query('list_activities', {
    filterByStatus: ['ACTIVITY_STATUS_CONSENSUS_NEEDED'],
  });
  for (const { fingerprint } of (waiting.body?.['activities'] ?? []) as readonly {
    readonly fingerprint: string;
  }[]) {
    activityOf(await root.submit(`${how}_activity`, `${how.toUpperCase()}_ACTIVITY`, { fingerprint }));
  }
}

/** Votes on what a program asks for, once it waits. */
async function decide(how: 'approve' | 'reject'): Promise<void> {
  await vi.waitFor(() => {
    expect(vault.service.vault.waiters.size).toBe(1);
  }, 10_000);
  await voteOnAll(how);
}

/** Asks, and approves of it once it waits. */
async function askApproved(method: string, ...params: readonly unknown[]) {
  const asked = rpc(asking, method, ...params);
  await decide('approve');
  return asked;
}

describe('what a transaction may be', () => {
  const refused: readonly (readonly [string, () => Json])[] = [
    ['an account of others', () => ({ from: to })],
    [
      'an address that is mistyped',
      () => ({ from: from.replace(/[a-f]/, (letter) => letter.toUpperCase()).replace(/[A-F]$/, 'a') + '0' }),
    ],
    ['data and input that differ', () => ({ data: '0x01', input: '0x02' })],
    ['gas and gasLimit that differ', () => ({ gasLimit: '0x5209' })],
    ['two kinds of fees', () => ({ gasPrice: '0x1' })],
    ['another chain', () => ({ chainId: '0x5' })],
    ['blobs', () => ({ blobVersionedHashes: [], maxFeePerBlobGas: '0x1' })],
    ['authorizations', () => ({ authorizationList: [{}] })],
    ['type 3', () => ({ type: '0x3' })],
    ['type 4', () => ({ type: '0x4' })],
    ['a type that its fees are not of', () => ({ type: '0x0' })],
    ['a number', () => ({ value: 1 })],
    ['a fraction', () => ({ value: 0.5 })],
    ['a number below 0', () => ({ value: '-0x1' })],
    ['a number of 257 bits', () => ({ value: `0x1${'0'.repeat(64)}` })],
    ['odd digits of data', () => ({ data: '0x012' })],
    ['no nonce', () => ({ nonce: undefined })],
    ['no fees', () => ({ maxFeePerGas: undefined, maxPriorityFeePerGas: undefined })],
    ['an unknown field', () => ({ memo: 'x' })],
  ];
  test.each(refused)('%s is refused', async (_what, change) => {
    const { error, result } = await rpc(url, 'eth_signTransaction', { ...whole(), ...change() });
    expect(result).toBeUndefined();
    expect([-32602, 4100]).toContain(error?.code);
  });

  test('the signed transaction is the one that was asked for, in any writing', async () => {
    const wish = whole();
    const plain = await rpc(url, 'eth_signTransaction', wish);
    const signed = plain.result as `0x02${string}`;
    expect(await recoverTransactionAddress({ serializedTransaction: signed })).toBe(from);
    expect(parseTransaction(signed)).toMatchObject({ chainId: 1, value: 1n, gas: 21000n, type: 'eip1559' });
    const reversed = Object.fromEntries(Object.entries(wish).reverse());
    const others = {
      ...reversed,
      from: from.toLowerCase(),
      gasLimit: wish.gas,
      input: '0x',
      value: '0x0001',
      type: null,
    };
    expect((await rpc(url, 'eth_signTransaction', others)).result).toBe(signed);
    const { result } = await rpc(url, 'account_signTransaction', wish);
    expect(result).toMatchObject({
      raw: signed,
      tx: {
        type: '0x2',
        nonce: '0x0',
        gas: '0x5208',
        value: '0x1',
        to,
        input: '0x',
        hash: keccak256(signed),
      },
    });
  });

  // A chain in another spelling is not the first of the program's chains.
  test.each(['0x1', '01', '1/', '1/2', '%201', 'x', '-1', '1.0', '1e0', '/', '/1', '/5', '/1/', '/['])(
    'a path %j is refused',
    async (path) => {
      const body = JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'eth_signTransaction',
        params: [whole()],
      });
      const { status, text: refused } = await post(body, `${url}/${path}`);
      expect([status, refused]).toEqual([405, expect.not.stringContaining('result')]);
    },
  );

  test.each(['0x0', '0x1'])('type %s is signed', async (type) => {
    const { maxFeePerGas: gasPrice, maxPriorityFeePerGas: _, ...rest } = whole();
    const { result } = await rpc(url, 'eth_signTransaction', { ...rest, gasPrice, type });
    expect(await recoverTransactionAddress({ serializedTransaction: result as `0x02${string}` })).toBe(from);
  });

  test('tokens are not moved, and no token of them is let to others', async () => {
    for (const [signature, selector] of Object.entries(tokenFunctions)) {
      expect(toFunctionSelector(`function ${signature}`)).toBe(selector);
      const wish = { ...whole(), data: `${selector}${'0'.repeat(128)}` };
      const { error } = await rpc(url, 'eth_signTransaction', wish);
      expect(error).toMatchObject({
        code: 4100,
        message: 'denied by the policy "Ethereum strict: no tokens"',
      });
    }
  });
});

describe('the log', () => {
  /** The newest transaction, and how its description names the program. */
  async function newest() {
    const { root } = vault.service;
    const { body } = await root.query('list_activities', { paginationOptions: { limit: '1' } });
    const [activity] = (body?.['activities'] ?? []) as readonly (PendingActivity & {
      readonly votes: readonly { readonly userId: string }[];
    })[];
    if (activity === undefined) throw new Error('the log is empty');
    const described = await root.query('describe_payload', toBeSigned(activity)[0]);
    const description = described.body?.['description'] as
      | { readonly lines: readonly Record<'label' | 'value', string>[] }
      | undefined;
    return {
      origin: Object(intentOf(activity)['origin']) as unknown,
      userId: activity.votes[0]?.userId,
      program: description?.lines.filter(({ value }) => value.includes('through the door')),
    };
  }

  test('names door and program of a transaction, as what the request says of itself', async () => {
    const { result } = await rpc(url, 'eth_signTransaction', { ...whole(), value: '0x77' });
    const own = await newest();
    expect(own.origin).toEqual({ door: 'ethereum', program: 'strict' });
    const said = [{ label: 'Program, as the request says', value: 'strict, through the door ethereum' }];
    expect(own.program).toEqual(said);
    // Any user can write the same words. The user is what the vault has verified.
    const lie = await vault.service.root.submit('sign_transaction', 'SIGN_TRANSACTION_V2', {
      ...{ signWith: from, type: 'TRANSACTION_TYPE_ETHEREUM', origin: own.origin },
      unsignedTransaction: serializeTransaction({
        ...parseTransaction(result as `0x02${string}`),
        ...{ r: undefined, s: undefined, v: undefined, yParity: undefined },
      }),
    });
    activityOf(lie);
    const claimed = await newest();
    expect(claimed.program).toEqual(said);
    expect(claimed.userId).not.toBe(own.userId);
  });
});

describe('messages', () => {
  test('are refused to a tool that may not ask', async () => {
    expect((await rpc(url, 'personal_sign', '0x68', from)).error?.code).toBe(4100);
  });

  test('are signed as EIP-191 has it, once the owner agrees', async () => {
    const { result } = await askApproved('personal_sign', '0x68656c6c6f', from.toLowerCase());
    expect(await recoverMessageAddress({ message: 'hello', signature: result as Hex })).toBe(from);
    // The same request has the same answer.
    expect((await rpc(asking, 'account_signData', 'text/plain', from, '0x68656c6c6f')).result).toBe(result);
  });

  test.each(vectors.vectors)('typed data of $source is signed', async ({ typedData, digest }) => {
    const { result } = await askApproved('eth_signTypedData_v4', from, JSON.stringify(typedData));
    expect(await recoverAddress({ hash: `0x${digest.replace(/^0x/, '')}`, signature: result as Hex })).toBe(
      from,
    );
    expect((await rpc(asking, 'account_signTypedData', from, typedData)).result).toBe(result);
  });

  test('web3signer’s paths name the keys, and sign a transaction as one', async () => {
    const { origin, pathname } = new URL(url);
    const get = (path: string) => send(origin, { method: 'GET', path: `${pathname}${path}` });
    expect((await get('/upcheck')).text).toBe('OK');
    const keys = JSON.parse((await get('/api/v1/eth1/publicKeys')).text) as readonly string[];
    expect(keys).toHaveLength(3);
    const sign = (key: string, data: unknown) =>
      post(JSON.stringify({ data }), `${url}/api/v1/eth1/sign/${key}`);
    expect((await sign(`0x${'1'.repeat(128)}`, '0x00')).status).toBe(404);
    expect((await sign(String(keys[0]), 'x')).status).toBe(400);
    expect((await sign(String(keys[0]), '0x68656c6c6f')).status).toBe(403);
    const bytes: Hex = `0x02df0180010282520894${to.slice(2)}0180c0`;
    const signed = await sign(String(keys[0]), bytes);
    expect(signed.status, signed.text).toBe(200);
    expect(await recoverAddress({ hash: keccak256(bytes), signature: signed.text as Hex })).toBe(from);
  });
});

/** The published requests, with an account of ours in the place of theirs. */
describe('the samples that clef’s documentation publishes', () => {
  test('account_signTransaction, with the signature of a method: the same transaction, by our key', async () => {
    const { request, methodSignature, result } = clef.signTransaction;
    expect(await recoverTransactionAddress({ serializedTransaction: result.raw as `0x02${string}` })).toBe(
      getAddress(request.from),
    );
    const asked = { ...request, from: from.toLowerCase() };
    const answer = await rpc(url, 'account_signTransaction', asked, methodSignature);
    const { raw, tx } = answer.result as { readonly raw: `0x02${string}`; readonly tx: Json };
    expect(await recoverTransactionAddress({ serializedTransaction: raw })).toBe(from);
    const unsigned = (signed: string) => ({
      ...parseTransaction(signed as Hex),
      ...{ r: 0, s: 0, v: 0, yParity: 0 },
    });
    expect(unsigned(raw)).toEqual(unsigned(result.raw));
    // Theirs has no type. Newer versions of geth name it.
    expect(Object.keys(tx)).toEqual(['type', ...Object.keys(result.tx)]);
    const { r: _r, s: _s, v: _v, hash: _hash, ...fields } = result.tx;
    expect(tx).toMatchObject({ ...fields, type: '0x0', hash: keccak256(raw) });
    // By EIP-155, for chain 1.
    expect(['0x25', '0x26']).toContain(tx['v']);
    expect(result.tx.v).toBe('0x26');
  });

  test('account_signTransaction that is denied: with the code of EIP-1193 instead', async () => {
    const { request, error } = clef.denied;
    expect(error.code).toBe(-32000);
    // Their account is not of the vault.
    expect((await rpc(url, 'account_signTransaction', request)).error?.code).toBe(-32602);
    const wanted = { ...request, from, value: '0x16345785d8a0000' };
    // Data of two bytes names no function, so that no policy can tell whether it moves tokens.
    expect((await rpc(asking, 'account_signTransaction', wanted)).error?.code).toBe(4100);
    const asked = rpc(asking, 'account_signTransaction', { ...wanted, input: '0x' });
    await decide('reject');
    expect((await asked).error).toEqual({ code: 4001, message: 'the request was rejected' });
  });

  test('account_list: addresses alone, as geth reads them since version 2 of clef’s API', async () => {
    const { body } = await post(JSON.stringify({ id: 1, jsonrpc: '2.0', method: 'account_list' }));
    expect(body).toEqual({ id: 1, jsonrpc: '2.0', result: vault.accounts });
  });

  test('account_version', async () => {
    expect((await rpc(url, 'account_version')).result).toBe('6.1.0');
  });

  test('account_signData', async () => {
    const { contentType, account, data, result } = clef.signData;
    const message = { raw: data as Hex };
    expect(await recoverMessageAddress({ message, signature: result as Hex })).toBe(getAddress(account));
    const answer = await askApproved('account_signData', contentType, from, data);
    expect(await recoverMessageAddress({ message, signature: answer.result as Hex })).toBe(from);
    // Headers of clique: bytes without a sign of what they are for.
    const clique = await rpc(asking, 'account_signData', 'application/clique', from, data);
    expect(clique.error?.code).toBe(-32602);
  });

  test('account_signTypedData: over the digest that the published signature is of', async () => {
    const { account, result } = clef.signTypedData;
    const [mail] = vectors.vectors;
    const hash = `0x${mail?.digest.replace(/^0x/, '') ?? ''}` as const;
    expect(await recoverAddress({ hash, signature: result as Hex })).toBe(getAddress(account));
    const signed = await rpc(asking, 'account_signTypedData', from, mail?.typedData);
    expect(await recoverAddress({ hash, signature: signed.result as Hex })).toBe(from);
  });

  test.each(['account_new', 'account_import', 'account_export', 'account_ecRecover', 'account_sign'])(
    '%s is not answered: the vault’s own requests create and export accounts',
    async (method) => {
      expect((await rpc(url, method, from)).error?.code).toBe(4200);
    },
  );
});

/** https://github.com/Consensys/web3signer, core/src/main/resources/openapi-specs/eth1/web3signer.yaml */
describe('web3signer’s published paths', () => {
  const at = (method: string, path: string, body?: string, where = asking) => {
    const { origin, pathname } = new URL(where);
    return send(origin, {
      ...{ method, path: `${pathname}${path}` },
      ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body }),
    });
  };

  test('sign the sample, in 65 bytes of hex', async () => {
    const keys = JSON.parse((await at('GET', '/api/v1/eth1/publicKeys')).text) as readonly string[];
    const path = `/api/v1/eth1/sign/${String(keys[0])}`;
    const sample = '{"data":"0x48656c6c6f2c20776f726c6421"}';
    expect((await at('POST', path, sample, url)).status).toBe(403);
    const signing = at('POST', path, sample);
    await decide('approve');
    const { status, text: signature, headers } = await signing;
    expect([status, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8']);
    // The published answer has 96 bytes, which no signature on this curve has.
    expect(signature).toMatch(/^0x[0-9a-f]{130}$/);
    const hash = keccak256('0x48656c6c6f2c20776f726c6421');
    expect(await recoverAddress({ hash, signature: signature as Hex })).toBe(from);
    expect((await at('POST', path, '{}')).status).toBe(400);
    expect((await at('POST', `${path.slice(0, -1)}0`.replace(/.{4}$/, '0000'), sample)).status).toBe(404);
  });

  test('say that the service is up; there is nothing to reload, and no other health', async () => {
    const up = await at('GET', '/upcheck');
    expect([up.status, up.text, up.headers['content-type']]).toEqual([
      200,
      'OK',
      'text/plain; charset=utf-8',
    ]);
    expect((await at('GET', '/healthcheck')).status).toBe(405);
    expect((await at('POST', '/reload', '{}')).status).toBe(405);
  });
});

test('a program whose policies are deleted is refused on every path', async () => {
  const emptied = await vault.add('emptied', '--chain', '1', '--budget', '1 ETH/day');
  const { root } = vault.service;
  const { body } = await root.query('list_policies', {});
  const policies = body?.['policies'] as readonly {
    readonly policyId: string;
    readonly policyName: string;
  }[];
  const own = policies.filter(({ policyName }) => policyName.includes('emptied'));
  expect(own.length).toBeGreaterThan(0);
  for (const { policyId } of own)
    activityOf(await root.submit('delete_policy', 'DELETE_POLICY', { policyId }));
  const { origin, pathname } = new URL(emptied);
  const keys = await send(origin, { method: 'GET', path: `${pathname}/api/v1/eth1/publicKeys` });
  expect([keys.status, keys.text]).toEqual([403, expect.stringMatching(/name no wallet/)]);
  expect((await rpc(emptied, 'eth_accounts')).error).toMatchObject({ code: 4100 });
});

describe('a request that comes again', () => {
  const wish = () => ({ from, to, value: '0x5' });

  /** Asks, and leaves before the answer. */
  async function askAndLeave(body: unknown, until: () => void): Promise<void> {
    const { port, pathname } = new URL(url);
    const asked = httpRequest({
      port,
      path: pathname,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
    });
    asked.on('error', () => undefined);
    asked.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_sendTransaction', params: [body] }));
    await vi.waitFor(until, 10_000);
    asked.destroy();
  }

  test('is the same transaction where the first caller missed the answer', async () => {
    let asked = 0;
    says['eth_sendRawTransaction'] = ([raw]) => {
      if (!raws.includes(String(raw))) raws.push(String(raw));
      asked += 1;
      return asked === 1 ? hangs : '0x00';
    };
    await askAndLeave(wish(), () => {
      expect(raws).toHaveLength(1);
    });
    server.closeAllConnections();
    const shuffled = { value: '0x0005', to, from: from.toLowerCase(), data: '0x', gas: null };
    await vi.waitFor(async () => {
      const { result } = await rpc(url, 'eth_sendTransaction', shuffled);
      expect(result).toBe(keccak256(raws[0] as Hex));
    }, 10_000);
    expect(new Set(raws).size).toBe(1);
    // The second caller has its answer: the next one means another.
    await rpc(url, 'eth_sendTransaction', wish());
    expect(new Set(raws).size).toBe(2);
  });

  // An error names no hash, so that its caller has no other way than to ask again.
  test('is the same transaction where the answer was an error', async () => {
    const wanted = { ...wish(), value: '0x64' };
    says['eth_sendRawTransaction'] = ([raw], response) => {
      raws.push(String(raw));
      response.destroy();
      return hangs;
    };
    const { error } = await rpc(url, 'eth_sendTransaction', wanted);
    expect(error?.message).toMatch(/send the same request again, and it is not sent twice/);
    says = honest();
    expect((await rpc(url, 'eth_sendTransaction', wanted)).result).toBe(keccak256(raws[0] as Hex));
    expect(new Set(raws).size).toBe(1);
  });

  test('is the same transaction where it came while the first, whose answer was an error, was under way', async () => {
    const wanted = { ...wish(), value: '0x66' };
    let asked = 0;
    says['eth_sendRawTransaction'] = ([raw], response) => {
      raws.push(String(raw));
      asked += 1;
      if (asked > 1) return '0x00';
      response.end('<html>');
      return hangs;
    };
    const answers = await Promise.all([1, 2].map(() => rpc(url, 'eth_sendTransaction', wanted)));
    expect(answers.filter(({ error }) => error !== undefined)).toHaveLength(1);
    expect(answers.map(({ result }) => result)).toContain(keccak256(raws[0] as Hex));
    expect(new Set(raws).size).toBe(1);
  });

  test('is the same transaction where the first caller left before it had a nonce', async () => {
    const wanted = { ...wish(), value: '0x65' };
    const gas = Promise.withResolvers<string>();
    const estimate = vi.fn(() => gas.promise);
    says['eth_estimateGas'] = estimate;
    await askAndLeave(wanted, () => {
      expect(estimate).toHaveBeenCalled();
    });
    // The vault hears that the caller left by the time that it answers another.
    await rpc(url, 'eth_chainId');
    gas.resolve('0x5208');
    await vi.waitFor(() => {
      expect(raws).toHaveLength(1);
    }, 10_000);
    expect((await rpc(url, 'eth_sendTransaction', wanted)).result).toBe(keccak256(raws[0] as Hex));
    expect(raws).toHaveLength(1);
  });

  /** Hands one over whose caller misses the answer. @returns the raw transaction. */
  async function miss(body: Json): Promise<string> {
    const before = raws.length;
    const { eth_sendRawTransaction: honestly } = says;
    let held: ServerResponse | undefined;
    says['eth_sendRawTransaction'] = (params, response) => {
      honestly?.(params, response);
      held = response;
      return hangs;
    };
    await askAndLeave(body, () => {
      expect(raws).toHaveLength(before + 1);
    });
    // A connection that closes is tried again.
    held?.end('<html>');
    says = honest();
    return raws[before] ?? '';
  }

  /** The next request of the API is refused as a busy vault refuses it. */
  const tooBusy = () => vi.spyOn(Program.prototype, 'submit').mockRejectedValueOnce(new OverloadError());

  test('is the same transaction where the vault was too busy for the repeat', async () => {
    const wanted = { ...wish(), value: '0x67' };
    const raw = await miss(wanted);
    await vi.waitFor(() => {
      expect(vault.service.vault.units.read((tx) => listTransactions(tx, '1 0xaa', from)).at(-1)?.state).toBe(
        'sent',
      );
    }, 10_000);
    using _busy = tooBusy();
    await vi.waitFor(async () => {
      const { error } = await rpc(url, 'eth_sendTransaction', wanted);
      expect(error?.message).toContain('too many requests');
    }, 10_000);
    expect((await rpc(url, 'eth_sendTransaction', wanted)).result).toBe(keccak256(raw as Hex));
    expect(raws).toEqual([raw]);
  });

  test('asks for one approval where the vault was too busy for the repeat', async () => {
    const { port, pathname } = new URL(asking);
    const wanted = { ...wish(), value: '0x16345785d8a0001' };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_sendTransaction', params: [wanted] });
    const headers = { 'content-type': 'application/json' };
    const asked = httpRequest({ port, path: pathname, method: 'POST', headers });
    asked.on('error', () => undefined);
    asked.end(body);
    const { waiters } = vault.service.vault;
    await vi.waitFor(() => {
      expect(waiters.size).toBe(1);
    }, 10_000);
    asked.destroy();
    await vi.waitFor(() => {
      expect(waiters.size).toBe(0);
    }, 10_000);
    using _busy = tooBusy();
    expect((await rpc(asking, 'eth_sendTransaction', wanted)).error?.message).toContain('too many requests');
    await voteOnAll('approve');
    expect((await rpc(asking, 'eth_sendTransaction', wanted)).result).toBe(keccak256(raws[0] as Hex));
    expect(raws).toHaveLength(1);
  });

  test('is as many transactions as its batch has, each under its own id', async () => {
    const call = (id: number) => ({
      ...{ jsonrpc: '2.0', id, method: 'eth_sendTransaction' },
      params: [{ ...wish(), value: '0x63' }],
    });
    const { text: refused } = await post(JSON.stringify([call(1), call(2), call(1)]));
    expect(JSON.parse(refused)).toMatchObject({ id: null, error: { code: -32600 } });
    expect(raws).toEqual([]);
    const hashesOf = ({ text: answer }: { readonly text: string }) =>
      (JSON.parse(answer) as readonly { result: string }[]).map(({ result }) => result);
    const hashes = hashesOf(await post(JSON.stringify([call(1), call(2)])));
    expect(hashes).toEqual(raws.map((raw) => keccak256(raw as Hex)));
    expect(new Set(hashes).size).toBe(2);
  });

  test('finds the vote that came after its caller had left', async () => {
    const { port, pathname } = new URL(asking);
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'eth_sendTransaction',
      params: [{ ...wish(), value: '0x16345785d8a0000' }],
    });
    const asked = httpRequest({
      port,
      path: pathname,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
    });
    asked.on('error', () => undefined);
    asked.end(body);
    await vi.waitFor(() => {
      expect(vault.service.vault.waiters.size).toBe(1);
    }, 10_000);
    asked.destroy();
    await vi.waitFor(() => {
      expect(vault.service.vault.waiters.size).toBe(0);
    }, 10_000);
    await voteOnAll('approve');
    expect(raws).toEqual([]);
    const { body: answer } = await post(body, asking);
    expect(answer?.['result']).toBe(keccak256(raws[0] as Hex));
    expect(raws).toHaveLength(1);
  });

  test('is the same transaction where the first is handed over while the repeat asks for its nonce', async () => {
    const wanted = { ...wish(), value: '0x16345785d8a0002' };
    const { waiters, units } = vault.service.vault;
    const logged = () => units.readUnverified((tx) => logEnd(tx).sequence);
    const asked = httpRequest(asking, { method: 'POST', headers: { 'content-type': 'application/json' } });
    asked.on('error', () => undefined);
    asked.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_sendTransaction', params: [wanted] }));
    await vi.waitFor(() => {
      expect(waiters.size).toBe(1);
    }, 10_000);
    // All that the vault writes after the vote waits: the first is not handed over yet.
    const write = units.write.bind(units);
    const before = logged();
    const written = Promise.withResolvers<undefined>();
    const writing = vi.spyOn(units, 'write').mockImplementation(async (...given) => {
      if (logged() > before) await written.promise;
      return write(...given);
    });
    await voteOnAll('approve');
    await vi.waitFor(() => {
      expect(waiters.size).toBe(0);
    }, 10_000);
    asked.destroy();
    // The vault hears that the caller left by the time that it answers another.
    await rpc(url, 'eth_chainId');
    const nonce = Promise.withResolvers<string>();
    const count = vi.fn(() => nonce.promise);
    says['eth_getTransactionCount'] = count;
    const repeat = rpc(asking, 'eth_sendTransaction', wanted);
    await vi.waitFor(() => {
      expect(count).toHaveBeenCalled();
    }, 10_000);
    written.resolve(undefined);
    writing.mockRestore();
    await vi.waitFor(() => {
      expect(raws).toHaveLength(1);
    }, 10_000);
    nonce.resolve('0x1');
    expect((await repeat).result).toBe(keccak256(raws[0] as Hex));
    expect(waiters.size).toBe(0);
    expect(raws).toHaveLength(1);
  });

  test('is another one where the vault was locked as the first caller got the answer', async () => {
    const wanted = { ...wish(), value: '0x69' };
    const { eth_sendRawTransaction: honestly } = says;
    says['eth_sendRawTransaction'] = async (params, response) => {
      await vault.service.vault.rpc.lock();
      return honestly?.(params, response);
    };
    const first = await rpc(url, 'eth_sendTransaction', wanted);
    expect(first.result).toBe(keccak256(raws[0] as Hex));
    await vault.service.unlock();
    says = honest();
    const second = await rpc(url, 'eth_sendTransaction', wanted);
    expect(second.result).toBe(keccak256(raws[1] as Hex));
    expect(raws).toHaveLength(2);
    expect(vault.service.faults).toEqual([]);
  });

  // The clock is ahead from here on, and votes by other clocks are too old.
  test('is the same transaction an hour later too', async () => {
    const wanted = { ...wish(), value: '0x61' };
    const raw = await miss(wanted);
    vault.service.clock.advance(3_700_000);
    await vi.waitFor(async () => {
      expect((await rpc(url, 'eth_sendTransaction', wanted)).result).toBe(keccak256(raw as Hex));
    }, 10_000);
    expect(raws).toHaveLength(1);
  });

  test('is sent an hour later where the process was killed before it was signed', async () => {
    const wanted = { ...wish(), value: '0x62' };
    const raw = await miss(wanted);
    raws.length = 0;
    // As the kill left it: asked, with a request that the API never had.
    const { units } = vault.service.vault;
    const kept = units.read((tx) => listTransactions(tx, '1 0xaa', from)).at(-1);
    if (kept === undefined) throw new Error('no row is kept');
    const createdAt = vault.service.clock.now();
    await units.write((tx) => {
      deleteTransaction(tx, kept.id);
      insertTransaction(tx, { ...kept, state: 'asked', hash: null, createdAt });
    });
    vault.service.clock.advance(3_700_000);
    await vi.waitFor(async () => {
      expect((await rpc(url, 'eth_sendTransaction', wanted)).result).toBe(keccak256(raw as Hex));
    }, 10_000);
    expect(raws).toEqual([raw]);
  });
});

describe('a node that lies', () => {
  const lies: readonly (readonly [string, string, Says, RegExp])[] = [
    ['of another chain', 'eth_chainId', () => '0x5', /says that it is of chain 5/],
    ['with an absurd fee', 'eth_maxPriorityFeePerGas', () => '0xffffffffffffffff', /not believed/],
    ['with an absurd nonce', 'eth_getTransactionCount', () => '0xffffffffffffff', /not believed/],
    ['with no number', 'eth_estimateGas', () => 'many', /no number/],
    [
      'with a redirect to the vault',
      'eth_chainId',
      (_params, response) => response.writeHead(307, { location: url }).end(),
      /redirects/,
    ],
    [
      'with another id',
      'eth_chainId',
      (_params, response) => response.end('{"jsonrpc":"2.0","id":99999,"result":"0x1"}'),
      /another call/,
    ],
    ['with a list', 'eth_chainId', (_params, response) => response.end('[]'), /not as JSON-RPC/],
    ['with no JSON', 'eth_chainId', (_params, response) => response.end('<html>'), /without JSON/],
    [
      'with deep JSON',
      'eth_chainId',
      (_params, response) => response.end('['.repeat(100_000)),
      /without JSON/,
    ],
    [
      'with an answer that is too large',
      'eth_chainId',
      (_params, response) => response.end('x'.repeat(5_000_000)),
      /larger than 4 MiB/,
    ],
    [
      'by closing the connection',
      'eth_chainId',
      (_params, response) => response.destroy(),
      /cannot be reached/,
    ],
  ];
  test.each(lies)('%s gets no signature', async (_what, method, lie, message) => {
    says[method] = lie;
    const { error } = await rpc(url, 'eth_sendTransaction', { from, to, value: '0x5' });
    expect(error?.message).toMatch(message);
    expect(raws).toEqual([]);
  });

  test('about the first block has none of its words kept', async () => {
    says['eth_getBlockByNumber'] = () => ({ hash: `0x${'a'.repeat(3_000_000)}`, baseFeePerGas: '0x1' });
    const { result } = await rpc(url, 'eth_sendTransaction', { from, to, value: '0x68' });
    expect(result).toBe(keccak256(raws[0] as Hex));
    const kept = vault.service.vault.units.read((tx) => listTransactions(tx, '1 undefined', from));
    expect(kept.map(({ hash }) => hash)).toEqual([result]);
  });

  test('is not asked with the network off, unless it is on this machine', async () => {
    await vault.keyhearth('rpc', 'node', '1', 'https://node.example/secret');
    await vault.service.vault.rpc.changeSettings({ network: false });
    expect((await rpc(url, 'eth_blockNumber')).error).toMatchObject({ code: 4901 });
    expect(JSON.stringify(await vault.service.vault.rpc.doors())).not.toContain('secret');
    await vault.service.vault.rpc.changeSettings({ network: true });
    for (const wrong of [
      'http://node.example/v3/1c0ffee',
      'ftp://127.0.0.1/1c0ffee',
      'https://a:1c0ffee@node.example',
      'node.example/v3/1c0ffee',
      'https://node example/1c0ffee',
      vault.service.url,
    ]) {
      const said = vault.keyhearth('rpc', 'node', '1', wrong);
      await expect(said, wrong).rejects.toThrow('url');
      // A refused address may have a secret in it too.
      await expect(said, wrong).rejects.not.toThrow('1c0ffee');
    }
    await vault.keyhearth(
      'rpc',
      'node',
      '1',
      `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    );
  });
});

describe('bodies', () => {
  const code = async (body: string) =>
    (JSON.parse((await post(body)).text) as { error: { code: number } }).error.code;
  const called = (id: unknown) => ({ jsonrpc: '2.0', id, method: 'eth_chainId', params: [] });

  test('a batch is answered in its order, without its notifications, and is bounded', async () => {
    const { text: answer } = await post(
      JSON.stringify([called(7), { ...called(1), id: undefined }, 1, called('x')]),
    );
    expect(JSON.parse(answer)).toMatchObject([
      { id: 7, result: '0x1' },
      { id: null, error: { code: -32600 } },
      { id: 'x' },
    ]);
    expect((await post(JSON.stringify({ ...called(1), id: undefined }))).status).toBe(204);
    expect(await code('[]')).toBe(-32600);
    expect(await code(JSON.stringify(Array.from({ length: 101 }, (_, id) => called(id))))).toBe(-32600);
    expect(await code(JSON.stringify(Array.from({ length: 10_000 }, (_, id) => called(id))))).toBe(-32700);
  });

  test.each([
    '',
    '{',
    '\u0000',
    '['.repeat(100_000),
    '1',
    'null',
    '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":{}}',
    '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","method":"eth_accounts","params":[]}',
    '{"jsonrpc":"2.0","id":1,"method":"eth_signTransaction","params":[{"value":"0x1","valu\\u0065":"0x2"}]}',
  ])('body %# is an error of JSON-RPC', async (body) => {
    expect([-32700, -32600]).toContain(await code(body));
  });

  // The program may send transactions, and sign nothing else.
  test(
    'none is answered with HTTP 500, and none gets a signature beyond the program’s rights',
    { timeout: atLength(120_000, 3_600_000) },
    async () => {
      const { origin, pathname } = new URL(url);
      const listed = await send(origin, { method: 'GET', path: `${pathname}/api/v1/eth1/publicKeys` });
      const [key = ''] = JSON.parse(listed.text) as readonly string[];
      const body = doorBodies({ from, to, key }, whole());
      const count = atLength(400, 100_000);
      const figures = { bodies: 0, 'answers 500': 0, signed: 0 };
      const began = performance.now();
      await fc.assert(
        fc.asyncProperty(fc.array(body, { minLength: 20, maxLength: 20 }), async (bodies) => {
          const answers = await Promise.all(bodies.map((each) => post(each.body, `${url}${each.path}`)));
          for (const [index, { status, text: said }] of answers.entries()) {
            const { path = '', mayBeSigned } = bodies[index] ?? {};
            figures.bodies += 1;
            if (status >= 500) figures['answers 500'] += 1;
            expect(path === '' ? [200, 204] : [200, 400, 403, 404, 405]).toContain(status);
            expect(said).not.toContain('internal error');
            const signature = path === '' ? /"result":"(0x[0-9a-f]{130,})"/i.exec(said)?.[1] : said;
            if (status !== 200 || signature?.startsWith('0x') !== true) continue;
            figures.signed += 1;
            expect(mayBeSigned, said).toBe(true);
          }
        }),
        { numRuns: count / 20, seed: 24 },
      );
      expect(figures.signed).toBeGreaterThan(0);
      report('bodies of JSON-RPC', { ...figures, seconds: Math.round((performance.now() - began) / 1000) });
    },
  );
});
