/** Code that the window and the commands load: budgets of the window in compressed bytes. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { runCommand, temporaryDirectory } from '../support/support.ts';

const renderer = join(import.meta.dirname, '../../dist/renderer');
// The reader of SSH key files has 37,000 of them: the window fetches it when a person chooses such a file.
const budgets = { firstLoad: 200_000, all: 640_000, passwords: 1_000_000, pseudoTexts: 50_000 };

const sizeOf = (file: string): number => gzipSync(readFileSync(join(renderer, file))).length;
const sum = (files: readonly string[]): number => files.reduce((total, file) => total + sizeOf(file), 0);

test('the window keeps to its budget', () => {
  const page = readFileSync(join(renderer, 'index.html'), 'utf8');
  const named = [...page.matchAll(/(?:src|href)="\/?(?:\.\/)?(assets\/[^"]+\.(?:js|css))"/g)];
  const entry = [...new Set(named.map(([, file = '']) => file))];
  const code = readFileSync(join(renderer, entry.find((file) => /\/index-.*\.js$/.test(file)) ?? ''), 'utf8');
  const listed = JSON.parse(/__vite__mapDeps=.*?m\.f=(\[.*?\])/.exec(code)?.[1] ?? '[]') as readonly string[];
  /** All files that the window fetches before a part of it appears: the build lists them at its import. */
  const filesFor = (part: string): readonly string[] => {
    const at = new RegExp(`import\\(.\\./${part}-[^)]*\\).*?__vite__mapDeps\\((\\[[^\\]]*\\])\\)`).exec(code);
    const places = JSON.parse(at?.[1] ?? '[]') as readonly number[];
    expect(places.length, part).toBeGreaterThan(5);
    return [...new Set([...entry, ...places.map((place) => listed[place] ?? '')])];
  };
  const all = readdirSync(join(renderer, 'assets'))
    .filter((file) => /\.(js|css)$/.test(file))
    .map((file) => `assets/${file}`);
  // The thread that estimates passwords, with its lists of words, is fetched while a person types a new one.
  const passwords = all.filter((file) => file.includes('/password-worker-'));
  // English texts are in the code. Their list is fetched in the pseudo-locale alone, which finds untranslated texts.
  const pseudoTexts = all.filter((file) => /\/en-[^/]*\.js$/.test(file));
  expect(entry.length).toBeGreaterThan(1);
  // The code of other pages is fetched on navigation.
  expect(all.length).toBeGreaterThan(entry.length + 20);
  // A load begins with one of them: of a locked vault, an open one, and none.
  for (const part of ['unlock', 'open-vault', 'first-run'])
    expect(sum(filesFor(part)), part).toBeLessThan(budgets.firstLoad);
  expect(passwords.length).toBe(1);
  expect(sum(passwords)).toBeLessThan(budgets.passwords);
  expect(pseudoTexts.length).toBe(1);
  expect(sum(pseudoTexts)).toBeLessThan(budgets.pseudoTexts);
  expect(sum(all) - sum(passwords) - sum(pseudoTexts)).toBeLessThan(budgets.all);
});

test('the styles that all others stand on come first', () => {
  const page = readFileSync(join(renderer, 'index.html'), 'utf8');
  const [first = ''] = [...page.matchAll(/rel="stylesheet"[^>]*href="\/?(?:\.\/)?([^"]+)"/g)].map(
    ([, file = '']) => file,
  );
  // Mantine's own, and the tokens.
  const styles = readFileSync(join(renderer, first), 'utf8');
  expect(styles).toContain('--mantine-color-body');
  expect(styles).toContain('--kh-ground:');
});

/** Names on standard error each file that is loaded, and at its end each builtin module. */
const naming = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  registerHooks({
    load(url, context, next) {
      process.stderr.write('loads ' + url + '\\n');
      return next(url, context);
    },
  });
  process.once('exit', () => process.stderr.write(process.moduleLoadList.map((name) => 'loads ' + name + '\\n').join('')));`)}`;

/** A package of the service alone, which stands beside its code. */
const ofTheService = '/@node-rs/argon2/';
/** Node's fetch, which is large. An import of node:http loads it unasked. */
const ofFetch = 'internal/deps/undici/undici';

test('a command that asks a running vault loads neither the service nor fetch', async () => {
  using directory = temporaryDirectory();
  const environment = { KEYHEARTH_DATA_DIR: join(directory.path, 'vault'), HOME: directory.path };
  const program = [process.execPath, '--import', naming, join(renderer, '../main/cli.js')] as const;
  const loads = async (words: string): Promise<object> => {
    const { stderr } = await runCommand(words.split(' '), { environment, program });
    const loaded = [...stderr.matchAll(/^loads (.+)$/gm)].map(([, url = '']) => url);
    expect(loaded.length, words).toBeGreaterThan(5);
    expect(loaded).toContain('NativeModule fs');
    const has = (part: string): boolean => loaded.some((name) => name.includes(part));
    return { words, service: has(ofTheService), fetch: has(ofFetch) };
  };
  const asking = [
    ...['status', 'lock', 'freeze', 'unlock', 'open', 'sessions list', 'requests', 'approvals list'],
    ...[
      'wallets list',
      'keyslots list',
      'backup status',
      'settings list',
      'webhooks list',
      'messages status',
    ],
  ];
  for (const words of asking) {
    expect(await loads(words)).toEqual({ words, service: false, fetch: false });
  }
  const init = 'init --no-keychain --organization Acme --user Ada';
  expect(await loads(init)).toMatchObject({ words: init, service: true });
});
