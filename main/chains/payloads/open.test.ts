/**
 * Raw payloads are shown as they are, and are to policies what a chain would make of them. The classes: a message is not
 * shortened by what stands in it; a digest is anything; a transaction stays one whichever way it is signed.
 */
import fc from 'fast-check';
import { hashMessage, keccak256, serializeTransaction, toHex } from 'viem';
import { describe, expect, test } from 'vitest';
import { curves } from '../../crypto/keys/curves.ts';
import type { HashFunction } from '../../crypto/hashes.ts';
import { visibleText } from '../../lib/text/visible-text.ts';
import { Unknown } from '../../policy/language/types.ts';
import type { Context } from '../chain.ts';
import { openPayload, type OpenedPayload, type RawPayload } from './open.ts';

const interfaces = { abi: () => undefined, idl: () => undefined };

function contextOf(curve?: 'CURVE_SECP256K1' | 'CURVE_P256' | 'CURVE_ED25519'): Context {
  const key = curve && {
    curve,
    publicKey: curves[curve].publicKey(new Uint8Array(32).fill(1)),
    format: undefined,
  };
  return { key, interfaces, ours: () => undefined };
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

const open = (
  payload: string,
  encoding: 'HEXADECIMAL' | 'TEXT_UTF8',
  hashFunction: HashFunction,
  { curve, preimage }: { curve?: Parameters<typeof contextOf>[0]; preimage?: RawPayload['preimage'] } = {},
): OpenedPayload =>
  openPayload(
    { payload, encoding: `PAYLOAD_ENCODING_${encoding}`, hashFunction, preimage },
    contextOf(curve),
    'payload',
  );

const valueAt = (opened: OpenedPayload, label: string): string | undefined =>
  opened.describe().lines.find((each) => each.label === label)?.value;

/** The names of the facts, with whether each is known. */
/** Without `eth.outflow`, which `outflow.test.ts` covers. */
function factsOf(opened: OpenedPayload): Record<string, 'known' | 'unknown'> {
  const { 'eth.outflow': _, ...others } = opened.facts();
  const facts = Object.entries(others).map(([keyword, read]: [string, () => unknown]) => {
    const value = read();
    return value === undefined ? [] : [[keyword, value instanceof Unknown ? 'unknown' : 'known'] as const];
  });
  return Object.fromEntries(facts.flat());
}

describe('a message for Ethereum (EIP-191)', () => {
  const personal = (message: Uint8Array): Uint8Array =>
    Buffer.concat([
      Buffer.from(`\u0019Ethereum Signed Message:\n${String(message.length)}`, 'utf8'),
      message,
    ]);

  test.each(['42', '1000000 USDC to Bob', '', '7', '00', ' 5', 'Grüße'])('%j is shown whole', (text) => {
    const bytes = personal(Buffer.from(text, 'utf8'));
    const opened = open(hex(bytes), 'HEXADECIMAL', 'HASH_FUNCTION_KECCAK256');
    expect(opened.describe().title).toBe('Sign a message for Ethereum');
    expect(valueAt(opened, 'Text')).toBe(text);
    expect(toHex(opened.toSign)).toBe(hashMessage(text));
    expect(factsOf(opened)).toEqual({});
  });

  test('any message is shown as it is', () => {
    const texts = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.stringMatching(/^[0-9]{0,30}$/),
      fc.string({ minLength: 95, maxLength: 105 }),
    );
    fc.assert(
      fc.property(texts, (text) => {
        fc.pre(!/[\p{Co}\p{Cn}\p{Cc}]/u.test(text) && text.isWellFormed());
        const opened = open(
          hex(personal(Buffer.from(text, 'utf8'))),
          'HEXADECIMAL',
          'HASH_FUNCTION_KECCAK256',
        );
        expect(valueAt(opened, 'Text')).toBe(visibleText(text));
      }),
    );
  });

  test.each([
    ['a length that is too small', '\u0019Ethereum Signed Message:\n1Pay 5'],
    ['a length that is too large', '\u0019Ethereum Signed Message:\n99Pay 5'],
    ['a length with a zero before it', '\u0019Ethereum Signed Message:\n05Pay 5'],
    ['no length', '\u0019Ethereum Signed Message:\nPay 5'],
  ])('%s makes it no message', (_, text) => {
    const { title, warnings } = open(text, 'TEXT_UTF8', 'HASH_FUNCTION_KECCAK256').describe();
    expect(title).toMatch(/^Sign \d+ bytes$/);
    expect(warnings.join(' ')).toContain('does not have the length that it says');
  });

  test('a message that is a hash is warned of', () => {
    const opened = open(hex(personal(new Uint8Array(32).fill(7))), 'HEXADECIMAL', 'HASH_FUNCTION_KECCAK256');
    expect(opened.describe().warnings.join(' ')).toContain('it may be the hash of something else');
  });

  test('bytes that are hashed otherwise are none', () => {
    const opened = open(hex(personal(Buffer.from('42'))), 'HEXADECIMAL', 'HASH_FUNCTION_SHA256');
    expect(opened.describe().title).not.toContain('Ethereum');
  });
});

describe('a text', () => {
  test('its hidden characters are shown, and warned of', () => {
    const { lines, warnings } = open('05\u202e$', 'TEXT_UTF8', 'HASH_FUNCTION_SHA256').describe();
    expect(lines[0]).toEqual({ label: 'Text', value: '05⟨U+202E⟩$' });
    expect(warnings.join(' ')).toContain('not visible');
  });

  test('white space stays', () => {
    const text = '  two  blanks\n\nand lines \n';
    expect(valueAt(open(text, 'TEXT_UTF8', 'HASH_FUNCTION_SHA256'), 'Text')).toBe(text);
  });

  test('beyond the bound it is counted, and no two are shown alike', () => {
    const [one, other] = ['a', 'b'].map((end) =>
      open(`${'x'.repeat(20_000)}${end}`, 'TEXT_UTF8', 'HASH_FUNCTION_SHA256').describe(),
    );
    expect(one?.warnings.join(' ')).toContain('20001 characters');
    expect(one).not.toEqual(other);
  });

  test('the description tells how it is hashed', () => {
    const [one, other] = (['HASH_FUNCTION_SHA256', 'HASH_FUNCTION_KECCAK256'] as const).map((hash) =>
      open('hello', 'TEXT_UTF8', hash).describe(),
    );
    expect(one).not.toEqual(other);
  });
});

describe('a digest', () => {
  const everything = {
    'eth.tx': 'unknown',
    'eth.eip_712': 'unknown',
    'eth.eip_7702_authorization': 'unknown',
    'tron.tx': 'unknown',
    'bitcoin.tx': 'unknown',
    'tempo.tx': 'unknown',
  };

  test.each([
    ['bytes', '11'.repeat(32), 'HEXADECIMAL'],
    ['a text', 'thirty-two letters make a digest', 'TEXT_UTF8'],
  ] as const)('of %s may stand for anything', (_, payload, encoding) => {
    const opened = open(payload, encoding, 'HASH_FUNCTION_NO_OP', { curve: 'CURVE_SECP256K1' });
    expect(factsOf(opened)).toEqual(everything);
    expect(opened.describe().title).toBe('Sign a hash');
  });

  test('on P-256 is not read as a transaction of chains that do not use that curve', () => {
    const opened = open('11'.repeat(32), 'HEXADECIMAL', 'HASH_FUNCTION_NO_OP', { curve: 'CURVE_P256' });
    expect(factsOf(opened)).toEqual({ 'tempo.tx': 'unknown', ssh: 'unknown', git: 'unknown' });
  });

  const transaction = serializeTransaction({
    type: 'eip1559',
    chainId: 1,
    nonce: 3,
    to: '0x3535353535353535353535353535353535353535',
    value: 10n ** 18n,
    gas: 21_000n,
    maxFeePerGas: 30n * 10n ** 9n,
    maxPriorityFeePerGas: 10n ** 9n,
  });

  test('with its preimage is what the preimage is', () => {
    const opened = open(keccak256(transaction), 'HEXADECIMAL', 'HASH_FUNCTION_NO_OP', {
      curve: 'CURVE_SECP256K1',
      preimage: { bytes: transaction, hashFunction: 'HASH_FUNCTION_KECCAK256' },
    });
    expect(factsOf(opened)).toEqual({ 'eth.tx': 'known' });
    expect(opened.describe().title).toContain('0x3535353535353535353535353535353535353535');
    expect(valueAt(opened, 'Checked')).toBe('The hash that is signed is the hash of this');
  });

  test('with a preimage that is a text is that text, and no transaction', () => {
    const opened = open(keccak256(toHex('hello')), 'HEXADECIMAL', 'HASH_FUNCTION_NO_OP', {
      curve: 'CURVE_SECP256K1',
      preimage: { bytes: toHex('hello'), hashFunction: 'HASH_FUNCTION_KECCAK256' },
    });
    expect(factsOf(opened)).toEqual({});
    expect(valueAt(opened, 'Text')).toBe('hello');
  });

  test('has 32 bytes', () => {
    expect(() => open('11'.repeat(31), 'HEXADECIMAL', 'HASH_FUNCTION_NO_OP')).toThrow('32-bytes-long digest');
  });

  test('a transaction is one as a raw payload too', () => {
    const opened = open(transaction, 'HEXADECIMAL', 'HASH_FUNCTION_KECCAK256', { curve: 'CURVE_SECP256K1' });
    expect(factsOf(opened)).toEqual({ 'eth.tx': 'known' });
  });
});

/** The class: what a digest may stand for, in an encoding that a policy does not name. */
describe('a transaction of Tempo', () => {
  // Of ox, which also names the two types.
  const transaction =
    '76e9821079808080dad99407e1ed8ea0e9601e5546b0a03aed683df360140780821234c0808080808080c0';
  const forFees = `78${transaction.slice(2)}`;
  const authorization = 'd9821079809407e1ed8ea0e9601e5546b0a03aed683df3601407';
  const asKeccak = ['HASH_FUNCTION_KECCAK256', {}] as const;

  test.each([
    ['CURVE_SECP256K1', transaction, ...asKeccak],
    ['CURVE_P256', transaction, ...asKeccak],
    ['CURVE_SECP256K1', forFees, ...asKeccak],
    ['CURVE_P256', forFees, ...asKeccak],
    ['CURVE_P256', authorization, ...asKeccak],
    ['CURVE_P256', keccak256(`0x${transaction}`), 'HASH_FUNCTION_SHA256', {}],
    [
      'CURVE_P256',
      keccak256(`0x${transaction}`),
      'HASH_FUNCTION_NO_OP',
      { preimage: { bytes: transaction, hashFunction: 'HASH_FUNCTION_KECCAK256' } },
    ],
  ] as const)('is unknown on %s, of %s by %s', (curve, payload, hashFunction, more) => {
    const opened = open(payload, 'HEXADECIMAL', hashFunction, { curve, ...more });
    expect(factsOf(opened)['tempo.tx']).toBe('unknown');
    expect(opened.describe().warnings.join(' ')).toContain('may be a transaction');
  });

  test.each([
    ['CURVE_SECP256K1', serializeTransaction({ chainId: 1, type: 'legacy' }), 'HASH_FUNCTION_KECCAK256'],
    ['CURVE_P256', hex(Buffer.from('hello')), 'HASH_FUNCTION_KECCAK256'],
    ['CURVE_P256', hex(Buffer.from('hello')), 'HASH_FUNCTION_SHA256'],
    ['CURVE_SECP256K1', '11'.repeat(32), 'HASH_FUNCTION_SHA256'],
    ['CURVE_ED25519', transaction, 'HASH_FUNCTION_NOT_APPLICABLE'],
  ] as const)('is nothing else on %s: %s by %s', (curve, payload, hashFunction) => {
    const opened = open(payload, 'HEXADECIMAL', hashFunction, { curve });
    expect(factsOf(opened)).not.toHaveProperty('tempo.tx');
  });
});

test('the same bytes in either encoding are described alike, for a voter as for the signer', () => {
  const [text, bytes] = [
    open('hello', 'TEXT_UTF8', 'HASH_FUNCTION_KECCAK256'),
    open(hex(Buffer.from('hello')), 'HEXADECIMAL', 'HASH_FUNCTION_KECCAK256'),
  ];
  expect(text.describe()).toEqual(bytes.describe());
  expect(text.toSign).toEqual(bytes.toSign);
});
