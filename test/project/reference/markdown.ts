/** Pieces of the pages that are written from the code. */

/** Text in a cell or a paragraph: what would be markup outside of backticks is shown as it is. */
export const inText = (text: string): string =>
  text
    .split(/(`[^`]*`)/)
    .map((part, index) =>
      index % 2 === 1
        ? part
        : part.replaceAll(/[<>*]/g, String.raw`\$&`).replaceAll(/[A-Z]+(?:_[A-Z]+)+/g, '`$&`'),
    )
    .join('')
    .replaceAll('|', String.raw`\|`)
    .replaceAll('\n', ' ');

export const code = (text: string): string => `\`${text.replaceAll('|', String.raw`\|`)}\``;

/** The first row is the head. Cells are Markdown already. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), `|${head.map(() => '---|').join('')}`, ...rows.map(line)].join('\n');
}

/** A page, with the note that no person writes it. */
export const pageText = (title: string, ...parts: readonly string[]): string =>
  [`# ${title}`, '<!-- Written by `npm run docs`. -->', ...parts].join('\n\n') + '\n';
