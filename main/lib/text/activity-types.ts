/** The type of an activity: its kind is the type without its version, and its path follows from the kind. */

/** `ACTIVITY_TYPE_SIGN_RAW_PAYLOAD` of `ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2`, in any case. */
export const withoutVersion = (name: string): string => name.replace(/_V[0-9]+$/i, '');

/** `SIGN_RAW_PAYLOAD` of `ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2`. */
export const kindOf = (type: string): string => withoutVersion(type.replace(/^ACTIVITY_TYPE_/, ''));

/** The last part of the path that accepts a type: `sign_raw_payload` of `ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2`. */
export const pathOfType = (type: string): string => kindOf(type).toLowerCase();

/** The types of votes, by what the voter does. */
export const voteTypes = {
  approve: 'ACTIVITY_TYPE_APPROVE_ACTIVITY',
  reject: 'ACTIVITY_TYPE_REJECT_ACTIVITY',
} as const;
