import { expect, test } from 'vitest';
import { findWallets, ofArchive, orderWallets } from './wallet-order.ts';

const at = (seconds: number) => ({ seconds: String(seconds), nanos: '0' });
const wallet = (walletName: string, createdAt: number) => ({
  walletId: walletName,
  walletName,
  createdAt: at(createdAt),
});
const wallets = [wallet('Bitcoin savings', 1), wallet('everyday', 2), wallet('Archive', 3), wallet('New', 4)];
const summaries = new Map([
  ['Bitcoin savings', { addressFormats: [], lastUsedAt: at(10), tags: ['Family'], archived: false }],
  [
    'everyday',
    {
      addressFormats: [{ addressFormat: 'ADDRESS_FORMAT_ETHEREUM' }],
      lastUsedAt: at(20),
      tags: [],
      archived: false,
    },
  ],
  [
    'Archive',
    { addressFormats: [{ addressFormat: 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR' }], tags: [], archived: true },
  ],
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
  ['famil', ['Bitcoin savings']],
  ['nothing', []],
])('a search for “%s” finds names, chains and tags', (typed, expected) => {
  expect(names(findWallets(wallets, summaries, typed))).toEqual(expected);
});

test('names are searched before the chains have loaded', () => {
  expect(names(findWallets(wallets, undefined, 'new'))).toEqual(['New']);
});

test('the archive has what is archived, and the list the rest; before they have loaded, the list has all', () => {
  expect(names(ofArchive(wallets, summaries, true))).toEqual(['Archive']);
  expect(names(ofArchive(wallets, summaries, false))).toEqual(['Bitcoin savings', 'everyday', 'New']);
  expect(names(ofArchive(wallets, undefined, false))).toHaveLength(4);
});
