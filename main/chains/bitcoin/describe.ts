/** Bitcoin's transactions in plain language. */
import { decimal } from '../amounts.ts';
import { cut, line, mostParts, timeOf, type Description, type Part } from '../description.ts';
import type { BitcoinTransaction } from './read.ts';

const btcOf = (satoshis: bigint): string => `${decimal(satoshis, 8)} BTC`;

/** @param faults Why it is not signed. */
export function describeBitcoin(
  { inputs, outputs, fee, lockTime }: BitcoinTransaction,
  faults: readonly string[],
): Description {
  const own = new Set(inputs.map(({ address }) => address).filter((address) => address !== ''));
  const paid = outputs.filter(({ address }) => !own.has(address));
  const parts = outputs.slice(0, mostParts).map(({ value, address, script }): Part => {
    const data = script.startsWith('6a');
    const back = own.has(address) ? ', back to where it came from' : '';
    return {
      title: data
        ? 'Write data into the chain'
        : `Send ${btcOf(value)} to ${address === '' ? 'a script without an address' : address}${back}`,
      lines: data || address === '' ? [line('Script', cut(script))] : [],
    };
  });
  const total = paid.reduce((sum, { value }) => sum + value, 0n);
  const [only] = paid;
  return {
    title:
      paid.length === 1 && only !== undefined && only.address !== ''
        ? `Send ${btcOf(only.value)} to ${only.address}`
        : `Send ${btcOf(total)} to ${String(paid.length)} outputs`,
    lines: [
      line('Network', 'Bitcoin, or a test network of it'),
      line('Fee', fee === undefined ? 'Not known: it does not say what its inputs are worth' : btcOf(fee)),
      ...inputs
        .slice(0, mostParts)
        .map(({ txId, vout, value, address }, index) =>
          line(
            `Input ${String(index + 1)}`,
            `${value === undefined ? 'unknown' : btcOf(value)} from ${address === '' ? `${txId}:${String(vout)}` : address}`,
          ),
        ),
      ...(lockTime === 0
        ? []
        : [
            line(
              'Not before',
              lockTime < 500_000_000 ? `block ${String(lockTime)}` : timeOf(BigInt(lockTime) * 1000n),
            ),
          ]),
    ],
    parts,
    warnings: [
      ...faults.map((fault) => `It is not signed as it is: ${fault}.`),
      ...(fee !== undefined && fee > 0n && total > 0n && fee * 4n > total
        ? ['The fee is more than a quarter of what is sent.']
        : []),
      ...(outputs.length > mostParts
        ? [`${String(outputs.length - mostParts)} more outputs are not shown.`]
        : []),
    ],
    digests: [],
  };
}
