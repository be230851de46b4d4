/** The vendor's published SDKs, unmodified: only their base URL is this vault's. */
import { ed25519 } from '@noble/curves/ed25519.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { base58 } from '@scure/base';
import { ApiKeyStamper } from '@turnkey/api-key-stamper';
import {
  createActivityPoller,
  getSignatureFromActivity,
  init,
  sealAndStampRequestBody,
  TurnkeyActivityError,
  TurnkeyApi,
  TurnkeyClient,
  TurnkeyRequestError,
  withAsyncPolling,
} from '@turnkey/http';
import type { TurnkeyApiTypes } from '@turnkey/http';
import {
  DEFAULT_BITCOIN_MAINNET_P2WPKH_ACCOUNTS,
  DEFAULT_ETHEREUM_ACCOUNTS,
  DEFAULT_SOLANA_ACCOUNTS,
  Turnkey,
  TurnkeyRequestError as ServerRequestError,
} from '@turnkey/sdk-server';
import { hashMessage, hexToBytes, recoverAddress, serializeSignature } from 'viem';
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from 'vitest';
import type { PrivateKey } from '../../main/storage/tables/private-keys.ts';
import type { User } from '../../main/storage/tables/users.ts';
import type { WalletAccount } from '../../main/storage/tables/wallet-accounts.ts';
import type { Wallet } from '../../main/storage/tables/wallets.ts';
import { newTestKey, startTestVault } from '../support/support.ts';
import type { TestVault } from '../support/support.ts';

let service: TestVault;
let organizationId: string;

beforeAll(async () => {
  service = await startTestVault();
  ({ organizationId } = service);
});
afterAll(() => service[Symbol.asyncDispose]());

const credentials = (): { apiPublicKey: string; apiPrivateKey: string } => ({
  apiPublicKey: service.key.publicKey,
  apiPrivateKey: service.key.privateKey,
});

const digest = (text: string): `0x${string}` => hashMessage(text);

/** Recovers the address of a secp256k1 signature with viem: r and s without 0x, v the recovery id. */
const recover = (hash: `0x${string}`, { r, s, v }: { r: string; s: string; v: string }): Promise<string> =>
  recoverAddress({ hash, signature: serializeSignature({ r: `0x${r}`, s: `0x${s}`, yParity: Number(v) }) });

/** Verifies an address's Ed25519 signature with noble: r and s are its halves. */
const holds = (address: string, message: string, { r, s, v }: { r: string; s: string; v: string }): boolean =>
  v === '00' &&
  ed25519.verify(Buffer.from(r + s, 'hex'), Buffer.from(message, 'utf8'), base58.decode(address));

const ethereum = {
  curve: 'CURVE_SECP256K1',
  pathFormat: 'PATH_FORMAT_BIP32',
  path: "m/44'/60'/0'/0/0",
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
} as const;

describe('@turnkey/http, TurnkeyClient', () => {
  let client: TurnkeyClient;

  beforeAll(() => {
    client = new TurnkeyClient({ baseUrl: service.url }, new ApiKeyStamper(credentials()));
  });

  const envelope = <Type extends string>(type: Type) => ({
    type,
    organizationId,
    timestampMs: String(Date.now()),
  });

  test('whoami', async () => {
    await expect(client.getWhoami({ organizationId })).resolves.toMatchObject({
      organizationId,
      organizationName: 'Tests',
      userId: service.rootUserId,
      username: 'Root',
    });
  });

  test('a wallet is created, found, given accounts, and signs', async () => {
    const made = await client.createWallet({
      ...envelope('ACTIVITY_TYPE_CREATE_WALLET'),
      parameters: { walletName: 'http', accounts: [ethereum] },
    });
    const { walletId, addresses } = made.activity.result.createWalletResult ?? {
      walletId: '',
      addresses: [],
    };
    const { wallet } = await client.getWallet({ organizationId, walletId });
    expect(wallet.walletName).toBe('http');
    expect((await client.getWallets({ organizationId })).wallets).toContainEqual(wallet);

    const added = await client.createWalletAccounts({
      ...envelope('ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS'),
      parameters: { walletId, accounts: [{ ...ethereum, path: "m/44'/60'/0'/0/1" }] },
    });
    const more = added.activity.result.createWalletAccountsResult?.addresses ?? [];
    const { accounts } = await client.getWalletAccounts({ organizationId, walletId });
    expect(accounts.map(({ address }) => address)).toEqual([...addresses, ...more]);

    for (const [signWith, account] of [...addresses, ...more].entries()) {
      const hash = digest(`message ${String(signWith)}`);
      const signed = await client.signRawPayload({
        ...envelope('ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'),
        parameters: {
          signWith: account,
          payload: hash,
          encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
          hashFunction: 'HASH_FUNCTION_NO_OP',
        },
      });
      expect(await recover(hash, getSignatureFromActivity(signed.activity))).toBe(account);
    }
  });

  test('createActivityPoller answers the completed activity, and asks for it again by id', async () => {
    const signer = await client.createWallet({
      ...envelope('ACTIVITY_TYPE_CREATE_WALLET'),
      parameters: { walletName: 'polled', accounts: [ethereum] },
    });
    const poller = createActivityPoller({ client, requestFn: client.signRawPayload, refreshIntervalMs: 10 });
    const activity = await poller({
      ...envelope('ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'),
      parameters: {
        signWith: signer.activity.result.createWalletResult?.addresses[0] ?? '',
        payload: 'hello',
        encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
        hashFunction: 'HASH_FUNCTION_KECCAK256',
      },
    });
    expect(activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
    const again = await client.getActivity({ organizationId, activityId: activity.id });
    expect(again.activity).toEqual(activity);
    const listed = await client.getActivities({
      organizationId,
      filterByType: ['ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'],
      filterByStatus: ['ACTIVITY_STATUS_COMPLETED'],
      paginationOptions: { limit: '1' },
    });
    expect(listed.activities).toEqual([activity]);
  });

  test('a private key is created, found, and signs by its id and by its addresses', async () => {
    const made = await client.createPrivateKeys({
      ...envelope('ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2'),
      parameters: {
        privateKeys: [
          {
            privateKeyName: 'http',
            curve: 'CURVE_SECP256K1',
            privateKeyTags: [],
            addressFormats: ['ADDRESS_FORMAT_ETHEREUM', 'ADDRESS_FORMAT_UNCOMPRESSED'],
          },
        ],
      },
    });
    const [key] = made.activity.result.createPrivateKeysResultV2?.privateKeys ?? [];
    const privateKeyId = key?.privateKeyId ?? '';
    const [ethereumAddress = '', uncompressed = ''] = (key?.addresses ?? []).map(
      ({ address }) => address ?? '',
    );
    const { privateKey } = await client.getPrivateKey({ organizationId, privateKeyId });
    expect(privateKey.addresses).toEqual(key?.addresses);
    // The address belongs to the key that is shown.
    const point = secp256k1.Point.fromHex(privateKey.publicKey);
    expect(point.toHex(false)).toBe(uncompressed);
    const tail = Buffer.from(keccak_256(point.toBytes(false).subarray(1)).subarray(-20)).toString('hex');
    expect(ethereumAddress.toLowerCase()).toBe(`0x${tail}`);
    for (const signWith of [privateKeyId, ethereumAddress, uncompressed]) {
      const signed = await client.signRawPayload({
        ...envelope('ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'),
        parameters: {
          signWith,
          payload: `by ${signWith}`,
          encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
          hashFunction: 'HASH_FUNCTION_SHA256',
        },
      });
      const { r, s } = getSignatureFromActivity(signed.activity);
      const signature = Buffer.from(r + s, 'hex');
      const options = { prehash: true, lowS: true };
      expect(secp256k1.verify(signature, Buffer.from(`by ${signWith}`), point.toBytes(), options)).toBe(true);
    }
  });

  test('users and keys are created and found', async () => {
    const { publicKey } = newTestKey();
    const made = await client.createUsers({
      ...envelope('ACTIVITY_TYPE_CREATE_USERS_V4'),
      parameters: {
        users: [
          {
            userName: 'http',
            userEmail: 'http@example.com',
            apiKeys: [],
            authenticators: [],
            oauthProviders: [],
            userTags: [],
          },
        ],
      },
    });
    const [userId = ''] = made.activity.result.createUsersResult?.userIds ?? [];
    await client.createApiKeys({
      ...envelope('ACTIVITY_TYPE_CREATE_API_KEYS_V2'),
      parameters: { userId, apiKeys: [{ apiKeyName: 'http', publicKey, curveType: 'API_KEY_CURVE_P256' }] },
    });
    const { user } = await client.getUser({ organizationId, userId });
    expect(user).toMatchObject({ userEmail: 'http@example.com', apiKeys: [{ credential: { publicKey } }] });
    expect((await client.getUsers({ organizationId })).users).toContainEqual(user);
    const { organizationData } = await client.getOrganization({ organizationId });
    expect(organizationData.users).toContainEqual(user);
    expect(organizationData.rootQuorum).toEqual({ threshold: 1, userIds: [service.rootUserId] });
  });

  test('an error is a TurnkeyRequestError with the code, the message and the details', async () => {
    const refused = client.getWallet({ organizationId, walletId: '00000000-0000-4000-8000-000000000000' });
    await expect(refused).rejects.toBeInstanceOf(TurnkeyRequestError);
    await expect(refused).rejects.toMatchObject({
      name: 'TurnkeyRequestError',
      code: 5,
      message: expect.stringMatching(
        /^Turnkey error 5: unable to find wallet 00000000-0000-4000-8000-000000000000 \(Details: \[\{.*\}\]\)$/,
      ) as string,
      details: [{ '@type': 'type.googleapis.com/errors.v1.TurnkeyErrorDetail' }],
    });
  });

  test('an operation that Keyhearth does not have is an error of the same kind', async () => {
    const refused = client.getBootProof({ organizationId, ephemeralKey: 'x' });
    await expect(refused).rejects.toBeInstanceOf(TurnkeyRequestError);
    await expect(refused).rejects.toMatchObject({ code: 12 });
  });

  test('another client can later post a request that was sealed first', async () => {
    const { sealedBody, xStamp } = await sealAndStampRequestBody({
      body: { organizationId },
      ...credentials(),
    });
    const response = await fetch(`${service.url}/public/v1/query/whoami`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Stamp': xStamp },
      body: sealedBody,
    });
    expect(await response.json()).toMatchObject({ userId: service.rootUserId });
    const { body, stamp, url } = await client.stampGetWhoami({ organizationId });
    const posted = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', [stamp.stampHeaderName]: stamp.stampHeaderValue },
      body,
    });
    expect(await posted.json()).toMatchObject({ userId: service.rootUserId });
  });
});

/* oxlint-disable typescript/no-deprecated -- programs that were written for them still run */
describe('@turnkey/http, the older fetchers', () => {
  beforeAll(() => {
    init({ ...credentials(), baseUrl: service.url });
  });

  test('withAsyncPolling answers the completed activity', async () => {
    const createWallet = withAsyncPolling({ request: TurnkeyApi.createWallet, refreshIntervalMs: 10 });
    const activity = await createWallet({
      body: {
        type: 'ACTIVITY_TYPE_CREATE_WALLET',
        organizationId,
        timestampMs: String(Date.now()),
        parameters: { walletName: 'older', accounts: [ethereum] },
      },
    });
    expect(activity.result.createWalletResult?.addresses).toHaveLength(1);
    const { wallets } = await TurnkeyApi.getWallets({ body: { organizationId } });
    expect(wallets.map(({ walletName }) => walletName)).toContain('older');
  });

  test('a failure rejects', async () => {
    const sign = withAsyncPolling({ request: TurnkeyApi.signRawPayload, refreshIntervalMs: 10 });
    const failing = sign({
      body: {
        type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
        organizationId,
        timestampMs: String(Date.now()),
        parameters: {
          signWith: 'nobody',
          payload: 'ab',
          encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
          hashFunction: 'HASH_FUNCTION_NO_OP',
        },
      },
    });
    await expect(failing).rejects.toThrow(/Could not find any resource to sign with\./);
    await expect(failing).rejects.not.toBeInstanceOf(TurnkeyActivityError);
  });
});

/* oxlint-enable typescript/no-deprecated */

describe('@turnkey/sdk-server', () => {
  let api: ReturnType<Turnkey['apiClient']>;

  beforeAll(() => {
    api = new Turnkey({
      apiBaseUrl: service.url,
      ...credentials(),
      defaultOrganizationId: organizationId,
      activityPoller: { intervalMs: 10, numRetries: 3 },
    }).apiClient();
  });

  test('whoami, with the organization filled in', async () => {
    expect((await api.getWhoami()).userId).toBe(service.rootUserId);
  });

  test('its own default accounts make a wallet whose accounts sign', async () => {
    const { walletId, addresses, activity } = await api.createWallet({
      walletName: 'server',
      accounts: [
        ...DEFAULT_ETHEREUM_ACCOUNTS,
        ...DEFAULT_SOLANA_ACCOUNTS,
        ...DEFAULT_BITCOIN_MAINNET_P2WPKH_ACCOUNTS,
      ],
      mnemonicLength: 24,
    });
    expect(activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
    const [ethereumAddress = '', solanaAddress = '', bitcoinAddress = ''] = addresses;
    expect(bitcoinAddress).toMatch(/^bc1q[a-z0-9]{38}$/);

    const hash = digest('from the server');
    const signature = await api.signRawPayload({
      signWith: ethereumAddress,
      payload: hash,
      encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
      hashFunction: 'HASH_FUNCTION_NO_OP',
    });
    expect(await recover(hash, signature)).toBe(ethereumAddress);
    // Low s, as Ethereum has it.
    const bytes = hexToBytes(`0x${signature.r}${signature.s}`);
    expect(secp256k1.Signature.fromBytes(bytes, 'compact').hasHighS()).toBe(false);

    const solana = await api.signRawPayload({
      signWith: solanaAddress,
      payload: 'from the server',
      encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
      hashFunction: 'HASH_FUNCTION_NOT_APPLICABLE',
    });
    expect(holds(solanaAddress, 'from the server', solana)).toBe(true);
    expect(holds(solanaAddress, 'from another', solana)).toBe(false);

    const { accounts } = await api.getWalletAccounts({ walletId, paginationOptions: { limit: '2' } });
    expect(accounts.map(({ address }) => address)).toEqual([ethereumAddress, solanaAddress]);
    const { wallets } = await api.getWallets();
    expect(wallets.map(({ walletName }) => walletName)).toContain('server');
  });

  test('a user’s own client sees who it is, and what it may not do', async () => {
    const key = newTestKey();
    const { userIds } = await api.createUsers({
      users: [
        {
          userName: 'server',
          apiKeys: [{ apiKeyName: 'server', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }],
          authenticators: [],
          oauthProviders: [],
          userTags: [],
        },
      ],
    });
    const own = new Turnkey({
      apiBaseUrl: service.url,
      apiPublicKey: key.publicKey,
      apiPrivateKey: key.privateKey,
      defaultOrganizationId: organizationId,
    }).apiClient();
    expect((await own.getWhoami()).userId).toBe(userIds[0]);
    await expect(own.createWallet({ walletName: 'not theirs', accounts: [] })).rejects.toThrow(
      /^Turnkey error 7: You don't have sufficient permissions to take this action\./,
    );
  });

  test('activities are listed, and one is found', async () => {
    const { activities } = await api.getActivities({ filterByStatus: ['ACTIVITY_STATUS_FAILED'] });
    expect(activities.length).toBeGreaterThan(0);
    for (const { id, failure } of activities) {
      expect(failure).not.toBeNull();
      expect((await api.getActivity({ activityId: id })).activity.status).toBe('ACTIVITY_STATUS_FAILED');
    }
  });

  test('an error is a TurnkeyRequestError that names the field', async () => {
    const refused = api.createWallet({
      walletName: 'server',
      // @ts-expect-error -- a curve that nobody has
      accounts: [{ ...ethereum, curve: 'CURVE_P521' }],
    });
    await expect(refused).rejects.toBeInstanceOf(ServerRequestError);
    await expect(refused).rejects.toThrow(
      /^Turnkey error 3: invalid parameters\.accounts\[0\]\.curve: expected one of .*, got "CURVE_P521"/,
    );
  });

  test('the errors for an unknown key and a refused one differ', async () => {
    const { publicKey, privateKey } = newTestKey();
    const stranger = new Turnkey({
      apiBaseUrl: service.url,
      apiPublicKey: publicKey,
      apiPrivateKey: privateKey,
      defaultOrganizationId: organizationId,
    }).apiClient();
    await expect(stranger.getWhoami()).rejects.toThrow(
      `could not find public key in organization or its parent organization organizationId=${organizationId} publicKey=${publicKey}`,
    );
  });
});

describe('the vendor’s types', () => {
  /** The vendor's shape, with its enumerations widened to text and its lists read-only. */
  type Wire<Shape> = Shape extends string
    ? string
    : Shape extends readonly (infer Element)[]
      ? readonly Wire<Element>[]
      : Shape extends object
        ? { readonly [Key in keyof Shape]: Wire<Shape[Key]> }
        : Shape;

  test('take what the vault shows', () => {
    expectTypeOf<Wallet>().toExtend<Wire<TurnkeyApiTypes['v1Wallet']>>();
    expectTypeOf<WalletAccount>().toExtend<Wire<TurnkeyApiTypes['v1WalletAccount']>>();
    expectTypeOf<PrivateKey>().toExtend<Wire<TurnkeyApiTypes['v1PrivateKey']>>();
    expectTypeOf<User>().toExtend<Wire<TurnkeyApiTypes['v1User']>>();
  });
});
