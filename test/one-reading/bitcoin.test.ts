/**
 * One reading of Bitcoin's transactions: what is shown and decided is what a valid transaction with the signature does. The
 * class of the faults: a PSBT claims what only the chain knows (what inputs spend, and whose that is), and is believed.
 */
import * as bitcoinjs from 'bitcoinjs-lib';
import fc from 'fast-check';
import * as tiny from 'tiny-secp256k1';
import { describe, expect, test } from 'vitest';
import { bitcoin } from '../../main/chains/bitcoin/chain.ts';
import type { Opened } from '../../main/chains/chain.ts';
import { mostParts } from '../../main/chains/description.ts';
import type { FactOf } from '../../main/chains/facts.ts';
import { encodeAddress } from '../../main/chains/addresses/addresses.ts';
import { taggedHash, sha256 } from '../../main/crypto/hashes.ts';
import { toHex } from '../../main/crypto/encodings.ts';
import { Unknown } from '../../main/policy/language/types.ts';
import { bitcoinLaw, unsignedOf } from './bitcoin.ts';
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
  type Coin,
  type Kind,
  type Source,
  type Target,
  type TestKey,
} from './bitcoin-psbts.ts';
import { atLength } from '../campaigns/length.ts';
import { holderNamed, violationsOf } from './law.ts';

const own = keyOf(0x31);
const sister = keyOf(0x32);
const stranger = keyOf(0x33);
const merchant = keyOf(0x34);
const unknown = expect.any(Unknown) as unknown;
const oneBtc = 100_000_000n;

const pay = (key: TestKey, kind: Kind, value: bigint): Target => ({
  script: scriptOf(key.address(kind)),
  value,
});
const coin = (key: TestKey, kind: Kind, value: bigint): Coin => coinOf(scriptOf(key.address(kind)), value);

type Names = Readonly<Record<string, string>>;

const open = (psbt: bitcoinjs.Psbt | Uint8Array, key = own, ours: Names = {}): Opened =>
  openBitcoin(psbt instanceof Uint8Array ? psbt : psbt.toBuffer(), contextOf(key.publicKey, ours));

function factOf(opened: Opened): FactOf<'bitcoin.tx'> {
  const fact = opened.facts['bitcoin.tx']?.();
  if (fact === undefined || fact instanceof Unknown) throw new Error('no fact');
  return fact;
}

const problemOf = (opened: Opened, key = own): string => {
  const signed = opened.sign(key.privateKey);
  return signed.ok ? 'signed' : signed.problem;
};

describe('a stranger’s input gives its address no right to be ours', () => {
  // The class: whose an output is, is never told by an input.
  test.each(kinds)('the theft is in the title, and in the facts: %s', (kind) => {
    const opened = open(
      psbtOf(
        [{ coin: coin(own, 'P2WPKH', 10n * oneBtc) }, { coin: coin(stranger, kind, 1000n) }],
        [pay(merchant, 'P2WPKH', oneBtc / 1000n), pay(stranger, kind, 999_899_000n)],
      ),
    );
    const { title, parts, warnings } = opened.describe();
    expect(title).toBe(
      `Send 0.001 BTC to ${merchant.address('P2WPKH')} and 9.99899 BTC to ${stranger.address(kind)}: 10 BTC leave their wallet or key, the fee included`,
    );
    expect(parts.map((part) => part.title).join()).not.toContain('back');
    expect(warnings).toContain('Not yours: 1 input, worth 0.00001 BTC.');
    expect(factOf(opened)).toMatchObject({
      inputs: [{ ours: true }, { ours: false, address: stranger.address(kind) }],
      outputs: [{ ours: false }, { ours: false, address: stranger.address(kind) }],
      outflow: 10n * oneBtc,
      fee: 2000n,
    });
    expect(problemOf(opened)).toBe('signed');
  });

  test('an address of a key of the organization is ours, by its tables, and what comes back to who pays has not left', () => {
    const opened = open(
      psbtOf(
        [{ coin: coin(own, 'P2WPKH', oneBtc) }],
        [pay(merchant, 'P2TR', 1000n), pay(sister, 'P2WPKH', 90_000_000n), pay(own, 'P2TR', 9_990_000n)],
      ),
      own,
      {
        [sister.address('P2WPKH')]: 'Savings',
        [own.address('P2WPKH')]: 'Cash',
        [own.address('P2TR')]: 'Cash',
      },
    );
    const { title, parts } = opened.describe();
    expect(title).toBe(
      `Send 0.00001 BTC to ${merchant.address('P2TR')} and 0.9 BTC to your Savings (${sister.address('P2WPKH')}): 0.9001 BTC leave their wallet or key, the fee included`,
    );
    expect(parts.map((part) => part.title)).toEqual([
      `Send 0.00001 BTC to ${merchant.address('P2TR')}`,
      `Send 0.9 BTC to your Savings (${sister.address('P2WPKH')})`,
      `Send 0.0999 BTC back to your Cash, ${own.address('P2TR')}`,
    ]);
    expect(factOf(opened)).toMatchObject({ outflow: 90_010_000n, fee: 9000n });
  });

  test('an account’s name shows what is hidden in it', () => {
    const names = { [sister.address('P2WPKH')]: 'Sav\u202eings' };
    const { parts } = open(
      psbtOf([{ coin: coin(own, 'P2WPKH', oneBtc) }], [pay(sister, 'P2WPKH', 90_000_000n)]),
      own,
      names,
    ).describe();
    expect(parts[0]?.title).toContain('to your Sav⟨U+202E⟩ings (');
  });

  test('the network of the signing address does not change whose a coin is', () => {
    const psbt = psbtOf([{ coin: coin(own, 'P2WPKH', oneBtc) }], [pay(sister, 'P2WPKH', 90_000_000n)]);
    const { key, ...around } = contextOf(own.publicKey, { [sister.address('P2WPKH')]: 'Savings' });
    if (key === undefined) throw new Error('no key');
    const opened = openBitcoin(psbt.toBuffer(), { ...around, key: { ...key, format: undefined } });
    expect(factOf(opened)).toMatchObject({
      outputs: [{ ours: true, address: expect.stringMatching(/^bc1q/) as string }],
    });
  });

  test('another account of the wallet that pays gets its change', () => {
    const names = { [own.address('P2WPKH')]: 'Daily', [sister.address('P2TR')]: 'Daily' };
    const psbt = psbtOf(
      [{ coin: coin(own, 'P2WPKH', oneBtc) }],
      [pay(merchant, 'P2WPKH', 1000n), pay(sister, 'P2TR', 99_990_000n)],
    );
    expect(factOf(open(psbt, own, names)).outflow).toBe(10_000n);
    expect(open(psbt, own, names).describe().parts[1]?.title).toContain('back to your Daily, ');
  });

  test('a coin that another wallet adds does not make what goes there change of the first', () => {
    const names = { [own.address('P2WPKH')]: 'Daily', [sister.address('P2WPKH')]: 'Brought' };
    const psbt = psbtOf(
      [{ coin: coin(own, 'P2WPKH', oneBtc) }, { coin: coin(sister, 'P2WPKH', 1000n) }],
      [pay(sister, 'P2WPKH', oneBtc)],
    );
    for (const key of [own, sister]) expect(factOf(open(psbt, key, names)).outflow).toBe(oneBtc);
  });

  test('coins of two keys cannot both make up for a third’s gain', () => {
    // Neither key has an account for the address that its coin is at; the third has. Ten of twenty go to a stranger.
    const names = { [merchant.address('P2WPKH')]: 'Third' };
    const psbt = psbtOf(
      [{ coin: coin(own, 'P2TR', 10n * oneBtc) }, { coin: coin(sister, 'P2TR', 10n * oneBtc) }],
      [pay(merchant, 'P2WPKH', 10n * oneBtc), pay(stranger, 'P2WPKH', 10n * oneBtc)],
    );
    for (const key of [own, sister]) {
      const opened = open(psbt, key, names);
      expect(factOf(opened).outflow).toBe(10n * oneBtc);
      expect(opened.describe().warnings).toContainEqual(expect.stringContaining('still count as leaving'));
    }
  });
});

/** The real conditions for spending a coin, whatever a PSBT claims. */
interface Rule {
  readonly kind: 'legacy' | 'witness' | 'taproot';
  /** The script that a signature covers. */
  readonly code: Uint8Array;
}

function ruleOf(kind: Kind, { publicKey }: TestKey): Rule {
  const { output: keyHash } = bitcoinjs.payments.p2pkh({ pubkey: publicKey });
  const { output: key } = bitcoinjs.payments.p2pk({ pubkey: publicKey });
  if (keyHash === undefined || key === undefined) throw new Error('no script');
  const rules: Readonly<Record<Kind, Rule>> = {
    P2PKH: { kind: 'legacy', code: keyHash },
    P2SH: { kind: 'witness', code: keyHash },
    P2WPKH: { kind: 'witness', code: keyHash },
    P2WSH: { kind: 'witness', code: key },
    P2TR: { kind: 'taproot', code: new Uint8Array() },
  };
  return rules[kind];
}

/** A coin as it stands on the chain. */
interface Real {
  readonly coin: Coin;
  readonly rule: Rule;
  readonly owner: TestKey;
  /** True if another key can spend it too. */
  readonly shared: boolean;
  /** Fields without which the PSBT cannot say how the coin is spent. */
  readonly more: NonNullable<Source['more']>;
}

const realCoin = (owner: TestKey, kind: Kind, value: bigint): Real => ({
  coin: coin(owner, kind, value),
  rule: ruleOf(kind, owner),
  owner,
  shared: false,
  more: {},
});

const multisigs = ['bare', 'P2SH', 'P2WSH'] as const;

/** One of two keys is enough. */
function sharedCoin(owner: TestKey, wrap: (typeof multisigs)[number], value: bigint): Real {
  const redeem = bitcoinjs.payments.p2ms({ m: 1, pubkeys: [owner.publicKey, stranger.publicKey] });
  const code = made(redeem.output);
  const wraps = {
    bare: { script: code, more: {} },
    P2SH: { script: made(bitcoinjs.payments.p2sh({ redeem }).output), more: { redeemScript: code } },
    P2WSH: {
      script: made(bitcoinjs.payments.p2wsh({ redeem }).output),
      more: { witnessScript: code },
    },
  } as const;
  const { script, more } = wraps[wrap];
  const rule: Rule = { kind: wrap === 'P2WSH' ? 'witness' : 'legacy', code };
  return { coin: coinOf(script, value), rule, owner, shared: true, more };
}

/**
 * True if a node would accept any signature of the key in a PSBT, for any of the inputs, with the real coins.
 * bitcoinjs-lib computes the digests.
 */
function holdsSomewhere(signed: bitcoinjs.Psbt, coins: readonly Real[], key: TestKey): boolean {
  const transaction = unsignedOf(signed);
  const scripts = coins.map((each) => each.coin.script);
  const values = coins.map((each) => each.coin.value);
  const signatures = signed.data.inputs.flatMap(({ partialSig = [], tapKeySig }) => [
    ...partialSig
      .filter(({ pubkey }) => toHex(pubkey) === toHex(key.publicKey))
      .map(({ signature }) => signature),
    ...(tapKeySig === undefined ? [] : [tapKeySig]),
  ]);
  return signatures.some((signature) =>
    coins.some(({ coin: { script, value }, rule: { kind, code } }, index) => {
      if (kind === 'taproot') {
        if (signature.length !== 64 && signature.length !== 65) return false;
        const hash = transaction.hashForWitnessV1(index, scripts, values, signature[64] ?? 0);
        return tiny.verifySchnorr(hash, script.subarray(2), signature.subarray(0, 64));
      }
      // ECDSA's signatures say how long they are; Taproot's say nothing.
      if (signature[0] !== 0x30 || signature[1] !== signature.length - 3) return false;
      const { signature: plain, hashType } = bitcoinjs.script.signature.decode(signature);
      const hash =
        kind === 'legacy'
          ? transaction.hashForSignature(index, code, hashType)
          : transaction.hashForWitnessV0(index, code, value, hashType);
      return tiny.verify(hash, key.publicKey, plain);
    }),
  );
}

/** Without the vault's own arithmetic. */
const toBtc = (satoshis: bigint): string => (Number(satoshis) / 1e8).toFixed(8).replace(/\.?0+$/, '');

const sum = (values: readonly { readonly value: bigint }[]): bigint =>
  values.reduce((total, { value }) => total + value, 0n);

const feeOf = (coins: readonly Real[], targets: readonly Target[]): bigint =>
  sum(coins.map((each) => each.coin)) - sum(targets);

describe('a fee cannot be hidden in claims about inputs', () => {
  const low = 10_000n;
  const claims = (real: Real, owner: TestKey): readonly Partial<Source>[] => [
    {},
    { proven: false },
    ...[
      real.coin.script,
      ...kinds.flatMap((kind) => [owner, stranger].map((key) => scriptOf(key.address(kind)))),
    ].map((script) => ({ proven: false, claim: { script, value: low } })),
  ];

  // The class: no mix of lies, in as many requests as there are keys, may give signatures that hold together with more
  // than what each request showed.
  test.each([
    ['two keys', own, sister],
    ['one key twice', own, own],
  ])('%s: requests that lie about each other’s input', (_, first, second) => {
    let requests = 0;
    let held = 0;
    for (const kind of kinds) {
      const coins = [realCoin(first, kind, 5n * oneBtc), realCoin(second, 'P2WPKH', 5n * oneBtc)];
      const targets = [pay(merchant, 'P2WPKH', 5n * oneBtc - low)];
      const shown = new Map<TestKey, bigint[]>();
      const [one, two] = coins;
      if (one === undefined || two === undefined) throw new Error('two coins');
      for (const claimOne of claims(one, first)) {
        for (const claimTwo of claims(two, second)) {
          const bytes = psbtOf(
            [
              { coin: one.coin, ...claimOne },
              { coin: two.coin, ...claimTwo },
            ],
            targets,
          );
          for (const key of new Set([first, second])) {
            requests += 1;
            const opened = open(bytes, key);
            const signed = opened.sign(key.privateKey);
            const fee = factOf(opened).fee;
            if (!signed.ok) continue;
            if (typeof fee !== 'bigint') throw new Error('signed, and the fee is not known');
            const psbt = bitcoinjs.Psbt.fromBuffer(Buffer.from(signed.value), { network: regtest });
            if (!holdsSomewhere(psbt, coins, key)) continue;
            held += 1;
            shown.set(key, [...(shown.get(key) ?? []), fee]);
          }
        }
      }
      for (const fees of shown.values()) expect(new Set(fees)).toEqual(new Set([feeOf(coins, targets)]));
    }
    expect(requests).toBeGreaterThan(500);
    expect(held).toBeGreaterThan(4);
  });

  test('the two lies that once paid a fee of five bitcoins are refused, and the combined transaction has no signature', () => {
    const coins = [realCoin(own, 'P2WPKH', 5n * oneBtc), realCoin(sister, 'P2WPKH', 5n * oneBtc)];
    const targets = [pay(merchant, 'P2WPKH', 5n * oneBtc - low)];
    const lie = { script: scriptOf(stranger.address('P2TR')), value: 1000n };
    const combined = psbtOf(coins, targets);
    [own, sister].forEach((key, mine) => {
      const sources = coins.map((real, index) =>
        index === mine ? { coin: real.coin } : { coin: real.coin, proven: false, claim: lie },
      );
      const opened = open(psbtOf(sources, targets), key);
      expect(problemOf(opened, key)).toContain(`input ${String(2 - mine)} has no non_witness_utxo`);
      expect(factOf(opened)).toMatchObject({ fee: unknown, outflow: unknown });
      expect(opened.describe().title).toContain('how much leaves its wallet or key is not known');
      expect(opened.describe().warnings).toContainEqual(expect.stringContaining('It is not signed as it is'));
    });
    // The truth is signed by both, who see a fee of five bitcoins.
    for (const key of [own, sister]) {
      const opened = open(combined, key);
      expect(factOf(opened).fee).toBe(5n * oneBtc + low);
      const signed = opened.sign(key.privateKey);
      if (!signed.ok) throw new Error(signed.problem);
      combined.combine(bitcoinjs.Psbt.fromBuffer(Buffer.from(signed.value), { network: regtest }));
    }
    expect(
      combined.validateSignaturesOfAllInputs((key, hash, signature) => tiny.verify(hash, key, signature)),
    ).toBe(true);
    combined.setMaximumFeeRate(2_000_000_000);
    expect(combined.finalizeAllInputs().extractTransaction().outs).toHaveLength(1);
  });

  test('without a key, what is only claimed is not known', () => {
    const psbt = psbtOf([{ coin: coin(own, 'P2TR', oneBtc), proven: false }], [pay(merchant, 'P2TR', 1000n)]);
    const opened = openBitcoin(psbt.toBuffer(), contextOf(undefined));
    expect(factOf(opened)).toMatchObject({
      fee: unknown,
      outflow: unknown,
      inputs: [{ value: unknown, address: unknown, ours: unknown }],
    });
    expect(opened.signatures).toBe(0);
    expect(opened.sign(own.privateKey).ok).toBe(false);
  });
});

describe('generated requests, true and false', () => {
  const names = Object.fromEntries(kinds.map((kind) => [sister.address(kind), 'Savings']));
  const listed = { ...names, [own.address('P2WPKH')]: 'Cash' };

  const scripts = fc
    .tuple(fc.constantFrom(own, sister, stranger, merchant), fc.constantFrom(...kinds))
    .map(([key, kind]) => scriptOf(key.address(kind)));
  const value = fc.oneof(
    fc.bigInt(1n, 20n * oneBtc),
    fc.constantFrom(1n, 1000n, oneBtc / 1000n, oneBtc, 10n * oneBtc),
  );
  const reals = fc.oneof(
    {
      weight: 4,
      arbitrary: fc
        .tuple(fc.constantFrom(own, sister, stranger), fc.constantFrom(...kinds), value)
        .map((each) => realCoin(...each)),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom(own, sister), fc.constantFrom(...multisigs), value)
        .map((each) => sharedCoin(...each)),
    },
  );
  const bogus = new Uint8Array([0x30, 6, 2, 1, 1, 2, 1, 1, 1]);
  const fields = fc.oneof(
    { weight: 6, arbitrary: fc.constant({}) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<NonNullable<Source['more']>>(
        { sighashType: 1 },
        { sighashType: 3 },
        { sighashType: 0x82 },
        { finalScriptWitness: Uint8Array.of(1, 1, 1) },
        { partialSig: [{ pubkey: stranger.publicKey, signature: bogus }] },
        { partialSig: [{ pubkey: own.publicKey, signature: bogus }] },
        { tapInternalKey: stranger.publicKey.subarray(1) },
        { tapInternalKey: own.publicKey.subarray(1), tapMerkleRoot: new Uint8Array(32).fill(3) },
        { redeemScript: scriptOf(own.address('P2WPKH')) },
        { witnessScript: made(bitcoinjs.payments.p2pk({ pubkey: own.publicKey }).output) },
      ),
    },
  );
  const telling = fc.oneof(
    { weight: 5, arbitrary: fc.constant<Partial<Source>>({}) },
    { weight: 1, arbitrary: fc.constant<Partial<Source>>({ proven: false }) },
    {
      weight: 2,
      arbitrary: fc.record({ proven: fc.constant(false), claim: fc.record({ script: scripts, value }) }),
    },
  );
  const told = fc
    .tuple(reals, telling, fields, fc.constantFrom(0xffffffff, 0xfffffffd, 7))
    .map(([real, tells, more]) => ({
      real,
      source: { coin: real.coin, ...tells, more: { ...real.more, ...more } },
    }));
  const targets = fc.array(
    fc.record({
      script: fc.oneof(
        { weight: 6, arbitrary: scripts },
        { weight: 1, arbitrary: fc.constantFrom(dataScript('x'), Uint8Array.of(0x51)) },
      ),
      value: fc.oneof(fc.bigInt(0n, oneBtc), fc.constantFrom(0n, 1n, 5n * oneBtc)),
    }),
    { minLength: 1, maxLength: 14 },
  );

  const scriptsOf = (key: TestKey, of: readonly Kind[] = kinds): string[] =>
    of.map((kind) => toHex(scriptOf(key.address(kind))));
  const wallets = [scriptsOf(sister), scriptsOf(own, ['P2WPKH'])];
  const inTables = wallets.flat();
  const everyScript = [...scriptsOf(sister), ...scriptsOf(own)];
  const toKey = new Map([own, sister].map((key) => [key, new Set([...inTables, ...scriptsOf(key)])]));

  const within =
    (known: readonly string[] | ReadonlySet<string> | undefined) =>
    ({ script }: { readonly script: Uint8Array }): boolean =>
      new Set(known).has(toHex(script));

  const signaturesOf = (psbt: bitcoinjs.Psbt, { publicKey }: TestKey): string[] =>
    psbt.data.inputs.map(({ partialSig = [], tapKeySig = new Uint8Array() }) =>
      [
        tapKeySig,
        ...partialSig
          .filter(({ pubkey }) => toHex(pubkey) === toHex(publicKey))
          .map((each) => each.signature),
      ]
        .map(toHex)
        .join(),
    );

  /** As the title writes it. */
  function receiver({ script, value }: Target): string {
    const amount = `${toBtc(value)} BTC`;
    try {
      return `${amount} to ${bitcoinjs.address.fromOutputScript(script, regtest)}`;
    } catch {
      return `${amount} to a script without an address`;
    }
  }

  interface Held {
    readonly outflow: bigint;
    /** The coins that others can spend too, and that the key signed for. */
    readonly shared: readonly Coin[];
  }

  const counts = { signed: 0, held: 0, both: 0, refused: 0 };

  /** @returns what was shown, where a node takes a signature that the key gave; all of it was true then. */
  function heldBy(
    key: TestKey,
    psbt: bitcoinjs.Psbt,
    coins: readonly Real[],
    outputs: readonly Target[],
  ): Held[] {
    const opened = open(psbt, key, listed);
    const { fee, outflow } = factOf(opened);
    const { title, parts } = opened.describe();
    const result = opened.sign(key.privateKey);
    if (!result.ok) {
      counts.refused += 1;
      return [];
    }
    counts.signed += 1;
    const signed = bitcoinjs.Psbt.fromBuffer(Buffer.from(result.value), { network: regtest });
    const before = signaturesOf(psbt, key);
    const given = signaturesOf(signed, key).map((each, index) => each !== before[index]);
    expect(given.filter(Boolean)).toHaveLength(opened.signatures);
    if (!holdsSomewhere(signed, coins, key)) return [];
    counts.held += 1;
    if (typeof outflow !== 'bigint') throw new Error('signed, and what leaves is not known');
    expect(fee).toBe(feeOf(coins, outputs));
    const shared = coins.filter((real, index) => real.shared && given[index]).map((real) => real.coin);
    const known = within(toKey.get(key));
    const plain = coins.map((real) => real.coin).filter(known);
    expect(outflow).toBeGreaterThanOrEqual(sum([...plain, ...shared]) - sum(outputs.filter(known)));
    // A gain of one wallet makes up for no loss of another.
    for (const scripts of wallets) {
      const has = within(scripts);
      expect(outflow).toBeGreaterThanOrEqual(sum(plain.filter(has)) - sum(outputs.filter(has)));
    }
    const strange = outputs.filter((output) => !known(output));
    const sent = strange.filter(({ script }) => script[0] !== 0x6a);
    const receivers =
      sent.length > 10 ? [`${toBtc(sum(sent))} BTC to ${String(sent.length)} outputs`] : sent.map(receiver);
    for (const each of receivers) expect(title).toContain(each);
    const burned = sum(strange.filter(({ script }) => script[0] === 0x6a));
    if (burned > 0n) expect(title).toMatch(new RegExp(`burn ${toBtc(burned)} BTC`, 'i'));
    expect(title).toContain(`${toBtc(outflow)} BTC leave their wallet or key`);
    expect(parts).toHaveLength(outputs.length);
    return [{ outflow, shared }];
  }

  test('a signature that a node takes has never more fee or loss than what was shown', () => {
    const inputs = fc.array(told, { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(inputs, targets, fc.nat(), (told, outputs, lockTime) => {
        const sources = told.map(({ source }) => source);
        const coins = told.map(({ real }) => real);
        const psbt = psbtOf(sources, outputs, lockTime);
        const held = [own, sister].flatMap((key) => heldBy(key, psbt, coins, outputs));
        if (held.length < 2) return;
        counts.both += 1;
        // Together they showed all that leaves both.
        const ours = within(everyScript);
        const coinsOfOurs = new Set([
          ...coins.map((real) => real.coin).filter(ours),
          ...held.flatMap(({ shared }) => shared),
        ]);
        expect(held.reduce((total, { outflow }) => total + outflow, 0n)).toBeGreaterThanOrEqual(
          sum([...coinsOfOurs]) - sum(outputs.filter(ours)),
        );
      }),
      { numRuns: atLength(300, 1000), seed: 15 },
    );
    expect(counts.held).toBeGreaterThan(atLength(60, 200));
    expect(counts.both).toBeGreaterThan(atLength(5, 20));
    expect(counts.signed).toBeGreaterThan(counts.held);
    expect(counts.refused).toBeGreaterThan(atLength(60, 200));
  });
});

/**
 * As `psbtOf`, of many inputs or outputs: the library compares each input with all others.
 * @param kind Answers a number for each that tells it from others: a part of the input's id, and the output's value.
 */
function longPsbt(inputs: number, outputs: number, kind: (index: number) => number): Uint8Array {
  const transaction = new bitcoinjs.Transaction();
  for (let index = 0; index < inputs; index += 1) {
    transaction.addInput(new Uint8Array(32).fill(kind(index)), index);
  }
  const script = scriptOf(own.address('P2TR'));
  for (let index = 0; index < outputs; index += 1) {
    transaction.addOutput(scriptOf(merchant.address('P2TR')), BigInt(outputs === 1 ? 1 : kind(index)));
  }
  const unsigned = transaction.toBuffer();
  const size = Buffer.of(0xfd, unsigned.length & 0xff, unsigned.length >> 8);
  const value = Buffer.alloc(8);
  value.writeBigUInt64LE(oneBtc);
  // An input's map: what it spends. An output's: nothing.
  const spent = Buffer.concat([Buffer.of(1, 1, 43), value, Buffer.of(34), script, Buffer.of(0)]);
  const end = Buffer.of(0);
  return Buffer.concat([
    Buffer.from('70736274ff0100', 'hex'),
    size,
    unsigned,
    end,
    ...Array.from({ length: inputs }, () => spent),
    ...Array.from({ length: outputs }, () => end),
  ]);
}

describe('lists are complete', () => {
  const small = 10_000n;

  test('ten receivers are named, and more are counted, with what they get in all', () => {
    const paid = (count: number): string => {
      const targets = Array.from({ length: count }, (_, index) => pay(keyOf(index + 1), 'P2WPKH', small));
      return open(psbtOf([{ coin: coin(own, 'P2WPKH', oneBtc) }], targets)).describe().title;
    };
    for (let index = 0; index < 10; index += 1)
      expect(paid(10)).toContain(keyOf(index + 1).address('P2WPKH'));
    expect(paid(11)).toBe(
      'Send 0.0011 BTC to 11 outputs that do not come back: 1 BTC leave their wallet or key, the fee included',
    );
  });

  test.each(['inputs', 'outputs'] as const)(
    '%s beyond what is shown are counted and hashed, and are in the facts',
    (list) => {
      const count = mostParts + 5;
      const described = (different: number): Opened =>
        list === 'inputs'
          ? open(longPsbt(count, 1, (index) => (index === different ? 2 : 1)))
          : open(longPsbt(1, count, (index) => (index === different ? 2 : 1)));
      const [first, second] = [described(count - 1), described(count - 2)];
      expect(first.describe().warnings).toContain(
        `Not shown one by one: 5 more ${list}. The totals count them.`,
      );
      expect(first.describe()).not.toEqual(second.describe());
      expect(first.describe().lines).toContainEqual({
        label: `More ${list}`,
        value: expect.stringMatching(/^5,.* SHA-256 [0-9a-f]{64}$/) as string,
      });
      expect(factOf(first)[list]).toHaveLength(count);
      expect(factOf(first).fee).toBe(
        list === 'inputs' ? BigInt(count) * oneBtc - 1n : oneBtc - BigInt(count) - 1n,
      );
    },
  );
});

describe('every output says what it does', () => {
  const from = (targets: readonly Target[]) =>
    open(psbtOf([{ coin: coin(own, 'P2WPKH', oneBtc) }], targets)).describe();

  test('data that burns bitcoins says how many', () => {
    const { title, parts, warnings } = from([
      { script: dataScript('x'), value: 50_000_000n },
      pay(own, 'P2WPKH', 49_000_000n),
    ]);
    expect(title).toBe(
      'Burn 0.5 BTC, send back to your own addresses and write data into the chain: 0.51 BTC leave their wallet or key, the fee included',
    );
    expect(parts[0]).toEqual({
      title: 'Burn 0.5 BTC, and write data into the chain',
      lines: [{ label: 'Data', value: toHex(dataScript('x')) }],
    });
    expect(warnings).toContain('0.5 BTC are burned: no key can ever spend them.');
  });

  test('data that burns nothing', () => {
    const { title, parts } = from([{ script: dataScript('x'), value: 0n }, pay(own, 'P2WPKH', 99_990_000n)]);
    expect(title).toBe(
      'Send back to your own addresses and write data into the chain: 0.0001 BTC leave their wallet or key, the fee included',
    );
    expect(parts[0]?.title).toBe('Write data into the chain');
  });

  test('a script without an address is shown itself', () => {
    const { title, parts, warnings } = from([{ script: Uint8Array.of(0x51), value: 99_990_000n }]);
    expect(title).toContain('Send 0.9999 BTC to a script without an address');
    expect(parts[0]?.lines).toEqual([{ label: 'Script', value: '51' }]);
    expect(warnings).toContain(
      'Scripts of a kind that this vault does not know get 1 output. It does not know who can spend that.',
    );
  });

  test('a fee of more than a quarter, also where all goes back', () => {
    const warning = 'The fee is more than a quarter of what is sent.';
    expect(from([pay(merchant, 'P2WPKH', 70_000_000n)]).warnings).toContain(warning);
    expect(from([pay(own, 'P2WPKH', 70_000_000n)]).warnings).toContain(warning);
    expect(from([pay(own, 'P2WPKH', 90_000_000n)]).warnings).not.toContain(warning);
  });

  test.each([
    [0xffffffff, 800_000, 'block 800000; it has no effect, because all inputs are final', ''],
    [0xfffffffe, 800_000, 'block 800000', ', sequence 4294967294'],
    [
      0xfffffffd,
      1_700_000_000,
      '2023-11-14T22:13:20.000Z',
      ', sequence 4294967293 (can be replaced until it is confirmed)',
    ],
    [
      144,
      1,
      'block 1',
      ', sequence 144 (can be replaced until it is confirmed), not within 144 blocks of its confirmation',
    ],
    [0x400002, 1, 'block 1', ', not within 1024 seconds of its confirmation'],
  ])('sequence %d and lock time %d', (sequence, lockTime, after, text) => {
    const psbt = psbtOf(
      [{ coin: coin(own, 'P2WPKH', oneBtc), sequence }],
      [pay(merchant, 'P2TR', 90_000_000n)],
      lockTime,
    );
    const { lines } = open(psbt).describe();
    expect(lines).toContainEqual({ label: 'Only after', value: after });
    expect(lines.find(({ label }) => label === 'Input 1')?.value).toMatch(
      new RegExp(`${text.replace(/[()]/g, '\\$&')}$`),
    );
  });
});

describe('hashes that are signed as raw payloads', () => {
  const inPayload = (bytes: Uint8Array, hashFunction = 'HASH_FUNCTION_SHA256' as const) =>
    bitcoin.inPayload(bytes, hashFunction, contextOf(own.publicKey)).facts['bitcoin.tx']?.();

  test('what a transaction’s signature covers, hashed once, is not known to be none', () => {
    // The digest that Bitcoin signs is hashed twice: these 32 bytes are in between.
    const between = sha256(Buffer.from('any transaction'));
    expect(inPayload(between)).toBeInstanceOf(Unknown);
    expect(inPayload(between.subarray(1))).toBeUndefined();
    expect(inPayload(Buffer.from('any transaction'))).toBeUndefined();
  });

  test('what a Taproot signature covers', () => {
    const tag = sha256(Buffer.from('TapSighash'));
    const bytes = Buffer.concat([tag, tag, Buffer.from('any transaction')]);
    expect(sha256(bytes)).toEqual(taggedHash('TapSighash', Buffer.from('any transaction')));
    expect(inPayload(bytes)).toBeInstanceOf(Unknown);
    expect(inPayload(Buffer.concat([tag, bytes.subarray(64)]))).toBeUndefined();
  });
});

describe('the law of one reading', () => {
  const options = { ...bitcoinLaw, reads: 1200, tries: 20_000, seed: 15 };

  test('transactions that are shown alike, or give policies the same facts, do the same', () => {
    const reads = atLength(600, options.reads);
    const { violations, read } = violationsOf({ ...options, reads });
    expect(violations).toEqual([]);
    expect(read).toBe(reads);
  });

  test.each(['Input 1', 'Only after', 'Version'])('is broken by a description without “%s”', (left) => {
    const { violations } = violationsOf({
      ...options,
      read(payload) {
        const reading = bitcoinLaw.read(payload);
        if (reading === undefined) return undefined;
        const lines = reading.description.lines.filter(({ label }) => label !== left);
        return { ...reading, description: { ...reading.description, lines } };
      },
    });
    expect(violations[0]).toContain('the same description of different effects');
  });
});

/** A key signs on every network, whichever of its addresses a request names: facts must not depend on that choice. */
describe('addresses in facts', () => {
  const named = (network: 'MAINNET' | 'TESTNET' | 'REGTEST') =>
    encodeAddress(`ADDRESS_FORMAT_BITCOIN_${network}_P2WPKH`, 'CURVE_SECP256K1', own.publicKey);
  const psbt = psbtOf(
    [{ coin: coinOf(scriptOf(own.address('P2WPKH')), 100_000n), more: {} }],
    [{ script: scriptOf(stranger.address('P2WPKH')), value: 99_000n }],
  );
  /** @param format Undefined where the public key names the key. */
  const receiver = (
    format: 'MAINNET' | 'TESTNET' | 'REGTEST' | undefined,
    listed: readonly string[],
  ): unknown => {
    const opened = openBitcoin(new Uint8Array(psbt.toBuffer()), {
      key: {
        curve: 'CURVE_SECP256K1',
        publicKey: own.publicKey,
        format: format && `ADDRESS_FORMAT_BITCOIN_${format}_P2WPKH`,
      },
      interfaces: { abi: () => undefined, idl: () => undefined },
      ours: (address) => (listed.includes(address) ? holderNamed('Savings') : undefined),
    });
    return opened.facts['bitcoin.tx']?.();
  };
  const isOn = (start: string) => ({ outputs: [{ address: expect.stringMatching(`^${start}`) as string }] });

  test.each(['MAINNET', 'TESTNET', 'REGTEST', undefined] as const)(
    'are those of mainnet where the key has an account there, if %s names it',
    (format) => {
      const listed = [named('MAINNET'), named('TESTNET'), named('REGTEST')];
      expect(receiver(format, listed)).toMatchObject(isOn('bc1'));
    },
  );

  test('are those of a test network where the key has no other account', () => {
    expect(receiver('TESTNET', [named('TESTNET')])).toMatchObject(isOn('tb1'));
    expect(receiver('REGTEST', [named('REGTEST')])).toMatchObject(isOn('bcrt1'));
  });

  test('are those of its test network also where the public key names it', () => {
    const byHash = encodeAddress('ADDRESS_FORMAT_BITCOIN_TESTNET_P2PKH', 'CURVE_SECP256K1', own.publicKey);
    expect(receiver(undefined, [named('TESTNET')])).toMatchObject(isOn('tb1'));
    expect(receiver(undefined, [named('REGTEST')])).toMatchObject(isOn('bcrt1'));
    expect(receiver(undefined, [byHash])).toMatchObject(isOn('tb1'));
    expect(receiver(undefined, [])).toMatchObject(isOn('bc1'));
  });

  test('are the same for each name of a key that has accounts on two test networks', () => {
    const listed = [named('REGTEST'), named('TESTNET')];
    for (const format of ['TESTNET', 'REGTEST', undefined] as const) {
      expect(receiver(format, listed)).toMatchObject(isOn('tb1'));
    }
  });
});
