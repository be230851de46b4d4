/** Warns, where a person decides, of receivers that the vault has not signed for before. */
import { z } from 'zod';
import { findReceiverUses, type ReceiverUses } from '../../lib/text/receiver-uses.ts';
import type { VaultApi } from '../shared/api.ts';
import { CommandError, exitCodes } from '../shared/output.ts';
import type { Description } from './descriptions.ts';

const usesAnswer = z.object({
  receiverUses: z.array(z.object({ address: z.string() })),
  next: z.number().optional(),
});

/** Addresses in one question. */
const mostAsked = 20;

/** @returns the descriptions with such a warning for each receiver without a name. */
export async function withFirstUses(
  api: VaultApi,
  descriptions: readonly Description[],
): Promise<readonly Description[]> {
  const strangers = [...new Set(descriptions.flatMap((each) => each.strangers ?? []))].slice(0, mostAsked);
  const found = strangers.length === 0 ? undefined : await findUses(api, strangers);
  if (found === undefined) return descriptions;
  const left = strangers.filter((address) => !found.uses.has(address));
  const warning = (address: string): string =>
    found.isWhole
      ? `First time to ${address}: compare every character.`
      : `${address} is not in the newest activities: compare every character.`;
  return descriptions.map((each) => {
    const first = left.filter((address) => each.strangers?.includes(address));
    return { ...each, warnings: [...each.warnings, ...first.map(warning)] };
  });
}

/** A vault of an earlier version does not tell: then nothing is warned of. */
async function findUses(
  api: VaultApi,
  addresses: readonly string[],
): Promise<ReceiverUses<{ readonly address: string }> | undefined> {
  try {
    return await findReceiverUses(addresses, (question) =>
      api.query('list_receiver_uses', usesAnswer, question),
    );
  } catch (error) {
    if (error instanceof CommandError && error.exitCode === exitCodes.failed) return undefined;
    throw error;
  }
}
