/** The encodings of a payload to be signed, a row each. */
import { authorizationDigest } from '../ethereum/eip7702.ts';
import { decodeHex, encodeUtf8 } from '../../crypto/encodings.ts';
import { typedDataDigest } from '../ethereum/eip712.ts';

export type PayloadEncoding =
  | 'PAYLOAD_ENCODING_HEXADECIMAL'
  | 'PAYLOAD_ENCODING_TEXT_UTF8'
  | 'PAYLOAD_ENCODING_EIP712'
  | 'PAYLOAD_ENCODING_EIP7702_AUTHORIZATION';

interface PayloadEncodingEntry {
  /** True if decoding gives the digest to sign, so there is nothing left to hash. */
  readonly makesDigest: boolean;
  /**
   * @param field The payload's name in the request, for errors.
   * @throws KeyhearthError INVALID_ARGUMENT naming the field.
   */
  decode(field: string, payload: string): Uint8Array;
}

export const payloadEncodings: Readonly<Record<PayloadEncoding, PayloadEncodingEntry>> = {
  PAYLOAD_ENCODING_HEXADECIMAL: {
    makesDigest: false,
    decode: (field, payload) => decodeHex(field, payload),
  },
  PAYLOAD_ENCODING_TEXT_UTF8: { makesDigest: false, decode: encodeUtf8 },
  PAYLOAD_ENCODING_EIP712: { makesDigest: true, decode: typedDataDigest },
  PAYLOAD_ENCODING_EIP7702_AUTHORIZATION: { makesDigest: true, decode: authorizationDigest },
};
