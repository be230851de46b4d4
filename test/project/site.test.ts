/** The documentation as static files: a website's, and what the service serves. */
import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { buildSite } from '../../docs/site/build-site.ts';
import { pages } from '../../docs/pages.ts';
import { temporaryDirectory } from '../support/support.ts';

const screens = join(import.meta.dirname, '../../docs/screens');

/** The HTML of each file, by its path. */
const documents = new Map<string, string>();
let files: ReadonlySet<string>;

beforeAll(async () => {
  const place = temporaryDirectory();
  await buildSite(place.path);
  files = new Set(globSync('**/*.*', { cwd: place.path }).map((file) => file.replaceAll('\\', '/')));
  for (const file of files) {
    if (file.endsWith('.html')) documents.set(file, readFileSync(join(place.path, file), 'utf8'));
  }
  return () => {
    place[Symbol.dispose]();
  };
});

test('has every page as HTML and as text, the pictures, and the lists for programs', () => {
  const wanted = pages.flatMap(({ path }) => [`docs/${path}.html`, `docs/${path}.md`]);
  const beside = ['docs/index.html', 'docs/site.css', 'docs/icon.svg', 'llms.txt', 'llms-full.txt'];
  const pictures = globSync('*', { cwd: screens }).map((name) => `docs/screens/${name}`);
  expect([...files].sort()).toEqual([...wanted, ...pictures, ...beside].sort());
});

test('every link leads to a page and a heading that are there', () => {
  const broken: string[] = [];
  for (const [file, html] of documents) {
    for (const [, href = ''] of html.matchAll(/(?:href|src)="([^"]*)"/g)) {
      if (/^https?:/.test(href)) continue;
      const [path = '', anchor] = href.split('#');
      const joined = path === '' ? file : posix.join(posix.dirname(file), path);
      const target = joined.endsWith('/') ? `${joined}index.html` : joined;
      const isThere = files.has(target);
      const hasAnchor = anchor === undefined || documents.get(target)?.includes(` id="${anchor}"`) === true;
      if (!isThere || !hasAnchor) broken.push(`${file}: ${href}`);
    }
  }
  expect(broken).toEqual([]);
});

describe('a page', () => {
  test('has no script, no style of its own, and each id once', () => {
    for (const [file, html] of documents) {
      expect(html, file).not.toMatch(/<(script|style|iframe|object|form)|\s(style|on\w+)=|javascript:/i);
      const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
      expect(ids.length, file).toBe(new Set(ids).size);
    }
  });

  test('leads on to the next one and back', () => {
    for (const [index, { path }] of pages.entries()) {
      const html = documents.get(`docs/${path}.html`) ?? '';
      expect(html.includes('rel="prev"'), path).toBe(index > 0);
      expect(html.includes('rel="next"'), path).toBe(index < pages.length - 1);
      expect(html.match(/aria-current="page"/g), path).toHaveLength(1);
    }
  });
});
