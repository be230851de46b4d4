/**
 * Finds whose money a transaction moves: which inputs and outputs are ours, the total that leaves our keys, the fee, and
 * which of these are known. "Ours" means the key that signs, and the organization's keys by its tables. That an input has
 * an address never makes the address ours.
 */
import { toHex } from '../../crypto/encodings.ts';
import { Unknown } from '../../policy/language/types.ts';
import type { Context } from '../chain.ts';
import { coversClaims, type Locks } from './faults.ts';
import type { BitcoinInput, BitcoinTransaction } from './read.ts';
import { addressOf, allNetworks, type BitcoinNetwork, type ownScripts } from './scripts.ts';
import { sum, type Output } from './wire.ts';

/** One of our keys. */
export interface Owner {
  /** Of its wallet or private key. Undefined for the key that signs, where no account lists the address. */
  readonly name: string | undefined;
  /** True if another may have a copy of the key. */
  readonly isImported: boolean;
}

export interface OwnedOutput extends Output {
  /** Empty for a script that has none. */
  readonly address: string;
  /** `p2pkh`, `p2sh`, `p2wpkh`, `p2wsh`, `p2tr`; empty for any other, which may have an address all the same. */
  readonly kind: string;
  /** Undefined where no key of ours is the owner. */
  readonly owner: Owner | undefined;
  /** The name of the address in the address book. */
  readonly known: string | undefined;
}

export interface Source {
  readonly input: BitcoinInput;
  /** True if the key signs the input. */
  readonly signed: boolean;
  /** The output that it spends. */
  readonly spent: OwnedOutput | Unknown;
}

export interface Money {
  readonly transaction: BitcoinTransaction;
  readonly inputs: readonly Source[];
  readonly outputs: readonly OwnedOutput[];
  readonly fee: bigint | Unknown;
  /** By how much our inputs are worth more than our outputs. */
  readonly outflow: bigint | Unknown;
}

interface Around {
  readonly locks: Locks;
  /** Scripts of the key that signs. */
  readonly own: ReturnType<typeof ownScripts> | undefined;
  readonly network: BitcoinNetwork;
  readonly ours: Context['ours'];
  readonly isImported: Context['isImported'];
  readonly known: Context['known'];
}

export function moneyOf(
  transaction: BitcoinTransaction,
  { locks, own, network, known, ...organization }: Around,
): Money {
  const outputOf = ({ value, script }: Output, signed = false): OwnedOutput => {
    const found = addressOf(script, network);
    const listed = ownerOf(script, organization);
    const isOwn = listed !== undefined || signed || own?.has(toHex(script)) === true;
    return {
      value,
      script,
      address: found?.address ?? '',
      kind: found?.kind ?? '',
      owner: isOwn ? (listed ?? { name: undefined, isImported: false }) : undefined,
      known: found && !isOwn ? known?.(found.address) : undefined,
    };
  };
  const claimed = coversClaims(locks);
  const inputs = transaction.inputs.map((input, index): Source => {
    const signed = locks[index] !== undefined;
    const { spent } = input;
    const output =
      spent !== undefined && (spent.proven || claimed)
        ? outputOf(spent, signed)
        : new Unknown(`nothing proves what input ${String(index + 1)} spends`);
    return { input, signed, spent: output };
  });
  const outputs = transaction.outputs.map((output) => outputOf(output));
  return { transaction, inputs, outputs, ...totalsOf(inputs, outputs) };
}

/** Looks for each network's address: a key is ours on all of them. */
function ownerOf(
  script: Uint8Array,
  { ours, isImported }: Pick<Context, 'ours' | 'isImported'>,
): Owner | undefined {
  for (const network of allNetworks) {
    const found = addressOf(script, network);
    const name = found && ours(found.address);
    if (name !== undefined) return { name, isImported: isImported?.(found?.address ?? '') === true };
  }
  return undefined;
}

function totalsOf(
  inputs: readonly Source[],
  outputs: readonly OwnedOutput[],
): Pick<Money, 'fee' | 'outflow'> {
  const spent: OwnedOutput[] = [];
  for (const { spent: place } of inputs) {
    if (place instanceof Unknown) return { fee: place, outflow: place };
    spent.push(place);
  }
  const fee = worth(spent) - worth(outputs);
  return {
    fee: fee < 0n ? new Unknown('its outputs are worth more than its inputs') : fee,
    outflow: lost(spent, outputs, isListed) + lost(spent, outputs, isUnlisted),
  };
}

export const worth = (outputs: readonly OwnedOutput[]): bigint => sum(outputs.map(({ value }) => value));

const isListed = ({ owner }: OwnedOutput): boolean => owner?.name !== undefined;
const isUnlisted = ({ owner }: OwnedOutput): boolean => owner !== undefined && owner.name === undefined;

/**
 * Counts addresses that accounts list apart from others of the signing key. The former are ours in every request, the latter
 * only in requests of that key. A gain of the former does not make up for a loss of the latter: two keys could otherwise
 * each count the gain of a third.
 */
function lost(
  inputs: readonly OwnedOutput[],
  outputs: readonly OwnedOutput[],
  ours: (output: OwnedOutput) => boolean,
): bigint {
  const loss = worth(inputs.filter(ours)) - worth(outputs.filter(ours));
  return loss > 0n ? loss : 0n;
}
