/**
 * Objects of git, read as the system's own git reads them. The class: an object that git would show with another subject or
 * another author than the vault is unreadable to the vault.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SeededRandom } from '../../lib/seeded-random.ts';
import { readGitObject } from './git.ts';

let repository = '';
const git = (input: string | Buffer, ...argv: readonly string[]): Buffer =>
  execFileSync('git', ['-C', repository, '-c', 'i18n.logOutputEncoding=UTF-8', ...argv], {
    input,
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { PATH: process.env['PATH'], GIT_CONFIG_NOSYSTEM: '1', HOME: repository },
  });

beforeAll(() => {
  repository = mkdtempSync(join(tmpdir(), 'git-objects-'));
  git('', 'init', '--quiet');
});
afterAll(() => {
  rmSync(repository, { recursive: true });
});

const tree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
const author = 'Ann <ann@example.com> 1700000000 +0000';
const head = `tree ${tree}\nauthor ${author}\ncommitter ${author}\n`;
const read = (text: string | Buffer) => readGitObject(Buffer.from(text));

/** The subject and the author's name that git shows of each. All differ. */
function shown(commits: readonly Buffer[]): readonly (readonly string[])[] {
  const files = commits.map((commit, index) => {
    writeFileSync(join(repository, String(index)), commit);
    return String(index);
  });
  const ids = git(files.join('\n'), 'hash-object', '-t', 'commit', '-w', '--literally', '--stdin-paths');
  const log = ['log', '--no-walk=unsorted', '--no-show-signature', '-z', '--format=%s%x00%an', '--stdin'];
  const texts = git(ids, ...log)
    .toString('utf8')
    .split('\0');
  return commits.map((_, index) => texts.slice(2 * index, 2 * index + 2));
}

test('the subject is the one that git shows, for messages of any white space', () => {
  const { generate: random } = new SeededRandom('subjects');
  const parts = [
    '\n',
    '\n',
    '\n\n',
    ' ',
    '\t',
    '\r',
    '\r\n',
    '\u00a0',
    '\u2028',
    '\f',
    '\v',
    'a',
    'Fix',
    'é',
    '# b',
    '-- ',
  ];
  const messages = new Set<string>();
  while (messages.size < 300) {
    messages.add(Array.from(random('parts', 8), (byte) => parts[byte % parts.length] ?? '').join(''));
  }
  const commits = [...messages].map((message) => Buffer.from(`${head}\n${message}`));
  const read = commits.map((commit) => {
    const object = readGitObject(commit);
    if (!object.ok) throw new Error(object.problem);
    return [object.value.subject, 'Ann'];
  });
  expect(read).toEqual(shown(commits));
});

describe('git shows something else for, and the vault refuses', () => {
  const forged = 'author Eve <eve@example.com> 1 +0000\n';
  test.each([
    ['text in another encoding', Buffer.from(`${head}encoding ISO-8859-1\n\nCafé\n`)],
    ['a zero byte, where git ends the message', Buffer.from(`${head}\nFix\0 the pump\n`)],
  ])('%s', (_, commit) => {
    expect(shown([commit])[0]?.[0]).not.toBe(/\n\n([^\n]*)/.exec(commit.toString())?.[1]);
    expect(readGitObject(commit).ok).toBe(false);
  });

  test.each([
    ['a second author', `tree ${tree}\nauthor ${author}\n${forged}committer ${author}\n\nFix\n`],
    ['a second author at the end', `${head}${forged}\nFix\n`],
    ['a second tree', `${head}tree ${tree}\n\nFix\n`],
    ['a parent after the author, which git takes for no parent', `${head}parent ${tree}\n\nFix\n`],
    [
      'a parent after a header of another name, which git takes for no parent',
      `tree ${tree}\nnote x\nparent ${tree}\nauthor ${author}\ncommitter ${author}\n\nFix\n`,
    ],
    [
      'a second parent after a merged tag, which git takes for no parent',
      `tree ${tree}\nparent ${tree}\nmergetag object ${tree}\n type commit\nparent ${tree}\nauthor ${author}\ncommitter ${author}\n\nFix\n`,
    ],
    [
      'an author that goes on in the next line',
      `tree ${tree}\nauthor ${author}\n x\ncommitter ${author}\n\nFix\n`,
    ],
    ['a second encoding', `${head}encoding UTF-8\nencoding ISO-8859-1\n\nFix\n`],
    ['a signature inside', `${head}gpgsig -----BEGIN SSH SIGNATURE-----\n x\n\nFix\n`],
    ['two signatures inside', `${head}gpgsig a\ngpgsig b\n\nFix\n`],
    ['a signature over another hash inside', `${head}gpgsig-sha256 a\n\nFix\n`],
    ['a commit that begins with its author', `author ${author}\ntree ${tree}\ncommitter ${author}\n\nFix\n`],
    ['a tag with a header more', `object ${tree}\ntype commit\ntag v1\ntagger ${author}\nnote x\n\nFix\n`],
    ['a tag with a second name', `object ${tree}\ntype commit\ntag v1\ntag v2\ntagger ${author}\n\nFix\n`],
  ])('%s', (_, text) => {
    expect(read(text).ok).toBe(false);
  });

  test('bytes that are not UTF-8', () => {
    expect(read(Buffer.concat([Buffer.from(`${head}\nCaf`), Uint8Array.of(0xe9)])).ok).toBe(false);
  });
});

test('headers that git keeps for itself are shown: a merged tag with all of its lines', () => {
  const merged = `mergetag object ${tree}\n type commit\n tag v1\n tagger ${author}\n \n First\n`;
  const object = read(`${head}encoding utf-8\n${merged}\nMerge v1\n`);
  expect(object).toMatchObject({ ok: true, value: { subject: 'Merge v1' } });
  expect(object.ok && object.value.headers.at(-1)?.value).toContain('\ntag v1\n');
});
