import { secp256k1 } from '@noble/curves/secp256k1.js';
import { Transaction as ScureTransaction } from '@scure/btc-signer';
import * as bitcoinjs from 'bitcoinjs-lib';
import fc from 'fast-check';
import * as tiny from 'tiny-secp256k1';
import { describe, expect, test, vi } from 'vitest';
import { damaged } from '../../../test/storage/damaged.ts';
import {
  coinOf,
  contextOf,
  dataScript,
  keyOf,
  kinds,
  made,
  openBitcoin,
  psbtOf,
  regtest,
  scriptOf,
  type Kind,
  type Source,
} from '../../../test/one-reading/bitcoin-psbts.ts';
import { curves } from '../../crypto/keys/curves.ts';
import { toHex } from '../../crypto/encodings.ts';
import { bitcoin } from './chain.ts';

const own = keyOf(0x21);
const stranger = keyOf(0x22);
const payee = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';

const ownCoin = (kind: Kind, value = 100_000n): Source => ({
  coin: coinOf(scriptOf(own.address(kind)), value),
});
const theirCoin = (kind: Kind): Source => ({ coin: coinOf(scriptOf(stranger.address(kind)), 100_000n) });

const paying = (sources: readonly Source[], value = 90_000n): Uint8Array =>
  psbtOf(sources, [{ script: scriptOf(payee), value }]).toBuffer();

const opened = (bytes: Uint8Array) => openBitcoin(bytes, contextOf(own.publicKey));
const factOf = (bytes: Uint8Array) => opened(bytes).facts['bitcoin.tx']?.();

function signed(bytes: Uint8Array): Uint8Array {
  const result = opened(bytes).sign(own.privateKey);
  if (!result.ok) throw new Error(result.problem);
  return result.value;
}

const parsed = (bytes: Uint8Array): bitcoinjs.Psbt =>
  bitcoinjs.Psbt.fromBuffer(Buffer.from(bytes), { network: regtest });

const refusal = (bytes: Uint8Array): string => {
  const result = opened(bytes).sign(own.privateKey);
  return result.ok ? 'signed' : result.problem;
};

const problemOf = (bytes: Uint8Array): string => {
  const read = bitcoin.open(bytes, contextOf(own.publicKey));
  return read.ok ? 'read' : read.problem;
};

/** The library warns on the console that such programs are of no use yet. */
function withoutWarning<T>(run: () => T): T {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  try {
    return run();
  } finally {
    warn.mockRestore();
  }
}

const verifies = (key: Uint8Array, hash: Uint8Array, signature: Uint8Array): boolean =>
  key.length === 32 ? tiny.verifySchnorr(hash, key, signature) : tiny.verify(hash, key, signature);

describe('each kind of address', () => {
  test.each(kinds)('%s: bitcoinjs-lib validates the signature and finalizes', (kind) => {
    const unsigned = paying([ownCoin(kind)]);
    expect(factOf(unsigned)).toMatchObject({
      version: '2',
      fee: 10_000n,
      outflow: 100_000n,
      inputs: [{ vout: 1, sequence: 0xffffffff, value: 100_000n, address: own.address(kind), ours: true }],
      outputs: [{ value: 90_000n, address: payee, address_type: 'p2wpkh', ours: false }],
      locktime: { amount: 0, type: 'Blocks' },
    });
    const psbt = parsed(signed(unsigned));
    expect(psbt.data.inputs[0]?.finalScriptWitness).toBeUndefined();
    expect(psbt.validateSignaturesOfInput(0, verifies)).toBe(true);
    psbt.finalizeAllInputs();
    expect(psbt.extractTransaction().outs).toHaveLength(1);
  });

  test.each(kinds)('%s: one transaction has one signature', (kind) => {
    const unsigned = paying([ownCoin(kind)]);
    expect(toHex(signed(unsigned))).toBe(toHex(signed(unsigned)));
    expect(toHex(signed(signed(unsigned)))).toBe(toHex(signed(unsigned)));
  });

  test('all of them at once, and a stranger’s, which stays as it is', () => {
    const unsigned = paying([...kinds.map((kind) => ownCoin(kind)), theirCoin('P2WPKH')], 590_000n);
    expect(opened(unsigned).signatures).toBe(5);
    const psbt = parsed(signed(unsigned));
    kinds.forEach((_, index) => {
      expect(psbt.validateSignaturesOfInput(index, verifies)).toBe(true);
    });
    expect(psbt.data.inputs[5]?.partialSig).toBeUndefined();
  });

  test('an output to the key itself', () => {
    const coin = coinOf(made(bitcoinjs.payments.p2pk({ pubkey: own.publicKey }).output), 100_000n);
    const psbt = parsed(signed(paying([{ coin }])));
    expect(psbt.validateSignaturesOfInput(0, verifies)).toBe(true);
  });
});

describe('scripts that the PSBT holds', () => {
  const multisig = bitcoinjs.payments.p2ms({ m: 2, pubkeys: [own.publicKey, stranger.publicKey] });
  const inWitness = bitcoinjs.payments.p2wsh({ redeem: multisig });
  const nested = bitcoinjs.payments.p2sh({ redeem: inWitness });
  const hashed = bitcoinjs.payments.p2sh({ redeem: multisig });
  const redeemScript = { redeemScript: made(multisig.output) };
  const witnessScript = { witnessScript: made(multisig.output) };
  const wraps = [
    ['bare', multisig, {}],
    ['P2SH', hashed, redeemScript],
    ['P2WSH', inWitness, witnessScript],
    ['P2SH-P2WSH', nested, { redeemScript: made(inWitness.output), ...witnessScript }],
  ] as const;

  test.each(wraps)('%s: a script of several keys takes this one’s signature', (_, { output }, more) => {
    const unsigned = paying([{ coin: coinOf(made(output), 100_000n), more }]);
    // The coin is ours as far as it is spent, and the script is not ours: anything may come back to it.
    expect(factOf(unsigned)).toMatchObject({ inputs: [{ ours: true }], outflow: 100_000n });
    const psbt = parsed(signed(unsigned));
    expect(psbt.data.inputs[0]?.partialSig?.map(({ pubkey }) => toHex(pubkey))).toEqual([
      toHex(own.publicKey),
    ]);
    expect(psbt.validateSignaturesOfInput(0, verifies)).toBe(true);
  });

  test('a script whose hash the output does not have is not signed', () => {
    const other = bitcoinjs.payments.p2wsh({
      redeem: bitcoinjs.payments.p2ms({ m: 1, pubkeys: [stranger.publicKey] }),
    });
    const coin = coinOf(made(other.output), 100_000n);
    expect(refusal(paying([{ coin, more: witnessScript }]))).toBe(
      'none of its inputs is locked with this key',
    );
  });

  test('a script with a code separator is not signed: a signature covers only what comes after', () => {
    const script = bitcoinjs.script.fromASM(`OP_CODESEPARATOR ${toHex(own.publicKey)} OP_CHECKSIG`);
    const coin = coinOf(script, 100_000n);
    expect(refusal(paying([{ coin }]))).toBe('none of its inputs is locked with this key');
  });

  test('Taproot with scripts: the key signs alone', () => {
    const internalPubkey = own.publicKey.subarray(1);
    const leaf = bitcoinjs.script.fromASM(`${toHex(stranger.publicKey.subarray(1))} OP_CHECKSIG`);
    const { output, hash } = bitcoinjs.payments.p2tr({ internalPubkey, scriptTree: { output: leaf } });
    const coin = coinOf(made(output), 100_000n);
    const more = { tapInternalKey: internalPubkey, tapMerkleRoot: made(hash) };
    const psbt = parsed(signed(paying([{ coin, more }])));
    expect(psbt.validateSignaturesOfInput(0, verifies)).toBe(true);
    psbt.finalizeAllInputs();
    const another = { ...more, tapMerkleRoot: new Uint8Array(32).fill(5) };
    expect(refusal(paying([{ coin, more: another }]))).toBe('none of its inputs is locked with this key');
  });
});

describe('addresses', () => {
  test('are of the network of the address that names the key', () => {
    const bytes = paying([ownCoin('P2WPKH')]);
    const shown = (format: 'REGTEST' | 'TESTNET' | 'MAINNET'): unknown => {
      const { key, ...around } = contextOf(own.publicKey);
      if (key === undefined) throw new Error('no key');
      const named = { ...key, format: `ADDRESS_FORMAT_BITCOIN_${format}_P2TR` as const };
      return openBitcoin(bytes, { ...around, key: named }).facts['bitcoin.tx']?.();
    };
    expect(shown('MAINNET')).toMatchObject({
      outputs: [{ address: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4' }],
    });
    expect(shown('TESTNET')).toMatchObject({
      outputs: [{ address: 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx' }],
    });
  });

  // BIP-350 gives an address to every witness program, also of a version that is of no use yet. The last is Bitcoin Core's anchor.
  test.each([
    ...[2, 3, 16].flatMap((version) =>
      [2, 20, 32, 40].map((length): [string, string] => {
        const script = Uint8Array.of(0x50 + version, length, ...new Uint8Array(length).fill(version));
        return [toHex(script), withoutWarning(() => bitcoinjs.address.fromOutputScript(script, regtest))];
      }),
    ),
    ['51024e73', 'bcrt1pfeesnyr2tx'],
  ])('the script %s has one, though its kind has no name', (script, address) => {
    const bytes = psbtOf(
      [ownCoin('P2WPKH')],
      [{ script: new Uint8Array(Buffer.from(script, 'hex')), value: 90_000n }],
    ).toBuffer();
    expect(factOf(bytes)).toMatchObject({ outputs: [{ address, address_type: '', ours: false }] });
    const { title, parts, warnings } = opened(bytes).describe();
    expect(title).toContain(`0.0009 BTC to ${address}`);
    expect(parts[0]?.lines).toEqual([{ label: 'Script', value: script }]);
    expect(warnings).toContain(
      'Scripts of a kind that this vault does not know get 1 output. It does not know who can spend that.',
    );
  });

  test.each([
    ['of version 0 that is of no kind', `0015${'11'.repeat(21)}`],
    ['that is too short', '520111'],
    ['that is too long', `5229${'11'.repeat(41)}`],
    ['that is not pushed in the shortest way', `524c20${'11'.repeat(32)}`],
    ['of a version that there is not', `6120${'11'.repeat(32)}`],
  ])('a program %s has none', (_, script) => {
    const bytes = psbtOf(
      [ownCoin('P2WPKH')],
      [{ script: new Uint8Array(Buffer.from(script, 'hex')), value: 90_000n }],
    ).toBuffer();
    expect(factOf(bytes)).toMatchObject({ outputs: [{ address: '', address_type: '' }] });
  });

  // Nodes recognize the kinds by their bytes alone. Anyone can spend an output that is locked with one of
  // these.
  test.each([
    ['P2WPKH', `004c14${'11'.repeat(20)}`],
    ['P2WSH', `004c20${'11'.repeat(32)}`],
    ['P2TR', `514c20${'11'.repeat(32)}`],
    ['P2SH', `a94c14${'11'.repeat(20)}87`],
    ['P2PKH', `76a94c14${'11'.repeat(20)}88ac`],
  ])('a script that is nearly %s has none', (_, script) => {
    const bytes = psbtOf(
      [ownCoin('P2WPKH')],
      [{ script: new Uint8Array(Buffer.from(script, 'hex')), value: 90_000n }],
    ).toBuffer();
    expect(factOf(bytes)).toMatchObject({
      outputs: [{ address: '', address_type: '', script_pubkey: script }],
    });
  });

  test('an output that holds data has none', () => {
    const data = dataScript('hello');
    const bytes = psbtOf([ownCoin('P2WPKH')], [{ script: data, value: 0n }]).toBuffer();
    expect(factOf(bytes)).toMatchObject({
      outputs: [{ value: 0n, script_pubkey: toHex(data), address: '', address_type: '', ours: false }],
    });
    expect(refusal(bytes)).toBe('signed');
  });
});

describe('PSBT version 2', () => {
  const second = (bytes: Uint8Array): Uint8Array => ScureTransaction.fromPSBT(bytes).toPSBT(2);

  test('is the same transaction as version 0, and is signed as such', () => {
    const first = paying([ownCoin('P2WPKH'), ownCoin('P2TR'), ownCoin('P2PKH')], 290_000n);
    expect(factOf(second(first))).toEqual(factOf(first));
    const again = ScureTransaction.fromPSBT(signed(second(first)));
    // The signatures cover all outputs.
    expect(() => again.addOutput({ script: scriptOf(payee), amount: 1n })).toThrow(
      'outputs are not modifiable',
    );
    again.finalize();
    const expected = parsed(signed(first)).finalizeAllInputs().extractTransaction();
    expect(again.hex).toBe(expected.toHex());
  });

  const locked = (...locks: readonly { readonly height?: number; readonly time?: number }[]): Uint8Array => {
    const transaction = new ScureTransaction({ PSBTVersion: 2, lockTime: 77 });
    for (const { height, time } of locks) {
      const { previous, script, value } = ownCoin('P2WPKH').coin;
      transaction.addInput({
        txid: previous.getId(),
        index: 1,
        sequence: 0xfffffffd,
        nonWitnessUtxo: previous.toBuffer(),
        witnessUtxo: { script, amount: value },
        ...(height === undefined ? {} : { requiredHeightLocktime: height }),
        ...(time === undefined ? {} : { requiredTimeLocktime: time }),
      });
    }
    transaction.addOutput({ script: scriptOf(payee), amount: 90_000n });
    return transaction.toPSBT(2);
  };

  test.each([
    [[{}], 77],
    [[{ height: 500 }, {}], 500],
    [[{ height: 500, time: 1_600_000_000 }, { height: 600 }], 600],
    [[{ height: 500, time: 1_600_000_000 }, { time: 1_700_000_000 }], 1_700_000_000],
    [[{ height: 500, time: 1_600_000_000 }], 500],
  ])('the lock time of %j is %d, as the library says', (locks, expected) => {
    const bytes = locked(...locks);
    expect(ScureTransaction.fromPSBT(bytes).lockTime).toBe(expected);
    expect(factOf(bytes)).toMatchObject({ locktime: { amount: expected } });
    const again = ScureTransaction.fromPSBT(signed(bytes));
    again.finalize();
    expect(again.isFinal).toBe(true);
  });
});

describe('what is not signed', () => {
  test('a stranger’s inputs', () => {
    expect(refusal(paying([theirCoin('P2WPKH')]))).toBe('none of its inputs is locked with this key');
    expect(opened(paying([theirCoin('P2WPKH')])).signatures).toBe(0);
  });

  test('an input that another program has finished', () => {
    const final = parsed(signed(paying([ownCoin('P2WPKH')])))
      .finalizeAllInputs()
      .toBuffer();
    expect(refusal(final)).toBe('none of its inputs is locked with this key');
  });

  test('what cannot be checked', () => {
    expect(refusal(paying([{ ...ownCoin('P2WPKH'), proven: false }]))).toContain(
      'input 1 has no non_witness_utxo',
    );
    expect(refusal(paying([{ ...ownCoin('P2TR'), proven: false }]))).toBe('signed');
  });

  test.each(['P2WPKH', 'P2TR'] as const)('another’s %s input that cannot be checked', (kind) => {
    const theirs = { ...theirCoin(kind), proven: false };
    expect(refusal(paying([ownCoin('P2WPKH'), theirs]))).toContain('input 2 has no non_witness_utxo');
    expect(refusal(paying([ownCoin('P2TR'), theirs]))).toBe('signed');
  });

  test('more than there is', () => {
    expect(refusal(paying([ownCoin('P2WPKH')], 200_000n))).toBe('its outputs are worth more than its inputs');
  });

  test.each([
    ['NONE', bitcoinjs.Transaction.SIGHASH_NONE],
    ['SINGLE', bitcoinjs.Transaction.SIGHASH_SINGLE],
    ['ALL|ANYONECANPAY', 0x81],
    ['ALL, and a bit that says nothing', 0x41],
  ])('with SIGHASH_%s, which leaves others room', (_, sighashType) => {
    for (const kind of kinds) {
      expect(refusal(paying([{ ...ownCoin(kind), more: { sighashType } }]))).toContain(
        'does not cover the whole transaction',
      );
    }
    // The owner of another key may ask that key for anything.
    expect(refusal(paying([ownCoin('P2WPKH'), { ...theirCoin('P2WPKH'), more: { sighashType } }]))).toBe(
      'signed',
    );
  });

  test('SIGHASH_ALL is said in so many words where the PSBT asks for it', () => {
    for (const kind of kinds) {
      const unsigned = paying([{ ...ownCoin(kind), more: { sighashType: 1 } }]);
      expect(parsed(signed(unsigned)).validateSignaturesOfInput(0, verifies), kind).toBe(true);
    }
  });
});

describe('what is not read', () => {
  const good = paying([ownCoin('P2WPKH')]);
  const global = Buffer.from('70736274ff', 'hex');
  test.each([
    ['nothing', new Uint8Array(), 'does not begin like a PSBT'],
    ['a transaction', ownCoin('P2PKH').coin.previous.toBuffer(), 'does not begin like a PSBT'],
    ['an end that is cut off', good.subarray(0, -3), 'ends too early'],
    ['bytes after the end', Buffer.concat([good, Buffer.of(0)]), 'after its end'],
    ['a PSBT after the end', Buffer.concat([good, good]), 'after its end'],
    ['a field twice', Buffer.concat([global, good.subarray(5, 93), good.subarray(5)]), 'twice'],
  ])('%s', (_, bytes, problem) => {
    expect(problemOf(bytes)).toMatch(/^expected a Bitcoin transaction as a PSBT: /);
    expect(problemOf(bytes)).toContain(problem);
  });

  test('a lie about what an input is worth', () => {
    const claim = { script: scriptOf(own.address('P2WPKH')), value: 500_000n };
    expect(problemOf(paying([{ ...ownCoin('P2WPKH'), claim }]))).toContain(
      'the witness_utxo of input 1 differs from its non_witness_utxo',
    );
  });

  test('a previous transaction that is another’s', () => {
    const psbt = parsed(good);
    const { previous } = ownCoin('P2WPKH', 1_000_000n).coin;
    Object.assign(psbt.data.inputs[0] ?? {}, { nonWitnessUtxo: previous.toBuffer() });
    expect(problemOf(psbt.toBuffer())).toContain('is not the transaction that the input spends from');
  });

  test('two inputs that spend the same output', () => {
    const first = ScureTransaction.fromPSBT(paying([ownCoin('P2WPKH'), ownCoin('P2WPKH')]));
    const { txid, nonWitnessUtxo } = first.getInput(0);
    if (txid === undefined || nonWitnessUtxo === undefined) throw new Error('no transaction');
    first.updateInput(1, { txid, nonWitnessUtxo });
    expect(problemOf(first.toPSBT())).toContain('two inputs spend the same output');
  });
});

test.each(['CURVE_ED25519', 'CURVE_P256'] as const)(
  'is described with a key of %s as without one',
  (curve) => {
    const { privateKey } = own;
    const key = { curve, publicKey: curves[curve].publicKey(privateKey), format: undefined };
    const bytes = paying([ownCoin('P2WPKH')]);
    const described = openBitcoin(bytes, { ...contextOf(undefined), key });
    const without = openBitcoin(bytes, contextOf(undefined));
    expect(described.describe()).toEqual(without.describe());
    expect(described.sign(privateKey).ok).toBe(false);
  },
);

test('a previous transaction with witnesses proves what it pays', () => {
  const { coin } = ownCoin('P2WPKH');
  coin.previous.setWitness(0, [Buffer.from('aa', 'hex')]);
  const unsigned = paying([{ coin }]);
  expect(factOf(unsigned)).toMatchObject({ fee: 10_000n });
  expect(parsed(signed(unsigned)).validateSignaturesOfInput(0, verifies)).toBe(true);
});

test('signatures are the same as those of two libraries', () => {
  const sources = kinds.map((kind) => ownCoin(kind));
  const unsigned = paying(sources, 490_000n);
  const library = ScureTransaction.fromPSBT(unsigned);
  const after = parsed(signed(unsigned));
  kinds.forEach((_, index) => {
    const { redeemScript, witnessScript, tapInternalKey } = after.data.inputs[index] ?? {};
    library.updateInput(index, {
      ...(redeemScript && { redeemScript }),
      ...(witnessScript && { witnessScript }),
      ...(tapInternalKey && { tapInternalKey }),
    });
    library.signIdx(own.privateKey, index, [0, 1], new Uint8Array(32));
  });
  expect(toHex(library.toPSBT())).toBe(toHex(after.toBuffer()));
  expect(secp256k1.getPublicKey(own.privateKey)).toEqual(own.publicKey);
});

test('mutations are read or said to be unreadable, and never throw', () => {
  const originals = [
    paying([ownCoin('P2WPKH')]),
    paying([ownCoin('P2TR'), ownCoin('P2PKH')]),
    signed(paying([ownCoin('P2SH'), ownCoin('P2TR')])),
  ];
  fc.assert(
    fc.property(damaged(originals, 3), (mutated) => {
      const read = bitcoin.open(mutated, contextOf(own.publicKey));
      if (!read.ok) {
        expect(read.problem).not.toBe('');
        return;
      }
      read.value.describe();
      read.value.facts['bitcoin.tx']?.();
      read.value.sign(own.privateKey);
    }),
    { numRuns: 1500 },
  );
});

test('a transaction with more inputs and outputs than nodes pass on is not read', () => {
  const outputs = (count: number): Uint8Array =>
    psbtOf(
      [ownCoin('P2WPKH')],
      Array.from({ length: count }, () => ({ script: scriptOf(payee), value: 1n })),
    ).toBuffer();
  expect(problemOf(outputs(1999))).toBe('read');
  expect(problemOf(outputs(2000))).toContain('it has 2001 inputs and outputs, and at most 2000 are read');
});
