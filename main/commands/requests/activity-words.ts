/** Activities in words, for a terminal. */
import { bareType } from '../lib/to-be-signed.ts';
import { visibleJson, visibleName } from '../lib/visible-text.ts';

type Intent = Readonly<Record<string, unknown>>;

/** `ACTIVITY_TYPE_CREATE_WALLET`: Create wallet. Of a signature, with which key. */
export function activityTitle(type: string, { signWith }: Intent): string {
  const words = bareType(type)
    .toLowerCase()
    .replaceAll('_', ' ')
    .replace(/\bapi\b/, 'API');
  const key = typeof signWith === 'string' ? ` with ${signWith}` : '';
  return visibleName(`${words.charAt(0).toUpperCase()}${words.slice(1)}${key}`);
}

/** Characters of one value, and how many values, that a line of a list shows. */
const longestValue = 60;
const mostValues = 4;

/** What is said in one word of what was asked: `walletName "Savings", accounts (2)`. */
export function intentLine(intent: Intent): string {
  const said = Object.entries(intent).flatMap(([name, value]) => {
    if (Array.isArray(value)) return [`${name} (${String(value.length)})`];
    if (typeof value === 'object' || value === undefined || value === '') return [];
    const text = visibleJson(JSON.stringify(value));
    return [`${name} ${text.length > longestValue ? `${text.slice(0, longestValue)}…` : text}`];
  });
  return visibleName([...said.slice(0, mostValues), ...(said.length > mostValues ? ['…'] : [])].join(', '));
}
