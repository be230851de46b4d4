/** Text that a stranger wrote, shown so that different texts never look the same. */

/**
 * What cannot be seen, or changes how its surroundings look: controls but the line feed, format and direction characters,
 * surrogates, private use, unassigned code points, separators and blanks other than the space, fillers that are letters by
 * name alone, and the brackets that mark them here.
 */
const hidden =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u115f\u1160\u2800\u3164\uffa0\u27e8\u27e9]|(?! )\p{Zs}/gu;

const mark = (character: string): string =>
  `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;

/**
 * Writes each hidden character as its code point: `⟨U+202E⟩`. Line feeds and spaces stay as they are.
 * @returns a text that no other text is shown as.
 */
export const visibleText = (text: string): string =>
  text.replaceAll(hidden, (character) => (character === '\n' ? character : mark(character)));

/** Whether `visibleText` changes the text: then a person is warned. */
export const hasHiddenCharacters = (text: string): boolean => visibleText(text) !== text;
