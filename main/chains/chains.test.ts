/** The class: a fact of a transaction that is not known to be one, so that what reads it seems to hold for no transaction. */
import { expect, test } from 'vitest';
import { context as ofTron, hexOf, receiver, transaction } from '../../test/one-reading/tron-transactions.ts';
import { serializeTransaction } from 'viem';
import { isOfTransactions, type ChainKeyword } from '../policy/language/chain-keywords.ts';
import { bytesOfHex } from './ethereum/hex.ts';
import { chains } from './chains.ts';

const context = ofTron();

test.each<[string, (typeof chains)[keyof typeof chains], Uint8Array]>([
  [
    'Ethereum',
    chains.TRANSACTION_TYPE_ETHEREUM,
    bytesOfHex(serializeTransaction({ type: 'eip1559', chainId: 1, to: `0x${'35'.repeat(20)}` })),
  ],
  [
    'Tron',
    chains.TRANSACTION_TYPE_TRON,
    transaction('TransferContract', { to_address: hexOf(receiver), amount: 5 }),
  ],
])('the facts of a transaction of %s are known to be those of transactions', (_, chain, bytes) => {
  const opened = chain.open(bytes, context);
  if (!opened.ok) throw new Error(opened.problem);
  expect(Object.keys(opened.value.facts)).toEqual(chain.keywords.filter(isOfTransactions));
});

test('each chain has a fact of its transactions', () => {
  const first = Object.values(chains).map(({ keywords }): ChainKeyword => keywords[0]);
  expect(first.every(isOfTransactions)).toBe(true);
});
