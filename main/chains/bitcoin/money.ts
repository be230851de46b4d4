/**
 * Finds whose money a transaction moves: which inputs and outputs are ours, the total that leaves the wallets and private
 * keys that pay, the fee, and which of these are known. "Ours" means the key that signs, and the organization's keys by its
 * tables. That an input has an address never makes the address ours.
 */
import { toHex } from '../../crypto/encodings.ts';
import { Unknown } from '../../policy/language/types.ts';
import type { Context, Holder } from '../chain.ts';
import { coversClaims, type Locks } from './faults.ts';
import type { BitcoinInput, BitcoinTransaction } from './read.ts';
import { addressOf, allNetworks, type BitcoinNetwork, type ownScripts } from './scripts.ts';
import { sum, type Output } from './wire.ts';

/** The holder of one of our keys; `unlisted` for the key that signs, where no account lists the address. */
export type Owner = Holder | 'unlisted';

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
  /** By how much the inputs of each of our wallets and private keys are worth more than the outputs to the same one. */
  readonly outflow: bigint | Unknown;
}

interface Around {
  readonly locks: Locks;
  /** Scripts of the key that signs. */
  readonly own: ReturnType<typeof ownScripts> | undefined;
  readonly network: BitcoinNetwork;
  readonly ours: Context['ours'];
  readonly known: Context['known'];
}

export function moneyOf(
  transaction: BitcoinTransaction,
  { locks, own, network, ours, known }: Around,
): Money {
  const outputOf = ({ value, script }: Output, signed = false): OwnedOutput => {
    const found = addressOf(script, network);
    const isKeys = signed || own?.has(toHex(script)) === true;
    const owner = holderOf(script, ours) ?? (isKeys ? 'unlisted' : undefined);
    return {
      value,
      script,
      address: found?.address ?? '',
      kind: found?.kind ?? '',
      owner,
      known: found && owner === undefined ? known?.(found.address) : undefined,
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
function holderOf(script: Uint8Array, ours: Context['ours']): Holder | undefined {
  for (const network of allNetworks) {
    const found = addressOf(script, network);
    const holder = found && ours(found.address);
    if (holder !== undefined) return holder;
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
    outflow: lost(spent, outputs),
  };
}

export const worth = (outputs: readonly OwnedOutput[]): bigint => sum(outputs.map(({ value }) => value));

const idOf = ({ owner }: OwnedOutput): string | undefined => (owner === 'unlisted' ? owner : owner?.id);

/**
 * A gain of one owner never makes up for the loss of another: the sender may have the other's key as well, or get it later, by an
 * import or an export. What no account lists is an owner of its own. It is ours only in requests of the signing key, and two keys
 * could otherwise each count the gain of a third.
 */
function lost(spent: readonly OwnedOutput[], outputs: readonly OwnedOutput[]): bigint {
  const losses = new Map<string, bigint>();
  for (const output of spent) {
    const id = idOf(output);
    if (id !== undefined) losses.set(id, (losses.get(id) ?? 0n) + output.value);
  }
  for (const output of outputs) {
    const id = idOf(output) ?? '';
    const loss = losses.get(id);
    if (loss !== undefined) losses.set(id, loss - output.value);
  }
  return [...losses.values()].reduce((total, loss) => (loss > 0n ? total + loss : total), 0n);
}

/** @returns the outputs that come back to one of those who pay. */
export function changeOf({ inputs, outputs }: Pick<Money, 'inputs' | 'outputs'>): ReadonlySet<OwnedOutput> {
  const payers = new Set(
    inputs.flatMap(({ spent }) => (spent instanceof Unknown ? [] : (idOf(spent) ?? []))),
  );
  return new Set(outputs.filter((output) => payers.has(idOf(output) ?? '')));
}
