/**
 * Agents in the window, with the SDK's own client: a request beyond the budget waits in its call until a person clicks, the
 * meters show it, a pause ends what waits, and a removal leaves nothing. The class: what the screen says of an agent is what its
 * policies say to the letter.
 */
import { createConnection } from 'node:net';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { recoverTypedDataAddress, type Hex } from 'viem';
import type { Locator, Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import {
  newTestKey,
  newWallet,
  resultOf,
  runCommand,
  type Json,
  type TestClient,
} from '../../support/support.ts';
import { transferAuthorization } from '../../support/transfer-authorization.ts';
import { sharedChromium, openWindow, openHome } from '../support/chromium.ts';
import { inspectScreens } from '../support/inspect.ts';
import { serveDevVault, startWindowVault } from '../support/service.ts';
import { button, confirmWhenAsked, goTo, heading, hold, sendVote } from '../support/steps.ts';

const friend = '0x71C7656EC7ab88b098defB751B7401B5f6d8976F';

const authorization = (from: string, value: bigint) =>
  transferAuthorization({ from, to: friend, value, nonce: value });

test('an agent waits for a click, is paused, and is removed', async () => {
  await using service = await startWindowVault();
  const { root, vault, directory } = service;
  const account = (await newWallet(root, 'Daily')).ethereum;
  const keyhearth = async (...argv: readonly string[]): Promise<void> => {
    const environment = { HOME: directory, KEYHEARTH_DATA_DIR: directory };
    const { code, stderr } = await runCommand(argv, { environment });
    expect(code, stderr).toBe(0);
  };

  await using person = await openWindow(await sharedChromium());
  const { page } = person;
  const { look, amiss } = inspectScreens(page);
  await page.clock.install();
  await page.goto(vault.newLink());
  await heading(page, 'Home').waitFor();
  await confirmWhenAsked(page);
  await goTo(page, 'Agents');
  await page.getByText('No agents yet').waitFor();
  await look('agents-empty');

  // The class: an agent that the window makes can do more than it says, or its credential is where others see it.
  const forAll = {
    policyName: 'Anyone signs',
    effect: 'EFFECT_ALLOW',
    condition: "activity.action == 'SIGN'",
  };
  const createForAll = async () => {
    const policy = { ...forAll, consensus: '', notes: '' };
    return resultOf(await root.submit('create_policy', 'CREATE_POLICY_V3', policy))['policyId'];
  };
  const deletePolicy = async (policyId: unknown) =>
    resultOf(await root.submit('delete_policy', 'DELETE_POLICY', { policyId }));
  const openId = await createForAll();
  await button(page, 'New agent…').click();
  const form = page.getByRole('dialog', { name: 'New agent' });
  await button(form, 'Create agent').click();
  await form.getByText('Enter small letters, digits and hyphens').waitFor();
  await form.getByText('Enter the receivers.').waitFor();
  await form.getByRole('textbox', { name: 'Name', exact: true }).fill('claude');
  await form.getByRole('textbox', { name: 'Addresses' }).fill(friend);
  await form.getByRole('link', { name: 'Anyone signs' }).waitFor();
  await look('agents-new');
  await button(form, 'Create agent').click();
  await deletePolicy(openId);
  await form.getByText('The budget doesn’t hold').waitFor({ state: 'detached' });
  expect((await root.query('list_users', {})).text).not.toContain('claude');
  await button(form, 'Add budget').click();
  await form.getByRole('textbox', { name: 'Amount of budget 2' }).fill('0.01');
  await form.getByRole('combobox', { name: 'Unit of budget 2' }).click();
  await page.getByRole('option', { name: 'ETH', exact: true }).click();
  await button(form, 'Create agent').click();
  const configuration = form.getByRole('region', { name: 'Configuration', exact: true });
  await configuration.waitFor();
  // A client starts it without a shell: its PATH leads to no command of a checkout, and often to none at all.
  const [command, ...words] = (await vault.rpc.status()).program;
  expect(JSON.parse((await configuration.textContent()) ?? '')).toEqual({
    mcpServers: {
      'keyhearth-claude': { command, args: [...words, 'mcp', '--as', 'claude', '--data-dir', directory] },
    },
  });
  const overHttp = form.getByRole('region', { name: 'Configuration over HTTP' });
  expect(await page.content()).not.toContain('kht_');
  await look('agents-client');
  await hold(button(form, 'Show the token'));
  const { headers, url } = (
    JSON.parse((await overHttp.textContent()) ?? '') as {
      mcpServers: Record<string, { headers: Record<string, string>; url: string }>;
    }
  ).mcpServers['keyhearth-claude'] ?? { headers: {}, url: '' };
  await button(form, 'Done').click();
  expect(await page.content()).not.toContain('kht_');
  await page.getByText('Agents can’t reach the vault').waitFor();
  await keyhearth('doors', 'on', 'mcp');
  await page.getByText('Agents can’t reach the vault').waitFor({ state: 'detached' });
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const accept = 'application/json, text/event-stream';
  const asked = await fetch(url, {
    method: 'POST',
    headers: { ...headers, accept, 'content-type': 'application/json' },
    body: JSON.stringify(list),
  });
  expect(await asked.text()).toContain('sign_typed_data');
  const socket = (await vault.rpc.doors()).find(({ door }) => door === 'mcp')?.programs[0]?.socket ?? '';
  const connection = createConnection(socket);
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StdioServerTransport(connection, connection));
  const sign = async (value: bigint) => {
    const typedData = authorization(account, value);
    const { structuredContent, content } = (await client.callTool(
      { name: 'sign_typed_data', arguments: { from: account, typedData } },
      undefined,
      { timeout: 120_000 },
    )) as { structuredContent?: Json; content: { text: string }[] };
    const signature = structuredContent?.['signature'] as Hex | undefined;
    return {
      said: content[0]?.text,
      signer: signature && (await recoverTypedDataAddress({ ...typedData, signature } as never)),
    };
  };
  const waits = () =>
    vi.waitFor(() => {
      expect(vault.waiters.size).toBe(1);
    }, 20_000);

  expect((await sign(3_000_000n)).signer).toBe(account);
  await page.getByText('3 USDC of 5 USDC used in the last 24 hours, 2 USDC left').waitFor();
  // Home names the policy that has the budget.
  await goTo(page, 'Home');
  const budgets = page.getByRole('list', { name: 'Budgets' }).getByRole('listitem');
  await expect
    .poll(() => budgets.allInnerTexts())
    .toContainEqual(expect.stringMatching(/^Agent claude: pays\s+3 USDC of 5 USDC used/));
  const beyond = sign(4_000_000n);
  await waits();
  await goTo(page, 'Approvals');
  await page.getByRole('link', { name: /requested by mcp claude/ }).click();
  const drawer = page.getByRole('dialog');
  await drawer.getByText('claude, through the door mcp').waitFor();
  await look('agents-approval');
  await button(drawer, 'Approve').click();
  await sendVote(page);
  expect((await beyond).signer).toBe(account);
  await goTo(page, 'Agents');
  await page.getByText('7 USDC of 5 USDC used in the last 24 hours, 0 USDC left').waitFor();

  const paused = sign(1_000_000n);
  await waits();
  await button(page, 'Pause claude').click();
  expect((await paused).said).toContain('Paused by its owner');
  expect((await sign(2n)).said).toContain('denied by the policy "Agent claude: paused"');
  await page.getByRole('list', { name: 'Refused requests of claude' }).waitFor();
  await page.getByRole('list', { name: 'Last requests of claude' }).getByText('Rejected').waitFor();
  await look('agents');
  // However much others ask for, the last requests are the agent's.
  await goTo(page, 'Home');
  for (let number = 1; number <= 100; number += 1)
    await root.submit('create_user_tag', 'CREATE_USER_TAG', { userTagName: `Tag ${number}`, userIds: [] });
  await goTo(page, 'Agents');
  await page.getByRole('list', { name: 'Last requests of claude' }).getByText('Rejected').waitFor();
  await button(page, 'Resume claude').click();
  await button(page, 'Resume claude').waitFor({ state: 'detached' });
  // The budget is spent, so that it waits again, and is no longer refused at once.
  void sign(5n).catch(() => undefined);
  await waits();

  // A later policy that goes beyond its budgets is named.
  const laterId = await createForAll();
  await page.getByRole('link', { name: 'Anyone signs' }).waitFor();
  await deletePolicy(laterId);
  await page.getByText('The budget doesn’t hold').waitFor({ state: 'detached' });

  // A policy that is gone is said, and nothing else is claimed.
  const { policies } = (await root.query('list_policies', {})).body as {
    policies: readonly { policyId: string; policyName: string }[];
  };
  const policyId = policies.find(({ policyName }) => policyName.includes('no private key'))?.policyId;
  await deletePolicy(policyId);
  await page.getByText('Its policies were changed. Check them.').waitFor();

  await button(page, 'Revoke claude…').click();
  await button(page.getByRole('dialog'), 'Revoke').click();
  await page.getByText('No agents yet').waitFor();
  expect((await root.query('list_users', {})).text).not.toContain('claude');
  expect((await root.query('list_policies', {})).text).not.toContain('claude');
  await client.close();
  connection.destroy();
  expect([...amiss, ...person.complaints, ...person.violations]).toEqual([]);
}, 120_000);

/** Sends the form of a new agent that may pay one address. @returns the form. */
async function createClaude(page: Page): Promise<Locator> {
  await goTo(page, 'Agents');
  await button(page, 'New agent…').click();
  const form = page.getByRole('dialog', { name: 'New agent' });
  await form.getByRole('textbox', { name: 'Name', exact: true }).fill('claude');
  await form.getByRole('textbox', { name: 'Addresses' }).fill(friend);
  await button(form, 'Create agent').click();
  return form;
}

test('an agent of a vault in memory, which has no doors, is refused and leaves nothing', async () => {
  await using service = await serveDevVault();
  const { root } = service;
  await newWallet(root, 'Daily');
  await using person = await openWindow(await sharedChromium());
  const { page } = person;
  await page.goto(service.windowUrl);
  const form = await createClaude(page);
  await form.getByText('a vault in memory has no doors').waitFor();
  expect((await root.query('list_user_tags')).body).toMatchObject({ userTags: [] });
  expect((await root.query('list_users')).text).not.toContain('claude');
});

test('a double press on Pause pauses an agent, and does not resume it', async () => {
  await using service = await startWindowVault();
  const { root, vault } = service;
  await newWallet(root, 'Daily');
  await using person = await openHome(vault.newLink());
  const { page } = person;
  await confirmWhenAsked(page);
  const form = await createClaude(page);
  await button(form, 'Done').click();

  const pauses = async (): Promise<number> => {
    const { policies } = (await root.query('list_policies', {})).body as {
      readonly policies: readonly { readonly policyName: string }[];
    };
    return policies.filter(({ policyName }) => policyName.endsWith(': paused')).length;
  };
  const pause = button(page, 'Pause claude');
  const resume = button(page, 'Resume claude');
  await pause.hover();
  const { mouse } = page;
  await mouse.down();
  await mouse.up();
  // As slow as a second press can be: it comes when the first is done.
  await resume.and(page.locator(':enabled')).waitFor();
  await mouse.down({ clickCount: 2 });
  await mouse.up({ clickCount: 2 });
  await page.keyboard.press('Enter');
  await goTo(page, 'Users');
  await goTo(page, 'Agents');
  expect(await pauses()).toBe(1);

  await resume.click();
  await resume.waitFor({ state: 'detached' });
  expect(await pauses()).toBe(0);
});

/** Lets a test ask as the agent does, with a key of its own. */
async function asClaude(root: TestClient): Promise<TestClient> {
  const { users } = (await root.query('list_users')).body as {
    readonly users: readonly { readonly userId: string; readonly userName: string }[];
  };
  const userId = users.find(({ userName }) => userName.includes('claude'))?.userId;
  const key = newTestKey();
  const apiKeys = [{ apiKeyName: 'more', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }];
  resultOf(await root.submit('create_api_keys', 'CREATE_API_KEYS_V2', { userId, apiKeys }));
  return root.as(key);
}

test('a pause goes on to reject what waits where another person decides a request meanwhile', async () => {
  await using service = await startWindowVault();
  const { root, vault } = service;
  const account = (await newWallet(root, 'Daily')).ethereum;
  await using person = await openHome(vault.newLink());
  const { page } = person;
  await confirmWhenAsked(page);
  const form = await createClaude(page);
  await button(form, 'Done').click();
  const claude = await asClaude(root);
  for (const value of [6_000_001n, 6_000_002n, 6_000_003n]) {
    const asked = await claude.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', {
      signWith: account,
      payload: JSON.stringify(authorization(account, value)),
      encoding: 'PAYLOAD_ENCODING_EIP712',
      hashFunction: 'HASH_FUNCTION_NO_OP',
    });
    expect(asked.text).toContain('ACTIVITY_STATUS_CONSENSUS_NEEDED');
  }

  const decided: string[] = [];
  await page.route('**/window/call', async (route) => {
    const sent = route.request().postData() ?? '';
    const [, fingerprint = ''] = /reject_activity.*"fingerprint":"([^"]+)"/s.exec(sent) ?? [];
    if (fingerprint !== '' && decided.length === 0) {
      decided.push(fingerprint);
      resultOf(await root.submit('reject_activity', 'REJECT_ACTIVITY', { fingerprint }));
    }
    await route.continue();
  });
  await button(page, 'Pause claude').click();
  await page.getByText('Agent paused').waitFor();
  expect(decided).toHaveLength(1);
  const { activities } = (
    await root.query('list_activities', { filterByStatus: ['ACTIVITY_STATUS_CONSENSUS_NEEDED'] })
  ).body as { readonly activities: readonly unknown[] };
  expect(activities).toEqual([]);
  expect(await page.getByText('Couldn’t pause or resume the agent').count()).toBe(0);
});
