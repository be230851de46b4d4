/** The name that was most likely meant. */
import { editDistance } from '../../lib/text/edit-distance.ts';

/** @returns one of the names, when it is close enough to be a slip of the pen. */
export function suggest(name: string, names: readonly string[]): string | undefined {
  const plain = plainly(name);
  const same = names.find((candidate) => plainly(candidate) === plain);
  if (same !== undefined || name.length > 100) return same;
  const far = Math.max(1, Math.floor(name.length / 3));
  let best: string | undefined;
  let least = far + 1;
  for (const candidate of names) {
    // It takes at least as many edits.
    if (Math.abs(candidate.length - name.length) >= least) continue;
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < least) [best, least] = [candidate, distance];
  }
  return best;
}

/** `contractCallArgs` and `contract_call_args` are one name in two conventions. */
const plainly = (name: string): string => name.replaceAll('_', '').toLowerCase();
