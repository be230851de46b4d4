/** Solana. */
import { encodeAddress } from '../../crypto/addresses.ts';
import { curves } from '../../crypto/curves.ts';
import { nothingInPayload, ok, refused, then, type Chain } from '../chain.ts';
import { describeSolana } from './describe.ts';
import { solanaFact } from './facts.ts';
import { readSolana, readSolanaMessage } from './read.ts';

export const solana: Chain = {
  name: 'Solana',
  curve: 'CURVE_ED25519',
  formats: ['ADDRESS_FORMAT_SOLANA'],
  keywords: ['solana.tx'],
  open: (bytes, { key, interfaces }) =>
    then(readSolana(bytes), ({ transaction, message, signers, withSignature }) => ({
      describe: () => describeSolana(transaction, interfaces.idl),
      facts: { 'solana.tx': () => solanaFact(transaction, interfaces) },
      signatures: 1,
      sign(privateKey) {
        if (key === undefined) return refused('expected a key to sign with');
        const own = encodeAddress('ADDRESS_FORMAT_SOLANA', 'CURVE_ED25519', key.publicKey);
        if (!signers.includes(own)) {
          return refused(`expected ${own} among the transaction’s signers, which are ${signers.join(', ')}`);
        }
        return ok(withSignature(own, curves.CURVE_ED25519.sign(privateKey, message)));
      },
    })),
  inPayload(bytes, hashFunction, { interfaces }) {
    if (hashFunction !== 'HASH_FUNCTION_NOT_APPLICABLE') return nothingInPayload;
    const read = readSolanaMessage(bytes);
    if (!read.ok) return nothingInPayload;
    return {
      describe: () => describeSolana(read.value, interfaces.idl),
      facts: { 'solana.tx': () => solanaFact(read.value, interfaces) },
    };
  },
};
