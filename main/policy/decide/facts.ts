/** The facts of a decision: the voters, the activity, and what was allowed before. */
import type { Counters, LoadFact } from '../language/evaluation.ts';
import type { Policy } from './policies.ts';
import type { ConditionFacts, CredentialFact, UserFact } from '../language/schema.ts';

/** A user as policies see one. */
export interface Voter {
  readonly userId: string;
  /** True for a member of the root quorum. */
  readonly root: boolean;
  readonly tags?: readonly string[];
  readonly email?: string | undefined;
  readonly alias?: string | undefined;
  /** Of one who voted: what the votes were stamped with, as far as it is still valid. Of another: all that may vote. */
  readonly credentials?: readonly CredentialFact[];
}

export interface Facts {
  /**
   * The users who voted for the activity, the submitter first unless given apart. A vote counts while its
   * user and its credential exist. Two votes of one user are one.
   */
  readonly approvers: readonly Voter[];
  /** The submitter, if that is not the first approver: its own vote may have lapsed. */
  readonly submitter?: Voter | undefined;
  /** Members of the root quorum that must approve for it to act. */
  readonly rootQuorumThreshold: number;
  /** Those of the organization, in the order in which their outcomes are to be listed. */
  readonly policies?: readonly Policy[];
  /**
   * The items of the activity: each is decided. Without items, policies are evaluated once, without facts of
   * an item.
   */
  readonly items?: readonly ConditionFacts[];
  /** The time of the request in milliseconds since 1970: one for all policies. */
  readonly now?: number;
  /** All users of the organization who could vote; read only if a consensus is not reached yet. */
  readonly voters?: () => readonly Voter[];
  /** True if only the root quorum may do this, regardless of policies. */
  readonly rootQuorumOnly?: boolean;
  /** True if a user changes its own credentials, which it may unless a policy decides otherwise. */
  readonly ownCredentials?: boolean;
  /**
   * Reserved amounts for rolling functions; without it, an expression with such a function cannot be
   * evaluated.
   */
  readonly counters?: Counters;
}

const userFact = ({ userId, tags = [], email, alias }: Voter): UserFact => ({
  id: userId,
  tags,
  email,
  alias,
});

/** The users apart, each with what it voted with: a credential is there once, however often it voted. */
export function distinct(voters: readonly Voter[]): readonly Voter[] {
  const users = new Map<string, Voter>();
  for (const voter of voters) {
    const before = users.get(voter.userId)?.credentials ?? [];
    const more = (voter.credentials ?? []).filter(({ id }) => before.every((known) => known.id !== id));
    users.set(voter.userId, { ...voter, credentials: [...before, ...more] });
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

/** The items of the activity: at least one, so that a check of all items checks something. */
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
