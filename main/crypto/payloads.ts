/** The encodings of a payload to be signed, a row each. */
import { decodeHex, encodeUtf8 } from './encodings.ts';

export type PayloadEncoding = 'PAYLOAD_ENCODING_HEXADECIMAL' | 'PAYLOAD_ENCODING_TEXT_UTF8';

interface PayloadEncodingEntry {
  /**
   * @param field The payload's name in the request, for errors.
   * @throws LatchkeyError INVALID_ARGUMENT naming the field.
   */
  decode(field: string, payload: string): Uint8Array;
}

export const payloadEncodings: Readonly<Record<PayloadEncoding, PayloadEncodingEntry>> = {
  PAYLOAD_ENCODING_HEXADECIMAL: { decode: (field, payload) => decodeHex(field, payload) },
  PAYLOAD_ENCODING_TEXT_UTF8: { decode: encodeUtf8 },
};
