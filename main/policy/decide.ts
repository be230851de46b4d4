/** Whether an activity may happen, from the facts about it and nothing else. */

export interface PolicyEvaluation {
  readonly policyId: string;
  readonly outcome: string;
}

export interface Facts {
  /** The distinct users who voted for the activity, its submitter included. */
  readonly approvers: readonly { readonly userId: string; readonly root: boolean }[];
  /** How many members of the root quorum must agree for it to act as one. */
  readonly rootQuorumThreshold: number;
}

export type Verdict =
  | { readonly outcome: 'allow' }
  | { readonly outcome: 'deny'; readonly reason: string; readonly evaluations: readonly PolicyEvaluation[] };

/** The root quorum may do anything; for everybody else nothing is allowed that no policy allows. */
export function decide(facts: Facts): Verdict {
  const rootApprovals = facts.approvers.filter(({ root }) => root).length;
  if (rootApprovals > 0 && rootApprovals >= facts.rootQuorumThreshold) return { outcome: 'allow' };
  return { outcome: 'deny', reason: 'No policies evaluated to outcome: Allow', evaluations: [] };
}
