/** The HTML around a page's text. It holds no script and no style of its own. */
import { groups, type Page } from '../pages.ts';

export interface Section {
  readonly id: string;
  readonly title: string;
}

export const escapeHtml = (text: string): string =>
  text.replaceAll(
    /[&<>"]/g,
    (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[character] ?? '&quot;',
  );

export interface PageParts {
  readonly page: Page;
  readonly html: string;
  readonly sections: readonly Section[];
  readonly before: Page | undefined;
  readonly after: Page | undefined;
}

export function pageOf({ page, html, sections, before, after }: PageParts): string {
  const up = '../'.repeat(page.path.split('/').length - 1);
  const link = (rel: 'prev' | 'next', label: string, to: Page | undefined): string =>
    to === undefined
      ? ''
      : `<a rel="${rel}" href="${up}${to.path}.html"><small>${label}</small> ${escapeHtml(to.title)}</a>`;
  const onThisPage =
    sections.length < 2
      ? ''
      : `<nav class="sections" aria-labelledby="page-sections">
<h2 id="page-sections">On this page</h2>
<ul>${sections.map(({ id, title }) => `<li><a href="#${id}">${escapeHtml(title)}</a></li>`).join('\n')}</ul>
</nav>`;
  return documentOf({
    ...{ title: page.title, summary: page.summary, up, current: page.path },
    main: `<article>
${html}</article>
${onThisPage}
<nav class="around" aria-label="Previous and next page">${link('prev', 'Previous', before)}${link('next', 'Next', after)}</nav>`,
  });
}

/** The first page: what each other page is for. */
export function homeOf(): string {
  const row = ({ path, title, summary }: Page): string =>
    `<li><a href="${path}.html">${escapeHtml(title)}</a> ${escapeHtml(summary)}</li>`;
  const parts = groups.map(
    (group) =>
      `<h2>${escapeHtml(group.title)}</h2>\n<ul class="pages">\n${group.pages.map(row).join('\n')}\n</ul>`,
  );
  return documentOf({
    ...{ title: 'Documentation', summary: 'The documentation of Keyhearth.', up: '', current: '' },
    main: `<article>\n<h1>Documentation</h1>\n${parts.join('\n')}\n</article>`,
  });
}

interface DocumentParts {
  readonly title: string;
  readonly summary: string;
  /** From the page's address to that of the documentation: empty or `../`. */
  readonly up: string;
  readonly current: string;
  readonly main: string;
}

function documentOf({ title, summary, up, current, main }: DocumentParts): string {
  const item = ({ path, title: name }: Page): string =>
    `<li><a href="${up}${path}.html"${path === current ? ' aria-current="page"' : ''}>${escapeHtml(name)}</a></li>`;
  const index = groups.map(
    (group) => `<h2>${escapeHtml(group.title)}</h2>\n<ul>\n${group.pages.map(item).join('\n')}\n</ul>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta name="color-scheme" content="light dark" />
<meta name="description" content="${escapeHtml(summary)}" />
<title>${escapeHtml(title)} · Keyhearth</title>
<link rel="icon" type="image/svg+xml" href="${up}icon.svg" />
<link rel="stylesheet" href="${up}site.css" />
</head>
<body>
<a class="skip" href="#page-text">Skip to the text</a>
<header><a class="name" href="${up || './'}">Keyhearth</a> <a class="all" href="#page-index">All pages</a></header>
<main id="page-text">
${main}
</main>
<nav id="page-index" aria-label="All pages">
${index.join('\n')}
</nav>
</body>
</html>
`;
}
