/** What policies may read of Bitcoin's transactions. */
import type { FactOf } from '../facts.ts';
import type { BitcoinTransaction } from './read.ts';

/** From here on a lock time is a time and no height. */
const firstTime = 500_000_000;

export const bitcoinFact = (transaction: BitcoinTransaction): FactOf<'bitcoin.tx'> => ({
  version: String(transaction.version),
  inputs: transaction.inputs.map(({ txId, vout, sequence }) => ({ tx_id: txId, vout, sequence })),
  outputs: transaction.outputs.map(({ value, script, address, addressType }) => ({
    value,
    script_pubkey: script,
    address,
    address_type: addressType,
  })),
  locktime: {
    amount: transaction.lockTime,
    type: transaction.lockTime < firstTime ? 'Blocks' : 'Seconds',
  },
  fee: transaction.fee,
});
