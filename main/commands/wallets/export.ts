/** `keyhearth export`: takes a secret out of the running vault, encrypted to a key made for it, into a file or the output. */
import { z } from 'zod';
import type { Config } from '../../app/config.ts';
import { curves } from '../../crypto/keys/curves.ts';
import { concatBytes } from '../../crypto/bytes.ts';
import { encodeBase58, toHex } from '../../crypto/encodings.ts';
import { defined } from '../../lib/defined.ts';
import { quoted } from '../../lib/errors.ts';
import { VaultApi, activityKind } from '../shared/api.ts';
import { listings } from '../shared/named.ts';
import { CommandError, exitCodes } from '../shared/output.ts';
import { handOut, type ExportOptions } from './hand-out.ts';

/**
 * The text form of a private key: hex, or as Solana's tools have it, in Base58 or as a JSON array of bytes.
 */
export type KeyForm = 'hex' | 'base58' | 'bytes';

const endOfLine = 0x0a;

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');

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
    what: `seed phrase of wallet ${JSON.stringify(wallet.walletName)}`,
    about: wallet,
    submit: (targetPublicKey) => api.submit(exportWalletActivity, { walletId, targetPublicKey }),
    write: (secret) => secret.slice(),
    ends: 'with a line end',
    show: (text) => {
      const [words = '', ...passphrase] = textOf(text).split('\n');
      return passphrase.length === 0
        ? { secret: words }
        : { secret: words, passphrase: passphrase.join('\n') };
    },
    remark: (text) =>
      text.includes(endOfLine)
        ? "The first line is the seed phrase; what follows it is the wallet's BIP-39 passphrase."
        : undefined,
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
    ends: 'with a line end',
    show: (text) => ({ secret: textOf(text) }),
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
    ends: 'with a line end',
    show: (text) => ({ secret: textOf(text) }),
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
