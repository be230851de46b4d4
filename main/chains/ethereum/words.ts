/** Accounts and tokens of Ethereum's chains, as a description names them. */
import { encodeAddress } from '../addresses/addresses.ts';
import type { Context } from '../chain.ts';
import type { Writer } from '../description.ts';
import { ownWords, strangerWords } from '../known.ts';
import { tokenAmount, tokenAt } from '../tokens.ts';
import { tokenChainOf } from './networks.ts';
import type { Words } from './standard-calls.ts';

/** The account of the key that signs. */
export const senderOf = ({ key }: Pick<Context, 'key'>): string | undefined =>
  key?.curve === 'CURVE_SECP256K1'
    ? encodeAddress('ADDRESS_FORMAT_ETHEREUM', 'CURVE_SECP256K1', key.publicKey)
    : undefined;

/** True for an account of the organization, by its tables, and for the one that signs. */
export const isOurs = (address: string, context: Context): boolean =>
  address === senderOf(context) || context.ours(address) !== undefined;

/**
 * @param chainId Of the transaction or the typed data: tokens are known by chain and address.
 * @param contract The contract that is called, or that typed data is for; empty where none is named.
 */
export function wordsOf(
  context: Context,
  chainId: bigint | undefined,
  contract: string,
  writer: Writer,
): Words {
  const sender = senderOf(context);
  const unnamed = 'a token that is not named';
  const tokenOf = (address: string) => tokenAt(tokenChainOf(chainId), address);
  return {
    account(address) {
      const own = context.ours(address);
      if (own !== undefined) return ownWords(own, address, writer);
      if (address === '') return 'a contract that is not named';
      return address === sender ? `your account ${address}` : strangerWords(address, context, writer);
    },
    amount(units, address) {
      const token = tokenOf(address);
      return token === undefined
        ? `${String(units)} units of ${address === '' ? unnamed : `the token ${address}`}`
        : tokenAmount(token, units);
    },
    token: (address) => tokenOf(address)?.symbol ?? (address === '' ? unnamed : `the token ${address}`),
    knows: (address) => tokenOf(address) !== undefined,
    contract,
    sender,
  };
}
