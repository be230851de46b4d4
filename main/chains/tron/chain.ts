/** Tron. */
import { curves } from '../../crypto/curves.ts';
import { nothingInPayload, ok, then, type Chain } from '../chain.ts';
import { describeTron } from './describe.ts';
import { tronFact } from './facts.ts';
import { readTron } from './read.ts';

export const tron: Chain = {
  name: 'Tron',
  curve: 'CURVE_SECP256K1',
  formats: ['ADDRESS_FORMAT_TRON'],
  keywords: ['tron.tx'],
  open: (bytes) =>
    then(readTron(bytes), ({ transaction, unread, digest, withSignature }) => ({
      describe: () => describeTron(transaction, unread),
      facts: { 'tron.tx': () => tronFact(transaction) },
      signatures: 1,
      sign: (privateKey) => ok(withSignature(curves.CURVE_SECP256K1.sign(privateKey, digest))),
    })),
  inPayload(bytes, hashFunction, context) {
    if (hashFunction !== 'HASH_FUNCTION_SHA256') return nothingInPayload;
    const opened = tron.open(bytes, context);
    return opened.ok ? opened.value : nothingInPayload;
  },
};
