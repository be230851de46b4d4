/** Sentences about activities: what a person reads before approving says what carrying it out does, whatever names say. */
import { serializeTransaction } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operations } from '../../main/operations/index.ts';
import { spokenPaths } from '../../main/operations/activities/effects.ts';
import {
  activityOf,
  ethereumAccount,
  newTestKey,
  resultOf,
  startTestVault,
  TestClient,
} from '../support/support.ts';
import type { Json, TestVault } from '../support/support.ts';

let service: TestVault;
let ben: TestClient;

interface Part {
  readonly text: string;
  readonly kind?: string;
  readonly id?: string;
}

interface Description {
  readonly about: readonly Part[];
  readonly effect: readonly Part[];
  readonly fields: readonly { readonly label: string; readonly value: readonly Part[] }[];
  readonly shortened: boolean;
}

beforeAll(async () => {
  service = await startTestVault();
  const key = newTestKey();
  const { root } = service;
  activityOf(
    await root.submit('create_users', 'CREATE_USERS_V3', {
      users: [
        {
          userName: 'Ben',
          apiKeys: [{ apiKeyName: 'key', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }],
          authenticators: [],
          oauthProviders: [],
          userTags: [],
        },
      ],
    }),
  );
  activityOf(
    await root.submit('create_policy', 'CREATE_POLICY_V3', {
      policyName: 'By two',
      effect: 'EFFECT_ALLOW',
      consensus: 'approvers.count() >= 2',
      notes: '',
    }),
  );
  ben = root.as(key);
});
afterAll(() => service[Symbol.asyncDispose]());

/** Names stand in brackets, so that no plain word passes for one. */
const written = (parts: readonly Part[]): string =>
  parts.map(({ text, kind }) => (kind === undefined ? text : `[${text}]`)).join('');

async function describeAll(ids: readonly string[]): Promise<readonly Description[]> {
  const { status, text, body } = await service.root.query('describe_activities', { activityIds: ids });
  expect(status, text).toBe(200);
  return body?.['descriptions'] as readonly Description[];
}

async function asked(path: string, type: string, parameters: Json): Promise<Description> {
  const activity = activityOf(await ben.submit(path, type, parameters));
  const [description] = await describeAll([activity.id]);
  if (description === undefined) throw new Error(`no description of ${type}`);
  return description;
}

const made = async (path: string, type: string, parameters: Json): Promise<Json> =>
  resultOf(await service.root.submit(path, type, parameters));

const walletNamed = (walletName: string, accounts = 1): Promise<Json> =>
  made('create_wallet', 'CREATE_WALLET', {
    walletName,
    accounts: Array.from({ length: accounts }, (_, index) => ({
      ...ethereumAccount,
      path: `m/44'/60'/0'/0/${String(index)}`,
    })),
  });

const targetPublicKey = `046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c2964fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5`;

test('every activity that a policy can hold back has a sentence of its own', () => {
  const without = [...operations.byType.values()]
    .map(({ operation }) => operation)
    .filter(({ path }) => !spokenPaths.includes(path))
    .map(({ path }) => path);
  // Signing in, and deliveries that were sent before: their titles say it all, and the fields say where to.
  expect([...new Set(without)].sort()).toEqual([
    'create_read_only_session',
    'email_auth',
    'init_otp',
    'init_otp_auth',
    'init_user_email_recovery',
    'oauth',
    'oauth_login',
    'otp_auth',
    'otp_login',
    'recover_user',
    'replay_webhook_deliveries',
    'stamp_login',
    'test_webhook_endpoint',
    'verify_otp',
  ]);
});

describe('the sentence', () => {
  test('of an export says what leaves the vault, by the vault’s own tables', async () => {
    const { walletId } = await walletNamed('Treasury', 3);
    const { about, effect, fields } = await asked('export_wallet', 'EXPORT_WALLET', {
      walletId,
      targetPublicKey,
    });
    expect(written(about)).toBe('[Treasury]');
    expect(written(effect)).toBe(
      'The requester gets the words of the wallet [Treasury], which open its 3 accounts for good.',
    );
    expect(fields.map(({ label, value }) => [label, written(value)])).toEqual([
      ['Wallet', '[Treasury]'],
      ['Target public key', targetPublicKey],
    ]);
  });

  test('of a transaction has the chain’s reading: how much, to whom, and from where', async () => {
    const { addresses } = await walletNamed('Everyday');
    const [signWith = ''] = addresses as readonly string[];
    const { about, effect, fields } = await asked('sign_transaction', 'SIGN_TRANSACTION_V2', {
      signWith,
      type: 'TRANSACTION_TYPE_ETHEREUM',
      unsignedTransaction: serializeTransaction({
        type: 'eip1559',
        chainId: 1,
        to: `0x${'35'.repeat(20)}`,
        value: 10n ** 18n,
      }),
    });
    expect(written(about)).toMatch(
      /^Send 1 ETH to 0x(35){20}, with a fee of at most 0 ETH, from \[Everyday\]$/,
    );
    expect(written(effect)).toMatch(/^The vault signs with \[Everyday\]: Send 1 ETH to 0x(35){20}, /);
    expect(fields).toEqual([]);
  });

  test('of an unreadable payload says so', async () => {
    const { addresses } = await walletNamed('Blind');
    const [signWith = ''] = addresses as readonly string[];
    const { about } = await asked('sign_raw_payloads', 'SIGN_RAW_PAYLOADS', {
      signWith,
      payloads: ['aa'.repeat(32), 'bb'.repeat(32)],
      encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
      hashFunction: 'HASH_FUNCTION_NO_OP',
    });
    expect(written(about)).toMatch(/^Sign a hash.*, and 1 more payload, from \[Blind\]$/);
  });

  test('names what was deleted meanwhile as deleted, and never another thing', async () => {
    const { walletId } = await walletNamed('Gone');
    const activity = activityOf(
      await ben.submit('export_wallet', 'EXPORT_WALLET', { walletId, targetPublicKey }),
    );
    await made('delete_wallets', 'DELETE_WALLETS', { walletIds: [walletId], deleteWithoutExport: true });
    await walletNamed('Gone');
    const [description] = await describeAll([activity.id]);
    expect(written(description?.about ?? [])).toBe('a deleted or unknown wallet');
    expect(description?.fields.map(({ value }) => written(value))).toContain(
      'something that was deleted, or has no name',
    );
  });

  test('says of a key that the vault does not have no more than that', async () => {
    const { about } = await asked('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', {
      signWith: '0x52908400098527886E0F7030069857D2E4169EE7',
      payload: 'hello',
      encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
      hashFunction: 'HASH_FUNCTION_KECCAK256',
    });
    expect(written(about)).toBe('Sign a text, from a key that the vault does not have');
  });

  test('keeps a name apart from its words, whatever the name says', async () => {
    const names = [
      'Tips], 0 accounts, for nobody. [Safe',
      '<b onmouseover=alert(1)>Treasury</b>',
      '0x3535353535353535353535353535353535353535',
      'قرض',
    ];
    for (const name of names) {
      const { walletId } = await walletNamed(name);
      const { effect } = await asked('delete_wallets', 'DELETE_WALLETS', { walletIds: [walletId] });
      expect(effect).toEqual([
        { text: 'The vault deletes ' },
        { text: name, kind: 'WALLET', id: walletId },
        { text: ', with 1 account, for good.' },
      ]);
    }
    // Names that hide characters, or are as long as a page, never come into being.
    for (const walletName of ['Savings\u202egnihton', 'x'.repeat(10_000)]) {
      const { status } = await ben.submit('create_wallet', 'CREATE_WALLET', { walletName, accounts: [] });
      expect(status).toBe(400);
    }
  });

  test.each([
    ['EFFECT_ALLOW', ' ', '\n', 'allows every request by any user'],
    ['EFFECT_ALLOW', '', 'approvers.count() >= 2', 'allows every request when its consensus holds'],
    ['EFFECT_ALLOW', 'wallet.imported', '\t', 'allows requests that match its condition by any user'],
    ['EFFECT_DENY', ' ', '', 'denies every request'],
    ['EFFECT_DENY', '', 'approvers.count() >= 2', 'denies every request when its consensus holds'],
  ])('of a policy (%s, %j, %j) says how it decides', async (policyEffect, condition, consensus, says) => {
    const { effect } = await asked('create_policy', 'CREATE_POLICY_V3', {
      policyName: `Draft ${says.slice(0, 60)}`,
      effect: policyEffect,
      condition,
      consensus,
      notes: '',
    });
    expect(written(effect)).toBe(`From then on, the policy [Draft ${says.slice(0, 60)}] ${says}.`);
  });

  test('of a changed policy says how it decides then, by what it keeps and what it loses', async () => {
    const { policyId } = await made('create_policy', 'CREATE_POLICY_V3', {
      policyName: 'Small sums',
      effect: 'EFFECT_DENY',
      condition: 'wallet.imported',
      consensus: 'approvers.count() >= 2',
      notes: '',
    });
    const changes = [
      [
        { policyConsensus: '', policyEffect: 'EFFECT_ALLOW' },
        'allows requests that match its condition by any user',
      ],
      [
        { policyCondition: '', policyConsensus: ' ', policyEffect: 'EFFECT_ALLOW', policyName: 'Tiny sums' },
        'allows every request by any user, and has the name [Tiny sums]',
      ],
      [{ policyCondition: '' }, 'denies every request when its consensus holds'],
      [{ policyNotes: 'more' }, 'decides as before'],
    ] as const;
    for (const [change, says] of changes) {
      const { effect } = await asked('update_policy', 'UPDATE_POLICY_V2', { policyId, ...change });
      expect(written(effect)).toBe(`From then on, the policy [Small sums] ${says}.`);
    }
  });

  test('of many policies names the ones that allow everything', async () => {
    const policy = (policyName: string, condition: string) => ({
      policyName,
      effect: 'EFFECT_ALLOW',
      condition,
      notes: '',
    });
    const narrow = ['One', 'Two', 'Three', 'Four'].map((name) =>
      policy(`${name} of many`, 'wallet.imported'),
    );
    const { effect } = await asked('create_policies', 'CREATE_POLICIES', {
      policies: [...narrow, policy('Last of many', '')],
    });
    expect(written(effect)).toBe(
      'From then on, these policies decide requests: [One of many], [Two of many], [Three of many] and 2 more. ' +
        'Every request by any user is allowed by [Last of many].',
    );
  });

  test('of a changed user says every change', async () => {
    const { userIds } = await made('create_users', 'CREATE_USERS_V3', {
      users: [{ userName: 'Uwe', apiKeys: [], authenticators: [], oauthProviders: [], userTags: [] }],
    });
    const [userId = ''] = userIds as readonly string[];
    const { userTagId } = await made('create_user_tag', 'CREATE_USER_TAG', {
      userTagName: 'intern',
      userIds: [userId],
    });
    const sentence = async (change: Json) =>
      written((await asked('update_user', 'UPDATE_USER', { userId, ...change })).effect);
    expect(
      await sentence({ userName: 'Uta', userEmail: 'u@example.org', userPhoneNumber: '', userTagIds: [] }),
    ).toBe(
      'The user [Uwe] gets the name [Uta], and gets one-time codes at [u@example.org], and loses the phone number, and has no tags then.',
    );
    expect(await sentence({ userTagIds: [userTagId] })).toBe('The user [Uwe] has the tags [intern] alone.');
    expect(await sentence({})).toBe('The user [Uwe] stays as it is.');
  });

  test('of a grant says whose, by which key, and of what', async () => {
    const { addresses } = await walletNamed('Granted');
    const [signWith = ''] = addresses as readonly string[];
    const request = activityOf(
      await ben.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', {
        signWith,
        payload: 'cc'.repeat(32),
        encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
        hashFunction: 'HASH_FUNCTION_NO_OP',
      }),
    );
    const { fingerprint } = request as unknown as { readonly fingerprint: string };
    const granted = await asked('create_grant', 'CREATE_GRANT', { fingerprint, span: 'TODAY' });
    expect(written(granted.about)).toBe('[Ben], until midnight');
    expect(written(granted.effect)).toMatch(
      /^The user \[Ben\] may sign the like of this with the same key until midnight: Sign a hash.*, from \[Granted\]\. A lock ends this\.$/,
    );
    const unknown = await asked('create_grant', 'CREATE_GRANT', {
      fingerprint: `sha256:${'a'.repeat(64)}`,
      span: 'TODAY',
    });
    expect(written(unknown.effect)).toBe('The vault has no such request, and allows nothing more.');
  });

  test('of what ends a way in, or lends one, says whose', async () => {
    const { userId } = await service.newUser('Una');
    const someId = '7ba2b6a4-0d2b-4a7c-9b37-0f1f3b8d5c11';
    const sentence = async (path: string, type: string, parameters: Json) =>
      written((await asked(path, type, parameters)).effect);
    expect(await sentence('delete_sessions', 'DELETE_SESSIONS', { userId, sessionIds: [someId] })).toBe(
      'The vault ends 1 session of the user [Una].',
    );
    expect(
      await sentence('delete_oauth_providers', 'DELETE_OAUTH_PROVIDERS', { userId, providerIds: [someId] }),
    ).toBe('ID tokens of a deleted or unknown OAuth provider no longer sign in as the user [Una].');
    expect(
      await sentence('create_read_write_session', 'CREATE_READ_WRITE_SESSION_V2', {
        targetPublicKey,
        userId,
      }),
    ).toBe('The requester gets a session that acts as the user [Una].');
  });

  test('says of a long request that it is shortened', async () => {
    const users = Array.from({ length: 40 }, (_, index) => ({
      userName: `User ${String(index)}`,
      apiKeys: [],
      authenticators: [],
      oauthProviders: [],
      userTags: [],
      userEmail: `user${String(index)}@example.org`,
    }));
    const { about, fields, shortened } = await asked('create_users', 'CREATE_USERS_V3', { users });
    expect(written(about)).toBe('[User 0], [User 1], [User 2] and 37 more');
    expect(shortened).toBe(fields.length >= 100);
  });
});

describe('the fields', () => {
  const shown = ({ fields }: Description) => fields.map(({ label, value }) => [label, written(value)]);

  test('never show the name of a thing in the place of a text that is written like its id', async () => {
    const { walletId } = await walletNamed('Treasury of old');
    const { fields } = await asked('create_wallet', 'CREATE_WALLET', { walletName: walletId, accounts: [] });
    expect(fields[0]).toEqual({ label: 'Wallet name', value: [{ text: walletId }] });
  });

  test('show a list or a text that is empty, since it takes away what was there', async () => {
    const { userIds } = await made('create_users', 'CREATE_USERS_V3', {
      users: [{ userName: 'Tia', apiKeys: [], authenticators: [], oauthProviders: [], userTags: [] }],
    });
    const [userId = ''] = userIds as readonly string[];
    expect(
      shown(await asked('update_user', 'UPDATE_USER', { userId, userEmail: '', userTagIds: [] })),
    ).toEqual([
      ['User', '[Tia]'],
      ['User email', 'none'],
      ['User tags', 'none'],
    ]);
  });
});

test('an organization hears of its own activities alone', async () => {
  const key = newTestKey();
  const sub = await made('create_sub_organization', 'CREATE_SUB_ORGANIZATION_V8', {
    subOrganizationName: 'Apart',
    rootUsers: [
      {
        userName: 'Root',
        apiKeys: [{ apiKeyName: 'key', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }],
        authenticators: [],
        oauthProviders: [],
      },
    ],
    rootQuorumThreshold: 1,
  });
  const { walletId } = await walletNamed('Not theirs');
  const activity = activityOf(
    await ben.submit('export_wallet', 'EXPORT_WALLET', { walletId, targetPublicKey }),
  );
  const apart = new TestClient(service.url, sub['subOrganizationId'] as string, key);
  const { body } = await apart.query('describe_activities', { activityIds: [activity.id] });
  expect(body?.['descriptions']).toEqual([]);
});
