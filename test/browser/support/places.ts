/** Every address of the window, from the window's own table, in a vault that has something to show at each. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { newSecret } from '../../support/new-secret.ts';
import { activityOf, newTestKey, newWallet, resultOf } from '../../support/support.ts';
import type { Json } from '../../support/support.ts';
import type { DevService } from './service.ts';

const windowSource = join(import.meta.dirname, '../../../renderer/app/open-vault.tsx');

/** Makes something of everything that has an address. @returns what stands in the addresses, by their parameters. */
export async function furnish(
  { root }: DevService,
  name: (what: string) => string,
): Promise<Readonly<Record<string, string>>> {
  const made = async (path: string, type: string, parameters: Json): Promise<Json> =>
    resultOf(await root.submit(path, type, parameters));
  const { walletId, ethereum } = await newWallet(root, name('wallet'));
  const { accounts } = (await root.query('list_wallet_accounts', { walletId })).body as {
    readonly accounts: readonly { readonly walletAccountId: string }[];
  };
  const keys = await made('create_private_keys', 'CREATE_PRIVATE_KEYS_V2', {
    privateKeys: [
      {
        privateKeyName: name('key'),
        curve: 'CURVE_SECP256K1',
        addressFormats: ['ADDRESS_FORMAT_ETHEREUM'],
        privateKeyTags: [],
      },
    ],
  });
  const [privateKey] = keys['privateKeys'] as readonly { readonly privateKeyId: string }[];
  const key = newTestKey();
  const users = await made('create_users', 'CREATE_USERS_V3', {
    users: [
      {
        userName: name('user'),
        apiKeys: [{ apiKeyName: name('API key'), publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }],
        authenticators: [],
        oauthProviders: [],
        userTags: [],
      },
    ],
  });
  const [userId = ''] = users['userIds'] as readonly string[];
  await made('create_user_tag', 'CREATE_USER_TAG', { userTagName: name('user tag'), userIds: [userId] });
  await made('create_private_key_tag', 'CREATE_PRIVATE_KEY_TAG', {
    privateKeyTagName: name('key tag'),
    privateKeyIds: [privateKey?.privateKeyId],
  });
  const policy = await made('create_policy', 'CREATE_POLICY_V3', {
    policyName: name('policy'),
    effect: 'EFFECT_ALLOW',
    condition: "activity.action == 'SIGN'",
    consensus: 'approvers.count() >= 2',
    notes: '',
  });
  const sub = await made('create_sub_organization', 'CREATE_SUB_ORGANIZATION_V7', {
    subOrganizationName: name('sub-organization'),
    rootUsers: [
      {
        userName: name('customer'),
        apiKeys: [
          {
            apiKeyName: name('customer’s key'),
            publicKey: newTestKey().publicKey,
            curveType: 'API_KEY_CURVE_P256',
          },
        ],
        authenticators: [],
        oauthProviders: [],
      },
    ],
    rootQuorumThreshold: 1,
  });
  await made('create_webhook_endpoint', 'CREATE_WEBHOOK_ENDPOINT', {
    url: 'https://hook.invalid',
    name: name('endpoint'),
    subscriptions: [{ eventType: 'ACTIVITY_UPDATES', isActive: false }],
  });
  await made('create_smart_contract_interface', 'CREATE_SMART_CONTRACT_INTERFACE', {
    smartContractAddress: '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2',
    smartContractInterface: '[{"type":"function","name":"deposit","inputs":[],"outputs":[]}]',
    type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
    label: name('interface'),
    notes: '',
  });
  // It waits for the owner's vote.
  const waiting = activityOf(
    await root.as(key).submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', {
      signWith: ethereum,
      payload: '12',
      encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
      hashFunction: 'HASH_FUNCTION_KECCAK256',
    }),
  );
  return {
    walletId,
    address: ethereum,
    accountId: accounts[0]?.walletAccountId ?? '',
    privateKeyId: privateKey?.privateKeyId ?? '',
    secretId: await newSecret(root, name('secret')),
    userId,
    policyId: policy['policyId'] as string,
    organizationId: sub['subOrganizationId'] as string,
    activityId: waiting.id,
  };
}

/** The patterns of addresses that the window knows. */
export const patterns: readonly string[] = [
  ...readFileSync(windowSource, 'utf8').matchAll(/\bpath(?:="|: ')(\/[^"']*)["']/g),
].map(([, pattern]) => pattern ?? '');

/** @returns the addresses of a pattern: with what may be left out, and without it. */
export function addressesOf(pattern: string, values: Readonly<Record<string, string>>): readonly string[] {
  const fill = (text: string): string =>
    text.replaceAll(/:(\w+)\??/g, (_, parameter: string) => {
      const value = values[parameter];
      if (value === undefined) throw new Error(`${pattern}: furnish() makes nothing for :${parameter}`);
      return encodeURIComponent(value);
    });
  return pattern.endsWith('?') ? [pattern.replace(/\/:\w+\?$/, ''), fill(pattern)] : [fill(pattern)];
}
