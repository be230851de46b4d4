/** A page of a list: at most `limit` rows after or before a cursor, which is the id of a row. */
export interface Page {
  readonly limit: number;
  readonly after?: string;
  readonly before?: string;
}

/** True where the list goes on before a page's first row, and not after its last. */
export const isBackwards = ({ before, after }: Page): boolean => before !== undefined && after === undefined;
