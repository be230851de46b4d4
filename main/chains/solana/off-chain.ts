/** Messages that wallets sign for programs that are not the chain: no node takes them for a transaction. */
import { encodeBase58 } from '../../crypto/encodings.ts';
import type { Context } from '../chain.ts';
import { ownWords } from '../known.ts';
import { line, Writer, type Description, type Line } from '../description.ts';
import { attempt, Cursor, unreadable, utf8, type Read } from '../reading.ts';

/** Its first byte is that of no version that a transaction has. */
const signingDomain = Buffer.from('\u00ffsolana offchain', 'latin1');

export const beginsOffChain = (bytes: Uint8Array): boolean =>
  Buffer.compare(bytes.subarray(0, signingDomain.length), signingDomain) === 0;

interface OffChainMessage {
  readonly form: string;
  readonly application?: string;
  readonly format?: number;
  readonly signers: readonly string[];
  readonly text: string;
}

/** Texts by their number: printable ASCII, UTF-8, and UTF-8 that is longer than hardware shows. */
const formats = 3;

const forms: readonly ((cursor: Cursor) => OffChainMessage)[] = [
  // The proposal of Anza (docs.anza.xyz/proposals/off-chain-message-signing), which @solana/kit writes.
  (cursor) => {
    version(cursor, 0);
    const application = encodeBase58(cursor.take(32));
    const format = cursor.byte();
    const signers = keys(cursor);
    return { form: 'Version 0', application, format, signers, text: sizedText(cursor, format) };
  },
  // The crate solana-offchain-message, which Solana's command line writes.
  (cursor) => {
    version(cursor, 0);
    const format = cursor.byte();
    return { form: 'Version 0, of the command line', format, signers: [], text: sizedText(cursor, format) };
  },
  (cursor) => {
    version(cursor, 1);
    return { form: 'Version 1', signers: keys(cursor), text: textOf(cursor.rest()) };
  },
];

function version(cursor: Cursor, expected: number): void {
  const got = cursor.byte();
  if (got !== expected) unreadable(`version ${String(got)} of such messages is not read here`);
}

function keys(cursor: Cursor): readonly string[] {
  const count = cursor.byte();
  if (count === 0) unreadable('the message names no signer');
  return Array.from({ length: count }, () => encodeBase58(cursor.take(32)));
}

function sizedText(cursor: Cursor, format: number): string {
  if (format >= formats) unreadable(`there is no format ${String(format)} of such messages`);
  const text = textOf(cursor.take(Number(cursor.littleEndian(2))));
  cursor.end();
  if (format === 0 && !/^[ -~]*$/.test(text)) unreadable('the text is not the ASCII that it is said to be');
  return text;
}

function textOf(bytes: Uint8Array): string {
  if (bytes.length === 0) unreadable('the message has no text');
  return utf8(bytes) ?? unreadable('expected text of UTF-8');
}

/**
 * Reads the message in each form. Bytes that are a message in two forms are ambiguous, so they are refused.
 */
function readOffChain(bytes: Uint8Array): Read<OffChainMessage> {
  const rest = bytes.subarray(signingDomain.length);
  const reads = forms.map((form) => attempt(() => form(new Cursor(rest, 'the message'))));
  const found = reads.filter((read) => read.ok);
  const [only] = found;
  if (only === undefined) return { ok: false, problem: 'it has none of the forms that such messages have' };
  return found.length === 1
    ? only
    : { ok: false, problem: 'it has two of the forms that such messages have' };
}

/** @param bytes What `beginsOffChain` holds for. */
export function describeOffChain(bytes: Uint8Array, context: Context): Description {
  const writer = new Writer();
  const read = readOffChain(bytes);
  if (!read.ok) writer.warn('This vault cannot read all of it. It does not know what the message says.');
  return {
    title: 'Sign a message of Solana that is no transaction',
    lines: read.ok
      ? linesOf(read.value, context, writer)
      : [
          line('Not read', `This vault cannot read all of it: ${read.problem}`),
          line('Bytes', writer.bytes(bytes)),
        ],
    parts: [],
    warnings: writer.warnings,
    digests: [],
  };
}

const linesOf = (message: OffChainMessage, context: Context, writer: Writer): readonly Line[] => [
  line('Text', writer.text(message.text)),
  line('Form', message.form),
  ...(message.application === undefined ? [] : [line('Application', message.application)]),
  ...(message.format === undefined ? [] : [line('Format', message.format)]),
  ...message.signers.map((key, index) => {
    const own = context.ours(key);
    return line(`Signer ${String(index + 1)}`, own === undefined ? key : ownWords(own, key, writer));
  }),
];
