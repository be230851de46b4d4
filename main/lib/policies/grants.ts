/**
 * Grants: approvals for a time. A grant is a policy with an end, so policies stay the only ones to decide. The notes mark it,
 * and its `time` says its end.
 */

export const grantSpans = ['TEN_MINUTES', 'TODAY'] as const;
export type GrantSpan = (typeof grantSpans)[number];

export const grantNotes = 'An approval for a time. A lock, a freeze or a restart ends it.';

/** True for a request that a grant can bound: a login or message of SSH by its door, or a transaction of Ethereum. */
export function isGrantable(kind: string, intent: unknown): boolean {
  const { type, origin } = (intent ?? {}) as {
    readonly type?: string;
    readonly origin?: { readonly door?: string };
  };
  return kind === 'SIGN_TRANSACTION'
    ? type === 'TRANSACTION_TYPE_ETHEREUM'
    : kind === 'SIGN_RAW_PAYLOAD' && origin?.door === 'ssh';
}

/** How the condition of a grant ends: with that of the policy that asked. */
export const inheritedFrom = ({ condition }: { readonly condition: string }): string =>
  condition.trim() === '' ? '' : ` && (${condition})`;

/** The user whom a condition names before all else, as those of grants, spenders and programs do. */
export const submitterOf = ({ condition }: { readonly condition: string }): string | undefined =>
  /^submitter\.id == '([^']+)'(?: && |$)/.exec(condition)?.[1];

const tenMinutes = 600_000;

/** @returns the end, in milliseconds. A day ends at midnight in this machine's time zone. */
export const endOf = (span: GrantSpan, now: number): number =>
  span === 'TEN_MINUTES' ? now + tenMinutes : new Date(now).setHours(24, 0, 0, 0);

const timestamp = (at: number): string => `Timestamp('${new Date(at).toISOString()}')`;

/** The policy's `time`. Before its beginning it is not in force, so that a clock that is set back beyond it gives nothing. */
export const grantTime = (from: number, until: number): string =>
  `time.now >= ${timestamp(from)} && time.now < ${timestamp(until)}`;

/** @returns when a grant ends, in milliseconds; undefined for any other policy. */
export function grantEnd({
  effect,
  notes,
  time,
}: {
  readonly effect: string;
  readonly notes?: string | undefined;
  readonly time?: string | null | undefined;
}): number | undefined {
  const [, end] = /time\.now < Timestamp\('([^']+)'\)/.exec(time ?? '') ?? [];
  return effect === 'EFFECT_ALLOW' && notes === grantNotes && end !== undefined ? Date.parse(end) : undefined;
}
