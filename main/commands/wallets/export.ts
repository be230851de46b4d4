/** `keyhearth export`: takes a secret out of the running vault, encrypted to a key made for it, into a file or the output. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { z } from 'zod';
import type { Config } from '../../app/config.ts';
import { curves } from '../../crypto/keys/curves.ts';
import { concatBytes } from '../../crypto/bytes.ts';
import { encodeBase58, toHex } from '../../crypto/encodings.ts';
import { openWithPrivateKey } from '../../crypto/hpke.ts';
import { generateP256, uncompressP256 } from '../../crypto/keys/p256.ts';
import { defined } from '../../lib/defined.ts';
import { quoted } from '../../lib/errors.ts';
import { bytesOf, hex, publicKeyHex, VaultApi, activityKind } from '../shared/api.ts';
import { listings } from '../shared/named.ts';
import { writeFileOnce } from '../shared/new-files.ts';
import { CommandError, exitCodes, note, print } from '../shared/output.ts';
import { canAsk } from '../shared/secrets.ts';

/** The destination of a secret. */
export interface ExportOptions {
  readonly output?: string;
  /** Show it on a terminal without a prompt. */
  readonly yes: boolean;
  readonly apiKey: string;
  readonly json: boolean;
}

/**
 * The text form of a private key: hex, or as Solana's tools have it, in Base58 or as a JSON array of bytes.
 */
export type KeyForm = 'hex' | 'base58' | 'bytes';

const exportBundleAnswer = z.object({ exportBundle: z.string() });

const exportWalletActivity = activityKind({
  type: 'ACTIVITY_TYPE_EXPORT_WALLET',
  result: exportBundleAnswer,
});

const exportPrivateKeyActivity = activityKind({
  type: 'ACTIVITY_TYPE_EXPORT_PRIVATE_KEY',
  result: exportBundleAnswer,
});

const exportAccountActivity = activityKind({
  type: 'ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT',
  result: exportBundleAnswer,
});

/** @param wanted The wallet's id or name. */
export async function exportWallet(config: Config, wanted: string, options: ExportOptions): Promise<void> {
  const api = await VaultApi.connect(config, options.apiKey);
  api.requireSigner();
  const { walletId, walletName } = await listings.wallet.find(api, wanted);
  const wallet = { walletId, walletName };
  await handOut(api, options, {
    what: `mnemonic of wallet ${JSON.stringify(wallet.walletName)}`,
    about: wallet,
    submit: (targetPublicKey) => api.submit(exportWalletActivity, { walletId, targetPublicKey }),
    write: (secret) => secret.slice(),
    show: (text) => {
      const [words = '', ...passphrase] = text.split('\n');
      return passphrase.length === 0
        ? { secret: words }
        : { secret: words, passphrase: passphrase.join('\n') };
    },
  });
}

/** @param wanted The key's id or name. */
export async function exportPrivateKey(
  config: Config,
  wanted: string,
  form: KeyForm,
  options: ExportOptions,
): Promise<void> {
  const api = await VaultApi.connect(config, options.apiKey);
  api.requireSigner();
  const { privateKeyId, privateKeyName, curve, publicKey } = await listings.privateKey.find(api, wanted);
  const key = { privateKeyId, privateKeyName, curve, publicKey };
  const write = writerOf(form, key.curve);
  await handOut(api, options, {
    what: `private key ${JSON.stringify(key.privateKeyName)}`,
    about: { ...key, format: form },
    submit: (targetPublicKey) =>
      api.submit(exportPrivateKeyActivity, { privateKeyId: key.privateKeyId, targetPublicKey }),
    write,
    show: (secret) => ({ secret }),
  });
}

/** @param address One of a wallet account. */
export async function exportAccount(
  config: Config,
  address: string,
  form: KeyForm,
  options: ExportOptions,
): Promise<void> {
  const api = await VaultApi.connect(config, options.apiKey);
  api.requireSigner();
  const { walletAccountId: _, ...account } = await findAccount(api, address);
  const write = writerOf(form, account.curve);
  await handOut(api, options, {
    what: `private key of ${account.address}`,
    about: { ...account, format: form },
    submit: (targetPublicKey) =>
      api.submit(exportAccountActivity, { address: account.address, targetPublicKey }),
    write,
    show: (secret) => ({ secret }),
  });
}

const accountList = z.object({
  accounts: z.array(
    z.object({
      walletAccountId: z.string(),
      walletId: z.string(),
      curve: z.string(),
      path: z.string(),
      addressFormat: z.string(),
      address: z.string(),
    }),
  ),
});
type AccountItem = z.output<typeof accountList>['accounts'][number];

const pageSize = 100;

async function findAccount(api: VaultApi, wanted: string): Promise<AccountItem> {
  // The case of an Ethereum address is its checksum, and says nothing more.
  const same = (address: string): boolean =>
    address === wanted || (/^0x/i.test(wanted) && address.toLowerCase() === wanted.toLowerCase());
  let after: string | undefined;
  do {
    const paginationOptions = { limit: String(pageSize), ...defined({ after }) };
    const { accounts } = await api.query('list_wallet_accounts', accountList, { paginationOptions });
    const found = accounts.find(({ address }) => same(address));
    if (found !== undefined) return found;
    after = accounts.length < pageSize ? undefined : accounts.at(-1)?.walletAccountId;
  } while (after !== undefined);
  throw new CommandError(
    exitCodes.failed,
    `no wallet account has the address ${quoted(wanted)}: expected one that list_wallet_accounts names`,
  );
}

/** @returns what writes a private key of the curve in that form. */
function writerOf(form: KeyForm, curve: string): (secret: Uint8Array) => Uint8Array {
  if (form === 'hex') return (secret) => Buffer.from(toHex(secret));
  if (curve !== 'CURVE_ED25519') {
    throw new CommandError(
      exitCodes.usage,
      `invalid --format ${form}: it is for keys of CURVE_ED25519; expected hex for ${curve}`,
    );
  }
  return (secret) => {
    // As Solana's tools have it: the private key and its public key.
    const pair = concatBytes(secret, curves.CURVE_ED25519.publicKey(secret));
    try {
      return Buffer.from(form === 'base58' ? encodeBase58(pair) : `[${pair.join(',')}]`);
    } finally {
      pair.fill(0);
    }
  };
}

interface Item {
  /** For a person: what will be shown or was written. */
  readonly what: string;
  /** For a script, beside the secret. */
  readonly about: object;
  readonly submit: (targetPublicKey: string) => Promise<{ readonly exportBundle: string }>;
  /** The secret's text; the taker wipes it. */
  readonly write: (secret: Uint8Array) => Uint8Array;
  /** The same as fields of JSON. */
  readonly show: (text: string) => object;
}

/** Decides where the secret goes before it is asked for: an export leaves its mark on what was exported. */
async function handOut(api: VaultApi, options: ExportOptions, item: Item): Promise<void> {
  if (options.output !== undefined) {
    await handOutToFile(api, options.output, item);
    print(
      options.json,
      { ...item.about, output: options.output },
      `The ${item.what} is in ${options.output}.`,
    );
    return;
  }
  await mayShow(options, item.what);
  const text = await take(api, item);
  try {
    if (options.json) {
      print(true, { ...item.about, ...item.show(Buffer.from(text).toString('utf8').slice(0, -1)) }, '');
    } else {
      await writeOut(text);
      notePassphrase(text);
    }
  } finally {
    text.fill(0);
  }
}

async function handOutToFile(api: VaultApi, file: string, item: Item): Promise<void> {
  const write = async (descriptor: number): Promise<void> => {
    const text = await take(api, item);
    try {
      writeFileSync(descriptor, text);
      notePassphrase(text);
    } finally {
      text.fill(0);
    }
  };
  await writeFileOnce(file, write, `--output ${file}`);
}

const endOfLine = 0x0a;

/** Only a wallet's passphrase has lines of its own. */
function notePassphrase(text: Uint8Array): void {
  if (text.indexOf(endOfLine) === text.length - 1) return;
  note("The first line is the mnemonic; what follows it is the wallet's BIP-39 passphrase.");
}

const encrypted = z.object({ encappedPublic: publicKeyHex, ciphertext: hex });

/** Exports to a key of this run alone. @returns the secret as text with an end of line, which the taker wipes. */
async function take(api: VaultApi, { submit, write }: Item): Promise<Uint8Array> {
  const target = generateP256((length) => new Uint8Array(randomBytes(length)));
  try {
    const targetPublicKey = toHex(uncompressP256(target.publicKey));
    const { exportBundle } = await submit(targetPublicKey);
    const { encappedPublic, ciphertext } = api.readSigned(exportBundle, encrypted);
    const secret = await openWithPrivateKey(target.privateKey, {
      encapsulatedKey: bytesOf(encappedPublic),
      ciphertext: bytesOf(ciphertext),
    });
    const text = write(secret);
    secret.fill(0);
    const line = concatBytes(text, Uint8Array.of(endOfLine));
    text.fill(0);
    return line;
  } finally {
    target.privateKey.fill(0);
  }
}

/** A terminal keeps what it shows, and others may see it. @throws CommandError when it must not be shown. */
async function mayShow({ yes }: ExportOptions, what: string): Promise<void> {
  if (!process.stdout.isTTY || yes) return;
  if (!canAsk()) {
    throw new CommandError(
      exitCodes.usage,
      `this would show the ${what} on the terminal: expected --yes, or --output with a file for it`,
    );
  }
  const { confirm } = await import('@clack/prompts');
  const answer = await confirm({
    message: `Show the ${what} on this terminal?`,
    initialValue: false,
    output: process.stderr,
  });
  if (answer !== true) throw new CommandError(exitCodes.failed, 'cancelled: nothing was exported');
}

/** @returns once the bytes are out, and may be wiped. */
function writeOut(text: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
}
