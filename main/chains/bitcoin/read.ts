/**
 * Bitcoin's transactions as PSBTs, versions 0 and 2: the one model that is shown, decided on and signed. It says of each
 * input whether its previous output is proven, by the transaction whose hash the input names, or only claimed.
 */
import { toHex } from '../../crypto/encodings.ts';
import { attempt, unreadable, type Cursor, type Read } from '../reading.ts';
import { refused } from '../chain.ts';
import {
  globals,
  inputFields,
  outputFields,
  psbtBytes,
  readField,
  readPsbt,
  type Fields,
  type Psbt,
} from './psbt.ts';
import {
  finalSequence,
  outpointBytes,
  readOutput,
  readPrevious,
  readUint32,
  readValue,
  transactionBytes,
  type Output,
  type WireInput,
  type WireTransaction,
} from './wire.ts';

/** The output that an input spends. */
export interface Spent extends Output {
  /** By the previous transaction. Else the PSBT claims it. */
  readonly proven: boolean;
}

export interface BitcoinInput extends WireInput {
  /** Undefined where the PSBT does not say. */
  readonly spent: Spent | undefined;
  /** Another program has finished it. */
  readonly final: boolean;
  readonly sighashType: number | undefined;
  // Claims about the script of the spent output. They count only where the script commits to them.
  readonly redeemScript: Uint8Array | undefined;
  readonly witnessScript: Uint8Array | undefined;
  readonly taprootKey: Uint8Array | undefined;
  readonly taprootScripts: Uint8Array | undefined;
}

export interface BitcoinTransaction extends WireTransaction {
  readonly inputs: readonly BitcoinInput[];
}

export interface ReadBitcoin {
  readonly psbt: Psbt;
  readonly transaction: BitcoinTransaction;
}

/** Nodes relay no transaction with more than these, and each input is looked up. */
const mostInputsAndOutputs = 2000;

export function readBitcoin(bytes: Uint8Array): Read<ReadBitcoin> {
  const read = attempt(() => {
    const psbt = readPsbt(bytes);
    const unsigned = psbt.version === 0 ? psbt.unsigned : composed(psbt);
    const count = unsigned.inputs.length + unsigned.outputs.length;
    if (count > mostInputsAndOutputs) {
      unreadable(
        `it has ${String(count)} inputs and outputs, and at most ${String(mostInputsAndOutputs)} are read`,
      );
    }
    const inputs = unsigned.inputs.map((input, index) =>
      withFields(input, psbt.inputs[index] ?? new Map<string, Uint8Array>(), `input ${String(index + 1)}`),
    );
    if (new Set(inputs.map((input) => toHex(outpointBytes(input)))).size !== inputs.length) {
      unreadable('two inputs spend the same output');
    }
    const transaction = { ...unsigned, inputs };
    checkSame(psbt, transaction, bytes);
    return { psbt, transaction };
  });
  return read.ok ? read : refused(`expected a Bitcoin transaction as a PSBT: ${read.problem}`);
}

/** Writes the model once more and compares it with the bytes. */
function checkSame(psbt: Psbt, transaction: BitcoinTransaction, bytes: Uint8Array): void {
  const unsigned = psbt.global.get(globals.unsigned);
  if (
    Buffer.compare(psbtBytes(psbt), bytes) !== 0 ||
    (unsigned !== undefined && Buffer.compare(transactionBytes(transaction), unsigned) !== 0)
  ) {
    unreadable('it does not come out the same when it is written again');
  }
}

/** Composes the transaction from the fields of version 2. */
function composed({ global, inputs, outputs }: Psbt): WireTransaction {
  return {
    version: readField(global, globals.transactionVersion, 'version of its transaction', readUint32),
    inputs: inputs.map((fields) => ({
      txId: readField(fields, inputFields.txId, 'transaction that an input spends from', (cursor) =>
        cursor.take(32),
      ),
      vout: readField(fields, inputFields.vout, 'output that an input spends', readUint32),
      sequence: optional(fields, inputFields.sequence, 'sequence', readUint32) ?? finalSequence,
    })),
    outputs: outputs.map((fields) => ({
      value: readField(fields, outputFields.value, 'value of an output', readValue),
      script: readField(fields, outputFields.script, 'script of an output', (cursor) => cursor.rest()),
    })),
    lockTime: lockTimeOf(global, inputs),
  };
}

/** The least lock time that is a time and not a height. */
export const firstTime = 500_000_000;

/** Takes the latest height that inputs ask for, or the latest time where they do not all take a height (BIP-370). */
function lockTimeOf(global: Fields, inputs: readonly Fields[]): number {
  const asked = inputs
    .map((fields) => ({
      height: optional(fields, inputFields.lockHeight, 'height of an input', readUint32),
      time: optional(fields, inputFields.lockTime, 'time of an input', readUint32),
    }))
    .filter(({ height, time }) => height !== undefined || time !== undefined);
  if (
    asked.some(({ height = 1, time = firstTime }) => height === 0 || height >= firstTime || time < firstTime)
  ) {
    unreadable('an input asks for a lock time that is none');
  }
  if (asked.length === 0) return optional(global, globals.fallbackLockTime, 'lock time', readUint32) ?? 0;
  const [heights, times] = (['height', 'time'] as const).map((kind) =>
    asked.flatMap(({ [kind]: value }) => (value === undefined ? [] : [value])),
  );
  const shared = [heights, times].find((values) => values?.length === asked.length);
  return shared === undefined
    ? unreadable('some inputs ask for a height, and others for a time')
    : shared.reduce((latest, value) => Math.max(latest, value));
}

function withFields(input: WireInput, fields: Fields, name: string): BitcoinInput {
  const filled = (key: string): boolean => (fields.get(key)?.length ?? 0) > 0;
  return {
    ...input,
    spent: spentBy(input, fields, name),
    final: filled(inputFields.finalScript) || filled(inputFields.finalWitness),
    sighashType: optional(fields, inputFields.sighashType, 'sighash type', readUint32),
    redeemScript: fields.get(inputFields.redeemScript),
    witnessScript: fields.get(inputFields.witnessScript),
    taprootKey: fields.get(inputFields.taprootKey),
    taprootScripts: fields.get(inputFields.taprootScripts),
  };
}

function spentBy({ txId, vout }: WireInput, fields: Fields, name: string): Spent | undefined {
  const claimed = optional(fields, inputFields.spent, 'witness_utxo', readOutput);
  const previous = fields.get(inputFields.previous);
  if (previous === undefined) return claimed && { ...claimed, proven: false };
  const { txId: proven, outputs } = readPrevious(previous);
  if (toHex(proven) !== toHex(txId)) {
    unreadable(`the non_witness_utxo of ${name} is not the transaction that the input spends from`);
  }
  const output = outputs[vout];
  if (output === undefined) unreadable(`${name} spends an output that its transaction does not have`);
  if (
    claimed !== undefined &&
    (claimed.value !== output.value || toHex(claimed.script) !== toHex(output.script))
  ) {
    unreadable(`the witness_utxo of ${name} differs from its non_witness_utxo`);
  }
  return { ...output, proven: true };
}

const optional = <T>(fields: Fields, key: string, what: string, read: (cursor: Cursor) => T): T | undefined =>
  fields.has(key) ? readField(fields, key, what, read) : undefined;
