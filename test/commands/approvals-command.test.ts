/** `keyhearth wallets` and `keyhearth approvals` as scripts and people use them, on a served vault. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { activityOf, ethereumAccount, resultOf, runCommand, startTestVault } from '../support/support.ts';
import type { CommandOptions, Json, TestClient, TestKey, TestVault } from '../support/support.ts';
import { Terminal } from '../support/terminal.ts';

let service: TestVault;
let bob: TestClient;

function keepKey(name: string, { publicKey, privateKey }: TestKey): void {
  const { keysDirectory } = service.config;
  mkdirSync(keysDirectory, { recursive: true });
  writeFileSync(join(keysDirectory, `${name}.public`), publicKey);
  writeFileSync(join(keysDirectory, `${name}.private`), privateKey, { mode: 0o600 });
}

const environment = () => ({
  HOME: service.directory,
  KEYHEARTH_DATA_DIR: service.directory,
  KEYHEARTH_CONFIG_DIR: join(dirname(service.directory), 'config'),
});

const run = (argv: readonly string[], options: CommandOptions = {}) =>
  runCommand(argv, { ...options, environment: environment() });

/** @returns the one line of JSON that a command wrote. */
async function ask<T = Json>(...argv: readonly string[]): Promise<T> {
  const { code, stdout, stderr } = await run([...argv, '--json']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as T;
}

interface Made {
  readonly walletId: string;
  readonly accounts: readonly { readonly path: string; readonly address: string }[];
}

beforeAll(async () => {
  service = await startTestVault();
  keepKey('owner', service.key);
  bob = (await service.newUser('Bob')).client;
  keepKey('bob', bob.key);
  const policy = {
    policyName: 'Two people',
    effect: 'EFFECT_ALLOW',
    condition: "activity.action == 'SIGN' || activity.action == 'CREATE'",
    consensus: 'approvers.count() >= 2',
    notes: '',
  };
  resultOf(await service.root.submit('create_policy', 'CREATE_POLICY_V3', policy));
});
afterAll(() => service[Symbol.asyncDispose]());

describe('wallets', () => {
  test('are created with accounts of the named chains, get more, and are listed', async () => {
    const made = await ask<Made>(
      'wallets',
      'create',
      '--name',
      'Mine',
      '--account',
      'ethereum',
      '--words',
      '24',
    );
    expect(made).toMatchObject({ walletName: 'Mine', accounts: [{ path: "m/44'/60'/0'/0/0" }] });
    const second = "secp256k1:m/44'/60'/0'/0/1:ethereum";
    const { code, stdout } = await run(['wallets', 'add', 'Mine', '--account', second]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Format +Address +Path\nethereum +0x[0-9A-Fa-f]{40} +m\/44'\/60'\/0'\/0\/1\n$/);
    const shown = await ask<Made>('wallets', 'show', made.walletId);
    expect(shown.accounts.map(({ address }) => address)).toContain(made.accounts[0]?.address);
    expect(shown.accounts.map(({ path }) => path).sort()).toEqual(["m/44'/60'/0'/0/0", "m/44'/60'/0'/0/1"]);
    expect((await run(['wallets', 'list'])).stdout).toMatch(
      new RegExp(`^ID +Name\n${made.walletId}  Mine\n$`),
    );
  });

  // The class: an account that a command chooses is one that the wallet has, or one that another command chose as well.
  test('get the next free index, or the one that is named, also where several ask at once', async () => {
    const account = (...named: readonly string[]) => named.flatMap((each) => ['--account', each]);
    const indexes = ({ accounts }: Made) => accounts.map(({ path }) => path.replace("m/44'/60'/0'/0/", ''));
    const made = await ask<Made>('wallets', 'create', '--name', 'Rows', ...account('ethereum', 'ethereum:2'));
    expect(indexes(made)).toEqual(['0', '2']);
    // Named ones keep theirs; the others go into the gap, and then past the end.
    const chosen = account('ethereum', 'ethereum', 'ethereum:4', 'ethereum', 'solana');
    const added = await ask<Made>('wallets', 'add', 'Rows', ...chosen);
    expect(indexes(added)).toEqual(['1', '3', '4', '5', "m/44'/501'/0'/0'"]);
    const both = await Promise.all(
      ['Rows', made.walletId].map((wallet) => ask<Made>('wallets', 'add', wallet, ...account('ethereum'))),
    );
    expect(both.flatMap(indexes).sort()).toEqual(['6', '7']);
    const again = await run(['wallets', 'add', 'Rows', ...account('ethereum', 'ethereum:2')]);
    expect(again).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('path already exists') as string,
    });
  });

  test.each([
    [['add', 'Mine', '--account', 'ethereum:x'], 2, '"x" is not an index'],
    [['add', 'Mine', '--account', 'ethereum:'], 2, '"" is not an index'],
    [['add', 'Mine', '--account', 'ethereum:2147483648'], 2, 'expected a number from 0 to 2147483647'],
    [['add', 'Mine'], 2, 'missing --account'],
    [['show', 'None'], 1, 'no wallet has the id or the name "None": there are "Mine", "Rows"'],
  ])('%j ends with %i', async (argv, expected, message) => {
    const { code, stdout, stderr } = await run(['wallets', ...argv]);
    expect({ code, stdout }).toEqual({ code: expected, stdout: '' });
    expect(stderr).toContain(message);
  });
});

describe('approvals', () => {
  /** @returns the id of what Bob asks for and others have to approve of. */
  async function waiting(walletName: string): Promise<string> {
    return activityOf(await bob.submit('create_wallet', 'CREATE_WALLET', { walletName, accounts: [] })).id;
  }

  test('are waited for with --wait, up to the time that it names', async () => {
    const create = (name: string, seconds: string) =>
      run(['wallets', 'create', '--name', name, '--api-key', 'bob', '--wait', seconds, '--json']);
    const late = await create('Late', '1');
    expect({ code: late.code, stdout: late.stdout }).toEqual({ code: 6, stdout: '' });
    const { error } = JSON.parse(late.stderr) as { error: { activityId: string } };
    expect((await run(['approvals', 'reject', error.activityId])).code).toBe(0);
    const asked = create('Awaited', '60');
    await expect.poll(() => service.vault.waiters.size).toBe(1);
    const { approvals } = await ask<{ approvals: readonly { activityId: string }[] }>('approvals', 'list');
    expect((await run(['approvals', 'approve', approvals[0]?.activityId ?? ''])).code).toBe(0);
    const { code, stdout } = await asked;
    expect({ code, made: JSON.parse(stdout) as Json }).toMatchObject({
      code: 0,
      made: { walletName: 'Awaited' },
    });
    expect((await create('Never', '0')).code).toBe(2);
  });

  test('are listed, shown with requester and reason, and approved by the beginning of the fingerprint', async () => {
    expect((await run(['approvals', 'list'])).stdout).toBe('Nothing needs approval.\n');
    const argv = ['wallets', 'create', '--name', 'Wanted', '--api-key', 'bob', '--json'];
    const { code, stdout: nothing, stderr } = await run(argv);
    expect({ code, stdout: nothing }).toEqual({ code: 6, stdout: '' });
    const { error } = JSON.parse(stderr) as { error: { activityId: string; fingerprint: string } };
    const { activityId, fingerprint } = error;
    const { approvals } = await ask<{ approvals: readonly Json[] }>('approvals', 'list');
    expect(approvals).toMatchObject([
      {
        activityId,
        fingerprint,
        summary: 'Create a wallet: "Wanted"',
        askedBy: { userName: 'Bob' },
        canApprove: true,
      },
    ]);
    const { stdout } = await run(['approvals', 'show', activityId]);
    expect(stdout).toMatch(/^Create a wallet\n.*"Wanted".*\n {2}Wallet name: Wanted\n/);
    expect(stdout).toMatch(/^Approvals count until +[-0-9T:]+Z$/m);
    expect(stdout).toMatch(/^Requested by +Bob$/m);
    expect(stdout).toMatch(/^Status +needs your approval$/m);
    expect(stdout).toMatch(/^Bob +requested +[-0-9T:]+Z +“Two people” needs more approvals$/m);
    expect(stdout).toContain('\n“Two people” requires approvers.count() >= 2\n');
    expect(await ask('approvals', 'approve', fingerprint.slice(0, 20))).toMatchObject({
      activityId,
      status: 'ACTIVITY_STATUS_COMPLETED',
      result: { createWalletResult: { addresses: [] } },
    });
    const late = await run(['approvals', 'reject', activityId]);
    expect(late).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `keyhearth: activity ${activityId} no longer needs approval: completed\n`,
    });
  });

  test('show what is signed in the words that describe it, and who asked with nothing hidden', async () => {
    const made = await service.root.submit('create_wallet', 'CREATE_WALLET', {
      walletName: 'Signs',
      accounts: [ethereumAccount],
    });
    const [signWith] = resultOf(made).addresses;
    const { client } = await service.newUser('Eve\u00a0א5');
    const typedData = JSON.stringify({
      domain: { name: 'Shop\u202e05$\nBeware: nothing' },
      types: {
        EIP712Domain: [{ name: 'name', type: 'string' }],
        Order: [{ name: 'note', type: 'string' }],
      },
      primaryType: 'Order',
      message: { note: 'pay 05$ to אב\n  two  blanks ' },
    });
    const request = {
      signWith,
      payload: typedData,
      encoding: 'PAYLOAD_ENCODING_EIP712',
      hashFunction: 'HASH_FUNCTION_NO_OP',
    };
    const { id } = activityOf(await client.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', request));
    const { body } = await service.root.query('describe_payload', request);
    const { title, lines, warnings } = (
      body as {
        description: {
          title: string;
          lines: { label: string; value: string }[];
          warnings: string[];
        };
      }
    ).description;
    const told = await ask<{ descriptions: unknown[] }>('approvals', 'show', id);
    expect(told.descriptions).toEqual([body?.['description']]);
    const oneRow = (text: string) =>
      text
        .replaceAll('\n', '⟨U+000A⟩')
        .replaceAll(/[אב]/g, (letter) => `⟨U+0${letter.charCodeAt(0).toString(16).toUpperCase()}⟩`);
    const { approvals } = await ask<{ approvals: { activityId: string; summary: string }[] }>(
      'approvals',
      'list',
    );
    expect(approvals.find(({ activityId }) => activityId === id)?.summary).toContain(oneRow(title));
    const { stdout } = await run(['approvals', 'show', id]);
    const shown = stdout.replaceAll('⟨U+0020⟩', ' ').replaceAll(/\n +\| /g, '⟨U+000A⟩');
    for (const text of [title, ...warnings.map((each) => `Beware: ${each}`)]) {
      expect(shown.split('\n')).toContain(oneRow(text));
    }
    for (const { label, value } of lines) expect(shown).toContain(oneRow(`  ${label}: ${value}`));
    expect(stdout).not.toMatch(/^ *Beware: nothing/m);
    expect(stdout).toMatch(/^Requested by +\u2068Eve⟨U\+00A0⟩א5\u2069$/mu);
    expect((await run(['approvals', 'reject', id])).code).toBe(0);
  });

  // The class: a name of another user's choice is read as words of the vault's.
  test('name things in quotation marks that no name closes', async () => {
    const id = await waiting('Tips" with 0 accounts, "x');
    const quoted = '"Tips\\" with 0 accounts, \\"x"';
    const { stdout } = await run(['activities', 'list', '--limit', '1']);
    expect(stdout).toContain(`Create a wallet: ${quoted}`);
    expect((await run(['approvals', 'show', id])).stdout).toContain(quoted);
    expect((await run(['approvals', 'reject', id])).code).toBe(0);
  });

  test('of several that begin alike none is voted on', async () => {
    const [first, second] = [await waiting('One'), await waiting('Another')];
    let length = 0;
    while (first[length] === second[length]) length += 1;
    const alike = await run(['approvals', 'reject', first.slice(0, length)]);
    expect(alike).toMatchObject({ stdout: '' });
    // Ids begin with the time: those of one minute have eight characters in common, at least.
    expect(alike.stderr).toMatch(/ambiguous waiting activity|at least the first 8 characters/);
  });

  test.each([
    ['01a2', 2, 'at least the first 8 characters of one'],
    ['00000000', 1, 'no waiting activity has the id'],
  ])('of %j end with %i', async (wanted, expected, message) => {
    const { code, stderr } = await run(['approvals', 'approve', wanted]);
    expect(code).toBe(expected);
    expect(stderr).toContain(message);
  });

  test('on a terminal are asked about, once they are read', async () => {
    const activityId = await waiting('Asked');
    await using no = new Terminal(`approvals approve ${activityId}`, environment());
    await no.type('n', 'Approve this request?');
    expect(await no.ended(), no.shown).toBe(1);
    expect(no.shown).toContain('cancelled: no vote was cast');
    await using yes = new Terminal(`approvals reject ${activityId} --yes`, environment());
    expect(await yes.ended(), yes.shown).toBe(0);
    expect(yes.shown).toContain('Rejected permanently.');
  });
});
