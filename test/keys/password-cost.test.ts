/**
 * The cost of guessing a password, wherever a slot for one is created: the product has one answer, and only
 * tests have another.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeConfig } from '../../main/app/config.ts';
import { Connection } from '../../main/storage/connection.ts';
import { listKeyslots } from '../../main/storage/tables/keyslots.ts';
import type { KeyslotRow } from '../../main/storage/tables/keyslots.ts';
import { mnemonicFromEntropy } from '../../main/crypto/keys/mnemonics.ts';
import { openVault } from '../../main/app/compose.ts';
import type { OpenVault, Substitutes } from '../../main/app/compose.ts';
import type { ProveWith } from '../../preload/contract.ts';
import { cheapPassword } from './password-cost.ts';
import { runCommand, temporaryDirectory } from '../support/support.ts';

/** RFC 9106's second recommendation: 64 MiB, three passes. */
const full = { memoryKiB: 65_536, passes: 3, parallelism: 1 };

const [first, second] = ['the first password', 'the second password'];

/** @returns the costs of the slots for a password. */
function costsOf(slots: readonly KeyslotRow[]): readonly unknown[] {
  return slots
    .filter(({ kind }) => kind === 'password')
    .map(({ parameters }) => {
      const { memoryKiB, passes, parallelism } = JSON.parse(parameters) as typeof full;
      return { memoryKiB, passes, parallelism };
    });
}

const costsIn = ({ units }: OpenVault): readonly unknown[] => costsOf(units.readUnverified(listKeyslots));

test.each<[string, Substitutes, typeof full]>([
  ['64 MiB and three passes', {}, full],
  ['what a test asks for', { passwordCost: cheapPassword }, cheapPassword],
])(
  'a slot costs %s when it is created, added, changed or moved to another master key',
  async (_, parts, cost) => {
    using home = temporaryDirectory();
    const config = makeConfig({ dataDir: home.path, configDir: home.path, keychain: false }, {});
    const vault = openVault(config, parts);
    try {
      const phrase = mnemonicFromEntropy(crypto.getRandomValues(new Uint8Array(32)));
      const proof: ProveWith = { with: 'recovery', phrase };
      const { rpc } = vault;
      await vault.setUp({
        ...{ organizationName: 'Tests', userName: 'Root', useKeychain: false, password: first },
        ...{ recoveryPhrase: phrase, recoveryConfirmed: true },
      });
      expect(costsIn(vault)).toEqual([cost]);
      await rpc.changeKeyslots({ do: 'addPassword', proof, password: 'one to be changed' });
      expect(costsIn(vault)).toEqual([cost, cost]);
      const { keyslots } = await rpc.keyslots();
      const { id: keyslotId = '' } = keyslots.filter(({ kind }) => kind === 'password').at(-1) ?? {};
      await rpc.changeKeyslots({ do: 'changePassword', proof, keyslotId, password: second });
      expect(costsIn(vault)).toEqual([cost, cost]);
      const secrets = [first, second].map((password) => ({ with: 'password' as const, password }));
      await rpc.changeKeyslots({ do: 'rotate', proof, secrets, dropOthers: false });
      expect(costsIn(vault)).toEqual([cost, cost]);
      for (const secret of secrets) await rpc.unlock(secret);
    } finally {
      vault.close();
    }
  },
);

test('a vault with a cheap password is moved to the full cost with its next master key', async () => {
  using home = temporaryDirectory();
  const config = makeConfig({ dataDir: home.path, configDir: home.path, keychain: false }, {});
  const phrase = mnemonicFromEntropy(crypto.getRandomValues(new Uint8Array(32)));
  const made = openVault(config, { passwordCost: cheapPassword });
  await made.setUp({
    ...{ organizationName: 'Tests', userName: 'Root', useKeychain: false, password: first },
    ...{ recoveryPhrase: phrase, recoveryConfirmed: true },
  });
  made.close();
  const vault = openVault(config);
  try {
    const proof: ProveWith = { with: 'password', password: first };
    await vault.rpc.unlock(proof);
    expect(costsIn(vault)).toEqual([cheapPassword]);
    const secrets = [{ with: 'recovery' as const, phrase }];
    await vault.rpc.changeKeyslots({ do: 'rotate', proof, secrets, dropOthers: false });
    expect(costsIn(vault)).toEqual([full]);
  } finally {
    vault.close();
  }
});

test('the command makes slots at the full cost, and nothing of the product hands in another', async () => {
  using home = temporaryDirectory();
  const vault = join(home.path, 'vault');
  const { code, stderr } = await runCommand(
    ['init', '--no-keychain', '--password-fd', '3', '--data-dir', vault, '--config-dir', home.path, '--json'],
    { descriptor3: `${first}\n` },
  );
  expect(stderr).toBe('');
  expect(code).toBe(0);
  const connection = Connection.openReadOnly(join(vault, 'vault.db'));
  try {
    expect(costsOf(listKeyslots(connection))).toEqual([full]);
  } finally {
    connection.close();
  }
  const source = join(import.meta.dirname, '../../main');
  const naming = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .filter((file) => readFileSync(join(source, file), 'utf8').includes('passwordCost'))
    .map((file) => file.replaceAll('\\', '/'))
    .sort();
  expect(naming).toEqual([
    'app/compose.ts',
    'app/create-vault.ts',
    'keys/change-keyslots.ts',
    'keys/keyslots/slots.ts',
  ]);
});
