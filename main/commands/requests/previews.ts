/** Previews: what the owner's node says of a transaction, in rows apart from those of the vault. */
import { z } from 'zod';
import { visibleLine } from '../../lib/text/visible-text.ts';
import type { Api } from '../shared/api.ts';

const asset = z.looseObject({ text: z.string() });
const previewAnswer = z.object({
  preview: z.looseObject({
    outcome: z.string(),
    reason: z.string().optional(),
    said: z.string().optional(),
    gas: z.string().optional(),
    moves: z
      .looseObject({
        leaves: z.array(asset),
        arrives: z.array(asset),
        allows: z.array(asset.extend({ spender: z.string() })),
        left: z.number(),
        unread: z.number(),
      })
      .optional(),
  }),
});
type Preview = z.output<typeof previewAnswer>['preview'];

/** @throws CommandError where the vault refuses. */
export const askPreview = async (api: Pick<Api, 'query'>, activityId: string): Promise<Preview> =>
  (await api.query('preview_activity', previewAnswer, { activityId })).preview;

const outcomes: Readonly<Record<string, string>> = {
  PREVIEW_OUTCOME_SUCCESS: 'The transaction succeeds.',
  PREVIEW_OUTCOME_FAILURE: 'The transaction fails.',
};

/** Each text of the node stands on a row of its own, with hidden characters marked. */
export function previewLines({ outcome, reason, said, gas, moves }: Preview): readonly string[] {
  const row = (label: string, text: string): string => `  ${visibleLine(`${label}: ${text}`)}`;
  const words = outcomes[outcome];
  return [
    'The node says (the vault has verified nothing of it)',
    `  ${words ?? `No preview: ${visibleLine(reason ?? 'the vault gives no reason')}`}`,
    ...(said === undefined ? [] : [row('In its words', said)]),
    ...(gas === undefined ? [] : [row('Gas', gas)]),
    ...(moves === undefined
      ? words === undefined
        ? []
        : ['  It does not say what moves.']
      : [
          ...moves.leaves.map(({ text }) => row('Leaves', text)),
          ...moves.arrives.map(({ text }) => row('Arrives', text)),
          ...moves.allows.map(({ text, spender }) => row(`Allows ${spender} to take`, text)),
          ...(moves.leaves.length + moves.arrives.length + moves.allows.length + moves.unread === 0
            ? ['  No transfers of the account that signs.']
            : []),
          ...(moves.left > 0 ? [`  And ${String(moves.left)} more.`] : []),
          ...(moves.unread > 0 ? [row('Events of tokens that cannot be read', String(moves.unread))] : []),
        ]),
  ];
}
