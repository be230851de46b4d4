/** Addresses in a policy: it names an account, and the letters do not matter. */
import { decodeHex, encodeBase58Check } from '../../crypto/encodings.ts';

interface AddressKind {
  /** Of its addresses, as `writtenAddress` writes them. */
  readonly shape: RegExp;
  readonly expected: string;
}

export const addressKinds = {
  ethereum: { shape: /^0x[0-9a-f]{40}$/, expected: '0x and 40 hex digits' },
  bitcoin: {
    shape: /^(?:(?:bc|tb|bcrt)1[02-9ac-hj-np-z]{8,87}|[123mn][1-9A-HJ-NP-Za-km-z]{25,34})$/,
    expected: 'an address in Bech32 or Base58',
  },
  tron: {
    shape: /^T[1-9A-HJ-NP-Za-km-z]{33}$/,
    expected: 'an address in Base58 that begins with T, or 42 hex digits that begin with 41',
  },
  solana: { shape: /^[1-9A-HJ-NP-Za-km-z]{32,44}$/, expected: '32 bytes in Base58' },
  /** Of an account of a wallet: in any format. */
  account: { shape: /^/, expected: 'an address' },
} as const satisfies Record<string, AddressKind>;

export type AddressOf = keyof typeof addressKinds;

const tronHex = /^(?:0x)?41[0-9a-f]{40}$/i;
/** Letters carry no meaning in hex, nor in Bech32, which may also be all in capitals. */
const hex = /^(?:0x)?[0-9a-f]{40,130}$/i;
const capitalBech32 = /^[A-Z]{2,10}1[02-9AC-HJ-NP-Z]{8,}$/;

/**
 * An address in the spelling that is compared, whatever its chain. Each spelling of an address comes to the same text, and no two
 * addresses do. Every other text stays as it is.
 */
export function writtenAddress(text: string): string {
  if (tronHex.test(text)) return encodeBase58Check(decodeHex('address', text));
  return hex.test(text) || capitalBech32.test(text) ? text.toLowerCase() : text;
}

/** True for a text that an address of the kind may be; it is empty where a fact has none. */
export const isAddress = (of: AddressOf, text: string): boolean =>
  text === '' || addressKinds[of].shape.test(writtenAddress(text));
