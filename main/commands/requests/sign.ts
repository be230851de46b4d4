/** `keyhearth sign`: describes a transaction or a payload from a file in plain language, and has the running vault sign it. */
import { z } from 'zod';
import type { Config } from '../../app/config.ts';
import type { HashFunction } from '../../crypto/hashes.ts';
import type { PayloadEncoding } from '../../chains/payloads/encodings.ts';
import { transactionTypeList, type SignedTransactionType } from '../../lib/text/transaction-types.ts';
import { visibleName } from '../../lib/text/visible-text.ts';
import { agree, onTerminal } from './agree.ts';
import type { QueryParameters } from '../../operations/api.ts';
import type { ApiOptions } from '../shared/options.ts';
import { hex, VaultApi, activityKind } from '../shared/api.ts';
import { withFirstUses } from './receiver-uses.ts';
import { checkRead, describeAnswer, descriptionToText, type Description } from './descriptions.ts';
import { readTextFile } from '../shared/file-text.ts';
import { listings } from '../shared/named.ts';
import { CommandError, exitCodes, note, print } from '../shared/output.ts';
import { didYouMean } from '../shared/suggestions.ts';

export interface SignOptions extends ApiOptions {
  /** The key: its id, public key or address. */
  readonly with: string;
  /** Sign on a terminal without a prompt. */
  readonly yes?: boolean;
  /** Describe what would be signed, and sign nothing. */
  readonly dryRun?: boolean;
}

/** The form of a transaction in its file, before and after signing. */
type TransactionForm = 'hex' | 'base64';

export interface SignTransactionOptions extends SignOptions {
  readonly type: string;
  readonly format: TransactionForm;
}

export interface SignPayloadOptions extends SignOptions {
  readonly encoding: string;
  readonly hash?: string;
}

/** The types of transactions, by the names that the command takes. */
const transactionTypes: Readonly<Record<string, SignedTransactionType>> = Object.fromEntries(
  transactionTypeList.map(({ alias, type }) => [alias, type]),
);

const encodings = {
  hex: 'PAYLOAD_ENCODING_HEXADECIMAL',
  text: 'PAYLOAD_ENCODING_TEXT_UTF8',
  eip712: 'PAYLOAD_ENCODING_EIP712',
  eip7702: 'PAYLOAD_ENCODING_EIP7702_AUTHORIZATION',
} as const satisfies Record<string, PayloadEncoding>;

const hashes = {
  none: 'HASH_FUNCTION_NO_OP',
  sha256: 'HASH_FUNCTION_SHA256',
  keccak256: 'HASH_FUNCTION_KECCAK256',
  'not-applicable': 'HASH_FUNCTION_NOT_APPLICABLE',
} as const satisfies Record<string, HashFunction>;

const signTransactionActivity = activityKind({
  type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
  result: z.object({ signedTransaction: hex }),
  options: { 'parameters.signWith': '--with', signWith: '--with', 'parameters.unsignedTransaction': 'file' },
  isOfUseLater: true,
});

const signPayloadActivity = activityKind({
  type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
  result: z.object({ r: hex, s: hex, v: hex }),
  options: {
    'parameters.signWith': '--with',
    signWith: '--with',
    'parameters.payload': 'file',
    'parameters.hashFunction': '--hash',
    'parameters.encoding': '--encoding',
  },
  isOfUseLater: true,
});

/** @param file Holds the unsigned transaction; `-` is standard input. */
export async function signTransaction(
  config: Config,
  file: string,
  options: SignTransactionOptions,
): Promise<void> {
  const type = oneOf('--type', options.type, transactionTypes);
  const bytes = readBytes(file, readText(file).trim(), options.format);
  const request = { unsignedTransaction: bytes.toString('hex'), type };
  const signed = await describeAndSign(
    config,
    options,
    request,
    signTransactionActivity.options,
    (api, signWith) => api.submit(signTransactionActivity, { ...request, signWith }),
  );
  if (signed === undefined) return;
  const { description, result } = signed;
  const signedTransaction =
    options.format === 'hex'
      ? result.signedTransaction
      : Buffer.from(result.signedTransaction, 'hex').toString('base64');
  print(options.json, { signedTransaction, description }, signedTransaction);
}

/** @param file Holds the payload; `-` is standard input. */
export async function signPayload(config: Config, file: string, options: SignPayloadOptions): Promise<void> {
  const encoding = oneOf('--encoding', options.encoding, encodings);
  const hashFunction = oneOf('--hash', options.hash ?? hashOf(options.encoding), hashes);
  const text = readText(file);
  // Of a text every byte is signed, its last end of line as well.
  const payload = options.encoding === 'text' ? text : text.trim();
  const request = { payload, encoding, hashFunction };
  const signed = await describeAndSign(
    config,
    options,
    request,
    signPayloadActivity.options,
    (api, signWith) => api.submit(signPayloadActivity, { ...request, signWith }),
  );
  if (signed === undefined) return;
  const { description, result } = signed;
  print(options.json, { ...result, description }, JSON.stringify(result));
}

/** An encoding that gives a digest is not hashed again. For other encodings only the signer knows. */
function hashOf(encoding: string): string {
  if (encoding === 'eip712' || encoding === 'eip7702') return 'none';
  throw new CommandError(
    exitCodes.usage,
    `expected --hash with --encoding ${encoding}: not-applicable for a key on Ed25519, else keccak256, sha256, or none for a payload that is a hash already`,
  );
}

/** @returns undefined where it was to be described alone. */
async function describeAndSign<Result>(
  config: Config,
  options: SignOptions,
  request: Omit<QueryParameters<'describe_payload'>, 'signWith'>,
  fields: Readonly<Record<string, string>> | undefined,
  sign: (api: VaultApi, signWith: string) => Promise<Result>,
): Promise<{ readonly description: Description; readonly result: Result } | undefined> {
  const api = await VaultApi.connect(config, options.apiKey);
  const signWith = await findSigner(api, options.with);
  const asked = { ...request, signWith } as QueryParameters<'describe_payload'>;
  const described = await api.query('describe_payload', describeAnswer, asked, fields);
  const [description = described.description] = await withFirstUses(api, [described.description]);
  if (options.dryRun === true) {
    print(options.json, { description }, descriptionToText(description, process.stdout.columns));
    checkRead(description);
    return undefined;
  }
  // For a script it is part of the result; but who is asked must see what about.
  const asks = options.yes !== true && onTerminal();
  if (!options.json || asks) note(descriptionToText(description, process.stderr.columns));
  if (asks) {
    await agree(`Sign this with ${visibleName(options.with)}?`, {
      what: 'whether to sign',
      otherwise: '--yes, or the name of a file in place of -',
      undone: 'nothing was signed',
    });
  }
  return { description, result: await sign(api, signWith) };
}

/** No address, public key or id is as short. */
const longestNickname = 24;

/**
 * @param wanted The key: an id, a public key or an address, which go to the vault as they are. A shorter text is a private
 * key's name, or how its id begins: no name can pass for another key's address.
 */
const findSigner = async (api: VaultApi, wanted: string): Promise<string> =>
  wanted.length > longestNickname ? wanted : (await listings.privateKey.find(api, wanted)).privateKeyId;

function oneOf<Names extends Readonly<Record<string, string>>>(
  option: string,
  given: string,
  names: Names,
): Names[keyof Names] {
  const found = Object.entries(names).find(([name]) => name === given)?.[1];
  if (found !== undefined) return found as Names[keyof Names];
  throw new CommandError(
    exitCodes.usage,
    `invalid ${option} ${JSON.stringify(given)}: expected one of ${Object.keys(names).join(', ')}${didYouMean(given, Object.keys(names))}`,
  );
}

const called = (file: string): string => (file === '-' ? 'standard input' : file);

const readText = (file: string): string => readTextFile(file === '-' ? 0 : file, called(file));

const forms: Readonly<Record<TransactionForm, RegExp>> = {
  hex: /^(?:0x)?(?:[0-9a-f]{2})+$/i,
  base64: /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
};

function readBytes(file: string, text: string, form: TransactionForm): Buffer {
  if (text === '' || !forms[form].test(text)) {
    const other = form === 'hex' ? 'base64' : 'hex';
    throw new CommandError(
      exitCodes.usage,
      `${called(file)} is ${text === '' ? 'empty' : `not ${form}`}: expected an unsigned transaction in ${form}; --format ${other} for ${other}`,
    );
  }
  return form === 'hex' ? Buffer.from(text.replace(/^0x/i, ''), 'hex') : Buffer.from(text, 'base64');
}
