import { isAddress } from '@solana/kit';
import { TronWeb } from 'tronweb';
import { getAddress } from 'viem';
import { describe, expect, test } from 'vitest';
import { tokenAmount, tokenAt, tokenRows } from './tokens.ts';

const checks = {
  eip155: (address: string): boolean => getAddress(address) === address,
  solana: isAddress,
  tron: (address: string): boolean => TronWeb.isAddress(address),
};

describe('known tokens', () => {
  test.each(tokenRows)('%s %s: the address is well formed, with its checksum', (chain, address) => {
    const [family = ''] = chain.split(':');
    expect(checks[family as keyof typeof checks](address)).toBe(true);
  });

  test('each address is there once, and each symbol once a chain', () => {
    const addresses = tokenRows.map(([chain, address]) => `${chain}/${address.toLowerCase()}`);
    const symbols = tokenRows.map(([chain, , symbol]) => `${chain}/${symbol}`);
    for (const keys of [addresses, symbols]) expect(new Set(keys).size).toBe(keys.length);
  });

  test('are known by chain and address alone', () => {
    const usdc = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
    expect(tokenAt('eip155:1', usdc)).toEqual({ symbol: 'USDC', decimals: 6 });
    expect(tokenAt('eip155:10', usdc)).toBeUndefined();
  });
});

test.each([
  [0n, '0 USDC'],
  [1n, '0.000001 USDC'],
  [999_999_999n, '999.999999 USDC'],
  [1_250_000_000n, '1,250 USDC'],
  [1_234_567_890_120_000n, '1,234,567,890.12 USDC'],
])('an amount of %s is %s', (units, written) => {
  expect(tokenAmount({ symbol: 'USDC', decimals: 6 }, units)).toBe(written);
});
