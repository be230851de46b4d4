/** Why a program's request was refused, in words: which policy denies it, or which of its own allow less. */
import { KeyhearthError, quoted } from '../lib/errors.ts';
import { policiesOfProgram } from '../lib/policies/doors.ts';
import type { Gone, Program } from './program.ts';

/** The outcome of one policy in a decision. */
export interface Evaluation {
  readonly policyId: string;
  readonly outcome?: string | undefined;
}

/** @returns undefined for an error that policies did not cause. */
export async function refusalOf(program: Program, error: unknown, gone: Gone): Promise<string | undefined> {
  if (!(error instanceof KeyhearthError) || error.turnkeyErrorCode !== 'REQUEST_NOT_AUTHORIZED')
    return undefined;
  const evaluations = error.details.flatMap((detail) =>
    Array.isArray(detail['policyEvaluations']) ? (detail['policyEvaluations'] as readonly Evaluation[]) : [],
  );
  return (await deniedBy(program, evaluations, gone)) ?? error.message;
}

/** @returns undefined where the program has no policies. */
export async function deniedBy(
  program: Program,
  evaluations: readonly Evaluation[],
  gone: Gone,
): Promise<string | undefined> {
  const { userId } = await program.query('whoami', {}, gone);
  const { policies } = await program.query('list_policies', {}, gone);
  const own = policiesOfProgram(userId, policies);
  const denying = new Set(
    evaluations.filter(({ outcome }) => outcome === 'OUTCOME_DENY_EXPLICIT').map(({ policyId }) => policyId),
  );
  const named = (wanted: (policy: (typeof policies)[number]) => boolean): string =>
    policies
      .filter(wanted)
      .map(({ policyName }) => quoted(policyName))
      .join(', ');
  const denials = named(({ policyId }) => denying.has(policyId));
  if (denials !== '') return `denied by the policy ${denials}`;
  const allowing = named(({ policyId, effect }) => effect === 'EFFECT_ALLOW' && own.includes(policyId));
  return allowing === '' ? undefined : `not within the policy ${allowing}`;
}
