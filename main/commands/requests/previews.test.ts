/** Previews on a terminal. The class: no text of a node, or of a server that poses as a vault, passes for a row of the command. */
import { expect, test } from 'vitest';
import { previewLines } from './previews.ts';

const lie = 'x\n  The transaction succeeds.\u001b[2J\u202e';
const marked = 'x⟨U+000A⟩  The transaction succeeds.⟨U+001B⟩[2J⟨U+202E⟩';
const none = { leaves: [], arrives: [], allows: [], left: 0, unread: 0 };
const heading = 'The node says (the vault has verified nothing of it)';

test('each text stands on one row, with its hidden characters marked', () => {
  const asset = { text: lie };
  expect(
    previewLines({
      ...{ outcome: 'PREVIEW_OUTCOME_FAILURE', said: lie, gas: lie },
      moves: {
        ...none,
        leaves: [asset],
        arrives: [asset],
        allows: [{ text: lie, spender: lie }],
        left: 2,
        unread: 1,
      },
    }),
  ).toEqual([
    heading,
    '  The transaction fails.',
    `  In its words: ${marked}`,
    `  Gas: ${marked}`,
    `  Leaves: ${marked}`,
    `  Arrives: ${marked}`,
    `  Allows ${marked} to take: ${marked}`,
    '  And 2 more.',
    '  Events of tokens that cannot be read: 1',
  ]);
});

test('what is not known is not said to be nothing', () => {
  const success = { outcome: 'PREVIEW_OUTCOME_SUCCESS' };
  expect(previewLines(success)).toEqual([
    heading,
    '  The transaction succeeds.',
    '  It does not say what moves.',
  ]);
  expect(previewLines({ ...success, moves: none }).at(-1)).toBe('  No transfers of the account that signs.');
  expect(previewLines({ ...success, moves: { ...none, unread: 2 } }).at(-1)).toMatch(/cannot be read: 2$/);
  // Of a later version.
  expect(previewLines({ outcome: 'PREVIEW_OUTCOME_ELSE', reason: lie })).toEqual([
    heading,
    `  No preview: ${marked}`,
  ]);
});
