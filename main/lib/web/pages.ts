/** Lists that are answered in pages, each of which names where the next begins. */

/**
 * Answers the pages of a list, one after another.
 * @param ask Answers the page after a cursor, or the first.
 */
export async function* pagesOf<Page extends { readonly next?: string | undefined }>(
  ask: (cursor: { readonly after?: string }) => Promise<Page>,
): AsyncGenerator<Page, void> {
  for (let page = await ask({}); ; page = await ask({ after: page.next })) {
    yield page;
    if (page.next === undefined) return;
  }
}
