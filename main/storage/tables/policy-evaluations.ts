/**
 * The evaluation of each policy at a vote. The ids of the policies rarely change between votes, so a list of
 * them is kept once, under the hash of its text. A vote's own row has a letter for each.
 */
import { hash } from 'node:crypto';
import type { Reader, Writer } from '../connection.ts';

const letters = {
  OUTCOME_ALLOW: 'a',
  OUTCOME_DENY_EXPLICIT: 'd',
  OUTCOME_DENY_IMPLICIT: '-',
  OUTCOME_REQUIRES_CONSENSUS: 'c',
  OUTCOME_ERROR: 'e',
  OUTCOME_TIME_INACTIVE: 't',
} as const;

type Outcome = keyof typeof letters;

const outcomes = new Map<string, Outcome>(
  Object.entries(letters).map(([outcome, letter]) => [letter, outcome as Outcome]),
);

interface PolicyEvaluation {
  readonly policyId: string;
  readonly outcome: Outcome;
}

export interface VoteEvaluations {
  readonly id: string;
  readonly organizationId: string;
  readonly activityId: string;
  readonly voteId: string;
  /** In the order of the policies. */
  readonly policyEvaluations: readonly PolicyEvaluation[];
  /** Milliseconds. */
  readonly createdAt: number;
}

export function insertEvaluations(tx: Writer, row: VoteEvaluations): void {
  const ids = JSON.stringify(row.policyEvaluations.map(({ policyId }) => policyId));
  const list = hash('sha256', ids);
  tx.run('INSERT OR IGNORE INTO policy_lists (id, policy_ids) VALUES (?, ?)', list, ids);
  tx.run(
    `INSERT INTO policy_evaluations (id, organization_id, activity_id, vote_id, policy_list, outcomes, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    row.id,
    row.organizationId,
    row.activityId,
    row.voteId,
    list,
    row.policyEvaluations.map(({ outcome }) => letters[outcome]).join(''),
    row.createdAt,
  );
}

/** In the order of the votes. */
export function listEvaluations(tx: Reader, organizationId: string, activityId: string): VoteEvaluations[] {
  const rows = tx.all<Omit<VoteEvaluations, 'policyEvaluations'> & { policyIds: string; outcomes: string }>(
    `SELECT e.id, e.organization_id AS organizationId, e.activity_id AS activityId, e.vote_id AS voteId,
       e.outcomes, e.created_at AS createdAt, l.policy_ids AS policyIds
     FROM policy_evaluations AS e JOIN policy_lists AS l ON l.id = e.policy_list
     WHERE e.organization_id = ? AND e.activity_id = ? ORDER BY e.rowid`,
    organizationId,
    activityId,
  );
  return rows.map(({ policyIds, outcomes: said, ...row }) => ({
    ...row,
    policyEvaluations: (JSON.parse(policyIds) as readonly string[]).map((policyId, index) => ({
      policyId,
      outcome: outcomes.get(said.charAt(index)) ?? 'OUTCOME_ERROR',
    })),
  }));
}
