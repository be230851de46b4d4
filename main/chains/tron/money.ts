/** The TRX that leaves the account, at most, by the network’s prices. */
import { Unknown } from '../../policy/language/types.ts';
import { prices, type Cost } from './contracts.ts';
import { bytesField } from './protobuf.ts';
import type { ReadTron, TronContract, TronTransaction } from './read.ts';

export interface TronMoney {
  readonly costs: readonly Cost[];
  /** In sun. */
  readonly maxFee: bigint | Unknown;
  readonly outflow: bigint | Unknown;
}

/** Keys of one permission, and what each adds to the transaction. */
const mostSignatures = 5n;
const signatureBytes = 67n;
/** `MAX_RESULT_SIZE_IN_TX`, which nodes count for the result of each contract. */
const resultBytes = 64n;

export function moneyOf({ bytes, transaction }: ReadTron): TronMoney {
  if (!transaction.ok) {
    const unknown = new Unknown(`the transaction cannot be read: ${transaction.problem}`);
    return { costs: [], maxFee: unknown, outflow: unknown };
  }
  const { contracts } = transaction.value;
  const unread = contracts.find(({ known }) => !known.ok);
  const costs = costsOf(bytes, transaction.value);
  const maxFee =
    unread === undefined ? costs.reduce((sum, { amount }) => sum + amount, 0n) : unknownOf(unread);
  return { costs, maxFee, outflow: contracts.reduce(withContract, maxFee) };
}

function withContract(sum: bigint | Unknown, contract: TronContract): bigint | Unknown {
  if (sum instanceof Unknown) return sum;
  if (!contract.known.ok) return unknownOf(contract);
  const { out } = contract.known.value;
  return out instanceof Unknown ? out : sum + out;
}

const unknownOf = ({ known }: TronContract): Unknown =>
  new Unknown(`the contract cannot be read: ${known.ok ? '' : known.problem}`);

function costsOf(bytes: Uint8Array, { raw, contracts }: TronTransaction): readonly Cost[] {
  const size =
    BigInt(bytesField(1, bytes).length) +
    mostSignatures * signatureBytes +
    BigInt(contracts.length) * resultBytes;
  const known = contracts.flatMap((contract) => (contract.known.ok ? [contract.known.value] : []));
  const each = BigInt(contracts.length);
  return [
    { what: 'for bandwidth', amount: size * prices.bandwidth },
    ...(raw.data === '' ? [] : [{ what: 'for the memo', amount: prices.memo * each }]),
    { what: 'if several keys sign', amount: prices.signatures * each },
    ...known.flatMap(({ costs }) => costs),
    ...(known.some(({ runs }) => runs) ? [{ what: 'for energy, by its limit', amount: raw.fee_limit }] : []),
  ];
}
