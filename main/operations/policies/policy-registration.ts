/** Parameters of a new policy, and adding one to an organization. */
import { z } from 'zod';
import type { ActivityContext } from '../../activities/define.ts';
import { uuidV4 } from '../../crypto/uuid.ts';
import type { Reader } from '../../storage/connection.ts';
import {
  findPolicyByName,
  insertPolicy,
  listPolicyRows,
  type PolicyRow,
} from '../../storage/tables/policies.ts';
import { compilePolicy, effects } from '../../policy/decide/policies.ts';
import { maxLength } from '../../policy/language/syntax.ts';
import { limits } from '../shared/limits.ts';
import { checkLimit, nameTaken, policyName } from '../shared/parameters.ts';

/** Empty means none. */
export const expression = z.string().max(maxLength).optional();
export const notes = z.string().max(limits.policyNotesCharacters);

export const newPolicy = z.object({
  policyName,
  effect: z.enum(effects),
  condition: expression,
  consensus: expression,
  notes: notes.default(''),
  time: expression,
});

type NewPolicy = z.output<typeof newPolicy>;

type Adding = Pick<ActivityContext<unknown>, 'tx' | 'organizationId' | 'random' | 'now'>;

/**
 * @param at The policy's name in the request, for errors.
 * @param oneOfMany True if the request has several, so that an error also names the policy of an expression.
 */
export function addPolicy(
  { tx, organizationId, random, now }: Adding,
  policy: NewPolicy,
  at: string,
  oneOfMany = false,
): string {
  checkNameFree(tx, organizationId, policy.policyName, `${at}.policyName`);
  const row: PolicyRow = {
    id: uuidV4(random('policy', 16)),
    organizationId,
    name: policy.policyName,
    effect: policy.effect,
    condition: policy.condition ?? '',
    consensus: policy.consensus ?? '',
    time: givenTime(policy.time),
    notes: policy.notes,
    createdAt: now,
    updatedAt: now,
  };
  compilePolicy(textOf(row), oneOfMany ? at : undefined);
  insertPolicy(tx, row);
  return row.id;
}

export const textOf = ({ id: policyId, effect, condition, consensus, time }: PolicyRow) => ({
  policyId,
  effect,
  condition,
  consensus,
  time: time ?? undefined,
});

export const givenTime = (time: string | undefined): string | null =>
  time === undefined || time.trim() === '' ? null : time;

export function checkRoom({ tx, organizationId }: Adding, adding: readonly Expressions[]): void {
  const present = listPolicyRows(tx, organizationId);
  checkLimit(tx, 'policies', present.length, adding.length, limits.policiesPerOrganization);
  checkLength(tx, present, adding);
}

type Expressions = Partial<Record<'condition' | 'consensus' | 'time', string | null | undefined>>;

/** All are compiled when the first request comes, and each is asked of every request. */
export function checkLength(
  tx: Reader,
  present: readonly Expressions[],
  adding: readonly Expressions[],
): void {
  checkLimit(
    tx,
    'characters in the expressions of policies',
    charactersOf(present),
    charactersOf(adding),
    limits.policyCharactersPerOrganization,
  );
}

const charactersOf = (policies: readonly Expressions[]): number =>
  policies.reduce(
    (sum, { condition, consensus, time }) =>
      sum + (condition ?? '').length + (consensus ?? '').length + (time ?? '').length,
    0,
  );

export function checkNameFree(tx: Reader, organizationId: string, wanted: string, at: string): void {
  if (findPolicyByName(tx, organizationId, wanted) === undefined) return;
  throw nameTaken(at, 'policy label', wanted);
}
