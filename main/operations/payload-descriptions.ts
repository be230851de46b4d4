/** What is to be signed, in plain language, before it is. A query of our own: the vault reads, and windows show. */
import { z } from 'zod';
import { query } from '../activities/define.ts';
import type { Context } from '../chains/chain.ts';
import { chains, type TransactionType } from '../chains/chains.ts';
import { cut, line, unreadDescription, type Description, type Line } from '../chains/description.ts';
import { describeAuthorization, describeTypedData } from '../chains/ethereum/describe.ts';
import { utf8 } from '../chains/reading.ts';
import { readAuthorization } from '../crypto/authorizations.ts';
import { decodeHex, encodeUtf8, invalid, toHex } from '../crypto/encodings.ts';
import { hashFunctions, type HashFunction } from '../crypto/hashes.ts';
import { payloadEncodings, type PayloadEncoding } from '../crypto/payloads.ts';
import { readTypedData } from '../crypto/typed-data.ts';
import { limits } from './limits.ts';
import { checkPreimage, preimage } from './preimages.ts';
import { findNamedKey, keyOf } from './signers.ts';
import { signingContext } from './signing-context.ts';

const shownLine = z.object({ label: z.string(), value: z.string() });

const shownDescription = z
  .object({
    title: z.string(),
    lines: z.array(shownLine),
    parts: z.array(z.object({ title: z.string(), lines: z.array(shownLine) })),
    warnings: z.array(z.string()),
    digests: z.array(shownLine),
  })
  .meta({ id: 'PayloadDescription' });

const text = z.string().min(1).max(limits.payloadCharacters).optional();

export const describePayload = query({
  path: 'describe_payload',
  own: true,
  params: z.object({
    /** Of a transaction: as `sign_transaction` takes them. */
    unsignedTransaction: text,
    type: z.enum(Object.keys(chains) as [TransactionType, ...TransactionType[]]).optional(),
    /** Of a payload: as `sign_raw_payload` takes them. */
    payload: text,
    encoding: z.enum(Object.keys(payloadEncodings) as [PayloadEncoding, ...PayloadEncoding[]]).optional(),
    hashFunction: z.enum(Object.keys(hashFunctions) as [HashFunction, ...HashFunction[]]).optional(),
    preimage: preimage.optional(),
    /** Who is to sign: it tells the network of Bitcoin's addresses. */
    signWith: z.string().min(1).max(200).optional(),
  }),
  returns: z.object({ description: shownDescription }),
  run({ tx, organizationId, params }) {
    const { unsignedTransaction, type, payload, encoding, hashFunction, signWith } = params;
    const key = signWith === undefined ? undefined : keyOf(findNamedKey(tx, organizationId, signWith));
    const context = signingContext(tx, organizationId, key);
    if (unsignedTransaction !== undefined && type !== undefined) {
      return { description: describeTransaction(type, unsignedTransaction, context) };
    }
    if (payload === undefined || encoding === undefined || hashFunction === undefined) {
      throw invalid(
        'request',
        'expected unsignedTransaction and type, or payload, encoding and hashFunction',
      );
    }
    return {
      description: describeRaw({ payload, encoding, hashFunction, preimage: params.preimage }, context),
    };
  },
});

function describeTransaction(type: TransactionType, hex: string, context: Context): Description {
  const chain = chains[type];
  if (chain === undefined) return unreadDescription('A transaction', `${type} is not read here`);
  const opened = chain.open(decodeHex('unsignedTransaction', hex), context);
  return opened.ok
    ? opened.value.describe()
    : unreadDescription(`A transaction of ${chain.name}`, opened.problem);
}

type Raw = Parameters<typeof checkPreimage>[0] & {
  readonly encoding: PayloadEncoding;
  readonly hashFunction: HashFunction;
};

function describeRaw(raw: Raw, context: Context): Description {
  const { payload, encoding, hashFunction } = raw;
  switch (encoding) {
    case 'PAYLOAD_ENCODING_EIP712':
      return describeTypedData(readTypedData('payload', payload));
    case 'PAYLOAD_ENCODING_EIP7702_AUTHORIZATION':
      return describeAuthorization(readAuthorization('payload', payload));
    case 'PAYLOAD_ENCODING_TEXT_UTF8':
      return describeBytes(encodeUtf8('payload', payload), hashFunction, context);
    case 'PAYLOAD_ENCODING_HEXADECIMAL': {
      const proven = checkPreimage(raw);
      const bytes = decodeHex('payload', payload);
      if (hashFunction !== 'HASH_FUNCTION_NO_OP') return describeBytes(bytes, hashFunction, context);
      const hash = line('Hash', toHex(bytes));
      if (proven === undefined || raw.preimage === undefined) {
        return {
          title: 'Sign a hash',
          lines: [hash],
          parts: [],
          warnings: [
            'A hash does not tell what it stands for: it may be a transaction that takes all you have.',
          ],
          digests: [],
        };
      }
      const description = describeBytes(proven, raw.preimage.hashFunction, context);
      return {
        ...description,
        lines: [...description.lines, line('Checked', 'The hash that is signed is the hash of this')],
        digests: [...description.digests, hash],
      };
    }
  }
}

/** What begins a message of a wallet (EIP-191): its length in digits follows, and the message. */
const personal = '\u0019Ethereum Signed Message:\n';

/** Bytes that are hashed may be a transaction, whoever calls them what: they are looked at as the chains would. */
function describeBytes(bytes: Uint8Array, hashFunction: HashFunction, context: Context): Description {
  const transaction = transactionIn(bytes, hashFunction, context);
  if (transaction !== undefined) {
    return { ...transaction, warnings: ['These bytes are a transaction.', ...transaction.warnings] };
  }
  const size = line('Size', `${String(bytes.length)} bytes`);
  const written = utf8(bytes);
  if (written?.startsWith(personal)) {
    return plainText(
      'Sign a message for Ethereum',
      written.slice(personal.length).replace(/^[0-9]+/, ''),
      size,
    );
  }
  if (written !== undefined && /^[^\p{Cc}\p{Co}\p{Cn}]*$/u.test(written.replace(/[\n\r\t]/g, ''))) {
    return plainText('Sign a text', written, size);
  }
  return {
    title: `Sign ${String(bytes.length)} bytes`,
    lines: [size, line('Bytes', cut(toHex(bytes)))],
    parts: [],
    warnings: ['Nothing here can read these bytes: what signing them does is not known.'],
    digests: [],
  };
}

const plainText = (title: string, content: string, size: Line): Description => ({
  title,
  lines: [line('Text', cut(content)), size],
  parts: [],
  warnings: [],
  digests: [],
});

function transactionIn(
  bytes: Uint8Array,
  hashFunction: HashFunction,
  context: Context,
): Description | undefined {
  for (const chain of Object.values(chains)) {
    const description = chain?.inPayload(bytes, hashFunction, context).describe?.();
    if (description !== undefined) return description;
  }
  return undefined;
}
