import { chmodSync, chownSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv as parseByNode } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { isPrivateGroup, parseEnv, readEnvFile } from './env-file.ts';

const read = (text: string): Record<string, string> =>
  Object.fromEntries(parseEnv('--env file', text).map(({ name, value }) => [name, value]));

describe('a file of variables', () => {
  test.each([
    ['plain', 'A=1\nB=two words\n', { A: '1', B: 'two words' }],
    ['exported, blank and commented lines', '# c\n\n  export A=1 # c\nB=2\t# c\n#C=3', { A: '1', B: '2' }],
    ['a hash in quotes, and as a comment', 'A="a#b"\nB=#c', { A: 'a#b', B: '' }],
    ['empty values', 'A=\nC=""\nD=\'\'', { A: '', C: '', D: '' }],
    ['quotes', `A='a # "b" $c'\nB="a # 'b' $c"`, { A: 'a # "b" $c', B: "a # 'b' $c" }],
    ['several lines in quotes', 'A="a\nb\\nc"\nB=\'a\nb\'', { A: 'a\nb\nc', B: 'a\nb' }],
    ['white space around it', '  A = b c  \r\nB=d', { A: 'b c', B: 'd' }],
    ['an equals sign in a value', 'A=b=c==', { A: 'b=c==' }],
    ['a reference', 'A=keyhearth://team/db password', { A: 'keyhearth://team/db password' }],
  ])('may have %s, as Node.js reads it too', (_, text, expected) => {
    expect(read(text)).toEqual(expected);
    expect({ ...parseByNode(text) }).toEqual(expected);
  });

  test('keeps what a shell would replace', () => {
    expect(read('export A=\nexport B=1')).toEqual({ A: '', B: '1' });
    expect(read('A=$HOME\nB="$(id)"\nC=`id`')).toEqual({ A: '$HOME', B: '$(id)', C: '`id`' });
    expect(read('A="\\$x \\"y\\" \\\\ \\t"')).toEqual({ A: '$x "y" \\ \t' });
  });

  test.each([
    ['a hash that may begin a comment', 'A=a#b', 'line 1: the value of A has a #'],
    ['a name twice', 'A=1\nB=2\nA=3', 'line 3: A is on line 1 already'],
    ['no equals sign', 'A=1\nhello', 'line 2: expected NAME=value'],
    ['a name that is none', '1A=1', 'line 1: expected NAME=value'],
    ['a name with a dash', 'A-B=1', 'line 1: expected NAME=value'],
    ['a quote that is open', 'A=1\nB="x\ny', 'line 2: the value of B has no closing quote'],
    ['words after a quote', "A='x'y", 'line 1: expected nothing but a comment after the quoted value of A'],
    ['a NUL', 'A=a\0b', 'line 2: the value of A has a NUL'],
  ])('with %s is refused by its line', (_, text, problem) => {
    expect(() => parseEnv('--env file', text)).toThrow(new RegExp(`^invalid --env file, line [0-9]+: `));
    if (!text.includes('\0'))
      expect(() => parseEnv('--env file', text)).toThrow(`invalid --env file, ${problem}`);
  });
});

describe.skipIf(process.platform === 'win32')('a file of variables on the disk', () => {
  const directory = mkdtempSync(join(tmpdir(), 'keyhearth-env-'));
  afterAll(() => {
    rmSync(directory, { recursive: true });
  });
  const file = join(directory, 'env');

  test('may be a link, and is what the link leads to', () => {
    writeFileSync(file, 'A=1\n', { mode: 0o644 });
    const link = join(directory, 'link');
    symlinkSync(file, link);
    expect(readEnvFile(link)).toEqual([{ name: 'A', value: '1', line: 1 }]);
    chmodSync(file, 0o666);
    expect(() => readEnvFile(link)).toThrow('every user of this computer may write it');
  });

  // The class: another user chooses what runs with the secrets, `LD_PRELOAD` for example. Others cannot give a file to any group.
  test.runIf(process.getuid?.() === 0)('is refused where the users of a group may write it', () => {
    const shared = join(directory, 'shared');
    writeFileSync(shared, 'A=1\n');
    // No system lists this group.
    chownSync(shared, 0, 54_321);
    chmodSync(shared, 0o664);
    expect(() => readEnvFile(shared)).toThrow('other users of its group may write it: expected chmod g-w');
    chmodSync(shared, 0o644);
    expect(readEnvFile(shared)).toHaveLength(1);
  });

  const groups = 'root:x:0:\nann:x:1000:\nwork:x:1001:ann\nbob:x:1002:bob\n';
  const users =
    'root:x:0:0::/root:/bin/sh\nann:x:1000:1000:Ann:/home/ann:/bin/sh\nbob:x:1001:1002::/home/bob:/bin/sh\n';
  test.each([
    ['the one that a system gives each user', 1000, groups, users, true],
    ['that one, which names its user', 1000, groups.replace('ann:x:1000:', 'ann:x:1000:ann'), users, true],
    ['one that is shared', 1001, groups, users, false],
    ['that of another user', 1002, groups, users, false],
    [
      'one that another user was added to',
      1000,
      groups.replace('ann:x:1000:', 'ann:x:1000:bob'),
      users,
      false,
    ],
    ['one that another user began in', 1000, groups, users.replace(':1002:', ':1000:'), false],
    ['one that the system does not list', 2000, groups, users, false],
  ])('may be writable for a group that is its user’s alone: %s', (_, gid, group, passwd, expected) => {
    expect(isPrivateGroup(gid, { username: 'ann', group, passwd })).toBe(expected);
  });

  test('is not read with other characters where its bytes are not UTF-8', () => {
    writeFileSync(join(directory, 'latin1'), Buffer.from('A=Jörg', 'latin1'));
    expect(() => readEnvFile(join(directory, 'latin1'))).toThrow(/^--env .*latin1 is not text in UTF-8$/);
  });

  test('is missing, too large or a directory in words', () => {
    expect(() => readEnvFile(join(directory, 'none'))).toThrow(/^--env .* cannot be read: /);
    expect(() => readEnvFile(directory)).toThrow(/^--env .* cannot be read: /);
    writeFileSync(join(directory, 'large'), 'A=1\n'.padEnd(1_000_001, '#'));
    expect(() => readEnvFile(join(directory, 'large'))).toThrow(
      'expected at most 1000000 bytes, got 1000001',
    );
  });
});
