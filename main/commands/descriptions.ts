/** What a transaction or a payload does, in the words of `describe_payload`. */
import { z } from 'zod';

const shownLine = z.object({ label: z.string(), value: z.string() });
/** Of `describe_payload`. */
export const describeAnswer = z.object({
  description: z.object({
    title: z.string(),
    lines: z.array(shownLine),
    parts: z.array(z.object({ title: z.string(), lines: z.array(shownLine) })),
    warnings: z.array(z.string()),
    digests: z.array(shownLine),
  }),
});
export type Description = z.output<typeof describeAnswer>['description'];

/** As a terminal shows it. */
export function descriptionToText({ title, lines, parts, warnings, digests }: Description): string {
  const row =
    (indent: string) =>
    ({ label, value }: { readonly label: string; readonly value: string }): string =>
      `${indent}${visible(label)}: ${value.split('\n').map(visible).join(`\n${indent}  | `)}`;
  return [
    visible(title),
    ...lines.map(row('  ')),
    ...parts.flatMap((part, index) => [
      `  ${String(index + 1)}. ${visible(part.title)}`,
      ...part.lines.map(row('     ')),
    ]),
    ...digests.map(row('  ')),
    ...warnings.map((warning) => `Beware: ${visible(warning)}`),
  ].join('\n');
}

/** Whoever made what is signed must not move the terminal's cursor, nor turn its text around. */
export const visible = (text: string): string =>
  text.replaceAll(/[\p{C}\u2028\u2029]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u{${code.toString(16)}}`;
  });
