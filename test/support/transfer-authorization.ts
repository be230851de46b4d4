/** Typed data by which USDC leaves an account without a transaction of its own (EIP-3009). */

/** The contract of USDC on Ethereum's main chain. */
export const usdc = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';

export interface TransferAuthorization {
  readonly from: string;
  readonly to: string;
  /** In millionths of a dollar. */
  readonly value: bigint;
  /** The contract takes each once. */
  readonly nonce: bigint;
}

export const transferAuthorization = ({ from, to, value, nonce }: TransferAuthorization) => ({
  domain: { name: 'USD Coin', version: '2', chainId: 1, verifyingContract: usdc },
  primaryType: 'TransferWithAuthorization',
  types: {
    TransferWithAuthorization: [
      { name: 'from', type: 'address' },
      { name: 'to', type: 'address' },
      { name: 'value', type: 'uint256' },
      { name: 'validAfter', type: 'uint256' },
      { name: 'validBefore', type: 'uint256' },
      { name: 'nonce', type: 'bytes32' },
    ],
  },
  message: {
    from,
    to,
    value: String(value),
    validAfter: '0',
    validBefore: '99999999999',
    nonce: `0x${nonce.toString(16).padStart(64, '0')}`,
  },
});
