/** `keyhearth activities`: the log of the running vault, in words. */
import { z } from 'zod';
import type { Config } from '../../app/config.ts';
import { activityStatuses } from '../../lib/activity-status.ts';
import { activityTitles } from '../../lib/text/activity-titles.ts';
import { kindOf } from '../../lib/text/activity-types.ts';
import { pagesOf } from '../../lib/web/pages.ts';
import { quoted } from '../../lib/errors.ts';
import { when } from '../backup/backup.ts';
import type { ApiOptions } from '../shared/options.ts';
import { VaultApi } from '../shared/api.ts';
import { findActivity } from '../shared/named.ts';
import { CommandError, exitCodes, note, print } from '../shared/output.ts';
import { didYouMean } from '../shared/suggestions.ts';
import { table, type Cell, type Tone } from '../shared/table.ts';
import { activityLine, describeActivities, statusWord } from './activity-words.ts';
import { showApproval } from './approvals.ts';

export interface ListActivitiesOptions extends ApiOptions {
  /** Digits. */
  readonly limit: string;
  readonly status: readonly string[];
  readonly type: readonly string[];
}

const listedActivity = z.object({
  id: z.string(),
  type: z.string(),
  status: z.string(),
  fingerprint: z.string(),
  intent: z.record(z.string(), z.unknown()),
  votes: z.array(z.object({ userId: z.string(), user: z.looseObject({ userName: z.string() }) })),
  createdAt: z.object({ seconds: z.string() }),
});
type ListedActivity = z.output<typeof listedActivity>;

const activityList = z.object({ activities: z.array(listedActivity), next: z.string().optional() });

const pageSize = 100;
const mostListed = 1000;

export async function listActivities(config: Config, options: ListActivitiesOptions): Promise<void> {
  const limit = readLimit(options.limit);
  const filters = {
    filterByStatus: options.status.map(readStatus),
    filterByType: options.type.map((type) => `ACTIVITY_TYPE_${apiWord(type, 'ACTIVITY_TYPE_')}`),
  };
  options.type.forEach(noteUnknown);
  const api = await VaultApi.connect(config, options.apiKey);
  const activities: ListedActivity[] = [];
  const pages = pagesOf((cursor) => {
    const wanted = Math.min(pageSize, limit - activities.length);
    const paginationOptions = { limit: String(wanted), ...cursor };
    const query = { ...filters, inParts: true, paginationOptions };
    return api.query('list_activities', activityList, query, { filterByType: '--type' });
  });
  for await (const page of pages) {
    activities.push(...page.activities);
    if (activities.length >= limit) break;
  }
  const described = await describeActivities(api, activities);
  const lineOf = (activity: ListedActivity): string => activityLine(activity, described.get(activity.id));
  print(
    options.json,
    { activities: activities.map((each) => summaryOf(each, lineOf(each))) },
    activities.length === 0
      ? 'No activities.'
      : table(
          ['ID', 'Created', 'Status', 'User', 'Activity'],
          activities.map((each) => activityRow(each, lineOf(each))),
        ),
  );
}

function summaryOf(activity: ListedActivity, summary: string) {
  const { id, type, status, fingerprint, votes, createdAt } = activity;
  const [first] = votes;
  const askedBy = { userId: first?.userId ?? '', userName: first?.user.userName ?? '' };
  return { activityId: id, type, status, fingerprint, summary, askedBy, createdAt };
}

const activityRow = (activity: ListedActivity, line: string): readonly Cell[] => [
  activity.id,
  when(Number(activity.createdAt.seconds) * 1000),
  { text: statusWord(activity.status), tone: statusTones[activity.status] ?? 'bad' },
  activity.votes[0]?.user.userName ?? '',
  line,
];

const statusTones: Readonly<Record<string, Tone>> = {
  ACTIVITY_STATUS_COMPLETED: 'good',
  ACTIVITY_STATUS_CONSENSUS_NEEDED: 'notable',
  ACTIVITY_STATUS_PENDING: 'notable',
};

/** `sign-transaction-v2` as the API writes it, with its prefix or without. */
const apiWord = (text: string, prefix: string): string =>
  text.toUpperCase().replaceAll('-', '_').replace(prefix, '');

/** A vault of a later version may have the type, so it is asked for all the same. */
function noteUnknown(text: string): void {
  const kind = kindOf(`ACTIVITY_TYPE_${apiWord(text, 'ACTIVITY_TYPE_')}`);
  if (activityTitles[kind] !== undefined) return;
  const known = Object.keys(activityTitles).map((each) => each.toLowerCase().replaceAll('_', '-'));
  note(`No type of activities is known as ${quoted(text)}${didYouMean(text, known)}`);
}

function readStatus(text: string): (typeof activityStatuses)[number] {
  const allowed = activityStatuses.map((each) => statusWord(each).replaceAll(' ', '-'));
  const wanted = `ACTIVITY_STATUS_${apiWord(text, 'ACTIVITY_STATUS_')}`;
  const status = activityStatuses.find(
    (each, index) => each === wanted || allowed[index] === text.toLowerCase(),
  );
  if (status !== undefined) return status;
  throw new CommandError(
    exitCodes.usage,
    `invalid --status ${quoted(text)}: expected one of ${allowed.join(', ')}${didYouMean(text, allowed)}`,
  );
}

function readLimit(text: string): number {
  const limit = /^[0-9]{1,4}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= mostListed) return limit;
  throw new CommandError(
    exitCodes.usage,
    `invalid --limit ${quoted(text)}: expected 1 to ${String(mostListed)}`,
  );
}

const signingDays = z.object({
  days: z.array(z.object({ date: z.string(), signed: z.int(), refused: z.int() })),
});

/** Prints the days with signing requests; JSON has all 30. */
export async function listSigningDays(config: Config, { apiKey, json }: ApiOptions): Promise<void> {
  const api = await VaultApi.connect(config, apiKey);
  const { days } = await api.query('count_signing_days', signingDays, {});
  const busy = days.filter(({ signed, refused }) => signed + refused > 0);
  print(
    json,
    { days },
    busy.length === 0
      ? 'No signing requests in the last 30 days.'
      : table(
          ['Day', 'Signed', 'Refused'],
          busy.map(({ date, signed, refused }) => [date, String(signed), String(refused)]),
        ),
  );
}

/** @param wanted The activity's id, or how it begins. */
export async function showActivity(config: Config, wanted: string, options: ApiOptions): Promise<void> {
  const api = await VaultApi.connect(config, options.apiKey);
  await showApproval(config, await findActivity(api, wanted), options);
}
