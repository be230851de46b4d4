/** Ethereum and the chains that run its transactions. */
import { authorizationMagic } from './eip7702.ts';
import { curves } from '../../crypto/keys/curves.ts';
import { Unknown } from '../../policy/language/types.ts';
import { nothingInPayload, ok, whenRead, type Chain, type Context, type InPayload } from '../chain.ts';
import { line, type Description } from '../description.ts';
import type { ChainFacts } from '../facts.ts';
import { attempt } from '../reading.ts';
import {
  authorizationFact,
  describeAuthorization,
  outflowOfAuthorization,
  readAuthorizationBytes,
} from './authorizations.ts';
import { describeEthereum } from './describe.ts';
import { ethereumFact } from './facts.ts';
import { hexOf } from './hex.ts';
import { outflowOfTransaction } from './outflow.ts';
import { readEthereum } from './read.ts';
import { decodeRlp } from './rlp.ts';

export const ethereum: Chain = {
  formats: ['ADDRESS_FORMAT_ETHEREUM'],
  keywords: ['eth.tx', 'eth.eip_712', 'eth.eip_7702_authorization', 'eth.outflow'],
  open: (bytes, context) =>
    whenRead(readEthereum(bytes), ({ transaction, digest, withSignature }) => ({
      describe: () => describeEthereum(transaction, context),
      facts: {
        'eth.tx': () => ethereumFact(transaction, context),
        'eth.outflow': () => outflowOfTransaction(transaction, context),
      },
      signatures: 1,
      sign: (privateKey) => ok(withSignature(curves.CURVE_SECP256K1.sign(privateKey, digest))),
    })),
  inPayload(bytes, hashFunction, context) {
    if (hashFunction !== 'HASH_FUNCTION_KECCAK256') return nothingInPayload;
    return inHashed(bytes, context);
  },
};

/** By the first byte: a list is a legacy transaction, 0x05 an authorization, 0x19 signed data, any other a type. */
function inHashed(bytes: Uint8Array, context: Context): InPayload {
  const [first = 0, second] = bytes;
  if (first === signedData && (second === structured || second === validator)) return inSignedData(bytes);
  const list = first >= 0xc0 ? bytes : first < 0x80 ? bytes.subarray(1) : undefined;
  if (list === undefined || !isList(list)) return nothingInPayload;
  if (first === authorizationMagic) return inAuthorization(bytes);
  const opened = ethereum.open(bytes, context);
  if (opened.ok) return opened.value;
  return unknown({ 'eth.tx': opened.problem, 'eth.outflow': opened.problem });
}

const signedData = 0x19;
/** EIP-191's versions that contracts verify. */
const validator = 0x00;
const structured = 0x01;

const isList = (bytes: Uint8Array): boolean =>
  (bytes[0] ?? 0) >= 0xc0 && attempt(() => decodeRlp(bytes, 'the payload')).ok;

/** A chain would take the bytes, or may: what they say is not known. */
const unknown = (problems: Partial<Record<keyof ChainFacts, string>>): InPayload => ({
  facts: Object.fromEntries(
    Object.entries(problems).map(([keyword, problem]) => [keyword, () => new Unknown(problem)]),
  ),
});

function inAuthorization(bytes: Uint8Array): InPayload {
  const read = readAuthorizationBytes(bytes);
  if (!read.ok) {
    return unknown({
      'eth.tx': read.problem,
      'eth.eip_7702_authorization': read.problem,
      'eth.outflow': read.problem,
    });
  }
  return {
    facts: {
      'eth.eip_7702_authorization': () => authorizationFact(read.value),
      'eth.outflow': () => outflowOfAuthorization,
    },
    describe: () => describeAuthorization(read.value),
  };
}

/** Two hashes of 32 bytes stand for typed data: which, they do not tell. */
function inSignedData(bytes: Uint8Array): InPayload {
  const problem = 'the payload has hashes of typed data, which do not tell the data';
  const { facts } = unknown({ 'eth.eip_712': problem, 'eth.outflow': problem });
  return bytes[1] === structured && bytes.length === 66
    ? { facts, describe: () => describeHashes(bytes) }
    : { facts };
}

const describeHashes = (bytes: Uint8Array): Description => ({
  title: 'Sign typed data of which only the hashes are there',
  lines: [line('Domain hash', hexOf(bytes.subarray(2, 34))), line('Message hash', hexOf(bytes.subarray(34)))],
  parts: [],
  warnings: ['The hashes do not tell what they stand for: it may be a permit that takes all you have.'],
  digests: [],
});
