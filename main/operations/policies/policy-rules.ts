/** The policies that a question is asked of: those in force, and drafts in their place or beside them. */
import type { z } from 'zod';
import type { Reader } from '../../storage/connection.ts';
import { listPolicyRows } from '../../storage/tables/policies.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import type { Paced } from '../../lib/concurrency/paced.ts';
import { problemsOf } from '../../policy/language/check.ts';
import type { PolicyText } from '../../policy/decide/policies.ts';
import type { policyDraft } from './policy-parameters.ts';

export interface Rule extends PolicyText {
  readonly policyName: string;
  readonly draft: boolean;
}

export function rulesInForce(tx: Reader, organizationId: string): readonly Rule[] {
  return listPolicyRows(tx, organizationId).map(
    ({ id: policyId, name, effect, condition, consensus, time }) => ({
      policyId,
      policyName: name,
      effect,
      condition,
      consensus,
      time: time ?? undefined,
      draft: false,
    }),
  );
}

/** @throws KeyhearthError INVALID_ARGUMENT that names the field of a draft that does not compile. */
export function* rulesInQuestion(
  inForce: readonly Rule[],
  {
    policies: drafts = [],
    replaceAll = false,
  }: {
    readonly policies?: readonly z.output<typeof policyDraft>[] | undefined;
    readonly replaceAll?: boolean | undefined;
  },
): Paced<readonly Rule[]> {
  const rules: Rule[] = replaceAll ? [] : [...inForce];
  for (const [index, draft] of drafts.entries()) {
    const [problem] = problemsOf(draft);
    if (problem !== undefined) {
      throw new KeyhearthError(
        'INVALID_ARGUMENT',
        `invalid policies[${String(index)}].${problem.field}: ${problem.message}`,
      );
    }
    const replaced = inForce.find(
      ({ policyId, policyName }) => policyId === draft.policyId || policyName === draft.policyName,
    );
    const ruleOfDraft: Rule = {
      ...draft,
      policyId: replaced?.policyId ?? `draft-${String(index + 1)}`,
      policyName: draft.policyName ?? replaced?.policyName ?? `Draft ${String(index + 1)}`,
      draft: true,
    };
    const existing = rules.findIndex(({ policyId }) => policyId === ruleOfDraft.policyId);
    if (existing < 0) rules.push(ruleOfDraft);
    else rules[existing] = ruleOfDraft;
    yield;
  }
  return rules;
}
