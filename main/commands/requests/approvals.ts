/** `keyhearth approvals`: describes the activities that wait for votes, and votes on them. */
import { z } from 'zod';
import { approvalsLapseAt, eachWaiting } from '../../lib/web/needed-approvals.ts';
import type { Config } from '../../app/config.ts';
import { defined } from '../../lib/defined.ts';
import { quoted } from '../../lib/errors.ts';
import { voteTypes } from '../../lib/text/activity-types.ts';
import { intentOf, toBeSigned } from '../../lib/text/to-be-signed.ts';
import { visibleJson, visibleName } from '../../lib/text/visible-text.ts';
import {
  activityLine,
  describeActivities,
  sentenceOf,
  statusWord,
  titleOf,
  type DescribedActivity,
} from './activity-words.ts';
import { agree, onTerminal } from './agree.ts';
import { spans } from './spans.ts';
import type { ApiOptions } from '../shared/options.ts';
import { activityKind, VaultApi, type Api } from '../shared/api.ts';
import { when } from '../backup/backup.ts';
import { describeAnswer, descriptionToText, type Description } from './descriptions.ts';
import { withFirstUses } from './receiver-uses.ts';
import { askPreview, previewLines } from './previews.ts';
import { findNamed, isId } from '../shared/named.ts';
import { CommandError, exitCodes, note, print, type Shown } from '../shared/output.ts';
import { fields, table } from '../shared/table.ts';

export interface VoteOptions extends ApiOptions {
  /** Allow the like for so long. */
  readonly for?: keyof typeof spans;
  /** Vote on a terminal without a prompt. */
  readonly yes?: boolean;
}

const moment = z.object({ seconds: z.string() });

const shownActivity = z.looseObject({
  id: z.string(),
  fingerprint: z.string(),
  type: z.string(),
  status: z.string(),
  intent: z.record(z.string(), z.unknown()),
  result: z.record(z.string(), z.unknown()),
  votes: z.array(
    z.looseObject({
      id: z.string(),
      userId: z.string(),
      user: z.looseObject({ userName: z.string() }),
      selection: z.string(),
      createdAt: moment,
    }),
  ),
  canApprove: z.boolean(),
  canReject: z.boolean(),
  createdAt: moment,
});
type Activity = z.output<typeof shownActivity>;

const waits = ({ status }: Activity): boolean => status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED';

export async function listApprovals(config: Config, { apiKey, json }: ApiOptions): Promise<void> {
  const api = await VaultApi.connect(config, apiKey);
  const waiting = await listWaiting(api);
  const described = await describeActivities(api, waiting);
  const approvals = waiting.map((activity) => {
    const { id, fingerprint, type, votes, canApprove, canReject, createdAt } = activity;
    return {
      activityId: id,
      fingerprint,
      type,
      summary: activityLine(activity, described.get(id)),
      askedBy: askerOf(activity),
      createdAt,
      votes: votes.length,
      canApprove,
      canReject,
    };
  });
  print(
    json,
    { approvals },
    approvals.length === 0
      ? 'Nothing needs approval.'
      : table(
          ['ID', 'Created', 'Your vote', 'User', 'Activity'],
          approvals.map(({ activityId, summary, askedBy, createdAt, canApprove }) => [
            activityId,
            timeOf(createdAt),
            canApprove ? { text: 'needed', tone: 'notable' } : { text: 'not needed', tone: 'quiet' },
            askedBy.userName,
            summary,
          ]),
        ),
  );
}

export async function showApproval(
  config: Config,
  wanted: string,
  { apiKey, json, preview = false }: ApiOptions & { readonly preview?: boolean },
): Promise<void> {
  const api = await VaultApi.connect(config, apiKey);
  const { described, allowing, ...told } = await explain(api, await find(api, wanted));
  const said = preview ? await askPreview(api, told.activity.id) : undefined;
  print(json, { ...told, ...defined({ preview: said }) }, [
    ...[shownOf({ ...told, described, allowing }, process.stdout.columns)].flat(),
    ...(said === undefined ? [] : ['', ...previewLines(said)]),
  ]);
}

export async function vote(
  config: Config,
  how: 'approve' | 'reject',
  wanted: string,
  { apiKey, json, yes, for: time }: VoteOptions,
): Promise<void> {
  const api = await VaultApi.connect(config, apiKey);
  const activity = await find(api, wanted);
  if (!waits(activity)) {
    throw new CommandError(
      exitCodes.failed,
      `activity ${activity.id} no longer needs approval: ${statusWord(activity.status)}`,
    );
  }
  const asks = yes !== true && onTerminal();
  if (!json || asks) note(shownOf(await explain(api, activity), process.stderr.columns));
  if (asks) {
    await agree(how === 'approve' ? 'Approve this request?' : 'Reject this request permanently?', {
      what: `whether to ${how} it`,
      otherwise: '--yes',
      undone: 'no vote was cast',
    });
  }
  // The grant comes first: where it is refused, no vote is cast.
  const grant =
    time === undefined
      ? undefined
      : await api.submit(createGrantActivity, { fingerprint: activity.fingerprint, span: spans[time] });
  const { id, fingerprint, status, result } = await api.vote(
    voteTypes[how],
    activity.fingerprint,
    shownActivity,
  );
  print(
    json,
    { activityId: id, fingerprint, status, result, ...defined({ grant }) },
    [
      outcomes[status] ?? `The activity is ${statusWord(status)} now: \`keyhearth approvals show ${id}\``,
      ...(grant === undefined
        ? []
        : [
            `The like is allowed until ${timeOf({ seconds: String(Math.floor(Number(grant.endsAtMs) / 1000)) })}.`,
          ]),
    ].join('\n'),
  );
}

const createGrantActivity = activityKind({
  type: 'ACTIVITY_TYPE_CREATE_GRANT',
  result: z.object({ policyId: z.string(), endsAtMs: z.string() }),
});

const outcomes: Readonly<Record<string, string>> = {
  ACTIVITY_STATUS_COMPLETED: 'Approved and completed.',
  ACTIVITY_STATUS_CONSENSUS_NEEDED: 'Approved. Other approvals are still needed.',
  ACTIVITY_STATUS_REJECTED: 'Rejected permanently.',
};

const activityList = z.object({ activities: z.array(shownActivity), next: z.string().optional() });

/** All that waits, newest first. */
export async function listWaiting(api: Pick<Api, 'query'>): Promise<readonly Activity[]> {
  const waiting: Activity[] = [];
  const each = eachWaiting((page) => api.query('list_activities', activityList, page));
  for await (const activity of each) waiting.push(activity);
  return waiting;
}

/** Fewer characters could come to name another before the vote is given. */
const fewestCharacters = 8;

/** In characters, with dashes. */
const idLength = 36;

/**
 * @param wanted An activity's id, in any state; or the fingerprint of one that waits, or the beginning of
 * either.
 */
async function find(api: VaultApi, wanted: string): Promise<Activity> {
  const text = wanted.toLowerCase();
  if (isId(text)) {
    const answer = z.object({ activity: shownActivity });
    return (await api.query('get_activity', answer, { activityId: text })).activity;
  }
  const beginning = text.replace(/^sha256:/, '');
  if (beginning.length < fewestCharacters || !/^[0-9a-f-]+$/.test(beginning)) {
    throw new CommandError(
      exitCodes.usage,
      `invalid <activity> ${quoted(wanted)}: expected the id or the fingerprint of an activity, or at least the first ${String(fewestCharacters)} characters of one`,
    );
  }
  // A fingerprint says what is voted on: a server cannot answer with an id that looks like one.
  const isFingerprint = text.startsWith('sha256:') || beginning.length > idLength;
  return findNamed('waiting activity', beginning, await listWaiting(api), ({ id, fingerprint }) => {
    const digest = fingerprint.replace(/^sha256:/, '');
    return isFingerprint ? { id: digest } : { id, otherId: digest };
  });
}

/** Of many payloads, so many are put into words at once. */
const mostDescribed = 100;

async function describeAll(api: VaultApi, activity: Activity, most: number): Promise<readonly Description[]> {
  const descriptions: Description[] = [];
  for (const request of toBeSigned(activity).slice(0, most)) {
    descriptions.push(await describe(api, request));
  }
  return descriptions;
}

/** An activity that cannot be described, because its key is gone for instance, does not hide the others. */
async function describe(api: VaultApi, request: object): Promise<Description> {
  try {
    return (await api.query('describe_payload', describeAnswer, request)).description;
  } catch (error) {
    if (!(error instanceof CommandError) || error.exitCode !== exitCodes.failed) throw error;
    const title = `No description: ${error.message}`;
    return { title, lines: [], parts: [], warnings: [], digests: [] };
  }
}

const evaluationsAnswer = z.object({
  policyEvaluations: z.array(
    z.object({
      voteId: z.string(),
      policyEvaluations: z.array(z.object({ policyId: z.string(), outcome: z.string() })),
    }),
  ),
});
const policiesAnswer = z.object({
  policies: z.array(
    z.object({
      policyId: z.string(),
      policyName: z.string(),
      effect: z.string().optional(),
      consensus: z.string().optional(),
    }),
  ),
});
const quorumAnswer = z.object({ configs: z.object({ quorum: z.object({ threshold: z.number() }) }) });

/** The evaluation of one policy at one vote. */
interface PolicySaid {
  readonly voteId: string;
  readonly policyId: string;
  readonly policyName: string;
  readonly consensus: string;
  readonly outcome: string;
}

interface Explained {
  readonly activity: Activity;
  /** Of what it signs. */
  readonly descriptions: readonly Description[];
  /** Its effect and its fields in words; undefined where the vault is one that says none. */
  readonly described: DescribedActivity | undefined;
  readonly policies: readonly PolicySaid[];
  /** Ids of the policies that allow. */
  readonly allowing: ReadonlySet<string>;
  readonly rootQuorumThreshold: number;
}

async function explain(api: VaultApi, activity: Activity): Promise<Explained> {
  const descriptions = await withFirstUses(api, await describeAll(api, activity, mostDescribed));
  const asked = { activityId: activity.id };
  const { policyEvaluations } = await api.query('get_policy_evaluations', evaluationsAnswer, asked);
  const { policies } = await api.query('list_policies', policiesAnswer, {});
  const { configs } = await api.query('get_organization_configs', quorumAnswer, {});
  const named = new Map(policies.map((policy) => [policy.policyId, policy]));
  return {
    activity,
    descriptions,
    described: (await describeActivities(api, [activity])).get(activity.id),
    policies: policyEvaluations.flatMap(({ voteId, policyEvaluations: said }) =>
      said
        .filter(({ outcome }) => outcomeWords[outcome] !== undefined)
        .map(({ policyId, outcome }) => ({
          voteId,
          policyId,
          policyName: named.get(policyId)?.policyName ?? 'a deleted policy',
          consensus: named.get(policyId)?.consensus ?? '',
          outcome,
        })),
    ),
    allowing: new Set(
      policies.flatMap(({ policyId, effect }) => (effect === 'EFFECT_ALLOW' ? [policyId] : [])),
    ),
    rootQuorumThreshold: configs.quorum.threshold,
  };
}

/** Outcomes that are shown; most policies do not apply. */
const outcomeWords: Readonly<Record<string, string>> = {
  OUTCOME_ALLOW: 'allowed',
  OUTCOME_REQUIRES_CONSENSUS: 'needs more approvals',
  OUTCOME_DENY_EXPLICIT: 'denied',
  OUTCOME_ERROR: 'could not be evaluated',
};

function shownOf(
  { activity, descriptions, described, policies, allowing, rootQuorumThreshold }: Explained,
  columns?: number,
): Shown {
  const { id, fingerprint, type, votes, createdAt } = activity;
  const intent = intentOf(activity);
  const left = toBeSigned(activity).length - descriptions.length;
  const requiring = waits(activity)
    ? policies.filter(({ outcome }) => outcome === 'OUTCOME_REQUIRES_CONSENSUS')
    : [];
  // A policy that allows and asks for what the request does not have, such as a transaction, does not apply.
  const saidAt = (vote: string): string =>
    policies
      .filter(
        ({ voteId, policyId, outcome }) =>
          voteId === vote && !(outcome === 'OUTCOME_ERROR' && allowing.has(policyId)),
      )
      .map(({ policyName, outcome }) => `“${policyName}” ${outcomeWords[outcome] ?? outcome}`)
      .join(', ');
  return [
    titleOf(type, intent),
    ...(descriptions.length > 0
      ? descriptions.map((each) => descriptionToText(each, columns))
      : described === undefined
        ? shownJson(intent)
        : [wordsOf(described, columns), ...(described.shortened ? shownJson(intent) : [])]),
    ...(left > 0 ? [`And ${String(left)} more: --json shows them as they were sent.`] : []),
    '',
    fields([
      ['Activity', id],
      ['Fingerprint', fingerprint],
      ['Requested by', askerOf(activity).userName],
      ['Requested at', timeOf(createdAt)],
      ['Status', standing(activity)],
      ...lapse(activity),
    ]),
    '',
    table(
      ['User', 'Vote', 'Time', 'Policies'],
      votes.map((each, index) => [
        each.user.userName,
        selectionWord(each.selection, index),
        timeOf(each.createdAt),
        saidAt(each.id),
      ]),
    ),
    ...(requiring.length > 0 ? [''] : []),
    ...[...new Map(requiring.map((each) => [each.policyId, each])).values()].map(
      ({ policyName, consensus }) => `“${visibleName(policyName)}” requires ${visibleName(consensus)}`,
    ),
    ...(waits(activity) && rootQuorumThreshold > 1
      ? [
          `${String(rootQuorumThreshold)} users of the root quorum can approve the request, whatever policies say.`,
        ]
      : []),
    ...(Object.keys(activity.result).length > 0
      ? ['', 'Result', ...shownJson(intentOf({ intent: activity.result }))]
      : []),
  ];
}

/** The effect of a request in one sentence, and its fields. */
const wordsOf = ({ effect, fields: lines }: DescribedActivity, columns?: number): string =>
  descriptionToText(
    {
      title: sentenceOf(effect, asItIs),
      lines: lines.map(({ label, value }) => ({ label, value: sentenceOf(value, asItIs) })),
      parts: [],
      warnings: [],
      digests: [],
    },
    columns,
  );

/** Rows make it visible. */
const asItIs = (text: string): string => text;

/** Approvals do not count for ever, but the request waits on. */
function lapse(activity: Activity): readonly (readonly [string, string])[] {
  const at = approvalsLapseAt(activity.votes);
  if (!waits(activity) || at === undefined) return [];
  return [[at > Date.now() ? 'Approvals count until' : 'Approvals lapsed', when(at)]];
}

const selectionWord = (selection: string, index: number): string =>
  selection === 'VOTE_SELECTION_REJECTED' ? 'rejected' : index === 0 ? 'requested' : 'approved';

function standing(activity: Activity): string {
  if (!waits(activity)) return statusWord(activity.status);
  if (activity.canApprove) return 'needs your approval';
  return activity.canReject ? 'approved by you, needs other approvals' : 'needs approvals of other users';
}

const shownJson = (value: unknown): string[] =>
  visibleJson(JSON.stringify(value, null, 2))
    .split('\n')
    .map((line) => `  ${line}`);

const askerOf = ({ votes: [first] }: Activity): { readonly userId: string; readonly userName: string } => ({
  userId: first?.userId ?? '',
  userName: first?.user.userName ?? 'unknown user',
});

const timeOf = ({ seconds }: z.output<typeof moment>): string => when(Number(seconds) * 1000);
