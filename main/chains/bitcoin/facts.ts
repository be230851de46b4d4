/** Facts of Bitcoin's transactions for policies. */
import { toHex } from '../../crypto/encodings.ts';
import { Unknown } from '../../policy/language/types.ts';
import type { FactOf } from '../facts.ts';
import type { Money } from './money.ts';
import { firstTime } from './read.ts';
import { txIdOf } from './wire.ts';

export const bitcoinFact = ({ transaction, inputs, outputs, fee, outflow }: Money): FactOf<'bitcoin.tx'> => ({
  version: String(transaction.version),
  inputs: inputs.map(({ input, spent: place }) => ({
    tx_id: txIdOf(input),
    vout: input.vout,
    sequence: input.sequence,
    ...(place instanceof Unknown
      ? { value: place, address: place, ours: place }
      : { value: place.value, address: place.address, ours: place.owner !== undefined }),
  })),
  outputs: outputs.map(({ value, script, address, kind, owner }) => ({
    value,
    script_pubkey: toHex(script),
    address,
    address_type: kind,
    ours: owner !== undefined,
  })),
  locktime: {
    amount: transaction.lockTime,
    type: transaction.lockTime < firstTime ? 'Blocks' : 'Seconds',
  },
  fee,
  outflow,
});
