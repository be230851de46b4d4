/** Long identifiers, made short for a list and readable for comparing by eye. */

/** The two ends of an identifier; whole when it is short enough. */
export const shorten = (text: string, head = 8, tail = 6): string =>
  text.length <= head + tail + 1 ? text : `${text.slice(0, head)}…${text.slice(-tail)}`;

/** Groups of four characters, a prefix such as `0x` or `bc1` first: how people compare addresses. */
export function groups(text: string): readonly string[] {
  const prefix = /^(0x|bc1|tb1|bcrt1)/i.exec(text)?.[0] ?? '';
  const rest = text.slice(prefix.length).match(/.{1,4}/g) ?? [];
  return prefix === '' ? rest : [prefix, ...rest];
}
