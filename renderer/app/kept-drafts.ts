/** The drafts of forms that a lock took away (`drafts.ts`). */

export const keptDrafts = new Map<string, unknown>();

export function dropDrafts(): void {
  keptDrafts.clear();
}
