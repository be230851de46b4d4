/** The law of one reading for Bitcoin: bitcoinjs-lib tells the effects, and of PSBTs of version 2 another library does. */
import { Transaction as ScureTransaction } from '@scure/btc-signer';
import { _DebugPSBT } from '@scure/btc-signer/psbt.js';
import { CompactSizeLen } from '@scure/btc-signer/script.js';
import * as bitcoinjs from 'bitcoinjs-lib';
import { bitcoin } from '../../main/chains/bitcoin/chain.ts';
import { toHex } from '../../main/crypto/encodings.ts';
import { coinOf, contextOf, dataScript, keyOf, kinds, psbtOf, regtest, scriptOf } from './bitcoin-psbts.ts';
import { mutateBytes, type LawOptions, type Random } from './law.ts';

const own = keyOf(0x21);
const sister = keyOf(0x22);
const stranger = keyOf(0x23);
const context = contextOf(own.publicKey, { [sister.address('P2WPKH')]: 'Savings' });
const data = dataScript('hello');

function originals(): Uint8Array[] {
  const all = kinds.map((kind) => ({ coin: coinOf(scriptOf(own.address(kind)), 10_000_000n) }));
  const theirs = { coin: coinOf(scriptOf(stranger.address('P2WPKH')), 1_000n) };
  const taproot = { coin: coinOf(scriptOf(own.address('P2TR')), 5_000_000n), proven: false };
  const targets = [
    { script: scriptOf(stranger.address('P2TR')), value: 1_000_000n },
    { script: scriptOf(sister.address('P2WPKH')), value: 2_000_000n },
    { script: scriptOf(own.address('P2SH')), value: 300_000n },
    { script: data, value: 10n },
  ];
  const first = [
    psbtOf(all, targets),
    psbtOf([...all.slice(2), theirs], targets),
    psbtOf([taproot], targets),
  ];
  const bytes = first.map((psbt) => new Uint8Array(psbt.toBuffer()));
  return [...bytes, ...bytes.map((each) => ScureTransaction.fromPSBT(each).toPSBT(2))];
}

/** The transaction that a PSBT is of. */
export const unsignedOf = (psbt: bitcoinjs.Psbt): bitcoinjs.Transaction =>
  (psbt.data.globalMap.unsignedTx as unknown as { readonly tx: bitcoinjs.Transaction }).tx;

const isSecond = (payload: Uint8Array): boolean => toHex(payload).includes('01fb0402000000');

/**
 * The fields that make up a transaction. For other fields, the library is stricter than a transaction needs.
 */
const fields = {
  global: ['03', '04', '05', 'fb'],
  input: ['0e', '0f', '10', '11', '12'],
  output: ['03', '04'],
} as const;

const only = <T>(map: Readonly<Record<string, T>>, keys: readonly string[]): Record<string, T> =>
  Object.fromEntries(Object.entries(map).filter(([key]) => keys.includes(key)));

/** The transaction that a signature would be for: its inputs, and through their ids what these are worth; its outputs. */
function effects(payload: Uint8Array): string {
  if (!isSecond(payload)) {
    const transaction = unsignedOf(bitcoinjs.Psbt.fromBuffer(Buffer.from(payload), { network: regtest }));
    return `${String(transaction.version)} ${transaction.toHex().slice(8)}`;
  }
  // The library's type has keys and values in one.
  const [global = {}, ...others] = _DebugPSBT.decode(payload).items as Record<string, Uint8Array>[];
  const inputs = CompactSizeLen.decode(global['04'] ?? new Uint8Array());
  // Of versions it takes few.
  const usual = { ...only(global, fields.global), '02': Uint8Array.of(2, 0, 0, 0) };
  const maps = others.map((map, index) => only(map, index < inputs ? fields.input : fields.output));
  const { unsignedTx } = ScureTransaction.fromPSBT(_DebugPSBT.encode({ items: [usual, ...maps] }));
  const version = Buffer.from(global['02'] ?? []).readUInt32LE();
  return `${String(version)} ${toHex(unsignedTx).slice(8)}`;
}

const numbers = [0, 1, 2, 0x3fffff, 499_999_999, 500_000_000, 0xfffffffd, 0xfffffffe, 0xffffffff];

/** Changes a field of the transaction, or of what is said of an input. */
function mutate(payload: Uint8Array, random: Random): Uint8Array {
  let psbt: bitcoinjs.Psbt;
  try {
    psbt = bitcoinjs.Psbt.fromBuffer(Buffer.from(payload), { network: regtest });
  } catch {
    return mutateBytes(payload, random);
  }
  const transaction = unsignedOf(psbt);
  const output = random.pick(transaction.outs);
  const index = random.below(transaction.ins.length);
  const spent = transaction.ins[index];
  const said = psbt.data.inputs[index] ?? {};
  const changes: readonly (() => void)[] = [
    () => (output.value = BigInt(random.below(3_000_000))),
    () => (output.script = random.pick([...transaction.outs.map(({ script }) => script), data])),
    () => (output.script = scriptOf(random.pick([own, sister, stranger]).address(random.pick(kinds)))),
    () => (output.script = mutateBytes(output.script, random)),
    () => (transaction.locktime = random.pick(numbers)),
    () => (transaction.version = random.pick([1, 2, 3, 0xffffffff])),
    () => spent && (spent.sequence = random.pick(numbers)),
    () => {
      transaction.outs.reverse();
    },
    () => {
      transaction.ins.reverse();
      psbt.data.inputs.reverse();
    },
    () => delete said.nonWitnessUtxo,
    () => (said.witnessUtxo = { script: output.script, value: BigInt(random.below(3_000_000)) }),
    () => (said.sighashType = random.below(4)),
  ];
  random.pick(changes)();
  return new Uint8Array(psbt.toBuffer());
}

export const bitcoinLaw: Pick<LawOptions, 'originals' | 'mutate' | 'read' | 'effects'> = {
  originals: originals(),
  mutate,
  read(payload) {
    const opened = bitcoin.open(payload, context);
    return opened.ok
      ? { description: opened.value.describe(), facts: opened.value.facts['bitcoin.tx']?.() }
      : undefined;
  },
  effects,
};
