/**
 * Records the secrets of a vault as they are generated, and searches for them in places that must have none.
 */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { derivePrivateKey } from '../../main/crypto/keys/derivation.ts';
import { mnemonicFromEntropy, seedFromMnemonic } from '../../main/crypto/keys/mnemonics.ts';
import type { Random } from '../../main/lib/random.ts';
import { ByteSearch } from './byte-search.ts';

/** Ids, salts and nonces are public; all other random values are secret or become so. */
const open = new Set([
  'vault',
  'organization',
  'user',
  'api key',
  'activity',
  'vote',
  'query',
  'wallet account',
  'tag',
  'authenticator',
  'oauth provider',
  'secret id',
  'one-time code id',
  'verification token id',
  'read-only session',
  'keyslot.id',
  'keyslot.salt',
  'sealing.nonce',
]);

/** The paths of the first accounts of wallets in tests. */
const accounts = [
  { curve: 'CURVE_SECP256K1', path: "m/44'/60'/0'/0/0" },
  { curve: 'CURVE_ED25519', path: "m/44'/501'/0'/0'" },
] as const;

/** Bytes of a form: a shorter one turns up by chance. */
const shortest = 6;

export class SecretWatch {
  /** Every form of every secret, with its name. */
  readonly #search = new ByteSearch<string>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** Takes random bytes from `source`, and watches them: keys, mnemonics and what follows from them. */
  random(source: Random = (_purpose, length) => new Uint8Array(randomBytes(length))): Random {
    return (purpose, length) => {
      const bytes = source(purpose, length);
      if (!open.has(purpose)) this.#drawn(purpose, bytes);
      return bytes;
    };
  }

  /** Watches a text: as it is, in the forms of its bytes, and a phrase in part. */
  addText(name: string, text: string): void {
    const words = text.split(' ');
    const part = words.length > 4 ? [words.slice(0, 4), words.slice(-4)].map((some) => some.join(' ')) : [];
    this.#add(name, [...formsOf(Buffer.from(text)), JSON.stringify(words), ...part]);
  }

  /** Watches bytes in the forms that they would turn up in, had they gone astray. */
  addBytes(name: string, bytes: Uint8Array): void {
    // A test's own stream of one value occurs everywhere, and is not secret.
    if (new Set(bytes).size === 1) return;
    this.#add(name, formsOf(bytes));
  }

  /** @returns which secret was found where; nothing, if all is well. */
  find(places: Iterable<readonly [string, Uint8Array]>): string[] {
    const found = new Set<string>();
    for (const [place, content] of places) {
      const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
      this.#search.find(bytes, (name) => found.add(`${name} in ${place}`));
    }
    return [...found];
  }

  #drawn(purpose: string, bytes: Uint8Array): void {
    const name = `${purpose} ${String(this.#count)}`;
    this.addBytes(name, bytes);
    if (purpose !== 'mnemonic' && !purpose.includes('recovery phrase')) return;
    const mnemonic = mnemonicFromEntropy(bytes);
    const seed = seedFromMnemonic(mnemonic);
    this.addText(`${name}, in words`, mnemonic);
    this.addBytes(`${name}, its seed`, seed);
    for (const { curve, path } of accounts) {
      this.addBytes(`${name}, its key of ${path}`, derivePrivateKey(curve, seed, path));
    }
  }

  #add(name: string, forms: readonly (Uint8Array | string)[]): void {
    this.#count++;
    for (const each of forms) {
      const form = Buffer.from(each);
      if (form.length >= shortest) this.#search.add(form, name);
    }
  }
}

function formsOf(secret: Uint8Array): (Buffer | string)[] {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString('hex');
  return [
    bytes,
    hex,
    hex.toUpperCase(),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    bytes.join(','),
  ];
}

/** The contents of a directory, with those below it. */
export const filesIn = (directory: string): Map<string, Buffer> =>
  new Map(
    readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((file) => [file.slice(directory.length + 1), readFileSync(file)]),
  );
