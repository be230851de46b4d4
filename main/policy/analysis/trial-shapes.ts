/** Answers of policy trials, for the API and the commands. */
import { z } from 'zod';
import { policyFields } from '../language/check.ts';
import { effects } from '../decide/policies.ts';

export const trialOutcome = z.enum([
  'OUTCOME_ALLOW',
  'OUTCOME_REQUIRES_CONSENSUS',
  'OUTCOME_DENY_EXPLICIT',
  'OUTCOME_DENY_IMPLICIT',
]);
export const shownDecision = z
  .object({
    outcome: trialOutcome,
    decidedBy: z.enum([
      'DECIDER_ROOT_QUORUM',
      'DECIDER_POLICIES',
      'DECIDER_OWN_CREDENTIALS',
      'DECIDER_NOTHING',
    ]),
    /** Of the policies that settled it. */
    policyIds: z.array(z.string()),
  })
  .meta({ id: 'PolicyDecision' });

/** Beside what policies come to when they are asked alone. */
const policyOutcome = z.enum([...trialOutcome.options, 'OUTCOME_ERROR', 'OUTCOME_TIME_INACTIVE']);

/** `draft-1` is the first draft, where it is of no policy that there is. */
const ruleId = z.string();
const rule = { policyId: ruleId, policyName: z.string(), effect: z.enum(effects), draft: z.boolean() };
const span = { from: z.int(), to: z.int() };

export const shownTest = z
  .object({
    tested: z.int(),
    /** Left out beside those: their request or their votes cannot be read. */
    unreadable: z.int(),
    newlyAllowed: z.int(),
    newlyDenied: z.int(),
    /** Those that would wait for approvals now, and did not before. */
    newlyWaiting: z.int(),
    /** Newest first. */
    activities: z.array(
      z.object({
        /** Or the id of a refused request, which is not an activity. */
        activityId: z.uuid(),
        type: z.string(),
        /** An activity's, or `REFUSED`. */
        status: z.string(),
        createdAt: z.object({ seconds: z.string(), nanos: z.string() }),
        /** By the policies in force. */
        before: shownDecision,
        /** With the drafts. */
        after: shownDecision,
        changed: z.boolean(),
      }),
    ),
    policies: z.array(
      z.object({
        ...rule,
        held: z.int(),
        decided: z.int(),
        outcomes: z.array(z.object({ outcome: policyOutcome, count: z.int() })),
        clauses: z.array(
          z.object({ ...span, text: z.string(), held: z.int(), failed: z.int(), faults: z.int() }),
        ),
      }),
    ),
  })
  .meta({ id: 'PolicyTest' });

const explained = z.object({
  /** Not there where it could not be evaluated. */
  value: z.boolean().optional(),
  fault: z
    .object({ kind: z.enum(['missing', 'unknown', 'invalid', 'limit']), message: z.string(), ...span })
    .optional(),
  parts: z.array(z.object({ ...span, text: z.string(), values: z.array(z.string()), times: z.int() })),
  /** Number of further parts of a long expression. */
  leftOut: z.int(),
});

export const shownExplanation = z
  .object({
    ...shownDecision.shape,
    /** Of an activity that does several things: which of them, from 1, settled it and is explained. */
    item: z.int().optional(),
    policies: z.array(
      z.object({
        ...rule,
        /** Not there where policies have no say. */
        outcome: policyOutcome.optional(),
        expressions: z.array(
          z.object({ field: z.enum(policyFields), source: z.string(), ...explained.shape }),
        ),
        /** Why its expressions cannot be evaluated at all. */
        broken: z.string().optional(),
      }),
    ),
  })
  .meta({ id: 'PolicyExplanation' });
