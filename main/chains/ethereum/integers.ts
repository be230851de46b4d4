/** Whole numbers as Ethereum's tools write them in JSON. */
import { invalid } from '../../crypto/encodings.ts';
import { kindOf } from '../../crypto/json.ts';

/** 2^256 in decimal has 78 digits; longer text is out of any range, and slow to read. */
const mostDigits = 80;

/**
 * @param value A number, a bigint, or text in decimal or with 0x in hex.
 * @param bits The number's width.
 * @throws KeyhearthError INVALID_ARGUMENT when the value is not a whole number or out of range.
 */
export function readInteger(field: string, value: unknown, bits: number, signed = false): bigint {
  const type = `${signed ? 'int' : 'uint'}${String(bits)}`;
  const number = toBigInt(value);
  if (number === undefined) {
    throw invalid(
      field,
      `expected ${type}: a whole number, or text with one in decimal or in hex with 0x; got ${typeof value === 'string' ? 'text that is none' : typeof value === 'number' ? 'a number that is not whole' : kindOf(value)}`,
    );
  }
  const [least, most] = signed
    ? [-(1n << BigInt(bits - 1)), (1n << BigInt(bits - 1)) - 1n]
    : [0n, (1n << BigInt(bits)) - 1n];
  if (number >= least && number <= most) return number;
  throw invalid(field, `expected ${type}, got a number that is too ${number < least ? 'small' : 'large'}`);
}

function toBigInt(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  if (typeof value !== 'string' || value.length > mostDigits) return undefined;
  if (/^0x[0-9a-f]+$/i.test(value)) return BigInt(value);
  return /^-?[0-9]+$/.test(value) ? BigInt(value) : undefined;
}

/** @returns the number in big-endian order, in two's complement where it is below zero. */
export function integerBytes(number: bigint, length: number): Uint8Array {
  return Uint8Array.from(
    Buffer.from(
      BigInt.asUintN(length * 8, number)
        .toString(16)
        .padStart(length * 2, '0'),
      'hex',
    ),
  );
}
