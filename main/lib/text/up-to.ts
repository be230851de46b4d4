/**
 * The beginning of a text. A divided surrogate pair would not last: UTF-8 puts U+FFFD in its place, and what reads Unicode text
 * refuses it.
 * @param most UTF-16 units. A pair that reaches beyond them is left out.
 */
export function upTo(text: string, most: number): string {
  const isDivided = /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(most - 1, most + 1));
  return text.slice(0, isDivided ? most - 1 : most);
}

/** The text; where it is longer than `most` UTF-16 units, its beginning with a mark. */
export const shortened = (text: string, most: number): string =>
  text.length <= most ? text : `${upTo(text, most)}…`;
