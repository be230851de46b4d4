/** Coins and tokens of the networks with a name, with their units. */
import type { AssetOfChain } from '../../lib/policies/spenders.ts';
import { tokenRows } from '../tokens.ts';
import { namedNetworks, networkOf, tokenChainOf } from './networks.ts';

export interface Asset extends AssetOfChain {
  readonly network: string;
}

/** @returns for each network its coin, and then its tokens. */
export const assetsOfNetworks = (): Asset[] =>
  namedNetworks.flatMap((chainId) => {
    const { name: network, coin, gasPaysForAll: exactFees } = networkOf(BigInt(chainId));
    const of = { chainId, network, exactFees };
    return [
      { ...of, symbol: coin, decimals: 18, token: null },
      ...tokenRows
        .filter(([chain]) => chain === tokenChainOf(BigInt(chainId)))
        .map(([, token, symbol, decimals]) => ({ ...of, symbol, decimals, token })),
    ];
  });
