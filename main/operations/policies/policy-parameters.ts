/** Drafts of policies, as what asks about them takes them. */
import { z } from 'zod';
import { effects } from '../../policy/decide/policies.ts';
import { maxLength } from '../../policy/language/syntax.ts';
import { id, policyName } from '../shared/parameters.ts';

const expression = z.string().max(maxLength).optional();

/** As `create_policy` and `list_policies` write one; an id or a name says which policy it would take the place of. */
export const policyDraft = z.object({
  policyId: id.optional(),
  policyName: policyName.optional(),
  effect: z.enum(effects),
  condition: expression,
  consensus: expression,
  time: expression,
});

export const policyField = z.enum(['condition', 'consensus', 'time']);
