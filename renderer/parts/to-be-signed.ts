/** What an activity signs, for whoever is to agree to it. */

import { bareType, intentOf } from './activity-words.ts';
import type { Activity } from './resources.ts';

/** The parameters of `sign_transaction` or of `sign_raw_payload`, as `describe_payload` takes them. */
export type ToBeSigned = Readonly<Record<string, unknown>>;

/** @returns each thing that the activity signs, in its order; nothing where it signs nothing. */
export function toBeSignedBy(activity: Pick<Activity, 'type' | 'intent'>): readonly ToBeSigned[] {
  const intent = intentOf(activity);
  switch (bareType(activity.type)) {
    case 'SIGN_TRANSACTION': {
      const { type, unsignedTransaction, signWith } = intent;
      // Only Bitcoin's transactions are read by who signs them, and a key may be gone since.
      return [{ type, unsignedTransaction, ...(type === 'TRANSACTION_TYPE_BITCOIN' ? { signWith } : {}) }];
    }
    case 'SIGN_RAW_PAYLOAD': {
      const { payload, encoding, hashFunction, preimage } = intent;
      return [{ payload, encoding, hashFunction, preimage }];
    }
    case 'SIGN_RAW_PAYLOADS': {
      const { payloads, encoding, hashFunction } = intent;
      if (!Array.isArray(payloads)) return [];
      return payloads.map((payload: unknown) => ({ payload, encoding, hashFunction }));
    }
    default:
      return [];
  }
}
