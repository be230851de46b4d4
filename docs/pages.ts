/**
 * The pages of the documentation: their order, titles and summaries. The pages that the service serves at `/docs`, the
 * website, `llms.txt`, the palette of the window and the command `docs` all follow from this list.
 */

export interface Page {
  /** Of the file in `docs/`, without `.md`; also the page's address below `/docs/`. */
  readonly path: string;
  /** The heading of the file. */
  readonly title: string;
  /** One sentence about what a reader can do with the page. */
  readonly summary: string;
}

export interface Group {
  readonly title: string;
  readonly pages: readonly Page[];
}

export const groups: readonly Group[] = [
  {
    title: 'Guide',
    pages: [
      { path: 'start', title: 'Start', summary: 'Create a vault and sign for the first time.' },
      {
        path: 'works-with',
        title: 'Works with',
        summary: 'Which packages of the vendor work with Keyhearth.',
      },
    ],
  },
];

export const pages: readonly Page[] = groups.flatMap((group) => group.pages);
