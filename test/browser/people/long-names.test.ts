/** Names as the API takes them, however long: they push nothing off the screen, and hide nothing that is decided. */
import { expect, test } from 'vitest';
import { limits } from '../../../main/operations/shared/limits.ts';
import { newTestKey, newWallet, resultOf } from '../../support/support.ts';
import { openHome } from '../support/chromium.ts';
import { tooWideFindings, visit } from '../support/inspect.ts';
import { serveDevVault } from '../support/service.ts';
import { button, leaveDialog } from '../support/steps.ts';

/** One word, which no line breaks by itself. */
const longest = 'W'.repeat(limits.composedNameCharacters);

test('of a user and an API key fit every screen that shows them', async () => {
  await using service = await serveDevVault();
  const { root } = service;
  const key = newTestKey();
  const apiKey = { apiKeyName: longest, publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' };
  const user = { userName: longest, apiKeys: [apiKey], authenticators: [], oauthProviders: [], userTags: [] };
  const made = await root.submit('create_users', 'CREATE_USERS_V3', { users: [user] });
  const [userId = ''] = resultOf(made).userIds;
  const wallet = await newWallet(root);
  await root.submit('create_policy', 'CREATE_POLICY_V3', {
    policyName: 'Two sign',
    effect: 'EFFECT_ALLOW',
    condition: "activity.action == 'SIGN'",
    consensus: `approvers.any(user, user.id == '${userId}') && approvers.count() >= 2`,
    notes: '',
  });
  await root.as(key).submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', {
    signWith: wallet.ethereum,
    payload: 'a text',
    encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
    hashFunction: 'HASH_FUNCTION_KECCAK256',
  });
  await using person = await openHome(service.windowUrl);
  const { page } = person;
  const amiss: string[] = [];
  for (const path of [
    '/',
    '/users',
    `/users/${userId}`,
    '/approvals',
    '/activity',
    '/policies',
    '/connect',
  ]) {
    await visit(page, path);
    amiss.push(...(await tooWideFindings(page, path)));
  }
  expect(amiss).toEqual([]);
  expect(person.complaints).toEqual([]);
});

test('a name is confirmed as the screen shows it', async () => {
  await using service = await serveDevVault();
  const { root } = service;
  const user = { userName: 'two  spaces', apiKeys: [], authenticators: [], oauthProviders: [], userTags: [] };
  const [userId = ''] = resultOf(
    await root.submit('create_users', 'CREATE_USERS_V3', { users: [user] }),
  ).userIds;
  await using person = await openHome(service.windowUrl);
  const { page } = person;
  await visit(page, `/users/${userId}`);
  await button(page, 'Delete…').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox').fill('two spaces');
  await leaveDialog(dialog, 'Delete user');
  expect((await root.query('list_users')).text).not.toContain('two  spaces');
  expect(person.complaints).toEqual([]);
});
