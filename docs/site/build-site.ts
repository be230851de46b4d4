/**
 * Writes the documentation as static files: `docs/` with a page of HTML and its Markdown for each page of the list, and
 * `llms.txt` and `llms-full.txt` beside it. The build puts them where the service serves them from. A website is the same
 * files: `npm run docs:site -- [DIRECTORY]` writes them there, `release/site` unless given.
 */
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, posix, relative, resolve } from 'node:path';
import Eleventy, { type Markdown } from '@11ty/eleventy';
import { groups, pages, type Page } from '../pages.ts';
import { escapeHtml, homeOf, pageOf, type Section } from './page.ts';

const projectRoot = resolve(import.meta.dirname, '../..');

interface Rendered {
  readonly html: string;
  readonly sections: readonly Section[];
}

/** @throws Error where a page is missing, or links to a file that is not a page. */
export async function buildSite(output: string): Promise<void> {
  const rendered = await renderPages();
  await rm(output, { recursive: true, force: true });
  for (const [index, page] of pages.entries()) {
    const found = rendered.get(page.path);
    if (found === undefined) throw new Error(`docs/${page.path}.md is in the list of pages and is not there`);
    const [before, after] = [pages[index - 1], pages[index + 1]];
    const html = pageOf({ page, ...found, before, after });
    await write(join(output, 'docs', `${page.path}.html`), html);
    const source = join(projectRoot, 'docs', `${page.path}.md`);
    await cp(source, join(output, 'docs', `${page.path}.md`));
  }
  await write(join(output, 'docs/index.html'), homeOf());
  const styles = ['renderer/app/tokens.css', 'docs/site/site.css'].map((file) =>
    readFile(join(projectRoot, file), 'utf8'),
  );
  await write(join(output, 'docs/site.css'), (await Promise.all(styles)).join('\n'));
  await cp(join(projectRoot, 'renderer/icon.svg'), join(output, 'docs/icon.svg'));
  await cp(join(projectRoot, 'docs/screens'), join(output, 'docs/screens'), { recursive: true });
  await write(join(output, 'llms.txt'), shortText());
  await write(join(output, 'llms-full.txt'), await fullText());
}

async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}

async function renderPages(): Promise<ReadonlyMap<string, Rendered>> {
  const sections = new Map<string, Section[]>();
  // Eleventy takes paths from the working directory.
  const input = relative(process.cwd(), join(projectRoot, 'docs')) || '.';
  const eleventy = new Eleventy(input, 'unused', {
    quietMode: true,
    configPath: join(input, 'site/eleventy.config.js'),
    config(config) {
      config.setUseGitIgnore(false);
      for (const name of ['decisions/**', 'samples/**', 'README.md']) config.ignores.add(join(input, name));
      config.setTemplateFormats(['md']);
      config.amendLibrary('md', (markdown) => {
        amend(markdown, input, sections);
      });
    },
  });
  const results = await eleventy.toJSON();
  return new Map(
    results.map(({ inputPath, content }) => {
      const path = pathOf(inputPath, input);
      return [path, { html: content, sections: sections.get(path) ?? [] }];
    }),
  );
}

const pathOf = (inputPath: string, input: string): string =>
  relative(input, inputPath).replaceAll('\\', '/').replace(/\.md$/, '');

/** Headings get ids, links of pages lead to their HTML, and wide tables and code scroll by themselves. */
function amend(markdown: Markdown, input: string, sections: Map<string, Section[]>): void {
  markdown.core.ruler.push('keyhearth', ({ tokens, env }) => {
    const path = pathOf(env.page.inputPath, input);
    const ids = new Set<string>();
    const found: Section[] = [];
    for (const [index, token] of tokens.entries()) {
      let isDropped = false;
      for (const child of token.children ?? []) {
        if (child.type === 'link_open') {
          const target = targetOf(child.attrGet('href') ?? '', path);
          isDropped = target === undefined;
          if (target !== undefined) child.attrSet('href', target);
        }
        if (isDropped && /^link_(open|close)$/.test(child.type)) child.hidden = true;
      }
      // A column without a name has no header.
      if (token.type === 'th_open' && tokens[index + 1]?.content === '') {
        for (const cell of [token, tokens[index + 2]]) if (cell !== undefined) cell.tag = 'td';
      }
      if (token.type !== 'heading_open') continue;
      const title = (tokens[index + 1]?.children ?? []).map(({ content }) => content).join('');
      const id = freeId(slugOf(title), ids);
      token.attrSet('id', id);
      if (token.tag === 'h2') found.push({ id, title });
    }
    sections.set(path, found);
  });
  markdown.renderer.rules['fence'] = (all, index) => {
    const { info = '', content = '' } = all[index] ?? {};
    const [, name] = info.trim().split(/\s+/);
    const file = name === undefined ? '' : `<p class="file"><code>${escapeHtml(name)}</code></p>\n`;
    return `${file}<pre tabindex="0"><code>${escapeHtml(content)}</code></pre>\n`;
  };
  markdown.renderer.rules['image'] = (all, index) => {
    const token = all[index];
    return token === undefined ? '' : pictureOf(token.attrGet('src') ?? '', token.content);
  };
  markdown.renderer.rules['table_open'] = () =>
    '<div class="table" tabindex="0" role="group" aria-label="Table"><table>\n';
  markdown.renderer.rules['table_close'] = () => '</table></div>\n';
}

/**
 * A picture of the window is `NAME-light.webp`, with `NAME-dark.webp` beside it.
 * @throws Error for another, or where one of the two is not there.
 */
function pictureOf(source: string, description: string): string {
  const [, name = ''] = /^(?:\.\.\/)*(screens\/[a-z-]+)-light\.webp$/.exec(source) ?? [];
  const areThere = ['light', 'dark'].every((scheme) =>
    existsSync(join(projectRoot, 'docs', `${name}-${scheme}.webp`)),
  );
  if (!areThere) {
    throw new Error(
      `a page shows ${source}: expected screens/NAME-light.webp, with NAME-dark.webp beside it`,
    );
  }
  const dark = source.replace(/light\.webp$/, 'dark.webp');
  return `<picture><source media="(prefers-color-scheme: dark)" srcset="${dark}"><img src="${source}" alt="${escapeHtml(description)}" width="1280" height="800" loading="lazy"></picture>`;
}

/** As GitHub makes the ids of headings, so that a link leads to the same place in both. */
function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');
}

function freeId(slug: string, taken: Set<string>): string {
  let id = slug;
  for (let count = 1; taken.has(id); count++) id = `${slug}-${String(count)}`;
  taken.add(id);
  return id;
}

/**
 * @returns undefined for a file of the project that is not a page, which readers of the site do not have.
 * @throws Error for a file that is not there.
 */
function targetOf(href: string, from: string): string | undefined {
  if (/^(https?:|#)/.test(href)) return href;
  const [, file = '', anchor = ''] = /^([^#]*)(#.*)?$/.exec(href) ?? [];
  const target = posix.normalize(posix.join(posix.dirname(from), file));
  if (pages.some(({ path }) => `${path}.md` === target)) return `${file.replace(/\.md$/, '.html')}${anchor}`;
  if (existsSync(join(projectRoot, 'docs', target))) return undefined;
  throw new Error(`docs/${from}.md links to ${href}, which is not there`);
}

const intro = `# Keyhearth

> A key vault on this computer. It signs for a person and for their scripts, and its HTTP API is a subset of Turnkey's: the
> vendor's SDKs work with the base URL http://127.0.0.1:7377.
`;

function shortText(): string {
  const row = ({ path, title, summary }: Page): string => `- [${title}](docs/${path}.md): ${summary}`;
  const parts = groups.map(({ title, pages: list }) => `## ${title}\n\n${list.map(row).join('\n')}\n`);
  return [intro, ...parts].join('\n');
}

async function fullText(): Promise<string> {
  const texts = pages.map(({ path }) => readFile(join(projectRoot, 'docs', `${path}.md`), 'utf8'));
  return [intro, ...(await Promise.all(texts))].join('\n');
}

if (import.meta.main) {
  const output = resolve(process.argv[2] ?? join(projectRoot, 'release/site'));
  await buildSite(output);
  await write(
    join(output, 'index.html'),
    '<!doctype html>\n<title>Keyhearth</title>\n<meta http-equiv="refresh" content="0; url=docs/" />\n<a href="docs/">Documentation</a>\n',
  );
  console.log(output);
}
