/** Bitcoin's signatures, over the model that was read. Each covers the whole transaction: all inputs and all outputs. */
import { concatBytes, joinBytes } from '../../crypto/bytes.ts';
import { curves, signTaproot, type Signature } from '../../crypto/keys/curves.ts';
import { toHex } from '../../crypto/encodings.ts';
import { sha256, taggedHash } from '../../crypto/hashes.ts';
import { once } from '../../lib/once.ts';
import { unreadable } from '../reading.ts';
import { faultsOf, sighash, type Locks } from './faults.ts';
import { globals, inputFields, psbtBytes, type Fields } from './psbt.ts';
import type { BitcoinInput, BitcoinTransaction, ReadBitcoin, Spent } from './read.ts';
import type { Lock } from './scripts.ts';
import { doubleSha256, outpointBytes, outputBytes, sized, transactionBytes, uint32, uint64 } from './wire.ts';

/**
 * Signs every input that has a lock, unless the transaction has a fault.
 * @returns the PSBT with the signatures, not finalized. All other fields stay as they are.
 */
export function signBitcoin(
  { psbt, transaction }: ReadBitcoin,
  locks: Locks,
  privateKey: Uint8Array,
  publicKey: Uint8Array,
): Uint8Array {
  const [fault] = faultsOf(transaction, locks);
  if (fault !== undefined) unreadable(fault);
  const digests = digestsOf(transaction);
  const sign = (
    lock: Lock,
    index: number,
    input: BitcoinInput,
  ): readonly [key: string, value: Uint8Array] => {
    if (lock.kind === 'taproot') {
      const type = input.sighashType ?? sighash.default;
      const { r, s } = signTaproot(privateKey, digests.taproot(index, type), lock.scripts);
      const suffix = type === sighash.default ? [] : [type];
      return [inputFields.taprootSignature, concatBytes(Buffer.from(r + s, 'hex'), Uint8Array.from(suffix))];
    }
    const signature = curves.CURVE_SECP256K1.sign(privateKey, digests[lock.kind](index, lock.code));
    return [
      `${inputFields.signature}${toHex(publicKey)}`,
      concatBytes(derOf(signature), Uint8Array.of(sighash.all)),
    ];
  };
  const inputs = psbt.inputs.map((fields, index): Fields => {
    const [lock, input] = [locks[index], transaction.inputs[index]];
    return lock === undefined || input === undefined
      ? fields
      : new Map([...fields, ...Object.entries(lock.fields), sign(lock, index, input)]);
  });
  return psbtBytes({ ...psbt, global: unmodifiable(psbt.global), inputs });
}

/** The bits that allow other programs to add inputs and outputs. */
const mayAdd = 0b11;

/** Says that nothing may be added, as the signatures cover everything (BIP-370). */
function unmodifiable(global: Fields): Fields {
  const [flags] = global.get(globals.modifiable) ?? [];
  return flags === undefined
    ? global
    : new Map([...global, [globals.modifiable, Uint8Array.of(flags & ~mayAdd)]]);
}

interface Digests {
  readonly legacy: (index: number, code: Uint8Array) => Uint8Array;
  /** BIP-143: covers the value of its own input alone. */
  readonly witness: (index: number, code: Uint8Array) => Uint8Array;
  /** BIP-341, by the key: covers the value and the script of every spent output. */
  readonly taproot: (index: number, type: number) => Uint8Array;
}

/** Digests by input. Hashes that all inputs share are computed once. */
function digestsOf(transaction: BitcoinTransaction): Digests {
  const { inputs, outputs } = transaction;
  const version = uint32(transaction.version);
  const lockTime = uint32(transaction.lockTime);
  const hashed = (parts: readonly Uint8Array[]): Uint8Array => sha256(joinBytes(parts));
  const outpoints = hashed(inputs.map(outpointBytes));
  const sequences = hashed(inputs.map(({ sequence }) => uint32(sequence)));
  const paid = hashed(outputs.map(outputBytes));
  const spent = once(() => inputs.map(spentBy));
  const values = once(() => hashed(spent().map(({ value }) => uint64(value))));
  const scripts = once(() => hashed(spent().map(({ script }) => sized(script))));
  return {
    legacy: (index, code) =>
      doubleSha256(
        concatBytes(
          transactionBytes(transaction, (at) => (at === index ? code : undefined)),
          uint32(sighash.all),
        ),
      ),
    witness(index, code) {
      const input = inputs[index] ?? unreadable('there is no such input');
      return doubleSha256(
        concatBytes(
          version,
          sha256(outpoints),
          sha256(sequences),
          outpointBytes(input),
          sized(code),
          uint64(spentBy(input).value),
          uint32(input.sequence),
          sha256(paid),
          lockTime,
          uint32(sighash.all),
        ),
      );
    },
    taproot: (index, type) =>
      taggedHash(
        'TapSighash',
        concatBytes(
          // The epoch, and the type.
          Uint8Array.of(0, type),
          version,
          lockTime,
          outpoints,
          values(),
          scripts(),
          sequences,
          paid,
          // Neither a script nor an annex.
          Uint8Array.of(0),
          uint32(index),
        ),
      ),
  };
}

const spentBy = ({ spent }: BitcoinInput): Spent =>
  spent ?? unreadable('an input does not say what it spends');

/** Bitcoin's form of an ECDSA signature: two integers, each without zeros before it but one where it would be negative. */
function derOf({ r, s }: Signature): Uint8Array {
  const body = concatBytes(...[r, s].map(derInteger));
  return concatBytes(Uint8Array.of(0x30, body.length), body);
}

function derInteger(hex: string): Uint8Array {
  const digits = hex.replace(/^(00)+/, '');
  const bytes = Buffer.from(/^[89a-f]/.test(digits) ? `00${digits}` : digits, 'hex');
  return concatBytes(Uint8Array.of(0x02, bytes.length), bytes);
}
