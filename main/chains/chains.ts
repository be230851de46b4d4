/** The chains whose transactions are read and signed here, a row each. */
import type { AddressFormat } from './addresses/addresses.ts';
import { decodeHex } from '../crypto/encodings.ts';
import { KeyhearthError } from '../lib/errors.ts';
import { bitcoin } from './bitcoin/chain.ts';
import type { Chain, Context, Key, Opened } from './chain.ts';
import { ethereum } from './ethereum/chain.ts';
import { solana } from './solana/chain.ts';
import { tron } from './tron/chain.ts';

export type TransactionType =
  | 'TRANSACTION_TYPE_ETHEREUM'
  | 'TRANSACTION_TYPE_SOLANA'
  | 'TRANSACTION_TYPE_TRON'
  | 'TRANSACTION_TYPE_BITCOIN'
  | 'TRANSACTION_TYPE_TEMPO';

export const chains: Readonly<Record<TransactionType, Chain | undefined>> = {
  TRANSACTION_TYPE_ETHEREUM: ethereum,
  TRANSACTION_TYPE_SOLANA: solana,
  TRANSACTION_TYPE_TRON: tron,
  TRANSACTION_TYPE_BITCOIN: bitcoin,
  TRANSACTION_TYPE_TEMPO: undefined,
};

/** Formats that are of no chain. */
const neutral: readonly AddressFormat[] = ['ADDRESS_FORMAT_COMPRESSED', 'ADDRESS_FORMAT_UNCOMPRESSED'];

/**
 * @param hex Of whole bytes, with 0x or without.
 * @throws KeyhearthError INVALID_ARGUMENT with the real API's code, where the type is not signed here, the key is of
 *   another chain, or the bytes are no unsigned transaction.
 */
export function openTransaction(
  type: TransactionType,
  hex: string,
  context: Context & { readonly key: Key },
): Opened {
  const chain = chains[type];
  if (chain === undefined) {
    const known = Object.entries(chains).flatMap(([name, row]) => (row === undefined ? [] : [name]));
    throw new KeyhearthError(
      'INVALID_ARGUMENT',
      `unsupported transaction type: parameters.type: expected one of ${known.join(', ')}, got ${type}`,
      { turnkeyErrorCode: 'UNSUPPORTED_TRANSACTION_TYPE' },
    );
  }
  checkKey(chain, context.key);
  const opened = chain.open(decodeHex('parameters.unsignedTransaction', hex), context);
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

function checkKey({ name, curve, formats }: Chain, key: Key): void {
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
