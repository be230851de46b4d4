/**
 * Names and addresses that imitate others. As in Unicode's UTS #39, texts are compared by a skeleton, in
 * which each letter stands for all that look like it. The table has the letters that look like Latin ones.
 */

/** By script, pairs of a letter and the Latin one that it looks like. */
const alike: Readonly<Record<string, string>> = {
  Cyrillic: 'аa еe оo рp сc уy хx іi јj ѕs һh ԁd ԛq ԝw ӏl АA ВB ЕE КK МM НH ОO РP СC ТT УY ХX ІI ЈJ ЅS ԌG',
  Greek: 'αa γy ιi κk νv οo ρp τt υu χx ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX',
  Armenian: 'օo սu ոn հh ցg զq ՕO ՍU',
  Cherokee: 'ᎪA ᏴB ᏟC ᎠD ᎬE ᏀG ᎻH ᎫJ ᏦK ᏞL ᎷM ᏢP ᏒR ᏚS ᎢT ᏙV ᎳW ᏃZ',
  Latin: 'ıi ɑa ɡg ɩi ʟL',
};

const latin = new Map(
  Object.values(alike).flatMap((pairs) =>
    pairs.split(' ').map((pair): [string, string] => [pair.charAt(0), pair.charAt(1)]),
  ),
);

/** After the letters: what looks alike in most typefaces. */
const shapes = [
  [/[I1|]/g, 'l'],
  [/0/g, 'o'],
  [/rn/g, 'm'],
  [/vv/gi, 'w'],
  [/[\s_-]+/g, ' '],
] as const;

/**
 * The same for texts that look alike. Compatibility forms, such as letters of full width or of mathematics, are the letters that
 * they look like.
 */
export function skeleton(text: string): string {
  const letters = Array.from(text.normalize('NFKC'), (letter) => latin.get(letter) ?? letter).join('');
  return shapes.reduce((shown, [from, to]) => shown.replace(from, to), letters).toLowerCase();
}

/** @returns the first of the others that a name may be taken for, where it is not that very name. */
export function lookAlikeOf(name: string, others: readonly string[]): string | undefined {
  if (others.includes(name)) return undefined;
  const shown = skeleton(name);
  return others.find((other) => skeleton(other) === shown);
}

const scripts = Object.keys(alike).map((name) => ({ name, letter: new RegExp(`\\p{Script=${name}}`, 'u') }));

/** @returns the first word that mixes scripts with letters of one that look like letters of another, and the scripts. */
function mixedWord(text: string): { readonly word: string; readonly of: readonly string[] } | undefined {
  for (const [word] of text.matchAll(/[\p{L}\p{M}]+/gu)) {
    if (!Array.from(word).some((letter) => latin.has(letter))) continue;
    const of = scripts.filter(({ letter }) => letter.test(word)).map(({ name }) => name);
    if (of.length > 1) return { word, of };
  }
  return undefined;
}

/** @returns the first name with dots, as domains and ENS have them under an end in Latin letters, that has letters beyond those. */
const dottedName = (text: string): string | undefined =>
  text
    .match(/[\p{L}\p{M}\p{N}_.-]+/gu)
    ?.map((word) => word.replace(/^\.+|(?<!\.)\.+$/g, ''))
    .find((word) => /[^ -~]/.test(word) && /\.[a-z]{2,63}$/i.test(word) && !word.includes('..'));

/** @returns what a person should know of a foreign text before trusting its looks, in sentences. */
export function lookAlikeWarnings(text: string): readonly string[] {
  if (/^[\n -~]*$/.test(text)) return [];
  const mixed = mixedWord(text);
  const dotted = dottedName(text);
  return [
    ...(mixed === undefined
      ? []
      : [
          `“${mixed.word}” mixes letters that look alike: ${mixed.of.join(' and ')}. It may be meant to look like another word.`,
        ]),
    ...(dotted === undefined
      ? []
      : [`“${dotted}” has letters beyond a to z. It may be meant to look like another name.`]),
  ];
}

/** The beginning that all addresses of a format share, so it does not distinguish them. */
const prefix = /^(?:0x|(?:bc|tb|bcrt)1[qp]?|T(?=[1-9A-HJ-NP-Za-km-z]{33}$))/i;

/** Case matters where letters are counted by it: not in hex, nor in Bech32. */
const caseless = /^(?:0x|(?:bc|tb|bcrt)1)/i;

/** Characters that people compare, at either end. */
const compared = 4;

/**
 * Finds an address that another may be taken for: both begin and end alike, and are different. Such addresses are ground
 * for and put into a person's history, to be copied from there.
 */
export function looksLike(address: string, ours: readonly string[]): string | undefined {
  const written = comparable(address);
  const ends = endsOf(written);
  return ours.find((other) => {
    const own = comparable(other);
    return own !== written && own.length === written.length && endsOf(own) === ends;
  });
}

/** The part of an address by which those that `looksLike` may find begin, in either case. */
export const beginningOf = (address: string): string =>
  address.slice(0, (prefix.exec(address)?.[0].length ?? 0) + compared);

/** True for two spellings of one address. */
export const sameAddress = (one: string, other: string): boolean => comparable(one) === comparable(other);

const comparable = (address: string): string => (caseless.test(address) ? address.toLowerCase() : address);

function endsOf(address: string): string {
  const rest = address.replace(prefix, '');
  return `${rest.slice(0, compared)}…${rest.slice(-compared)}`;
}
