/** The answer of `describe_payload`, and the part of it that is shown at first. */

export interface Line {
  readonly label: string;
  readonly value: string;
}

interface Part {
  readonly title: string;
  readonly lines: readonly Line[];
}

export interface Description {
  readonly title: string;
  /** Why nothing would be signed. Absent where the service can read it. */
  readonly unread?: string;
  readonly lines: readonly Line[];
  readonly parts: readonly Part[];
  readonly warnings: readonly string[];
  readonly digests: readonly Line[];
  /** Addresses in its title that have no name here. */
  readonly strangers: readonly string[];
}

type Body = Pick<Description, 'lines' | 'parts'>;

/** More rows than a person wants to scroll past, before they ask for them. */
const atFirst = 200;

/** Lines, and what parts are called. */
export const rowsOf = ({ lines, parts }: Body): number =>
  parts.reduce((sum, part) => sum + 1 + part.lines.length, lines.length);

/** True if all of it is shown at first. */
export const isShort = (description: Body): boolean => rowsOf(description) <= atFirst;

/** The part that is shown at first. */
export function beginningOf({ lines, parts }: Body): Body {
  let left = Math.max(0, atFirst - lines.length);
  const begun: Part[] = [];
  for (const { title, lines: own } of parts) {
    if (left === 0) break;
    left -= 1;
    begun.push({ title, lines: own.slice(0, left) });
    left = Math.max(0, left - own.length);
  }
  return { lines: lines.slice(0, atFirst), parts: begun };
}
