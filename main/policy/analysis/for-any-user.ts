/** Finds policies that may allow something to any user, also to one without tags. */
import type { PolicyText } from '../decide/policies.ts';
import { consensusFacts, type Voter } from '../decide/facts.ts';
import { compile } from '../language/compile.ts';
import { Evaluation } from '../language/evaluation.ts';
import { ExpressionError } from '../language/syntax.ts';
import { Unknown } from '../language/types.ts';

/** A user of whom nothing is known, with every way to sign in. */
const stranger: Voter = {
  userId: '00000000-0000-4000-8000-000000000000',
  root: false,
  credentials: ['CREDENTIAL_TYPE_API_KEY_P256', 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR'].map((type) => ({
    id: '',
    user_id: '00000000-0000-4000-8000-000000000000',
    type,
  })),
};

/**
 * True for a policy whose consensus a stranger reaches alone, and whose condition does not rule the stranger out. The
 * expressions are evaluated, so `1 == 1` is as open as nothing. When the policy is in force makes no difference.
 */
export const isForAnyUser = (policy: Expressions): boolean => mayUseAlone(policy, stranger);

type Expressions = Pick<PolicyText, 'effect' | 'condition' | 'consensus'>;

/** True for a policy that may allow a user something without the approval of others. */
export function mayUseAlone({ effect, condition = '', consensus = '' }: Expressions, user: Voter): boolean {
  if (effect !== 'EFFECT_ALLOW') return false;
  try {
    return (
      mayHold(consensus, 'consensus', consensusFacts([user])) &&
      mayHold(condition, 'condition', (keyword) =>
        keyword === 'submitter' ? { id: user.userId, tags: user.tags ?? [], email: open, alias: open } : open,
      )
    );
  } catch (error) {
    if (error instanceof ExpressionError) return false;
    throw error;
  }
}

const open = new Unknown('the policy is asked of any request');

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
