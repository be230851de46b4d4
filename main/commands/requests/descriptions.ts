/** Prints the effects of a transaction or a payload, in the words of `describe_payload`. */
import { z } from 'zod';
import { visibleInOrder, visibleLine } from '../../lib/text/visible-text.ts';
import { CommandError, exitCodes } from '../shared/output.ts';

const shownLine = z.object({ label: z.string(), value: z.string() });
/** Of `describe_payload`. */
export const describeAnswer = z.object({
  description: z.object({
    title: z.string(),
    unread: z.string().optional(),
    lines: z.array(shownLine),
    parts: z.array(z.object({ title: z.string(), lines: z.array(shownLine) })),
    /** Receivers that neither the vault nor its address book knows. A vault of an earlier version does not say. */
    strangers: z.array(z.string()).optional(),
    warnings: z.array(z.string()),
    digests: z.array(shownLine),
  }),
});
export type Description = z.output<typeof describeAnswer>['description'];

/**
 * As a terminal shows it. A text’s own lines, and what a narrow terminal breaks off them, follow on rows of their own that begin
 * with a bar or an arrow: no text passes for a row of Keyhearth’s.
 * @param columns Of the terminal, where there is one.
 */
export function descriptionToText(
  { title, lines, parts, warnings, digests }: Description,
  columns = Number.POSITIVE_INFINITY,
): string {
  const rows = (indent: string, before: string, text: string): string =>
    rowsOf(before, text, Math.max(narrowest, columns - indent.length))
      .map((row) => indent + row)
      .join('\n');
  const row =
    (indent: string) =>
    ({ label, value }: { readonly label: string; readonly value: string }): string =>
      rows(indent, `${visibleLine(label)}: `, value);
  return [
    rows('', '', title),
    ...lines.map(row('  ')),
    ...parts.flatMap((part, index) => [
      rows('  ', `${String(index + 1)}. `, part.title),
      ...part.lines.map(row('     ')),
    ]),
    ...digests.map(row('  ')),
    ...warnings.map((warning) => rows('', 'Beware: ', warning)),
  ].join('\n');
}

/** @throws CommandError where a vault cannot read what is to be signed, and would not sign it. */
export function checkRead({ unread }: Description): void {
  if (unread === undefined) return;
  throw new CommandError(
    exitCodes.failed,
    `the vault would not sign this, since it cannot read it: ${unread}`,
  );
}

/** Prefix of a text’s next line, and of the rest of a broken line. */
const prefixes = { next: '  | ', rest: '  > ' };
/** In columns: narrower rows are not made. */
const narrowest = 20;

const rowsOf = (before: string, text: string, columns: number): readonly string[] =>
  visibleInOrder(text)
    .split('\n')
    .flatMap((line, index) =>
      broken(
        (index === 0 ? before : prefixes.next) +
          // A blank at a line’s end is not seen.
          line.replace(/ $/, '⟨U+0020⟩'),
        columns,
      ),
    );

/** Breaks a row where a terminal would. What is beyond ASCII may take two columns. */
function broken(row: string, columns: number): readonly string[] {
  const rows: string[] = [];
  let next = '';
  let width = 0;
  for (const character of row) {
    const wide = character > '~' ? 2 : 1;
    if (width + wide > columns) {
      rows.push(next);
      next = prefixes.rest;
      width = prefixes.rest.length;
    }
    next += character;
    width += wide;
  }
  return [...rows, next];
}
