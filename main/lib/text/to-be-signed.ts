/**
 * Describes the signing of an activity for the people who approve it: the window, the command and
 * notifications say the same.
 */

import { kindOf } from './activity-types.ts';

type Intent = Readonly<Record<string, unknown>>;

/** As the API answers it. */
export interface PendingActivity {
  readonly type: string;
  /** The request, in a wrapper that names the type’s version. */
  readonly intent: Intent;
}

/** The parameters of `describe_payload`. */
export type ToBeSigned = Intent;

/** The wrapper of a request that cannot be read: it has the text of the request alone. */
export const unreadableIntent = 'unreadableIntent';

/** The request without its wrapper. */
export function intentOf({ intent }: Pick<PendingActivity, 'intent'>): Intent {
  const [first] = Object.values(intent);
  return typeof first === 'object' && first !== null && !Array.isArray(first) ? (first as Intent) : {};
}

/** The result without its wrapper. */
export const resultOf = ({ result }: { readonly result: Intent }): unknown =>
  Object.entries(result).find(([name]) => name !== 'activity')?.[1];

/** @returns each thing that the activity signs, in its order, with the key that signs it; nothing where it signs nothing. */
export function toBeSigned(activity: PendingActivity): readonly ToBeSigned[] {
  if (Object.hasOwn(activity.intent, unreadableIntent)) return [];
  const intent = intentOf(activity);
  // Older versions name the key so.
  const signWith = intent['signWith'] ?? intent['privateKeyId'];
  switch (kindOf(activity.type)) {
    case 'SIGN_TRANSACTION': {
      const { type, unsignedTransaction, origin } = intent;
      return [{ type, unsignedTransaction, origin, signWith }];
    }
    case 'SIGN_RAW_PAYLOAD': {
      const { payload, encoding, hashFunction, preimage, origin } = intent;
      return [{ payload, encoding, hashFunction, preimage, origin, signWith }];
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
