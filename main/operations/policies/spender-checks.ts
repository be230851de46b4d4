/** Judges, before a spender gets its key and afterwards, if its budgets hold. The real API has nothing of the kind. */
import { z } from 'zod';
import { query } from '../../activities/define.ts';
import { policiesOfProgram } from '../../lib/policies/doors.ts';
import { isLasting, pausesOf } from '../../lib/policies/spenders.ts';
import { wideningOf } from '../../policy/analysis/widening.ts';
import type { Voter } from '../../policy/decide/facts.ts';
import type { Reader } from '../../storage/connection.ts';
import { getUserRow } from '../../storage/tables/users.ts';
import { limits } from '../shared/limits.ts';
import { composedName, id, ids } from '../shared/parameters.ts';
import { kindsOf, spenderKey, spenderOf } from './activity-kinds.ts';
import { policyDraft } from './policy-parameters.ts';
import { rulesInForce, rulesInQuestion } from './policy-rules.ts';

const wanted = z.object({
  /** Of a user, or of one who is to be created: the policies name the id. */
  userId: id,
  /** Of a user who is to be created. */
  userName: composedName.optional(),
  userTags: ids.optional(),
  /** That are to be created beside those in force: they take the place of none. */
  policies: z
    .array(policyDraft.omit({ policyId: true, policyName: true }))
    .max(limits.batch)
    .optional(),
});

export const listWideningPolicies = query({
  path: 'list_widening_policies',
  summary:
    'Lists the policies that may let a spender do more than its own policies do, and tells if the root quorum does.',
  own: true,
  params: wanted,
  returns: z.object({
    /** True for a user whom no budget bounds, whatever policies say. */
    inRootQuorum: z.boolean(),
    wideningPolicies: z.array(
      z.object({ policyId: z.string(), policyName: z.string() }).meta({ id: 'WideningPolicy' }),
    ),
  }),
  *run({ tx, organizationId, params, operations }) {
    const { userId, policies: drafts } = params;
    const spender = spenderFor(tx, organizationId, params);
    const rules = yield* rulesInQuestion(rulesInForce(tx, organizationId), { policies: drafts });
    const texts = rules.map((rule) => ({
      ...rule,
      condition: rule.condition ?? '',
      consensus: rule.consensus ?? '',
    }));
    const own = policiesOfProgram(userId, texts.filter(isLasting));
    const pauses = new Set(pausesOf(userId, texts).map(({ policyId }) => policyId));
    const ids = yield* wideningOf(
      spender,
      new Set(own),
      rules.filter(({ policyId }) => !pauses.has(policyId)),
      kindsOf(operations),
    );
    return {
      inRootQuorum: spender.root,
      wideningPolicies: rules
        .filter(({ policyId }) => ids.includes(policyId))
        .map(({ policyId, policyName }) => ({ policyId, policyName })),
    };
  },
});

function spenderFor(
  tx: Reader,
  organizationId: string,
  { userId, userName, userTags }: z.output<typeof wanted>,
): Voter {
  const row = getUserRow(tx, organizationId, userId);
  if (row !== undefined) return spenderOf(tx, row);
  return {
    ...{ userId, root: false, tags: userTags ?? [], email: undefined, alias: userName },
    credentials: [spenderKey(userId)],
  };
}
