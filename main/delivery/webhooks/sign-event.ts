/** The headers of an event, and the signature among them. */
import { ed25519Signer } from '../../crypto/keys/ed25519.ts';
import { toHex } from '../../crypto/encodings.ts';

export const signatureAlgorithm = 'ed25519';
export const signatureVersion = 'v1';

/** The headers of an event. */
export interface EventHead {
  readonly eventId: string;
  readonly organizationId: string;
  readonly timestampMs: number;
}

/** @returns what signs several events; use it within one turn of the event loop. */
export function eventSigner(
  seed: Uint8Array,
  keyId: string,
): (head: EventHead, body: Uint8Array) => Record<string, string> {
  const sign = ed25519Signer(seed);
  return ({ eventId, organizationId, timestampMs }, body) => {
    const time = String(timestampMs);
    const prefix = Buffer.from(`${[signatureVersion, signatureAlgorithm, keyId, time, eventId].join('.')}.`);
    return {
      'Content-Type': 'application/json',
      'User-Agent': 'Keyhearth',
      'X-Turnkey-Organization-Id': organizationId,
      'X-Turnkey-Event-Type': 'ACTIVITY_UPDATES',
      'X-Turnkey-Timestamp': time,
      'X-Turnkey-Webhook-Version': '1',
      'X-Turnkey-Event-Id': eventId,
      'X-Turnkey-Signature-Key-Id': keyId,
      'X-Turnkey-Signature-Algorithm': signatureAlgorithm,
      'X-Turnkey-Signature-Version': signatureVersion,
      'X-Turnkey-Signature': toHex(sign(Buffer.concat([prefix, body]))),
    };
  };
}
