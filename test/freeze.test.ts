/** Freezing: what it stops, what it rejects, and what opens the vault again. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { VaultEvent } from '../preload/contract.ts';
import { startVault } from '../main/vault.ts';
import {
  activityOf,
  CommandProcess,
  ethereumAccount,
  memoryKeychain,
  resultOf,
  runCommand,
  startTestVault,
  temporaryDirectory,
} from './support.ts';
import type { ActivityBody, Answer, TestClient, TestVault } from './support.ts';

const password = 'correct horse battery staple';
const recovery = () => ({ with: 'recovery', phrase: service.recoveryPhrase }) as const;

let service: TestVault;
let address: string;

beforeEach(async () => {
  service = await startTestVault({ password });
  const wallet = await service.root.submit('create_wallet', 'CREATE_WALLET', {
    walletName: 'Treasury',
    accounts: [ethereumAccount],
  });
  address = resultOf(wallet).addresses[0] ?? '';
});
afterEach(() => service[Symbol.asyncDispose]());

const sign = (client: TestClient, payload: string): Promise<Answer> =>
  client.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', {
    signWith: address,
    payload,
    encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
    hashFunction: 'HASH_FUNCTION_KECCAK256',
  });

/** Something that waits for the vote of another. */
async function waiting(
  payload: string,
): Promise<{ readonly activity: ActivityBody; readonly ben: TestClient }> {
  const [ann, ben] = [await service.newUser(`Ann ${payload}`), await service.newUser(`Ben ${payload}`)];
  resultOf(
    await service.root.submit('create_policy', 'CREATE_POLICY_V3', {
      policyName: `Two sign ${payload}`,
      effect: 'EFFECT_ALLOW',
      condition: "activity.action == 'SIGN'",
      consensus: `approvers.filter(user, user.id in ['${ann.userId}', '${ben.userId}']).count() >= 2`,
      notes: '',
    }),
  );
  const activity = activityOf(await sign(ann.client, payload));
  expect(activity.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
  return { activity, ben: ben.client };
}

const now = async (client: TestClient, { id }: ActivityBody): Promise<ActivityBody> =>
  activityOf(await client.query('get_activity', { activityId: id }));

const approve = (client: TestClient, { fingerprint }: ActivityBody): Promise<Answer> =>
  client.submit('approve_activity', 'APPROVE_ACTIVITY', { fingerprint });

const frozen = { status: 400, body: { code: 9, turnkeyErrorCode: 'VAULT_FROZEN' } };

describe('freeze', () => {
  test('stops signing at once, and a secret lets it go on', async () => {
    expect(await sign(service.root, 'before')).toMatchObject({ status: 200 });
    const { keyring, bridge } = service.vault;
    const freezing = bridge.freeze();
    // Before anything is awaited.
    expect(keyring.unlocked).toBe(false);
    expect(await freezing).toMatchObject({ state: 'locked', frozen: { at: expect.any(Number) as unknown } });
    expect(await sign(service.root, 'after')).toMatchObject(frozen);
    // Reading is no signing.
    expect(await service.root.query('list_wallets')).toMatchObject({ status: 200 });
    expect(await bridge.unlock({ with: 'password', password })).toMatchObject({
      state: 'unlocked',
      frozen: null,
    });
    expect(await sign(service.root, 'after')).toMatchObject({ status: 200 });
  });

  test('rejects what waits for votes as it is lifted, and says so', async () => {
    const { activity, ben } = await waiting('one');
    const events: VaultEvent[] = [];
    service.vault.bridge.onEvent((event) => events.push(event));
    await service.vault.bridge.freeze();
    expect(await now(service.root, activity)).toMatchObject({ status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED' });
    expect(await approve(ben, activity)).toMatchObject(frozen);
    await service.unlock();
    await vi.waitFor(() => {
      expect(events).toContainEqual({
        kind: 'activity',
        id: activity.id,
        type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
        status: 'ACTIVITY_STATUS_REJECTED',
      });
    });
    expect(await now(service.root, activity)).toMatchObject({
      status: 'ACTIVITY_STATUS_REJECTED',
      result: {},
      failure: null,
      votes: [{ selection: 'VOTE_SELECTION_APPROVED' }],
    });
    const refused = await approve(ben, activity);
    expect(refused.body?.['message']).toMatch(/takes no more votes, it is ACTIVITY_STATUS_REJECTED$/);
    expect(await service.vault.bridge.checkLog()).toMatchObject({ findings: [] });
  });

  test('of a locked vault rejects what waits once it is opened, before a vote is counted', async () => {
    const { activity, ben } = await waiting('two');
    const { bridge } = service.vault;
    await bridge.lock();
    await bridge.freeze();
    expect(await now(service.root, activity)).toMatchObject({ status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED' });
    const opening = bridge.unlock(recovery());
    while (!service.vault.keyring.unlocked) await nextTurn();
    const vote = await approve(ben, activity);
    expect(vote.body?.['message']).toMatch(/takes no more votes, it is ACTIVITY_STATUS_REJECTED$/);
    await opening;
    expect(await now(service.root, activity)).toMatchObject({ status: 'ACTIVITY_STATUS_REJECTED' });
  });

  test('wins over an unlocking that is on its way', async () => {
    const { bridge } = service.vault;
    await bridge.lock();
    const opening = bridge.unlock({ with: 'password', password });
    await bridge.freeze();
    await expect(opening).rejects.toMatchObject({ code: 'VAULT_FROZEN' });
    expect(await bridge.status()).toMatchObject({ state: 'locked', frozen: {} });
  });

  test('twice keeps the first time, and locking changes nothing', async () => {
    const { bridge } = service.vault;
    const { frozen: first } = await bridge.freeze();
    service.clock.advance(60_000);
    expect((await bridge.freeze()).frozen).toEqual(first);
    expect((await bridge.lock()).frozen).toEqual(first);
  });

  test('drops the keys also where the file cannot say so', async () => {
    const { bridge, connection } = service.vault;
    connection.exec(
      "CREATE TEMP TRIGGER full BEFORE INSERT ON freeze BEGIN SELECT RAISE (ABORT, 'the disk is full'); END",
    );
    // The marker beside it can: a restart finds it.
    expect(await bridge.freeze()).toMatchObject({ state: 'locked', frozen: { unsaved: null } });
    expect(existsSync(join(service.directory, 'frozen'))).toBe(true);
  });
});

describe('a frozen vault', () => {
  test('does not open with the keychain, also not after a restart', async () => {
    const { keychain } = memoryKeychain();
    await using own = await startTestVault({ password, substitutes: { keychain } });
    const proof = { with: 'password', password } as const;
    await own.vault.bridge.changeKeyslots({ do: 'addKeychain', proof });
    await own.vault.bridge.lock();
    expect((await own.vault.bridge.unlock({ with: 'keychain' })).state).toBe('unlocked');
    const { frozen: since } = await own.vault.bridge.freeze();
    await expect(own.vault.bridge.unlock({ with: 'keychain' })).rejects.toMatchObject({
      code: 'VAULT_FROZEN',
    });
    await own.vault.close();

    const again = await startVault(own.config, { keychain, clock: own.clock });
    try {
      expect(await again.bridge.status()).toMatchObject({ state: 'locked', frozen: since });
      await expect(again.bridge.unlock({ with: 'keychain' })).rejects.toMatchObject({ code: 'VAULT_FROZEN' });
      expect(await again.bridge.unlock(proof)).toMatchObject({ state: 'unlocked', frozen: null });
      // Lifted: the keychain opens it again.
      await again.bridge.lock();
      expect(await again.bridge.unlock({ with: 'keychain' })).toMatchObject({ state: 'unlocked' });
    } finally {
      await again.close();
    }
  });
});

describe('latchkey freeze', () => {
  test('and SIGUSR2 freeze the vault that runs; its file where none does; a start opens it no more', async () => {
    using home = temporaryDirectory();
    const environment = {
      HOME: home.path,
      LATCHKEY_DATA_DIR: join(home.path, 'vault'),
      LATCHKEY_CONFIG_DIR: join(home.path, 'config'),
    };
    const passwordFile = join(home.path, 'password');
    writeFileSync(passwordFile, password, { mode: 0o600 });
    const secret = ['--password-file', passwordFile];
    const run = (...argv: readonly string[]) => runCommand(argv, { environment });
    const start = () => new CommandProcess(['serve', '--port', '0', ...secret], { environment });
    expect(await run('freeze')).toMatchObject({ code: 3 });
    expect(await run('init', '--no-keychain', ...secret)).toMatchObject({ code: 0 });

    {
      await using served = start();
      expect(await served.nextLine()).toMatch(/the vault is unlocked\.$/);
      expect(await run('freeze', '--json')).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(
          /^\{"frozen":\{"at":\d+,"lastSignature":null,"unsaved":null\}\}\n$/,
        ) as unknown,
      });
      expect((await run('status')).stdout).toMatch(/the vault is locked\.\nIt is frozen since 20/);
      expect(await run('unlock', '--keychain')).toMatchObject({ code: 5 });
      expect(await run('unlock', ...secret)).toMatchObject({ code: 0 });
      served.child.kill('SIGUSR2');
      await vi.waitFor(() => {
        expect(served.stderr).toMatch(/The vault is frozen: its keys are out of memory\.\nFrozen at 20/);
      });
      expect(await run('unlock', ...secret)).toMatchObject({ code: 0 });
      expect(await served.stop()).toBe(0);
    }

    expect(await run('freeze')).toMatchObject({ code: 0 });
    await using again = start();
    expect(await again.nextLine()).toMatch(/the vault is locked\.$/);
    expect(again.stderr).toContain('The vault stays frozen: run `latchkey unlock`');
    expect(await run('unlock', ...secret)).toMatchObject({ code: 0 });
    expect((await run('status')).stdout).not.toContain('frozen');
  });
});
