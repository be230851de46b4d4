/**
 * Texts are shown to the letter: different messages are described differently, whatever prefix of a wallet they stand behind, and
 * the description is read back to the very bytes.
 */
import fc from 'fast-check';
import { hexToBytes, toPrefixedMessage } from 'viem';
import { describe, expect, test } from 'vitest';
import type { Context } from '../../main/chains/chain.ts';
import type { Description } from '../../main/chains/description.ts';
import { openPayload } from '../../main/chains/payloads/open.ts';
import { visibleText } from '../../main/lib/text/visible-text.ts';

const context: Context = {
  key: undefined,
  interfaces: { abi: () => undefined, idl: () => undefined },
  ours: () => undefined,
};

const described = (bytes: Uint8Array, hashFunction = 'HASH_FUNCTION_KECCAK256' as const): Description =>
  openPayload(
    { payload: Buffer.from(bytes).toString('hex'), encoding: 'PAYLOAD_ENCODING_HEXADECIMAL', hashFunction },
    context,
    'payload',
  ).describe();

const lineOf = ({ lines }: Description, label: string): string | undefined =>
  lines.find((line) => line.label === label)?.value;

/** The bytes that a wallet hashes for a message, by the independent library. */
const personal = (message: Uint8Array): Uint8Array => hexToBytes(toPrefixedMessage({ raw: message }));

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('a message for Ethereum (EIP-191)', () => {
  test.each(['42', '1000000 USDC to 0x35', '0', '', '7'.repeat(12), '1', `${'9'.repeat(9)} of ten`])(
    'keeps the digits that it begins with: %j',
    (text) => {
      const description = described(personal(utf8(text)));
      expect(description.title).toBe('Sign a message for Ethereum');
      expect(lineOf(description, 'Text')).toBe(text);
      expect(lineOf(description, 'Size')).toBe(`${String(utf8(text).length)} bytes`);
      expect(description.warnings).toEqual([]);
    },
  );

  test.each([
    ['shorter', '\u0019Ethereum Signed Message:\n54242'],
    ['longer', '\u0019Ethereum Signed Message:\n142'],
    ['with a zero before it', '\u0019Ethereum Signed Message:\n0242'],
    ['that is none', '\u0019Ethereum Signed Message:\nab'],
  ])('of a length that is %s is no such message', (_, text) => {
    const description = described(utf8(text));
    expect(description.title).not.toContain('Ethereum');
    expect(description.warnings.join(' ')).toContain('begins like a message for Ethereum');
    expect(JSON.stringify(description.lines)).toContain(Buffer.from(text).toString('hex'));
  });

  test('that is the hash of something else is warned of', () => {
    const description = described(personal(new Uint8Array(32).fill(0x61)));
    expect(description.warnings.join(' ')).toContain('32 bytes');
  });
});

/** Deceptive characters, digits first. */
const deceiving = fc.oneof(
  fc.constantFrom(
    ...['0', '1', '42', ' ', '  ', '\n', '\r', '\t', '\u202e', '\u200b', '\u00a0', '⟨U+202E⟩', '⟨', '⟩'],
    ...['05$', 'א', 'e\u0301', 'é', '\u212a', 'K', '❤️', '❤', '\u0000', '\u001b[2J', '\ufeff'],
  ),
  fc.string({ unit: 'binary', maxLength: 3 }),
);
const texts = fc.array(deceiving, { maxLength: 8 }).map((parts) => parts.join('').toWellFormed());

/** The bytes that a description shows. */
function shownBytes(description: Description): Uint8Array {
  const text = lineOf(description, 'Text');
  if (text === undefined) {
    const hex = lineOf(description, 'Bytes') ?? '';
    return new Uint8Array(Buffer.from(hex === 'None' ? '' : hex, 'hex'));
  }
  return utf8(
    text.replaceAll(/⟨U\+([0-9A-F]+)⟩/g, (_, code: string) =>
      String.fromCodePoint(Number.parseInt(code, 16)),
    ),
  );
}

describe('any text', () => {
  test.each([
    ['as a message for Ethereum', personal],
    ['as it is', (bytes: Uint8Array) => bytes],
  ])('%s is read back from its description', (_, wrapped) => {
    fc.assert(
      fc.property(texts, (text) => {
        const bytes = utf8(text);
        expect(shownBytes(described(wrapped(bytes)))).toEqual(bytes);
      }),
      { numRuns: 1_000 },
    );
  });

  test('with hidden characters shows them, and is warned of', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const description = described(utf8(text));
        const shown = lineOf(description, 'Text');
        if (shown === undefined) return;
        expect(shown).toBe(visibleText(text));
        expect(description.warnings.some((warning) => warning.includes('not visible'))).toBe(shown !== text);
      }),
      { numRuns: 1_000 },
    );
  });

  test.each([
    ['Log in to Pаypal', 'mixes letters that look alike: Cyrillic and Latin'],
    ['Send to vitalík.eth', 'letters beyond a to z'],
    ['pay 05$ to אב', 'from right to left'],
  ])('that looks like another is warned of: %j', (text, warning) => {
    expect(described(utf8(text)).warnings.join(' ')).toContain(warning);
  });

  test('that is too long to be shown differs from every other', () => {
    const long = 'a'.repeat(20_000);
    const [one, other] = [`${long}1`, `${long}2`].map((text) => described(personal(utf8(text))));
    expect(one?.lines).not.toEqual(other?.lines);
    expect(one?.warnings.join(' ')).toContain('20001 characters');
  });
});
