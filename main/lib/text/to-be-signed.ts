/** What an activity signs, for people who are to agree to it: the window, the command and notifications describe the same. */

import { kindOf } from './activity-types.ts';

type Intent = Readonly<Record<string, unknown>>;

/** As the API answers it. */
export interface PendingActivity {
  readonly type: string;
  /** What was asked, in a wrapper that names the type’s version. */
  readonly intent: Intent;
}

/** The parameters of `describe_payload`. */
export type ToBeSigned = Intent;

/** What was asked, without its wrapper. */
export function intentOf({ intent }: Pick<PendingActivity, 'intent'>): Intent {
  const [first] = Object.values(intent);
  return typeof first === 'object' && first !== null && !Array.isArray(first) ? (first as Intent) : {};
}

/** What came of it, without its wrapper. */
export const resultOf = ({ result }: { readonly result: Intent }): unknown =>
  Object.entries(result).find(([name]) => name !== 'activity')?.[1];

/** @returns each thing that the activity signs, in its order, with the key that signs it; nothing where it signs nothing. */
export function toBeSigned(activity: PendingActivity): readonly ToBeSigned[] {
  const intent = intentOf(activity);
  // Older versions name the key so.
  const signWith = intent['signWith'] ?? intent['privateKeyId'];
  switch (kindOf(activity.type)) {
    case 'SIGN_TRANSACTION': {
      const { type, unsignedTransaction } = intent;
      return [{ type, unsignedTransaction, signWith }];
    }
    case 'SIGN_RAW_PAYLOAD': {
      const { payload, encoding, hashFunction, preimage } = intent;
      return [{ payload, encoding, hashFunction, preimage, signWith }];
    }
    case 'SIGN_RAW_PAYLOADS': {
      const { payloads, encoding, hashFunction } = intent;
      if (!Array.isArray(payloads)) return [];
      return payloads.map((payload: unknown) => ({ payload, encoding, hashFunction, signWith }));
    }
    default:
      return [];
  }
}
