import fc from 'fast-check';
import { PbfWriter } from 'pbf';
import { TronWeb, utils } from 'tronweb';
import { describe, expect, test } from 'vitest';
import { damaged } from '../../../test/damaged.ts';
import { curves } from '../../crypto/curves.ts';
import { toHex } from '../../crypto/encodings.ts';
import { readTron, type ReadTron } from './read.ts';

const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));
const read = (hex: string): ReadTron => {
  const result = readTron(bytes(hex));
  if (!result.ok) throw new Error(result.problem);
  return result.value;
};
const problem = (raw: Uint8Array): string => {
  const result = readTron(raw);
  return result.ok ? 'read' : result.problem;
};

const privateKey = '01'.repeat(32);
const sender = TronWeb.address.fromPrivateKey(privateKey);
if (typeof sender !== 'string') throw new Error('tronweb has no address for the key');
const hexOf = (address: string): string => TronWeb.address.toHex(address);
const receiver = 'TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf';

describe('published transactions', () => {
  // From the documentation of P2P.org's staking interface, with its id.
  test('a vote', () => {
    const { digest, transaction, unread } = read(
      '0a02ee182208eb04b8cce7cc51534090f5d7edfa325a6a080412660a30747970652e676f6f676c65617069732e636f6d2f70726f746f636f6c2e566f74655769746e657373436f6e747261637412320a1541da53d324a354aa5924c7117caff3ead97910a5e112190a1541351b95e29c2514b7b8183cbc81a8e08c68e8833b100370b0a0d4edfa32',
    );
    expect(toHex(digest)).toBe('c07e64f57ebb6ae191404b1c693aa46f80789aceacbfd8cc17a7c85c0c8c5559');
    expect(transaction.contracts).toEqual([{ type: 'VoteWitnessContract', permissionId: 0n }]);
    expect(unread).toEqual(['field 1 of VoteWitnessContract', 'field 2 of VoteWitnessContract']);
  });

  // From Keystone's integration guide.
  test('a call of a contract', () => {
    const { transaction, unread } = read(
      '0a0207902208e1b9de559665c6714080c49789bb2c5aae01081f12a9010a31747970652e676f6f676c65617069732e636f6d2f70726f746f636f6c2e54726967676572536d617274436f6e747261637412740a1541c79f045e4d48ad8dae00e6a6714dae1e000adfcd1215410d292c98a5eca06c2085fff993996423cf66c93b2244a9059cbb0000000000000000000000009bbce520d984c3b95ad10cb4e32a9294e6338da300000000000000000000000000000000000000000000000000000000000f424070c0b6e087bb2c90018094ebdc03',
    );
    expect(unread).toEqual([]);
    expect(transaction).toMatchObject({
      refBlockBytes: '0790',
      refBlockHash: 'e1b9de559665c671',
      feeLimit: 1_000_000_000n,
    });
    expect(transaction.contracts[0]).toMatchObject({
      type: 'TriggerSmartContract',
      contractAddress: TronWeb.address.fromHex('410d292c98a5eca06c2085fff993996423cf66c93b'),
      callValue: 0n,
    });
    expect(transaction.contracts[0]?.data?.slice(0, 8)).toBe('a9059cbb');
  });
});

/** As a node answers it, with the contract's fields as its tools name them. */
function make(type: string, value: Record<string, unknown>, more: Record<string, unknown> = {}): string {
  const transaction = {
    raw_data: {
      contract: [
        { parameter: { value, type_url: `type.googleapis.com/protocol.${type}` }, type, Permission_id: 2 },
      ],
      ref_block_bytes: '5e4b',
      ref_block_hash: '47c9dc89341b300d',
      expiration: 1_591_089_627_000,
      timestamp: 1_591_089_567_635,
      ...more,
    },
  };
  return utils.transaction.txPbToRawDataHex(utils.transaction.txJsonToPb(transaction)).toLowerCase();
}

const owner_address = hexOf(sender);
const contracts: [string, Record<string, unknown>, Record<string, unknown>][] = [
  [
    'TransferContract',
    { owner_address, to_address: hexOf(receiver), amount: 123_456 },
    { ownerAddress: sender, toAddress: receiver, amount: 123_456n },
  ],
  [
    'TransferAssetContract',
    {
      owner_address,
      to_address: hexOf(receiver),
      amount: 5,
      asset_name: Buffer.from('1002000').toString('hex'),
    },
    { assetName: '1002000', toAddress: receiver, amount: 5n },
  ],
  [
    'TriggerSmartContract',
    {
      owner_address,
      contract_address: hexOf(receiver),
      call_value: 7,
      data: 'a9059cbb00',
      call_token_value: 8,
      token_id: 1_002_000,
    },
    { contractAddress: receiver, callValue: 7n, data: 'a9059cbb00', callTokenValue: 8n, tokenId: 1_002_000n },
  ],
  [
    'FreezeBalanceV2Contract',
    { owner_address, frozen_balance: 9, resource: 'ENERGY' },
    { frozenBalance: 9n, resource: 'ENERGY' },
  ],
  [
    'UnfreezeBalanceV2Contract',
    { owner_address, unfreeze_balance: 10, resource: 'BANDWIDTH' },
    { unfreezeBalance: 10n, resource: 'BANDWIDTH' },
  ],
  [
    'DelegateResourceContract',
    {
      owner_address,
      receiver_address: hexOf(receiver),
      balance: 11,
      resource: 'ENERGY',
      lock: true,
      lock_period: 12,
    },
    { receiverAddress: receiver, balance: 11n, resource: 'ENERGY', lock: true, lockPeriod: 12n },
  ],
  [
    'UnDelegateResourceContract',
    { owner_address, receiver_address: hexOf(receiver), balance: 13, resource: 'ENERGY' },
    { receiverAddress: receiver, balance: 13n },
  ],
  [
    'AccountPermissionUpdateContract',
    {
      owner_address,
      owner: {
        type: 0,
        id: 0,
        permission_name: 'owner',
        threshold: 2,
        keys: [{ address: owner_address, weight: 2 }],
      },
      actives: [
        {
          type: 2,
          id: 2,
          permission_name: 'pay',
          threshold: 1,
          operations: '7fff1fc0033e0000000000000000000000000000000000000000000000000000',
          keys: [{ address: hexOf(receiver), weight: 1 }],
        },
      ],
    },
    {
      owner: {
        type: 'Owner',
        permissionName: 'owner',
        threshold: 2n,
        keys: [{ address: sender, weight: 2n }],
      },
      actives: [
        {
          type: 'Active',
          permissionName: 'pay',
          operations: '7fff1fc0033e0000000000000000000000000000000000000000000000000000',
          keys: [{ address: receiver, weight: 1n }],
        },
      ],
    },
  ],
];

describe('tronweb', () => {
  test.each(contracts)('made the %s that is read', (type, value, expected) => {
    const { transaction, unread } = read(
      make(type, value, { data: Buffer.from('memo').toString('hex'), fee_limit: 77 }),
    );
    expect(transaction.contracts).toHaveLength(1);
    expect(transaction.contracts[0]).toMatchObject({
      type,
      permissionId: 2n,
      ownerAddress: sender,
      ...expected,
    });
    expect(transaction).toMatchObject({
      refBlockBytes: '5e4b',
      refBlockHash: '47c9dc89341b300d',
      expiration: 1_591_089_627_000n,
      timestamp: 1_591_089_567_635n,
      data: '6d656d6f',
    });
    expect(unread).toEqual([]);
  });

  test('recovers the sender of what is signed', () => {
    const raw = make('TransferContract', contracts[0]?.[1] ?? {});
    const { digest, withSignature } = read(raw);
    const signed = toHex(withSignature(curves.CURVE_SECP256K1.sign(bytes(privateKey), digest)));
    // A transaction is { raw_data = 1, signature = 2 }.
    const signature = signed.slice(-130);
    expect(signed).toBe(
      `0a${toHex(Uint8Array.of(0x80 | ((raw.length / 2) % 128), Math.floor(raw.length / 256)))}${raw}1241${signature}`,
    );
    expect(['1b', '1c']).toContain(signature.slice(-2));
    const recovered = utils.crypto.ecRecover(toHex(digest), `0x${signature}`);
    expect(TronWeb.address.fromHex(recovered)).toBe(sender);
    expect(utils.crypto.ECKeySign(bytes(toHex(digest)), [...bytes(privateKey)]).toLowerCase()).toBe(
      signature,
    );
  });
});

describe('what is no raw_data', () => {
  const written = (write: (pbf: PbfWriter) => void): Uint8Array => {
    const pbf = new PbfWriter();
    write(pbf);
    return new Uint8Array(pbf.finish());
  };
  const inContract = (write: (pbf: PbfWriter) => void): Uint8Array =>
    written((pbf) => {
      pbf.writeBytesField(11, written(write));
    });
  const parameter = (url: string): Uint8Array =>
    written((pbf) => {
      pbf.writeStringField(1, url);
    });
  test.each([
    ['nothing', new Uint8Array(), 'got no bytes'],
    ['no contract', bytes('0a02ee18'), 'with a contract, got none'],
    [
      'a type that there is not',
      inContract((pbf) => {
        pbf.writeVarintField(1, 999);
      }),
      'got number 999',
    ],
    [
      'a parameter of another type',
      inContract((pbf) => {
        pbf.writeVarintField(1, 1);
        pbf.writeBytesField(2, parameter('type.googleapis.com/protocol.TriggerSmartContract'));
      }),
      'says that it is of another type',
    ],
    ['a field twice', bytes('40014001'), 'gives expiration twice|with a contract'],
    ['a group', bytes('0b'), 'wire type 3'],
    ['a number that is too long', bytes(`40${'ff'.repeat(10)}01`), 'more than 64 bits'],
    ['a length past the end', bytes('0a05ee'), 'ends too early'],
  ])('%s', (_, raw, expected) => {
    expect(problem(raw)).toMatch(new RegExp(expected));
  });

  test('a field twice in a contract', () => {
    const raw = read(make('TransferContract', contracts[0]?.[1] ?? {}));
    expect(raw.unread).toEqual([]);
    const value = written((pbf) => {
      pbf.writeVarintField(3, 1);
      pbf.writeVarintField(3, 2);
    });
    const any = written((pbf) => {
      pbf.writeStringField(1, 'type.googleapis.com/protocol.TransferContract');
      pbf.writeBytesField(2, value);
    });
    expect(
      problem(
        inContract((pbf) => {
          pbf.writeVarintField(1, 1);
          pbf.writeBytesField(2, any);
        }),
      ),
    ).toBe('TransferContract gives amount twice');
  });

  test('what is not understood is named', () => {
    const raw = Buffer.concat([bytes(make('TransferContract', contracts[0]?.[1] ?? {})), bytes('c00c01')]);
    expect(read(raw.toString('hex')).unread).toEqual(['field 200 of raw_data']);
  });
});

test('mutations are read or said to be unreadable, and never throw', () => {
  const originals = contracts.map(([type, value]) => bytes(make(type, value)));
  fc.assert(
    fc.property(damaged(originals), (mutated) => {
      const result = readTron(mutated);
      if (!result.ok) expect(result.problem).not.toBe('');
    }),
    { numRuns: 5000 },
  );
});
