/** Why a program's request was refused, in words: which policy denies it, or which of its own allow less. */
import { KeyhearthError, quoted } from '../lib/errors.ts';
import { policiesOfProgram } from '../lib/policies/doors.ts';
import type { Answer, QueryParameters, QueryPath } from '../operations/api.ts';

/** Asks the API as the program's user. */
type AskApi = <Path extends QueryPath>(
  path: Path,
  parameters: QueryParameters<Path>,
) => Promise<Answer<Path>>;

/** The outcome of one policy in a decision. */
export interface Evaluation {
  readonly policyId: string;
  readonly outcome?: string | undefined;
}

/** Policies refused the request. The names of those that its message quotes are data that users wrote. */
export class RefusedError extends KeyhearthError {
  constructor(words: string, { turnkeyErrorCode, details }: KeyhearthError) {
    super('PERMISSION_DENIED', words, { turnkeyErrorCode, details });
  }
}

/**
 * @param ownId Answers the id of the program's user, or throws where it was removed.
 * @returns the error with the policies in its words, or the error itself where they did not cause it.
 */
export async function explainedRefusal(ask: AskApi, ownId: () => string, error: unknown): Promise<unknown> {
  if (!(error instanceof KeyhearthError) || error.turnkeyErrorCode !== 'REQUEST_NOT_AUTHORIZED') return error;
  const evaluations = error.details.flatMap((detail) =>
    Array.isArray(detail['policyEvaluations']) ? (detail['policyEvaluations'] as readonly Evaluation[]) : [],
  );
  try {
    const words = await deniedBy(ask, ownId(), evaluations);
    return words === undefined ? error : new RefusedError(words, error);
  } catch {
    // The vault was locked or frozen, or the program removed, since: the refusal stands.
    return error;
  }
}

/** @returns undefined where the program has no policies. */
export async function deniedBy(
  ask: AskApi,
  userId: string,
  evaluations: readonly Evaluation[],
): Promise<string | undefined> {
  const { policies } = await ask('list_policies', {});
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
