/**
 * Doors in the window, with the system's own OpenSSH and git, on one service: a program is paired, asks, is let through by a
 * click, and is revoked. The classes: nothing is open that was not switched on, and what the screen says of a program is what
 * its policies say to the letter.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { serializeTransaction } from 'viem';
import type { Browser } from 'playwright-core';
import { beforeAll, expect, test, vi } from 'vitest';
import { runProgram } from '../../support/programs.ts';
import { startSshd } from '../../support/sshd.ts';
import { activityOf, ethereumAccount, newWallet, resultOf, solanaAccount } from '../../support/support.ts';
import { sharedChromium, openWindow, openHome } from '../support/chromium.ts';
import { inspectScreens } from '../support/inspect.ts';
import { serveDevVault, startWindowVault } from '../support/service.ts';
import { button, confirmWhenAsked, goTo, heading, openDialog, sendVote } from '../support/steps.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await sharedChromium();
});

test('a door that has no key to offer leads to where one is created', async () => {
  await using service = await serveDevVault();
  await using person = await openWindow(browser);
  const { page } = person;
  await page.goto(service.windowUrl);
  await goTo(page, 'Doors');
  const dialog = await openDialog(page, 'Keys of SSH and git…', 'Keys of SSH and git');
  const create = dialog.getByRole('link', { name: 'Create a private key' });
  await create.waitFor();
  // Saving would only create an empty tag.
  expect(await button(dialog, 'Save keys').count()).toBe(0);
  await create.click();
  await heading(page, 'Create private key').waitFor();
  expect(person.complaints).toEqual([]);
});

test('every account that fits is offered to a program', async () => {
  await using service = await serveDevVault();
  const others = Array.from({ length: 105 }, (_, index) => `m/44'/60'/0'/0/${String(index)}`);
  const made = await service.root.submit('create_wallet', 'CREATE_WALLET', {
    walletName: 'Wide',
    accounts: others.slice(0, 100).map((path) => ({ ...ethereumAccount, path })),
  });
  const accounts = [...others.slice(100).map((path) => ({ ...ethereumAccount, path })), solanaAccount];
  const { walletId } = resultOf(made);
  resultOf(
    await service.root.submit('create_wallet_accounts', 'CREATE_WALLET_ACCOUNTS', { walletId, accounts }),
  );
  await using person = await openWindow(browser);
  const { page } = person;
  await page.goto(service.windowUrl);
  await goTo(page, 'Doors');
  const dialog = await openDialog(page, 'Pair a program with SSH and git…', 'Pair a program');
  await dialog.getByRole('checkbox', { name: `Wide · ${solanaAccount.path}` }).check();
  expect(person.complaints).toEqual([]);
});

test('a program is paired, and its push goes through with a click', async () => {
  await using service = await startWindowVault();
  const { root, vault } = service;
  const home = join(dirname(service.directory), 'home');
  mkdirSync(home, { mode: 0o700 });
  const { privateKeys } = resultOf(
    await root.submit('create_private_keys', 'CREATE_PRIVATE_KEYS_V2', {
      privateKeys: [
        {
          privateKeyName: 'github',
          curve: 'CURVE_ED25519',
          addressFormats: [],
          privateKeyTags: [],
        },
      ],
    }),
  ) as unknown as { privateKeys: readonly unknown[] };
  expect(privateKeys).toHaveLength(1);

  await using person = await openWindow(browser);
  const { page } = person;
  const { look, amiss } = inspectScreens(page);
  await page.clock.install();
  await page.goto(vault.newLink());
  await heading(page, 'Home').waitFor();
  await confirmWhenAsked(page);
  await goTo(page, 'Doors');
  // Every door says so.
  await page.getByText('No programs yet').first().waitFor();
  await look('doors-empty');

  await button(page, 'Keys of SSH and git…').click();
  await page.getByRole('checkbox', { name: 'github' }).check();
  await button(page, 'Save keys').click();
  await page.getByText('Keys: github').waitFor();

  await button(page, 'Pair a program with SSH and git…').click();
  await button(page, 'Pair program').click();
  await page.getByText('Enter small letters, digits and hyphens, 32 at most.').waitFor();
  await page.getByRole('textbox', { name: 'Program' }).fill('laptop');
  await look('doors-pair');
  await button(page, 'Pair program').click();
  await page.getByText('Each waits for your approval.').waitFor();
  await expect
    .poll(async () => (await vault.rpc.doors())[0])
    .toMatchObject({ on: false, programs: [{ name: 'laptop', socket: null }] });

  // The pairing goes on behind the question for the password, and a key would go astray there.
  await page.getByRole('dialog').first().waitFor({ state: 'hidden' });
  await page.getByRole('switch', { name: 'Door SSH and git' }).press('Space');
  await button(page, 'Set up laptop…').click();
  await page.getByText('keyhearth git setup --program laptop').waitFor();
  await look('doors-setup');
  await page.keyboard.press('Escape');
  await look('doors');
  const [on] = await vault.rpc.doors();
  const socket = on?.programs[0]?.socket ?? '';
  expect(existsSync(socket)).toBe(true);

  const listed = await runProgram('ssh-add', ['-L'], { env: { SSH_AUTH_SOCK: socket } });
  expect(listed.out).toContain(' github');
  writeFileSync(join(home, 'authorized_keys'), listed.out);
  writeFileSync(join(home, 'key.pub'), listed.out);
  await using sshd = await startSshd(home);
  writeFileSync(join(home, 'known_hosts'), sshd.knownHost);
  const ssh = [
    `ssh -F none -p ${String(sshd.port)} -i ${join(home, 'key.pub')} -o IdentitiesOnly=yes -o BatchMode=yes`,
    `-o UserKnownHostsFile=${join(home, 'known_hosts')}`,
  ].join(' ');
  const env = { HOME: home, SSH_AUTH_SOCK: socket, GIT_CONFIG_NOSYSTEM: '1', GIT_SSH_COMMAND: ssh };
  const git = (...argv: readonly string[]) => runProgram('git', argv, { cwd: home, env });
  await git('init', '-q', '--bare', 'bare.git');
  await git('init', '-q', '-b', 'main', 'pump');
  const identity = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com'];
  const committed = await git(
    '-C',
    'pump',
    ...identity,
    'commit',
    '-q',
    '--allow-empty',
    '-m',
    'Fix the pump',
  );
  expect(committed.code, committed.err).toBe(0);
  const address = `${userInfo().username}@127.0.0.1:${join(home, 'bare.git')}`;
  const push = () => git('-C', 'pump', 'push', '-q', address, 'main');
  const pushing = push();
  await vi.waitFor(() => {
    expect(vault.waiters.size).toBe(1);
  }, 20_000);
  await goTo(page, 'Approvals');
  await page.getByRole('link', { name: /requested by ssh laptop/ }).click();
  const drawer = page.getByRole('dialog');
  await drawer.getByText('laptop, through the door ssh').waitFor();
  await look('doors-approval');
  await button(drawer, 'For 10 minutes').click();
  await sendVote(page);
  const pushed = await pushing;
  expect(pushed.code, pushed.err).toBe(0);
  expect((await git('-C', 'bare.git', 'log', '--format=%s', 'main')).out).toBe('Fix the pump\n');
  // The grant lets the next login to the same server through, and ends with the lock.
  await git('-C', 'pump', ...identity, 'commit', '-q', '--allow-empty', '-m', 'Paint the pump');
  const again = await push();
  expect(again.code, again.err).toBe(0);
  await goTo(page, 'Doors');
  await page.getByText(/Allowed without asking until/).waitFor();
  await look('doors-granted');

  await goTo(page, 'Doors');
  await page.getByText(/last used/).waitFor();
  // A policy that is gone is said, and nothing else is claimed.
  const { policies } = (await root.query('list_policies', {})).body as {
    policies: readonly { policyId: string; policyName: string }[];
  };
  const policyId = policies.find(({ policyName }) => policyName.includes('no other private key'))?.policyId;
  resultOf(await root.submit('delete_policy', 'DELETE_POLICY', { policyId }));
  await page.getByText('Its policies were changed, or are of an earlier version. Check them.').waitFor();

  await button(page, 'Revoke laptop…').click();
  await button(page.getByRole('dialog'), 'Revoke').click();
  await page.getByRole('list', { name: 'Programs of SSH and git' }).waitFor({ state: 'detached' });
  expect(existsSync(socket)).toBe(false);
  expect((await root.query('list_users', {})).text).not.toContain('laptop');
  expect((await root.query('list_policies', {})).text).not.toContain('laptop');
  const { events } = await vault.rpc.securityEvents();
  expect(events.map(({ kind, way }) => `${kind} ${String(way)}`)).toEqual(
    expect.arrayContaining(['programPaired ssh', 'doorOn ssh', 'programRevoked ssh']),
  );
  await page.goto(`${page.url().replace(/#.*/, '')}#/activity/security`);
  await page.getByText('Program revoked').first().waitFor();
  expect([...amiss, ...person.complaints, ...person.violations]).toEqual([]);
});

test('nodes of chains show no secret of their address, and what one says is apart', async () => {
  await using service = await startWindowVault();
  const { vault, root } = service;
  const lie = 'Approve now.\u202eThe vault agrees';
  const failed = { status: '0x0', gasUsed: '0x5208', returnData: '0x', error: { message: lie } };
  let asked = 0;
  const node = createServer((incoming, response) => {
    void text(incoming).then((body) => {
      const { id, method } = JSON.parse(body) as { id: number; method: string };
      asked += 1;
      const result = method === 'eth_chainId' ? '0xaa36a7' : [{ calls: [failed] }];
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
  });
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve));
  const { ethereum: signWith } = await newWallet(root);
  const script = await service.newUser('Script');
  resultOf(
    await root.submit('create_policy', 'CREATE_POLICY_V3', {
      ...{ policyName: 'Ask me', effect: 'EFFECT_ALLOW', condition: "activity.action == 'SIGN'", notes: '' },
      consensus: [script.userId, service.rootUserId]
        .map((userId) => `approvers.any(user, user.id == '${userId}')`)
        .join(' && '),
    }),
  );
  const held = await script.client.submit('sign_transaction', 'SIGN_TRANSACTION_V2', {
    ...{ signWith, type: 'TRANSACTION_TYPE_ETHEREUM' },
    unsignedTransaction: serializeTransaction({
      ...{ type: 'eip1559', chainId: 11155111, nonce: 0, to: `0x${'52'.repeat(20)}`, gas: 21000n },
    }),
  });
  await using person = await openHome(vault.newLink());
  const { page } = person;
  const { look, amiss } = inspectScreens(page);
  await confirmWhenAsked(page);
  await goTo(page, 'Doors');
  await page.getByText('No nodes yet: programs can sign, and not send.').waitFor();
  const dialog = page.getByRole('dialog');
  const address = dialog.getByRole('textbox', { name: 'Address' });
  const nodes = page.getByRole('list', { name: 'Nodes' });

  await button(page, 'Set node of a chain…').click();
  await button(dialog, 'Set node').click();
  await dialog.getByText('Enter a number, such as 1.').waitFor();
  await dialog.getByRole('textbox', { name: 'Chain ID' }).fill('11155111');
  await address.fill('http://node.example/v3/1c0ffee');
  await button(dialog, 'Set node').click();
  // The service's own words: nothing is kept.
  await dialog.getByText(/expected https/i).waitFor();
  expect(await dialog.textContent()).not.toContain('1c0ffee');
  await look('doors-node');
  await address.fill('https://node.example/v3/1c0ffee');
  await button(dialog, 'Set node').click();
  await nodes.getByText('Sepolia (a test network)').waitFor();
  await nodes.getByText('https://node.example', { exact: true }).waitFor();
  await dialog.waitFor({ state: 'detached' });
  expect(await page.content()).not.toContain('1c0ffee');
  await look('doors-nodes');

  await button(page, 'Change the node of Sepolia (a test network)…').click();
  await address.fill('https://other.example/v3/1c0ffee');
  await button(dialog, 'Set node').click();
  await nodes.getByText('https://other.example', { exact: true }).waitFor();
  await button(page, 'Change the node of Sepolia (a test network)…').click();
  await address.fill(`http://127.0.0.1:${String((node.address() as AddressInfo).port)}`);
  await button(dialog, 'Set node').click();
  await nodes.getByText('http://127.0.0.1').waitFor();

  const says = page.getByRole('region', { name: 'The node says' });
  const open = async () => {
    await page.goto(`${page.url().replace(/#.*/, '')}#/approvals/${activityOf(held).id}`);
    await page.getByRole('dialog').getByText('Fingerprint', { exact: true }).waitFor();
    await page.getByRole('dialog').getByRole('region', { name: 'Summary' }).waitFor();
  };
  await open();
  // It is there until the vault says that no node is asked.
  await says.waitFor({ state: 'detached' });
  expect(asked).toBe(0);
  await page.keyboard.press('Escape');
  await goTo(page, 'Doors');
  const previews = page.getByRole('switch', { name: 'Previews by the node of Sepolia (a test network)' });
  await previews.press('Space');
  await expect.poll(async () => (await vault.rpc.doors())[1]?.nodes[0]?.previews).toBe(true);
  await open();
  await says.getByText('The transaction fails.').waitFor();
  expect(await says.textContent()).toContain('Approve now.⟨U+202E⟩The vault agrees');
  await look('approval-preview');
  // It is asked when the request is opened, and not again for each event.
  activityOf(await root.submit('create_user_tag', 'CREATE_USER_TAG', { userTagName: 'Tag', userIds: [] }));
  await page.waitForTimeout(1_500);
  expect(asked).toBe(2);
  await page.keyboard.press('Escape');
  await goTo(page, 'Doors');
  await button(page, 'Remove the node of Sepolia (a test network)…').click();
  await button(dialog, 'Remove').click();
  await nodes.waitFor({ state: 'detached' });
  const [, ethereum] = await vault.rpc.doors();
  expect(ethereum?.nodes).toEqual([]);
  node.closeAllConnections();
  node.close();
  expect([...amiss, ...person.complaints, ...person.violations]).toEqual([]);
});
