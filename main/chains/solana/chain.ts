/** Solana. */
import { curves } from '../../crypto/keys/curves.ts';
import { once } from '../../lib/once.ts';
import { Unknown } from '../../policy/language/types.ts';
import { nothingInPayload, ok, refused, whenRead, type Chain, type Context } from '../chain.ts';
import { ownAddressOf, readActions } from './actions.ts';
import { describeSolana } from './describe.ts';
import { solanaFact } from './facts.ts';
import { beginsOffChain, describeOffChain } from './off-chain.ts';
import {
  encodeMessage,
  looksLikeMessage,
  readSolana,
  readSolanaMessage,
  signedSolana,
  signersOf,
  type SolanaMessage,
} from './read.ts';

export const solana: Chain = {
  formats: ['ADDRESS_FORMAT_SOLANA'],
  keywords: ['solana.tx'],
  open: (bytes, context) =>
    whenRead(readSolana(bytes), (transaction) => ({
      ...shown(transaction.message, context),
      signatures: 1,
      sign(privateKey) {
        const { message } = transaction;
        const own = ownAddressOf(context);
        if (own === undefined) return refused('expected a key to sign with');
        const signers = signersOf(message);
        const signer = signers.find(({ key }) => key === own);
        if (signer === undefined) {
          return refused(
            `expected ${own} among the transaction’s signers, which are ${signers.map(({ key }) => key).join(', ')}`,
          );
        }
        const signature = curves.CURVE_ED25519.sign(privateKey, encodeMessage(message));
        return ok(signedSolana(transaction, signer, signature));
      },
    })),
  inPayload(bytes, hashFunction, context) {
    if (hashFunction !== 'HASH_FUNCTION_NOT_APPLICABLE') return nothingInPayload;
    const read = readSolanaMessage(bytes);
    if (read.ok) return shown(read.value, context);
    if (beginsOffChain(bytes)) return { facts: {}, describe: () => describeOffChain(bytes, context) };
    if (!looksLikeMessage(bytes)) return nothingInPayload;
    const unknown = new Unknown(
      `the bytes begin like a message of Solana, and cannot be read: ${read.problem}`,
    );
    return { facts: { 'solana.tx': () => unknown } };
  },
};

function shown(message: SolanaMessage, context: Context) {
  const reading = once(() => readActions(message, context));
  return {
    describe: () => describeSolana(reading(), context),
    facts: { 'solana.tx': () => solanaFact(reading()) },
  };
}
