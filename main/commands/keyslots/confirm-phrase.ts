/** Confirms on the terminal that a recovery phrase was written down. */
import { randomBytes } from 'node:crypto';
import { note } from '../shared/output.ts';
import { askForText } from '../shared/prompts.ts';

/**
 * Shows the phrase and asks for three of its words, each until it is right.
 * @param undone What was not done where a person cancels.
 * @returns The positions that were asked for.
 */
export async function confirmPhrase(phrase: string, undone: string): Promise<readonly number[]> {
  const words = phrase.split(' ');
  note('Recovery phrase: these 24 words open the vault when everything else is lost. Write them down.\n');
  for (let row = 0; row < words.length; row += 4) {
    note(
      words
        .slice(row, row + 4)
        .map((word, index) => `${String(row + index + 1).padStart(4)}. ${word.padEnd(10)}`)
        .join(''),
    );
  }
  const positions = threePositions();
  for (const position of positions) {
    await askForText(
      {
        message: `Word ${String(position)}`,
        validate: (typed = '') =>
          typed.trim().toLowerCase() === words[position - 1]
            ? undefined
            : `That is not word ${String(position)}. Look at what you wrote down; the words above stay the same.`,
      },
      undone,
    );
  }
  return positions;
}

function threePositions(): number[] {
  const positions = new Set<number>();
  while (positions.size < 3) positions.add(((randomBytes(1)[0] ?? 0) % 24) + 1);
  return [...positions].sort((a, b) => a - b);
}
