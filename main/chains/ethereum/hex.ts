/** Hexadecimal as Ethereum's models hold it: lowercase with 0x, or an address with its checksum. */
import { toHex } from '../../crypto/encodings.ts';

export const hexOf = (bytes: Uint8Array): string => `0x${toHex(bytes)}`;

/** @param hex As the models hold it. */
export const bytesOfHex = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex.slice(2), 'hex'));
