/** Earlier signatures for an address. The class: what did not become a signature here, or did for others, counts as one. */
import * as bitcoinjs from 'bitcoinjs-lib';
import { serializeTransaction } from 'viem';
import { fundedPsbt } from '../support/funded-psbt.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { activityOf, newWallet, resultOf, startTestVault, newSubOrganization } from '../support/support.ts';
import type { Answer, Json, TestVault, TestClient } from '../support/support.ts';

let service: TestVault;
let root: TestClient;
let signer: string;

beforeAll(async () => {
  service = await startTestVault();
  ({ root } = service);
  ({ ethereum: signer } = await newWallet(root));
});
afterAll(() => service[Symbol.asyncDispose]());

const receiver = (index: number): `0x${string}` => `0x${'52'.repeat(18)}${String(index).padStart(4, '0')}`;

let nonce = 0;
const pay = (to: string, client = root, signWith = signer): Promise<Answer> =>
  client.submit('sign_transaction', 'SIGN_TRANSACTION_V2', {
    signWith,
    type: 'TRANSACTION_TYPE_ETHEREUM',
    unsignedTransaction: serializeTransaction({
      ...{ type: 'eip1559', chainId: 1, nonce: nonce++, value: 1n },
      to: to as `0x${string}`,
    }),
  });

/** Asks as often as it takes. @returns the ids of the activities, by address, and how often it was asked. */
async function usesOf(
  addresses: readonly string[],
  client = root,
): Promise<{ readonly ids: Json; readonly asked: number }> {
  const ids: Json = {};
  let before: number | undefined;
  for (let asked = 1; ; asked += 1) {
    const left = addresses.filter((address) => !(address in ids));
    const { body, status } = await client.query('list_receiver_uses', {
      addresses: left,
      ...(before !== undefined && { before }),
    });
    expect(status).toBe(200);
    for (const use of (body as { receiverUses: readonly Json[] }).receiverUses)
      ids[String(use['address'])] = use['activityId'];
    before = body?.['next'] as number | undefined;
    if (before === undefined) return { ids, asked };
  }
}

test('an address is new until something was signed for it, and the newest signature counts', async () => {
  const to = receiver(1);
  expect((await usesOf([to])).ids).toEqual({});
  await pay(to);
  const newest = activityOf(await pay(to)).id;
  const other = activityOf(await pay(receiver(2))).id;
  // As people copy it, and as the description writes it.
  expect((await usesOf([to, to.toUpperCase().replace('X', 'x'), receiver(2), receiver(3)])).ids).toEqual({
    [to]: newest,
    [to.toUpperCase().replace('X', 'x')]: newest,
    [receiver(2)]: other,
  });
});

test('a payment of Bitcoin counts, however its address is spelled', async () => {
  const { walletId } = resultOf(
    await root.submit('create_wallet', 'CREATE_WALLET', {
      walletName: 'Coins',
      accounts: [
        {
          curve: 'CURVE_SECP256K1',
          pathFormat: 'PATH_FORMAT_BIP32',
          path: "m/84'/0'/0'/0/0",
          addressFormat: 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH',
        },
      ],
    }),
  );
  const { body } = await root.query('list_wallet_accounts', { walletId });
  const { address } = (body as { accounts: readonly { address: string }[] }).accounts[0] ?? { address: '' };
  const to = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
  const psbt = fundedPsbt(address, bitcoinjs.networks.bitcoin);
  psbt.addOutput({ address: to, value: 500n });
  const { id, status } = activityOf(
    await root.submit('sign_transaction', 'SIGN_TRANSACTION_V2', {
      signWith: address,
      type: 'TRANSACTION_TYPE_BITCOIN',
      unsignedTransaction: psbt.toHex(),
    }),
  );
  expect(status).toBe('ACTIVITY_STATUS_COMPLETED');
  expect((await usesOf([to, to.toUpperCase()])).ids).toEqual({ [to]: id, [to.toUpperCase()]: id });
  expect((await usesOf([address])).ids).toEqual({});
});

test('what was denied, rejected or waits does not count, nor does a text that names the address', async () => {
  const [denied, waits, rejected, named] = [receiver(11), receiver(12), receiver(13), receiver(14)];
  const policy = (effect: string, to: string, consensus?: string): Promise<Answer> =>
    root.submit('create_policy', 'CREATE_POLICY_V3', {
      ...{ policyName: `to ${to}`, effect, notes: '', condition: `eth.tx.to == '${to}'` },
      ...(consensus !== undefined && { consensus }),
    });
  const { client, userId } = await service.newUser('Payer');
  await policy('EFFECT_DENY', denied);
  const two = `approvers.any(user, user.id == '${service.rootUserId}') && approvers.any(user, user.id == '${userId}')`;
  await policy('EFFECT_ALLOW', waits, two);
  await policy('EFFECT_ALLOW', rejected, two);
  expect((await pay(denied, client)).status).not.toBe(200);
  expect(activityOf(await pay(waits, client)).status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
  const { fingerprint } = activityOf(await pay(rejected, client));
  await root.submit('reject_activity', 'REJECT_ACTIVITY', { fingerprint });
  await root.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', {
    signWith: signer,
    payload: `pay ${named}`,
    encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
    hashFunction: 'HASH_FUNCTION_KECCAK256',
  });
  expect((await usesOf([denied, waits, rejected, named])).ids).toEqual({});
});

test('a sub-organization’s signatures are its own, and so are its places in the log', async () => {
  const { client: apart } = await newSubOrganization(root);
  const { ethereum } = await newWallet(apart);
  const [theirs, ours] = [receiver(21), receiver(22)];
  const { id } = activityOf(await pay(theirs, apart, ethereum));
  await pay(ours);
  expect((await usesOf([theirs, ours], apart)).ids).toEqual({ [theirs]: id });
  expect(Object.keys((await usesOf([theirs, ours])).ids)).toEqual([ours]);
  // More signatures than one question reads.
  for (let round = 0; round < 201; round += 1) await pay(receiver(30), apart, ethereum);
  const long = await usesOf([theirs, receiver(23)], apart);
  expect(long.ids).toEqual({ [theirs]: id });
  expect(long.asked).toBeGreaterThan(1);
});

test('bad questions are refused by their fields', async () => {
  for (const [body, field] of [
    [{ addresses: [] }, 'addresses'],
    [{ addresses: new Array<string>(21).fill(receiver(1)) }, 'addresses'],
    [{ addresses: [receiver(1)], before: -1 }, 'before'],
  ] as const) {
    const answer = await root.query('list_receiver_uses', body);
    expect(answer.status).toBe(400);
    expect(answer.text).toContain(field);
  }
});
