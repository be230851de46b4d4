/** The chains whose transactions are read and signed here, a row each. */
import type { AddressFormat } from './addresses/addresses.ts';
import { decodeHex } from '../crypto/encodings.ts';
import { KeyhearthError } from '../lib/errors.ts';
import {
  transactionTypes,
  transactionTypeList,
  type SignedTransactionType,
  type TransactionRow,
} from '../lib/text/transaction-types.ts';
import { bitcoin } from './bitcoin/chain.ts';
import type { Chain, Context, Key, Opened } from './chain.ts';
import { ethereum } from './ethereum/chain.ts';
import { solana } from './solana/chain.ts';
import { tron } from './tron/chain.ts';

/** Each row of `transactionTypes` with what reads and signs its transactions. */
export const chains: Readonly<Record<SignedTransactionType, TransactionRow & Chain>> = {
  TRANSACTION_TYPE_ETHEREUM: { ...transactionTypes.TRANSACTION_TYPE_ETHEREUM, ...ethereum },
  TRANSACTION_TYPE_SOLANA: { ...transactionTypes.TRANSACTION_TYPE_SOLANA, ...solana },
  TRANSACTION_TYPE_TRON: { ...transactionTypes.TRANSACTION_TYPE_TRON, ...tron },
  TRANSACTION_TYPE_BITCOIN: { ...transactionTypes.TRANSACTION_TYPE_BITCOIN, ...bitcoin },
};

/** The types that the API names. The vault refuses transactions of Tempo: it does not read them. */
export type TransactionType = SignedTransactionType | 'TRANSACTION_TYPE_TEMPO';
export const namedTypes = [
  ...transactionTypeList.map(({ type }): TransactionType => type),
  'TRANSACTION_TYPE_TEMPO' as const,
] as const;

/** Formats that are of no chain. */
const neutral: readonly AddressFormat[] = ['ADDRESS_FORMAT_COMPRESSED', 'ADDRESS_FORMAT_UNCOMPRESSED'];

/**
 * @param hex Of whole bytes, with 0x or without.
 * @throws KeyhearthError INVALID_ARGUMENT with the real API's code, if the type is not signed here, the key
 * is of another chain, or the bytes are not an unsigned transaction.
 */
export function openTransaction(
  type: TransactionType,
  hex: string,
  context: Context & { readonly key: Key },
): Opened {
  if (type === 'TRANSACTION_TYPE_TEMPO') {
    throw new KeyhearthError(
      'INVALID_ARGUMENT',
      `unsupported transaction type: parameters.type: expected one of ${Object.keys(chains).join(', ')}, got ${type}`,
      { turnkeyErrorCode: 'UNSUPPORTED_TRANSACTION_TYPE' },
    );
  }
  checkKey(chains[type], context.key);
  const opened = chains[type].open(decodeHex('parameters.unsignedTransaction', hex), context);
  return opened.ok ? opened.value : notTransaction(opened.problem);
}

/** @throws KeyhearthError always. */
export function notTransaction(problem: string): never {
  throw new KeyhearthError(
    'INVALID_ARGUMENT',
    `failed to parse transaction: parameters.unsignedTransaction: ${problem}`,
    { turnkeyErrorCode: 'INVALID_TRANSACTION' },
  );
}

function checkKey({ chain: name, curve, formats }: TransactionRow & Chain, key: Key): void {
  if (key.curve !== curve) {
    throw new KeyhearthError(
      'INVALID_ARGUMENT',
      `invalid parameters.signWith: transactions of ${name} are signed by keys on ${curve}, this one is on ${key.curve}`,
    );
  }
  const { format } = key;
  if (format === undefined || neutral.includes(format) || formats.some((each) => format.startsWith(each)))
    return;
  throw new KeyhearthError(
    'INVALID_ARGUMENT',
    `invalid parameters.signWith: a transaction of ${name} is signed for an address of ${name}, this one is of ${format}; the private key’s id or its public key will do as well`,
  );
}
