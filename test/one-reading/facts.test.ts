/**
 * Each fact beside the value that a library of the chain wrote into the bytes, or reads from them. The payloads are random, and the
 * same for a seed. What leaves an account is computed here, from the library's values.
 */
import { getBase58Decoder, getCompiledTransactionMessageDecoder, getTransactionDecoder } from '@solana/kit';
import * as bitcoinjs from 'bitcoinjs-lib';
import * as micro from 'micro-sol-signer';
import { TronWeb } from 'tronweb';
import { getAddress, hexToBytes, serializeTransaction, toHex, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { expect, test } from 'vitest';
import { solana } from '../../main/chains/solana/chain.ts';
import { contractTypes } from '../../main/chains/tron/contracts.ts';
import type { Kind, Schema } from '../../main/chains/tron/protobuf.ts';
import { tron } from '../../main/chains/tron/chain.ts';
import { ethereum } from '../../main/chains/ethereum/chain.ts';
import { Unknown } from '../../main/policy/language/types.ts';
import { atLength } from '../campaigns/length.ts';
import {
  coinOf,
  contextOf,
  keyOf as bitcoinKey,
  openBitcoin,
  psbtOf,
  regtest,
  kinds,
  scriptOf,
} from './bitcoin-psbts.ts';
import { context as ethereumContext, sender } from './ethereum.ts';
import { randomOf, type Random } from './law.ts';
import { context as solanaContext, instruction, payer, programs, transaction } from './solana-messages.ts';
import { bytesOf, context as tronContext, contractOf } from './tron-transactions.ts';

const rounds = atLength(150, 3000);

const bytes = (random: Random, length: number): Uint8Array =>
  Uint8Array.from({ length }, () => random.below(256));

/** Of any size up to so many bits, and often one of the least and the largest. */
function whole(random: Random, bits: number): bigint {
  const most = (1n << BigInt(bits)) - 1n;
  const any = BigInt(toHex(bytes(random, 32))) & ((1n << BigInt(1 + random.below(bits))) - 1n);
  return random.pick([any, any, any, 0n, 1n, 127n, 128n, most].filter((each) => each <= most));
}

const hex = (random: Random, length: number): Hex => toHex(bytes(random, length));
const many = <T>(random: Random, most: number, make: () => T): T[] =>
  Array.from({ length: random.below(most + 1) }, make);

/** Makes whole numbers of one kind, and a text of each unknown. */
function plain(value: unknown): unknown {
  if (typeof value === 'number') return BigInt(value);
  if (value instanceof Unknown) return 'unknown';
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]) => (each === undefined ? [] : [[name, plain(each)]])),
  );
}

test('of Ethereum’s transactions, as viem writes them', async () => {
  const random = randomOf(61);
  for (let round = 0; round < rounds; round += 1) {
    const type = random.below(5);
    const signer = privateKeyToAccount(hex(random, 32));
    const chainId = random.pick([1, 10, 137, 8453, 42161, 77_777]);
    const code = getAddress(hex(random, 20));
    const authorizations = await Promise.all(
      many(random, 2, () =>
        signer.signAuthorization({ address: code, chainId, nonce: random.below(2 ** 31) }),
      ),
    );
    const [tip, fee, gasPrice, blobFee] = [
      whole(random, 60),
      whole(random, 128) + (1n << 60n),
      whole(random, 128),
      whole(random, 128),
    ];
    const common = {
      chainId,
      nonce: random.below(2 ** 31),
      gas: whole(random, 63),
      to: getAddress(hex(random, 20)),
      value: whole(random, 256),
      data: hex(random, random.pick([0, 0, 3, 4, 68])),
    };
    const accessList = many(random, 3, () => ({
      address: getAddress(hex(random, 20)),
      storageKeys: many(random, 3, () => hex(random, 32)),
    }));
    const blobs = many(random, 5, () => `0x01${hex(random, 31).slice(2)}` as const).concat(
      `0x01${'00'.repeat(31)}`,
    );
    const market = { maxFeePerGas: fee, maxPriorityFeePerGas: tip, accessList };
    const made = [
      { ...common, type: 'legacy' as const, gasPrice },
      { ...common, type: 'eip2930' as const, gasPrice, accessList },
      { ...common, type: 'eip1559' as const, ...market },
      {
        ...common,
        type: 'eip4844' as const,
        ...market,
        maxFeePerBlobGas: blobFee,
        blobVersionedHashes: blobs,
      },
      { ...common, type: 'eip7702' as const, ...market, authorizationList: authorizations },
    ][type];
    if (made === undefined) throw new Error('no such type');
    const opened = ethereum.open(hexToBytes(serializeTransaction(made)), ethereumContext);
    if (!opened.ok) throw new Error(opened.problem);
    const told = opened.value.facts['eth.tx']?.();
    const most =
      common.gas * (type < 2 ? gasPrice : fee) +
      (type === 3 ? 131_072n * BigInt(blobs.length) * blobFee : 0n);
    const bounds = chainId === 1 || chainId === 137 || chainId === 42161;
    const {
      function_name: _name,
      contract_call_args: _args,
      ...facts
    } = plain(told) as Record<string, unknown>;
    expect(facts).toEqual(
      plain({
        type: ['LEGACY', 'TYPE_1', 'TYPE_2', 'TYPE_3', 'TYPE_4'][type],
        from: sender,
        ...{ to: common.to, data: common.data, value: common.value, gas: common.gas },
        ...{ chain_id: chainId, nonce: common.nonce, gas_price: type < 2 ? gasPrice : fee },
        ...(type >= 2 && { max_fee_per_gas: fee, max_priority_fee_per_gas: tip }),
        ...(type === 3 && { max_fee_per_blob_gas: blobFee }),
        ...(common.data !== '0x' && {
          function_signature: common.data.length < 10 ? 'unknown' : common.data.slice(0, 10),
        }),
        max_fee: bounds ? most : 'unknown',
        outflow: bounds ? most + common.value : 'unknown',
        access_list:
          type === 0
            ? []
            : accessList.map(({ address, storageKeys }) => ({ address, storage_keys: storageKeys })),
        blob_hashes: type === 3 ? blobs : [],
        authorizations:
          type === 4
            ? authorizations.map(({ nonce }) => ({
                address: code,
                chain_id: chainId,
                nonce,
                account: signer.address,
              }))
            : [],
      }),
    );
  }
});

/** One instruction as a library writes it, and what the vault is to tell of it. */
interface Told {
  readonly made: { readonly program: string; readonly data: Uint8Array; readonly keys: readonly MicroKey[] };
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Lamports that leave the payer, or `unknown`. */
  readonly out?: bigint | 'unknown';
}
interface MicroKey {
  readonly address: string;
  readonly sign: boolean;
  readonly write: boolean;
}

function solanaInstruction(random: Random): Told {
  const { sys, token } = micro;
  const key = (): string => getBase58Decoder().decode(bytes(random, 32));
  const amount = whole(random, 64);
  const [a, b, c] = [key(), key(), key()];
  const seed = random.pick(['', 'seed', 'x'.repeat(32)]);
  const [space, decimals] = [whole(random, 64), random.below(256)];
  const own: string = payer;
  const lamports = { lamports: amount };
  return random.pick<() => Told>([
    () => ({
      made: sys.createAccount({ source: own, newAccount: a, ...lamports, space, owner: b }),
      name: 'CreateAccount',
      args: { ...lamports, space, owner: b },
      out: amount,
    }),
    () => ({
      made: sys.assign({ account: own, owner: b }),
      name: 'Assign',
      args: { owner: b },
      out: 'unknown',
    }),
    () => ({
      made: sys.transfer({ source: own, destination: a, ...lamports }),
      name: 'Transfer',
      args: lamports,
      out: amount,
    }),
    () => ({
      made: sys.withdrawFromNonce({ nonceAccount: a, destination: b, nonceAuthority: own, ...lamports }),
      name: 'WithdrawNonceAccount',
      args: lamports,
      out: amount,
    }),
    () => ({
      made: sys.authorizeNonce({ nonceAccount: a, nonceAuthority: own, newAuthorized: b }),
      name: 'AuthorizeNonceAccount',
      args: { new_authority: b },
      out: 'unknown',
    }),
    () => ({
      made: sys.allocate({ account: own, space }),
      name: 'Allocate',
      args: { space },
      out: 'unknown',
    }),
    () => ({
      made: sys.transferWithSeed({
        ...{ source: a, sourceBase: own, destination: b, ...lamports },
        ...{ sourceSeed: seed, sourceOwner: c },
      }),
      name: 'TransferWithSeed',
      args: { ...lamports, from_seed: seed, from_owner: c },
      out: amount,
    }),
    () => ({
      made: token.transfer({ source: a, destination: b, owner: own, amount }),
      name: 'Transfer',
      args: { amount },
    }),
    () => ({
      made: token.transferChecked({ source: a, mint: c, destination: b, owner: own, amount, decimals }),
      name: 'TransferChecked',
      args: { amount, decimals },
    }),
    () => ({
      made: token.approveChecked({ source: a, mint: c, delegate: b, owner: own, amount, decimals }),
      name: 'ApproveChecked',
      args: { amount, decimals },
    }),
    () => ({
      made: token.burn({ account: a, mint: b, owner: own, amount }),
      name: 'Burn',
      args: { amount },
    }),
    () => ({
      made: token.closeAccount({ account: a, dest: b, owner: own }),
      name: 'CloseAccount',
      args: {},
      out: 'unknown',
    }),
    () => ({
      made: token.setAuthority({
        ...{ account: a, currentAuthority: own },
        ...{ authorityType: 'AccountOwner', newAuthority: b },
      }),
      name: 'SetAuthority',
      args: { authority_type: 'AccountOwner', new_authority: b },
      out: 'unknown',
    }),
  ])();
}

const isTransfer = (name: string, program: string) => (each: Told) =>
  each.made.program === program && each.name.startsWith(name);

test('of Solana’s transactions, as micro-sol-signer writes instructions and @solana/kit reads messages', () => {
  const random = randomOf(62);
  for (let round = 0; round < rounds; round += 1) {
    const all = Array.from({ length: 1 + random.below(3) }, () => solanaInstruction(random));
    const payload = transaction(
      all.map(({ made }) =>
        instruction(
          made.program as typeof payer,
          made.keys.map(({ address }) => address as typeof payer),
          [...made.data],
          made.keys.filter(({ sign }) => sign).map(({ address }) => address as typeof payer),
        ),
      ),
      { version: random.pick(['legacy', 0]) },
    );
    if (payload.length > 1232) continue;
    const opened = solana.open(payload, solanaContext());
    if (!opened.ok) throw new Error(opened.problem);
    const told = plain(opened.value.facts['solana.tx']?.()) as Record<string, unknown>;
    const { messageBytes } = getTransactionDecoder().decode(payload);
    const message = getCompiledTransactionMessageDecoder().decode(messageBytes);
    if (message.version === 1) throw new Error('no version that is written here');
    const { staticAccounts, header, lifetimeToken } = message;
    const { numSignerAccounts: signers, numReadonlySignerAccounts, numReadonlyNonSignerAccounts } = header;
    const writes = (at: number): boolean =>
      at < signers
        ? at < signers - numReadonlySignerAccounts
        : at < staticAccounts.length - numReadonlyNonSignerAccounts;
    const fee = 5000n * BigInt(signers);
    const outs = all.map(({ out = 0n }) => out);
    const places = (each: Told): readonly string[] => each.made.keys.map(({ address }) => address);
    expect(told).toMatchObject({
      ...{
        static_account_keys: staticAccounts,
        account_keys: staticAccounts,
        recent_blockhash: lifetimeToken,
      },
      ...{ fee_payer: payer, signers: staticAccounts.slice(0, signers), address_table_lookups: [] },
      writable_accounts: staticAccounts.filter((_, at) => writes(at)),
      program_keys: staticAccounts.filter((key) => all.some(({ made }) => made.program === key)),
      instructions: message.instructions.map(
        ({ programAddressIndex, accountIndices = [], data = new Uint8Array() }, at) => ({
          program_key: staticAccounts[programAddressIndex],
          accounts: accountIndices.map((index) => ({
            account_key: staticAccounts[index],
            signer: index < signers,
            writable: writes(index),
          })),
          instruction_data_hex: Buffer.from(data).toString('hex'),
          parsed_instruction_data: {
            instruction_name: all[at]?.name,
            program_call_args: plain(all[at]?.args),
          },
        }),
      ),
      transfers: all.filter(isTransfer('Transfer', programs.system)).map((each) => ({
        from: places(each)[0],
        to: places(each).at(-1),
        amount: each.args['lamports'],
      })),
      spl_transfers: all.filter(isTransfer('Transfer', programs.token)).map((each) => ({
        ...{
          from: places(each)[0],
          to: places(each).at(-2),
          owner: payer,
          amount: each.args['amount'],
          signers: [],
        },
        ...(each.name === 'TransferChecked' && { token_mint: places(each)[1] }),
      })),
      max_fee: fee,
      outflow: outs.includes('unknown')
        ? 'unknown'
        : outs.reduce<bigint>((sum, out) => sum + BigInt(out), fee),
    });
  }
});

interface TronMessage {
  readonly serializeBinary: () => Uint8Array;
  /** A setter or a getter. */
  readonly [name: string]: (value?: unknown) => unknown;
}
interface TronClass {
  new (): TronMessage;
  /** A class of messages in its messages. */
  readonly [name: string]: TronClass;
}

/** The classes that tronweb has of Tron's messages. It has none of the market's and of those that are not read. */
const classes = (globalThis as unknown as { readonly TronWebProto: Readonly<Record<string, TronClass>> })
  .TronWebProto;
/** Names of types have no case in tronweb's table. */
const classOf = (type: string): TronClass | undefined =>
  Object.entries(classes).find(([name]) => name.toUpperCase() === type.toUpperCase())?.[1];
const camel = (name: string): string =>
  name
    .split('_')
    .map((part) => `${part.slice(0, 1).toUpperCase()}${part.slice(1)}`)
    .join('');

/** Of messages in messages. */
const classNames: Readonly<Record<string, string>> = {
  new_contract: 'SmartContract',
  owner: 'Permission',
  witness: 'Permission',
  actives: 'Permission',
  keys: 'Key',
};

/** @returns what tronweb's class takes, and the value that policies read. */
function tronValue(name: string, kind: Kind, of: TronClass, random: Random): readonly [unknown, unknown] {
  // An enumeration.
  if (Array.isArray(kind)) {
    const number = random.below(kind.length);
    return [number, (kind as readonly string[])[number]];
  }
  if (typeof kind === 'object') {
    const inner = classes[classNames[name] ?? ''] ?? of[camel(name).replace(/s$/, '')];
    if (inner === undefined) throw new Error(`no class of ${name}`);
    return tronMessage(kind as Schema, inner, random);
  }
  switch (kind) {
    case 'address': {
      const address = `41${hex(random, 20).slice(2)}`;
      return [bytesOf(address), TronWeb.address.fromHex(address)];
    }
    case 'bool':
      return random.pick([
        [true, true],
        [false, false],
      ]);
    case 'text': {
      const text = random.pick(['', '_', '1002000', 'é']);
      return [text, text];
    }
    case 'bytes':
    case 'name':
    case 'operations': {
      const content = hex(random, random.below(40)).slice(2);
      return [bytesOf(content), content];
    }
    default: {
      // The library has doubles, which are exact up to here.
      const number = Number(whole(random, kind === 'whole32' ? 31 : 50));
      return [number, BigInt(number)];
    }
  }
}

/** A message with every field that the vault reads, and the fields as policies are to read them. */
function tronMessage(
  schema: Schema,
  of: TronClass,
  random: Random,
): readonly [TronMessage, Record<string, unknown>] {
  const message = new of();
  const fields: Record<string, unknown> = {};
  for (const [name, [number, kind, several]] of Object.entries(schema)) {
    // tronweb writes an interface as a message, which the vault keeps as bytes, and a token's id in another place than nodes do.
    if (name === 'abi' || number === 41) continue;
    const values = Array.from({ length: several === 'many' ? random.below(4) : 1 }, () =>
      tronValue(name, kind, of, random),
    );
    const [[value, told] = []] = values;
    // Some of the fields of bytes hold texts.
    const isBytes = typeof message[`get${camel(name)}_asB64`] === 'function';
    if (several === 'many') message[`set${camel(name)}List`]?.(values.map(([each]) => each));
    else message[`set${camel(name)}`]?.(isBytes && kind === 'text' ? Buffer.from(String(value)) : value);
    fields[name] = several === 'many' ? values.map(([, each]) => each) : told;
  }
  return [message, fields];
}

const tronTypes = Object.entries(contractTypes).flatMap(([type, { number, read }]) => {
  const [empty, of] = [read(new Uint8Array(), type), classOf(type)];
  return empty.ok && of !== undefined ? [{ type, number, schema: empty.value.schema, of }] : [];
});

test.each(tronTypes)('of Tron’s $type, as tronweb writes it', ({ type, number, schema, of }) => {
  const random = randomOf(63 + number);
  for (let round = 0; round < rounds / 10; round += 1) {
    const [message, fields] = tronMessage(schema, of, random);
    const permission = random.pick([0, 2, 2 ** 31 - 1]);
    const value = new Uint8Array(message.serializeBinary());
    const opened = tron.open(
      contractOf(number, type, value, permission === 0 ? undefined : permission),
      tronContext(),
    );
    if (!opened.ok) throw new Error(opened.problem);
    const told = opened.value.facts['tron.tx']?.() as {
      readonly contract: readonly Record<string, unknown>[];
    };
    const [contract = {}] = told.contract;
    expect(contract).toMatchObject({ type, permission_id: BigInt(permission) });
    expect(contract['fields']).toMatchObject(fields);
    // The facts with names of their own say the same.
    for (const [name, each] of Object.entries(fields)) {
      if (contract[name] !== undefined && name !== 'type')
        expect(contract[name]).toMatchObject(each as object);
    }
  }
});

test('of Bitcoin’s transactions, as bitcoinjs-lib writes them', () => {
  const random = randomOf(64);
  const own = bitcoinKey(0x21);
  const isOwn = (script: Uint8Array): boolean =>
    kinds.some((kind) => Buffer.compare(scriptOf(own.address(kind)), script) === 0);
  const script = (): Uint8Array => {
    const other = bitcoinKey(1 + random.below(200));
    return scriptOf((random.below(2) === 0 ? own : other).address(random.pick(kinds)));
  };
  for (let round = 0; round < rounds; round += 1) {
    const coins = many(random, 3, () => coinOf(script(), whole(random, 40) + 1000n));
    if (coins.length === 0) continue;
    let left = coins.reduce((sum, { value }) => sum + value, 0n);
    const targets = Array.from({ length: 1 + random.below(3) }, () => {
      const value = left / BigInt(1 + random.below(5));
      left -= value;
      return { script: script(), value };
    });
    const lockTime = random.pick([0, 1, 499_999_999, 500_000_000, 0xffff_ffff]);
    const sequences = coins.map(() => random.pick([0, 1, 0xffff_fffd, 0xffff_ffff]));
    const psbt = psbtOf(
      coins.map((coin, index) => ({ coin, sequence: sequences[index] ?? 0 })),
      targets,
      lockTime,
    );
    psbt.setVersion(random.pick([1, 2]));
    const addressOf = (each: Uint8Array): string => bitcoinjs.address.fromOutputScript(each, regtest);
    const owned = (each: { readonly script: Uint8Array; readonly value: bigint }): bigint =>
      isOwn(each.script) ? each.value : 0n;
    const total = (amounts: readonly bigint[]): bigint => amounts.reduce((sum, each) => sum + each, 0n);
    const lost = total(coins.map(owned)) - total(targets.map(owned));
    const told = openBitcoin(psbt.toBuffer(), contextOf(own.publicKey)).facts['bitcoin.tx']?.();
    expect(plain(told)).toMatchObject(
      plain({
        version: String(psbt.version),
        inputs: coins.map((coin, index) => ({
          ...{ tx_id: coin.previous.getId(), vout: 1, sequence: sequences[index] },
          ...{ value: coin.value, address: addressOf(coin.script), ours: isOwn(coin.script) },
        })),
        outputs: targets.map((target) => ({
          ...{ value: target.value, script_pubkey: Buffer.from(target.script).toString('hex') },
          ...{ address: addressOf(target.script), ours: isOwn(target.script) },
        })),
        locktime: { amount: lockTime, type: lockTime < 500_000_000 ? 'Blocks' : 'Seconds' },
        fee: left,
        outflow: lost > 0n ? lost : 0n,
      }) as object,
    );
  }
});
