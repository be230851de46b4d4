/** Drafts of policies, through the port. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { policiesOfSpender, type Spender } from '../../main/lib/policies/spenders.ts';
import { checkerOf } from '../support/api-document.ts';
import type { Checker } from '../support/api-document.ts';
import { newWallet, resultOf, send, startTestVault } from '../support/support.ts';
import type { Json, TestVault } from '../support/support.ts';

let service: TestVault;
let checker: Checker;

beforeAll(async () => {
  service = await startTestVault();
  const { body } = await send(service.url, { method: 'GET', path: '/openapi.json' });
  checker = checkerOf(body ?? {});
});
afterAll(() => service[Symbol.asyncDispose]());

/** Asks, and holds the answer against the API's description. */
async function ask<Answer>(operation: string, parameters: Json = {}): Promise<Answer> {
  const { status, body, text } = await service.root.query(operation, parameters);
  expect(status, text).toBe(200);
  expect(checker.answer(`query/${operation}`, 200, body)).toEqual([]);
  return body as Answer;
}

interface Checks {
  readonly policyChecks: readonly {
    readonly policyName?: string;
    readonly problems: readonly Json[];
    readonly warnings: readonly { readonly field?: string; readonly message: string }[];
  }[];
}

describe('check_policies', () => {
  test('tells every problem of every draft, and warns of what this organization has not', async () => {
    const { policyChecks } = await ask<Checks>('check_policies', {
      policies: [
        {
          policyName: 'Wrong twice',
          effect: 'EFFECT_ALLOW',
          condition: 'eth.tx.valu < 5',
          consensus: 'approvers.count()',
        },
        {
          effect: 'EFFECT_DENY',
          condition: "activity.kind == 'SIGN_RAW_PAYLOD'",
          consensus: `approvers.any(user, user.id in ['${service.rootUserId}', '8f14e45f-ceea-467f-9c4b-3d1b2a5e6f70'])`,
        },
        { effect: 'EFFECT_ALLOW', condition: "activity.type == 'ACTIVITY_TYPE_CREATE_WALLET'", time: null },
      ],
    });
    expect(policyChecks).toMatchObject([
      { policyName: 'Wrong twice', problems: [{ field: 'condition', column: 8 }, { field: 'consensus' }] },
      {
        problems: [],
        warnings: [
          { message: expect.stringContaining("did you mean 'SIGN_RAW_PAYLOAD'?") as string },
          { message: "Nothing in this organization has the id '8f14e45f-ceea-467f-9c4b-3d1b2a5e6f70'." },
        ],
      },
      { problems: [], warnings: [] },
    ]);
  });

  test('knows an account by its address in any spelling', async () => {
    const { ethereum, solana } = await newWallet(service.root);
    const wrong = [`${solana} `, solana.toLowerCase(), '0x71c7656ec7ab88b098defb751b7401b5f6d8976f'];
    const isOneOf = (addresses: readonly string[]): string =>
      `wallet_account.address in [${addresses.map((address) => `'${address}'`).join(', ')}]`;
    const spellings = [ethereum, ethereum.toLowerCase(), ethereum.toUpperCase(), solana];
    const conditions = [isOneOf(spellings), isOneOf(wrong)];
    const { policyChecks } = await ask<Checks>('check_policies', {
      policies: conditions.map((condition) => ({ effect: 'EFFECT_ALLOW', condition })),
    });
    expect(policyChecks.map(({ warnings }) => warnings.map(({ message }) => message))).toEqual([
      [],
      wrong.map((address) => `No account of this organization has the address '${address}'.`),
    ]);
  });
});

test('check_policies answers a form for what a form can say, and tells which are for any user', async () => {
  const { policyChecks } = await ask<{ policyChecks: readonly Json[] }>('check_policies', {
    policies: [
      {
        effect: 'EFFECT_ALLOW',
        condition: "wallet.id == 'w' && RollingCount('1h') <= 5",
        consensus: "approvers.any(u, u.id in ['a'])",
      },
      { effect: 'EFFECT_ALLOW', condition: "wallet.id == 'w' || wallet.id == 'v'" },
      { effect: 'EFFECT_ALLOW', condition: 'eth.tx.valu < 5' },
    ],
  });
  expect(policyChecks).toMatchObject([
    {
      form: {
        agreements: [{ count: 1, of: { kind: 'users', ids: ['a'] } }],
        keys: { kind: 'wallets', ids: ['w'] },
        signatures: { count: '5', window: '1h', by: [] },
        payment: null,
      },
      forAnyUser: false,
    },
    { forAnyUser: true },
    { forAnyUser: false, problems: [{ field: 'condition' }] },
  ]);
  expect(policyChecks.map((check) => 'form' in check)).toEqual([true, false, false]);
});

test('get_policy_language describes what may be written', async () => {
  const { policyLanguage } = await ask<{ policyLanguage: Json }>('get_policy_language');
  expect(policyLanguage['assets']).toContainEqual({
    chainId: '1',
    network: 'Ethereum',
    symbol: 'USDC',
    decimals: 6,
    token: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
    exactFees: true,
  });
  expect(policyLanguage['texts']).toContainEqual({
    of: 'activity.kind',
    values: expect.arrayContaining(['CREATE_WALLET', 'SIGN_RAW_PAYLOAD']) as string[],
  });
  expect(policyLanguage['types']).toContainEqual({
    name: 'Wallet',
    fields: expect.arrayContaining([{ name: 'exported', type: 'bool' }]) as object[],
  });
});

describe('list_widening_policies', () => {
  const newUser = '8f14e45f-ceea-467f-9c4b-3d1b2a5e6f70';
  const spender = (userId: string): Spender => ({
    userId,
    isBot: false,
    walletId: '0190a1b2-0000-4000-8000-000000000001',
    chainIds: [1n],
    budgets: [{ tokens: [], amount: 5n, period: 'day' }],
    receivers: [],
    messages: false,
    approverId: undefined,
  });
  const drafts = policiesOfSpender('Agent claude', spender(newUser)).map(
    ({ effect, condition, consensus }) => ({ effect, condition, consensus }),
  );
  const names = async (parameters: Json): Promise<readonly string[]> => {
    const { wideningPolicies } = await ask<{ wideningPolicies: readonly { policyName: string }[] }>(
      'list_widening_policies',
      parameters,
    );
    return wideningPolicies.map(({ policyName }) => policyName);
  };
  const create = async (policyName: string, consensus: string, condition = "activity.action == 'SIGN'") => {
    const policy = { policyName, effect: 'EFFECT_ALLOW', condition, consensus, notes: '' };
    resultOf(await service.root.submit('create_policy', 'CREATE_POLICY_V3', policy));
  };

  test('says before a user is created, and afterwards, which policies go beyond its own', async () => {
    const tag = { userTagName: 'mcp', userIds: [] };
    const { userTagId } = resultOf(
      await service.root.submit('create_user_tag', 'CREATE_USER_TAG', tag),
    ) as unknown as { userTagId: string };
    await create('For the tag', `approvers.any(user, user.tags.contains('${userTagId}'))`);
    await create('For another', `approvers.any(user, user.id == '${service.rootUserId}')`);
    await create('Exports', `approvers.count() == 1`, "activity.action == 'EXPORT'");
    expect(await names({ userId: newUser, policies: drafts })).toEqual([]);
    expect(await names({ userId: newUser, userTags: [userTagId], policies: drafts })).toEqual([
      'For the tag',
    ]);
    // A draft takes the place of no policy in force, whatever name it comes with.
    const named = drafts.map((draft) => ({ ...draft, policyName: 'For the tag' }));
    expect(await names({ userId: newUser, userTags: [userTagId], policies: named })).toEqual(['For the tag']);
    // Its own policies deny the rest. Without them, it might do that too.
    expect(await names({ userId: newUser, userTags: [userTagId] })).toEqual(['For the tag', 'Exports']);

    const user = { userName: 'mcp claude', apiKeys: [], authenticators: [], oauthProviders: [] };
    const {
      userIds: [userId = ''],
    } = resultOf(
      await service.root.submit('create_users', 'CREATE_USERS_V4', {
        users: [{ ...user, userTags: [userTagId] }],
      }),
    );
    const policies = policiesOfSpender('Agent claude', spender(userId));
    resultOf(await service.root.submit('create_policies', 'CREATE_POLICIES', { policies }));
    expect(await names({ userId })).toEqual(['For the tag']);
    // The tags of a user who exists are the user's own.
    expect(await names({ userId, userTags: [] })).toEqual(['For the tag']);
  });

  // The class: a policy that means the spender by a name other than its id.
  test('finds a policy that names the spender by its key, its alias or its email', async () => {
    const { userId } = await service.newUser('Named');
    const policies = policiesOfSpender('Agent named', spender(userId));
    resultOf(await service.root.submit('create_policies', 'CREATE_POLICIES', { policies }));
    const userEmail = 'named@example.com';
    resultOf(await service.root.submit('update_user_email', 'UPDATE_USER_EMAIL', { userId, userEmail }));
    const { body } = await service.root.query('get_user', { userId });
    const { user } = body as unknown as {
      user: { apiKeys: readonly [{ apiKeyId: string; credential: { publicKey: string } }] };
    };
    const [{ apiKeyId, credential }] = user.apiKeys;
    for (const consensus of [
      `credentials.any(c, c.public_key == '${credential.publicKey}')`,
      `credentials.any(c, c.id == '${apiKeyId}')`,
      "approvers.any(u, u.alias == 'Named')",
      `approvers.any(u, u.email == '${userEmail}')`,
    ]) {
      const draft = { effect: 'EFFECT_ALLOW', condition: "activity.action == 'SIGN'", consensus };
      expect(await names({ userId, policies: [draft] }), consensus).toContain('Draft 1');
      const { policyChecks } = await ask<{ policyChecks: readonly Json[] }>('check_policies', {
        policies: [draft],
      });
      expect(policyChecks, consensus).toMatchObject([{ widensBots: [userId], forAnyUser: false }]);
    }
  });

  test('tells of a member of the root quorum that no budget bounds it', async () => {
    expect(await ask('list_widening_policies', { userId: service.rootUserId })).toMatchObject({
      inRootQuorum: true,
    });
    expect(await ask('list_widening_policies', { userId: newUser, policies: drafts })).toMatchObject({
      inRootQuorum: false,
    });
  });

  test('refuses a policy that does not compile', async () => {
    const policies = [{ effect: 'EFFECT_ALLOW', condition: 'eth.' }];
    const { status, body } = await service.root.query('list_widening_policies', {
      userId: newUser,
      policies,
    });
    expect(status).toBe(400);
    expect(body?.['message']).toContain('policies[0].condition');
  });
});
