/** What a decision is taken from: who voted, what the activity is, and what was allowed before. */
import type { Counters, LoadFact } from '../language/evaluation.ts';
import type { Policy } from './policies.ts';
import type { ConditionFacts, CredentialFact, UserFact } from '../language/schema.ts';

/** A user as policies see one. */
export interface Voter {
  readonly userId: string;
  /** Whether the user is of the root quorum. */
  readonly root: boolean;
  readonly tags?: readonly string[];
  readonly email?: string | undefined;
  readonly alias?: string | undefined;
  /** Of one who voted: what the votes were stamped with, as far as it is still valid. Of another: all that may vote. */
  readonly credentials?: readonly CredentialFact[];
}

export interface Facts {
  /**
   * Who voted for the activity, the submitter first unless it is given. A vote counts while its user and its credential are there; two of
   * one user are one.
   */
  readonly approvers: readonly Voter[];
  /** Whose activity it is, where that is not the first approver: its own vote may not count any more. */
  readonly submitter?: Voter | undefined;
  /** How many members of the root quorum must agree for it to act as one. */
  readonly rootQuorumThreshold: number;
  /** Those of the organization, in the order in which their outcomes are to be listed. */
  readonly policies?: readonly Policy[];
  /**
   * What the activity does, an item for each of the things that it does it to: each is decided. Without any, policies are
   * asked once, and see nothing of it.
   */
  readonly items?: readonly ConditionFacts[];
  /** The time of the request in milliseconds since 1970: one for all policies. */
  readonly now?: number;
  /** Everybody of the organization who could vote; asked when a consensus is not reached yet. */
  readonly voters?: () => readonly Voter[];
  /** Whether nothing but the root quorum may do this, whatever policies say. */
  readonly rootQuorumOnly?: boolean;
  /** Whether a user changes its own credentials, which it may unless a policy has a say. */
  readonly ownCredentials?: boolean;
  /** What was reserved for rolling functions; without it, an expression that has one cannot be evaluated. */
  readonly counters?: Counters;
}

const userFact = ({ userId, tags = [], email, alias }: Voter): UserFact => ({
  id: userId,
  tags,
  email,
  alias,
});

/** The users apart, each with what it voted with. */
export function distinct(voters: readonly Voter[]): readonly Voter[] {
  const users = new Map<string, Voter>();
  for (const voter of voters) {
    const known = users.get(voter.userId);
    const credentials = [...(known?.credentials ?? []), ...(voter.credentials ?? [])];
    users.set(voter.userId, { ...voter, credentials });
  }
  return [...users.values()];
}

export const submitterOf = ({ submitter, approvers }: Facts): Voter | undefined => submitter ?? approvers[0];

/** Answers the keywords of a consensus. */
export function consensusFacts(approvers: readonly Voter[]): LoadFact {
  const users = approvers.map(userFact);
  const credentials = approvers.flatMap((voter) => voter.credentials ?? []);
  return (keyword) => {
    if (keyword === 'approvers') return users;
    return keyword === 'credentials' ? credentials : undefined;
  };
}

/** What the activity does: at least one thing, so that whatever asks of all items asks at least once. */
export const itemsOf = ({ items = [] }: Facts): readonly [ConditionFacts, ...ConditionFacts[]] => {
  const [first = {}, ...rest] = items;
  return [first, ...rest];
};

/** Answers the keywords of all fields for one item of the activity, each computed once. */
export const allFacts = (facts: Facts, item: ConditionFacts): LoadFact => factsOfItems(facts)(item);

/** As `allFacts`, for each item; what is the same of all of them is computed once. */
export function factsOfItems(facts: Facts): (item: ConditionFacts) => LoadFact {
  const { approvers, now = 0 } = facts;
  const fromVotes = consensusFacts(distinct(approvers));
  const submitter = submitterOf(facts);
  const find = (keyword: string, item: ConditionFacts): unknown => {
    switch (keyword) {
      case 'time.now':
        return now;
      case 'submitter':
        return submitter === undefined ? undefined : userFact(submitter);
      default: {
        const given = item as Readonly<Record<string, (() => unknown) | undefined>>;
        return fromVotes(keyword) ?? (Object.hasOwn(given, keyword) ? given[keyword]?.() : undefined);
      }
    }
  };
  return (item) => {
    const known = new Map<string, unknown>();
    return (keyword) => {
      const value = known.get(keyword);
      if (value !== undefined || known.has(keyword)) return value;
      const found = find(keyword, item);
      known.set(keyword, found);
      return found;
    };
  };
}
