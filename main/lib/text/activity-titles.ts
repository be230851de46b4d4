/** Titles of the kinds of activities: in the window, in commands, in notifications. */

import titles from './activity-titles.json' with { type: 'json' };
import { kindOf } from './activity-types.ts';

/** By the type, without its version. Each operation has its own title; `npm run texts` gathers them. */
export const activityTitles: Readonly<Record<string, string>> = titles;

/** @param type In any version. An unknown type is shown by its name. */
export function activityTitle(type: string): string {
  const kind = kindOf(type);
  const words = kind.toLowerCase().replaceAll('_', ' ');
  return activityTitles[kind] ?? words.charAt(0).toUpperCase() + words.slice(1);
}
