/** Tron. */
import { curves } from '../../crypto/keys/curves.ts';
import { nothingInPayload, ok, whenRead, type Chain } from '../chain.ts';
import { describeTron } from './describe.ts';
import { tronFact } from './facts.ts';
import { digestOf, readTron, signedTron } from './read.ts';

export const tron: Chain = {
  formats: ['ADDRESS_FORMAT_TRON'],
  keywords: ['tron.tx'],
  open: (bytes, context) =>
    whenRead(readTron(bytes), (read) => ({
      describe: () => describeTron(read, context),
      facts: { 'tron.tx': () => tronFact(read) },
      signatures: 1,
      sign: (privateKey) => ok(signedTron(read, curves.CURVE_SECP256K1.sign(privateKey, digestOf(read)))),
    })),
  inPayload(bytes, hashFunction, context) {
    if (hashFunction !== 'HASH_FUNCTION_SHA256') return nothingInPayload;
    const opened = tron.open(bytes, context);
    return opened.ok ? opened.value : nothingInPayload;
  },
};
