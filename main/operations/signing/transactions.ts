/** Signing transactions: the vault reads them, puts its signature in, and shows policies what they do. */
import { z } from 'zod';
import { activity, older } from '../../activities/define.ts';
import { transactionTypeList } from '../../lib/text/transaction-types.ts';
import { chains, namedTypes, notTransaction, openTransaction } from '../../chains/chains.ts';
import { toHex } from '../../crypto/encodings.ts';
import { once } from '../../lib/once.ts';
import { signerFacts } from './key-facts.ts';
import { limits } from '../shared/limits.ts';
import { origin } from './payload-parameters.ts';
import { findNamedKey, findSigner, keyOf } from './signers.ts';
import { signingContext } from './signing-context.ts';

const transactionType = z.enum(namedTypes);

const params = z.object({
  signWith: z.string().min(1).max(200),
  /** Hex, with 0x or without: RLP, a serialized transaction of Solana, raw_data of Tron, or a PSBT. */
  unsignedTransaction: z.string().min(1).max(limits.payloadCharacters),
  type: transactionType,
  origin: origin.optional(),
});

type SignParams = z.output<typeof params>;

/** Joined without Intl: every start would load it for this sentence alone. */
const [lastName = '', ...otherNames] = transactionTypeList.map(({ chain }) => chain).reverse();
const chainNames = `${otherNames.reverse().join(', ')}, or ${lastName}`;

export const signTransaction = activity({
  path: 'sign_transaction',
  summary: `Signs a transaction of ${chainNames}, which the vault reads.`,
  title: 'Sign a transaction',
  type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
  intent: 'signTransactionIntentV2',
  result: 'signTransactionResult',
  authority: {
    resource: 'PRIVATE_KEY',
    action: 'SIGN',
    shows: ({ type }) => ({ type }),
    facts({ params: { signWith, unsignedTransaction, type }, ...where }) {
      const opened = once(() => {
        const key = keyOf(findNamedKey(where.tx, where.organizationId, signWith));
        return openTransaction(
          type,
          unsignedTransaction,
          signingContext(where.tx, where.organizationId, key),
        );
      });
      return {
        ...signerFacts(where, signWith),
        ...Object.fromEntries(
          (type === 'TRANSACTION_TYPE_TEMPO' ? [] : chains[type].keywords).map((keyword) => [
            keyword,
            () => opened().facts[keyword]?.(),
          ]),
        ),
        signatures: () => opened().signatures,
      };
    },
  },
  params,
  returns: z.object({ signedTransaction: z.string() }),
  accepts: {
    ACTIVITY_TYPE_SIGN_TRANSACTION: older({
      intent: 'signTransactionIntent',
      params: params.omit({ signWith: true }).extend({ privateKeyId: params.shape.signWith }),
      upgrade: ({ privateKeyId, ...rest }): SignParams => ({ signWith: privateKeyId, ...rest }),
    }),
  },
  run(context) {
    const { signWith, unsignedTransaction, type } = context.params;
    const signer = findSigner(context, signWith);
    const around = signingContext(context.tx, context.organizationId, signer);
    const signed = openTransaction(type, unsignedTransaction, around).sign(signer.secret());
    return { signedTransaction: toHex(signed.ok ? signed.value : notTransaction(signed.problem)) };
  },
});
