/** `keyhearth policies test` and `keyhearth policies explain`: evaluates policies on the running vault's log, before they are created. */
import { z } from 'zod';
import type { Config } from '../../app/config.ts';
import { shownExplanation, shownTest, type shownDecision } from '../../policy/analysis/trial-shapes.ts';
import type { ApiOptions } from '../shared/options.ts';
import { VaultApi } from '../shared/api.ts';
import { readTextFile } from '../shared/file-text.ts';
import { findActivity, listings } from '../shared/named.ts';
import { count, when } from '../backup/backup.ts';
import { CommandError, exitCodes, print, type Shown } from '../shared/output.ts';
import { table } from '../shared/table.ts';
import { readPolicyFile, type PolicyInFile } from './policy-file.ts';

export interface AskOptions extends ApiOptions {
  readonly replaceAll?: boolean;
  readonly withoutRoot?: boolean;
}

export interface TestOptions extends AskOptions {
  /** `last:100`. */
  readonly against: string;
}

const testAnswer = z.object({ policyTest: shownTest });
type PolicyTest = z.output<typeof testAnswer>['policyTest'];

export async function testPolicies(config: Config, file: string, options: TestOptions): Promise<void> {
  const policies = readPolicyFile(file);
  const limit = readAgainst(options.against);
  const api = await VaultApi.connect(config, options.apiKey);
  const { policyTest } = await api.query('test_policies', testAnswer, { ...asked(policies, options), limit });
  print(options.json, policyTest, testToText(policyTest, options.withoutRoot));
}

function readAgainst(text: string): number {
  const [, count = ''] = /^last:([0-9]{1,4})$/.exec(text) ?? [];
  const limit = Number(count);
  if (count !== '' && limit >= 1 && limit <= 1000) return limit;
  throw new CommandError(
    exitCodes.usage,
    `invalid --against ${JSON.stringify(text)}: expected last:1 to last:1000, the newest activities of the log`,
  );
}

const asked = (
  policies: readonly PolicyInFile[],
  { replaceAll = false, withoutRoot = false }: AskOptions,
) => ({
  // Notes decide nothing.
  policies: policies.map(({ notes: _, ...draft }) => draft),
  replaceAll,
  withoutRootQuorum: withoutRoot,
});

/** Outcomes in words. */
const words: Readonly<Record<string, string>> = {
  OUTCOME_ALLOW: 'allowed',
  OUTCOME_REQUIRES_CONSENSUS: 'needs approvals',
  OUTCOME_DENY_EXPLICIT: 'denied',
  OUTCOME_DENY_IMPLICIT: 'denied',
};
/** Of one policy, what does not apply denies nothing. */
const policyWords: Readonly<Record<string, string>> = {
  ...words,
  OUTCOME_DENY_IMPLICIT: 'does not apply',
  OUTCOME_ERROR: 'could not be evaluated',
  OUTCOME_TIME_INACTIVE: 'not in force at that time',
};
const inWords = (outcome: string): string => words[outcome] ?? outcome;

function deciders(
  { decidedBy, policyIds }: z.output<typeof shownDecision>,
  names: ReadonlyMap<string, string>,
): string {
  switch (decidedBy) {
    case 'DECIDER_ROOT_QUORUM':
      return 'the root quorum';
    case 'DECIDER_OWN_CREDENTIALS':
      return 'the user’s own credentials';
    case 'DECIDER_NOTHING':
      return 'no policy allows it';
    default:
      return policyIds.map((policyId) => `“${names.get(policyId) ?? policyId}”`).join(', ');
  }
}

function testToText(
  { tested, unreadable, newlyAllowed, newlyDenied, newlyWaiting, activities, policies }: PolicyTest,
  withoutRoot: boolean | undefined,
): Shown {
  const names = new Map(policies.map(({ policyId, policyName }) => [policyId, policyName]));
  const changed = activities.filter((each) => each.changed);
  const byRoot = activities.filter(({ after }) => after.decidedBy === 'DECIDER_ROOT_QUORUM').length;
  return [
    `Tested ${count(tested, 'activity', 'activities')}: ${String(newlyDenied)} newly denied, ${String(newlyAllowed)} newly allowed, ${String(newlyWaiting)} newly in need of approvals.`,
    ...(unreadable === 0
      ? []
      : [`Left out ${count(unreadable, 'activity', 'activities')} that cannot be read.`]),
    ...(changed.length === 0
      ? []
      : [
          table(
            ['With the drafts', 'Now', 'Decided by', 'Time', 'Activity', 'ID'],
            changed.map(({ activityId, type, createdAt, before, after }) => [
              inWords(after.outcome),
              inWords(before.outcome),
              deciders(after, names),
              when(Number(createdAt.seconds) * 1000),
              type.replace('ACTIVITY_TYPE_', ''),
              activityId,
            ]),
          ),
        ]),
    ...policies.map((policy) => coverageToText(policy, tested)),
    ...(byRoot === 0 || withoutRoot === true
      ? []
      : [
          `The root quorum decided ${String(byRoot)} of them, whatever policies say. To see what policies alone decide, give --without-root.`,
        ]),
  ];
}

function coverageToText(
  { policyName, draft, held, decided, clauses }: PolicyTest['policies'][number],
  tested: number,
): string {
  const name = `${draft ? 'draft' : 'policy'} “${policyName}”`;
  const says =
    held === 0
      ? 'matched no activity'
      : `matched ${String(held)} of ${count(tested, 'activity', 'activities')} and decided ${String(decided)}`;
  const never = clauses.length > 1 ? clauses.filter((clause) => clause.held === 0) : [];
  return [`${name}: ${says}`, ...never.map(({ text }) => `  never true: ${text}`)].join('\n');
}

export interface ExplainOptions extends AskOptions {
  /** A file with the body of a hypothetical request. */
  readonly body?: string;
  /** The user whose request it would be. */
  readonly user?: string;
  /** A file with drafts. */
  readonly with?: string;
}

const explainAnswer = z.object({ policyExplanation: shownExplanation });
type Explanation = z.output<typeof explainAnswer>['policyExplanation'];

export async function explainPolicies(
  config: Config,
  activityId: string | undefined,
  options: ExplainOptions,
): Promise<void> {
  const { body, user } = options;
  if ((activityId === undefined) === (body === undefined)) {
    throw new CommandError(exitCodes.usage, 'expected an activity, or --body with a request for one');
  }
  const policies = options.with === undefined ? [] : readPolicyFile(options.with);
  const requestBody = body === undefined ? undefined : readBody(body);
  const api = await VaultApi.connect(config, options.apiKey);
  const subject =
    activityId === undefined
      ? { requestBody, userId: user === undefined ? undefined : (await listings.user.find(api, user)).userId }
      : { activityId: await findActivity(api, activityId) };
  const { policyExplanation } = await api.query(
    'explain_policies',
    explainAnswer,
    { ...asked(policies, options), ...subject },
    { activityId: '<activity>', userId: '--user' },
  );
  print(options.json, policyExplanation, explanationToText(policyExplanation));
}

const readBody = (file: string): string => readTextFile(file === '-' ? 0 : file, `--body ${file}`);

function explanationToText({ policies, ...decided }: Explanation): string {
  const names = new Map(policies.map(({ policyId, policyName }) => [policyId, policyName]));
  return [
    `${inWords(decided.outcome)}: ${deciders(decided, names)}`,
    ...policies.flatMap(({ policyName, draft, effect, outcome, broken, expressions }) => [
      `${draft ? 'draft' : 'policy'} “${policyName}” (${effect === 'EFFECT_DENY' ? 'deny' : 'allow'}): ${outcome === undefined ? 'not evaluated' : (policyWords[outcome] ?? outcome)}`,
      ...(broken === undefined ? [] : [`  ${broken}`]),
      ...expressions.flatMap(({ field, value, fault, parts, leftOut }) => [
        `  ${field}: ${value === undefined ? `error: ${fault?.message ?? 'no value'}` : String(value)}`,
        ...parts.map(({ text, values, times }) => {
          const shown = times > values.length ? [...values, '…'] : values;
          return `    ${text.replaceAll(/\s+/g, ' ')} = ${shown.join(' | ')}`;
        }),
        ...(leftOut === 0 ? [] : [`    and ${String(leftOut)} more parts`]),
      ]),
    ]),
  ].join('\n');
}
