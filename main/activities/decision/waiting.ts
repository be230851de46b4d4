/** An activity that waits for votes: who may still give one, and what the votes given come to. */
import type { ActivityRow } from '../../storage/tables/activities.ts';
import type { Reader } from '../../storage/connection.ts';
import { getOrganizationRule } from '../../storage/tables/organizations.ts';
import { getUserRow } from '../../storage/tables/users.ts';
import { readVotes, type Vote } from '../../storage/tables/votes.ts';
import { voterOf } from '../../storage/tables/voters.ts';
import type { Caller } from '../../lib/caller.ts';
import { once } from '../../lib/once.ts';
import { decide, mayApprove, type Verdict } from '../../policy/decide/decide.ts';
import type { Facts, Voter } from '../../policy/decide/facts.ts';
import { aboutActivity } from './decide.ts';
import { credentialOf, remainingFacts } from './facts.ts';
import { policiesOf } from './policies.ts';
import { isForRootQuorum } from './root-users.ts';
import { isReadable, type Operations } from '../define.ts';
import { operationOf, unreadable } from '../request/stored.ts';
import { standingApprovals } from './votes.ts';

export interface Waiting {
  /** The user who submitted the activity; undefined if that user was deleted, or the votes cannot be read. */
  readonly submitter: Caller | undefined;
  /** The approvals that count: not lapsed, by users who are there, with credentials that are still valid. */
  readonly approvals: readonly Vote[];
  /** False where the request or its votes cannot be read: it may be rejected, and nothing else. */
  readonly isReadable: () => boolean;
  /**
   * True if a vote of this user could matter. The submitter may always cancel the activity or vote again. A row that cannot be
   * read asks nothing of policies: the root quorum may reject it.
   */
  readonly mayVote: (caller: Caller) => boolean;
  /**
   * Decides with the approvals, as if this user approved too.
   * @throws KeyhearthError FAILED_PRECONDITION for a request that cannot be read, or has such votes.
   */
  readonly decideWith: (caller: Caller) => Verdict;
}

/** @param row One that waits, as of the transaction. */
export function readWaiting(tx: Reader, operations: Operations, row: ActivityRow, now: number): Waiting {
  const { organizationId } = row;
  const rule = getOrganizationRule(tx, organizationId);
  if (rule === undefined) throw new Error(`activity ${row.id} has no organization`);
  const { policies } = policiesOf(tx, organizationId, rule);
  const votes = readVotes(tx, row) ?? [];
  const [first] = votes;
  const read = once(() => {
    if (first === undefined) throw unreadable(row, 'votes');
    return { ...operationOf(operations, row), first };
  });
  const readable = once(() => first !== undefined && isReadable(operations, row));
  const submitter = first && callerOf(tx, organizationId, first);

  const approvals: Vote[] = [];
  const approvers: Voter[] = [];
  for (const vote of standingApprovals(votes, now)) {
    const voter = voterWith(tx, organizationId, vote, now);
    if (voter === undefined) continue;
    approvals.push(vote);
    approvers.push(voter);
  }
  // The votes alone often tell what is asked.
  const facts = once((): Facts => {
    const { operation, activity, first: own } = read();
    return {
      ...aboutActivity(tx, operation, activity, organizationId, now),
      approvers,
      submitter: submitter && voterWith(tx, organizationId, own, now, 'whatever it was stamped with'),
      rootQuorumThreshold: rule.rootQuorumThreshold,
      policies,
      rootQuorumOnly: isForRootQuorum(tx, operation, activity, submitter),
      ownCredentials:
        submitter !== undefined &&
        (operation.authority.ownCredentials?.(activity.params, submitter) ?? false),
    };
  });
  const voterOfCaller = ({ userId, stamp }: Caller): Voter | undefined =>
    voterWith(tx, organizationId, { userId, ...stamp }, now, 'whatever it was stamped with');

  return {
    submitter,
    approvals,
    isReadable: readable,
    mayVote(caller) {
      if (caller.organizationId !== organizationId) return false;
      if (caller.userId === first?.userId) return true;
      const voter = voterOfCaller(caller);
      if (voter === undefined) return false;
      if (!readable()) return voter.root;
      const { operation, activity } = read();
      return mayApprove({ ...facts(), items: remainingFacts(tx, operation, activity) }, voter);
    },
    decideWith(caller) {
      const voter = voterOfCaller(caller);
      return decide({ ...facts(), approvers: voter === undefined ? approvers : [...approvers, voter] });
    },
  };
}

/** The voter as the user is now; undefined if that user was deleted. */
function callerOf(tx: Reader, organizationId: string, vote: Vote): Caller | undefined {
  const { userId, publicKey, scheme, signature } = vote;
  const user = getUserRow(tx, organizationId, userId);
  return user && { organizationId, userId, root: user.root === 1, stamp: { publicKey, scheme, signature } };
}

/** @param anyway Whether the user counts without a valid credential too. */
function voterWith(
  tx: Reader,
  organizationId: string,
  vote: Pick<Vote, 'userId' | 'publicKey' | 'scheme'>,
  now: number,
  anyway?: 'whatever it was stamped with',
): Voter | undefined {
  const user = getUserRow(tx, organizationId, vote.userId);
  const credential = credentialOf(tx, organizationId, vote, now);
  if (user === undefined || (credential === undefined && anyway === undefined)) return undefined;
  return voterOf(tx, user, credential === undefined ? [] : [credential]);
}
