/** Others change the vault while a form is open: what the form does is still what the person read in it. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import {
  ethereumAccount,
  newUserBy,
  newWallet,
  resultOf,
  temporaryDirectory,
} from '../../support/support.ts';
import { openHome } from '../support/chromium.ts';
import type { BrowserWindow } from '../support/chromium.ts';
import { axeFindings, visit } from '../support/inspect.ts';
import { serveDevVault, startWindowVault } from '../support/service.ts';
import type { DevService } from '../support/service.ts';
import {
  askedPositions,
  button,
  confirmWhenAsked,
  goTo,
  hold,
  leaveDialog,
  lock,
  openDialog,
  readPhrase,
  wordField,
} from '../support/steps.ts';

/** The owner's window, which shows to be the owner's whenever it is asked. */
async function openAsOwner(service: DevService): Promise<BrowserWindow> {
  const person = await openHome(service.windowUrl);
  await confirmWhenAsked(person.page, service.recoveryPhrase);
  return person;
}

test('no other key signs, or pays, where the preselected one is deleted', async () => {
  await using service = await serveDevVault();
  const { root } = service;
  const newWallet = async (walletName: string) =>
    resultOf(
      await root.submit('create_wallet', 'CREATE_WALLET', {
        walletName,
        accounts: [0, 1].map((index) => ({ ...ethereumAccount, path: `m/44'/60'/0'/0/${String(index)}` })),
      }),
    );
  const { walletId, addresses } = await newWallet('First');
  await newWallet('Second');
  await using person = await openHome(service.windowUrl);
  const { page } = person;

  await goTo(page, 'Sign');
  await page.getByRole('textbox', { name: 'Payload' }).fill('a text');
  const account = page.getByRole('combobox', { name: 'Account' });
  await page.getByRole('heading', { name: 'Sign a message for Ethereum' }).waitFor();
  const read = await account.inputValue();
  expect(read).toContain(String(addresses[0]).slice(0, 8));
  const { accounts } = (await root.query('list_wallet_accounts', { walletId })).body as unknown as {
    readonly accounts: readonly { readonly walletAccountId: string; readonly address: string }[];
  };
  const first = accounts.find(({ address }) => address === addresses[0]);
  const refetched = page.waitForResponse((response) =>
    Boolean(response.request().postData()?.includes('browse_wallet_accounts')),
  );
  await root.submit('delete_wallet_accounts', 'DELETE_WALLET_ACCOUNTS', {
    walletAccountIds: [first?.walletAccountId],
    deleteWithoutExport: true,
  });
  await refetched;
  await button(page, /^Sign$/).click();
  await page.getByText('Nothing was signed').waitFor();
  expect(await account.inputValue()).toBe(read);

  await goTo(page, 'Connect');
  const paying = page.getByRole('combobox', { name: 'Paying wallet' });
  await expect.poll(() => paying.inputValue()).toBe('First');
  await root.submit('delete_wallets', 'DELETE_WALLETS', { walletIds: [walletId], deleteWithoutExport: true });
  await expect.poll(() => paying.inputValue()).not.toBe('First');
  await button(page, 'Create key with a budget').click();
  await page.getByText('Choose a wallet.').waitFor();
  expect((await root.query('list_policies')).body).toMatchObject({ policies: [] });
  expect(person.complaints).toEqual([]);
});

test('a door offers no key again that was taken from it while its keys were chosen', async () => {
  await using service = await serveDevVault();
  const { root } = service;
  const key = async (privateKeyName: string): Promise<string> => {
    const wanted = { privateKeyName, curve: 'CURVE_ED25519', privateKeyTags: [], addressFormats: [] };
    const made = await root.submit('create_private_keys', 'CREATE_PRIVATE_KEYS_V2', {
      privateKeys: [wanted],
    });
    return resultOf(made).privateKeys[0]?.privateKeyId ?? '';
  };
  const [taken, added, chosen] = [await key('Taken'), await key('Added'), await key('Chosen')];
  const { privateKeyTagId } = resultOf(
    await root.submit('create_private_key_tag', 'CREATE_PRIVATE_KEY_TAG', {
      privateKeyTagName: 'ssh',
      privateKeyIds: [taken],
    }),
  );
  await using person = await openHome(service.windowUrl);
  const { page } = person;
  await goTo(page, 'Doors');
  const dialog = await openDialog(page, 'Keys of SSH and git…', 'Keys of SSH and git');
  const box = (name: string) => dialog.getByRole('checkbox', { name });
  await box('Chosen').check();
  await root.submit('update_private_key_tag', 'UPDATE_PRIVATE_KEY_TAG', {
    privateKeyTagId,
    addPrivateKeyIds: [added],
    removePrivateKeyIds: [taken],
  });
  await expect.poll(() => box('Taken').isChecked()).toBe(false);
  expect(await box('Added').isChecked()).toBe(true);
  await leaveDialog(dialog, 'Save keys');
  const { privateKeys } = (await root.query('list_private_keys')).body as unknown as {
    readonly privateKeys: readonly {
      readonly privateKeyId: string;
      readonly privateKeyTags: readonly string[];
    }[];
  };
  const offered = privateKeys.filter(({ privateKeyTags }) => privateKeyTags.length > 0);
  expect(new Set(offered.map(({ privateKeyId }) => privateKeyId))).toEqual(new Set([added, chosen]));
  expect(person.complaints).toEqual([]);
});

test('a program that gets the name of one that is to be revoked stays', async () => {
  await using service = await startWindowVault();
  const { root, vault } = service;
  const door = 'mcp';
  const pair = async (): Promise<string> => {
    const { doors } = await vault.rpc.changeDoors({ change: 'pair', door, name: 'laptop' });
    const { publicKey = '' } = doors.flatMap(({ programs }) => programs)[0] ?? {};
    const apiKeys = [{ apiKeyName: 'laptop', publicKey, curveType: 'API_KEY_CURVE_P256' }];
    const user = { userName: 'laptop', apiKeys, authenticators: [], oauthProviders: [], userTags: [] };
    const made = await root.submit('create_users', 'CREATE_USERS_V3', { users: [user] });
    return resultOf(made).userIds[0] ?? '';
  };
  await using person = await openHome(vault.newLink());
  const { page } = person;
  let userId = await pair();
  for (const screen of ['Doors', 'Agents']) {
    await goTo(page, screen);
    const dialog = await openDialog(page, 'Revoke laptop…', 'Revoke laptop');
    await root.submit('delete_users', 'DELETE_USERS', { userIds: [userId] });
    await vault.rpc.changeDoors({ change: 'remove', door, name: 'laptop' });
    userId = await pair();
    await dialog.waitFor({ state: 'detached' });
  }
  await openDialog(page, 'Revoke laptop…', 'Revoke laptop');
  expect((await root.query('get_user', { userId })).status).toBe(200);
  expect(person.complaints).toEqual([]);
});

test('edits of a policy stay, and are not saved over what another person saved meanwhile', async () => {
  await using service = await serveDevVault();
  const { root } = service;
  const { policyId } = resultOf(
    await root.submit('create_policy', 'CREATE_POLICY_V3', {
      policyName: 'Two sign',
      effect: 'EFFECT_ALLOW',
      condition: "activity.action == 'SIGN'",
      consensus: 'approvers.count() >= 2',
      notes: '',
    }),
  );
  const change = (policyNotes: string) =>
    root.submit('update_policy', 'UPDATE_POLICY_V2', { policyId, policyNotes });
  const saved = async () => (await root.query('get_policy', { policyId })).body;
  await using person = await openAsOwner(service);
  const { page } = person;
  await visit(page, `/policies/${String(policyId)}`);
  const notes = page.getByRole('textbox', { name: 'Notes' });
  const changed = page.getByRole('alert').filter({ hasText: 'This was changed meanwhile' });
  // A form without edits shows what is saved.
  await notes.waitFor();
  await change('Of Ben.');
  await expect.poll(() => notes.inputValue()).toBe('Of Ben.');
  expect(await changed.count()).toBe(0);

  await notes.fill('Mine.');
  await change('Of Ben again.');
  await changed.getByText('Of Ben again.').waitFor();
  expect(await axeFindings(page, 'changed-meanwhile')).toEqual([]);
  await button(page, 'Save changes').click();
  expect(await notes.inputValue()).toBe('Mine.');
  await button(changed, 'Discard mine').click();
  await expect.poll(() => notes.inputValue()).toBe('Of Ben again.');
  expect(await saved()).toMatchObject({ policy: { notes: 'Of Ben again.' } });

  await notes.fill('Mine, while the vault is locked.');
  await lock(page);
  await page.getByRole('textbox', { name: 'Recovery phrase' }).fill(service.recoveryPhrase);
  const answers = Promise.withResolvers();
  await page.route('**/window/call', async (route) => {
    if (route.request().postData()?.includes('get_policy"')) await answers.promise;
    await route.continue();
  });
  await button(page, 'Unlock').click();
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  await change('Of Ben since.');
  answers.resolve(undefined);
  await changed.getByText('Of Ben since.').waitFor();
  expect(await notes.inputValue()).toBe('Mine, while the vault is locked.');
  await button(changed, 'Keep mine').click();
  await changed.waitFor({ state: 'detached' });
  await button(page, 'Save changes').click();
  await page.getByText('Policy updated').waitFor();
  await expect.poll(saved).toMatchObject({ policy: { notes: 'Mine, while the vault is locked.' } });
  expect(await changed.count()).toBe(0);

  // The change has not come to the window yet when it saves.
  await page.unrouteAll();
  await notes.fill('Mine at last.');
  let asked = 0;
  await page.route('**/window/events', (route) => route.abort());
  await page.route('**/window/call', async (route) => {
    if (asked === 0 && route.request().postData()?.includes('check_policies')) {
      asked += 1;
      await change('In the last moment.');
    }
    await route.continue();
  });
  await button(page, 'Save changes').click();
  await changed.getByText('In the last moment.').waitFor();
  expect(await saved()).toMatchObject({ policy: { notes: 'In the last moment.' } });

  // It comes between the window's look and its change.
  await page.unrouteAll();
  await button(changed, 'Keep mine').click();
  await changed.waitFor({ state: 'detached' });
  let sent = 0;
  await page.route('**/window/call', async (route) => {
    if (route.request().postData()?.includes('ACTIVITY_TYPE_UPDATE_POLICY_V2')) {
      sent += 1;
      if (sent === 1) await change('Between.');
    }
    await route.continue();
  });
  await button(page, 'Save changes').click();
  await page.getByRole('alert').filter({ hasText: 'was changed meanwhile: read it again' }).waitFor();
  expect(await saved()).toMatchObject({ policy: { notes: 'Between.' } });
  expect(await notes.inputValue()).toBe('Mine at last.');

  expect(person.complaints).toEqual([]);
});

test('edits of a user stay where another person changes the user meanwhile', async () => {
  await using service = await serveDevVault();
  const { root } = service;
  const { userId } = await newUserBy(root, 'Ben');
  await using person = await openAsOwner(service);
  const { page } = person;
  await visit(page, `/users/${userId}`);
  const email = page.getByRole('textbox', { name: 'Email' });
  const changed = page.getByRole('alert').filter({ hasText: 'This was changed meanwhile' });
  await email.fill('ben@example.org');
  // The form does not show tags: it asks nothing.
  const tag = { userTagName: 'Payers', userIds: [userId] };
  await root.submit('create_user_tag', 'CREATE_USER_TAG', tag);
  await page.getByText('Payers').first().waitFor();
  expect(await email.inputValue()).toBe('ben@example.org');
  expect(await changed.count()).toBe(0);

  await root.submit('update_user', 'UPDATE_USER', { userId, userEmail: 'other@example.org' });
  await changed.getByText('other@example.org').waitFor();
  await email.press('Enter');
  expect(await email.inputValue()).toBe('ben@example.org');
  expect((await root.query('get_user', { userId })).body).toMatchObject({
    user: { userEmail: 'other@example.org' },
  });
  await button(changed, 'Keep mine').click();
  await button(page, 'Save changes').click();
  await page.getByText('Saved', { exact: true }).waitFor();
  expect((await root.query('get_user', { userId })).body).toMatchObject({
    user: { userEmail: 'ben@example.org' },
  });
  await button(page, 'Save changes').and(page.locator(':disabled')).waitFor();
  expect(await changed.count()).toBe(0);
  expect(person.complaints).toEqual([]);
});

test('a name of the organization that is being typed stays where another person gives one', async () => {
  await using service = await serveDevVault();
  const { root } = service;
  const rename = (organizationName: string) =>
    root.submit('update_organization_name', 'UPDATE_ORGANIZATION_NAME', { organizationName });
  await using person = await openAsOwner(service);
  const { page } = person;
  await visit(page, '/organization');
  const name = page.getByRole('textbox', { name: 'Name' });
  await rename('Theirs');
  await expect.poll(() => name.inputValue()).toBe('Theirs');
  await name.fill('Mine');
  await rename('Theirs again');
  const changed = page.getByRole('alert').filter({ hasText: 'This was changed meanwhile' });
  await changed.getByText('Theirs again').waitFor();
  await name.press('Enter');
  expect(await name.inputValue()).toBe('Mine');
  await button(changed, 'Keep mine').click();
  await button(page, 'Rename').click();
  await page.getByText('Organization renamed').waitFor();
  await button(page, 'Undo').click();
  await page.getByText('Undone').waitFor();
  await expect.poll(() => name.inputValue()).toBe('Theirs again');
  expect(await changed.count()).toBe(0);
  expect(person.complaints).toEqual([]);
});

test('numbers of the settings that are being typed stay where another person changes them', async () => {
  await using service = await startWindowVault();
  const { vault } = service;
  await using person = await openHome(vault.newLink());
  const { page } = person;
  await visit(page, '/settings');
  const port = page.getByRole('textbox', { name: 'Port' });
  const times = page.getByRole('textbox', { name: 'Multiplier' });
  await port.waitFor();
  await vault.rpc.changeSettings({ port: 9001 });
  await expect.poll(() => port.inputValue()).toBe('9001');

  await port.fill('8123');
  await times.fill('7');
  const changed = page.getByRole('alert').filter({ hasText: 'This was changed meanwhile' });
  const [ofPort, ofTimes] = [changed.filter({ hasText: '7377' }), changed.filter({ hasText: 'Multiplier' })];
  await vault.rpc.changeSettings({ port: null });
  await ofPort.waitFor();
  await vault.rpc.changeSettings({ limits: 3 });
  await ofTimes.waitFor();
  expect([await port.inputValue(), await times.inputValue()]).toEqual(['8123', '7']);
  await port.press('Enter');
  await times.press('Enter');
  await button(ofTimes, 'Discard mine').click();
  await expect.poll(() => times.inputValue()).toBe('3');
  expect(await vault.rpc.settings()).toMatchObject({ port: null, limits: 3 });
  await button(ofPort, 'Keep mine').click();
  await button(page, 'Save port').click();
  await page.getByText('Port changed').waitFor();
  expect(await vault.rpc.settings()).toMatchObject({ port: 8123, limits: 3 });
  await button(page, 'Undo').click();
  await page.getByText('Undone').waitFor();
  await expect.poll(() => port.inputValue()).toBe('');
  expect(await changed.count()).toBe(0);
  expect(person.complaints).toEqual([]);
});

test('a path that is being typed for a backup stays where another person sets the schedule', async () => {
  await using service = await startWindowVault();
  const { vault } = service;
  await using person = await openHome(vault.newLink());
  const { page } = person;
  await visit(page, '/backups');
  const file = page.getByRole('textbox', { name: 'File' });
  using first = temporaryDirectory();
  using second = temporaryDirectory();
  await file.waitFor();
  await vault.rpc.scheduleBackups({ directory: first.path, hours: 24 });
  await expect.poll(() => file.inputValue()).toContain(first.path);
  await file.fill('/mnt/stick/mine.backup');
  await vault.rpc.scheduleBackups({ directory: second.path, hours: 24 });
  const folder = page.getByRole('textbox', { name: 'Folder' });
  await expect.poll(() => folder.inputValue()).toBe(second.path);
  expect(await file.inputValue()).toBe('/mnt/stick/mine.backup');

  // The schedule of another person is not replaced unread, and so it is where it goes.
  using mine = temporaryDirectory();
  await folder.fill(mine.path);
  await vault.rpc.scheduleBackups({ directory: first.path, hours: 6 });
  const changed = page.getByRole('alert').filter({ hasText: 'This was changed meanwhile' });
  await changed.getByText('Every 6 hours').waitFor();
  await button(page, 'Change schedule').click();
  await button(page, 'Turn off').click();
  expect((await vault.rpc.backups()).schedule).toMatchObject({ directory: first.path, hours: 6 });
  expect(await folder.inputValue()).toBe(mine.path);
  await vault.rpc.scheduleBackups(null);
  await changed.getByText('not scheduled').first().waitFor();
  await button(changed, 'Keep mine').click();
  await button(page, 'Set schedule').click();
  await page.getByText('Schedule changed').waitFor();
  expect((await vault.rpc.backups()).schedule).toMatchObject({ directory: mine.path, hours: 24 });
  expect(await changed.count()).toBe(0);
  expect(person.complaints).toEqual([]);
});

test('new words do not come beside others where they were to replace words that are gone by then', async () => {
  await using service = await serveDevVault();
  await using person = await openHome(service.windowUrl);
  const { page } = person;
  await visit(page, '/keyslots/00000000-0000-4000-8000-000000000000/new-phrase');
  await page.getByText('Your current words and shares stop working').waitFor();
  await button(page, 'Generate 24 words').click();
  await hold(button(page, 'Show my words'));
  const words = await readPhrase(page, 'New recovery phrase');
  for (const position of await askedPositions(page))
    await wordField(page, position).fill(words[position - 1] ?? '');
  await page.getByRole('textbox', { name: 'Current recovery phrase' }).fill(service.recoveryPhrase);
  await button(page, 'Start using these words').click();
  await page.getByText('Couldn’t start using these words').waitFor();
  await visit(page, '/keyslots');
  await page.getByRole('link', { name: 'Replace…' }).waitFor();
  expect(await page.getByRole('link', { name: 'Replace…' }).count()).toBe(1);
  expect(person.complaints).toEqual([]);
});

/** Presses the newest Undo, which says that it does nothing. */
async function undoInVain(page: Page): Promise<void> {
  await button(page, 'Undo').click();
  const refusal = page.getByRole('alert').filter({ hasText: 'It was changed again since.' });
  await refusal.getByRole('button').click();
  await refusal.waitFor({ state: 'detached' });
}

test('an undo takes back nothing that another person changed since', async () => {
  await using service = await serveDevVault();
  const { root } = service;
  const { policyId } = resultOf(
    await root.submit('create_policy', 'CREATE_POLICY_V3', {
      policyName: 'Two sign',
      effect: 'EFFECT_ALLOW',
      condition: "activity.action == 'SIGN'",
      consensus: 'approvers.count() >= 2',
      notes: '',
    }),
  );
  const { userId } = await newUserBy(root, 'Ben');
  await using person = await openAsOwner(service);
  const { page } = person;
  const refused = () => undoInVain(page);

  await visit(page, `/policies/${String(policyId)}`);
  await page.getByRole('textbox', { name: 'Notes' }).fill('For payments.');
  await button(page, 'Save changes').click();
  await page.getByText('Policy updated').waitFor();
  await root.submit('update_policy', 'UPDATE_POLICY_V2', { policyId, policyEffect: 'EFFECT_DENY' });
  await refused();
  expect((await root.query('get_policy', { policyId })).body).toMatchObject({
    policy: { effect: 'EFFECT_DENY', notes: 'For payments.' },
  });

  await visit(page, `/users/${userId}`);
  await page.getByRole('textbox', { name: 'Email' }).fill('ben@example.org');
  await button(page, 'Save changes').click();
  await page.getByText('Saved', { exact: true }).waitFor();
  await root.submit('update_user', 'UPDATE_USER', { userId, userEmail: 'other@example.org' });
  await refused();
  expect((await root.query('get_user', { userId })).body).toMatchObject({
    user: { userEmail: 'other@example.org' },
  });

  const { userId: other } = await newUserBy(root, 'Cem');
  const tag = page.getByRole('combobox', { name: 'Tag' });
  await tag.fill('Payers');
  await tag.press('Enter');
  await page.getByText('The tag is new.').waitFor();
  const { userTags } = (await root.query('list_user_tags')).body as unknown as {
    readonly userTags: readonly { readonly tagId: string }[];
  };
  const userTagId = userTags[0]?.tagId;
  const others = { userTagId, addUserIds: [other], removeUserIds: [] };
  await root.submit('update_user_tag', 'UPDATE_USER_TAG', others);
  await refused();
  expect((await root.query('get_user', { userId: other })).body).toMatchObject({
    user: { userTags: [userTagId] },
  });

  await visit(page, '/organization');
  await page.getByRole('textbox', { name: 'Name' }).fill('Mine');
  await button(page, 'Rename').click();
  await page.getByText('Organization renamed').waitFor();
  await root.submit('update_organization_name', 'UPDATE_ORGANIZATION_NAME', { organizationName: 'Theirs' });
  await refused();
  expect((await root.query('whoami')).body).toMatchObject({ organizationName: 'Theirs' });

  const origins = { name: 'FEATURE_NAME_WEBAUTHN_ORIGINS', value: 'http://localhost:1' };
  await root.submit('set_organization_feature', 'SET_ORGANIZATION_FEATURE', origins);
  await visit(page, '/organization');
  await button(page, 'Remove Passkey origins').click();
  await page.getByText('Feature removed').waitFor();
  const changed = { ...origins, value: 'http://localhost:2' };
  await root.submit('set_organization_feature', 'SET_ORGANIZATION_FEATURE', changed);
  await refused();
  const { configs } = (await root.query('get_organization_configs')).body as {
    readonly configs: { readonly features: readonly unknown[] };
  };
  expect(configs.features).toEqual([changed]);
  expect(person.complaints).toEqual([]);
});

test('no undo takes back what was changed since: of labels, account names, settings, the schedule of backups', async () => {
  await using service = await startWindowVault();
  const { root, vault } = service;
  const { walletId, ethereum: address } = await newWallet(root, 'Daily');
  const { userId } = await newUserBy(root, 'Ben');
  await using person = await openHome(vault.newLink());
  const { page } = person;
  await confirmWhenAsked(page);
  /** Another person changes what the window has just changed. */
  const refusedAfter = async (said: string, change: () => Promise<unknown>): Promise<void> => {
    await page.getByText(said, { exact: true }).waitFor();
    await change();
    await undoInVain(page);
  };

  await visit(page, `/wallets/${walletId}`);
  const labels = (archived: boolean) =>
    root.submit('update_wallet_labels', 'UPDATE_WALLET_LABELS', { walletId, archived });
  await button(page, 'Archive').click();
  await refusedAfter('Wallet archived', () => labels(false));
  expect((await root.query('list_wallet_summaries')).body).toMatchObject({
    walletSummaries: [{ archived: false }],
  });

  await visit(page, `/wallets/${walletId}/accounts/${address}`);
  const { accounts } = (await root.query('list_wallet_accounts', { walletId })).body as unknown as {
    readonly accounts: readonly { readonly walletAccountId: string }[];
  };
  const { walletAccountId } = accounts[0] ?? {};
  const renaming = await openDialog(page, 'Rename…', 'Rename account');
  await renaming.getByRole('textbox').fill('Mine');
  await leaveDialog(renaming, 'Rename');
  await refusedAfter('Account renamed', () =>
    root.submit('update_wallet_account_name', 'UPDATE_WALLET_ACCOUNT_NAME', {
      walletAccountId,
      name: 'Theirs',
    }),
  );
  expect((await root.query('get_wallet_account', { walletId, address })).body).toMatchObject({
    account: { name: 'Theirs' },
  });

  const { userTagId } = resultOf(
    await root.submit('create_user_tag', 'CREATE_USER_TAG', { userTagName: 'Payers', userIds: [] }),
  );
  const change = (more: object) =>
    root.submit('update_user_tag', 'UPDATE_USER_TAG', {
      userTagId,
      addUserIds: [],
      removeUserIds: [],
      ...more,
    });
  await visit(page, `/users/${userId}`);
  const tag = page.getByRole('combobox', { name: 'Tag' });
  await tag.fill('Payers');
  await tag.press('Enter');
  await refusedAfter('Tag Payers added.', () => change({ removeUserIds: [userId] }));
  await change({ addUserIds: [userId] });
  await button(page, 'Remove tag Payers').click();
  await refusedAfter('Tag Payers removed.', () => change({ addUserIds: [userId] }));

  await visit(page, '/tags');
  const retagging = await openDialog(page, 'Rename tag Payers', 'Rename tag');
  await retagging.getByRole('textbox').fill('Mine');
  await leaveDialog(retagging, 'Rename');
  await refusedAfter('Tag renamed', () => change({ newUserTagName: 'Theirs' }));
  expect((await root.query('list_user_tags')).body).toMatchObject({ userTags: [{ tagName: 'Theirs' }] });

  await visit(page, '/settings');
  await page.getByRole('combobox', { name: 'Lock the vault' }).selectOption('5');
  await refusedAfter('Auto-lock changed', () => vault.rpc.changeSettings({ autoLock: { idleMinutes: 1 } }));
  expect(await vault.rpc.settings()).toMatchObject({ autoLock: { idleMinutes: 1 } });

  await visit(page, '/backups');
  using place = temporaryDirectory();
  await page.getByRole('textbox', { name: 'Folder' }).fill(place.path);
  await button(page, 'Set schedule').click();
  const theirs = { directory: place.path, hours: 6 };
  await refusedAfter('Schedule changed', () => vault.rpc.scheduleBackups(theirs));
  expect(await vault.rpc.backups()).toMatchObject({ schedule: theirs });
  expect(person.complaints).toEqual([]);
});
