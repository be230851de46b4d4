/** The ready-made actions of @turnkey/sdk-server: they compose requests of their own, names among them. */
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startTestVault } from '../support/support.ts';
import type { TestVault } from '../support/support.ts';

type Actions = typeof import('@turnkey/sdk-server').server;

let service: TestVault;
let server: Actions;

beforeAll(async () => {
  service = await startTestVault();
  const { url, organizationId, key } = service;
  // The package reads these once, while it is loaded.
  vi.stubEnv('NEXT_PUBLIC_BASE_URL', url);
  vi.stubEnv('NEXT_PUBLIC_ORGANIZATION_ID', organizationId);
  vi.stubEnv('TURNKEY_API_PRIVATE_KEY', key.privateKey);
  vi.stubEnv('TURNKEY_API_PUBLIC_KEY', key.publicKey);
  ({ server } = await import('@turnkey/sdk-server'));
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await service[Symbol.asyncDispose]();
});

describe('names that SDKs compose are taken', () => {
  test('the key of a wallet, named by its public key', async () => {
    const publicKey = Buffer.from(secp256k1.getPublicKey(secp256k1.utils.randomSecretKey())).toString('hex');
    // The package does not export the names of its types of wallets.
    const wallet = { publicKey, type: 'ethereum' as never };
    const by = { filterType: 'PUBLIC_KEY' as never, filterValue: publicKey };
    const made = await server.getOrCreateSuborg({ ...by, additionalData: { wallet } });
    expect(made.subOrganizationIds).toHaveLength(1);
    expect(await server.getOrCreateSuborg({ ...by, additionalData: { wallet } })).toEqual(made);
    const [organizationId = ''] = made.subOrganizationIds;
    expect((await server.getUsers({ organizationId }))?.users).toMatchObject([
      { apiKeys: [{ apiKeyName: `wallet-auth:${publicKey}`, credential: { publicKey } }] },
    ]);
  });

  test('a user, named by an email address of any length', async () => {
    const email = `${'a'.repeat(64)}@${'example.'.repeat(22)}org`;
    const made = await server.createSuborg({ email });
    const { subOrganizationId: organizationId = '' } = made ?? {};
    expect((await server.getUsers({ organizationId }))?.users).toMatchObject([
      { userName: email, userEmail: email },
    ]);
  });
});
