/**
 * Prompts at a terminal: a new password twice, a wrong answer again, and no answer discards the words of the
 * recovery phrase. A wrong secret from a script ends each command with 5.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, describe, expect, test } from 'vitest';
import { declareCommands } from '../../main/commands/program.ts';
import { mnemonicFromEntropy } from '../../main/crypto/keys/mnemonics.ts';
import { Terminal } from '../support/terminal.ts';
import { command, CommandProcess, runCommand, temporaryDirectory } from '../support/support.ts';

const password = 'correct horse battery staple';

const resources = new AsyncDisposableStack();
afterAll(() => resources.disposeAsync());

const { path } = resources.use(temporaryDirectory());
const environment = {
  HOME: path,
  KEYHEARTH_DATA_DIR: join(path, 'vault'),
  KEYHEARTH_CONFIG_DIR: join(path, 'config'),
};
const fileOf = (name: string, text: string): string => {
  const file = join(path, name);
  writeFileSync(file, `${text}\n`, { mode: 0o600 });
  return file;
};

const passwordFile = fileOf('password', password);
let phrase = '';
let phraseFile = '';

const set = (value: string, secret: readonly string[]) =>
  runCommand(['settings', 'set', 'network', value, '--no-keychain', ...secret], { environment });

let backup: Promise<unknown> | undefined;
async function makeBackup(): Promise<void> {
  backup ??= runCommand(
    ['backup', join(path, 'a.backup'), '--no-keychain', '--password-file', passwordFile],
    { environment },
  ).then((result) => {
    expect(result).toMatchObject({ code: 0 });
  });
  await backup;
}

/** The words as they were shown in rows, each with its number. */
const wordsIn = (shown: string): Map<number, string> =>
  new Map(
    Array.from(shown.matchAll(/ (\d+)\. ([a-z]+)/g), ([, number, word = '']) => [Number(number), word]),
  );

/** Types once what is asked stands after a text, and not only before it. */
async function typeAfter(terminal: Terminal, keys: string, question: string, text: string): Promise<void> {
  await expect
    .poll(() => terminal.shown.slice(terminal.shown.indexOf(text)), { timeout: 20_000 })
    .toContain(question);
  await terminal.type(keys, text);
}

/** Types the three words that are asked for, in the order of their numbers; the first is wrong at first. */
async function confirmWords(terminal: Terminal): Promise<string> {
  const lastAsked = (): number =>
    Math.max(0, ...Array.from(terminal.shown.matchAll(/Word (\d+)/g), ([, number]) => Number(number)));
  let position = 0;
  for (let round = 0; round < 3; round += 1) {
    await expect.poll(lastAsked, { timeout: 20_000 }).toBeGreaterThan(position);
    position = lastAsked();
    const word = wordsIn(terminal.shown).get(position) ?? '';
    if (round === 0) {
      await terminal.type('nonsense\r', `Word ${String(position)}`);
      await terminal.type('\u007f'.repeat('nonsense'.length), `That is not word ${String(position)}`);
    }
    await terminal.type(`${word}\r`, `Word ${String(position)}`);
  }
  const words = wordsIn(terminal.shown);
  return Array.from({ length: 24 }, (_, index) => words.get(index + 1)).join(' ');
}

describe('at a terminal', () => {
  test('init takes a new password typed twice, and words typed wrong once', async () => {
    await using terminal = new Terminal('init --no-keychain', environment);
    await terminal.type('short\r', 'New password for the vault');
    await terminal.type(`${password}\r`, 'expected 8 to 1024 characters, got 5');
    await terminal.type('another one\r', 'The same password again');
    await typeAfter(terminal, `${password}\r`, 'New password for the vault', 'The two passwords differ');
    await expect
      .poll(() => terminal.shown.split('The two passwords differ')[1])
      .toContain('The same password');
    await terminal.type(`${password}\r`, 'The same password again');
    phrase = await confirmWords(terminal);
    expect(await terminal.ended(), terminal.shown).toBe(0);
    expect(terminal.shown).not.toContain(password);
    // The words that were shown first are those of the vault, and the password is the one that was typed twice.
    phraseFile = fileOf('phrase', phrase);
    const check = ['recovery', 'check', '--recovery-file', phraseFile];
    expect(await runCommand(check, { environment })).toMatchObject({ code: 0 });
    expect(await set('off', ['--password-file', passwordFile])).toMatchObject({ code: 0 });
  });

  test('new words replace the old ones though one is typed wrong, and the password before them', async () => {
    await using terminal = new Terminal('keyslots change recovery --no-keychain', environment);
    await terminal.type('not the one\r', 'Password of the vault, as it is now');
    await typeAfter(
      terminal,
      `${password}\r`,
      'Password of the vault',
      'does not open this vault. Try again',
    );
    phrase = await confirmWords(terminal);
    expect(await terminal.ended(), terminal.shown).toBe(0);
    const old = await set('on', ['--recovery-file', phraseFile]);
    expect(old, old.stderr).toMatchObject({ code: 5 });
    phraseFile = fileOf('new phrase', phrase);
    expect(await set('on', ['--recovery-file', phraseFile])).toMatchObject({ code: 0 });
  });

  test.each([
    ['settings set network off --no-keychain', 'Password of the vault'],
    ['recovery check', 'Recovery phrase'],
  ])('%s asks again, and ends at Ctrl-C with nothing changed', async (line, question) => {
    await using terminal = new Terminal(line, environment);
    await terminal.type('not the one\r', question);
    await typeAfter(terminal, '\u0003', question, 'Try again; Ctrl-C ends');
    expect(await terminal.ended(), terminal.shown).toBe(1);
    expect(terminal.shown).toContain('cancelled: nothing was changed');
  });
});

describe('a command that is ended at a prompt', () => {
  /** The terminal hides the cursor, and shows it. */
  const [hides, shows] = ['\u001b[?25l', '\u001b[?25h'];

  test.each([
    ['SIGHUP', 'recovery check', 'Recovery phrase'],
    ['SIGTERM', 'recovery check', 'Recovery phrase'],
    ['SIGINT', 'settings set network off --no-keychain', 'Password of the vault'],
    ['SIGHUP', `keyslots change recovery --no-keychain --password-file '${passwordFile}'`, 'Word '],
    ['SIGHUP', `init --no-keychain --data-dir '${join(path, 'another')}'`, 'New password for the vault'],
  ] as const)('%s leaves the terminal as it was: %s', async (signal, line, question) => {
    await using terminal = new Terminal(line, environment, 'echo "end: $?"; stty -a');
    await expect.poll(() => terminal.shown, { timeout: 20_000 }).toContain(question);
    terminal.signal(signal);
    expect(await terminal.ended(), terminal.shown).toBe(0);
    expect(terminal.shown).toContain(`end: ${String(128 + constants.signals[signal])}`);
    expect(terminal.shown).toMatch(/[ ;]echo /);
    expect(terminal.shown).toMatch(/[ ;]icanon /);
    expect(terminal.shown.lastIndexOf(shows)).toBeGreaterThan(terminal.shown.lastIndexOf(hides));
  });
});

// Such a process gets no signal: its input ends, and the terminal refuses further settings.
test('a terminal that is closed ends a command of another session as Ctrl-C does', async () => {
  const directory = join(path, 'of another session');
  const code = join(path, 'code');
  const words = `'${process.execPath}' '${command}' init --no-keychain --data-dir '${directory}'; echo \\$? > '${code}'`;
  {
    const inSession = `exec setsid -w sh -c "${words}"`;
    await using terminal = new Terminal('--version > /dev/null', environment, inSession);
    await expect.poll(() => terminal.shown, { timeout: 20_000 }).toContain('New password for the vault');
  }
  await expect.poll(() => existsSync(code) && readFileSync(code, 'utf8'), { timeout: 20_000 }).toBe('1\n');
  // The command closed what it had opened.
  expect(readdirSync(directory)).toEqual(['lock']);
});

test('a question is not a part of a result that goes elsewhere', async () => {
  const result = join(path, 'result.json');
  await using terminal = new Terminal(`recovery check --json > '${result}'`, environment);
  await terminal.type(`${phrase}\r`, 'Recovery phrase');
  expect(await terminal.ended(), terminal.shown).toBe(0);
  expect(JSON.parse(readFileSync(result, 'utf8'))).toMatchObject({});
});

// A line of progress that stayed, or that a script got, would be a part of the result.
test('doctor shows its progress on a terminal alone, before its result', async () => {
  await using terminal = new Terminal('doctor', environment);
  await terminal.ended();
  const [before = '', after = ''] = terminal.shown.split('Result');
  expect(before).toContain('Checking the vault … 0 %');
  expect(after).toContain('cryptography');
  expect(after).not.toContain('Checking the vault …');
  const { stderr } = await runCommand(['doctor'], { environment });
  expect(stderr).toBe('');
});

describe('without a person to ask', () => {
  test('a new recovery phrase wants a file before anything is changed', async () => {
    const wish = ['keyslots', 'change', 'recovery', '--no-keychain', '--password-file', passwordFile];
    const { code, stdout, stderr } = await runCommand(wish, { environment });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('give --output FILE');
    expect(await set('off', ['--recovery-file', phraseFile])).toMatchObject({ code: 0 });
  });

  const wrong = {
    password: ['--password-file', fileOf('wrong password', 'not the one at all')],
    phrase: ['--recovery-file', fileOf('other phrase', mnemonicFromEntropy(new Uint8Array(32).fill(7)))],
    'text that is no phrase': ['--recovery-file', fileOf('no phrase', 'some words that are none')],
    'text that is no share': ['--share-file', fileOf('no share', 'lkshare1qqqq')],
  };

  const alone = [
    ['settings', 'set', 'network', 'on'],
    ['keyslots', 'change', 'password', '--new-password-file', fileOf('new', 'a new password')],
    ['keyslots', 'remove', 'password'],
    ['keyslots', 'rotate'],
    ['recovery', 'check'],
    ['backup', 'verify', join(path, 'a.backup')],
    ['restore', join(path, 'a.backup'), '--data-dir', join(path, 'elsewhere')],
    ['audit', 'accept-rollback', '--yes'],
  ];

  /** Commands that open the vault in the same way as one of those above: one wrong secret each. */
  const alike = [
    ['doctor', '--accept-changes', '--yes'],
    ['keyslots', 'add', 'keychain'],
    ['recovery', 'sheet', '--output', join(path, 'sheet.html')],
    ['backup', join(path, 'b.backup')],
    ['backup', 'schedule', join(path, 'scheduled')],
  ];

  /** Where a process serves the vault. */
  const served = [['unlock'], ['keyslots', 'rotate']];

  // The class: a new command whose wrong secret ends it with another code, which a script takes for another failure.
  test('every command that takes a secret of the vault is among these', () => {
    const program = new Command('keyhearth');
    declareCommands(program);
    const takers = (command: Command, names: readonly string[]): readonly string[] => [
      ...(command.options.some(({ long }) => /^--(password|recovery|share)-file$/.test(String(long)))
        ? [names.join(' ')]
        : []),
      ...command.commands.flatMap((child) => takers(child, [...names, child.name()])),
    ];
    const all = takers(program, []);
    const tried = [...alone, ...alike, ...served, ['serve']].map((argv) => argv.join(' '));
    // The secret that these take is a new one, or another server's.
    const openNothing = ['init', 'service install', 'messages mail', 'messages sms'];
    // The service asks for the secret, by the one step-up, and not in the minutes after the vault was unlocked.
    const asked = [
      ...['bots list', 'bots add', 'bots remove', 'keygen'],
      ...['doors add', 'doors remove', 'ssh keys', 'takeover'],
      ...['rpc list', 'rpc add', 'rpc remove'],
      ...['list', 'add', 'show', 'pause', 'resume', 'remove'].map((name) => `agents ${name}`),
    ];
    const known = (name: string) => tried.some((wish) => wish === name || wish.startsWith(`${name} `));
    expect(all.length).toBeGreaterThan(20);
    expect(all.filter((name) => !known(name) && ![...openNothing, ...asked].includes(name))).toEqual([]);
  });

  const { phrase: otherPhrase, ...rest } = wrong;
  const kinds = Object.values(rest);

  test.each(alone.map((argv, index) => ({ argv, index })))('$argv ends with 5', async ({ argv, index }) => {
    await makeBackup();
    const [group = ''] = argv;
    const keychain = ['recovery', 'audit'].includes(group) ? [] : ['--no-keychain'];
    // Two of the three kinds each, since every command is a process of its own; the check of the words
    // accepts no password.
    const tried = group === 'recovery' ? kinds.slice(1) : kinds.filter((_, kind) => kind !== index % 3);
    for (const secret of tried) {
      const wish = [...argv, ...keychain, '--json', ...secret];
      const { code, stdout, stderr } = await runCommand(wish, { environment });
      expect({ code, stdout }, `${wish.join(' ')}: ${stderr}`).toEqual({ code: 5, stdout: '' });
      const { error } = JSON.parse(stderr) as { error: object };
      expect(error, wish.join(' ')).toMatchObject({ code: 3, turnkeyErrorCode: 'WRONG_SECRET' });
    }
  });

  test.each(alike.map((argv) => ({ argv })))('$argv ends with 5', async ({ argv }) => {
    const [group = ''] = argv;
    const keychain = group === 'recovery' ? [] : ['--no-keychain'];
    const wish = [...argv, ...keychain, '--json', ...wrong.phrase];
    const { code, stderr } = await runCommand(wish, { environment });
    expect(code, `${wish.join(' ')}: ${stderr}`).toBe(5);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 3, turnkeyErrorCode: 'WRONG_SECRET' } });
  });

  test('serve ends with 5, and so do those of a vault that is served', async () => {
    const unopened = ['serve', '--json', '--port', '0', '--no-keychain', ...wrong.password];
    const refused = await runCommand(unopened, { environment });
    expect(refused.code, refused.stderr).toBe(5);
    expect(refused.stderr).toContain('"turnkeyErrorCode":"WRONG_SECRET"');
    const serve = ['serve', '--json', '--port', '0', '--no-keychain', '--password-file', passwordFile];
    await using service = new CommandProcess(serve, { environment });
    await service.nextLine();
    for (const argv of served) {
      const wish = [...argv, '--json', ...otherPhrase];
      const { code, stderr } = await runCommand(wish, { environment });
      expect(code, `${wish.join(' ')}: ${stderr}`).toBe(5);
      expect(JSON.parse(stderr)).toMatchObject({ error: { code: 3, turnkeyErrorCode: 'WRONG_SECRET' } });
    }
  });
});
