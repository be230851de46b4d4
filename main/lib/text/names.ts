/** Names that people tell things by, in any script. */
import { lookAlikeOf } from './look-alikes.ts';
import { once } from '../once.ts';
import { orthography } from './visible-text.ts';

/** Controls, marks of direction, and fillers that are letters by name alone. */
const unseen = /[\p{C}\p{Default_Ignorable_Code_Point}\u115f\u1160\u2800\u3164\uffa0]/u;

const asWritten = once(() => new RegExp(orthography, 'gv'));

/** Whether all of a name can be seen, or is how its script is written. */
export const isVisibleName = (name: string): boolean => !unseen.test(name.replace(asWritten(), ''));

const seenOf = (name: string): string => name.replace(/\p{Default_Ignorable_Code_Point}/gu, '');

/**
 * Finds the name that another is made to look like. Names in ASCII are taken as they are: nobody keeps them from being given
 * by giving one in other letters first.
 */
export function mistakenFor(name: string, others: () => readonly string[]): string | undefined {
  if (/^[ -~]*$/.test(name)) return undefined;
  const present = others().filter((other) => other !== name);
  return present.find((other) => seenOf(other) === seenOf(name)) ?? lookAlikeOf(name, present);
}
