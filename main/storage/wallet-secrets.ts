/** A wallet's secret: a mnemonic and, where an import brought one, a BIP-39 passphrase. All of it is bytes, which are erased. */
import { isUtf8 } from 'node:buffer';
import { invalid } from '../crypto/encodings.ts';
import { entropyFromMnemonic, seedFromMnemonic, sentenceFromEntropy } from '../crypto/keys/mnemonics.ts';
import type { Keys, SealContext } from '../crypto/sealing.ts';
import { copyOfBytes, ownBytes } from '../crypto/secret-text.ts';
import { walletsTable, type WalletRow } from './tables/wallets.ts';

/** In UTF-8. */
export interface WalletPhrase {
  readonly mnemonic: Uint8Array;
  /** Empty for none. */
  readonly passphrase: Uint8Array;
}

/** The separator between mnemonic and passphrase that importing clients use. */
const importSeparator = Buffer.from('\n--PASS--\n');
/** The separator in sealed bytes. */
const sealedSeparator = Buffer.from('\n');

export const walletContext = ({
  id,
  organizationId,
}: Pick<WalletRow, 'id' | 'organizationId'>): SealContext => ({
  table: walletsTable,
  rowId: id,
  organizationId,
});

/**
 * The sealed bytes, and those of an export: the mnemonic and, on a line of its own, the passphrase if any.
 */
export function phraseBytes({ mnemonic, passphrase }: WalletPhrase): Uint8Array {
  if (passphrase.length === 0) return copyOfBytes(mnemonic);
  const bytes = ownBytes(mnemonic.length + sealedSeparator.length + passphrase.length);
  bytes.set(mnemonic);
  bytes.set(sealedSeparator, mnemonic.length);
  bytes.set(passphrase, mnemonic.length + sealedSeparator.length);
  return bytes;
}

/**
 * Reads what a client imports.
 * @returns copies, which the caller erases with `erasePhrase`.
 * @throws KeyhearthError INVALID_ARGUMENT naming what is wrong with the mnemonic, never a word of it.
 */
export function readPhrase(secret: Uint8Array, field: string): WalletPhrase {
  // Read leniently, different passphrases could become one.
  if (!isUtf8(secret)) throw invalid(field, 'expected UTF-8 text in it');
  const [words, passphrase] = split(secret, importSeparator);
  const entropy = entropyFromMnemonic(words, field);
  const mnemonic = sentenceFromEntropy(entropy);
  entropy.fill(0);
  return { mnemonic, passphrase: copyOfBytes(passphrase) };
}

export function erasePhrase({ mnemonic, passphrase }: WalletPhrase): void {
  mnemonic.fill(0);
  passphrase.fill(0);
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
  const secret = keys.open(walletContext(wallet), wallet.sealed);
  let seed: Uint8Array | undefined;
  try {
    const [mnemonic, passphrase] = split(secret, sealedSeparator);
    seed = seedOf({ mnemonic, passphrase });
    secret.fill(0);
    return use(seed);
  } finally {
    secret.fill(0);
    seed?.fill(0);
  }
}

/** @returns what is before the first separator, and what is behind it, in the memory of `bytes`. */
function split(bytes: Uint8Array, separator: Uint8Array): readonly [Uint8Array, Uint8Array] {
  const at = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(separator);
  return at === -1
    ? [bytes, bytes.subarray(bytes.length)]
    : [bytes.subarray(0, at), bytes.subarray(at + separator.length)];
}
