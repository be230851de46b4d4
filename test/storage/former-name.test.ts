/**
 * Files from under the product's former name: they open as they did, and only their owner moves them to the
 * new path.
 */
import { execFile } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import Sqlite from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { encodeAddress } from '../../main/chains/addresses/addresses.ts';
import { keccak256 } from '../../main/crypto/hashes.ts';
import { recoverPublicKey } from '../../main/crypto/keys/secp256k1.ts';
import { formerName } from '../../main/lib/text/former-name.ts';
import { takeLock } from '../../main/storage/file/vault-lock.ts';
import { CommandProcess, runCommand, temporaryDirectory, type Json } from '../support/support.ts';
import { Terminal } from '../support/terminal.ts';

const fixtures = join(import.meta.dirname, '../fixtures/former-name');
const { password, recoveryPhrase, ethereum } = JSON.parse(
  readFileSync(join(fixtures, 'secrets.json'), 'utf8'),
) as Readonly<Record<'password' | 'recoveryPhrase' | 'ethereum', string>>;

type Signature = Readonly<Record<'r' | 's' | 'v', string>>;

/** A home in which the vault and the API key of the former name are. */
class FormerHome implements Disposable {
  readonly #directory = temporaryDirectory();
  readonly path = this.#directory.path;
  readonly former = join(this.path, '.local/share', formerName);
  readonly vault = join(this.path, '.local/share/keyhearth');
  readonly keys = join(this.path, '.config/keyhearth/keys');
  readonly environment = { HOME: this.path };

  constructor() {
    const keys = join(this.path, '.config', formerName, 'keys');
    for (const directory of [this.former, keys]) mkdirSync(directory, { recursive: true, mode: 0o700 });
    writeFileSync(join(this.former, 'vault.db'), gunzipSync(readFileSync(join(fixtures, 'vault.db.gz'))), {
      mode: 0o600,
    });
    copyFileSync(join(fixtures, 'vault.mark'), join(this.former, 'vault.mark'));
    for (const name of ['owner.private', 'owner.public'])
      copyFileSync(join(fixtures, name), join(keys, name));
    writeFileSync(this.file('password'), `${password}\n`);
    writeFileSync(this.file('phrase'), `${recoveryPhrase}\n`);
  }

  file(name: string): string {
    return join(this.path, name);
  }

  run(...argv: readonly string[]): ReturnType<typeof runCommand> {
    return runCommand(argv, { environment: this.environment });
  }

  async json(...argv: readonly string[]): Promise<Json> {
    const { code, stdout, stderr } = await this.run(...argv, '--json');
    if (code !== 0) throw new Error(`keyhearth ${argv.join(' ')} ended with ${String(code)}: ${stderr}`);
    return JSON.parse(stdout) as Json;
  }

  /** Signs with the earlier wallet, by the running service. */
  async sign(...argv: readonly string[]): Promise<void> {
    const message = this.file('message');
    writeFileSync(message, 'still mine');
    const how = ['--encoding', 'text', '--hash', 'keccak256', '--with', ethereum, '--yes'];
    const { r, s, v } = (await this.json('sign', 'payload', message, ...how, ...argv)) as Signature;
    const digest = keccak256(Buffer.from('still mine'));
    const signer = recoverPublicKey(Uint8Array.from(Buffer.from(r + s, 'hex')), v === '01' ? 1 : 0, digest);
    expect(encodeAddress('ADDRESS_FORMAT_ETHEREUM', 'CURVE_SECP256K1', signer)).toBe(ethereum);
  }

  [Symbol.dispose](): void {
    this.#directory[Symbol.dispose]();
  }
}

const serve = ['serve', '--no-keychain', '--port', '0'] as const;

describe('a vault in the former directory', () => {
  test('moves with its keys where its owner says so, and signs there', async () => {
    using home = new FormerHome();
    await using terminal = new Terminal(
      `serve --no-keychain --port 0 --password-file '${home.file('password')}'`,
      home.environment,
    );
    await terminal.type('y', `Move your vault from ${home.former}`);
    await expect.poll(() => terminal.shown).toContain('the vault is unlocked');
    expect(existsSync(home.former)).toBe(false);
    expect(readdirSync(home.vault)).toContain('vault.db');
    expect(readdirSync(home.keys).sort()).toEqual(['owner.private', 'owner.public']);
    await home.sign();
    expect(await home.json('audit', 'verify')).toMatchObject({ ok: true, findings: [] });
  });

  test('stays where its owner says no, and is not asked about again', async () => {
    using home = new FormerHome();
    {
      await using terminal = new Terminal('serve --no-keychain --port 0', home.environment);
      await terminal.type('n', 'Move your vault');
      expect(await terminal.ended()).toBe(3);
      expect(terminal.shown).toContain(`--data-dir ${home.former}`);
    }
    expect(readdirSync(home.former)).toContain('vault.db');
    await using again = new Terminal('serve --no-keychain --port 0', home.environment);
    expect(await again.ended()).toBe(3);
    expect(again.shown).not.toContain('Move your vault');
  });

  test('is left alone, with a notice, if the command cannot ask', async () => {
    using home = new FormerHome();
    const { code, stderr } = await home.run(...serve, '--json');
    expect(code).toBe(3);
    expect(stderr).toContain(home.former);
    expect(readdirSync(home.former)).toContain('vault.db');
    expect(existsSync(home.vault)).toBe(false);
    // At the former path, it is served under its own directory's name.
    await using served = new CommandProcess(
      [...serve, '--json', '--data-dir', home.former, '--password-file', home.file('password')],
      { environment: home.environment },
    );
    expect(JSON.parse(await served.nextLine())).toMatchObject({ state: 'unlocked' });
  });

  test('is offered again where its keys could not be moved', async () => {
    using home = new FormerHome();
    mkdirSync(dirname(home.keys), { recursive: true });
    writeFileSync(home.keys, '');
    {
      await using terminal = new Terminal('serve --no-keychain --port 0', home.environment);
      await terminal.type('y', 'Move your vault');
      expect(await terminal.ended()).not.toBe(0);
      expect(terminal.shown).toContain(home.keys);
    }
    expect(readdirSync(home.former)).toContain('vault.db');
    rmSync(home.keys);
    await using again = new Terminal(
      `serve --no-keychain --port 0 --password-file '${home.file('password')}'`,
      home.environment,
    );
    await again.type('y', 'Move your vault');
    await expect.poll(() => again.shown).toContain('the vault is unlocked');
    expect(existsSync(home.former)).toBe(false);
    expect(readdirSync(home.keys).sort()).toEqual(['owner.private', 'owner.public']);
  });

  test('does not move while a process has it open', async () => {
    using home = new FormerHome();
    const held = takeLock(home.former);
    try {
      await using terminal = new Terminal('serve --no-keychain --port 0', home.environment);
      await terminal.type('y', 'Move your vault');
      expect(await terminal.ended()).toBe(4);
      expect(terminal.shown).toContain('is in use by');
    } finally {
      held?.release();
    }
    expect(readdirSync(home.former)).toContain('vault.db');
  });
});

describe('a backup of the former name', () => {
  test('is verified, and restored to a vault that signs', async () => {
    using home = new FormerHome();
    const backup = join(fixtures, 'vault.backup');
    const directory = home.file('restored');
    const [phrase, where] = [
      ['--recovery-file', home.file('phrase')],
      ['--data-dir', directory],
    ] as const;
    await home.json('restore', backup, ...phrase, ...where, '--no-keychain');
    const secret = ['--password-file', home.file('password')];
    await using served = new CommandProcess([...serve, '--json', ...where, ...secret], {
      environment: home.environment,
    });
    expect(JSON.parse(await served.nextLine())).toMatchObject({ state: 'unlocked' });
    await home.sign(...where, '--config-dir', join(home.path, '.config', formerName));
    expect(await home.json('backup', 'verify', backup, ...phrase, ...where)).toMatchObject({ problems: [] });
  });

  test('is opened by the program that stands alone', async () => {
    using home = new FormerHome();
    const program = join(import.meta.dirname, '../../main/standalone/decrypt-backup.mjs');
    const output = home.file('plain.db');
    await promisify(execFile)(process.execPath, [
      ...[program, join(fixtures, 'vault.backup'), output],
      ...['--phrase-file', home.file('phrase')],
    ]);
    const database = new Sqlite(output, { readonly: true });
    expect(database.prepare('SELECT name FROM organizations').pluck().all()).toEqual(['Kept from before']);
    database.close();
  });
});

test('a log that was exported under the former name verifies, by the command and without it', async () => {
  using home = new FormerHome();
  const log = join(fixtures, 'log.jsonl');
  expect(await home.json('audit', 'verify', log)).toMatchObject({ ok: true, findings: [] });
  const program = join(import.meta.dirname, '../../main/standalone/verify-log.mjs');
  await promisify(execFile)(process.execPath, [program, log]);
});
