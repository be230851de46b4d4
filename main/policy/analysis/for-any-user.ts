/** Finds policies that may allow something to any user, also to one without tags. */
import { randomUUID } from 'node:crypto';
import { publishedLimits as limits } from '../../lib/published-limits.ts';
import type { PolicyText } from '../decide/policies.ts';
import { consensusFacts, type Voter } from '../decide/facts.ts';
import { compile } from '../language/compile.ts';
import { Evaluation } from '../language/evaluation.ts';
import { ExpressionError } from '../language/syntax.ts';
import { Unknown } from '../language/types.ts';

const open = new Unknown('the policy is asked of any request');

/** As many as a user may have: users add credentials of their own. */
const mostCredentials =
  limits.longLivedApiKeysPerUser + limits.expiringApiKeysPerUser + limits.authenticatorsPerUser;

/**
 * A user of whom nothing is known but that there are no tags, with credentials of any type. Its names are new each time, so
 * that no policy leaves out the user by name.
 */
function stranger(): Voter {
  const userId = randomUUID();
  const credentials = Array.from({ length: mostCredentials }, () => ({
    ...{ id: randomUUID(), user_id: userId, type: open },
    ...{ credential_id: randomUUID(), public_key: randomUUID() },
  }));
  return { userId, root: false, email: randomUUID(), alias: randomUUID(), credentials };
}

/** The ways in which a user votes once: with one of the credentials. */
export const waysToVoteOnce = (user: Voter): readonly Voter[] =>
  user.credentials === undefined || user.credentials.length === 0
    ? [user]
    : user.credentials.map((credential) => ({ ...user, credentials: [credential] }));

/**
 * The ways in which a user votes: once, or again with further credentials. Not each choice of several is among them, but
 * each number, and all together.
 */
export const waysToVote = (user: Voter): readonly Voter[] => [
  ...waysToVoteOnce(user),
  ...(user.credentials ?? [])
    .map((_, last, credentials) => ({ ...user, credentials: credentials.slice(0, last + 1) }))
    .slice(1),
];

/**
 * True for a policy whose consensus a stranger reaches alone, and whose condition does not rule the stranger out. The
 * expressions are evaluated, so `1 == 1` is as open as nothing. When the policy is in force makes no difference.
 */
export const isForAnyUser = (policy: Expressions): boolean => mayUseAlone(policy, stranger());

type Expressions = Pick<PolicyText, 'effect' | 'condition' | 'consensus'>;

/** True for a policy that may allow a user something without the approval of others. */
export function mayUseAlone({ effect, condition = '', consensus = '' }: Expressions, user: Voter): boolean {
  if (effect !== 'EFFECT_ALLOW') return false;
  try {
    return (
      waysToVote(user).some((way) => mayHold(consensus, 'consensus', consensusFacts([way]))) &&
      mayHold(condition, 'condition', (keyword) =>
        keyword === 'submitter' ? { id: user.userId, tags: user.tags ?? [], email: open, alias: open } : open,
      )
    );
  } catch (error) {
    if (error instanceof ExpressionError) return false;
    throw error;
  }
}

/** False where an expression certainly does not hold, whatever the facts that are not given. */
function mayHold(
  source: string,
  field: 'condition' | 'consensus',
  load: (keyword: string) => unknown,
): boolean {
  if (source.trim() === '') return true;
  const { run } = compile(source, field);
  return new Evaluation(load, 0).start(run, true) !== false;
}
