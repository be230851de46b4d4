/** Activities in words, for a terminal. */
import { activityTitle } from '../../lib/text/activity-titles.ts';
import { visibleJson, visibleName } from '../../lib/text/visible-text.ts';
import { shortened } from '../../lib/text/up-to.ts';

type Intent = Readonly<Record<string, unknown>>;

/** Of a signature, with which key. */
export const titleOf = (type: string, { signWith }: Intent): string =>
  visibleName(`${activityTitle(type)}${typeof signWith === 'string' ? ` with ${signWith}` : ''}`);

/** `consensus needed` for `ACTIVITY_STATUS_CONSENSUS_NEEDED`. */
export const statusWord = (status: string): string =>
  status.replace('ACTIVITY_STATUS_', '').toLowerCase().replaceAll('_', ' ');

/** Characters of one value, and how many values, that a line of a list shows. */
const longestValue = 60;
const mostValues = 4;

/** Summarizes a request on one line: `walletName "Savings", accounts (2)`. */
export function intentLine(intent: Intent): string {
  const said = Object.entries(intent).flatMap(([name, value]) => {
    if (Array.isArray(value)) return [`${name} (${String(value.length)})`];
    if (typeof value === 'object' || value === undefined || value === '') return [];
    const text = visibleJson(JSON.stringify(value));
    return [`${name} ${shortened(text, longestValue)}`];
  });
  return visibleName([...said.slice(0, mostValues), ...(said.length > mostValues ? ['…'] : [])].join(', '));
}
