/** Two people and two windows: what waits for two is approved by the second person, with a passkey, in a window of their own. */
import type { Browser, Route } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import {
  activityOf,
  allowByVotes,
  ethereumAccount,
  newTestKey,
  newUserBy,
  resultOf,
} from '../../support/support.ts';
import type { Json } from '../../support/support.ts';
import { authenticatorsOf } from '../support/authenticator.ts';
import { openWindow, sharedChromium } from '../support/chromium.ts';
import { inspectScreens } from '../support/inspect.ts';
import { serveDevVault } from '../support/service.ts';
import { button, goTo, heading } from '../support/steps.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await sharedChromium();
});

/** Creates a passkey in the page’s browser, as the window creates one. Runs in the page. */
async function createPasskey(rpId: string): Promise<Json> {
  const base64Url = (bytes: ArrayBuffer) =>
    btoa(String.fromCharCode(...new Uint8Array(bytes)))
      .replaceAll('+', '-')
      .replaceAll('/', '_')
      .replaceAll('=', '');
  const challenge = crypto.getRandomValues(new Uint8Array(32));
  const made = (await navigator.credentials.create({
    publicKey: {
      rp: { id: rpId, name: 'Keyhearth' },
      user: { id: new TextEncoder().encode('ben'), name: 'Ben', displayName: 'Ben' },
      challenge,
      pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
      authenticatorSelection: { residentKey: 'preferred' },
    },
  })) as PublicKeyCredential;
  const response = made.response as AuthenticatorAttestationResponse;
  return {
    authenticatorName: 'Ben’s laptop',
    challenge: base64Url(challenge.buffer),
    attestation: {
      credentialId: base64Url(made.rawId),
      clientDataJson: base64Url(response.clientDataJSON),
      attestationObject: base64Url(response.attestationObject),
      transports: ['AUTHENTICATOR_TRANSPORT_INTERNAL'],
    },
  };
}

test('the second person approves in their own window, and the waiting caller gets the signature', async () => {
  await using service = await serveDevVault();
  const { root, windowOrigin } = service;
  await using ben = await openWindow(browser);
  const { page } = ben;
  const { look, amiss } = inspectScreens(page);
  await (await authenticatorsOf(page)).add();
  await page.goto(`${windowOrigin}/approver`);
  await heading(page, 'Sign in to approve').waitFor();
  await look('approver-sign-in');

  // A passkey that the vault does not know is refused.
  const passkey = await page.evaluate(createPasskey, 'localhost');
  await button(page, 'Sign in with passkey').click();
  await page.getByRole('alert').getByText('Not signed in').waitFor();
  const made = await root.submit('create_users', 'CREATE_USERS_V3', {
    users: [{ userName: 'Ben', apiKeys: [], authenticators: [passkey], oauthProviders: [], userTags: [] }],
  });
  expect(resultOf(made).userIds).toHaveLength(1);
  const { client: cleo } = await newUserBy(root, 'Cleo');
  const wallet = await root.submit('create_wallet', 'CREATE_WALLET', {
    walletName: 'Treasury',
    accounts: [ethereumAccount],
  });
  await allowByVotes(root, 'Signatures by two', "activity.action == 'SIGN'", 2);

  await button(page, 'Sign in with passkey').click();
  await heading(page, 'Approvals').waitFor();
  await page.getByText('No pending requests').waitFor();
  await look('approver-nothing');

  // Cleo's program waits for the votes in its one request.
  const request = cleo.submitBody('SIGN_RAW_PAYLOAD_V2', {
    signWith: resultOf(wallet).addresses[0],
    payload: 'the rent of May',
    encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
    hashFunction: 'HASH_FUNCTION_SHA256',
  });
  const answer = cleo.post('submit/sign_raw_payload', request, { prefer: 'wait=60' });
  const row = page.getByRole('list', { name: 'Waiting for approval' }).getByRole('link');
  await row.waitFor();
  await look('approver-waiting');
  await row.click();
  const detail = page.getByRole('dialog', { name: 'Approval' });
  await detail.getByText('the rent of May').first().waitFor();
  await detail.getByText('“Signatures by two” needs more approvals').waitFor();
  await look('approver-detail');
  // The answer to the vote is lost once. The same vote, sent again, has it.
  const losing = '**/public/v1/submit/approve_activity';
  const votes: (string | null)[] = [];
  await page.route(losing, async (route) => {
    votes.push(route.request().postData());
    if (votes.length > 1) return route.continue();
    await route.fetch();
    return route.abort();
  });
  await button(detail, 'Approve once').click();
  await expect.poll(() => votes.length).toBe(2);
  await page.unroute(losing);
  expect(new Set(votes).size).toBe(1);
  const signed = activityOf(await answer);
  expect(signed.status).toBe('ACTIVITY_STATUS_COMPLETED');
  expect(signed.result['signRawPayloadResult']).toMatchObject({
    r: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
  });
  expect(signed.votes.map(({ user, ...vote }) => [user['userName'], vote['scheme']])).toEqual([
    ['Cleo', 'SIGNATURE_SCHEME_TK_API_P256'],
    ['Ben', 'SIGNATURE_SCHEME_TK_WEBAUTHN'],
  ]);

  // Nothing of the owner’s and nothing of Cleo’s stands in Ben’s log.
  await page.getByRole('link', { name: 'Activity' }).click();
  await heading(page, 'Activity').waitFor();
  const rows = page.getByRole('list', { name: 'Activities' }).getByRole('listitem');
  await expect.poll(() => rows.count()).toBe(2);
  await look('approver-activity');
  await page.getByRole('link', { name: 'Credentials' }).click();
  await page.getByRole('list', { name: 'Passkeys' }).getByText('Ben’s laptop').waitFor();
  await look('approver-credentials');

  await button(page, 'Sign out').click();
  await heading(page, 'Signed out').waitFor();
  await button(page, 'Go to sign-in').click();
  await heading(page, 'Sign in to approve').waitFor();

  // The owner deletes the passkey while Ben's window is open: the window says so, and what Ben can do.
  await button(page, 'Sign in with passkey').click();
  await heading(page, 'Credentials').waitFor();
  const [userId = ''] = resultOf(made).userIds;
  const { body } = await root.query('get_user', { userId });
  const { authenticators } = (body as { user: { authenticators: readonly Json[] } }).user;
  await root.submit('create_api_keys', 'CREATE_API_KEYS_V2', {
    userId,
    apiKeys: [{ apiKeyName: 'Spare', publicKey: newTestKey().publicKey, curveType: 'API_KEY_CURVE_P256' }],
  });
  activityOf(
    await root.submit('delete_authenticators', 'DELETE_AUTHENTICATORS', {
      userId,
      authenticatorIds: [authenticators[0]?.['authenticatorId']],
    }),
  );
  await heading(page, 'Signed out').waitFor();
  await page.getByText('Your passkey was deleted.').waitFor();
  await look('approver-without-passkey');
  await button(page, 'Go to sign-in').click();
  await button(page, 'Sign in with passkey').click();
  await page.getByRole('alert').getByText('This vault has no such passkey.').waitFor();
  expect(amiss).toEqual([]);
  expect(ben.complaints).toEqual([]);
  expect(ben.violations).toEqual([]);

  // The owner’s own tab holds nothing of the owner’s once it shows this page.
  await using owner = await openWindow(browser);
  await owner.page.goto(service.windowUrl);
  await goTo(owner.page, 'Wallets');
  const stored = () => owner.page.evaluate(() => Object.keys(sessionStorage));
  expect(await stored()).toContain('keyhearth.session');
  await owner.page.goto(`${windowOrigin}/approver`);
  await heading(owner.page, 'Sign in to approve').waitFor();
  expect(await stored()).toEqual([]);
});

test('what one person did is not told to the next, nor is their vote the next person’s', async () => {
  await using service = await serveDevVault();
  const { root, windowOrigin } = service;
  await using person = await openWindow(browser);
  const { page } = person;
  const authenticators = await authenticatorsOf(page);
  const newUser = async (userName: string) => {
    const passkey = await page.evaluate(createPasskey, 'localhost');
    const users = [{ userName, apiKeys: [], authenticators: [passkey], oauthProviders: [], userTags: [] }];
    activityOf(await root.submit('create_users', 'CREATE_USERS_V3', { users }));
  };
  await page.goto(`${windowOrigin}/approver`);
  const first = await authenticators.add();
  await newUser('Ben');
  const { client: cleo } = await newUserBy(root, 'Cleo');
  await allowByVotes(root, 'Tags by three', "activity.resource == 'USER'", 3);
  activityOf(await cleo.submit('create_user_tag', 'CREATE_USER_TAG', { userTagName: 'Shared', userIds: [] }));
  await button(page, 'Sign in with passkey').click();
  const row = page.getByRole('link', { name: /Shared/ });
  const detail = page.getByRole('dialog', { name: 'Approval' });
  await row.click();

  // Ben signs out while the answer to his vote is on its way.
  const late = Promise.withResolvers<undefined>();
  const sent = Promise.withResolvers<undefined>();
  const hold = async (route: Route) => {
    const response = await route.fetch();
    sent.resolve(undefined);
    await late.promise;
    await route.fulfill({ response });
  };
  await page.route('**/submit/approve_activity', hold, { times: 1 });
  await button(detail, 'Approve once').click();
  await sent.promise;
  await button(page, 'Sign out').click();
  await button(page, 'Go to sign-in').click();
  await heading(page, 'Sign in to approve').waitFor();
  await authenticators.remove(first);
  await authenticators.add();
  await newUser('Dora');

  // Dora signs in before it is there.
  await button(page, 'Sign in with passkey').click();
  await row.getByText('Needs your approval').waitFor();
  const answered = page.waitForResponse('**/submit/approve_activity');
  late.resolve(undefined);
  await (await answered).finished();
  await row.getByText('Needs your approval').waitFor();
  expect(await page.getByText('Approved. Waiting for others.').count()).toBe(0);
  await row.click();
  await button(detail, 'Approve once').click();
  await page.getByText('Approved and completed.').waitFor();
  expect(await page.getByText('Approved. Waiting for others.').count()).toBe(0);
  expect(person.complaints).toEqual([]);
});
