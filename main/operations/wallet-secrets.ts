/** A wallet's secret: a mnemonic and, where an import brought one, a BIP-39 passphrase. */
import { isUtf8 } from 'node:buffer';
import type { Keys } from '../activities/define.ts';
import { invalid } from '../crypto/encodings.ts';
import { checkMnemonic, seedFromMnemonic } from '../crypto/mnemonics.ts';
import type { Place } from '../crypto/sealing.ts';
import { walletsTable, type WalletRow } from '../db/wallets.ts';

export interface WalletPhrase {
  readonly mnemonic: string;
  /** Empty for none. */
  readonly passphrase: string;
}

/** How importing clients set a passphrase off from the mnemonic. */
const importSeparator = '\n--PASS--\n';

export const walletPlace = ({ id, organizationId }: Pick<WalletRow, 'id' | 'organizationId'>): Place => ({
  table: walletsTable,
  rowId: id,
  organizationId,
});

/** What is sealed, and what an export hands out: the mnemonic and, on a line of its own, the passphrase if any. */
export const phraseBytes = ({ mnemonic, passphrase }: WalletPhrase): Uint8Array =>
  new Uint8Array(Buffer.from(passphrase === '' ? mnemonic : `${mnemonic}\n${passphrase}`, 'utf8'));

/**
 * Reads what a client imports.
 * @throws LatchkeyError INVALID_ARGUMENT naming what is wrong with the mnemonic, never a word of it.
 */
export function readPhrase(secret: Uint8Array, field: string): WalletPhrase {
  // Read leniently, different passphrases could become one.
  if (!isUtf8(secret)) throw invalid(field, 'expected UTF-8 text in it');
  const [words = '', ...rest] = Buffer.from(secret).toString('utf8').split(importSeparator);
  const mnemonic = words.normalize('NFKD').trim().toLowerCase().split(/\s+/).join(' ');
  checkMnemonic(mnemonic, field);
  return { mnemonic, passphrase: rest.join(importSeparator) };
}

/** @returns the BIP-39 seed, 64 bytes, which the caller wipes. */
export const seedOf = ({ mnemonic, passphrase }: WalletPhrase): Uint8Array =>
  seedFromMnemonic(mnemonic, passphrase);

/** Opens a wallet's seed for as long as `use` runs. */
export function withSeed<T>(
  keys: Pick<Keys, 'open'>,
  wallet: Pick<WalletRow, 'id' | 'organizationId' | 'sealed'>,
  use: (seed: Uint8Array) => T,
): T {
  const secret = keys.open(walletPlace(wallet), wallet.sealed);
  const text = Buffer.from(secret).toString('utf8');
  secret.fill(0);
  const [mnemonic = '', ...passphrase] = text.split('\n');
  const seed = seedOf({ mnemonic, passphrase: passphrase.join('\n') });
  try {
    return use(seed);
  } finally {
    seed.fill(0);
  }
}
