/** Names that people tell things by, in any script. */
import { lookAlikeOf } from './look-alikes.ts';
import { once } from '../once.ts';
import { orthography } from './visible-text.ts';

/** Controls, marks of direction, and fillers that are letters by name alone. */
const unseen = /[\p{C}\p{Default_Ignorable_Code_Point}\u115f\u1160\u2800\u3164\uffa0]/u;

const asWritten = once(() => new RegExp(orthography, 'gv'));

/** True if all of a name is visible, or is how its script is written. */
export const isVisibleName = (name: string): boolean => !unseen.test(name.replace(asWritten(), ''));

const seenOf = (name: string): string => name.replace(/\p{Default_Ignorable_Code_Point}/gu, '');

/**
 * Finds the name that another imitates. A name in ASCII is always accepted: else a user could block it by
 * taking a look-alike first.
 */
export function mistakenFor(name: string, others: () => readonly string[]): string | undefined {
  if (/^[ -~]*$/.test(name)) return undefined;
  const present = others().filter((other) => other !== name);
  return present.find((other) => seenOf(other) === seenOf(name)) ?? lookAlikeOf(name, present);
}
