/** Every address format through a real vault: made, listed, and signed with by its own text. */
import { schnorr } from '@noble/curves/secp256k1.js';
import { p256 } from '@noble/curves/nist.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { p2tr } from '@scure/btc-signer';
import {
  addressFormatConfig,
  generateWalletAccountsFromAddressFormat,
  type TurnkeyApiTypes,
} from '@turnkey/sdk-server';
import { recoverAddress, verifyTypedData } from 'viem';
import { recoverAuthorizationAddress } from 'viem/utils';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  accountAt as commandAccountAt,
  accountSeries,
  type Account,
} from '../../main/commands/wallets/default-accounts.ts';
import {
  addressFormats,
  addressFormatsOf,
  type AddressFormat,
} from '../../main/chains/addresses/addresses.ts';
import { curves, type Curve } from '../../main/crypto/keys/curves.ts';
import { verifyEd25519 } from '../../main/crypto/keys/ed25519.ts';
import { uncompressP256 } from '../../main/crypto/keys/p256.ts';
import { uncompressed, verifySecp256k1 } from '../../main/crypto/keys/secp256k1.ts';
import {
  accountAt,
  addressFormats as shownFormats,
  chains,
  curves as shownCurves,
} from '../../renderer/features/accounts/chains.ts';
import eip712 from '../vectors/eip712.json' with { type: 'json' };
import {
  resultOf,
  startTestVault,
  type Answer,
  type Json,
  type TestClient,
  type TestVault,
} from '../support/support.ts';

const message = Buffer.from('every chain');
const digest = Buffer.from(sha256(message)).toString('hex');
const curveNames = Object.keys(curves) as Curve[];
const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));

let service: TestVault;
let root: TestClient;

beforeAll(async () => {
  service = await startTestVault();
  ({ root } = service);
});
afterAll(() => service[Symbol.asyncDispose]());

const sign = (signWith: string, curve: Curve, more: Json = {}): Promise<Answer> =>
  root.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', {
    signWith,
    payload: message.toString(),
    encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
    hashFunction: curve === 'CURVE_ED25519' ? 'HASH_FUNCTION_NOT_APPLICABLE' : 'HASH_FUNCTION_SHA256',
    ...more,
  });

type Scheme = Curve | 'schnorr' | 'taproot';

const schemeOf = (format: AddressFormat, curve: Curve): Scheme =>
  format.endsWith('_P2TR') ? 'taproot' : format.includes('_SPARK_') ? 'schnorr' : curve;

/** Verifies a signature of the message under a key, with noble or the platform. */
function verifies(scheme: Scheme, publicKey: string, { r, s, v }: Json): boolean {
  const signature = bytes(`${String(r)}${String(s)}`);
  const key = bytes(publicKey);
  switch (scheme) {
    case 'CURVE_SECP256K1':
      return verifySecp256k1(publicKey, signature, bytes(digest));
    case 'CURVE_P256':
      return p256.verify(signature, message, key, { lowS: false });
    case 'CURVE_ED25519':
      return v === '00' && verifyEd25519(publicKey, signature, message);
    case 'schnorr':
      return v === '00' && schnorr.verify(signature, bytes(digest), key.subarray(1));
    case 'taproot':
      return v === '00' && schnorr.verify(signature, bytes(digest), p2tr(key.subarray(1)).tweakedPubkey);
  }
}

const newKey = async (privateKeyName: string, curve: Curve, formats: readonly string[]): Promise<Answer> =>
  root.submit('create_private_keys', 'CREATE_PRIVATE_KEYS_V2', {
    privateKeys: [{ privateKeyName, curve, privateKeyTags: [], addressFormats: formats }],
  });

describe.each(curveNames)('a private key on %s', (curve) => {
  const formats = addressFormatsOf(curve);
  let privateKeyId = '';
  let publicKey = '';
  const addresses = new Map<string, string>();

  beforeAll(async () => {
    const [made] = resultOf(await newKey(`All of ${curve}`, curve, formats)).privateKeys;
    privateKeyId = made?.privateKeyId ?? '';
    for (const { format, address } of made?.addresses ?? []) addresses.set(format, address);
    const { body } = await root.query('get_private_key', { privateKeyId });
    const shown = body?.['privateKey'] as Json;
    publicKey = shown['publicKey'] as string;
    expect(shown['addresses']).toEqual(made?.addresses);
  });

  test('has all of its addresses', () => {
    expect([...addresses.keys()]).toEqual(formats);
    expect(addresses.get('ADDRESS_FORMAT_COMPRESSED')).toBe(publicKey);
  });

  test.each(formats)('signs as its %s', async (format) => {
    const signature = resultOf(await sign(addresses.get(format) ?? '', curve));
    expect(verifies(schemeOf(format, curve), publicKey, signature)).toBe(true);
  });

  test('signs by its id and by its public key, in every form, as its curve does', async () => {
    const long = { CURVE_SECP256K1: uncompressed, CURVE_P256: uncompressP256, CURVE_ED25519: bytesOf }[curve];
    const full = Buffer.from(long(bytes(publicKey))).toString('hex');
    for (const signWith of [
      privateKeyId,
      privateKeyId.toUpperCase(),
      publicKey,
      `0x${publicKey}`,
      full,
      full.toUpperCase(),
    ]) {
      const signature = resultOf(await sign(signWith, curve));
      expect(verifies(curve, publicKey, signature), signWith).toBe(true);
    }
  });

  test('refuses what fits other curves only, with what fits', async () => {
    const other = addressFormats.filter((format) => !formats.includes(format));
    for (const [index, format] of other.entries()) {
      const answer = await newKey(`Not ${String(index)} of ${curve}`, curve, [formats[0] ?? '', format]);
      expect(answer.status).toBe(400);
      expect(answer.body?.['message']).toMatch(
        new RegExp(
          `^invalid parameters\\.privateKeys\\[0\\]\\.addressFormats\\[1\\]: ${format} is an address format of CURVE_[A-Z0-9_ and]+, not of ${curve}; expected one of ${formats.join(', ')}$`,
        ),
      );
    }
  });
});

function bytesOf(key: Uint8Array): Uint8Array {
  return key;
}

describe('a wallet', () => {
  const presets = addressFormats.flatMap((format): Account[] => {
    const preset = [...accountSeries.values()].find(({ addressFormat }) => addressFormat === format);
    if (preset) return [commandAccountAt(preset, 0)];
    return curveNames
      .filter((curve) => addressFormatsOf(curve).includes(format))
      .map((curve) => ({ curve, pathFormat: 'PATH_FORMAT_BIP32', path: "m/0'/0'", addressFormat: format }));
  });
  let walletId = '';
  let made: readonly string[] = [];

  beforeAll(async () => {
    walletId = resultOf(
      await root.submit('create_wallet', 'CREATE_WALLET', { walletName: 'All', accounts: [] }),
    ).walletId;
    made = resultOf(
      await root.submit('create_wallet_accounts', 'CREATE_WALLET_ACCOUNTS', { walletId, accounts: presets }),
    ).addresses;
  });

  test('has an account of every format, and of every curve', () => {
    expect(presets).toHaveLength(41);
    expect(made).toHaveLength(41);
  });

  test('lists them, and each signs as its address', async () => {
    const { body } = await root.query('list_wallet_accounts', {
      walletId,
      paginationOptions: { limit: '100' },
    });
    const accounts = body?.['accounts'] as readonly Json[];
    expect(accounts).toMatchObject(presets.map((preset, index) => ({ ...preset, address: made[index] })));
    for (const [index, { curve, addressFormat }] of presets.entries()) {
      const address = made[index] ?? '';
      const signature = resultOf(await sign(address, curve));
      // Test networks share their addresses, and a wallet's account may have a path that others have.
      const publicKey = accounts.find((account) => account['address'] === address)?.['publicKey'];
      expect(verifies(schemeOf(addressFormat, curve), String(publicKey), signature), address).toBe(true);
      const one = await root.query('get_wallet_account', { walletId, address });
      expect(one.body?.['account']).toMatchObject({ address });
    }
  }, 60_000);

  test('signs by an account’s public key, as its curve does', async () => {
    const taproot = presets.findIndex(
      ({ addressFormat }) => addressFormat === 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR',
    );
    const { body } = await root.query('get_wallet_account', { walletId, address: made[taproot] });
    const publicKey = (body as { account: Json }).account['publicKey'] as string;
    expect(verifies('CURVE_SECP256K1', publicKey, resultOf(await sign(publicKey, 'CURVE_SECP256K1')))).toBe(
      true,
    );
  });

  test('is not found by an address in another case, or by an unknown key', async () => {
    const ethereum =
      made[presets.findIndex(({ addressFormat }) => addressFormat === 'ADDRESS_FORMAT_ETHEREUM')];
    for (const signWith of [
      ethereum?.toLowerCase() ?? '',
      `02${'11'.repeat(32)}`,
      '22'.repeat(32),
      walletId,
    ]) {
      const answer = await sign(signWith, 'CURVE_SECP256K1');
      expect(answer.status, signWith).toBe(404);
      expect(answer.body?.['message']).toBe('Could not find any resource to sign with.');
    }
  });
});

describe('default accounts', () => {
  const presets = (index: number) =>
    new Map(
      [...accountSeries.values()].map((series) => [series.addressFormat, commandAccountAt(series, index)]),
    );
  const first = presets(0);

  test('are those of the SDK, where it has any', () => {
    const known = Object.entries(addressFormatConfig)
      .filter(([, { defaultAccounts: accounts }]) => accounts !== null)
      .map(([format]) => format as TurnkeyApiTypes['v1AddressFormat']);
    expect(known.length).toBeGreaterThanOrEqual(30);
    // One at a time: in one list it counts formats on the same path on.
    for (const format of known) {
      const [expected] = generateWalletAccountsFromAddressFormat({ addresses: [format] });
      expect(first.get(format)).toEqual(expected);
    }
  });

  test('are of every format but the bare public keys', () => {
    expect([...first.keys(), 'ADDRESS_FORMAT_COMPRESSED', 'ADDRESS_FORMAT_UNCOMPRESSED'].sort()).toEqual(
      [...addressFormats].sort(),
    );
  });

  test('are the same in the window', () => {
    for (const index of [0, 7]) {
      const shown = new Map(chains.map((chain) => [chain.format, accountAt(chain, index)]));
      expect(shown).toEqual(presets(index));
    }
  });

  test('the window knows the service’s curves and formats', () => {
    expect(Object.keys(shownCurves)).toEqual(curveNames);
    expect(new Map(shownFormats.map(({ format, curves: fitting }) => [format, [...fitting].sort()]))).toEqual(
      new Map(
        addressFormats.map((format) => [
          format,
          curveNames.filter((curve) => addressFormatsOf(curve).includes(format)).sort(),
        ]),
      ),
    );
    expect(
      shownFormats
        .filter(({ schnorr: is }) => is === true)
        .map(({ format }) => format)
        .sort(),
    ).toEqual(addressFormats.filter((format) => /_P2TR$|_SPARK_/.test(format)).sort());
  });
});

describe('Ethereum’s payloads', () => {
  let address: `0x${string}` = '0x';

  beforeAll(async () => {
    const [made] = resultOf(
      await newKey('Typed', 'CURVE_SECP256K1', ['ADDRESS_FORMAT_ETHEREUM']),
    ).privateKeys;
    address = made?.addresses[0]?.address as `0x${string}`;
  });

  const hexOf = ({ r, s, v }: Json): `0x${string}` =>
    `0x${String(r)}${String(s)}${String(v) === '00' ? '1b' : '1c'}`;
  const unhashed = (encoding: string) => ({ encoding, hashFunction: 'HASH_FUNCTION_NO_OP' });

  test.each(eip712.vectors)('typed data verify: $source', async ({ typedData }) => {
    const more = { payload: JSON.stringify(typedData), ...unhashed('PAYLOAD_ENCODING_EIP712') };
    const signature = hexOf(resultOf(await sign(address, 'CURVE_SECP256K1', more)));
    const data = { ...typedData, address, signature } as unknown as Parameters<typeof verifyTypedData>[0];
    expect(await verifyTypedData(data)).toBe(true);
  });

  test('authorizations recover, all of one request', async () => {
    const authorizations = [0, 1, 300].map((nonce) => ({
      address: '0x63c0c19a282a1B52b07dD5a65b58948A07DAE32B' as const,
      chainId: nonce,
      nonce,
    }));
    const answer = await root.submit('sign_raw_payloads', 'SIGN_RAW_PAYLOADS', {
      signWith: address,
      payloads: authorizations.map((authorization) => JSON.stringify(authorization)),
      ...unhashed('PAYLOAD_ENCODING_EIP7702_AUTHORIZATION'),
    });
    const signatures = resultOf(answer)['signatures'] as readonly Json[];
    expect(signatures).toHaveLength(3);
    for (const [index, authorization] of authorizations.entries()) {
      const signature = hexOf(signatures[index] ?? {});
      expect(await recoverAuthorizationAddress({ authorization, signature })).toBe(address);
    }
  });

  test('every hash function, on hex and on text', async () => {
    const signature = resultOf(
      await sign(address, 'CURVE_SECP256K1', {
        payload: `0x${digest.toUpperCase()}`,
        ...unhashed('PAYLOAD_ENCODING_HEXADECIMAL'),
      }),
    );
    expect(await recoverAddress({ hash: `0x${digest}`, signature: hexOf(signature) })).toBe(address);
    expect(resultOf(await sign(address, 'CURVE_SECP256K1'))).toEqual(signature);
    const keccak = await sign(address, 'CURVE_SECP256K1', {
      payload: '',
      hashFunction: 'HASH_FUNCTION_KECCAK256',
    });
    expect(
      await recoverAddress({
        hash: '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470',
        signature: hexOf(resultOf(keccak)),
      }),
    ).toBe(address);
  });
});
