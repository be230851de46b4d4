/**
 * Reasons not to sign. A signature before Taproot covers at most the value of its own input: a PSBT that lies about another
 * input pays the difference as a fee. The previous transaction cannot lie, because its hash is its id.
 */
import type { BitcoinTransaction } from './read.ts';
import type { Lock } from './scripts.ts';
import { sum } from './wire.ts';

/** The types of signatures that cover the whole transaction. Taproot has two, of which one needs no byte of its own. */
export const sighash = { default: 0, all: 1 } as const;

/** For each input, how the key unlocks it; undefined where it does not. */
export type Locks = readonly (Lock | undefined)[];

export const isSigned = (locks: Locks): boolean => locks.some((lock) => lock !== undefined);

/**
 * True if a false claim about any input makes every signature invalid. Taproot's signatures cover all claims
 * (BIP-341).
 */
export const coversClaims = (locks: Locks): boolean =>
  isSigned(locks) && locks.every((lock) => lock === undefined || lock.kind === 'taproot');

/** @returns each fault as a sentence without its end. */
export function faultsOf({ inputs, outputs }: BitcoinTransaction, locks: Locks): string[] {
  const values = inputs.flatMap(({ spent }) => (spent === undefined ? [] : [spent.value]));
  const covered = !isSigned(locks) || coversClaims(locks);
  const faults = inputs.flatMap(({ spent, sighashType }, index) => {
    const name = `input ${String(index + 1)}`;
    if (spent === undefined) return [`${name} does not say what it spends`];
    if (!spent.proven && !covered) {
      return [
        `${name} has no non_witness_utxo: the transaction that it spends from is needed to check what it is worth`,
      ];
    }
    return coversAll(locks[index], sighashType)
      ? []
      : [
          `${name} asks for a signature that does not cover the whole transaction: its type is ${String(sighashType)}`,
        ];
  });
  if (values.length === inputs.length && sum(outputs.map(({ value }) => value)) > sum(values)) {
    faults.push('its outputs are worth more than its inputs');
  }
  if (!isSigned(locks)) faults.push('none of its inputs is locked with this key');
  return faults;
}

const coversAll = (lock: Lock | undefined, type: number | undefined): boolean =>
  lock === undefined ||
  type === undefined ||
  type === sighash.all ||
  (lock.kind === 'taproot' && type === sighash.default);
