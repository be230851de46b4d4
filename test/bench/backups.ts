/** Unlock, backup, verification and restore of vaults of several sizes: what each takes, and the most memory that its process had. */
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makeConfig } from '../../main/app/config.ts';
import { encodeAddress } from '../../main/chains/addresses/addresses.ts';
import { curves } from '../../main/crypto/keys/curves.ts';
import { SeedDerivation } from '../../main/crypto/keys/derivation.ts';
import { toHex } from '../../main/crypto/encodings.ts';
import { mnemonicFromEntropy, sentenceFromEntropy } from '../../main/crypto/keys/mnemonics.ts';
import { uuidV4 } from '../../main/crypto/uuid.ts';
import { insertAccount } from '../../main/storage/tables/wallet-accounts.ts';
import { getWalletRow, insertWallet } from '../../main/storage/tables/wallets.ts';
import { phraseBytes, walletContext, withSeed } from '../../main/storage/wallet-secrets.ts';
import { openVault } from '../../main/app/compose.ts';
import type { BackupWork, Measured } from './backup-work.ts';

export type BackupFigures = Readonly<Record<string, number>>;

/**
 * @param sizes Numbers of accounts, rising.
 * @returns a group of figures for each size, and how the last grew over the one before it: 1 is linear.
 */
export async function measureBackups(
  directory: string,
  sizes: readonly number[],
): Promise<Readonly<Record<string, BackupFigures>>> {
  const groups: Record<string, BackupFigures> = {};
  const figures: (BackupFigures & { readonly accounts: number })[] = [];
  for (const accounts of sizes) {
    const place = join(directory, `backup-${String(accounts)}`);
    mkdirSync(place);
    const phrase = mnemonicFromEntropy(randomBytes(32));
    const vault = join(place, 'vault');
    await makeVault(vault, phrase, accounts);
    const file = join(place, 'bench.backup');
    const common = { phrase, vault, file, restored: join(place, 'restored') };
    const unlock = await inProcess({ ...common, work: 'unlock' });
    const backup = await inProcess({ ...common, work: 'backup' });
    const verification = await inProcess({ ...common, work: 'verify' });
    const restored = await inProcess({ ...common, work: 'restore' });
    const found = {
      accounts,
      fileMiB: statSync(file).size / 2 ** 20,
      unlockMs: unlock.ms,
      backupMs: backup.ms,
      verifyMs: verification.ms,
      restoreMs: restored.ms,
      unlockMiB: unlock.mostMiB,
      backupMiB: backup.mostMiB,
      verifyMiB: verification.mostMiB,
      restoreMiB: restored.mostMiB,
    };
    figures.push(found);
    groups[`accounts${String(accounts)}`] = found;
    rmSync(place, { recursive: true });
  }
  const [before, last] = [figures.at(-2), figures.at(-1)];
  if (before !== undefined && last !== undefined) groups['growth'] = growth(before, last);
  return groups;
}

/** The growth factor for the growth in accounts. */
function growth(before: BackupFigures, last: BackupFigures): BackupFigures {
  const times = (name: string): number => (last[name] ?? Number.NaN) / (before[name] ?? Number.NaN);
  const works = ['unlock', 'backup', 'verify', 'restore'];
  const names = works.flatMap((work) => [`${work}Ms`, `${work}MiB`]);
  return Object.fromEntries(names.map((name) => [name, times(name) / times('accounts')]));
}

/** A vault with one wallet of that many accounts, each with its own address. */
async function makeVault(directory: string, recoveryPhrase: string, accounts: number): Promise<void> {
  const config = makeConfig({ dataDir: directory, configDir: directory, keychain: false }, {});
  const vault = openVault(config);
  try {
    const { organizationId } = await vault.setUp({
      organizationName: 'Bench',
      userName: 'Root',
      useKeychain: false,
      recoveryPhrase,
      recoveryConfirmed: true,
    });
    const now = Date.now();
    const times = { createdAt: now, updatedAt: now };
    const id = uuidV4(new Uint8Array(randomBytes(16)));
    const secret = phraseBytes({
      mnemonic: sentenceFromEntropy(randomBytes(16)),
      passphrase: new Uint8Array(0),
    });
    const sealed = vault.keyring.seal(walletContext({ id, organizationId }), secret);
    await vault.units.write((tx) => {
      insertWallet(tx, { id, organizationId, name: 'Bench', sealed, exported: 0, imported: 0, ...times });
    });
    const wallet = vault.units.read((tx) => getWalletRow(tx, organizationId, id));
    if (wallet === undefined) throw new Error('the wallet is not there');
    using derivation = withSeed(vault.keyring, wallet, (seed) => new SeedDerivation(seed));
    await vault.units.write((tx) => {
      for (let index = 0; index < accounts; index++) {
        const path = `m/44'/60'/0'/0/${String(index)}`;
        const publicKey = curves.CURVE_SECP256K1.publicKey(derivation.privateKey('CURVE_SECP256K1', path));
        insertAccount(tx, {
          id: uuidV4(new Uint8Array(randomBytes(16))),
          organizationId,
          walletId: id,
          name: null,
          curve: 'CURVE_SECP256K1',
          path,
          addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
          address: encodeAddress('ADDRESS_FORMAT_ETHEREUM', 'CURVE_SECP256K1', publicKey),
          publicKey: toHex(publicKey),
          exported: 0,
          ...times,
        });
      }
    });
  } finally {
    vault.close();
  }
}

/** A process for each, so that each has a memory of its own. */
async function inProcess(work: BackupWork): Promise<Measured> {
  const child = fork(join(import.meta.dirname, 'backup-work.ts'));
  try {
    child.send(work);
    const [answer] = (await Promise.race([once(child, 'message'), ended(child)])) as [Measured];
    return answer;
  } finally {
    child.kill();
  }
}

async function ended(child: ReturnType<typeof fork>): Promise<never> {
  const [code] = (await once(child, 'exit')) as [number | null];
  throw new Error(`the process of the bench ended with ${String(code)}`);
}
