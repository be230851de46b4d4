/** Ethereum addresses: writing them with their checksum, and reading them. */
import { checkBytes } from '../../crypto/bytes.ts';
import { invalid, toHex } from '../../crypto/encodings.ts';
import { keccak256 } from '../../crypto/hashes.ts';
import { kindOf } from '../../crypto/json.ts';
import { Lru } from '../../lib/lru.ts';

/**
 * An Ethereum address with the checksum of EIP-55 in the case of its letters.
 * @param address 20 bytes.
 */
export function checksumAddress(address: Uint8Array): string {
  checkBytes('address', address, 20);
  const digits = toHex(address);
  const known = checksummed.get(digits);
  if (known !== undefined) return known;
  const checksum = toHex(keccak256(Buffer.from(digits, 'ascii')));
  const text = `0x${Array.from(digits, (digit, at) => (parseInt(checksum.charAt(at), 16) >= 8 ? digit.toUpperCase() : digit)).join('')}`;
  checksummed.set(digits, text);
  return text;
}

/** A vault pays to few addresses, and each decision writes them again. */
const checksummed = new Lru<string, string>(1000);

/**
 * @returns 20 bytes.
 * @throws KeyhearthError INVALID_ARGUMENT when the text is not an address, or mixes both cases otherwise than
 * EIP-55.
 */
export function readEthereumAddress(field: string, value: unknown): Uint8Array {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{40}$/i.test(value)) {
    throw invalid(
      field,
      `expected an Ethereum address, 0x and 40 hex digits; got ${typeof value === 'string' ? `${String(value.length)} characters` : kindOf(value)}`,
    );
  }
  const digits = value.slice(2);
  const bytes = Uint8Array.from(Buffer.from(digits, 'hex'));
  const oneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase();
  if (oneCase || checksumAddress(bytes).slice(2) === digits) return bytes;
  throw invalid(
    field,
    'expected an Ethereum address with the checksum of EIP-55, got one whose upper and lower case letters do not fit: it may be mistyped',
  );
}
