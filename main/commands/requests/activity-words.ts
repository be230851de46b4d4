/** Activities in words, for a terminal. */
import { z } from 'zod';
import { activityTitle } from '../../lib/text/activity-titles.ts';
import { intentOf, toBeSigned, type PendingActivity } from '../../lib/text/to-be-signed.ts';
import { shortened } from '../../lib/text/up-to.ts';
import { visibleJson, visibleLine, visibleName } from '../../lib/text/visible-text.ts';
import type { Api } from '../shared/api.ts';
import { CommandError } from '../shared/output.ts';

type Intent = Readonly<Record<string, unknown>>;

/** Of a signature, with which key. */
export const titleOf = (type: string, { signWith }: Intent): string =>
  visibleName(`${activityTitle(type)}${typeof signWith === 'string' ? ` with ${signWith}` : ''}`);

/** The window's words, where they are others than those of the API. */
const statusWords: Readonly<Record<string, string>> = {
  ACTIVITY_STATUS_CONSENSUS_NEEDED: 'needs approval',
  ACTIVITY_STATUS_AUTHENTICATORS_NEEDED: 'needs a passkey',
  ACTIVITY_STATUS_PENDING: 'in progress',
};

/** `completed` for `ACTIVITY_STATUS_COMPLETED`. */
export const statusWord = (status: string): string =>
  statusWords[status] ?? status.replace('ACTIVITY_STATUS_', '').toLowerCase().replaceAll('_', ' ');

const part = z.looseObject({
  text: z.string(),
  kind: z.string().optional(),
  address: z.string().optional(),
});
const sentence = z.array(part);
/** Of `describe_activities`. */
const describedActivity = z.object({
  activityId: z.string(),
  about: sentence,
  effect: sentence,
  fields: z.array(z.object({ label: z.string(), value: sentence })),
  shortened: z.boolean(),
});
export type DescribedActivity = z.output<typeof describedActivity>;

const describedActivities = z.object({ descriptions: z.array(describedActivity) });

/** As many as one query describes. */
const pageSize = 100;

/** Describes activities as the window does. @returns by the ids; nothing where the vault is one that describes none. */
export async function describeActivities(
  api: Pick<Api, 'query'>,
  activities: readonly { readonly id: string }[],
): Promise<ReadonlyMap<string, DescribedActivity>> {
  const described = new Map<string, DescribedActivity>();
  for (let from = 0; from < activities.length; from += pageSize) {
    try {
      const activityIds = activities.slice(from, from + pageSize).map(({ id }) => id);
      const { descriptions } = await api.query('describe_activities', describedActivities, { activityIds });
      for (const each of descriptions) described.set(each.activityId, each);
    } catch (error) {
      if (error instanceof CommandError) return described;
      throw error;
    }
  }
  return described;
}

/**
 * A sentence of the service. A name is in quotation marks, and its own ones are escaped: no name passes for the words around it.
 * @param word Shows foreign text among the words.
 * @param name Shows a name.
 */
export const sentenceOf = (
  parts: z.output<typeof sentence>,
  word: (text: string) => string,
  name: (text: string) => string = word,
): string =>
  parts
    .map(({ text, kind, address }) => {
      if (kind === undefined) return word(text);
      return `${name(JSON.stringify(text))}${address === undefined ? '' : ` (${name(address)})`}`;
    })
    .join('');

/** Summarizes an activity on one line. */
export function activityLine(activity: PendingActivity, described: DescribedActivity | undefined): string {
  const intent = intentOf(activity);
  const title = titleOf(activity.type, intent);
  const about =
    described === undefined ? intentLine(intent) : sentenceOf(described.about, visibleLine, visibleName);
  if (about === '') return title;
  // A payload has its own title.
  return toBeSigned(activity).length > 0 && described !== undefined ? about : `${title}: ${about}`;
}

/** Characters of one value, and how many values, that a line of a list shows. */
const longestValue = 60;
const mostValues = 4;

/** Summarizes a request that the vault describes in no words: `walletName "Savings", accounts (2)`. */
function intentLine(intent: Intent): string {
  const said = Object.entries(intent).flatMap(([name, value]) => {
    if (Array.isArray(value)) return [`${name} (${String(value.length)})`];
    if (typeof value === 'object' || value === undefined || value === '') return [];
    const text = visibleJson(JSON.stringify(value));
    return [`${name} ${shortened(text, longestValue)}`];
  });
  return visibleName([...said.slice(0, mostValues), ...(said.length > mostValues ? ['…'] : [])].join(', '));
}
