/** The call that a transaction makes. */
import type { Interfaces } from '../interfaces.ts';
import { readCall, type Call } from './abi.ts';
import type { EthereumTransaction } from './read.ts';
import { readStandardCall } from './standard-calls.ts';

type CallTransaction = Pick<EthereumTransaction, 'to' | 'data'>;

/** Reads the call by the interface that is kept of its contract. */
export const keptCallOf = ({ to, data }: CallTransaction, interfaces: Interfaces): Call | undefined => {
  const abi = interfaces.abi(to);
  return abi && readCall(abi, data);
};

/** Reads the call by the interface that is kept, or as standards have it. */
export const callOf = (transaction: CallTransaction, interfaces: Interfaces): Call | undefined =>
  keptCallOf(transaction, interfaces) ?? readStandardCall(transaction.data);
