/** Ethereum and the chains that run its transactions. */
import { curves } from '../../crypto/curves.ts';
import { nothingInPayload, ok, then, type Chain } from '../chain.ts';
import { describeEthereum } from './describe.ts';
import { ethereumFact } from './facts.ts';
import { readEthereum } from './read.ts';

export const ethereum: Chain = {
  name: 'Ethereum',
  curve: 'CURVE_SECP256K1',
  formats: ['ADDRESS_FORMAT_ETHEREUM'],
  keywords: ['eth.tx', 'eth.eip_712', 'eth.eip_7702_authorization'],
  open: (bytes, { key, interfaces }) =>
    then(readEthereum(bytes), ({ transaction, digest, withSignature }) => ({
      describe: () => describeEthereum(transaction, interfaces.abi(transaction.to)),
      facts: { 'eth.tx': () => ethereumFact(transaction, key?.publicKey, interfaces) },
      signatures: 1,
      sign: (privateKey) => ok(withSignature(curves.CURVE_SECP256K1.sign(privateKey, digest))),
    })),
  inPayload(bytes, hashFunction, context) {
    if (hashFunction !== 'HASH_FUNCTION_KECCAK256') return nothingInPayload;
    const opened = ethereum.open(bytes, context);
    return opened.ok ? opened.value : nothingInPayload;
  },
};
