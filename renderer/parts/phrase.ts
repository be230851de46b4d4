/** The recovery phrase: reading it back, and asking for words of it. */

export const wordsOf = (phrase: string): readonly string[] =>
  phrase
    .trim()
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');

/**
 * Distinct positions (1 to `length`), in rising order, drawn evenly.
 * @param random answers a whole number from 0 to below its argument.
 */
export function drawPositions(
  howMany: number,
  length: number,
  random: (below: number) => number,
): readonly number[] {
  const left = Array.from({ length }, (_, index) => index + 1);
  return Array.from({ length: howMany }, () => left.splice(random(left.length), 1))
    .flat()
    .sort((a, b) => a - b);
}

/** Even up to one part in 2³², which no one can tell apart over 24 positions. */
export const randomBelow = (below: number): number =>
  Math.floor(((crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 32) * below);
