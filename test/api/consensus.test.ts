/** Activities that wait for votes: three people with the vendor's SDKs, and all outcomes of their votes. */
import { ApiKeyStamper } from '@turnkey/api-key-stamper';
import {
  createActivityPoller,
  getSignatureFromActivity,
  TurnkeyActivityConsensusNeededError,
  TurnkeyClient,
} from '@turnkey/http';
import { Turnkey } from '@turnkey/sdk-server';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { activityOf, ethereumAccount, newTestKey, resultOf, startTestVault } from '../support/support.ts';
import type { ActivityBody, Answer, Json, TestClient, TestVault } from '../support/support.ts';

const hour = 60 * 60_000;

let service: TestVault;
let people: Record<'ann' | 'ben' | 'cat' | 'dan', { readonly userId: string; readonly client: TestClient }>;
let address: string;

beforeAll(async () => {
  service = await startTestVault();
  const person = (name: string) => service.newUser(name);
  people = {
    ann: await person('Ann'),
    ben: await person('Ben'),
    cat: await person('Cat'),
    dan: await person('Dan'),
  };
  const wallet = await service.root.submit('create_wallet', 'CREATE_WALLET', {
    walletName: 'Treasury',
    accounts: [ethereumAccount],
  });
  address = resultOf(wallet).addresses[0] ?? '';
  const { ann, ben, cat } = people;
  const named = [ann, ben, cat].map(({ userId }) => `'${userId}'`).join(', ');
  resultOf(
    await service.root.submit('create_policy', 'CREATE_POLICY_V3', {
      policyName: 'Two of three sign',
      effect: 'EFFECT_ALLOW',
      condition: "activity.action == 'SIGN' && wallet.label == 'Treasury'",
      consensus: `approvers.filter(user, user.id in [${named}]).count() >= 2`,
      notes: '',
    }),
  );
});
afterAll(() => service[Symbol.asyncDispose]());

const signing = (payload: string) => ({
  signWith: address,
  payload,
  encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
  hashFunction: 'HASH_FUNCTION_KECCAK256',
});

const ask = (who: keyof typeof people, payload: string): Promise<Answer> =>
  people[who].client.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', signing(payload), now());

/** Something that Ann has asked for. */
const waiting = async (payload: string): Promise<ActivityBody> => activityOf(await ask('ann', payload));

const vote = (client: TestClient, verb: 'approve' | 'reject', { fingerprint }: { fingerprint: string }) =>
  client.submit(`${verb}_activity`, `${verb.toUpperCase()}_ACTIVITY`, { fingerprint }, now());

const approve = (who: keyof typeof people, activity: ActivityBody) =>
  vote(people[who].client, 'approve', activity);

const current = async (client: TestClient, { id }: ActivityBody): Promise<ActivityBody> =>
  activityOf(await client.query('get_activity', { activityId: id }));

/** The service's time, which tests move: no two requests have the same. */
let requests = 0;
const now = (): { readonly timestampMs: string } => {
  requests += 1;
  return { timestampMs: String(service.clock.wall() + requests) };
};

const refusal = ({ status, body = {} }: Answer) => ({ status, message: body['message'] });

describe('through the vendor’s SDKs', () => {
  const http = ({ client: { key } }: { client: TestClient }) =>
    new TurnkeyClient(
      { baseUrl: service.url },
      new ApiKeyStamper({ apiPublicKey: key.publicKey, apiPrivateKey: key.privateKey }),
    );
  const server = (
    { client: { key } }: { client: TestClient },
    activityPoller = { intervalMs: 10, numRetries: 3 },
  ) =>
    new Turnkey({
      activityPoller,
      apiBaseUrl: service.url,
      apiPublicKey: key.publicKey,
      apiPrivateKey: key.privateKey,
      defaultOrganizationId: service.organizationId,
    }).apiClient();
  const submitted = async (payload: string) => {
    const { activity } = await http(people.ann).signRawPayload({
      type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
      organizationId: service.organizationId,
      ...now(),
      parameters: signing(payload) as never,
    });
    return activity;
  };

  test('two approvals execute what the first of them asked for', async () => {
    const asked = await submitted('by SDK');
    expect(asked).toMatchObject({
      status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED',
      result: {},
      canApprove: false,
    });
    const answer = await server(people.ben).approveActivity({ fingerprint: asked.fingerprint });
    expect(answer.activity).toMatchObject({
      id: asked.id,
      type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
      status: 'ACTIVITY_STATUS_COMPLETED',
      result: { signRawPayloadResult: { r: expect.stringMatching(/^[0-9a-f]{64}$/) as string } },
    });
    expect(answer.activity.votes.map(({ userId, selection }) => [userId, selection])).toEqual([
      [people.ann.userId, 'VOTE_SELECTION_APPROVED'],
      [people.ben.userId, 'VOTE_SELECTION_APPROVED'],
    ]);
    // The owner, whom no policy binds, signs the same for comparison.
    const same = await service.root.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', signing('by SDK'));
    expect(answer.activity.result.signRawPayloadResult).toEqual(resultOf(same));
  });

  test('one rejection ends it', async () => {
    const asked = await submitted('to be rejected');
    const answer = await server(people.cat).rejectActivity({ fingerprint: asked.fingerprint });
    expect(answer.activity).toMatchObject({ id: asked.id, status: 'ACTIVITY_STATUS_REJECTED', result: {} });
    await expect(server(people.ben).approveActivity({ fingerprint: asked.fingerprint })).rejects.toThrow(
      'takes no more votes, it is ACTIVITY_STATUS_REJECTED',
    );
  });

  test('their pollers say that it waits or was rejected, and take up what is approved meanwhile', async () => {
    const client = http(people.ann);
    const poll = createActivityPoller({ client, requestFn: client.signRawPayload, refreshIntervalMs: 10 });
    const request = {
      type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2' as const,
      organizationId: service.organizationId,
      ...now(),
      parameters: signing('polled') as never,
    };
    await expect(poll(request)).rejects.toMatchObject({ activityStatus: 'ACTIVITY_STATUS_CONSENSUS_NEEDED' });
    const { activity } = await client.signRawPayload(request);
    expect(() => getSignatureFromActivity(activity)).toThrow(TurnkeyActivityConsensusNeededError);
    await server(people.cat).rejectActivity({ fingerprint: activity.fingerprint });
    await expect(poll(request)).rejects.toMatchObject({ activityStatus: 'ACTIVITY_STATUS_REJECTED' });

    const patient = server(people.ann, { intervalMs: 10, numRetries: 10_000 });
    const signature = patient.signRawPayload(signing('polled until approved') as never);
    const asked = await vi.waitFor(async () => {
      const { activities } = await server(people.ben).getActivities({
        filterByStatus: ['ACTIVITY_STATUS_CONSENSUS_NEEDED'],
        paginationOptions: { limit: '1' },
      });
      expect(activities).toHaveLength(1);
      return activities[0]?.fingerprint ?? '';
    });
    await server(people.ben).approveActivity({ fingerprint: asked });
    expect(await signature).toMatchObject({ r: expect.stringMatching(/^[0-9a-f]{64}$/) as string });
  });
});

describe('who may vote', () => {
  test('a user whom no policy names is refused, and sees that', async () => {
    const asked = await waiting('not for Dan');
    expect(await current(people.dan.client, asked)).toMatchObject({ canApprove: false, canReject: false });
    for (const verb of ['approve', 'reject'] as const) {
      expect(refusal(await vote(people.dan.client, verb, asked))).toEqual({
        status: 403,
        message: expect.stringMatching(/^You don't have sufficient permissions/) as string,
      });
    }
    expect(await current(people.ben.client, asked)).toMatchObject({ canApprove: true, canReject: true });
    expect(await current(people.ann.client, asked)).toMatchObject({ canApprove: false, canReject: true });
    // Nothing of it was recorded.
    expect((await current(people.ann.client, asked)).votes).toHaveLength(1);
  });

  test('a request does not wait for a consensus without a part of its user', async () => {
    expect((await ask('dan', 'mine')).status).toBe(403);
  });

  test('HASH_FUNCTION_NOT_APPLICABLE is for Ed25519 only, which is checked before policies', async () => {
    const hashFunction = 'HASH_FUNCTION_NOT_APPLICABLE';
    const { payload, ...how } = { ...signing('with it'), hashFunction };
    const asked = (who: 'ann' | 'dan') => [
      people[who].client.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', { ...how, payload }, now()),
      people[who].client.submit(
        'sign_raw_payloads',
        'SIGN_RAW_PAYLOADS',
        { ...how, payloads: [payload] },
        now(),
      ),
    ];
    const before = await service.root.query('list_activities', { paginationOptions: { limit: '1' } });
    // A policy has Ann's requests wait for a vote, and none allows Dan's.
    for (const answer of await Promise.all([...asked('ann'), ...asked('dan')])) {
      expect(answer.body).toMatchObject({
        code: 3,
        message: expect.stringMatching(/^invalid hash function: parameters\.hashFunction: /) as string,
      });
    }
    const after = await service.root.query('list_activities', { paginationOptions: { limit: '1' } });
    expect(after.body?.['activities']).toEqual(before.body?.['activities']);
  });

  test('the root quorum may approve anything', async () => {
    const asked = await waiting('for the owner');
    expect(activityOf(await vote(service.root, 'approve', asked)).status).toBe('ACTIVITY_STATUS_COMPLETED');
  });

  test('a batch waits for those of whom one of its items needs it', async () => {
    const made = await service.root.submit('create_policy', 'CREATE_POLICY_V3', {
      policyName: 'Ann signs mail',
      effect: 'EFFECT_ALLOW',
      condition: "eth.eip_712.primary_type == 'Mail'",
      consensus: `approvers.any(user, user.id == '${people.ann.userId}')`,
      notes: '',
    });
    const batch = async (...types: string[]): Promise<Answer> =>
      people.ann.client.submit(
        'sign_raw_payloads',
        'SIGN_RAW_PAYLOADS',
        {
          signWith: address,
          encoding: 'PAYLOAD_ENCODING_EIP712',
          hashFunction: 'HASH_FUNCTION_NO_OP',
          payloads: types.map((primaryType) =>
            JSON.stringify({
              domain: { name: 'App' },
              primaryType,
              types: {
                EIP712Domain: [{ name: 'name', type: 'string' }],
                [primaryType]: [{ name: 'text', type: 'string' }],
              },
              message: { text: 'x' },
            }),
          ),
        },
        now(),
      );
    expect(activityOf(await batch('Mail', 'Mail')).status).toBe('ACTIVITY_STATUS_COMPLETED');
    const asked = activityOf(await batch('Mail', 'Order'));
    expect(asked.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
    expect(await current(people.ben.client, asked)).toMatchObject({ canApprove: true });
    expect(await current(people.dan.client, asked)).toMatchObject({ canApprove: false });
    const done = await approve('ben', asked);
    expect(activityOf(done).status).toBe('ACTIVITY_STATUS_COMPLETED');
    expect(resultOf(done)['signatures']).toHaveLength(2);
    const { policyId } = resultOf(made) as unknown as { policyId: string };
    await service.root.submit('delete_policy', 'DELETE_POLICY', { policyId });
  });

  test('what names a key that was deleted since is shown, listed and rejected', async () => {
    const [gus, hal] = [await service.newUser('Gus'), await service.newUser('Hal')];
    const consensus = `approvers.filter(user, user.id in ['${gus.userId}', '${hal.userId}']).count() == 2`;
    for (const [policyName, about] of [
      ['Gus and Hal by key', "signing_key.public_key != ''"],
      ['Gus and Hal', "activity.action == 'SIGN'"],
    ] as const) {
      const condition = `submitter.id == '${gus.userId}' && ${about}`;
      const policy = { policyName, effect: 'EFFECT_ALLOW', condition, consensus, notes: '' };
      resultOf(await service.root.submit('create_policy', 'CREATE_POLICY_V3', policy));
    }
    const { privateKeys } = resultOf(
      await service.root.submit('create_private_keys', 'CREATE_PRIVATE_KEYS_V2', {
        privateKeys: [
          { privateKeyName: 'Gone', curve: 'CURVE_SECP256K1', addressFormats: [], privateKeyTags: [] },
        ],
      }),
    ) as unknown as { readonly privateKeys: readonly { readonly privateKeyId: string }[] };
    const signWith = privateKeys[0]?.privateKeyId;
    const asked = activityOf(
      await gus.client.submit(
        'sign_raw_payload',
        'SIGN_RAW_PAYLOAD_V2',
        { ...signing('gone'), signWith },
        now(),
      ),
    );
    resultOf(
      await service.root.submit('delete_private_keys', 'DELETE_PRIVATE_KEYS', {
        privateKeyIds: [signWith],
        deleteWithoutExport: true,
      }),
    );
    for (const client of [gus.client, hal.client, people.dan.client]) {
      expect((await current(client, asked)).status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
      expect((await client.query('list_activities')).status).toBe(200);
    }
    expect((await vote(hal.client, 'approve', asked)).status).toBe(404);
    expect(activityOf(await vote(hal.client, 'reject', asked)).status).toBe('ACTIVITY_STATUS_REJECTED');
  });

  test('the submitter may cancel it', async () => {
    const asked = await waiting('changed my mind');
    expect(activityOf(await vote(people.ann.client, 'reject', asked)).status).toBe(
      'ACTIVITY_STATUS_REJECTED',
    );
  });

  test('an activity that is not there', async () => {
    expect(
      refusal(await approve('ben', { fingerprint: `sha256:${'0'.repeat(64)}` } as ActivityBody)),
    ).toEqual({
      status: 404,
      message:
        'No activity found with fingerprint. Consensus activities must target an existing activity by fingerprint',
    });
  });
});

describe('which votes count', () => {
  test('one user’s approvals are one', async () => {
    const asked = await waiting('twice');
    const again = activityOf(await approve('ann', asked));
    expect(again.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
    expect(again.votes).toHaveLength(1);
  });

  test('one credential is one, however often it votes', async () => {
    const policy = await service.root.submit('create_policy', 'CREATE_POLICY_V3', {
      policyName: 'Two credentials sign',
      effect: 'EFFECT_ALLOW',
      condition: "activity.action == 'SIGN' && wallet.label == 'Treasury'",
      consensus: 'credentials.count() >= 2',
      notes: '',
    });
    const asked = await waiting('by one key');
    const again = activityOf(await approve('ann', asked));
    expect(again.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
    expect(activityOf(await approve('ben', asked)).status).toBe('ACTIVITY_STATUS_COMPLETED');
    const { policyId } = resultOf(policy);
    resultOf(await service.root.submit('delete_policy', 'DELETE_POLICY', { policyId }));
  });

  test('the same vote again does not count twice, also after the end', async () => {
    const asked = await waiting('replayed');
    const { client } = people.ben;
    const body = client.submitBody('APPROVE_ACTIVITY', { fingerprint: asked.fingerprint }, now());
    const first = activityOf(await client.post('submit/approve_activity', body));
    expect(first.status).toBe('ACTIVITY_STATUS_COMPLETED');
    service.clock.advance(2 * hour);
    expect(activityOf(await client.post('submit/approve_activity', body))).toEqual(first);
    // In another's hands it is another's vote, and too old.
    const stolen = await people.cat.client.post('submit/approve_activity', body);
    service.clock.advance(-2 * hour);
    expect(refusal(stolen)).toMatchObject({
      status: 400,
      message: expect.stringContaining('timestampMs') as string,
    });
  });

  test('approvals lapse after a day, and may be given again', async () => {
    const asked = await waiting('slow');
    service.clock.advance(24 * hour);
    const late = activityOf(await approve('ben', asked));
    expect(late.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
    expect(late['canApprove']).toBe(false);
    expect(await current(people.ann.client, asked)).toMatchObject({ canApprove: true });
    const done = activityOf(await approve('ann', asked));
    expect(done.status).toBe('ACTIVITY_STATUS_COMPLETED');
    expect(done.votes).toHaveLength(3);
    service.clock.advance(-24 * hour);
  });

  test('a vote after the end is refused', async () => {
    const asked = await waiting('too late');
    await approve('ben', asked);
    expect(refusal(await approve('cat', asked))).toMatchObject({
      status: 400,
      message: expect.stringContaining('takes no more votes, it is ACTIVITY_STATUS_COMPLETED') as string,
    });
  });

  test('the approval of a user who was removed does not', async () => {
    const eve = await service.newUser('Eve');
    const names = [people.ann, people.ben, people.cat, eve].map(({ userId }) => `'${userId}'`).join(', ');
    const made = await service.root.submit('create_policy', 'CREATE_POLICY_V3', {
      policyName: 'Three of four make wallets',
      effect: 'EFFECT_ALLOW',
      condition: "activity.kind == 'CREATE_WALLET'",
      consensus: `approvers.filter(user, user.id in [${names}]).count() >= 3`,
      notes: '',
    });
    const asked = activityOf(
      await people.ann.client.submit('create_wallet', 'CREATE_WALLET', {
        walletName: 'Shared',
        accounts: [],
      }),
    );
    await vote(eve.client, 'approve', asked);
    await service.root.submit('delete_users', 'DELETE_USERS', { userIds: [eve.userId] });
    const after = activityOf(await approve('ben', asked));
    expect(after.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
    expect(after.votes).toHaveLength(3);
    const { policyId } = resultOf(made) as unknown as { policyId: string };
    // After a change of the rule to the remaining users, any voter can have it decided again.
    await service.root.submit('update_policy', 'UPDATE_POLICY_V2', {
      policyId,
      policyConsensus: `approvers.filter(user, user.id in [${names}]).count() >= 2`,
    });
    expect(activityOf(await approve('ben', asked)).status).toBe('ACTIVITY_STATUS_COMPLETED');
  });

  test('the approval by a key that was removed does not', async () => {
    const fay = await service.newUser('Fay');
    await service.root.submit('create_policy', 'CREATE_POLICY_V3', {
      policyName: 'Fay and another',
      effect: 'EFFECT_ALLOW',
      condition: "activity.kind == 'UPDATE_WALLET'",
      consensus: `approvers.any(user, user.id == '${fay.userId}') && approvers.count() >= 2`,
      notes: '',
    });
    const { body } = await service.root.query('list_wallets');
    const wallets = body?.['wallets'] as { walletId: string; walletName: string }[];
    const walletId = wallets.find(({ walletName }) => walletName === 'Shared')?.walletId;
    const asked = activityOf(
      await fay.client.submit('update_wallet', 'UPDATE_WALLET', { walletId, walletName: 'Renamed' }),
    );
    const user = await service.root.query('get_user', { userId: fay.userId });
    const keys = (user.body as { user: { apiKeys: { apiKeyId: string }[] } }).user.apiKeys;
    const newKey = newTestKey();
    await service.root.submit('create_api_keys', 'CREATE_API_KEYS_V2', {
      userId: fay.userId,
      apiKeys: [{ apiKeyName: 'new', publicKey: newKey.publicKey, curveType: 'API_KEY_CURVE_P256' }],
    });
    await service.root.submit('delete_api_keys', 'DELETE_API_KEYS', {
      userId: fay.userId,
      apiKeyIds: keys.map(({ apiKeyId }) => apiKeyId),
    });
    expect(activityOf(await approve('ben', asked)).status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
    expect(activityOf(await vote(fay.client.as(newKey), 'approve', asked)).status).toBe(
      'ACTIVITY_STATUS_COMPLETED',
    );
  });

  test('another user who posts the very same request approves of it', async () => {
    const body = people.ann.client.submitBody('SIGN_RAW_PAYLOAD_V2', signing('the same'), now());
    const first = activityOf(await people.ann.client.post('submit/sign_raw_payload', body));
    expect(activityOf(await people.ann.client.post('submit/sign_raw_payload', body))).toEqual(first);
    expect((await people.dan.client.post('submit/sign_raw_payload', body)).status).toBe(403);
    const second = activityOf(await people.ben.client.post('submit/sign_raw_payload', body));
    expect(second).toMatchObject({ id: first.id, status: 'ACTIVITY_STATUS_COMPLETED' });
    expect(second.votes).toHaveLength(2);
    expect(activityOf(await people.cat.client.post('submit/sign_raw_payload', body)).id).toBe(first.id);
  });
});

describe('what it comes to', () => {
  test('an activity that fails when it is executed keeps why, and answers it', async () => {
    await service.root.submit('create_policy', 'CREATE_POLICY_V3', {
      policyName: 'Tags by two',
      effect: 'EFFECT_ALLOW',
      condition: "activity.kind == 'CREATE_USER_TAG'",
      consensus: 'approvers.count() >= 2',
      notes: '',
    });
    const tag = { userTagName: 'Taken', userIds: [] };
    const asked = activityOf(await people.ann.client.submit('create_user_tag', 'CREATE_USER_TAG', tag));
    await service.root.submit('create_user_tag', 'CREATE_USER_TAG', tag);
    const answer = await approve('ben', asked);
    expect(answer.status).toBe(400);
    const failed = await current(people.ann.client, asked);
    expect(failed).toMatchObject({
      status: 'ACTIVITY_STATUS_FAILED',
      result: {},
      failure: { code: 3, message: answer.body?.['message'] },
    });
    expect(failed.votes).toHaveLength(2);
  });

  test('each vote has what the policies said at it', async () => {
    const asked = await waiting('evaluated');
    const done = activityOf(await approve('ben', asked));
    const { body } = await service.root.query('get_policy_evaluations', { activityId: asked.id });
    const evaluations = body?.['policyEvaluations'] as readonly (Json & { policyEvaluations: Json[] })[];
    expect(evaluations.map(({ voteId }) => voteId)).toEqual(done.votes.map(({ id }) => id));
    const said = evaluations.map(({ policyEvaluations: [first] }) => first?.['outcome']);
    expect(said).toEqual(['OUTCOME_REQUIRES_CONSENSUS', 'OUTCOME_ALLOW']);
  });

  test('a secret is prepared for the submitter when the last vote comes', async () => {
    await service.root.submit('create_policy', 'CREATE_POLICY_V3', {
      policyName: 'Exports by two',
      effect: 'EFFECT_ALLOW',
      condition: "activity.kind == 'EXPORT_WALLET_ACCOUNT'",
      consensus: 'approvers.count() >= 2',
      notes: '',
    });
    const asked = activityOf(
      await people.ann.client.submit('export_wallet_account', 'EXPORT_WALLET_ACCOUNT', {
        address,
        targetPublicKey:
          '046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c2964fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5',
      }),
    );
    expect(asked.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
    expect(resultOf(await approve('cat', asked))).toMatchObject({ address });
  });

  test('a locked vault refuses votes', async () => {
    const asked = await waiting('locked');
    await service.vault.rpc.lock();
    expect(refusal(await approve('ben', asked))).toMatchObject({ status: 400 });
    expect((await approve('ben', asked)).body?.['turnkeyErrorCode']).toBe('VAULT_LOCKED');
    expect(await current(people.ben.client, asked)).toMatchObject({ status: asked.status });
    await service.unlock();
    expect(activityOf(await approve('ben', asked)).status).toBe('ACTIVITY_STATUS_COMPLETED');
  });
});
