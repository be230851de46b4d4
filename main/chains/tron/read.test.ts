import fc from 'fast-check';
import { TronWeb, utils } from 'tronweb';
import { describe, expect, test } from 'vitest';
import { damaged } from '../../../test/storage/damaged.ts';
import {
  bytesOf,
  context,
  contractOf,
  examples,
  hexOf,
  privateKey,
  receiver,
  sender,
  transaction,
  written,
} from '../../../test/one-reading/tron-transactions.ts';
import { toHex } from '../../crypto/encodings.ts';
import { Unknown } from '../../policy/language/types.ts';
import { tron } from './chain.ts';
import { digestOf, readTron, type TronContract, type TronTransaction } from './read.ts';

function read(raw: Uint8Array): TronTransaction {
  const result = readTron(raw);
  const transactionRead = result.ok ? result.value.transaction : result;
  if (!transactionRead.ok) throw new Error(transactionRead.problem);
  return transactionRead.value;
}

function only(raw: Uint8Array): TronContract {
  const [contract, ...others] = read(raw).contracts;
  if (contract === undefined || others.length > 0) throw new Error('expected one contract');
  return contract;
}

const fieldsOf = ({ known }: TronContract): unknown => (known.ok ? known.value.fields : known.problem);

/** Why nothing is read, why no transaction is, or why no contract is. */
function problem(raw: Uint8Array): string {
  const result = readTron(raw);
  if (!result.ok) return result.problem;
  const { transaction: transactionRead } = result.value;
  if (!transactionRead.ok) return transactionRead.problem;
  const unread = transactionRead.value.contracts.find(({ known }) => !known.ok);
  return unread === undefined || unread.known.ok ? 'read' : unread.known.problem;
}

describe('published transactions', () => {
  // From the documentation of P2P.org's staking interface, with its id.
  test('a vote', () => {
    const raw = bytesOf(
      '0a02ee182208eb04b8cce7cc51534090f5d7edfa325a6a080412660a30747970652e676f6f676c65617069732e636f6d2f70726f746f636f6c2e566f74655769746e657373436f6e747261637412320a1541da53d324a354aa5924c7117caff3ead97910a5e112190a1541351b95e29c2514b7b8183cbc81a8e08c68e8833b100370b0a0d4edfa32',
    );
    const result = readTron(raw);
    expect(result.ok && toHex(digestOf(result.value))).toBe(
      'c07e64f57ebb6ae191404b1c693aa46f80789aceacbfd8cc17a7c85c0c8c5559',
    );
    expect(fieldsOf(only(raw))).toEqual({
      owner_address: TronWeb.address.fromHex('41da53d324a354aa5924c7117caff3ead97910a5e1'),
      votes: [
        {
          vote_address: TronWeb.address.fromHex('41351b95e29c2514b7b8183cbc81a8e08c68e8833b'),
          vote_count: 3n,
        },
      ],
      support: false,
    });
  });

  // From Keystone's integration guide.
  test('a call of a contract', () => {
    const raw = bytesOf(
      '0a0207902208e1b9de559665c6714080c49789bb2c5aae01081f12a9010a31747970652e676f6f676c65617069732e636f6d2f70726f746f636f6c2e54726967676572536d617274436f6e747261637412740a1541c79f045e4d48ad8dae00e6a6714dae1e000adfcd1215410d292c98a5eca06c2085fff993996423cf66c93b2244a9059cbb0000000000000000000000009bbce520d984c3b95ad10cb4e32a9294e6338da300000000000000000000000000000000000000000000000000000000000f424070c0b6e087bb2c90018094ebdc03',
    );
    expect(read(raw).raw).toMatchObject({
      ref_block_bytes: '0790',
      ref_block_hash: 'e1b9de559665c671',
      fee_limit: 1_000_000_000n,
    });
    expect(fieldsOf(only(raw))).toMatchObject({
      contract_address: TronWeb.address.fromHex('410d292c98a5eca06c2085fff993996423cf66c93b'),
      call_value: 0n,
      data: expect.stringMatching(/^a9059cbb/) as string,
    });
  });
});

describe('tronweb', () => {
  test.each(examples)('made the %s that is read', (type, value, fields) => {
    const raw = transaction(type, value, { data: '6d656d6f', fee_limit: 77, Permission_id: 2 });
    expect(read(raw).raw).toEqual({
      ref_block_bytes: '5e4b',
      ref_block_num: 0n,
      ref_block_hash: '47c9dc89341b300d',
      expiration: 1_591_089_627_000n,
      timestamp: 1_591_089_567_635n,
      data: '6d656d6f',
      fee_limit: 77n,
    });
    const contract = only(raw);
    expect(contract).toMatchObject({ type, permissionId: 2n });
    expect(fieldsOf(contract)).toMatchObject({ owner_address: sender, ...fields });
  });

  test('recovers the sender of what is signed', () => {
    const raw = transaction('TransferContract', { to_address: hexOf(receiver), amount: 1 });
    const opened = tron.open(raw, context());
    const result = opened.ok ? opened.value.sign(bytesOf(privateKey)) : opened;
    const signed = result.ok ? toHex(result.value) : result.problem;
    // A transaction is { raw_data = 1, signature = 2 }.
    const signature = signed.slice(-130);
    const length = toHex(Uint8Array.of(0x80 | (raw.length % 128), Math.floor(raw.length / 128)));
    expect(signed).toBe(`0a${length}${toHex(raw)}1241${signature}`);
    expect(['1b', '1c']).toContain(signature.slice(-2));
    const read_ = readTron(raw);
    const digest = read_.ok ? toHex(digestOf(read_.value)) : '';
    expect(TronWeb.address.fromHex(utils.crypto.ecRecover(digest, `0x${signature}`))).toBe(sender);
    expect(utils.crypto.ECKeySign(bytesOf(digest), [...bytesOf(privateKey)]).toLowerCase()).toBe(signature);
  });
});

const transfer = transaction('TransferContract', { to_address: hexOf(receiver), amount: 5 });
const transferValue = (write: Parameters<typeof written>[0]): Uint8Array =>
  contractOf(1, 'TransferContract', written(write));
const address = bytesOf(hexOf(receiver));

describe('bytes that are not raw_data are refused', () => {
  test.each([
    ['nothing', new Uint8Array(), 'got no bytes'],
    ['no contract', bytesOf('0a02ee18'), 'with a contract, got none'],
    ['a group without an end', bytesOf('0b'), 'ends too early'],
    ['the end of a group that did not begin', bytesOf('0c'), 'wire type 4'],
    ['a group that ends as another', bytesOf('0b14'), 'ends where another began'],
    ['groups that nest too deep', Buffer.alloc(1000, 0x0b), 'nests deeper'],
    ['a number that is too long', bytesOf(`40${'ff'.repeat(10)}01`), 'more than 64 bits'],
    ['a length past the end', bytesOf('0a05ee'), 'ends too early'],
  ])('%s', (_, raw, expected) => {
    expect(tron.open(raw, context())).toMatchObject({
      ok: false,
      problem: expect.stringContaining(expected) as string,
    });
    expect(tron.inPayload(raw, 'HASH_FUNCTION_SHA256', context())).toEqual({ facts: {} });
  });
});

/** The class: bytes that nodes may take, and that are not the one encoding of what is read here. */
describe('a transaction that cannot be read to its last byte is opaque', () => {
  const withTail = (hex: string): Uint8Array => Buffer.concat([transfer, bytesOf(hex)]);
  test.each([
    ['a field that there is not', withTail('c00c01')],
    ['a group', withTail('a306a406')],
    ['a group with fields and a group in it', withTail('a306080112010209000000000000000013080114a406')],
    ['a group of the number of the contract, beside it', withTail('5b5c')],
    ['scripts, which nodes pass over', withTail('620101')],
    ['an authority, which nodes pass over', withTail('4a00')],
    ['a number with padding', withTail('90018500')],
    ['a field that is empty', withTail('900100')],
    ['a field twice', withTail('9001059001ff01')],
    ['fields out of order', withTail('4005')],
    ['a number below zero', withTail('9001ffffffffffffffffff01')],
    ['a contract of a type that there is not', contractOf(999, 'TransferContract', new Uint8Array())],
    ['a contract of no message', Buffer.concat([bytesOf('5a01ff')])],
    ['a permission beyond 32 bits', contractOf(1, 'TransferContract', new Uint8Array(), 2 ** 32 + 2)],
  ])('%s', (_, raw) => {
    const opened = tron.open(raw, context());
    if (!opened.ok) throw new Error(opened.problem);
    expect(opened.value.facts['tron.tx']?.()).toBeInstanceOf(Unknown);
    const { title, lines, warnings } = opened.value.describe();
    expect(title).toBe('Sign a transaction of Tron that this vault cannot read');
    expect(lines).toContainEqual({ label: 'Data', value: toHex(raw) });
    expect(warnings).toContainEqual(expect.stringContaining('cannot read all of it'));
    const payload = tron.inPayload(raw, 'HASH_FUNCTION_SHA256', context());
    expect(payload.facts['tron.tx']?.()).toBeInstanceOf(Unknown);
  });
});

/** The class: a contract inside is taken as it is by nodes, which read on where this does not. */
describe('a contract that cannot be read to its last byte is opaque', () => {
  test.each([
    [
      'a field that there is not',
      transferValue((pbf) => {
        pbf.writeVarintField(4, 1);
      }),
      'not read here',
    ],
    [
      'a field twice',
      transferValue((pbf) => {
        pbf.writeVarintField(3, 1);
        pbf.writeVarintField(3, 2);
      }),
      'not written the way',
    ],
    [
      'fields out of order',
      transferValue((pbf) => {
        pbf.writeVarintField(3, 1);
        pbf.writeBytesField(2, address);
      }),
      'not written the way',
    ],
    [
      'an amount below zero',
      contractOf(1, 'TransferContract', bytesOf('18ffffffffffffffffff01')),
      'negative',
    ],
    ['an amount with padding', contractOf(1, 'TransferContract', bytesOf('188500')), 'not written the way'],
    [
      'an amount that is bytes',
      transferValue((pbf) => {
        pbf.writeBytesField(3, address);
      }),
      'as a number, got bytes',
    ],
    [
      'an address that is a number',
      transferValue((pbf) => {
        pbf.writeVarintField(2, 1);
      }),
      'as bytes, got a number',
    ],
    [
      'an address of 20 bytes',
      transferValue((pbf) => {
        pbf.writeBytesField(2, address.subarray(1));
      }),
      '21 bytes',
    ],
    [
      'an address of another network',
      transferValue((pbf) => {
        pbf.writeBytesField(2, address.with(0, 0xa0));
      }),
      '21 bytes',
    ],
    ['no message', contractOf(1, 'TransferContract', bytesOf('ff')), 'ends too early'],
    [
      'more votes than are read',
      contractOf(
        4,
        'VoteWitnessContract',
        written((pbf) => {
          for (let count = 0; count <= 1000; count += 1) pbf.writeBytesField(2, new Uint8Array());
        }),
      ),
      'more than 1000 times',
    ],
    ['a value of another type', contractOf(1, 'TriggerSmartContract', new Uint8Array()), 'of another type'],
    ['a type that is not read', contractOf(51, 'ShieldedTransferContract', bytesOf('0a00')), 'not read here'],
    ['a proposal', contractOf(16, 'ProposalCreateContract', new Uint8Array()), 'not read here'],
    [
      'a resource that there is not',
      contractOf(54, 'FreezeBalanceV2Contract', bytesOf('1803')),
      'expected resource of FreezeBalanceV2Contract of 0 to 2',
    ],
    ['a lock that is 2', contractOf(57, 'DelegateResourceContract', bytesOf('2802')), 'not written the way'],
  ])('%s', (_, raw, expected) => {
    expect(problem(raw)).toContain(expected);
    const opened = tron.open(raw, context());
    if (!opened.ok) throw new Error(opened.problem);
    const { title, parts, warnings } = opened.value.describe();
    expect(title).toMatch(/that this vault cannot read \(\w+\), with a fee that nothing bounds$/);
    expect(parts[0]?.lines.map(({ label }) => label)).toContain('Data');
    expect(parts[0]?.lines).toContainEqual({
      label: 'Not read',
      value: expect.stringContaining('This vault cannot read all of it') as string,
    });
    expect(warnings).toContainEqual(expect.stringContaining('cannot read all of it'));
    const unknown = expect.any(Unknown) as Unknown;
    expect(opened.value.facts['tron.tx']?.()).toMatchObject({
      fee_limit: 0n,
      contract: [
        {
          type: expect.stringMatching(/Contract$/) as string,
          permission_id: 0n,
          owner_address: unknown,
          to_address: unknown,
          amount: unknown,
          data: unknown,
          function_name: unknown,
          fields: unknown,
        },
      ],
      max_fee: unknown,
      outflow: unknown,
    });
  });
});

test('as a raw payload, a transaction is shown and told as it is', () => {
  const payload = tron.inPayload(transfer, 'HASH_FUNCTION_SHA256', context());
  const opened = tron.open(transfer, context());
  expect(payload.describe?.()).toEqual(opened.ok && opened.value.describe());
  expect(payload.facts['tron.tx']?.()).toMatchObject({
    contract: [{ type: 'TransferContract', amount: 5n }],
  });
  expect(tron.inPayload(transfer, 'HASH_FUNCTION_KECCAK256', context())).toEqual({ facts: {} });
  const text = Buffer.from('Zürich, 5 May: please sign in to example.com');
  expect(tron.inPayload(text, 'HASH_FUNCTION_SHA256', context())).toEqual({ facts: {} });
});

test('mutations are read or said to be unreadable, and never throw', () => {
  const originals = examples.map(([type, value]) => transaction(type, value));
  fc.assert(
    fc.property(damaged(originals), (mutated) => {
      expect(problem(mutated)).not.toBe('');
    }),
    { numRuns: 3000 },
  );
});
