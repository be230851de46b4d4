/** Finds policies that may allow something to any user, also to one without tags. */
import { randomUUID } from 'node:crypto';
import type { PolicyText } from '../decide/policies.ts';
import { consensusFacts, type Voter } from '../decide/facts.ts';
import { compile } from '../language/compile.ts';
import { Evaluation } from '../language/evaluation.ts';
import { ExpressionError } from '../language/syntax.ts';
import { Unknown } from '../language/types.ts';

const open = new Unknown('the policy is asked of any request');

/**
 * A user of whom nothing is known but that there are no tags, with a credential of any type. Its names are new each time, so
 * that no policy leaves out the user by name.
 */
function stranger(): Voter {
  const userId = randomUUID();
  const credential = { id: randomUUID(), user_id: userId, type: open };
  const names = { credential_id: randomUUID(), public_key: randomUUID() };
  return {
    ...{ userId, root: false, email: randomUUID(), alias: randomUUID() },
    credentials: [{ ...credential, ...names }],
  };
}

/** The ways in which a user votes: with one of the credentials at a time. */
export const waysToVote = (user: Voter): readonly Voter[] =>
  user.credentials === undefined || user.credentials.length === 0
    ? [user]
    : user.credentials.map((credential) => ({ ...user, credentials: [credential] }));

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
