/** Keyslots and the master key are changed by a process that is killed at it: what is left opens, each time. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeConfig } from '../../main/app/config.ts';
import { mnemonicFromEntropy } from '../../main/crypto/keys/mnemonics.ts';
import { forEachSealedRecord } from '../../main/storage/sealed-records.ts';
import { openVault } from '../../main/app/compose.ts';
import type { Keyslots } from '../../preload/contract.ts';
import { atLength, roundsOf } from '../campaigns/length.ts';
import { compileCache } from '../support/compile-cache.ts';
import { fileKeychain, keychainEntries } from './keyslots-child.ts';
import type { DiePoint, Orders, Said } from './keyslots-child.ts';
import { cheapPassword } from './password-cost.ts';
import { temporaryDirectory } from '../support/support.ts';

/** A short run ends much earlier. Chance decides which change a kill meets: of 25 rounds, none may have met one that is quick. */
const rounds = atLength(250, 100);
const minute = 60_000;

interface Ended {
  readonly signal: NodeJS.Signals | null;
  readonly said: readonly Said[];
  readonly stderr: string;
}

/** @param killAfter Milliseconds after it is ready; without it, the process ends by itself. */
async function runChild(orders: Orders, killAfter?: number): Promise<Ended> {
  const script = join(import.meta.dirname, 'keyslots-child.ts');
  const child = spawn(process.execPath, [script, JSON.stringify(orders)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...compileCache },
  });
  let [stdout, stderr, isReady] = ['', '', false];
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    if (isReady || killAfter === undefined || !stdout.includes('\n')) return;
    isReady = true;
    setTimeout(() => child.kill('SIGKILL'), killAfter);
  });
  const [, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  const lines = stdout.split('\n').slice(0, -1);
  return { signal, said: lines.map((line) => JSON.parse(line) as Said), stderr };
}

async function makeVault(directory: string, password: string): Promise<string> {
  const phrase = mnemonicFromEntropy(crypto.getRandomValues(new Uint8Array(32)));
  const vault = openVault(makeConfig({ dataDir: join(directory, 'vault') }, {}), {
    keychain: fileKeychain(directory),
    passwordCost: cheapPassword,
  });
  try {
    await vault.setUp({
      organizationName: 'Tests',
      userName: 'Root',
      useKeychain: true,
      password,
      recoveryPhrase: phrase,
      recoveryConfirmed: true,
    });
  } finally {
    vault.close();
  }
  return phrase;
}

/**
 * Opens what a killed process left, in each way that it must open.
 * @param passwords Of which exactly one opens it.
 * @returns which one, and the keyslots.
 */
async function inspect(
  directory: string,
  phrase: string,
  passwords: ReadonlySet<string>,
): Promise<{ readonly password: string; readonly keyslots: Keyslots['keyslots'] }> {
  const vault = openVault(makeConfig({ dataDir: join(directory, 'vault') }, {}), {
    keychain: fileKeychain(directory),
  });
  const { rpc, connection, units, keyring } = vault;
  try {
    expect(connection.pragma('integrity_check')).toBe('ok');
    await rpc.unlock({ with: 'recovery', phrase });
    units.read((tx) => {
      forEachSealedRecord(tx, (place, sealed) => keyring.open(place, sealed).fill(0));
    });
    const { vaultId, keyslots } = await rpc.keyslots();
    const kinds = keyslots.map(({ kind }) => kind).sort();
    expect([
      ['keychain', 'password', 'recovery'],
      ['password', 'recovery'],
    ]).toContainEqual(kinds);
    const opened: string[] = [];
    for (const password of passwords) {
      await rpc.unlock({ with: 'password', password }).then(
        () => opened.push(password),
        () => undefined,
      );
    }
    expect(opened).toHaveLength(1);
    const entries = keyslots
      .filter(({ kind }) => kind === 'keychain')
      .map(({ id }) => encodeURIComponent(`${vaultId}/${id}`));
    if (entries.length > 0) await rpc.unlock({ with: 'keychain' });
    // The keychain entries of the killed process are removed once the vault is unlocked.
    await expect.poll(() => keychainEntries(directory)).toEqual(entries);
    return { password: opened[0] ?? '', keyslots };
  } finally {
    vault.close();
  }
}

test(
  `kill -9 while keyslots and the master key are changed, up to ${String(rounds)} times: the vault opens every time`,
  { timeout: 15 * minute },
  async () => {
    using home = temporaryDirectory();
    const directory = home.path;
    let password = 'the first password';
    const phrase = await makeVault(directory, password);
    const interrupted = new Map<string, number>();
    const hasMet = (): boolean => interrupted.has('changePassword') && interrupted.has('rotate');
    for (const round of roundsOf(5, rounds, hasMet)) {
      const { signal, said, stderr } = await runChild({ directory, phrase, password }, Math.random() * 500);
      expect(signal, `round ${String(round)}: ${stderr}`).toBe('SIGKILL');
      let certain = password;
      let last = '';
      for (const each of said) {
        if (each.at === 'ready') continue;
        last = each.at === 'try' ? each.change : '';
        if (each.at === 'done') certain = each.password;
      }
      const tried = said.at(-1);
      const passwords = new Set([
        certain,
        tried === undefined || tried.at === 'ready' ? certain : tried.password,
      ]);
      ({ password } = await inspect(directory, phrase, passwords));
      if (last !== '') interrupted.set(last, (interrupted.get(last) ?? 0) + 1);
    }
    // Changes were cut off, not merely the time between them. Those of the keychain are quick: the next test has them.
    expect([...interrupted.keys()]).toEqual(expect.arrayContaining(['changePassword', 'rotate']));
    expect([...interrupted.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThan(
      atLength(0, rounds / 2),
    );
  },
);

test(
  'ended at each point of the keychain’s work, a change is done or not done, and its entry is cleared away',
  { timeout: 3 * minute },
  async () => {
    const password = 'the only password';
    const isDone: Record<string, boolean> = {};
    for (const [only, points] of [
      ['rotate', ['before set', 'after set', 'before delete', 'after delete']],
      ['remove', ['before delete', 'after delete']],
      ['addKeychain', ['before set', 'after set']],
    ] satisfies [Orders['only'], DiePoint[]][]) {
      for (const dieAt of points) {
        using home = temporaryDirectory();
        const directory = home.path;
        const phrase = await makeVault(directory, password);
        if (only === 'addKeychain') await runChild({ directory, phrase, password, only: 'remove' });
        const before = await inspect(directory, phrase, new Set([password]));
        const { signal, stderr } = await runChild({ directory, phrase, password, only, dieAt });
        expect(signal, `${only} ${dieAt}: ${stderr}`).toBe('SIGKILL');
        const after = await inspect(directory, phrase, new Set([password]));
        isDone[`${only}, ${dieAt}`] = JSON.stringify(before.keyslots) !== JSON.stringify(after.keyslots);
      }
    }
    expect(isDone).toEqual({
      'rotate, before set': false,
      'rotate, after set': false,
      'rotate, before delete': true,
      'rotate, after delete': true,
      'remove, before delete': true,
      'remove, after delete': true,
      'addKeychain, before set': false,
      'addKeychain, after set': false,
    });
  },
);
