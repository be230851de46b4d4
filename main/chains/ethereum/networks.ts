/** The chains that run Ethereum's transactions: their names, their coins, and what bounds their fees. */
import { decimal } from '../amounts.ts';
import type { TokenChain } from '../tokens.ts';

interface Network {
  readonly name: string;
  readonly coin: string;
  /**
   * True if gas pays for everything, so the gas limit bounds the fee. Other networks also charge for a
   * transaction's data.
   */
  readonly gasPaysForAll: boolean;
}

const gasPays = (name: string, coin: string): Network => ({ name, coin, gasPaysForAll: true });
const dataCosts = (name: string, coin: string): Network => ({ name, coin, gasPaysForAll: false });

/**
 * The larger chains and their test networks; of others the number is shown. Of how they charge: docs.optimism.io
 * (the fee for L1 data is deducted besides gas, and nothing in a transaction bounds it), docs.scroll.io (likewise),
 * docs.arbitrum.io (gas includes what the parent chain costs), docs.zksync.io (gas includes published data),
 * docs.linea.build (gas alone, as on Ethereum); the others are chains of their own and charge gas alone.
 */
const networks: Readonly<Record<string, Network>> = {
  1: gasPays('Ethereum', 'ETH'),
  10: dataCosts('OP Mainnet', 'ETH'),
  56: gasPays('BNB Smart Chain', 'BNB'),
  100: gasPays('Gnosis', 'xDAI'),
  137: gasPays('Polygon', 'POL'),
  324: gasPays('ZKsync Era', 'ETH'),
  1337: gasPays('Local test chain 1337', 'test ETH'),
  8453: dataCosts('Base', 'ETH'),
  31337: gasPays('Local test chain 31337', 'test ETH'),
  42161: gasPays('Arbitrum One', 'ETH'),
  43114: gasPays('Avalanche C-Chain', 'AVAX'),
  59144: gasPays('Linea', 'ETH'),
  534352: dataCosts('Scroll', 'ETH'),
  17000: gasPays('Holesky (a test network)', 'test ETH'),
  560048: gasPays('Hoodi (a test network)', 'test ETH'),
  84532: dataCosts('Base Sepolia (a test network)', 'test ETH'),
  421614: gasPays('Arbitrum Sepolia (a test network)', 'test ETH'),
  11155111: gasPays('Sepolia (a test network)', 'test ETH'),
  11155420: dataCosts('OP Sepolia (a test network)', 'test ETH'),
};

/** The chain ids of the networks with a name. */
export const namedNetworks: readonly string[] = Object.keys(networks);

export const everyChain = 'Every chain';

/** @param chainId Undefined where a transaction names no chain. */
export function networkOf(chainId: bigint | undefined): Network {
  if (chainId === undefined) return dataCosts(everyChain, 'coins');
  return networks[String(chainId)] ?? dataCosts(`Chain ${String(chainId)}`, 'coins');
}

/** @param chainId 0 for every chain, as in authorizations. */
export const networkName = (chainId: bigint): string =>
  chainId === 0n ? everyChain : networkOf(chainId).name;

export const coinsOf = ({ coin }: Network, wei: bigint): string => `${decimal(wei, 18)} ${coin}`;

/** @returns under which the chain's tokens are known. */
export const tokenChainOf = (chainId: bigint | undefined): TokenChain => `eip155:${String(chainId)}`;
