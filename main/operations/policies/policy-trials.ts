/** Policies tried and explained, on what has happened and on what might. The real API has nothing of the kind. */
import { z } from 'zod';
import { query, type Cases, type QueryContext, type Shown } from '../../activities/define.ts';
import { getActivityRow, listActivityRows, type ActivityRow } from '../../storage/tables/activities.ts';
import type { Reader } from '../../storage/connection.ts';
import { getRefusalRow, listRefusalRows, type RefusalRow } from '../../storage/tables/refusals.ts';
import { readVotes } from '../../storage/tables/votes.ts';
import { defined } from '../../lib/defined.ts';
import { timestamp } from '../../lib/clock.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import type { Paced } from '../../lib/concurrency/paced.ts';
import { policyFields } from '../../policy/language/check.ts';
import { decide } from '../../policy/decide/decide.ts';
import { explain, type Explanation } from '../../policy/analysis/explain.ts';
import type { Facts } from '../../policy/decide/facts.ts';
import { storedPolicy, type Policy } from '../../policy/decide/policies.ts';
import {
  replay,
  settledBy,
  withoutRootQuorum,
  type Case,
  type Decision,
} from '../../policy/analysis/replay.ts';
import { ExpressionError } from '../../policy/language/syntax.ts';
import { shownExplanation, shownTest, type trialOutcome } from '../../policy/analysis/trial-shapes.ts';
import { activityType } from '../activities/activity-parameters.ts';
import { limits } from '../shared/limits.ts';
import { orNotFound, id } from '../shared/parameters.ts';
import { policyDraft } from './policy-parameters.ts';
import { rulesInQuestion, rulesInForce, type Rule } from './policy-rules.ts';

/** The policies that a query asks about. */
const question = {
  /** Each takes the place of the policy that has its id or its name, or stands beside those in force. */
  policies: z.array(policyDraft).max(limits.batch).optional(),
  /** True if the drafts replace all policies in force. */
  replaceAll: z.boolean().optional(),
  /** True to ignore the root quorum, which policies cannot hold back. */
  withoutRootQuorum: z.boolean().optional(),
};

const refusedStatus = 'REFUSED';
const mostTested = 1000;
const usuallyTested = 100;
/** Milliseconds for all steps of one query together. */
const longestMs = 2_000;

const testParams = z.object({
  ...question,
  limit: z.int().min(1).max(mostTested).optional(),
  filterByType: z.array(activityType).max(limits.batch).optional(),
});

export const testPolicies = query({
  path: 'test_policies',
  summary:
    'Replays past activities with drafts of policies: what each would have been decided, and which rules never hold.',
  own: true,
  params: testParams,
  returns: z.object({ policyTest: shownTest }),
  run: (context) => bounded(tested(context, context.params)),
});

type TestParams = z.output<typeof testParams>;

function* tested(
  { tx, organizationId, cases }: Pick<QueryContext<unknown>, 'tx' | 'organizationId' | 'cases'>,
  params: TestParams,
): Paced<{ readonly policyTest: Shown<z.output<typeof shownTest>> }> {
  const inForce = rulesInForce(tx, organizationId);
  const rules = yield* rulesInQuestion(inForce, params);
  const { past, unreadable } = yield* pastCases(tx, organizationId, cases(), params);
  const tried = past.map(({ tried: each }) => each);
  const { decisions: before } = yield* replay(tried, inForce);
  const { decisions: after, coverage } = yield* replay(tried, rules);
  const activities = past.map(({ row }, index) => {
    const [was, is] = [shownDecision(before[index]), shownDecision(after[index])];
    return {
      activityId: row.id,
      type: row.type,
      status: row.status,
      createdAt: timestamp(row.createdAt),
      before: was,
      after: is,
      changed: kindOf(was.outcome) !== kindOf(is.outcome),
    };
  });
  const newly = (wanted: ReturnType<typeof kindOf>): number =>
    activities.filter(({ changed, after: { outcome: is } }) => changed && kindOf(is) === wanted).length;
  return {
    policyTest: {
      tested: past.length,
      unreadable,
      newlyAllowed: newly('allow'),
      newlyDenied: newly('deny'),
      newlyWaiting: newly('consensus'),
      activities: activities.reverse(),
      policies: coverage.map(({ outcomes, ...rest }, index) => ({
        ...rest,
        ...shownRule(rules[index]),
        outcomes: Object.entries(outcomes).map(([each, count]) => ({ outcome: each, count })),
      })),
    },
  };
}

export const explainPolicies = query({
  path: 'explain_policies',
  summary:
    'Explains what policies, and drafts of some, make of a past activity or of one that nobody has submitted.',
  own: true,
  params: z.object({
    ...question,
    /** Of the log, or of what was refused. */
    activityId: id.optional(),
    /** Or the JSON of a request to submit one, as it would be sent. Nothing is executed. */
    requestBody: z.string().max(limits.requestCharacters).optional(),
    /** The user who would submit it; the caller unless given. */
    userId: id.optional(),
  }),
  returns: z.object({ policyExplanation: shownExplanation }),
  *run({ tx, organizationId, params, caller, cases }) {
    const rules = yield* rulesInQuestion(rulesInForce(tx, organizationId), params);
    const subject = subjectOf(tx, organizationId, cases(), { ...params, callerId: caller.userId });
    const policies: Policy[] = [];
    for (const rule of rules) {
      policies.push(storedPolicy(rule));
      yield;
    }
    const each: Facts = {
      ...(params.withoutRootQuorum === true ? withoutRootQuorum(subject) : subject),
      policies,
    };
    const verdict = decide(each);
    yield;
    // The policies' evaluations are of interest even if the root quorum need not ask them.
    const { evaluations, item } = decide({ ...each, ...withoutRootQuorum(each) });
    yield;
    const shown: ShownRule[] = [];
    for (const [index, text] of rules.entries()) {
      const said = evaluations.find(({ policyId }) => policyId === text.policyId);
      const broken = policies[index]?.broken;
      shown.push({
        ...shownRule(text),
        ...(said === undefined ? {} : { outcome: said.outcome }),
        ...defined({ broken }),
        expressions: explainAll(text, each, item),
      });
      yield;
    }
    return {
      policyExplanation: {
        ...shownDecision({ outcome: verdict.outcome, ...settledBy(each, verdict) }),
        ...((each.items?.length ?? 1) > 1 && { item: item + 1 }),
        policies: shown,
      },
    };
  },
});

type ShownRule = Shown<z.output<typeof shownExplanation>['policies'][number]>;

interface Past {
  readonly row: Pick<ActivityRow, 'id' | 'type' | 'createdAt'> & { readonly status: string };
  readonly tried: Case;
}

/** In the order in which they happened. */
function* pastCases(
  tx: Reader,
  organizationId: string,
  cases: Cases,
  {
    limit = usuallyTested,
    filterByType = [],
    withoutRootQuorum: plain = false,
  }: {
    readonly withoutRootQuorum?: boolean | undefined;
    readonly limit?: number | undefined;
    readonly filterByType?: readonly string[] | undefined;
  },
): Paced<{ readonly past: readonly Past[]; readonly unreadable: number }> {
  const filter = filterByType.length === 0 ? {} : { types: filterByType };
  const refused = listRefusalRows(tx, organizationId, limit, filterByType).map(asPast);
  const rows = [
    ...(listActivityRows(tx, organizationId, filter, { limit }) ?? [])
      .map((row) => withVotes(tx, row))
      .reverse(),
    ...refused.reverse(),
  ]
    .sort((a, b) => a.createdAt - b.createdAt)
    .slice(-limit);
  const past: Past[] = [];
  for (const row of rows) {
    const tried = cases.ofActivity(row);
    if (tried !== undefined) past.push({ row, tried: plain ? withoutRootQuorum(tried) : tried });
    yield;
  }
  return { past, unreadable: rows.length - past.length };
}

/** Takes the steps one by one. @throws KeyhearthError RESOURCE_EXHAUSTED once they have taken too long, without the pauses. */
function* bounded<T>(steps: Paced<T>): Paced<T> {
  let spentMs = 0;
  for (;;) {
    const began = performance.now();
    const { done, value } = steps.next();
    spentMs += performance.now() - began;
    if (done === true) return value;
    if (spentMs > longestMs) {
      throw new KeyhearthError(
        'RESOURCE_EXHAUSTED',
        `testing takes more than ${String(longestMs / 1000)} seconds: ask for fewer activities with limit, or test fewer policies`,
      );
    }
    yield;
  }
}

/** @throws KeyhearthError INVALID_ARGUMENT unless one activity is named, or its request given. */
function subjectOf(
  tx: Reader,
  organizationId: string,
  cases: Cases,
  {
    activityId,
    requestBody,
    userId,
    callerId,
  }: {
    readonly activityId?: string | undefined;
    readonly requestBody?: string | undefined;
    readonly userId?: string | undefined;
    readonly callerId: string;
  },
): Case & Pick<Facts, 'counters'> {
  if ((activityId === undefined) === (requestBody === undefined)) {
    throw new KeyhearthError(
      'INVALID_ARGUMENT',
      'invalid activityId and requestBody: expected one of them, the id of an activity or the JSON of a request for one',
    );
  }
  return requestBody === undefined
    ? pastCase(tx, organizationId, cases, activityId ?? '')
    : cases.ofRequest({ body: requestBody, userId: userId ?? callerId });
}

/** Counters are left out: their values at that time are not known. */
function pastCase(
  tx: Reader,
  organizationId: string,
  cases: Cases,
  activityId: string,
): Case & Pick<Facts, 'counters'> {
  const message = `unable to find activity ${activityId}`;
  const refused = getRefusalRow(tx, organizationId, activityId);
  const row = refused
    ? asPast(refused)
    : withVotes(tx, orNotFound(getActivityRow(tx, organizationId, activityId), message));
  const tried = cases.ofActivity(row);
  if (tried === undefined) {
    throw new KeyhearthError(
      'FAILED_PRECONDITION',
      `activity ${activityId} cannot be tried: its request or its votes cannot be read`,
    );
  }
  return { ...tried, counters: { total: () => 0n } };
}

const withVotes = (tx: Reader, row: ActivityRow) => ({ ...row, votes: readVotes(tx, row) });

/** A refused request had its sender's vote alone. */
const asPast = ({ id: refusalId, type, intent, createdAt, snapshot, publicKey }: RefusalRow) => ({
  id: refusalId,
  status: refusedStatus,
  type,
  intent,
  createdAt,
  votes: [{ selection: 'VOTE_SELECTION_APPROVED' as const, snapshot, publicKey }],
});

const shownDecision = (settled: Decision | undefined) => {
  if (settled === undefined) throw new Error('every case is decided');
  const { outcome: verdict, decidedBy, policyIds } = settled;
  const denied = decidedBy === 'DECIDER_POLICIES' ? 'OUTCOME_DENY_EXPLICIT' : 'OUTCOME_DENY_IMPLICIT';
  const outcomes = { allow: 'OUTCOME_ALLOW', consensus: 'OUTCOME_REQUIRES_CONSENSUS', deny: denied } as const;
  return { outcome: outcomes[verdict], decidedBy, policyIds };
};

/** Denied by a policy or by none is denied. */
function kindOf(shown: z.output<typeof trialOutcome>): 'allow' | 'consensus' | 'deny' {
  if (shown === 'OUTCOME_ALLOW') return 'allow';
  return shown === 'OUTCOME_REQUIRES_CONSENSUS' ? 'consensus' : 'deny';
}

function shownRule(text: Rule | undefined) {
  if (text === undefined) throw new Error('every policy is covered');
  const { policyId, policyName, effect, draft } = text;
  return { policyId, policyName, effect, draft };
}

function explainAll(text: Rule, facts: Facts, item: number) {
  return policyFields.flatMap((field) => {
    const source = text[field] ?? '';
    const explanation = source.trim() === '' ? undefined : tryToExplain(source, field, facts, item);
    if (explanation === undefined) return [];
    const { value, fault, parts, leftOut } = explanation;
    return [
      {
        field,
        source,
        ...defined({ value }),
        ...(fault === undefined ? {} : { fault: { kind: fault.kind, message: fault.message, ...fault.at } }),
        parts,
        leftOut,
      },
    ];
  });
}

/** @returns undefined for a stored text that does not compile today. */
function tryToExplain(
  source: string,
  field: (typeof policyFields)[number],
  facts: Facts,
  item: number,
): Explanation | undefined {
  try {
    return explain(source, field, facts, item);
  } catch (error) {
    if (error instanceof ExpressionError) return undefined;
    throw error;
  }
}
