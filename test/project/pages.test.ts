/** The pages of `docs/`: the list of them, and every block of each, typed into a shell beside a vault of its own. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { pages } from '../../docs/pages.ts';
import { pageReadings } from './page-readings.ts';
import { blocksOf, commandsOf, Reader, startSurroundings, type Surroundings } from './reader.ts';

const root = join(import.meta.dirname, '../..');
const textOf = (path: string): string => readFileSync(join(root, 'docs', `${path}.md`), 'utf8');

/** Papers in `docs/` for people who work on the project. */
const papers = ['decisions/**', 'samples/**', 'README.md'];

test('the list of pages names every file once', () => {
  const files = globSync('**/*.md', { cwd: join(root, 'docs'), exclude: papers });
  expect(pages.map(({ path }) => `${path}.md`).sort()).toEqual(
    files.map((file) => file.replaceAll('\\', '/')).sort(),
  );
});

test('a page shows each picture of the window, in light and in dark', () => {
  const shown = pages
    .map(({ path }) => textOf(path))
    .flatMap((text) => [...text.matchAll(/\]\((screens\/.*?)-light\.webp\)/g)].map(([, name]) => name));
  expect(
    globSync('screens/*', { cwd: join(root, 'docs') })
      .map((file) => file.replaceAll('\\', '/'))
      .sort(),
  ).toEqual(
    [...new Set(shown)].flatMap((name) => [`${String(name)}-dark.webp`, `${String(name)}-light.webp`]).sort(),
  );
});

/** Texts that a person reads on the screen: those of the window, and the labels of the desktop app's menu. */
const onScreen = new Set(
  [
    ...Object.values(
      JSON.parse(readFileSync(join(root, 'renderer/locales/en.json'), 'utf8')) as Record<string, string>,
    ),
    ...[...readFileSync(join(root, 'main/desktop/menu.ts'), 'utf8').matchAll(/label: '([^']+)'/g)].map(
      ([, label]) => label,
    ),
  ].map((text = '') => text.replace(/…$/, '')),
);

const guide = pages.filter(({ path }) => !path.startsWith('reference/'));

// The class: a screen or a button that has another name now. Emphasis in the guide names nothing else.
test.each(['README.md', ...guide.map(({ path }) => `docs/${path}.md`)])(
  '%s names what is on the screen as the screen does',
  (path) => {
    const prose = readFileSync(join(root, path), 'utf8').replaceAll(/^(```+)[^]*?^\1$|`[^`]*`/gm, '');
    const named = [...prose.matchAll(/(?<![*\w])\*([^*]+)\*(?![*\w])/g)].flatMap(([, places = '']) =>
      places.replaceAll(/\s+/g, ' ').split(' → '),
    );
    expect(named.filter((name) => !onScreen.has(name.replace(/…$/, '')))).toEqual([]);
  },
);

test('readings belong to pages', () => {
  const known = pages.map(({ path }) => path);
  expect(Object.keys(pageReadings).filter((path) => !known.includes(path))).toEqual([]);
});

let surroundings: Surroundings;

beforeAll(async () => {
  surroundings = await startSurroundings();
  return () => surroundings[Symbol.asyncDispose]();
});

describe.each(pages)('$path', ({ path, title }) => {
  const text = textOf(path);
  const { fromNothing = false, blocks: readings = [] } = pageReadings[path] ?? {};

  test('has its title, at most 250 lines, and blocks that the list of readings knows', () => {
    expect(text.split('\n')[0]).toBe(`# ${title}`);
    expect(text.split('\n').length).toBeLessThanOrEqual(251);
    const commands = commandsOf(text);
    for (const { block, elsewhere } of readings) {
      expect(
        commands.filter((each) => each.startsWith(block)),
        block,
      ).not.toEqual([]);
      if (elsewhere !== undefined) expect(existsSync(join(root, elsewhere)), elsewhere).toBe(true);
    }
  });

  // A block of any other kind could say what is not so. Generated pages have tests of their own.
  const isGenerated = path.startsWith('reference/');
  test('has commands, files that commands use, and output', () => {
    const blocks = blocksOf(text);
    const commands = commandsOf(text).join('\n');
    const loose = blocks.flatMap((block) =>
      (block.kind === 'other' && block.language !== 'text' && !isGenerated) ||
      (block.kind === 'file' && !commands.includes(block.name))
        ? [block.text]
        : [],
    );
    expect(loose).toEqual([]);
  });

  const isRun =
    !isGenerated &&
    commandsOf(text).some(
      (block) => readings.find((each) => block.startsWith(each.block))?.elsewhere === undefined,
    );
  if (isRun) {
    test('does what it says, block by block', { timeout: 120_000 }, async () => {
      await using reader = await Reader.start(surroundings);
      if (!fromNothing) await reader.openVault();
      await reader.read(text, readings);
    });
  }
});
