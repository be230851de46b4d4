/** Foreign text, shown so that different texts never look the same. */
import { once } from '../once.ts';

/**
 * Code points that are not seen, or change how their surroundings look: controls but the line feed, format and direction
 * characters, surrogates, private use, unassigned code points, separators and blanks other than the space, and fillers that
 * are letters by name alone.
 */
const hidden = String.raw`(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u115f\u1160\u2800\u3164\uffa0]|(?! )\p{Zs}`;

/** The joiners and selectors of an emoji are seen: without them, it is another picture. */
const emoji = String.raw`\p{RGI_Emoji}`;

const scripts = (...codes: readonly string[]): string =>
  `[${codes.map((code) => String.raw`\p{scx=${code}}`).join('')}]`;

/** Their letters join or stand for one another: a joiner between two is seen. */
const joining = scripts(
  ...['Arab', 'Syrc', 'Nkoo', 'Mong', 'Deva', 'Beng', 'Guru', 'Gujr', 'Orya'],
  ...['Taml', 'Telu', 'Knda', 'Mlym', 'Sinh', 'Khmr', 'Mymr', 'Tibt'],
);
const ideographic = scripts('Hani', 'Hira', 'Kana');

/** Invisible characters that scripts need: joiners between letters, forms of letters, the wide blank. */
export const orthography = [
  String.raw`(?<=${joining})[\u200c\u200d](?=${joining})`,
  String.raw`(?<=\p{scx=Mong})[\u180b-\u180d\u180f]`,
  String.raw`(?<=\p{scx=Hani})[\ufe00-\ufe02\u{e0100}-\u{e01ef}]`,
  String.raw`(?<=${ideographic})\u3000(?=${ideographic})`,
  emoji,
].join('|');

/**
 * The first group is what is seen all the same. Each is compiled for the first text that needs it: the sets of emoji and scripts
 * take tens of milliseconds, which every start of the command would pay, and most texts are plain.
 */
const patterns = {
  /** The brackets that mark a code point are marked themselves: so no text is shown as another. */
  first: once(() => new RegExp(`(${emoji})|${hidden}|[⟨⟩]`, 'gv')),
  /** The brackets stay: the text may have been made visible before. */
  again: once(() => new RegExp(`(${emoji})|${hidden}`, 'gv')),
  /** A name is written as its language is. */
  name: once(() => new RegExp(`(${orthography})|${hidden}`, 'gv')),
};

/** A character as its code point. */
export const mark = (character: string): string =>
  `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;

const markAll = (characters: string): string => Array.from(characters, mark).join('');

const isPlain = (text: string): boolean => /^[\n -~]*$/.test(text);

const replaceHidden = (text: string, pattern: RegExp): string => {
  const marked = text.replace(pattern, (character, seen?: string) => seen ?? mark(character));
  // A letter that is marked for its spelling takes an accent's place to stand on away.
  return markAccents(markUncomposed(markAccents(marked)));
};

/** On one letter. */
const mostAccents = 4;

/** Accents that have no letter to stand on, or are too many for one, reach into what is around them. */
const markAccents = (text: string): string =>
  text.replace(/\p{M}+/gu, (accents, at: number) => {
    const standing = at > 0 && !/[\n ⟩]/.test(text.charAt(at - 1)) ? mostAccents : 0;
    return Array.from(accents, (accent, index) => (index < standing ? accent : mark(accent))).join('');
  });

const graphemes = once(() => new Intl.Segmenter('und', { granularity: 'grapheme' }));

/** Unicode has several spellings of one letter, which look alike by its own rules: only the composed one stays. */
function markUncomposed(text: string): string {
  if (text === text.normalize('NFC')) return text;
  return Array.from(graphemes().segment(text), ({ segment }) => {
    if (segment === segment.normalize('NFC')) return segment;
    const [first = '', ...rest] = segment;
    return (first === first.normalize('NFC') ? first : mark(first)) + markAll(rest.join(''));
  }).join('');
}

/**
 * Writes each hidden character as its code point: `⟨U+202E⟩`. Line feeds and spaces stay as they are.
 * @returns a text that no other text is shown as.
 */
export const visibleText = (text: string): string =>
  isPlain(text) ? text : replaceHidden(text, patterns.first());

/** True if `visibleText` changes the text: then a warning is shown. */
export const hasHiddenCharacters = (text: string): boolean => visibleText(text) !== text;

/** The blocks of scripts that run from right to left. */
const block = String.raw`\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\u{10800}-\u{10fff}\u{1e800}-\u{1efff}`;
const rightToLeft = new RegExp(`[${block}]`, 'u');
const lettersRightToLeft = new RegExp(String.raw`[${block}]\p{M}*`, 'gu');
const otherDirection = new RegExp(String.raw`[^${block}\p{Z}\p{P}\p{M}]`, 'u');

/**
 * The direction of a line. A line that mixes directions, or has numbers among right-to-left letters, hides
 * its order.
 */
export function directionOf(line: string): 'ltr' | 'rtl' | 'mixed' {
  if (!rightToLeft.test(line)) return 'ltr';
  return otherDirection.test(line) ? 'mixed' : 'rtl';
}

/** Marks what is hidden in a text that was made visible before: nothing, unless it was forgotten. */
export const visibleAgain = (text: string): string =>
  isPlain(text) ? text : replaceHidden(text, patterns.again());

/**
 * Writes a text that was made visible for a place that sets no direction: on a line that mixes them, the letters that run from
 * right to left are marked as well.
 */
export const visibleInOrder = (text: string): string =>
  visibleAgain(text)
    .split('\n')
    .map((line) => (directionOf(line) === 'mixed' ? line.replace(lettersRightToLeft, markAll) : line))
    .join('\n');

/** The same on one line. */
export const visibleLine = (text: string): string => visibleInOrder(text).replaceAll('\n', mark);

const isolated = /(\u2068[^\u2066-\u2069]*\u2069)/;

/**
 * Writes a name, a note or an address on one line, to stand among other words. Hidden characters are marked, but for what is
 * how a script is written, and letters that run from right to left are isolated: they move nothing around them. Done twice, it
 * changes nothing more.
 */
export const visibleName = (text: string): string =>
  /^[ -~]*$/.test(text)
    ? text
    : text
        .split(isolated)
        .map((part, index) => {
          const wasIsolated = index % 2 === 1;
          const shown = onOneLine(wasIsolated ? part.slice(1, -1) : part);
          return wasIsolated || rightToLeft.test(shown) ? `\u2068${shown}\u2069` : shown;
        })
        .join('');

const onOneLine = (text: string): string => replaceHidden(text, patterns.name()).replaceAll('\n', mark);

/** Writes the hidden characters of a text in JSON as JSON escapes them: it says the same, and shows all of it. */
export const visibleJson = (json: string): string =>
  isPlain(json)
    ? json
    : json.replace(patterns.again(), (character, seen?: string) => seen ?? escaped(character));

const escaped = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, unit) => String.raw`\u${character.charCodeAt(unit).toString(16).padStart(4, '0')}`,
  ).join('');
