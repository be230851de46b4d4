/**
 * Raw payloads, read once: what is shown, what policies decide on and what is signed come from the same reading. A caller
 * may call a transaction a text, and a digest stands for anything: so each chain is asked what the bytes are to it.
 */
import { readAuthorization } from '../ethereum/eip7702.ts';
import { curves, type Curve } from '../../crypto/keys/curves.ts';
import { invalid, toHex } from '../../crypto/encodings.ts';
import { hashFunctions, type HashFunction } from '../../crypto/hashes.ts';
import { payloadEncodings, type PayloadEncoding } from './encodings.ts';
import { readTypedData } from '../ethereum/eip712.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { once } from '../../lib/once.ts';
import { Unknown } from '../../policy/language/types.ts';
import type { Context, InPayload } from '../chain.ts';
import { chains } from '../chains.ts';
import { line, Writer, type Description, type Line } from '../description.ts';
import {
  authorizationFact,
  describeAuthorization,
  outflowOfAuthorization,
} from '../ethereum/authorizations.ts';
import { outflowOfMessage, outflowOfTypedData } from '../ethereum/outflow.ts';
import { describeTypedData, typedDataFact } from '../ethereum/typed-data.ts';
import type { ChainKeyword } from '../../policy/language/chain-keywords.ts';
import type { ChainFacts } from '../facts.ts';
import { utf8 } from '../reading.ts';
import { readPersonalMessage } from './messages.ts';
import { sshInPayload, type Beside } from '../ssh/open.ts';
import type { Origin } from '../origin.ts';
import { checkPreimage, messageOfSsh, type Preimage } from './preimages.ts';
import { tempoInPayload } from './tempo.ts';

export interface RawPayload {
  readonly payload: string;
  readonly encoding: PayloadEncoding;
  readonly hashFunction: HashFunction;
  /** Of a payload that is a digest, or has one: what it is the hash of. */
  readonly preimage?: Preimage | undefined;
  readonly origin?: Origin | undefined;
}

/** A payload that was read. */
export interface OpenedPayload {
  /** The input of the curve's signature: a digest, or for Ed25519 the message. */
  readonly toSign: Uint8Array;
  readonly describe: () => Description;
  readonly facts: () => ChainFacts;
}

/**
 * @param at The payload's name in the request, for errors.
 * @throws KeyhearthError INVALID_ARGUMENT where the payload is not what its encoding says, its preimage is another's, or
 *   the key does not sign such a payload.
 */
export function openPayload(raw: RawPayload, context: Context, at: string): OpenedPayload {
  const { payload, encoding, hashFunction } = raw;
  const { key } = context;
  if (key !== undefined) checkHashFunction(key.curve, hashFunction);
  checkEncoding(key?.curve, encoding, hashFunction);
  switch (encoding) {
    case 'PAYLOAD_ENCODING_EIP712': {
      const data = readTypedData(at, payload);
      checkPreimage(raw, data.digest);
      return {
        toSign: data.digest,
        describe: () => describeTypedData(data, context),
        facts: () => ({
          'eth.eip_712': () => typedDataFact(data),
          'eth.outflow': () => outflowOfTypedData(data),
        }),
      };
    }
    case 'PAYLOAD_ENCODING_EIP7702_AUTHORIZATION': {
      const authorization = readAuthorization(at, payload);
      checkPreimage(raw, authorization.digest);
      return {
        toSign: authorization.digest,
        describe: () => describeAuthorization(authorization),
        facts: () => ({
          'eth.eip_7702_authorization': () => authorizationFact(authorization),
          'eth.outflow': () => outflowOfAuthorization,
        }),
      };
    }
    case 'PAYLOAD_ENCODING_TEXT_UTF8':
    case 'PAYLOAD_ENCODING_HEXADECIMAL': {
      const bytes = payloadEncodings[encoding].decode(at, payload);
      const toSign = hashFunctions[hashFunction](bytes);
      const { origin } = raw;
      if (hashFunction !== 'HASH_FUNCTION_NO_OP') {
        const message = messageOfSsh(raw, bytes);
        if (message === undefined) checkPreimage(raw, bytes);
        return { toSign, ...openBytes(bytes, hashFunction, context, { message, origin }) };
      }
      const proven = checkPreimage(raw, bytes);
      if (toSign.length !== digestLength) {
        throw invalid(
          at,
          `expected a 32-bytes-long digest with ${hashFunction}, got ${String(toSign.length)} bytes`,
        );
      }
      return {
        toSign,
        ...(proven === undefined
          ? openDigest(bytes, context)
          : openProven(proven.bytes, proven.hashFunction, bytes, context, { origin })),
      };
    }
  }
}

/** In bytes: that of every curve that signs digests. */
const digestLength = 32;

/**
 * Refuses a hash function after an encoding that gives a digest. Ed25519 signs messages, so it refuses such
 * an encoding.
 */
function checkEncoding(
  curve: Curve | undefined,
  encoding: PayloadEncoding,
  hashFunction: HashFunction,
): void {
  if (!payloadEncodings[encoding].makesDigest || hashFunction === 'HASH_FUNCTION_NO_OP') return;
  throw new KeyhearthError(
    'INVALID_ARGUMENT',
    curve === undefined || curves[curve].requiresDigest
      ? `invalid hash function: parameters.hashFunction: ${encoding} makes the digest itself, expected HASH_FUNCTION_NO_OP, got ${hashFunction}`
      : `invalid parameters.encoding: ${encoding} makes a digest, which a key on ${curve} does not sign; expected ${Object.entries(
          payloadEncodings,
        )
          .filter(([, { makesDigest }]) => !makesDigest)
          .map(([name]) => name)
          .join(' or ')}`,
  );
}

/**
 * Ed25519 hashes for itself and takes the message whole; ECDSA signs a digest.
 * @throws KeyhearthError INVALID_ARGUMENT for a hash function that keys of the curve do not take.
 */
export function checkHashFunction(curve: Curve, hashFunction: HashFunction): void {
  const hashesItself = !curves[curve].requiresDigest;
  if (hashesItself === (hashFunction === 'HASH_FUNCTION_NOT_APPLICABLE')) return;
  const fitting = Object.keys(hashFunctions).filter(
    (candidate) => hashesItself === (candidate === 'HASH_FUNCTION_NOT_APPLICABLE'),
  );
  throw new KeyhearthError(
    'INVALID_ARGUMENT',
    `invalid hash function: parameters.hashFunction: a key on ${curve} takes ${fitting.join(', ')}, got ${hashFunction}`,
  );
}

type Read = Pick<OpenedPayload, 'describe' | 'facts'>;

/** The curves on which a digest is signed as it is, each with what a digest may stand for there. */
const digestKeywords: Readonly<Partial<Record<Curve, readonly ChainKeyword[]>>> = {
  CURVE_SECP256K1: [
    ...Object.values(chains).flatMap(({ curve, keywords }) => (curve === 'CURVE_SECP256K1' ? keywords : [])),
    'tempo.tx',
  ],
  // Tempo's accounts sign on this curve as well, and keys of SSH.
  CURVE_P256: ['tempo.tx', 'ssh', 'git'],
};

function openDigest(digest: Uint8Array, { key }: Context): Read {
  const unknown = new Unknown('a digest is signed as it is: it may stand for any transaction or typed data');
  const keywords = digestKeywords[key?.curve ?? 'CURVE_SECP256K1'] ?? [];
  return {
    facts: () => Object.fromEntries(keywords.map((keyword) => [keyword, () => unknown])),
    describe() {
      const writer = new Writer();
      writer.warn(
        'A hash does not tell what it stands for: it may be a transaction that takes all you have.',
      );
      return described('Sign a hash', [line('Hash', toHex(digest))], writer);
    },
  };
}

function openProven(
  bytes: Uint8Array,
  hashFunction: HashFunction,
  digest: Uint8Array,
  context: Context,
  beside: Beside,
): Read {
  const { facts, describe } = openBytes(bytes, hashFunction, context, beside);
  return {
    facts,
    describe() {
      const description = describe();
      return {
        ...description,
        lines: [...description.lines, line('Checked', 'The hash that is signed is the hash of this')],
        digests: [...description.digests, line('Hash', toHex(digest))],
      };
    },
  };
}

/**
 * Opens the payload lazily: signing itself needs no reading, so the chains read it only for a description or
 * a decision.
 * @param bytes The bytes to hash and sign; for Ed25519, to sign.
 */
function openBytes(bytes: Uint8Array, hashFunction: HashFunction, context: Context, beside: Beside): Read {
  const readings = once(() => [
    ...Object.values(chains).flatMap((chain): InPayload[] =>
      context.key !== undefined && context.key.curve !== chain.curve
        ? []
        : [chain.inPayload(bytes, hashFunction, context)],
    ),
    tempoInPayload(bytes, hashFunction, context),
    sshInPayload(bytes, hashFunction, context, beside),
  ]);
  const taken = (): ChainFacts =>
    Object.assign({}, ...readings().map((reading) => reading.facts)) as ChainFacts;
  const mayBeEthereum =
    hashFunction === 'HASH_FUNCTION_KECCAK256' &&
    (context.key?.curve ?? 'CURVE_SECP256K1') === 'CURVE_SECP256K1';
  return {
    // Bytes that no chain takes may be something to a contract.
    facts: () => ({ ...(mayBeEthereum && { 'eth.outflow': () => outflowOfMessage(bytes) }), ...taken() }),
    describe() {
      const hashed = line('Hashed with', hashNames[hashFunction]);
      const found = readings().find(({ describe }) => describe !== undefined)?.describe;
      const isTaken = Object.keys(taken()).length > 0;
      if (found === undefined) {
        const writer = new Writer();
        if (isTaken) {
          writer.warn('These bytes may be a transaction. This vault cannot read all of it.');
        }
        const personal = hashFunction === 'HASH_FUNCTION_KECCAK256' ? readPersonalMessage(bytes) : undefined;
        return personal?.message === undefined
          ? describeBytes(bytes, hashed, personal?.begins === true, writer)
          : describeMessage(personal.message, hashed, writer);
      }
      const description = found();
      return {
        ...description,
        lines: [...description.lines, hashed],
        warnings: [
          ...(isTaken ? ['These bytes are not a message: a chain accepts them as what is shown here.'] : []),
          ...description.warnings,
        ],
      };
    },
  };
}

const hashNames: Readonly<Record<HashFunction, string>> = {
  HASH_FUNCTION_NO_OP: 'Nothing',
  HASH_FUNCTION_NOT_APPLICABLE: 'Nothing: the key signs the bytes themselves',
  HASH_FUNCTION_SHA256: 'SHA-256',
  HASH_FUNCTION_KECCAK256: 'Keccak-256',
};

function describeMessage(message: Uint8Array, hashed: Line, writer: Writer): Description {
  if (message.length === digestLength) {
    writer.warn('The message has 32 bytes: it may be the hash of something else.');
  }
  const content = contentLine(message, writer);
  return described('Sign a message for Ethereum', [content, sizeLine(message), hashed], writer);
}

/** @param falseLength Whether the bytes begin like a message for Ethereum, and have another length. */
function describeBytes(bytes: Uint8Array, hashed: Line, falseLength: boolean, writer: Writer): Description {
  if (falseLength) {
    writer.warn('It begins like a message for Ethereum, and does not have the length that it says.');
  }
  const content = contentLine(bytes, writer);
  const isText = content.label === 'Text';
  if (!isText) writer.warn('This vault cannot read these bytes: it does not know what signing them does.');
  const title = isText ? 'Sign a text' : `Sign ${String(bytes.length)} bytes`;
  return described(title, [content, sizeLine(bytes), hashed], writer);
}

const sizeLine = (bytes: Uint8Array): Line => line('Size', `${String(bytes.length)} bytes`);

const described = (title: string, lines: readonly Line[], { warnings }: Writer): Description => ({
  title,
  lines,
  parts: [],
  warnings,
  digests: [],
});

/** A text, where the bytes are one that people write; else the bytes. */
function contentLine(bytes: Uint8Array, writer: Writer): Line {
  const text = utf8(bytes);
  return text !== undefined && !/[\p{Co}\p{Cn}]|(?![\n\r\t])\p{Cc}/u.test(text)
    ? line('Text', writer.text(text))
    : line('Bytes', writer.bytes(bytes));
}
