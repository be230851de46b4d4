/** The types of transactions that the vault reads and signs: the one list for the API, the command and the window. */

export interface TransactionRow {
  /** The chain, as people call it. */
  readonly chain: string;
  /** The command's name for it. */
  readonly alias: string;
  /** The unsigned transaction as the chain's own tools call it. */
  readonly form: string;
  /** The curve of the keys that sign it. */
  readonly curve: 'CURVE_SECP256K1' | 'CURVE_ED25519';
}

export const transactionTypes = {
  TRANSACTION_TYPE_ETHEREUM: { chain: 'Ethereum', alias: 'ethereum', form: 'RLP', curve: 'CURVE_SECP256K1' },
  TRANSACTION_TYPE_SOLANA: {
    chain: 'Solana',
    alias: 'solana',
    form: 'wire format',
    curve: 'CURVE_ED25519',
  },
  TRANSACTION_TYPE_TRON: { chain: 'Tron', alias: 'tron', form: 'raw_data', curve: 'CURVE_SECP256K1' },
  TRANSACTION_TYPE_BITCOIN: { chain: 'Bitcoin', alias: 'bitcoin', form: 'PSBT', curve: 'CURVE_SECP256K1' },
} as const satisfies Readonly<Record<string, TransactionRow>>;

export type SignedTransactionType = keyof typeof transactionTypes;

/** The same rows as a list, in the order in which people are offered them. */
export const transactionTypeList = (Object.keys(transactionTypes) as SignedTransactionType[]).map(
  (type): TransactionRow & { readonly type: SignedTransactionType } => ({ type, ...transactionTypes[type] }),
);
