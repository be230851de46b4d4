/** Warns, where a person decides, of receivers that the vault has not signed for before. */
import { z } from 'zod';
import { defined } from '../../lib/defined.ts';
import type { VaultApi } from '../shared/api.ts';
import { CommandError, exitCodes } from '../shared/output.ts';
import type { Description } from './descriptions.ts';

const usesAnswer = z.object({
  receiverUses: z.array(z.object({ address: z.string() })),
  next: z.number().optional(),
});

/** Addresses in one question. */
const mostAsked = 20;
/** Questions for a whole log. */
const mostQuestions = 50;

/** @returns the descriptions with such a warning for each receiver without a name. */
export async function withFirstUses(
  api: VaultApi,
  descriptions: readonly Description[],
): Promise<readonly Description[]> {
  const strangers = new Set(descriptions.flatMap((each) => each.strangers ?? []));
  if (strangers.size === 0) return descriptions;
  const { left, isWhole } = await findUnused(api, [...strangers].slice(0, mostAsked));
  const warning = (address: string): string =>
    isWhole
      ? `First time to ${address}: compare every character.`
      : `${address} is not in the newest activities: compare every character.`;
  return descriptions.map((each) => {
    const first = left.filter((address) => each.strangers?.includes(address));
    return { ...each, warnings: [...each.warnings, ...first.map(warning)] };
  });
}

async function findUnused(
  api: VaultApi,
  addresses: readonly string[],
): Promise<{ readonly left: readonly string[]; readonly isWhole: boolean }> {
  let left = addresses;
  let before: number | undefined;
  for (let asked = 0; asked < mostQuestions; asked += 1) {
    const answer = await ask(api, left, before);
    // A vault of an earlier version does not tell.
    if (answer === undefined) return { left: [], isWhole: false };
    const found = new Set(answer.receiverUses.map(({ address }) => address));
    left = left.filter((address) => !found.has(address));
    before = answer.next;
    if (before === undefined || left.length === 0) return { left, isWhole: true };
  }
  return { left, isWhole: false };
}

async function ask(
  api: VaultApi,
  addresses: readonly string[],
  before: number | undefined,
): Promise<z.output<typeof usesAnswer> | undefined> {
  try {
    return await api.query('list_receiver_uses', usesAnswer, {
      addresses: [...addresses],
      ...defined({ before }),
    });
  } catch (error) {
    if (error instanceof CommandError && error.exitCode === exitCodes.failed) return undefined;
    throw error;
  }
}
