/** `keyhearth keyslots` and `keyhearth recovery`, as a person or a script runs them; the keychain is a real one. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { Keyslots } from '../../preload/contract.ts';
import type { Answer as StepAnswer } from '../keys/keychain-child.ts';
import { inProcess, startKeyring } from '../keys/keychain.ts';
import type { KeyringSession } from '../keys/keychain.ts';
import { command, CommandProcess, runCommand, temporaryDirectory } from '../support/support.ts';
import { Terminal } from '../support/terminal.ts';

const password = 'correct horse battery staple';

/** A home with a vault in it, and files with its secrets. */
class Home implements Disposable {
  readonly #directory = temporaryDirectory();
  readonly path = this.#directory.path;
  readonly #environment: Readonly<Record<string, string>>;

  constructor(environment: Readonly<Record<string, string>> = {}) {
    this.#environment = environment;
  }

  file(name: string, text?: string): string {
    const file = join(this.path, name);
    if (text !== undefined) writeFileSync(file, `${text}\n`, { mode: 0o600 });
    return file;
  }

  get environment() {
    const places = {
      KEYHEARTH_DATA_DIR: join(this.path, 'vault'),
      KEYHEARTH_CONFIG_DIR: join(this.path, 'config'),
    };
    return { HOME: this.path, ...this.#environment, ...places };
  }

  get #options() {
    return { environment: this.environment };
  }

  async run(...argv: readonly string[]) {
    const { code, stdout, stderr } = await runCommand(argv, this.#options);
    return { code, stdout, stderr };
  }

  /** Runs a command that says what the keyslots are then. */
  async keyslots(...argv: readonly string[]): Promise<Keyslots> {
    const { code, stdout, stderr } = await this.run(...argv, '--json');
    if (code !== 0) throw new Error(`keyhearth ${argv.join(' ')} ended with ${String(code)}: ${stderr}`);
    return JSON.parse(stdout) as Keyslots;
  }

  /** Makes the vault. Its password and its phrase are then in the files `password` and `phrase`. */
  async init(...argv: readonly string[]): Promise<void> {
    this.file('password', password);
    const made = await this.run('init', '--json', '--password-file', this.file('password'), ...argv);
    if (made.code !== 0) throw new Error(made.stderr);
    this.file('phrase', (JSON.parse(made.stdout) as { recoveryPhrase: string }).recoveryPhrase);
  }

  async serve(...argv: readonly string[]): Promise<CommandProcess> {
    const service = new CommandProcess(['serve', '--port', '0', '--json', ...argv], this.#options);
    await service.nextLine();
    return service;
  }

  [Symbol.dispose](): void {
    this.#directory[Symbol.dispose]();
  }
}

const kinds = ({ keyslots }: Keyslots): string[] => keyslots.map(({ kind }) => kind);
const idOf = ({ keyslots }: Keyslots, kind: string): string =>
  keyslots.find((slot) => slot.kind === kind)?.id ?? '';

/** True if a real keyring holds an entry for a keyslot. */
async function isKept(keyring: KeyringSession, vaultId: string, slotId: string): Promise<boolean> {
  const { answers } = await inProcess(keyring.environment, [{ do: 'get', account: `${vaultId}/${slotId}` }]);
  const [answer] = answers as [StepAnswer];
  if (!('value' in answer)) throw new Error(answer.message);
  return answer.value !== null;
}

describe('with a real keyring', () => {
  test('the keychain’s slot is remade with the master key, and goes with its entry', async () => {
    await using keyring = await startKeyring('unlocked');
    using home = new Home(keyring.environment);
    await home.init();
    const first = await home.keyslots('keyslots', 'list');
    expect(kinds(first)).toEqual(['recovery', 'password', 'keychain']);
    const { vaultId } = first;
    expect(await isKept(keyring, vaultId, idOf(first, 'keychain'))).toBe(true);

    // While it is served, and unlocked from the keychain.
    await using service = await home.serve();
    const proof = ['--password-file', home.file('password'), '--recovery-file', home.file('phrase')];
    const rotated = await home.keyslots('keyslots', 'rotate', ...proof);
    expect(kinds(rotated).sort()).toEqual(['keychain', 'password', 'recovery']);
    expect(idOf(rotated, 'keychain')).not.toBe(idOf(first, 'keychain'));
    expect(idOf(rotated, 'password')).toBe(idOf(first, 'password'));
    expect(await isKept(keyring, vaultId, idOf(first, 'keychain'))).toBe(false);
    expect(await isKept(keyring, vaultId, idOf(rotated, 'keychain'))).toBe(true);
    for (const how of [['--keychain'], proof.slice(0, 2), proof.slice(2)]) {
      expect(await home.run('lock')).toMatchObject({ code: 0 });
      expect(await home.run('unlock', ...how)).toMatchObject({ code: 0, stderr: '' });
    }

    // And where it is not.
    expect(await service.stop()).toBe(0);
    const again = await home.keyslots('keyslots', 'rotate', ...proof);
    expect(idOf(again, 'keychain')).not.toBe(idOf(rotated, 'keychain'));
    expect(await isKept(keyring, vaultId, idOf(rotated, 'keychain'))).toBe(false);
    const removed = await home.keyslots('keyslots', 'remove', 'keychain', ...proof.slice(0, 2));
    expect(kinds(removed).sort()).toEqual(['password', 'recovery']);
    expect(await isKept(keyring, vaultId, idOf(again, 'keychain'))).toBe(false);
    const added = await home.keyslots('keyslots', 'add', 'keychain', ...proof.slice(2));
    expect(await isKept(keyring, vaultId, idOf(added, 'keychain'))).toBe(true);
  });

  test('that is not asked gives up no entry; doctor says so, and the next unlocking with it removes it', async () => {
    await using keyring = await startKeyring('unlocked');
    using home = new Home(keyring.environment);
    await home.init();
    const first = await home.keyslots('keyslots', 'list');
    const proof = ['--password-file', home.file('password')];
    // Without the keychain its entry cannot be removed.
    await home.keyslots('keyslots', 'remove', 'keychain', '--no-keychain', ...proof);
    expect(await isKept(keyring, first.vaultId, idOf(first, 'keychain'))).toBe(true);
    expect((await home.run('doctor')).stdout).toMatch(
      /^note +keychain entries +2 of keyslots that are gone may be left/m,
    );
    await using service = await home.serve(...proof);
    await expect.poll(() => isKept(keyring, first.vaultId, idOf(first, 'keychain'))).toBe(false);
    await expect.poll(async () => (await home.run('doctor')).stdout).not.toContain('keychain entries');
    expect(await service.stop()).toBe(0);
  });
});

describe('without a keychain', () => {
  test('passwords and phrases are added, changed and removed, from files alone', async () => {
    using home = new Home();
    await home.init('--no-keychain');
    const proof = ['--no-keychain', '--password-file', home.file('password')];
    const added = await home.keyslots(
      ...[
        'keyslots',
        'add',
        'password',
        ...proof,
        '--new-password-file',
        home.file('second', 'the second one'),
      ],
    );
    expect(kinds(added)).toEqual(['recovery', 'password', 'password']);
    const byKind = await home.run('keyslots', 'remove', 'password', ...proof);
    expect(byKind).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('ambiguous keyslot "password": it could be') as unknown,
    });
    await home.keyslots('keyslots', 'remove', (added.keyslots[2]?.id ?? '').slice(0, 8), ...proof);

    const changed = await home.keyslots(
      ...[
        'keyslots',
        'change',
        'password',
        ...proof,
        '--new-password-file',
        home.file('third', 'the third one'),
      ],
    );
    expect(kinds(changed).sort()).toEqual(['password', 'recovery']);
    expect(await home.run('keyslots', 'remove', 'recovery', ...proof)).toMatchObject({
      code: 5,
      stderr: 'keyhearth: The password does not open this vault.\n',
    });
    const third = ['--no-keychain', '--password-file', home.file('third')];
    const words = home.file('words');
    const drawn = await home.keyslots('keyslots', 'change', 'recovery', '--output', words, ...third);
    expect(kinds(drawn).sort()).toEqual(['password', 'recovery']);
    expect(drawn).toMatchObject({ recoveryFile: words });
    expect(readFileSync(words, 'utf8')).toMatch(/^([a-z]+ ){23}[a-z]+\n$/);
    expect(statSync(words).mode & 0o777).toBe(0o600);
    expect(drawn.keyslots.find(({ kind }) => kind === 'recovery')?.confirmedAt).toBeNull();
    expect(await home.run('recovery', 'check', '--recovery-file', home.file('phrase'))).toMatchObject({
      code: 5,
      stdout: '',
      stderr: 'keyhearth: The recovery phrase does not open this vault.\n',
    });
    home.file('phrase', readFileSync(words, 'utf8').trim());
    expect(await home.run('recovery', 'check', '--recovery-file', home.file('phrase'))).toEqual({
      code: 0,
      stdout: 'Right: the recovery phrase opens this vault.\n',
      stderr: '',
    });
    expect((await home.run('keyslots', 'list')).stdout).toMatch(
      /^[0-9a-f-]{36} +recovery +\d{4}-\d\d-\d\d +\d{4}-\d\d-\d\d$/m,
    );
    await home.keyslots('keyslots', 'remove', 'recovery', ...third);
    expect(await home.run('keyslots', 'remove', 'password', ...third)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('The password cannot be removed') as unknown,
    });
  });

  test('words that could not be kept do not replace the old ones', async () => {
    using home = new Home();
    await home.init('--no-keychain');
    const proof = ['--no-keychain', '--password-file', home.file('password')];
    const before = await home.keyslots('keyslots', 'list');
    for (const change of [
      ['change', 'recovery'],
      ['add', 'recovery'],
      ['change', 'recovery', '--json'],
    ]) {
      expect(await home.run('keyslots', ...change, ...proof)).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining('give --output FILE') as unknown,
      });
    }
    home.file('taken', 'of another');
    const nowhere = join(home.path, 'missing', 'words');
    for (const [output, code] of [
      [home.file('taken'), 1],
      [nowhere, 2],
    ] as const) {
      const refused = await home.run('keyslots', 'change', 'recovery', '--output', output, ...proof);
      expect(refused).toMatchObject({ code, stdout: '' });
      expect(refused.stderr).toContain(output);
    }
    expect(readFileSync(home.file('taken'), 'utf8')).toBe('of another\n');
    expect(await home.keyslots('keyslots', 'list')).toEqual(before);
    expect(await home.run('recovery', 'check', '--recovery-file', home.file('phrase'))).toMatchObject({
      code: 0,
    });
    expect(
      await home.run('keyslots', 'remove', 'recovery', '--output', home.file('words'), ...proof),
    ).toMatchObject({ code: 2 });
    const misplaced = ['--new-password-file', home.file('password'), '--output', home.file('words')];
    expect(await home.run('keyslots', 'add', 'password', ...misplaced, ...proof)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--output is for a recovery phrase') as unknown,
    });
    expect(existsSync(home.file('words'))).toBe(false);
  });

  test('sheets are new files for their owner alone, and a share on one opens the vault', async () => {
    using home = new Home();
    await home.init('--no-keychain');
    const phrase = ['--recovery-file', home.file('phrase')];
    const page = home.file('sheet.html');
    expect(await home.run('recovery', 'sheet', '--output', page, ...phrase)).toMatchObject({
      code: 0,
      stderr: '',
    });
    const words = readFileSync(home.file('phrase'), 'utf8').trim().split(' ');
    const html = readFileSync(page, 'utf8');
    for (const word of words) expect(html).toContain(`<li>${word}</li>`);
    expect(html).toContain('<svg');
    expect(html).not.toMatch(/<script|https?:\/\/(?!www\.w3\.org)/);
    expect(statSync(page).mode & 0o777).toBe(0o600);
    expect(await home.run('recovery', 'sheet', '--output', page, ...phrase)).toMatchObject({
      code: 1,
      stderr: `keyhearth: ${page} is there already: it is not overwritten\n`,
    });
    const shares = await home.run(
      'recovery',
      'sheet',
      '--output',
      page,
      '--shares',
      '2-of-3',
      '--json',
      ...phrase,
    );
    const { files } = JSON.parse(shares.stdout) as { files: string[] };
    expect(files).toEqual([1, 2, 3].map((number) => home.file(`sheet-${String(number)}.html`)));

    await using service = await home.serve('--no-keychain');
    const from = (...numbers: readonly number[]): string[] =>
      numbers.flatMap((number) => ['--share-file', files[number - 1] ?? '']);
    expect(await home.run('unlock', ...from(2))).toMatchObject({
      code: 5,
      stderr: 'keyhearth: invalid shares: 2 are needed, and here is one\n',
    });
    expect(await home.run('unlock', ...from(3, 1))).toMatchObject({ code: 0 });
    expect(await home.run('recovery', 'check', ...from(1, 2))).toMatchObject({ code: 0 });
    const rotated = await home.keyslots(
      'keyslots',
      'rotate',
      ...from(1, 3),
      '--password-file',
      home.file('password'),
    );
    expect(kinds(rotated).sort()).toEqual(['password', 'recovery']);

    // If one page cannot be written, none is.
    home.file('other-2.html', '');
    const half = await home.run(
      'recovery',
      'sheet',
      '--output',
      home.file('other.html'),
      '--shares',
      '2-of-3',
      ...phrase,
    );
    expect(half.code).toBe(1);
    expect([1, 3].map((number) => existsSync(home.file(`other-${String(number)}.html`)))).toEqual([
      false,
      false,
    ]);
    expect(await service.stop()).toBe(0);
  });

  // The class: secrets in files that no command names, and a part of what belongs together.
  test.skipIf(process.platform === 'win32').each(['SIGINT', 'SIGTERM', 'SIGHUP'])(
    '%s while secrets are written leaves all of the files, and no draft of one',
    async (signal) => {
      using home = new Home();
      await home.init('--no-keychain');
      const made = home.file('made');
      mkdirSync(made);
      // Before each file of that directory has its name: its draft is whole then.
      const preload = home.file(
        'preload.mjs',
        `import fs from 'node:fs';
         import { syncBuiltinESMExports } from 'node:module';
         const { linkSync } = fs;
         fs.linkSync = (draft, file) => {
           if (file.startsWith(${JSON.stringify(made)})) process.kill(process.pid, '${signal}');
           linkSync(draft, file);
         };
         syncBuiltinESMExports();`,
      );
      const written = async (...argv: readonly string[]) => {
        const program = [process.execPath, '--import', pathToFileURL(preload).href, command] as const;
        const ended = await runCommand(argv, { environment: home.environment, program });
        expect(ended).toMatchObject({ code: 0, stderr: '' });
        const names = readdirSync(made, { recursive: true, encoding: 'utf8' }).sort();
        for (const name of readdirSync(made)) rmSync(join(made, name), { recursive: true });
        return names;
      };
      const sheet = ['recovery', 'sheet', '--recovery-file', home.file('phrase')];
      expect(await written(...sheet, '--output', join(made, 's.html'), '--shares', '2-of-3')).toEqual([
        's-1.html',
        's-2.html',
        's-3.html',
      ]);
      const proof = ['--no-keychain', '--password-file', home.file('password')];
      const words = ['--output', join(made, 'words')];
      expect(await written('keyslots', 'change', 'recovery', ...words, ...proof)).toEqual(['words']);
      expect(await written('keygen', '--name', 'second', '--config-dir', made)).toEqual([
        'keys',
        join('keys', 'second.private'),
        join('keys', 'second.public'),
      ]);
    },
  );

  test('a vault that runs locked is locked again afterwards', async () => {
    using home = new Home();
    await home.init('--no-keychain');
    await using service = await home.serve('--no-keychain');
    const proof = ['--password-file', home.file('password')];
    const second = ['--new-password-file', home.file('second', 'the second one')];
    expect(kinds(await home.keyslots('keyslots', 'add', 'password', ...proof, ...second))).toHaveLength(3);
    expect((await home.run('status')).stdout).toContain('State         locked');
    expect(await home.run('recovery', 'check', '--recovery-file', home.file('phrase'))).toMatchObject({
      code: 0,
    });
    expect((await home.run('status')).stdout).toContain('State         locked');
    expect(await service.stop()).toBe(0);
  });

  test('a frozen vault is frozen again after a command that opens it, served or not', async () => {
    using home = new Home({ KEYHEARTH_KEYCHAIN: 'off' });
    await home.init();
    const proof = ['--password-file', home.file('password')];
    const phrase = ['--recovery-file', home.file('phrase')];
    expect(await home.run('freeze')).toMatchObject({ code: 0 });
    const check = async (password: string): Promise<void> => {
      const newPassword = ['--new-password-file', home.file('new', password)];
      expect(await home.run('recovery', 'check', ...phrase)).toMatchObject({ code: 0 });
      expect(await home.run('keyslots', 'add', 'password', ...newPassword, ...proof)).toMatchObject({
        code: 0,
      });
    };
    await check('another long password');
    await using service = await home.serve();
    const frozen = { state: 'locked', frozen: { at: expect.any(Number) as unknown } };
    expect(JSON.parse((await home.run('status', '--json')).stdout)).toMatchObject(frozen);
    await check('a third long password');
    expect(JSON.parse((await home.run('status', '--json')).stdout)).toMatchObject(frozen);
    expect(await service.stop()).toBe(0);
  });

  test('a frozen vault stays frozen whatever a command does that opens its file, and whatever ends it', async () => {
    using home = new Home({ KEYHEARTH_KEYCHAIN: 'off' });
    await home.init();
    expect(await home.run('freeze')).toMatchObject({ code: 0 });
    const isFrozen = (): boolean => existsSync(home.file('vault/frozen'));
    expect(isFrozen()).toBe(true);
    const secret = ['--password-file', home.file('password')];
    for (const argv of [
      ['settings', 'set', 'network', 'off'],
      ['backup', home.file('a.backup')],
      ['backup', 'verify', home.file('a.backup')],
      ['backup', 'schedule', 'off'],
      ['keyslots', 'rotate', '--recovery-file', home.file('phrase')],
    ]) {
      expect(await home.run(...argv, ...secret), argv.join(' ')).toMatchObject({ code: 0 });
      expect(isFrozen(), argv.join(' ')).toBe(true);
    }
    await using terminal = new Terminal(`keyslots add recovery ${secret.join(' ')}`, home.environment);
    await expect.poll(() => terminal.shown, { timeout: 20_000 }).toContain('Word ');
    terminal.signal('SIGKILL');
    await terminal.ended();
    expect(isFrozen()).toBe(true);
    await using service = await home.serve();
    const { stdout } = await home.run('status', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ frozen: { at: expect.any(Number) as unknown } });
    // Of a service that dies meanwhile too.
    await using visitor = new Terminal(`keyslots add recovery ${secret.join(' ')}`, home.environment);
    await expect.poll(() => visitor.shown, { timeout: 20_000 }).toContain('Word ');
    await service.stop('SIGKILL');
    expect(isFrozen()).toBe(true);
    await using next = await home.serve();
    const again = await home.run('status', '--json');
    expect(JSON.parse(again.stdout)).toMatchObject({ frozen: { at: expect.any(Number) as unknown } });
    expect(await next.stop()).toBe(0);
  });

  test('a terminal that is closed leaves the vault as it was before the command, served or not', async () => {
    using home = new Home({ KEYHEARTH_KEYCHAIN: 'off' });
    await home.init();
    const status = async (): Promise<unknown> => JSON.parse((await home.run('status', '--json')).stdout);
    const wordsAsked = async (): Promise<Terminal> => {
      const line = `keyslots add recovery --password-file '${home.file('password')}'`;
      const terminal = new Terminal(line, home.environment);
      await expect.poll(() => terminal.shown, { timeout: 20_000 }).toContain('Word ');
      return terminal;
    };
    const closeTerminal = async (): Promise<void> => {
      await using _ = await wordsAsked();
    };
    const locked = { state: 'locked', frozen: null };
    const frozen = { state: 'locked', frozen: { at: expect.any(Number) as unknown } };
    {
      await using service = await home.serve();
      await closeTerminal();
      await expect.poll(status, { timeout: 20_000 }).toMatchObject(locked);
      expect(await home.run('freeze')).toMatchObject({ code: 0 });
      await closeTerminal();
      await expect.poll(status, { timeout: 20_000 }).toMatchObject(frozen);
      // Nor does the end of the service.
      await using _ = await wordsAsked();
      expect(await service.stop()).toBe(0);
      expect(service.stderr).not.toContain('Error');
    }
    {
      await using service = await home.serve();
      expect(await status()).toMatchObject(frozen);
      expect(await service.stop()).toBe(0);
    }
    await closeTerminal();
    // The command may hold the vault for a moment still.
    await expect.poll(async () => (await home.run('keyslots', 'list')).code, { timeout: 20_000 }).toBe(0);
    await using service = await home.serve();
    expect(await status()).toMatchObject(frozen);
    expect(await service.stop()).toBe(0);
  });

  test('wrong usage says what is expected, and makes nothing', async () => {
    using home = new Home();
    const nothing = await home.run('keyslots', 'list');
    expect(nothing).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('there is no vault in') as unknown,
    });
    expect(existsSync(join(home.path, 'vault'))).toBe(false);
    await home.init('--no-keychain');
    const file = ['--password-file', home.file('password')];
    for (const [argv, code, message] of [
      [
        ['keyslots', 'add', 'magic', ...file],
        2,
        'invalid kind "magic": expected password, keychain or recovery',
      ],
      [['keyslots', 'add', 'password', ...file], 2, 'expected a new password: give --new-password-file'],
      [
        ['keyslots', 'add', 'recovery', '--output', home.file('words')],
        2,
        'expected a secret that opens the vault now',
      ],
      [['keyslots', 'rotate'], 2, 'expected the secrets of the keyslots that stay'],
      [['keyslots', 'remove', 'keychain', ...file], 1, 'no keyslot has the id or the name "keychain"'],
      [['keyslots', 'add', 'keychain', '--no-keychain', ...file], 1, 'it is switched off (--no-keychain)'],
      [['recovery', 'check'], 2, 'expected the recovery phrase: give --recovery-file'],
      [['recovery', 'check', '--recovery-file', home.file('nowhere')], 2, 'there is no such file'],
      [['recovery', 'check', 'abandon', 'abandon'], 2, 'too many arguments: a secret is read from a file'],
      [['recovery', 'sheet', '--recovery-file', home.file('phrase')], 2, "required option '--output <file>'"],
      [
        [
          'recovery',
          'sheet',
          '--output',
          home.file('x.html'),
          '--shares',
          '3',
          '--recovery-file',
          home.file('phrase'),
        ],
        2,
        'invalid --shares "3": expected how many are needed of how many, like 2-of-3',
      ],
      [
        [
          'recovery',
          'sheet',
          '--output',
          home.file('x.html'),
          '--shares',
          '4-of-3',
          '--recovery-file',
          home.file('phrase'),
        ],
        1,
        'invalid threshold: expected 2 to 3, the number of shares, got 4',
      ],
    ] as const) {
      const ended = await home.run(...argv);
      expect(ended.stderr, argv.join(' ')).toContain(message);
      expect(ended.stderr).not.toContain('abandon');
      expect(ended.code, argv.join(' ')).toBe(code);
    }
    expect(existsSync(home.file('x.html'))).toBe(false);
    expect(kinds(await home.keyslots('keyslots', 'list'))).toEqual(['recovery', 'password']);
  });
});
