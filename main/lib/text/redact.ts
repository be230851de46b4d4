/** Takes out of a technical text what may name a person, a machine or a key, for who shows it to others. */

/** In this order: what is found first is not looked at again. Each takes a time that grows no faster than the text. */
const patterns: readonly (readonly [RegExp, string])[] = [
  // Names that people give stand in quotes, as JSON writes them. A quotation without its end goes with the rest of its line.
  [/"(?:[^"\\\n]|\\.)*(?:"|\\?$)|“[^“”\n]*”/gm, '<quoted>'],
  [/\b[a-z][a-z\d+.-]{1,20}:\/\/(?!127\.0\.0\.1|\[::1\]|localhost\b)[^\s)]+/gi, '<address>'],
  [/[^\s<>()@,;:]{1,64}@[^\s<>()@,;:]{1,255}/g, '<address>'],
  [/\b[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/gi, '<id>'],
  [/(?<![\w./\\])(?:[a-z]:)?(?:[/\\][^\s/\\:"'()<>]+){2,}/gi, '<path>'],
  [/\b(?:0x)?[\da-f]{16,}\b/gi, '<key>'],
  [/\+\d[\d ()-]{6,64}\d/g, '<number>'],
];

/** Base58, Base64 and Bech32 are long, and have digits among small letters; names of operations have none. */
const longWord = /[\w+/=-]{24,}/g;
const isKey = (word: string): boolean => /[a-z]/.test(word) && (word.match(/\d/g)?.length ?? 0) > 1;

/** @param names Texts to be replaced first, by what stands for them: the vault's directory, the user's home. */
export function redact(text: string, names: readonly (readonly [name: string, by: string])[] = []): string {
  // The longest first: one directory may be within another.
  const known = names.filter(([name]) => name.length > 2).sort(([a], [b]) => b.length - a.length);
  const named = known.reduce((rest, [name, by]) => rest.replaceAll(name, by), text);
  return patterns
    .reduce((rest, [pattern, by]) => rest.replace(pattern, by), named)
    .replace(longWord, (word) => (isKey(word) ? '<key>' : word));
}
