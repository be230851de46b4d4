/**
 * Secrets on their way in and out: encrypted and opened by the vendor's own library, unmodified, and checked with
 * other people's derivation and curves.
 */
import { createHmac, createPublicKey, verify } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ed25519 } from '@noble/curves/ed25519.js';
import { p256 } from '@noble/curves/nist.js';
import { HDKey } from '@scure/bip32';
import { base58 } from '@scure/base';
import {
  decryptExportBundle,
  encryptPrivateKeyToBundle,
  encryptWalletToBundle,
  formatHpkeBuf,
  generateP256KeyPair,
  hpkeDecrypt,
  hpkeEncrypt,
} from '@turnkey/crypto';
import { mnemonicToSeedSync } from 'bip39';
import { hashMessage, recoverAddress, serializeSignature, serializeTransaction } from 'viem';
import {
  english,
  generateMnemonic,
  generatePrivateKey,
  mnemonicToAccount,
  privateKeyToAddress,
} from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  activityOf,
  ethereumAccount,
  newWallet,
  resultOf,
  send,
  solanaAccount,
  startTestVault,
} from '../support/support.ts';
import { fundedPsbt } from '../support/funded-psbt.ts';
import { fails as failsIn, invalid, isRefused as isRefusedIn, missing, taken } from '../support/refusals.ts';
import type { Refusal } from '../support/refusals.ts';
import type { Answer, Json, TestClient, TestVault } from '../support/support.ts';
import vectors from '../vectors/bip39.json' with { type: 'json' };

const hour = 60 * 60_000;

let service: TestVault;
/** A second vault: what is exported here is imported there. */
let elsewhere: TestVault;
let root: Importer;

beforeAll(async () => {
  service = await startTestVault();
  elsewhere = await startTestVault();
  root = await importerOf(service);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await elsewhere[Symbol.asyncDispose]();
});

/** A user who imports and exports, with what the vendor's library checks bundles against. */
interface Importer {
  readonly client: TestClient;
  readonly userId: string;
  readonly organizationId: string;
  readonly signer: string;
  /** Submits an activity by its type, whose path is the same in lower case. */
  readonly submit: (type: string, parameters: Json) => Promise<Answer>;
}

async function importerOf(
  vault: TestVault,
  client = vault.root,
  userId = vault.rootUserId,
): Promise<Importer> {
  const { body } = await send(vault.url, { method: 'GET', path: '/public/v1/discovery/keys' });
  return {
    client,
    userId,
    organizationId: vault.organizationId,
    signer: body?.['signer'] as string,
    submit: (type, parameters) => client.submit(type.toLowerCase(), type, parameters),
  };
}

/** Another member of the root quorum, who may do all that the first may. */
async function newRootUser(name: string): Promise<Importer> {
  const { client, userId } = await service.newUser(name);
  service.vault.connection.run('UPDATE users SET root = 1 WHERE id = ?', userId);
  return importerOf(service, client, userId);
}

let names = 0;
const newName = (): string => `Name ${String(++names)}`;
const newMnemonic = (): string => generateMnemonic(english);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const fromHex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'));
const textOf = (answer: Answer, field: string): string => resultOf(answer)[field] as string;

/** The two kinds of secrets, which are imported by the same rules. */
interface Kind {
  readonly noun: 'wallet' | 'private key';
  readonly init: string;
  readonly take: string;
  readonly nameField: string;
  readonly newSecret: () => string;
  readonly encrypt: (importer: Importer, importBundle: string, secret: string) => Promise<string>;
  /** The fields of an import beside the user, the name and the bundle. */
  readonly rest: Json;
  readonly exists: RegExp;
}

const bundleCheck = ({ userId, organizationId, signer }: Importer) => ({
  userId,
  organizationId,
  dangerouslyOverrideSignerPublicKey: signer,
});

const walletKind: Kind = {
  noun: 'wallet',
  init: 'INIT_IMPORT_WALLET',
  take: 'IMPORT_WALLET',
  nameField: 'walletName',
  newSecret: newMnemonic,
  encrypt: (importer, importBundle, mnemonic) =>
    encryptWalletToBundle({ mnemonic, importBundle, ...bundleCheck(importer) }),
  rest: { accounts: [ethereumAccount] },
  exists: /^seed for wallet [0-9a-f-]{36} already imported in this organization$/,
};

const privateKeyKind: Kind = {
  noun: 'private key',
  init: 'INIT_IMPORT_PRIVATE_KEY',
  take: 'IMPORT_PRIVATE_KEY',
  nameField: 'privateKeyName',
  newSecret: () => generatePrivateKey().slice(2),
  encrypt: (importer, importBundle, privateKey) =>
    encryptPrivateKeyToBundle({
      privateKey,
      keyFormat: 'HEXADECIMAL',
      importBundle,
      ...bundleCheck(importer),
    }),
  rest: { curve: 'CURVE_SECP256K1', addressFormats: ['ADDRESS_FORMAT_ETHEREUM'] },
  exists: /^private key with ID [0-9a-f-]{36} has already been imported in this organization$/,
};

const kinds = [walletKind, privateKeyKind] as const;

/** @returns an import bundle. */
async function begin({ init }: Kind, importer = root): Promise<string> {
  return textOf(await importer.submit(init, { userId: importer.userId }), 'importBundle');
}

const finish = (
  { take, nameField, rest }: Kind,
  encryptedBundle: string,
  { importer = root, name = newName(), ...more }: Json & { importer?: Importer; name?: string } = {},
): Promise<Answer> =>
  importer.submit(take, { userId: importer.userId, [nameField]: name, encryptedBundle, ...rest, ...more });

async function bring(
  kind: Kind,
  secret: string,
  { importer = root, ...more }: Json & { importer?: Importer } = {},
): Promise<Answer> {
  return finish(kind, await kind.encrypt(importer, await begin(kind, importer), secret), {
    importer,
    ...more,
  });
}

const importWallet = (
  mnemonic: string,
  accounts: readonly Json[] = [ethereumAccount],
  importer = root,
): Promise<Answer> => bring(walletKind, mnemonic, { accounts, importer });

/** Whatever bytes there are, to the target of an import bundle. */
function encryptBytes(importBundle: string, plainTextBuf: Uint8Array): string {
  const targetKeyBuf = fromHex(dataOf(importBundle)['targetPublic'] as string);
  return formatHpkeBuf(hpkeEncrypt({ plainTextBuf, targetKeyBuf }));
}

interface Envelope {
  readonly version: string;
  readonly data: string;
  readonly dataSignature: string;
  readonly enclaveQuorumPublic: string;
}

const envelopeOf = (bundle: string): Envelope => JSON.parse(bundle) as Envelope;
const dataOf = (bundle: string): Json =>
  JSON.parse(Buffer.from(envelopeOf(bundle).data, 'hex').toString('utf8')) as Json;

/** Exports, and opens what comes with the vendor's library. */
async function take(
  type: string,
  parameters: Json,
  { importer = root, keyFormat }: { importer?: Importer; keyFormat?: 'HEXADECIMAL' | 'SOLANA' } = {},
): Promise<string> {
  const pair = generateP256KeyPair();
  const answer = await importer.submit(type, { ...parameters, targetPublicKey: pair.publicKeyUncompressed });
  return decryptExportBundle({
    exportBundle: textOf(answer, 'exportBundle'),
    embeddedKey: pair.privateKey,
    organizationId: importer.organizationId,
    dangerouslyOverrideSignerPublicKey: importer.signer,
    returnMnemonic: type === 'EXPORT_WALLET',
    ...(keyFormat && { keyFormat }),
  });
}

const exportWallet = (walletId: string, importer = root): Promise<string> =>
  take('EXPORT_WALLET', { walletId }, { importer });

async function walletOf(walletId: string): Promise<Json> {
  return (await root.client.query('get_wallet', { walletId })).body?.['wallet'] as Json;
}

async function privateKeyOf(privateKeyId: string): Promise<Json> {
  return (await root.client.query('get_private_key', { privateKeyId })).body?.['privateKey'] as Json;
}

interface Account extends Json {
  readonly walletAccountId: string;
  readonly address: string;
  readonly path: string;
}

async function accountsOf(walletId: string): Promise<readonly Account[]> {
  const { body } = await root.client.query('list_wallet_accounts', { walletId });
  return body?.['accounts'] as Account[];
}

/** The address of a SLIP-0010 Ed25519 key, all of whose path is hardened, as Solana writes it. */
function solanaAddress(seed: Uint8Array, path: string): string {
  const hmac = (key: Uint8Array, data: Uint8Array): Buffer => createHmac('sha512', key).update(data).digest();
  const node = path
    .split('/')
    .slice(1)
    .map((component) => 0x80000000 + Number.parseInt(component))
    .reduce(
      (parent, index) => {
        const data = Buffer.concat([Uint8Array.of(0), parent.subarray(0, 32), Buffer.alloc(4)]);
        data.writeUInt32BE(index, 33);
        return hmac(parent.subarray(32), data);
      },
      hmac(Buffer.from('ed25519 seed'), seed),
    );
  return base58.encode(ed25519.getPublicKey(node.subarray(0, 32)));
}

const addressesOf = (mnemonic: string, passphrase = ''): string[] => [
  mnemonicToAccount(mnemonic, { passphrase }).address,
  solanaAddress(mnemonicToSeedSync(mnemonic, passphrase), solanaAccount.path),
];

/** Signs a message and says whose signature it is. */
async function signerOf(signWith: string): Promise<string> {
  const payload = hashMessage(newName());
  const answer = await root.client.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', {
    signWith,
    payload,
    encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
    hashFunction: 'HASH_FUNCTION_NO_OP',
  });
  const { r, s, v } = resultOf(answer);
  const signature = serializeSignature({ r: `0x${r}`, s: `0x${s}`, yParity: Number(v) });
  return recoverAddress({ hash: payload, signature });
}

const fails = (work: () => Promise<Answer>, refusal: Refusal): Promise<Answer> =>
  failsIn(service, work, refusal);
const isRefused = (work: () => Promise<Answer>, refusal: Refusal): Promise<void> =>
  isRefusedIn(service, work, refusal);

/** As `fails`, for an import. @returns the answer. */
async function failsToBring(
  kind: Kind,
  secret: string,
  refusal: Refusal,
  more: Json & { importer?: Importer } = {},
): Promise<Answer> {
  const { importer = root } = more;
  const encryptedBundle = await kind.encrypt(importer, await begin(kind, importer), secret);
  return fails(() => finish(kind, encryptedBundle, more), refusal);
}

const doesNotOpen = invalid(
  /^invalid parameters\.encryptedBundle: it opens with none of this user's import bundles for a /,
);

describe('a mnemonic', () => {
  test.each([
    [12, 128],
    [15, 160],
    [18, 192],
    [21, 224],
    [24, 256],
  ] as const)(
    'of %i words comes in, goes out as it came, and has the same addresses elsewhere',
    async (words, bits) => {
      const mnemonic = generateMnemonic(english, bits);
      expect(mnemonic.split(' ')).toHaveLength(words);
      const accounts = [ethereumAccount, solanaAccount];
      const { walletId, addresses } = resultOf(await importWallet(mnemonic, accounts));
      expect(addresses).toEqual(addressesOf(mnemonic));
      expect(await walletOf(walletId)).toMatchObject({ imported: true, exported: false });

      const exported = await exportWallet(walletId);
      expect(exported).toBe(mnemonic);
      expect(await walletOf(walletId)).toMatchObject({ imported: true, exported: true });

      const there = resultOf(await importWallet(exported, accounts, await importerOf(elsewhere)));
      expect(there.addresses).toEqual(addresses);
      // Ids follow from the seed and the organization.
      expect(there.walletId).not.toBe(walletId);
    },
  );

  test('made here goes out, and nothing but an export says that it did', async () => {
    const { walletId, ethereum, solana } = await newWallet(root.client, newName());
    expect(await walletOf(walletId)).toMatchObject({ imported: false, exported: false });
    const mnemonic = await exportWallet(walletId);
    expect(addressesOf(mnemonic)).toEqual([ethereum, solana]);
    expect(await walletOf(walletId)).toMatchObject({ imported: false, exported: true });
  });

  test('may be untidy, and comes back tidy', async () => {
    const mnemonic = newMnemonic();
    const untidy = `\n ${mnemonic.toUpperCase().replaceAll(' ', ' \r\n')}\t`;
    const { walletId, addresses } = resultOf(await importWallet(untidy));
    expect(addresses).toEqual(addressesOf(mnemonic).slice(0, 1));
    expect(await exportWallet(walletId)).toBe(mnemonic);
  });

  test('is exported in English, the language it is in', async () => {
    const { walletId } = await newWallet(root.client, newName());
    const { publicKeyUncompressed: targetPublicKey } = generateP256KeyPair();
    const language = 'MNEMONIC_LANGUAGE_ENGLISH';
    activityOf(await root.submit('EXPORT_WALLET', { walletId, targetPublicKey, language }));
    for (const other of ['MNEMONIC_LANGUAGE_FRENCH', 'MNEMONIC_LANGUAGE_JAPANESE', 'english', '']) {
      await isRefused(
        () => root.submit('EXPORT_WALLET', { walletId, targetPublicKey, language: other }),
        invalid(
          `invalid parameters.language: expected MNEMONIC_LANGUAGE_ENGLISH, got ${JSON.stringify(other)}`,
        ),
      );
    }
  });

  test.each([
    [
      'of eleven words',
      (words: string[]) => words.slice(1).join(' '),
      /expected 12, 15, 18, 21 or 24 words, got 11$/,
    ],
    [
      'with a word of its own',
      (words: string[]) => words.with(4, 'sesamseed').join(' '),
      /word 5 is not in the English word list of BIP-39$/,
    ],
    ['with two words swapped', () => `about ${'abandon '.repeat(11)}`, /the checksum does not match/],
    ['that is empty', () => ' ', /expected 12, 15, 18, 21 or 24 words, got 0$/],
    [
      'that is a passphrase alone',
      () => '\n--PASS--\nsesamseed',
      /expected 12, 15, 18, 21 or 24 words, got 0$/,
    ],
    // Exports write it so; imports cannot tell such a passphrase from a word.
    [
      'with a passphrase on a line of its own',
      (words: string[]) => `${words.join(' ')}\nsesamseed`,
      /expected 12, 15, 18, 21 or 24 words, got 13$/,
    ],
  ])('%s is refused by what is wrong, never by a word', async (_name, spoil, problem) => {
    // None of these words is one that a message has.
    const words = 'legal winner thank year wave sausage worth useful legal winner thank yellow'.split(' ');
    const answer = await failsToBring(
      walletKind,
      spoil(words),
      invalid(/^invalid parameters\.encryptedBundle: /),
    );
    const message = answer.body?.['message'] as string;
    expect(message).toMatch(problem);
    for (const word of [...words, 'sesamseed', 'abandon', 'about']) {
      expect(message).not.toContain(word);
    }
  });

  test.each([
    ['bytes that are no text', Uint8Array.of(0xff, 0xfe, 0x00, 0x80)],
    ['a private key', fromHex('11'.repeat(32))],
    ['nothing', new Uint8Array()],
  ])('%s is none', async (_name, secret) => {
    const encryptedBundle = encryptBytes(await begin(walletKind), secret);
    await fails(
      () => finish(walletKind, encryptedBundle),
      invalid(/^invalid parameters\.encryptedBundle: expected /),
    );
  });
});

describe('a passphrase', () => {
  test('makes the seed of BIP-39, for every published vector, and goes out with the words', async () => {
    const { passphrase } = vectors;
    expect(vectors.english).toHaveLength(24);
    for (const { mnemonic, masterKey } of vectors.english) {
      const { walletId, addresses } = resultOf(await importWallet(`${mnemonic}\n--PASS--\n${passphrase}`));
      const { privateKey } = HDKey.fromExtendedKey(masterKey).derive(ethereumAccount.path);
      expect(addresses).toEqual([privateKeyToAddress(`0x${hex(privateKey ?? new Uint8Array())}`)]);
      expect(await exportWallet(walletId)).toBe(`${mnemonic}\n${passphrase}`);
      expect(await walletOf(walletId)).toMatchObject({ imported: true, exported: true });
    }
  });

  test.each([' ', ' Open Sesame ', 'two\nlines\n', 'a\n--PASS--\nb', 'pässwörd 密码 🗝'])(
    '%j is taken to the letter, and is there for every later account',
    async (passphrase) => {
      const mnemonic = newMnemonic();
      const { walletId, addresses } = resultOf(
        await importWallet(`${mnemonic}\n--PASS--\n${passphrase}`, [ethereumAccount, solanaAccount]),
      );
      expect(addresses).toEqual(addressesOf(mnemonic, passphrase));

      // Keys that were derived before are erased now.
      await service.vault.rpc.lock();
      await service.unlock();
      const accounts = [{ ...ethereumAccount, path: "m/44'/60'/0'/0/7" }];
      const added = resultOf(await root.submit('CREATE_WALLET_ACCOUNTS', { walletId, accounts }));
      const seventh = mnemonicToAccount(mnemonic, { passphrase, addressIndex: 7 }).address;
      expect(added.addresses).toEqual([seventh]);
      expect(await signerOf(seventh)).toBe(seventh);

      // The vendor's library reads the text as ASCII: the bytes are compared.
      const pair = generateP256KeyPair();
      const answer = await root.submit('EXPORT_WALLET', {
        walletId,
        targetPublicKey: pair.publicKeyUncompressed,
      });
      const { encappedPublic, ciphertext } = dataOf(textOf(answer, 'exportBundle'));
      const opened = hpkeDecrypt({
        ciphertextBuf: fromHex(ciphertext as string),
        encappedKeyBuf: fromHex(encappedPublic as string),
        receiverPriv: pair.privateKey,
      });
      expect(Buffer.from(opened).toString('utf8')).toBe(`${mnemonic}\n${passphrase}`);
    },
  );

  test('makes another wallet of the same words', async () => {
    const mnemonic = newMnemonic();
    const imports = [mnemonic, `${mnemonic}\n--PASS--\na`, `${mnemonic}\n--PASS--\nA`];
    const ids: string[] = [];
    for (const secret of imports) ids.push(resultOf(await importWallet(secret)).walletId);
    expect(new Set(ids).size).toBe(3);
    for (const secret of [...imports, `${mnemonic}\n--PASS--\n`]) {
      await failsToBring(walletKind, secret, taken(walletKind.exists));
    }
  });
});

describe('a private key', () => {
  const curves = {
    CURVE_SECP256K1: {
      addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
      newSecret: () => generatePrivateKey().slice(2),
      address: (secret: string) => privateKeyToAddress(`0x${secret}`) as string,
    },
    CURVE_ED25519: {
      addressFormat: 'ADDRESS_FORMAT_SOLANA',
      newSecret: () => hex(ed25519.utils.randomSecretKey()),
      address: (secret: string) => base58.encode(ed25519.getPublicKey(fromHex(secret))),
    },
    CURVE_P256: {
      addressFormat: 'ADDRESS_FORMAT_UNCOMPRESSED',
      newSecret: () => hex(p256.utils.randomSecretKey()),
      address: (secret: string) => hex(p256.getPublicKey(fromHex(secret), false)),
    },
  } as const;

  /** A secret as each key format has it. */
  const written = {
    HEXADECIMAL: (secret: string) => secret,
    SOLANA: (secret: string) =>
      base58.encode(Buffer.concat([fromHex(secret), ed25519.getPublicKey(fromHex(secret))])),
  } as const;

  const cases = (['CURVE_SECP256K1', 'CURVE_ED25519', 'CURVE_P256'] as const).flatMap((curve) =>
    (['HEXADECIMAL', 'SOLANA'] as const).map((keyFormat) => ({ curve, keyFormat })),
  );

  test.each(cases)('of $curve comes in as $keyFormat, goes out, and signs', async ({ curve, keyFormat }) => {
    const { addressFormat, newSecret, address } = curves[curve];
    const secret = newSecret();
    const encryptedBundle = await encryptPrivateKeyToBundle({
      privateKey: written[keyFormat](secret),
      keyFormat,
      importBundle: await begin(privateKeyKind),
      ...bundleCheck(root),
    });
    const more = { curve, addressFormats: [addressFormat, 'ADDRESS_FORMAT_COMPRESSED'] };
    const made = resultOf(await finish(privateKeyKind, encryptedBundle, more));
    const privateKeyId = made['privateKeyId'] as string;
    const shown = await privateKeyOf(privateKeyId);
    expect(shown).toMatchObject({ curve, imported: true, exported: false, privateKeyTags: [] });
    expect(made.addresses).toEqual([
      { format: addressFormat, address: address(secret) },
      { format: 'ADDRESS_FORMAT_COMPRESSED', address: shown['publicKey'] },
    ]);
    expect(shown['addresses']).toEqual(made.addresses);

    expect(await take('EXPORT_PRIVATE_KEY', { privateKeyId })).toBe(secret);
    expect(await take('EXPORT_PRIVATE_KEY', { privateKeyId }, { keyFormat: 'SOLANA' })).toBe(
      written.SOLANA(secret),
    );
    expect(await privateKeyOf(privateKeyId)).toMatchObject({ imported: true, exported: true });

    if (curve === 'CURVE_SECP256K1') {
      expect(await signerOf(privateKeyId)).toBe(address(secret));
      return;
    }
    const answer = await root.client.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', {
      signWith: address(secret),
      payload: 'brought',
      encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
      hashFunction: curve === 'CURVE_P256' ? 'HASH_FUNCTION_SHA256' : 'HASH_FUNCTION_NOT_APPLICABLE',
    });
    const { r, s } = resultOf(answer);
    if (curve === 'CURVE_P256') {
      const publicKey = fromHex(address(secret));
      expect(p256.verify(fromHex(r + s), Buffer.from('brought'), publicKey, { lowS: false })).toBe(true);
      return;
    }
    expect(ed25519.verify(fromHex(r + s), Buffer.from('brought'), base58.decode(address(secret)))).toBe(true);
  });

  test('made here goes out', async () => {
    const key = {
      privateKeyName: newName(),
      curve: 'CURVE_SECP256K1',
      privateKeyTags: [],
      addressFormats: ['ADDRESS_FORMAT_ETHEREUM'],
    };
    const answer = await root.client.submit('create_private_keys', 'CREATE_PRIVATE_KEYS_V2', {
      privateKeys: [key],
    });
    const [made] = resultOf(answer).privateKeys;
    const privateKeyId = made?.privateKeyId ?? '';
    expect(await privateKeyOf(privateKeyId)).toMatchObject({ imported: false, exported: false });
    const secret = await take('EXPORT_PRIVATE_KEY', { privateKeyId });
    expect(privateKeyToAddress(`0x${secret}`)).toBe(made?.addresses[0]?.address);
    expect(await privateKeyOf(privateKeyId)).toMatchObject({ imported: false, exported: true });
    await failsToBring(privateKeyKind, secret, taken(privateKeyKind.exists));
  });

  const order = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141';

  test.each([
    ['CURVE_SECP256K1', 'zero', '00'.repeat(32)],
    ['CURVE_P256', 'zero', '00'.repeat(32)],
    ['CURVE_P256', 'above the order', 'ff'.repeat(32)],
    ['CURVE_SECP256K1', 'the order of the curve', order],
    ['CURVE_SECP256K1', 'more than the order', 'ff'.repeat(32)],
    ['CURVE_SECP256K1', '31 bytes', '11'.repeat(31)],
    ['CURVE_SECP256K1', '33 bytes', '11'.repeat(33)],
    ['CURVE_SECP256K1', 'no bytes', ''],
    ['CURVE_SECP256K1', 'a mnemonic', Buffer.from(`${'abandon '.repeat(11)}about`).toString('hex')],
    ['CURVE_ED25519', '31 bytes', '11'.repeat(31)],
    ['CURVE_ED25519', 'the key with its public half', '11'.repeat(64)],
  ] as const)('of %s is not %s', async (curve, _name, secret) => {
    const encryptedBundle = encryptBytes(await begin(privateKeyKind), fromHex(secret));
    await fails(
      () => finish(privateKeyKind, encryptedBundle, { curve, addressFormats: [] }),
      invalid(`invalid parameters.encryptedBundle: expected a private key of ${curve}, 32 bytes, in it`),
    );
  });

  test('at the edges of the curve is one', async () => {
    for (const secret of [`${'00'.repeat(31)}01`, `${order.slice(0, -1)}0`]) {
      expect(resultOf(await bring(privateKeyKind, secret)).addresses).toEqual([
        { format: 'ADDRESS_FORMAT_ETHEREUM', address: privateKeyToAddress(`0x${secret}`) },
      ]);
    }
  });

  test('may be the same bytes on every curve', async () => {
    const secret = curves.CURVE_ED25519.newSecret().replace(/^./, '0');
    const ids: unknown[] = [];
    for (const curve of Object.keys(curves)) {
      const answer = await bring(privateKeyKind, secret, { curve, addressFormats: [] });
      ids.push(resultOf(answer)['privateKeyId']);
    }
    expect(new Set(ids).size).toBe(3);
  });

  test('takes addresses of its own curve only', async () => {
    await failsToBring(
      privateKeyKind,
      privateKeyKind.newSecret(),
      invalid(/^invalid .*parameters\.addressFormats\[1\].*ADDRESS_FORMAT_SOLANA/),
      { addressFormats: ['ADDRESS_FORMAT_ETHEREUM', 'ADDRESS_FORMAT_SOLANA'] },
    );
  });
});

describe('the key of a wallet account', () => {
  test('is the one that is derived at its path', async () => {
    const mnemonic = newMnemonic();
    const accounts = [ethereumAccount, { ...ethereumAccount, path: "m/44'/60'/0'/0/9" }, solanaAccount];
    const { walletId, addresses } = resultOf(await importWallet(mnemonic, accounts));
    const [first = '', ninth = '', solana = ''] = addresses;
    const hdKey = HDKey.fromMasterSeed(mnemonicToSeedSync(mnemonic));
    for (const [address, path] of [
      [first, "m/44'/60'/0'/0/0"],
      [ninth, "m/44'/60'/0'/0/9"],
    ] as const) {
      const secret = await take('EXPORT_WALLET_ACCOUNT', { address });
      expect(secret).toBe(hex(hdKey.derive(path).privateKey ?? new Uint8Array()));
      expect(privateKeyToAddress(`0x${secret}`)).toBe(address);
    }
    const pair = base58.decode(
      await take('EXPORT_WALLET_ACCOUNT', { address: solana }, { keyFormat: 'SOLANA' }),
    );
    expect(base58.encode(ed25519.getPublicKey(pair.subarray(0, 32)))).toBe(solana);
    expect(base58.encode(pair.subarray(32))).toBe(solana);
    // Of the wallet itself nothing was handed out.
    expect(await walletOf(walletId)).toMatchObject({ exported: false });
  });

  test('can be brought back as a private key, which signs for the same address', async () => {
    const { ethereum } = await newWallet(root.client, newName());
    const secret = await take('EXPORT_WALLET_ACCOUNT', { address: ethereum });
    const privateKeyId = resultOf(await bring(privateKeyKind, secret))['privateKeyId'] as string;
    for (const signWith of [privateKeyId, ethereum]) expect(await signerOf(signWith)).toBe(ethereum);
  });

  test('is of an account that is there', async () => {
    const { publicKeyUncompressed: targetPublicKey } = generateP256KeyPair();
    const address = '0x000000000000000000000000000000000000dEaD';
    await fails(
      () => root.submit('EXPORT_WALLET_ACCOUNT', { address, targetPublicKey }),
      missing(`Could not find wallet account with address ${address}`),
    );
  });
});

describe('an envelope', () => {
  const exports = async (): Promise<readonly [string, Json][]> => {
    const { walletId, ethereum } = await newWallet(root.client, newName());
    const made = await bring(privateKeyKind, privateKeyKind.newSecret());
    return [
      ['EXPORT_WALLET', { walletId }],
      ['EXPORT_WALLET_ACCOUNT', { address: ethereum }],
      ['EXPORT_PRIVATE_KEY', { privateKeyId: resultOf(made)['privateKeyId'] }],
    ];
  };

  function checkEnvelope(bundle: string): void {
    const envelope = envelopeOf(bundle);
    expect(envelope).toEqual({
      version: 'v1.0.0',
      data: expect.stringMatching(/^([0-9a-f]{2})+$/) as string,
      dataSignature: expect.stringMatching(/^30([0-9a-f]{2})+$/) as string,
      enclaveQuorumPublic: root.signer,
    });
    const point = fromHex(envelope.enclaveQuorumPublic);
    expect(point).toHaveLength(65);
    const key = createPublicKey({
      format: 'jwk',
      key: {
        kty: 'EC',
        crv: 'P-256',
        x: Buffer.from(point.subarray(1, 33)).toString('base64url'),
        y: Buffer.from(point.subarray(33)).toString('base64url'),
      },
    });
    const signature = fromHex(envelope.dataSignature);
    const data = fromHex(envelope.data);
    expect(verify('sha256', data, key, signature)).toBe(true);
    expect(verify('sha256', data.with(-2, (data.at(-2) ?? 0) ^ 1), key, signature)).toBe(false);
  }

  test.each(kinds)('of a $noun to come names its target, its organization and its user', async (kind) => {
    const bundles = [await begin(kind), await begin(kind)];
    for (const bundle of bundles) {
      checkEnvelope(bundle);
      expect(dataOf(bundle)).toEqual({
        targetPublic: expect.stringMatching(/^04[0-9a-f]{128}$/) as string,
        organizationId: service.organizationId,
        userId: service.rootUserId,
      });
    }
    expect(new Set(bundles.map((bundle) => dataOf(bundle)['targetPublic'])).size).toBe(2);
  });

  test('of a caller names the key that stamped the request, and its user', async () => {
    const { client, userId } = await service.newUser('Stated');
    const { body } = await client.query('get_signed_whoami');
    const statement = String(body?.['statement']);
    checkEnvelope(statement);
    expect(dataOf(statement)).toEqual({
      organizationId: service.organizationId,
      userId,
      publicKey: client.key.publicKey,
    });
  });

  test('of an export holds an encrypted secret and its organization, and is another each time', async () => {
    const { publicKeyUncompressed: targetPublicKey } = generateP256KeyPair();
    for (const [type, parameters] of await exports()) {
      const seen = new Set<unknown>();
      for (let round = 0; round < 2; round++) {
        const answer = await root.submit(type, { ...parameters, targetPublicKey });
        const bundle = textOf(answer, 'exportBundle');
        checkEnvelope(bundle);
        const data = dataOf(bundle);
        expect(data).toEqual({
          encappedPublic: expect.stringMatching(/^04[0-9a-f]{128}$/) as string,
          ciphertext: expect.stringMatching(/^([0-9a-f]{2}){48,}$/) as string,
          organizationId: service.organizationId,
        });
        seen.add(data['encappedPublic']).add(data['ciphertext']);
      }
      expect(seen.size).toBe(4);
    }
  });

  test('says what was exported, by the name it was asked for', async () => {
    const { publicKeyUncompressed: targetPublicKey } = generateP256KeyPair();
    for (const [type, parameters] of await exports()) {
      const answer = await root.submit(type, { ...parameters, targetPublicKey });
      expect(resultOf(answer)).toEqual({ ...parameters, exportBundle: expect.any(String) as string });
    }
  });

  test('is one that the vendor’s library takes from this vault’s signer alone', async () => {
    const importBundle = await begin(walletKind);
    const pinned = encryptWalletToBundle({
      mnemonic: newMnemonic(),
      importBundle,
      userId: root.userId,
      organizationId: root.organizationId,
    });
    await expect(pinned).rejects.toThrow(/expected signer key/);
    const { organizationId: another } = elsewhere;
    await expect(walletKind.encrypt({ ...root, organizationId: another }, importBundle, 'x')).rejects.toThrow(
      /organization id does not match/,
    );
    await expect(walletKind.encrypt({ ...root, userId: another }, importBundle, 'x')).rejects.toThrow(
      /user id does not match/,
    );
    const signer = (await importerOf(elsewhere)).signer;
    expect(signer).not.toBe(root.signer);
    await expect(walletKind.encrypt({ ...root, signer }, importBundle, 'x')).rejects.toThrow(/signer key/);
  });

  test('is encrypted to a compressed key as to an uncompressed one', async () => {
    const pair = generateP256KeyPair();
    for (const [type, parameters] of await exports()) {
      for (const targetPublicKey of [pair.publicKey, pair.publicKey.toUpperCase()]) {
        const answer = await root.submit(type, { ...parameters, targetPublicKey });
        const opened = decryptExportBundle({
          exportBundle: textOf(answer, 'exportBundle'),
          embeddedKey: pair.privateKey,
          organizationId: root.organizationId,
          dangerouslyOverrideSignerPublicKey: root.signer,
          returnMnemonic: type === 'EXPORT_WALLET',
        });
        expect(await opened).toMatch(type === 'EXPORT_WALLET' ? /^([a-z]+ ){11}[a-z]+$/ : /^[0-9a-f]{64}$/);
      }
    }
  });

  test.each([
    ['is no point of the curve', `04${'11'.repeat(64)}`],
    ['is no point of the curve, compressed', `02${'ff'.repeat(32)}`],
  ])('is not made for a target that %s, and nothing counts as exported', async (_name, targetPublicKey) => {
    for (const [type, parameters] of await exports()) {
      await fails(
        () => root.submit(type, { ...parameters, targetPublicKey }),
        invalid(/^invalid parameters\.targetPublicKey: /),
      );
    }
  });

  test('is not created for an unknown key', async () => {
    const { publicKey, publicKeyUncompressed } = generateP256KeyPair();
    for (const [type, parameters] of await exports()) {
      for (const targetPublicKey of [
        '',
        'x',
        publicKey.slice(2),
        publicKeyUncompressed.slice(0, -2),
        `05${publicKeyUncompressed.slice(2)}`,
      ]) {
        await isRefused(
          () => root.submit(type, { ...parameters, targetPublicKey }),
          invalid(/^invalid parameters\.targetPublicKey: expected a P-256 public key in hex: .*, got "/),
        );
      }
    }
  });
});

describe.each(kinds)('an import of a $noun', (kind) => {
  test('can be taken once: the same secret is known, the same bundle is spent', async () => {
    const secret = kind.newSecret();
    const encryptedBundle = await kind.encrypt(root, await begin(kind), secret);
    activityOf(await finish(kind, encryptedBundle));
    await fails(() => finish(kind, encryptedBundle), doesNotOpen);
    await failsToBring(kind, secret, taken(kind.exists));
  });

  test('answers the same body with the activity that it made', async () => {
    const encryptedBundle = await kind.encrypt(root, await begin(kind), kind.newSecret());
    const body = root.client.submitBody(kind.take, {
      userId: root.userId,
      [kind.nameField]: newName(),
      encryptedBundle,
      ...kind.rest,
    });
    const path = `submit/${kind.take.toLowerCase()}`;
    const answers = await Promise.all([root.client.post(path, body), root.client.post(path, body)]);
    const again = await root.client.post(path, body);
    expect(activityOf(again).status).toBe('ACTIVITY_STATUS_COMPLETED');
    expect(answers.map(({ text }) => text)).toEqual([again.text, again.text]);
  });

  test('is taken by one of two that come at once', async () => {
    const encryptedBundle = await kind.encrypt(root, await begin(kind), kind.newSecret());
    const answers = await Promise.all([finish(kind, encryptedBundle), finish(kind, encryptedBundle)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    expect(answers.find(({ status }) => status === 400)?.body).toMatchObject({
      code: 3,
      message: expect.stringMatching(doesNotOpen.message) as string,
    });
    const secret = kind.newSecret();
    const both = await Promise.all([bring(kind, secret), bring(kind, secret)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  test('that fails is kept as failed and can be tried again with the same bundle', async () => {
    const name = newName();
    activityOf(await bring(kind, kind.newSecret(), { name }));
    const encryptedBundle = await kind.encrypt(root, await begin(kind), kind.newSecret());
    await fails(
      () => finish(kind, encryptedBundle, { name }),
      invalid(
        `invalid parameters.${kind.nameField}: ${kind.noun} name must be unique, ${JSON.stringify(name)} is taken`,
      ),
    );
    activityOf(await finish(kind, encryptedBundle));
  });

  test('does not open when a byte of it is changed, and does when it is not', async () => {
    const encryptedBundle = await kind.encrypt(root, await begin(kind), kind.newSecret());
    const { encappedPublic, ciphertext } = JSON.parse(encryptedBundle) as {
      encappedPublic: string;
      ciphertext: string;
    };
    const flip = (text: string, at: number, bit = 1): string => {
      const bytes = fromHex(text);
      const index = at < 0 ? bytes.length + at : at;
      return hex(bytes.with(index, (bytes[index] ?? 0) ^ bit));
    };
    const changed: [string, string][] = [
      ...[0, 7, -17, -16, -1].map((at): [string, string] => [encappedPublic, flip(ciphertext, at)]),
      [encappedPublic, flip(ciphertext, 3, 0x80)],
      [encappedPublic, ciphertext.slice(0, -2)],
      [encappedPublic, ciphertext.slice(2)],
      [encappedPublic, `${ciphertext}00`],
      // No points of the curve; the last is one.
      [flip(encappedPublic, 1), ciphertext],
      [flip(encappedPublic, -1), ciphertext],
      [`04${'00'.repeat(64)}`, ciphertext],
      [generateP256KeyPair().publicKeyUncompressed, ciphertext],
    ];
    for (const [encapped, text] of changed) {
      const tampered = JSON.stringify({ encappedPublic: encapped, ciphertext: text });
      await fails(() => finish(kind, tampered), doesNotOpen);
    }
    // Hex is hex in either case, and what else the text says does not matter.
    const upper = {
      ciphertext: ciphertext.toUpperCase(),
      encappedPublic: encappedPublic.toUpperCase(),
      more: 1,
    };
    activityOf(await finish(kind, JSON.stringify(upper, null, 2)));
  });

  test('does not open with a target that was never handed out', async () => {
    const targetKeyBuf = fromHex(generateP256KeyPair().publicKeyUncompressed);
    const bundle = formatHpkeBuf(hpkeEncrypt({ plainTextBuf: Buffer.from(kind.newSecret()), targetKeyBuf }));
    await fails(() => finish(kind, bundle), doesNotOpen);
  });

  test('does not open with a target of the other kind, unless it is a wallet', async () => {
    const other = kind === walletKind ? privateKeyKind : walletKind;
    const encryptedBundle = await kind.encrypt(root, await begin(other), kind.newSecret());
    // The specification has one operation that gives a target, and imports wallets.
    if (kind === walletKind) activityOf(await finish(kind, encryptedBundle));
    else await fails(() => finish(kind, encryptedBundle), doesNotOpen);
  });

  test('does not open with the target of another user, who still can use it', async () => {
    const ann = await newRootUser(newName());
    const encryptedBundle = await kind.encrypt(ann, await begin(kind, ann), kind.newSecret());
    await fails(() => finish(kind, encryptedBundle), doesNotOpen);
    activityOf(await finish(kind, encryptedBundle, { importer: ann }));
  });

  test('is for the caller alone', async () => {
    const ann = await newRootUser(newName());
    const posing = { ...ann, userId: root.userId };
    const refusal: Refusal = {
      status: 403,
      code: 7,
      message: `request not authorized: parameters.userId must be the caller's own (${ann.userId}), got ${root.userId}`,
      turnkeyErrorCode: 'REQUEST_NOT_AUTHORIZED',
    };
    await isRefused(() => posing.submit(kind.init, { userId: root.userId }), refusal);
    const encryptedBundle = await kind.encrypt(root, await begin(kind), kind.newSecret());
    await isRefused(() => finish(kind, encryptedBundle, { importer: posing }), refusal);
    activityOf(await finish(kind, encryptedBundle));
  });

  test('is not for a user whom no policy lets', async () => {
    const { client, userId } = await service.newUser(newName());
    const nobody = await importerOf(service, client, userId);
    const refusal = { status: 403, code: 7, message: /sufficient permissions/ };
    await isRefused(() => nobody.submit(kind.init, { userId }), refusal);
    const encryptedBundle = await kind.encrypt(root, await begin(kind), kind.newSecret());
    await isRefused(() => finish(kind, encryptedBundle, { importer: nobody }), refusal);
  });

  test.each([
    ['no JSON', 'x'],
    ['nothing', ''],
    ['no object', '"04"'],
    ['no ciphertext', JSON.stringify({ encappedPublic: `04${'11'.repeat(64)}` })],
    ['no key', JSON.stringify({ ciphertext: '11'.repeat(48) })],
    [
      'a compressed key',
      JSON.stringify({ encappedPublic: `02${'11'.repeat(32)}`, ciphertext: '11'.repeat(48) }),
    ],
    [
      'a ciphertext that is no hex',
      JSON.stringify({ encappedPublic: `04${'11'.repeat(64)}`, ciphertext: 'xx'.repeat(48) }),
    ],
    ['half a byte', JSON.stringify({ encappedPublic: `04${'11'.repeat(64)}`, ciphertext: '1'.repeat(97) })],
    [
      'less than a tag',
      JSON.stringify({ encappedPublic: `04${'11'.repeat(64)}`, ciphertext: '11'.repeat(15) }),
    ],
    ['too much', JSON.stringify({ encappedPublic: `04${'11'.repeat(64)}`, ciphertext: '11'.repeat(20_000) })],
  ])('is not %s', async (_name, encryptedBundle) => {
    await isRefused(
      () => finish(kind, encryptedBundle),
      invalid(/^invalid parameters\.encryptedBundle: expected /),
    );
  });

  test('that is not encrypted is refused without a word of it', async () => {
    const { ethereum } = await newWallet(root.client, newName());
    const secret = await take('EXPORT_WALLET_ACCOUNT', { address: ethereum });
    for (const text of [newMnemonic(), secret, `0x${secret}`, newMnemonic().padEnd(30_000)]) {
      await isRefused(
        () => finish(kind, text),
        invalid(
          'invalid parameters.encryptedBundle: expected JSON text of { encappedPublic, ciphertext }, both hex, ' +
            `the first an uncompressed P-256 public key, of a secret of at most 4080 bytes, got a text of ${String(text.length)} characters`,
        ),
      );
    }
  });

  test('needs the vault unlocked, and is there when it is', async () => {
    const locked: Refusal = { status: 400, code: 9, message: /locked/, turnkeyErrorCode: 'VAULT_LOCKED' };
    const encryptedBundle = await kind.encrypt(root, await begin(kind), kind.newSecret());
    await service.vault.rpc.lock();
    try {
      await isRefused(() => root.submit(kind.init, { userId: root.userId }), locked);
      await isRefused(() => finish(kind, encryptedBundle), locked);
    } finally {
      await service.unlock();
    }
    activityOf(await finish(kind, encryptedBundle));
  });

  test('may have ten targets open: the oldest goes, of this kind and this user', async () => {
    const ann = await newRootUser(newName());
    const other = kind === walletKind ? privateKeyKind : walletKind;
    const others = await begin(other, ann);
    const roots = await begin(kind);
    const bundles: string[] = [];
    for (let count = 0; count < 12; count++) bundles.push(await begin(kind, ann));
    const outcomes: number[] = [];
    for (const bundle of bundles) {
      const encryptedBundle = await kind.encrypt(ann, bundle, kind.newSecret());
      outcomes.push((await finish(kind, encryptedBundle, { importer: ann })).status);
    }
    expect(outcomes).toEqual([400, 400, ...Array<number>(10).fill(200)]);
    activityOf(await finish(other, await other.encrypt(ann, others, other.newSecret()), { importer: ann }));
    activityOf(await finish(kind, await kind.encrypt(root, roots, kind.newSecret())));
  });

  test('has an hour', async () => {
    await using aging = await startTestVault();
    const { clock } = aging;
    const owner = await importerOf(aging);
    const importer: Importer = {
      ...owner,
      // Live by the vault's clock, wherever that is.
      submit: (type, parameters) =>
        owner.client.submit(type.toLowerCase(), type, parameters, { timestampMs: String(clock.now()) }),
    };
    const [early, late] = [await begin(kind, importer), await begin(kind, importer)];
    clock.advance(hour - 10_000);
    activityOf(await finish(kind, await kind.encrypt(importer, early, kind.newSecret()), { importer }));
    clock.advance(10_000);
    const answer = await finish(kind, await kind.encrypt(importer, late, kind.newSecret()), { importer });
    expect(answer.status).toBe(400);
    expect(answer.body?.['message']).toMatch(doesNotOpen.message);
    // The next one removes those that are too old.
    const targets = (): unknown[] =>
      aging.vault.connection.all('SELECT created_at AS at FROM import_targets');
    expect(targets()).toHaveLength(1);
    activityOf(
      await finish(kind, await kind.encrypt(importer, await begin(kind, importer), kind.newSecret()), {
        importer,
      }),
    );
    expect(targets()).toHaveLength(0);
  });

  test('goes with its user', async () => {
    const ann = await newRootUser(newName());
    await begin(kind, ann);
    const targets = (): unknown[] =>
      service.vault.connection.all('SELECT id FROM import_targets WHERE user_id = ?', ann.userId);
    expect(targets()).toHaveLength(1);
    service.vault.connection.run('UPDATE users SET root = 0 WHERE id = ?', ann.userId);
    activityOf(await root.submit('DELETE_USERS', { userIds: [ann.userId] }));
    expect(targets()).toHaveLength(0);
  });
});

test('an import of a wallet names the account that does not fit', async () => {
  const accounts = [ethereumAccount, { ...solanaAccount, path: "m/44'/501'/0'/0" }];
  await failsToBring(walletKind, newMnemonic(), invalid(/parameters\.accounts\[1\]\.path/), { accounts });
});

// The class: one who may import brings a key that they have too, under a good name, and asks an approver to pay to it.
test('a payment to an imported key says that it is one, and a payment to a key made here does not', async () => {
  const bitcoin = {
    ...ethereumAccount,
    path: "m/84'/1'/0'/0/0",
    addressFormat: 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH',
  };
  const accounts = [ethereumAccount, solanaAccount, bitcoin];
  const payment = (to: string) =>
    serializeTransaction({ type: 'eip1559', chainId: 1, to: to as `0x${string}`, value: 1n });
  const titles = async (unsignedTransaction: string, type: string, signWith?: string) => {
    const { body = {} } = await root.client.query('describe_payload', {
      unsignedTransaction,
      type: `TRANSACTION_TYPE_${type}`,
      signWith,
    });
    const { title, parts } = body['description'] as {
      readonly title: string;
      readonly parts: readonly { readonly title: string }[];
    };
    return [title, ...parts.map((part) => part.title)].join('\n');
  };
  for (const mark of ['imported ', '']) {
    const walletName = newName();
    const made =
      mark === ''
        ? await root.submit('CREATE_WALLET', { walletName, accounts })
        : await bring(walletKind, newMnemonic(), { name: walletName, accounts });
    const [ethereum = '', , segwit = ''] = resultOf(made).addresses;
    expect(await titles(payment(ethereum).slice(2), 'ETHEREUM')).toContain(
      `to your ${mark}${walletName} (${ethereum})`,
    );
    const psbt = fundedPsbt(segwit).toHex();
    const ofBitcoin = await titles(psbt, 'BITCOIN', segwit);
    expect(ofBitcoin).toContain(`back to your ${mark}${walletName}, ${segwit}`);
    expect(ofBitcoin).toContain(`your own ${mark === '' ? '' : 'and imported '}addresses`);
  }
  const name = newName();
  const { addresses } = resultOf(
    await bring(privateKeyKind, privateKeyKind.newSecret(), { name }),
  ) as unknown as { addresses: readonly { readonly address: string }[] };
  const address = addresses[0]?.address ?? '';
  expect(await titles(payment(address).slice(2), 'ETHEREUM')).toContain(
    `to your imported ${name} (${address})`,
  );
});

test('what goes to a key that the sender brought has left, so a budget of Bitcoin counts it', async () => {
  await using vault = await startTestVault();
  const { client, userId } = await vault.newUser(newName());
  const importer = await importerOf(vault, client, userId);
  const bitcoin = {
    ...ethereumAccount,
    path: "m/84'/1'/0'/0/0",
    addressFormat: 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH',
  };
  const second = { ...bitcoin, path: "m/84'/1'/0'/1/0" };
  const made = await vault.root.submit('create_wallet', 'CREATE_WALLET', {
    walletName: newName(),
    accounts: [bitcoin, second],
  });
  const [paying = '', change = ''] = resultOf(made).addresses;
  const conditions = [
    "activity.action == 'IMPORT'",
    "RollingSum(bitcoin.tx.outflow, '24h', signing_key.public_key) <= 5000",
  ];
  for (const condition of conditions) {
    const policy = { policyName: newName(), effect: 'EFFECT_ALLOW', condition, notes: '' };
    const consensus = `approvers.any(user, user.id == '${userId}')`;
    resultOf(await vault.root.submit('create_policy', 'CREATE_POLICY_V3', { ...policy, consensus }));
  }
  const [brought = ''] = resultOf(await importWallet(newMnemonic(), [bitcoin], importer)).addresses;
  const pay = (receiver: string) =>
    client.submit('sign_transaction', 'SIGN_TRANSACTION_V2', {
      signWith: paying,
      unsignedTransaction: fundedPsbt(paying, undefined, receiver).toHex(),
      type: 'TRANSACTION_TYPE_BITCOIN',
    });
  expect((await pay(brought)).status).toBe(403);
  // Of change the fee has left, a thousand each time.
  for (const receiver of [paying, change]) activityOf(await pay(receiver));
});

test('a wallet made here is known when it comes back, under its own id', async () => {
  const { walletId } = await newWallet(root.client, newName());
  const mnemonic = await exportWallet(walletId);
  const message = `seed for wallet ${walletId} already imported in this organization`;
  await failsToBring(walletKind, mnemonic, taken(message));
});

/** A resource that is deleted by ids, and how to export it. */
interface Deletable {
  readonly noun: string;
  readonly type: string;
  readonly idsField: string;
  readonly make: () => Promise<{ readonly id: string; readonly signWith: readonly string[] }>;
  readonly markExported: (id: string, signWith: string) => Promise<unknown>;
}

const deletables: readonly Deletable[] = [
  {
    noun: 'wallet',
    type: 'DELETE_WALLETS',
    idsField: 'walletIds',
    make: async () => {
      const { walletId, ethereum } = await newWallet(root.client, newName());
      return { id: walletId, signWith: [ethereum] };
    },
    markExported: (walletId) => exportWallet(walletId),
  },
  {
    noun: 'wallet account',
    type: 'DELETE_WALLET_ACCOUNTS',
    idsField: 'walletAccountIds',
    make: async () => {
      const { walletId, ethereum } = await newWallet(root.client, newName());
      const [account] = await accountsOf(walletId);
      return { id: account?.walletAccountId ?? '', signWith: [ethereum] };
    },
    markExported: (_id, address) => take('EXPORT_WALLET_ACCOUNT', { address }),
  },
  {
    noun: 'private key',
    type: 'DELETE_PRIVATE_KEYS',
    idsField: 'privateKeyIds',
    make: async () => {
      const { addresses, ...made } = resultOf(await bring(privateKeyKind, privateKeyKind.newSecret()));
      const id = made['privateKeyId'] as string;
      const [address] = addresses as unknown as { address: string }[];
      return { id, signWith: [id, address?.address ?? ''] };
    },
    markExported: (privateKeyId) => take('EXPORT_PRIVATE_KEY', { privateKeyId }),
  },
];

describe.each(deletables)('a $noun', ({ noun, type, idsField, make, markExported }) => {
  const remove = (ids: readonly string[], more: Json = {}): Promise<Answer> =>
    root.submit(type, { [idsField]: ids, ...more });

  const gone = async (signWith: readonly string[]): Promise<void> => {
    for (const name of signWith) {
      const parameters = {
        signWith: name,
        payload: newName(),
        encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
        hashFunction: 'HASH_FUNCTION_KECCAK256',
      };
      await fails(
        () => root.client.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', parameters),
        missing('Could not find any resource to sign with.'),
      );
    }
  };

  const notExported = (id: string): Refusal => ({
    status: 400,
    code: 3,
    message: `${noun} has not been exported: ${id} would be lost for good; export it first, or set parameters.deleteWithoutExport`,
    turnkeyErrorCode: 'WALLET_ACCOUNT_NOT_EXPORTED',
  });

  test('that was exported can be deleted, and then does not sign', async () => {
    const { id, signWith } = await make();
    // Signed with before, so that a key which stays in memory would be found out.
    for (const name of signWith) await signerOf(name);
    await markExported(id, signWith[0] ?? '');
    expect(resultOf(await remove([id]))).toEqual({ [idsField]: [id] });
    await gone(signWith);
    await fails(() => remove([id]), missing(`unable to find ${noun} ${id}`));
  });

  test('that was not is deleted only when it is asked for', async () => {
    const { id, signWith } = await make();
    await fails(() => remove([id]), notExported(id));
    await fails(() => remove([id], { deleteWithoutExport: false }), notExported(id));
    for (const name of signWith) await signerOf(name);
    expect(resultOf(await remove([id], { deleteWithoutExport: true }))).toEqual({ [idsField]: [id] });
    await gone(signWith);
  });

  test('stays when another of the same request cannot go', async () => {
    const [first, second] = [await make(), await make()];
    await markExported(first.id, first.signWith[0] ?? '');
    await fails(() => remove([first.id, second.id]), notExported(second.id));
    const nobody = '00000000-0000-4000-8000-000000000000';
    await fails(() => remove([first.id, nobody]), missing(`unable to find ${noun} ${nobody}`));
    await fails(
      () => remove([first.id, first.id]),
      invalid(`invalid parameters.${idsField}: ${JSON.stringify(first.id)} is given twice`),
    );
    for (const name of first.signWith) await signerOf(name);
    await isRefused(
      () => remove([]),
      invalid(`invalid parameters.${idsField}: expected at least 1 element, got []`),
    );
    await isRefused(
      () => remove(['x']),
      invalid(`invalid parameters.${idsField}[0]: expected a UUID, got "x"`),
    );
    const all = [first.id, second.id];
    expect(resultOf(await remove(all, { deleteWithoutExport: true }))).toEqual({ [idsField]: all });
    await gone([...first.signWith, ...second.signWith]);
  });

  test('is not deleted by a user whom no policy lets', async () => {
    const { id } = await make();
    const { client } = await service.newUser(newName());
    await isRefused(
      () => client.submit(type.toLowerCase(), type, { [idsField]: [id], deleteWithoutExport: true }),
      { status: 403, code: 7, message: /sufficient permissions/ },
    );
  });
});

describe('after a deletion', () => {
  test('nothing of a wallet is left, and it can come back under the same id and name', async () => {
    const name = newName();
    const { walletId, ethereum, solana } = await newWallet(root.client, name);
    const kept = await newWallet(root.client, newName());
    const mnemonic = await exportWallet(walletId);
    activityOf(await root.submit('DELETE_WALLETS', { walletIds: [walletId] }));

    expect((await root.client.query('get_wallet', { walletId })).status).toBe(404);
    expect((await root.client.query('list_wallet_accounts', { walletId })).status).toBe(404);
    const rows = (id: string): unknown[] =>
      service.vault.connection.all('SELECT id FROM wallet_accounts WHERE wallet_id = ?', id);
    expect(rows(walletId)).toEqual([]);
    expect(rows(kept.walletId)).toHaveLength(2);
    const { body } = await root.client.query('list_wallets');
    const ids = (body as { wallets: Json[] }).wallets.map((wallet) => wallet['walletId']);
    expect(ids).toContain(kept.walletId);
    expect(ids).not.toContain(walletId);

    const back = resultOf(
      await bring(walletKind, mnemonic, { name, accounts: [ethereumAccount, solanaAccount] }),
    );
    expect(back).toEqual({ walletId, addresses: [ethereum, solana] });
    expect(await walletOf(walletId)).toMatchObject({ imported: true, exported: false });
    expect(await signerOf(ethereum)).toBe(ethereum);
  });

  test('nothing of a private key is left, and it can come back under the same id and name', async () => {
    const name = newName();
    const secret = privateKeyKind.newSecret();
    const made = resultOf(await bring(privateKeyKind, secret, { name }));
    const privateKeyId = made['privateKeyId'] as string;
    activityOf(
      await root.submit('DELETE_PRIVATE_KEYS', { privateKeyIds: [privateKeyId], deleteWithoutExport: true }),
    );
    expect((await root.client.query('get_private_key', { privateKeyId })).status).toBe(404);
    const { body } = await root.client.query('list_private_keys');
    expect((body as { privateKeys: Json[] }).privateKeys.map((key) => key['privateKeyId'])).not.toContain(
      privateKeyId,
    );
    const addresses = 'SELECT 1 FROM private_key_addresses WHERE private_key_id = ?';
    expect(service.vault.connection.all(addresses, privateKeyId)).toEqual([]);
    expect(resultOf(await bring(privateKeyKind, secret, { name }))).toEqual(made);
  });

  test('the other accounts of a wallet are as they were, and the path is free again', async () => {
    const { walletId, ethereum, solana } = await newWallet(root.client, newName());
    const accounts = await accountsOf(walletId);
    const [first, second] = accounts.map(({ walletAccountId }) => walletAccountId);
    // The key of one account is out, and that of the other is not.
    await take('EXPORT_WALLET_ACCOUNT', { address: ethereum });
    const both = { walletAccountIds: [first, second] };
    await fails(() => root.submit('DELETE_WALLET_ACCOUNTS', both), {
      ...invalid(new RegExp(`^wallet account has not been exported: ${second ?? ''} `)),
      turnkeyErrorCode: 'WALLET_ACCOUNT_NOT_EXPORTED',
    });
    activityOf(await root.submit('DELETE_WALLET_ACCOUNTS', { walletAccountIds: [first] }));
    expect(await accountsOf(walletId)).toEqual(accounts.slice(1));
    expect((await root.client.query('get_wallet_account', { walletId, address: ethereum })).status).toBe(404);

    const added = resultOf(
      await root.submit('CREATE_WALLET_ACCOUNTS', { walletId, accounts: [ethereumAccount] }),
    );
    expect(added.addresses).toEqual([ethereum]);
    const [left, again] = await accountsOf(walletId);
    expect(left?.address).toBe(solana);
    expect(again?.walletAccountId).not.toBe(first);
    // It is a new account: that the old one was exported does not count.
    await fails(
      () => root.submit('DELETE_WALLET_ACCOUNTS', { walletAccountIds: [again?.walletAccountId] }),
      invalid(/^wallet account has not been exported: /),
    );
  });

  test('the words give all keys: the accounts of an exported wallet can be deleted', async () => {
    const { walletId } = await newWallet(root.client, newName());
    const walletAccountIds = (await accountsOf(walletId)).map(({ walletAccountId }) => walletAccountId);
    await exportWallet(walletId);
    expect(resultOf(await root.submit('DELETE_WALLET_ACCOUNTS', { walletAccountIds }))).toEqual({
      walletAccountIds,
    });
    expect(await accountsOf(walletId)).toEqual([]);
    expect(await walletOf(walletId)).toMatchObject({ walletId });
  });
});

test('exports need the vault unlocked, and nothing counts as exported until then', async () => {
  const { walletId, ethereum } = await newWallet(root.client, newName());
  const made = resultOf(await bring(privateKeyKind, privateKeyKind.newSecret()));
  const { publicKeyUncompressed: targetPublicKey } = generateP256KeyPair();
  await service.vault.rpc.lock();
  try {
    for (const [type, parameters] of [
      ['EXPORT_WALLET', { walletId }],
      ['EXPORT_WALLET_ACCOUNT', { address: ethereum }],
      ['EXPORT_PRIVATE_KEY', { privateKeyId: made['privateKeyId'] }],
    ] as const) {
      await isRefused(() => root.submit(type, { ...parameters, targetPublicKey }), {
        status: 400,
        code: 9,
        message: /locked/,
        turnkeyErrorCode: 'VAULT_LOCKED',
      });
    }
  } finally {
    await service.unlock();
  }
});

test('an export is not for a user whom no policy lets, and is of what is there', async () => {
  const { client } = await service.newUser(newName());
  const { walletId } = await newWallet(root.client, newName());
  const { publicKeyUncompressed: targetPublicKey } = generateP256KeyPair();
  await isRefused(() => client.submit('export_wallet', 'EXPORT_WALLET', { walletId, targetPublicKey }), {
    status: 403,
    code: 7,
    message: /sufficient permissions/,
  });
  const nobody = '00000000-0000-4000-8000-000000000000';
  await fails(
    () => root.submit('EXPORT_WALLET', { walletId: nobody, targetPublicKey }),
    missing(`unable to find wallet ${nobody}`),
  );
  await fails(
    () => root.submit('EXPORT_PRIVATE_KEY', { privateKeyId: nobody, targetPublicKey }),
    missing(`unable to find private key ${nobody}`),
  );
});

test('no secret is in an answer, in the log or anywhere on disk', async () => {
  await using vault = await startTestVault();
  const importer = await importerOf(vault);
  const answers: string[] = [];
  const recording: Importer = {
    ...importer,
    submit: async (type, parameters) => {
      const answer = await importer.submit(type, parameters);
      answers.push(answer.text);
      return answer;
    },
  };
  const mnemonic = newMnemonic();
  const passphrase = 'a passphrase of these tests';
  const secret = privateKeyKind.newSecret();
  const wrongKey = 'c0'.repeat(33);
  const visible = 'A name that is meant to be seen';

  const wallet = await bring(walletKind, `${mnemonic}\n--PASS--\n${passphrase}`, {
    importer: recording,
    name: visible,
  });
  const { walletId, addresses } = resultOf(wallet);
  const key = resultOf(await bring(privateKeyKind, secret, { importer: recording }));
  for (const [kind, spoiled] of [
    [walletKind, `${mnemonic} sesamseed`],
    [walletKind, mnemonic.replace(/\w+$/, 'sesamseed')],
    [privateKeyKind, wrongKey],
  ] as const) {
    expect((await bring(kind, spoiled, { importer: recording })).status).toBe(400);
  }
  const account = await take('EXPORT_WALLET_ACCOUNT', { address: addresses[0] }, { importer: recording });
  expect(await exportWallet(walletId, recording)).toBe(`${mnemonic}\n${passphrase}`);
  expect(
    await take('EXPORT_PRIVATE_KEY', { privateKeyId: key['privateKeyId'] }, { importer: recording }),
  ).toBe(secret);
  const log = await vault.root.query('list_activities', { paginationOptions: { limit: '100' } });
  answers.push(log.text);

  const seed = mnemonicToSeedSync(mnemonic, passphrase);
  const secrets = [
    Buffer.from(mnemonic),
    Buffer.from(mnemonic.split(' ').slice(3, 6).join(' ')),
    Buffer.from(passphrase),
    Buffer.from('sesamseed'),
    seed,
    ...[secret, wrongKey, account].map((text) => Buffer.from(text, 'hex')),
  ];
  const needles = secrets.flatMap((bytes) => [
    bytes,
    Buffer.from(bytes.toString('hex')),
    Buffer.from(bytes.toString('hex').toUpperCase()),
    Buffer.from(bytes.toString('base64').replace(/=+$/, '')),
    Buffer.from(bytes.toString('base64url')),
  ]);
  // The database, its log of changes, and the files beside them.
  const files = readdirSync(vault.directory)
    .map((name) => join(vault.directory, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path));
  const places = [...files, vault.vault.connection.serialize(), Buffer.from(answers.join('\n'))];
  expect(places.length).toBeGreaterThan(3);
  // The search finds what is there.
  expect(places.filter((place) => place.includes(visible)).length).toBeGreaterThanOrEqual(3);
  for (const place of places) {
    for (const needle of needles) expect(place.includes(needle), needle.toString()).toBe(false);
  }
});
