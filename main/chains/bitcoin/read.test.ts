import { secp256k1 } from '@noble/curves/secp256k1.js';
import { Transaction as ScureTransaction } from '@scure/btc-signer';
import * as bitcoinjs from 'bitcoinjs-lib';
import fc from 'fast-check';
import * as tiny from 'tiny-secp256k1';
import { describe, expect, test } from 'vitest';
import { damaged } from '../../../test/damaged.ts';
import { encodeAddress, type AddressFormat } from '../../crypto/addresses.ts';
import { toHex } from '../../crypto/encodings.ts';
import { readBitcoin, type BitcoinNetwork, type ReadBitcoin } from './read.ts';

bitcoinjs.initEccLib(tiny);

const privateKey = new Uint8Array(32).fill(0x21);
const publicKey = secp256k1.getPublicKey(privateKey, true);
const stranger = secp256k1.getPublicKey(new Uint8Array(32).fill(0x22), true);
const { regtest } = bitcoinjs.networks;
const payee = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';

const kinds = ['P2PKH', 'P2SH', 'P2WPKH', 'P2WSH', 'P2TR'] as const;
type Kind = (typeof kinds)[number];
const addressOf = (kind: Kind, key = publicKey): string =>
  encodeAddress(`ADDRESS_FORMAT_BITCOIN_REGTEST_${kind}` as AddressFormat, 'CURVE_SECP256K1', key);

/** A transaction that pays 100,000 satoshis to an address, of which its hash is the id. */
function funding(address: string, value = 100_000n): bitcoinjs.Transaction {
  const transaction = new bitcoinjs.Transaction();
  transaction.addInput(new Uint8Array(32).fill(9), 0);
  transaction.addOutput(bitcoinjs.address.toOutputScript(address, regtest), value);
  return transaction;
}

type PsbtInput = Parameters<bitcoinjs.Psbt['addInput']>[0];

function psbtOf(
  sources: readonly {
    readonly address: string;
    readonly more?: Partial<PsbtInput>;
    readonly bare?: boolean;
  }[],
  pays = 90_000n,
): bitcoinjs.Psbt {
  const psbt = new bitcoinjs.Psbt({ network: regtest });
  for (const { address, more, bare = false } of sources) {
    const previous = funding(address);
    const [output] = previous.outs;
    if (output === undefined) throw new Error('no output');
    const segwit = address.startsWith('bcrt1') || !/^[mn]/.test(address);
    psbt.addInput({
      hash: previous.getId(),
      index: 0,
      ...(bare ? {} : { nonWitnessUtxo: previous.toBuffer() }),
      ...(segwit ? { witnessUtxo: output } : {}),
      ...more,
    });
  }
  psbt.addOutput({ address: payee, value: pays });
  return psbt;
}

function read(bytes: Uint8Array, network: BitcoinNetwork = 'regtest'): ReadBitcoin {
  const result = readBitcoin(bytes, network);
  if (!result.ok) throw new Error(result.problem);
  return result.value;
}

function signed(bytes: Uint8Array): Uint8Array {
  const result = read(bytes).sign(privateKey, publicKey);
  if (!result.ok) throw new Error(result.problem);
  return result.value;
}

const refusal = (bytes: Uint8Array): string => {
  const result = read(bytes).sign(privateKey, publicKey);
  return result.ok ? 'signed' : result.problem;
};

const verifies = (key: Uint8Array, hash: Uint8Array, signature: Uint8Array): boolean =>
  key.length === 32 ? tiny.verifySchnorr(hash, key, signature) : tiny.verify(hash, key, signature);

describe('each kind of address', () => {
  test.each(kinds)('%s: bitcoinjs-lib validates the signature and finalizes', (kind) => {
    const unsigned = psbtOf([{ address: addressOf(kind) }]).toBuffer();
    expect(read(unsigned).transaction).toMatchObject({
      version: 2,
      fee: 10_000n,
      inputs: [{ vout: 0, sequence: 0xffffffff, value: 100_000n, address: addressOf(kind) }],
      outputs: [{ value: 90_000n, address: payee, addressType: 'p2wpkh' }],
    });
    const psbt = bitcoinjs.Psbt.fromBuffer(Buffer.from(signed(unsigned)), { network: regtest });
    expect(psbt.data.inputs[0]?.finalScriptWitness).toBeUndefined();
    expect(psbt.validateSignaturesOfInput(0, verifies)).toBe(true);
    psbt.finalizeAllInputs();
    expect(psbt.extractTransaction().outs).toHaveLength(1);
  });

  test.each(kinds)('%s: one transaction has one signature', (kind) => {
    const unsigned = psbtOf([{ address: addressOf(kind) }]).toBuffer();
    expect(toHex(signed(unsigned))).toBe(toHex(signed(unsigned)));
  });

  test('all of them at once, and a stranger’s, which stays as it is', () => {
    const unsigned = psbtOf(
      [...kinds.map((kind) => ({ address: addressOf(kind) })), { address: addressOf('P2WPKH', stranger) }],
      590_000n,
    ).toBuffer();
    const psbt = bitcoinjs.Psbt.fromBuffer(Buffer.from(signed(unsigned)), { network: regtest });
    kinds.forEach((_, index) => {
      expect(psbt.validateSignaturesOfInput(index, verifies)).toBe(true);
    });
    expect(psbt.data.inputs[5]?.partialSig).toBeUndefined();
  });
});

test('a script of several keys takes this one’s signature', () => {
  const multisig = bitcoinjs.payments.p2ms({ m: 2, pubkeys: [publicKey, stranger], network: regtest });
  const { address, redeem } = bitcoinjs.payments.p2wsh({ redeem: multisig, network: regtest });
  if (address === undefined || redeem?.output === undefined) throw new Error('no address');
  const unsigned = psbtOf([{ address, more: { witnessScript: redeem.output } }]).toBuffer();
  const psbt = bitcoinjs.Psbt.fromBuffer(Buffer.from(signed(unsigned)), { network: regtest });
  expect(psbt.data.inputs[0]?.partialSig?.map(({ pubkey }) => toHex(pubkey))).toEqual([toHex(publicKey)]);
  expect(psbt.validateSignaturesOfInput(0, verifies)).toBe(true);
});

test('an output that holds data is shown as that', () => {
  const psbt = psbtOf([{ address: addressOf('P2WPKH') }]);
  const data = bitcoinjs.payments.embed({ data: [Buffer.from('hello')] }).output;
  if (data === undefined) throw new Error('no script');
  psbt.addOutput({ script: data, value: 0n });
  expect(read(psbt.toBuffer()).transaction.outputs[1]).toEqual({
    value: 0n,
    script: toHex(data),
    address: '',
    addressType: '',
  });
  expect(refusal(psbt.toBuffer())).toBe('signed');
});

test('addresses are of the network that was asked for', () => {
  const unsigned = psbtOf([{ address: addressOf('P2WPKH') }]).toBuffer();
  const shown = (network: BitcoinNetwork): string | undefined =>
    read(unsigned, network).transaction.outputs[0]?.address;
  expect(shown('mainnet')).toBe('bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4');
  expect(shown('testnet')).toBe('tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx');
});

test('PSBT version 2', () => {
  const parsed = ScureTransaction.fromPSBT(psbtOf([{ address: addressOf('P2WPKH') }]).toBuffer());
  const second = parsed.toPSBT(2);
  const again = ScureTransaction.fromPSBT(signed(second));
  again.finalize();
  expect(again.isFinal).toBe(true);
});

describe('what is not signed', () => {
  test('a stranger’s inputs', () => {
    expect(refusal(psbtOf([{ address: addressOf('P2WPKH', stranger) }]).toBuffer())).toBe(
      'none of its inputs is locked with this key',
    );
  });

  test('what cannot be checked', () => {
    const bare = psbtOf([{ address: addressOf('P2WPKH'), bare: true }]).toBuffer();
    expect(refusal(bare)).toContain('input 1 has no non_witness_utxo');
    expect(refusal(psbtOf([{ address: addressOf('P2TR'), bare: true }]).toBuffer())).toBe('signed');
  });

  test('another’s input that cannot be checked', () => {
    const sources = [
      { address: addressOf('P2WPKH') },
      { address: addressOf('P2WPKH', stranger), bare: true },
    ];
    expect(refusal(psbtOf(sources).toBuffer())).toContain('input 2 has no non_witness_utxo');
  });

  test('a lie about what an input is worth', () => {
    const [output] = funding(addressOf('P2WPKH'), 500_000n).outs;
    if (output === undefined) throw new Error('no output');
    const lying = psbtOf([{ address: addressOf('P2WPKH'), more: { witnessUtxo: output } }]).toBuffer();
    const result = readBitcoin(lying, 'regtest');
    expect(result.ok ? 'read' : result.problem).toContain('witnessUtxo different from nonWitnessUtxo');
  });

  test('more than there is', () => {
    expect(refusal(psbtOf([{ address: addressOf('P2WPKH') }], 200_000n).toBuffer())).toBe(
      'its outputs are worth more than its inputs',
    );
  });

  test.each([
    ['NONE', bitcoinjs.Transaction.SIGHASH_NONE],
    ['SINGLE', bitcoinjs.Transaction.SIGHASH_SINGLE],
    ['ALL|ANYONECANPAY', 0x81],
  ])('with SIGHASH_%s, which leaves others room', (_, sighashType) => {
    const psbt = psbtOf([{ address: addressOf('P2WPKH'), more: { sighashType } }]);
    expect(refusal(psbt.toBuffer())).toContain('not allowed sigHash');
  });
});

describe('what is no PSBT', () => {
  const good = psbtOf([{ address: addressOf('P2WPKH') }]).toBuffer();
  test.each([
    ['nothing', new Uint8Array()],
    ['a transaction', funding(addressOf('P2PKH')).toBuffer()],
    ['an end that is cut off', good.subarray(0, -3)],
    ['bytes after the end', Buffer.concat([good, Buffer.of(1)])],
  ])('%s', (_, bytes) => {
    const result = readBitcoin(bytes, 'regtest');
    expect(result.ok ? 'read' : result.problem).toContain('expected a Bitcoin transaction as a PSBT');
  });
});

test('mutations are read or said to be unreadable, and never throw', () => {
  const originals = [
    psbtOf([{ address: addressOf('P2WPKH') }]).toBuffer(),
    psbtOf([{ address: addressOf('P2TR') }, { address: addressOf('P2PKH') }]).toBuffer(),
    signed(psbtOf([{ address: addressOf('P2SH') }, { address: addressOf('P2TR') }]).toBuffer()),
  ];
  fc.assert(
    fc.property(damaged(originals, 3), (mutated) => {
      const result = readBitcoin(mutated, 'regtest');
      if (!result.ok) expect(result.problem).not.toBe('');
    }),
    { numRuns: 1500 },
  );
});
