/**
 * Tokens that are shown by their symbol and in their own units. Any contract can call itself USDC: only the address on its
 * chain says which token it is. A token that is not here is shown by its address, in smallest units.
 */
import { decimal } from './amounts.ts';

export interface Token {
  readonly symbol: string;
  readonly decimals: number;
}

/** As CAIP-2 names Ethereum's chains; of Solana and Tron the main networks, which transactions do not name. */
export type TokenChain = `eip155:${string}` | 'solana' | 'tron';

type Row = readonly [chain: TokenChain, address: string, symbol: string, decimals: number];

/**
 * Addresses as each chain writes them. Sources: Circle's list of USDC (developers.circle.com/stablecoins/
 * usdc-contract-addresses), Tether's list of protocols (tether.to/en/supported-protocols), Optimism's token list, which
 * has Ethereum, OP Mainnet and Base (github.com/ethereum-optimism/ethereum-optimism.github.io), and Aave's address book
 * for Arbitrum and Polygon (github.com/aave-dao/aave-address-book).
 */
export const tokenRows: readonly Row[] = [
  // Circle's list.
  ['eip155:1', '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', 'USDC', 6],
  // Tether's list.
  ['eip155:1', '0xdAC17F958D2ee523a2206206994597C13D831ec7', 'USDT', 6],
  // Optimism's token list.
  ['eip155:1', '0x6B175474E89094C44Da98b954EedeAC495271d0F', 'DAI', 18],
  ['eip155:1', '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2', 'WETH', 18],
  ['eip155:1', '0x2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599', 'WBTC', 8],

  // Circle's list; then Optimism's token list.
  ['eip155:10', '0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85', 'USDC', 6],
  ['eip155:10', '0x94b008aA00579c1307B0EF2c499aD98a8ce58e58', 'USDT', 6],
  ['eip155:10', '0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1', 'DAI', 18],
  ['eip155:10', '0x4200000000000000000000000000000000000006', 'WETH', 18],

  // Circle's list; then Aave's address book.
  ['eip155:137', '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359', 'USDC', 6],
  ['eip155:137', '0xc2132D05D31c914a87C6611C10748AEb04B58e8F', 'USDT', 6],
  ['eip155:137', '0x8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063', 'DAI', 18],
  ['eip155:137', '0x7ceB23fD6bC0adD59E62ac25578270cFf1b9f619', 'WETH', 18],

  // Circle's list; then Optimism's token list.
  ['eip155:8453', '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', 'USDC', 6],
  ['eip155:8453', '0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2', 'USDT', 6],
  ['eip155:8453', '0x50c5725949A6F0c72E6C4a641F24049A917DB0Cb', 'DAI', 18],
  ['eip155:8453', '0x4200000000000000000000000000000000000006', 'WETH', 18],

  // Circle's list; then Aave's address book.
  ['eip155:42161', '0xaf88d065e77c8cC2239327C5EDb3A432268e5831', 'USDC', 6],
  ['eip155:42161', '0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9', 'USDT', 6],
  ['eip155:42161', '0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1', 'DAI', 18],
  ['eip155:42161', '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1', 'WETH', 18],

  // Tether's list.
  ['tron', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', 'USDT', 6],

  // Circle's list; then Tether's.
  ['solana', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', 'USDC', 6],
  ['solana', 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB', 'USDT', 6],
];

const tokens: ReadonlyMap<string, Token> = new Map(
  tokenRows.map(([chain, address, symbol, decimals]) => [`${chain}/${address}`, { symbol, decimals }]),
);

/** @param address As the chain writes it: with its checksum, or in Base58. */
export const tokenAt = (chain: TokenChain, address: string): Token | undefined =>
  tokens.get(`${chain}/${address}`);

/** Writes an amount of smallest units as people do, to the last digit: `1,250.5 USDC`. */
export function tokenAmount({ symbol, decimals }: Token, units: bigint): string {
  const [whole = '', fraction] = decimal(units, decimals).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return `${grouped}${fraction === undefined ? '' : `.${fraction}`} ${symbol}`;
}
