/** The specification to the letter, where it can be read in more than one way: each reading works. */
import { encryptWalletToBundle } from '@turnkey/crypto';
import { english, generateMnemonic } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startVault } from '../../main/app/compose.ts';
import { SoftwareAuthenticator } from '../support/software-authenticator.ts';
import {
  activityOf,
  ethereumAccount,
  newWallet,
  resultOf,
  send,
  startTestVault,
} from '../support/support.ts';
import type { Answer, Json, TestClient, TestVault } from '../support/support.ts';

let service: TestVault;
let root: TestClient;

beforeAll(async () => {
  service = await startTestVault();
  ({ root } = service);
});
afterAll(() => service[Symbol.asyncDispose]());

describe('12: the credential id of an attestation', () => {
  const register = (passkey: SoftwareAuthenticator, change: Json): Promise<Answer> => {
    const params = passkey.params('Passkey');
    return root.submit('create_authenticators', 'CREATE_AUTHENTICATORS_V2', {
      userId: service.rootUserId,
      authenticators: [{ ...params, attestation: { ...(params['attestation'] as Json), ...change } }],
    });
  };
  const inCbor = (id: Buffer) => Buffer.concat([Buffer.from([0x58, id.length]), id]).toString('base64url');
  const whoami = async (passkey: SoftwareAuthenticator) => {
    const body = JSON.stringify({ organizationId: service.organizationId });
    const headers = { 'x-stamp': undefined, 'x-stamp-webauthn': passkey.stamp(body) };
    return (await root.post('query/whoami', body, headers)).body;
  };

  test('is taken as it is and “CBOR-encoded then base64url-encoded”, and either proves its user', async () => {
    for (const form of [(id: Buffer) => id.toString('base64url'), inCbor]) {
      const passkey = new SoftwareAuthenticator();
      const credentialId = form(Buffer.from(passkey.credentialId, 'base64url'));
      const answer = await register(passkey, { credentialId });
      expect(answer.status, answer.text).toBe(200);
      expect(await whoami(passkey)).toMatchObject({ userId: service.rootUserId });
      const [authenticatorId] = (resultOf(answer) as Json)['authenticatorIds'] as string[];
      const { body } = await root.query('get_authenticator', { authenticatorId });
      expect(body?.['authenticator']).toMatchObject({ credentialId: passkey.credentialId });
    }
  });

  test('is compared with the attested one in either form', async () => {
    const passkey = new SoftwareAuthenticator();
    const another = Buffer.from(new SoftwareAuthenticator().credentialId, 'base64url');
    const own = Buffer.from(passkey.credentialId, 'base64url');
    for (const credentialId of [
      another.toString('base64url'),
      inCbor(another),
      Buffer.concat([Buffer.from([0x58, 31]), own]).toString('base64url'),
      Buffer.concat([Buffer.from([0x78, 32]), own]).toString('base64url'),
    ]) {
      expect((await register(passkey, { credentialId })).status).toBe(400);
    }
  });
});

test('13: privateKeyId of a signature’s intent is the key’s id, also where an address named the key', async () => {
  const made = resultOf(
    await root.submit('create_private_keys', 'CREATE_PRIVATE_KEYS_V2', {
      privateKeys: [
        {
          privateKeyName: 'Key',
          curve: 'CURVE_SECP256K1',
          privateKeyTags: [],
          addressFormats: ['ADDRESS_FORMAT_ETHEREUM'],
        },
      ],
    }),
  ) as { readonly privateKeys: readonly { privateKeyId: string; addresses: readonly Json[] }[] };
  const [key] = made.privateKeys;
  const wallet = await newWallet(root);
  const intentOf = async (signWith: unknown): Promise<unknown> => {
    const activity = activityOf(
      await root.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', {
        signWith,
        payload: '00',
        encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
        hashFunction: 'HASH_FUNCTION_SHA256',
      }),
    );
    expect(activity.intent['signRawPayloadIntentV2']).toMatchObject({ signWith });
    const inner = activity.result['activity'] as { readonly intent: Json };
    expect(inner.intent['signRawPayloadIntent']).toEqual(activity.intent['signRawPayloadIntent']);
    return activity.intent['signRawPayloadIntent']?.['privateKeyId'];
  };
  expect(await intentOf(key?.privateKeyId)).toBe(key?.privateKeyId);
  expect(await intentOf(key?.addresses[0]?.['address'])).toBe(key?.privateKeyId);
  // An account of a wallet is not a private key: it keeps its name in the request.
  expect(await intentOf(wallet.ethereum)).toBe(wallet.ethereum);
});

describe('15: second readings that cost nothing', () => {
  test('import_wallet accepts a bundle for init_import_private_key’s key', async () => {
    const { body } = await send(service.url, { method: 'GET', path: '/public/v1/discovery/keys' });
    const { rootUserId: userId, organizationId } = service;
    const started = await root.submit('init_import_private_key', 'INIT_IMPORT_PRIVATE_KEY', { userId });
    const importBundle = (resultOf(started) as Json)['importBundle'] as string;
    const encryptedBundle = await encryptWalletToBundle({
      mnemonic: generateMnemonic(english),
      importBundle,
      userId,
      organizationId,
      dangerouslyOverrideSignerPublicKey: body?.['signer'] as string,
    });
    const wallet = { userId, encryptedBundle, accounts: [ethereumAccount] };
    const taken = await root.submit('import_wallet', 'IMPORT_WALLET', { ...wallet, walletName: 'Taken' });
    expect(taken.status, taken.text).toBe(200);
    const again = await root.submit('import_wallet', 'IMPORT_WALLET', { ...wallet, walletName: 'Again' });
    expect(again.status).toBe(400);
  });

  test('transports of an attestation may be absent', async () => {
    const { attestation, ...params } = new SoftwareAuthenticator().params('Without');
    const { transports: _absent, ...rest } = attestation as Json;
    const answer = await root.submit('create_authenticators', 'CREATE_AUTHENTICATORS_V2', {
      userId: service.rootUserId,
      authenticators: [{ ...params, attestation: rest }],
    });
    expect(answer.status, answer.text).toBe(200);
  });

  test('addPrivateKeyIds and removePrivateKeyIds may be absent', async () => {
    const { privateKeyTagId } = resultOf(
      await root.submit('create_private_key_tag', 'CREATE_PRIVATE_KEY_TAG', {
        privateKeyTagName: 'Tag',
        privateKeyIds: [],
      }),
    ) as Json;
    const answer = await root.submit('update_private_key_tag', 'UPDATE_PRIVATE_KEY_TAG', {
      privateKeyTagId,
      newPrivateKeyTagName: 'Renamed',
    });
    expect(resultOf(answer)).toEqual({ privateKeyTagId });
  });

  test('the rule for the nonce of ID tokens is in OpenAPI', async () => {
    const { body } = await send(service.url, { method: 'GET', path: '/openapi.json' });
    for (const [operation, field] of [
      ['oauth', 'targetPublicKey'],
      ['oauth_login', 'publicKey'],
    ] as const) {
      const path = (body as { paths: Record<string, { readonly post: Json }> }).paths[
        `/public/v1/submit/${operation}`
      ];
      expect(JSON.stringify(path?.post)).toMatch(new RegExp(`nonce.*SHA-256.*${field}`));
    }
  });

  test('an issuer without TLS is refused at start', async () => {
    const { config } = service;
    const start = (issuer: string, allowLoopbackIssuers: boolean) =>
      startVault({ ...config, dataDirectory: null, allowLoopbackIssuers, oidcIssuers: [issuer] });
    await expect(start('http://accounts.example', true)).rejects.toThrow(/invalid --oidc-issuer/);
    await expect(start('http://127.0.0.1:1', false)).rejects.toThrow(/invalid --oidc-issuer/);
  });
});
