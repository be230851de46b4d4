import { expect, test } from 'vitest';
import { findWallets, orderWallets } from './wallet-order.ts';

const at = (seconds: number) => ({ seconds: String(seconds), nanos: '0' });
const wallet = (walletName: string, createdAt: number) => ({
  walletId: walletName,
  walletName,
  createdAt: at(createdAt),
});
const wallets = [wallet('Bitcoin savings', 1), wallet('everyday', 2), wallet('Archive', 3), wallet('New', 4)];
const summaries = new Map([
  ['Bitcoin savings', { addressFormats: [], lastUsedAt: at(10) }],
  ['everyday', { addressFormats: [{ addressFormat: 'ADDRESS_FORMAT_ETHEREUM' }], lastUsedAt: at(20) }],
  ['Archive', { addressFormats: [{ addressFormat: 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR' }] }],
]);
const names = (list: readonly { readonly walletName: string }[]) => list.map(({ walletName }) => walletName);

test.each([
  ['created', ['Bitcoin savings', 'everyday', 'Archive', 'New']],
  ['used', ['everyday', 'Bitcoin savings', 'New', 'Archive']],
  ['name', ['Archive', 'Bitcoin savings', 'everyday', 'New']],
] as const)('wallets are ordered by %s', (order, expected) => {
  expect(names(orderWallets(wallets, order, summaries))).toEqual(expected);
});

test.each([
  ['', ['Bitcoin savings', 'everyday', 'Archive', 'New']],
  [' EVERY ', ['everyday']],
  ['bitcoin', ['Bitcoin savings', 'Archive']],
  ['eth', ['everyday']],
  ['nothing', []],
])('a search for “%s” finds names and chains', (typed, expected) => {
  expect(names(findWallets(wallets, summaries, typed))).toEqual(expected);
});

test('names are searched before the chains have loaded', () => {
  expect(names(findWallets(wallets, undefined, 'new'))).toEqual(['New']);
});
