/** Policies: made, changed, asked. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { activity, older, query } from '../../activities/define.ts';
import { getActivityRow } from '../../storage/tables/activities.ts';
import type { Reader, Writer } from '../../storage/connection.ts';
import {
  deletePolicyRow,
  getPolicyRow,
  listPolicyRows,
  toPolicy,
  updatePolicyRow,
  type PolicyRow,
} from '../../storage/tables/policies.ts';
import { listEvaluations } from '../../storage/tables/policy-evaluations.ts';
import { timestamp } from '../../lib/clock.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { isActive } from '../../policy/decide/decide.ts';
import { compilePolicy, effects, storedPolicy } from '../../policy/decide/policies.ts';
import { limits } from '../shared/limits.ts';
import { checkDistinct, orNotFound, id, ids, policyName } from '../shared/parameters.ts';
import { endGrantsOf } from './grant-ends.ts';
import { reachesFar } from './policy-reach.ts';
import {
  addPolicy,
  checkLength,
  checkNameFree,
  checkRoom,
  expression,
  givenTime,
  newPolicy,
  notes,
  textOf,
} from './policy-registration.ts';
import { fromSelectors, selectedPolicy, severalTargets, singleTarget } from './policy-selectors.ts';
import { shownPolicy, shownPolicyEvaluation, shownPolicyStatus, uuid, uuids } from '../shared/resources.ts';

export const createPolicy = activity({
  path: 'create_policy',
  summary: 'Makes a policy; one that cannot be read or evaluated is refused with the place where.',
  title: 'Create a policy',
  type: 'ACTIVITY_TYPE_CREATE_POLICY_V3',
  intent: 'createPolicyIntentV3',
  result: 'createPolicyResult',
  authority: { resource: 'POLICY', action: 'CREATE', changesRights: true },
  stepUp: {
    for: 'policy',
    when: (policy, { tx, organizationId }) => reachesFar(tx, organizationId, policy),
  },
  params: newPolicy,
  returns: z.object({ policyId: uuid }),
  accepts: {
    ACTIVITY_TYPE_CREATE_POLICY_V2: older({
      intent: 'createPolicyIntentV2',
      params: selectedPolicy(severalTargets),
      upgrade: fromSelectors,
    }),
    ACTIVITY_TYPE_CREATE_POLICY: older({
      intent: 'createPolicyIntent',
      params: selectedPolicy(singleTarget),
      upgrade: ({ selectors, ...rest }) =>
        fromSelectors({
          ...rest,
          selectors: selectors.map(({ target, ...selector }) => ({ ...selector, targets: [target] })),
        }),
    }),
  },
  run(context) {
    checkRoom(context, [context.params]);
    return { policyId: addPolicy(context, context.params, 'parameters') };
  },
});

export const createPolicies = activity({
  path: 'create_policies',
  summary: 'Makes several policies, all or none.',
  title: 'Create policies',
  type: 'ACTIVITY_TYPE_CREATE_POLICIES',
  intent: 'createPoliciesIntent',
  result: 'createPoliciesResult',
  authority: { resource: 'POLICY', action: 'CREATE', changesRights: true },
  stepUp: {
    for: 'policy',
    when: ({ policies }, { tx, organizationId }) =>
      policies.some((policy) => reachesFar(tx, organizationId, policy)),
  },
  params: z.object({ policies: z.array(newPolicy).min(1).max(limits.policiesPerOrganization) }),
  returns: z.object({ policyIds: uuids }),
  run(context) {
    const { policies } = context.params;
    checkDistinct(
      'parameters.policies',
      policies.map((policy) => policy.policyName),
    );
    checkRoom(context, policies);
    return {
      policyIds: policies.map((policy, index) =>
        addPolicy(context, policy, `parameters.policies[${String(index)}]`, true),
      ),
    };
  },
});

const policyChange = z.object({
  policyId: id,
  policyName: policyName.optional(),
  policyEffect: z.enum(effects).optional(),
  policyCondition: expression,
  policyConsensus: expression,
  policyNotes: notes.optional(),
});

export const updatePolicy = activity({
  path: 'update_policy',
  summary: 'Changes what is given of a policy, and leaves the rest; an empty expression removes one.',
  title: 'Update a policy',
  type: 'ACTIVITY_TYPE_UPDATE_POLICY_V2',
  intent: 'updatePolicyIntentV2',
  result: 'updatePolicyResultV2',
  authority: { resource: 'POLICY', action: 'UPDATE', changesRights: true },
  stepUp: {
    for: 'policy',
    when(params, { tx, organizationId }) {
      const row = getPolicyRow(tx, organizationId, params.policyId);
      if (row === undefined) return false;
      const text = textOf(changed(row, params));
      return !isDeepStrictEqual(text, textOf(row)) && reachesFar(tx, organizationId, text);
    },
  },
  params: policyChange.extend({
    time: expression,
    // Keyhearth's own.
    expected: policyChange.omit({ policyId: true }).extend({ time: expression }).optional(),
  }),
  returns: z.object({ policyId: uuid }),
  accepts: {
    ACTIVITY_TYPE_UPDATE_POLICY: older({
      intent: 'updatePolicyIntent',
      result: 'updatePolicyResult',
      params: policyChange,
      upgrade: (params) => params,
    }),
  },
  run({ tx, organizationId, params, now }) {
    const row = findPolicy(tx, organizationId, params.policyId);
    if (params.policyName !== undefined && params.policyName !== row.name) {
      checkNameFree(tx, organizationId, params.policyName, 'parameters.policyName');
    }
    checkUnchanged(row, params.expected);
    const updated = { ...changed(row, params), updatedAt: now };
    if (!isDeepStrictEqual(textOf(updated), textOf(row))) endGrantsOf(tx, row);
    const others = listPolicyRows(tx, organizationId).filter(({ id: other }) => other !== row.id);
    checkLength(tx, others, [updated]);
    compilePolicy(textOf(updated));
    updatePolicyRow(tx, updated);
    return { policyId: row.id };
  },
});

type Change = Omit<z.output<typeof policyChange>, 'policyId'> & { readonly time?: string | undefined };

/**
 * @param expected The policy as its changer read it.
 * @throws KeyhearthError for another: two who save at once, or one who saves while the other's change waits for votes, do not
 * overwrite each other unseen.
 */
function checkUnchanged(row: PolicyRow, expected: Change | undefined): void {
  if (expected === undefined || isDeepStrictEqual(changed(row, expected), row)) return;
  throw new KeyhearthError(
    'INVALID_ARGUMENT',
    `invalid parameters.expected: the policy ${row.id} was changed meanwhile: read it again`,
  );
}

/** A policy with the given changes, and the rest as it is. */
const changed = (row: PolicyRow, params: Change): PolicyRow => ({
  ...row,
  name: params.policyName ?? row.name,
  effect: params.policyEffect ?? row.effect,
  condition: params.policyCondition ?? row.condition,
  consensus: params.policyConsensus ?? row.consensus,
  time: params.time === undefined ? row.time : givenTime(params.time),
  notes: params.policyNotes ?? row.notes,
});

export const deletePolicy = activity({
  path: 'delete_policy',
  summary: 'Deletes a policy.',
  title: 'Delete a policy',
  type: 'ACTIVITY_TYPE_DELETE_POLICY',
  intent: 'deletePolicyIntent',
  result: 'deletePolicyResult',
  authority: { resource: 'POLICY', action: 'DELETE', changesRights: true },
  params: z.object({ policyId: id }),
  returns: z.object({ policyId: uuid }),
  run({ tx, organizationId, params: { policyId } }) {
    endPolicy(tx, findPolicy(tx, organizationId, policyId));
    return { policyId };
  },
});

export const deletePolicies = activity({
  path: 'delete_policies',
  summary: 'Deletes several policies, all or none.',
  title: 'Delete policies',
  type: 'ACTIVITY_TYPE_DELETE_POLICIES',
  intent: 'deletePoliciesIntent',
  result: 'deletePoliciesResult',
  authority: { resource: 'POLICY', action: 'DELETE', changesRights: true },
  params: z.object({ policyIds: ids.min(1) }),
  returns: z.object({ policyIds: uuids }),
  run({ tx, organizationId, params: { policyIds } }) {
    checkDistinct('parameters.policyIds', policyIds);
    // All are found before: a grant may be among them, with the policy that it follows from.
    const rows = policyIds.map((policyId) => findPolicy(tx, organizationId, policyId));
    for (const row of rows) endPolicy(tx, row);
    return { policyIds };
  },
});

function endPolicy(tx: Writer, row: PolicyRow): void {
  endGrantsOf(tx, row);
  deletePolicyRow(tx, row.id);
}

function findPolicy(tx: Reader, organizationId: string, policyId: string): PolicyRow {
  return orNotFound(getPolicyRow(tx, organizationId, policyId), `unable to find policy ${policyId}`);
}

export const getPolicy = query({
  path: 'get_policy',
  summary: 'Shows one policy.',
  params: z.object({ policyId: id }),
  returns: z.object({ policy: shownPolicy }),
  run: ({ tx, organizationId, params: { policyId } }) => ({
    policy: toPolicy(findPolicy(tx, organizationId, policyId)),
  }),
});

export const listPolicies = query({
  path: 'list_policies',
  summary: 'Lists all policies.',
  params: z.object({}),
  returns: z.object({ policies: z.array(shownPolicy) }),
  run: ({ tx, organizationId }) => ({ policies: listPolicyRows(tx, organizationId).map(toPolicy) }),
});

export const getPolicyEvaluations = query({
  path: 'get_policy_evaluations',
  summary: 'Tells what each policy said of an activity, at each vote on it.',
  params: z.object({ activityId: id }),
  returns: z.object({ policyEvaluations: z.array(shownPolicyEvaluation) }),
  run({ tx, organizationId, params: { activityId } }) {
    orNotFound(getActivityRow(tx, organizationId, activityId), `unable to find activity ${activityId}`);
    return {
      policyEvaluations: listEvaluations(tx, organizationId, activityId).map(({ createdAt, ...row }) => ({
        ...row,
        createdAt: timestamp(createdAt),
      })),
    };
  },
});

export const getActivePolicies = query({
  path: 'get_active_policies',
  summary: 'Tells of every policy whether its time expression holds now.',
  params: z.object({}),
  returns: z.object({ statuses: z.array(shownPolicyStatus), evaluatedAtMs: z.string() }),
  run: ({ tx, organizationId, now }) => ({
    statuses: listPolicyRows(tx, organizationId).map((row) => ({
      organizationId,
      policyId: row.id,
      ...isActive(storedPolicy(textOf(row)), now),
      ...(row.time === null ? {} : { timeExpr: row.time }),
    })),
    evaluatedAtMs: String(now),
  }),
});
