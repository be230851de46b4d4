/** Messages that wallets sign for Ethereum (EIP-191, version 0x45): a prefix, the message's length, the message. */

import { ethereumMessagePrefix } from '../../lib/text/ethereum-message.ts';

const prefix = Buffer.from(ethereumMessagePrefix, 'utf8');
/** More digits than any payload has bytes. */
const mostDigits = 9;

/**
 * Reads a message by its length, which is written in decimal right before it. A message may itself begin with digits:
 * only the number of digits with which the length is the length of the rest is the right one, and there is one at most.
 * @returns the message alone, where there is one; `begins` tells whether the bytes begin like one.
 */
export function readPersonalMessage(bytes: Uint8Array): {
  readonly begins: boolean;
  readonly message?: Uint8Array;
} {
  if (Buffer.compare(bytes.subarray(0, prefix.length), prefix) !== 0) return { begins: false };
  const rest = bytes.subarray(prefix.length);
  for (let digits = 1; digits <= Math.min(mostDigits, rest.length); digits += 1) {
    const length = Buffer.from(rest.subarray(0, digits)).toString('latin1');
    if (!/^(0|[1-9][0-9]*)$/.test(length)) break;
    if (Number(length) === rest.length - digits) return { begins: true, message: rest.subarray(digits) };
  }
  return { begins: true };
}
