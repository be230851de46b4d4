/** A vault with two wallets and a private key, each key under all of its names; and a user for each ready-made policy. */
import { base58 } from '@scure/base';
import * as bitcoinjs from 'bitcoinjs-lib';
import { TronWeb, utils } from 'tronweb';
import type { Hex } from 'viem';
import { addressFormatsOf } from '../../main/chains/addresses/addresses.ts';
import { policyTemplates } from '../../renderer/features/policies/policy-templates.ts';
import {
  ethereumAccount,
  resultOf,
  solanaAccount,
  startTestVault,
  type Json,
  type TestClient,
  type TestVault,
} from '../support/support.ts';

/** A key of the vault, and all that a request may call it by. */
export interface SceneKey {
  /** Empty for a private key. */
  readonly wallet: string;
  readonly ethereum: Hex | undefined;
  readonly names: readonly string[];
  /** Those by which it signs transactions of Ethereum. */
  readonly ethereumNames: readonly string[];
  /** Transactions of other chains that it can sign. */
  readonly others: readonly OtherTransaction[];
}

export interface OtherTransaction {
  readonly type: string;
  readonly hex: string;
  readonly signatures: number;
}

export interface SceneUser {
  readonly userId: string;
  readonly client: TestClient;
  /** The ready-made policy that is about the user. */
  readonly template: string;
  /** The key that it spends from, unlike the others. */
  readonly key: SceneKey;
}

export interface Scene extends AsyncDisposable {
  readonly vault: TestVault;
  readonly keys: readonly SceneKey[];
  readonly users: readonly SceneUser[];
}

/** The receiver that a policy names. */
export const friend = '0x5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a';
export const firstWallet = 'First';

export async function openScene(): Promise<Scene> {
  const vault = await startTestVault();
  const { root } = vault;
  const first = await newWallet(root, firstWallet);
  const second = await newWallet(root, 'Second');
  const alone = await newPrivateKey(root);
  const spenders = {
    budget: first.keys[0],
    'token-budget': alone,
    'pay-known': second.keys[0],
    'sign-with-wallet': first.keys[1],
  };
  const users = await Promise.all(
    Object.entries(spenders).map(async ([template, key = alone]): Promise<SceneUser> => {
      const { userId, client } = await vault.newUser(template);
      const tag = { userTagName: template, userIds: [userId] };
      const { userTagId } = resultOf(
        await root.submit('create_user_tag', 'CREATE_USER_TAG', tag),
      ) as unknown as { readonly userTagId: string };
      await establish(root, template, {
        condition: template === 'pay-known' ? friend : first.walletId,
        consensus: template === 'pay-known' ? userTagId : userId,
      });
      return { userId, client, template, key };
    }),
  );
  await establish(root, 'rate', { condition: '', consensus: '' });
  return {
    vault,
    keys: [...first.keys, ...second.keys, alone],
    users,
    [Symbol.asyncDispose]: () => vault[Symbol.asyncDispose](),
  };
}

/** Makes a ready-made policy, with what it leaves open filled in. */
async function establish(
  root: TestClient,
  template: string,
  open: { readonly condition: string; readonly consensus: string },
): Promise<void> {
  const draft = policyTemplates.find(({ id }) => id === template)?.draft;
  if (draft === undefined) throw new Error(`there is no ready-made policy ${template}`);
  resultOf(
    await root.submit('create_policy', 'CREATE_POLICY_V3', {
      ...draft,
      condition: draft.condition.replaceAll('…', open.condition),
      consensus: draft.consensus.replaceAll('…', open.consensus),
      notes: '',
    }),
  );
}

const formats = addressFormatsOf('CURVE_SECP256K1');

async function newWallet(
  root: TestClient,
  walletName: string,
): Promise<{ readonly walletId: string; readonly keys: readonly SceneKey[] }> {
  const paths = ["m/44'/60'/0'/0/0", "m/44'/60'/0'/0/1"];
  const accounts = paths.flatMap((path) =>
    formats.map((addressFormat): Json => ({ ...ethereumAccount, path, addressFormat })),
  );
  const answer = await root.submit('create_wallet', 'CREATE_WALLET', {
    walletName,
    accounts: [...accounts, solanaAccount],
  });
  const { walletId, addresses } = resultOf(answer);
  const solana = addresses.at(-1) ?? '';
  const keys = paths.map((_path, index) =>
    keyOf(walletName, addresses.slice(index * formats.length, (index + 1) * formats.length)),
  );
  const others = [{ type: 'TRANSACTION_TYPE_SOLANA', hex: solanaTransfer(solana), signatures: 1 }];
  return {
    walletId,
    keys: [
      ...keys,
      { wallet: walletName, ethereum: undefined, names: [solana], ethereumNames: [solana], others },
    ],
  };
}

async function newPrivateKey(root: TestClient): Promise<SceneKey> {
  const answer = await root.submit('create_private_keys', 'CREATE_PRIVATE_KEYS_V2', {
    privateKeys: [
      { privateKeyName: 'Alone', curve: 'CURVE_SECP256K1', privateKeyTags: [], addressFormats: formats },
    ],
  });
  const [made] = resultOf(answer).privateKeys;
  const addresses = formats.map(
    (format) => made?.addresses.find((each) => each.format === format)?.address ?? '',
  );
  return keyOf('', addresses, [made?.privateKeyId ?? '']);
}

/** @param addresses In the order of the formats, the public key among them. */
function keyOf(wallet: string, addresses: readonly string[], ids: readonly string[] = []): SceneKey {
  const addressOf = (format: (typeof formats)[number]): string => addresses[formats.indexOf(format)] ?? '';
  const segwit = addressOf('ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH');
  return {
    wallet,
    ethereum: addressOf('ADDRESS_FORMAT_ETHEREUM') as Hex,
    names: [...addresses, ...ids],
    ethereumNames: [
      addressOf('ADDRESS_FORMAT_ETHEREUM'),
      addressOf('ADDRESS_FORMAT_COMPRESSED'),
      addressOf('ADDRESS_FORMAT_UNCOMPRESSED'),
      ...ids,
    ],
    others: [
      {
        type: 'TRANSACTION_TYPE_TRON',
        hex: tronTransfer(addressOf('ADDRESS_FORMAT_TRON')),
        signatures: 1,
      },
      ...[1, 2, 7].map((inputs) => ({
        type: 'TRANSACTION_TYPE_BITCOIN',
        hex: psbt(segwit, inputs),
        signatures: inputs,
      })),
    ],
  };
}

/** One SOL to a stranger, in a legacy message without its signature. */
function solanaTransfer(payer: string): string {
  const message = Buffer.concat([
    Buffer.from([1, 0, 1, 3]),
    base58.decode(payer),
    Buffer.alloc(32, 3),
    Buffer.alloc(32),
    Buffer.alloc(32, 9),
    Buffer.from([1, 2, 2, 0, 1, 12, 2, 0, 0, 0, 0, 202, 154, 59, 0, 0, 0, 0]),
  ]);
  return Buffer.concat([Buffer.from([1]), Buffer.alloc(64), message]).toString('hex');
}

function tronTransfer(owner: string): string {
  const value = {
    owner_address: TronWeb.address.toHex(owner),
    to_address: TronWeb.address.toHex('TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf'),
    amount: 5_000_000,
  };
  const type = 'TransferContract';
  const raw_data = {
    contract: [{ parameter: { value, type_url: `type.googleapis.com/protocol.${type}` }, type }],
    ref_block_bytes: '5e4b',
    ref_block_hash: '47c9dc89341b300d',
    expiration: 1_591_089_627_000,
    timestamp: 1_591_089_567_635,
  };
  return utils.transaction.txPbToRawDataHex(utils.transaction.txJsonToPb({ raw_data })).toLowerCase();
}

/** Spends so many coins of an address, and pays a stranger. */
function psbt(address: string, inputs: number): string {
  const network = bitcoinjs.networks.regtest;
  const script = bitcoinjs.address.toOutputScript(address, network);
  const made = new bitcoinjs.Psbt({ network });
  for (let index = 0; index < inputs; index += 1) {
    const funding = new bitcoinjs.Transaction();
    funding.addInput(new Uint8Array(32).fill(9), index);
    funding.addOutput(script, 100_000n);
    made.addInput({
      hash: funding.getId(),
      index: 0,
      nonWitnessUtxo: funding.toBuffer(),
      witnessUtxo: { script, value: 100_000n },
    });
  }
  made.addOutput({ script: Uint8Array.from([0x00, 0x14, ...new Uint8Array(20).fill(5)]), value: 90_000n });
  return made.toHex();
}
