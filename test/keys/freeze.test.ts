/** Freezing: what it stops, what it rejects, and what opens the vault again. */
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { encryptWalletToBundle } from '@turnkey/crypto';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { VaultRpc, VaultEvent } from '../../preload/contract.ts';
import { operations } from '../../main/operations/index.ts';
import { startVault } from '../../main/app/compose.ts';
import { FreezeMarker } from '../../main/app/freeze-marker.ts';
import {
  activityOf,
  CommandProcess,
  ethereumAccount,
  memoryKeychain,
  resultOf,
  runCommand,
  send,
  startTestVault,
  temporaryDirectory,
} from '../support/support.ts';
import type { ActivityBody, Answer, TestClient, TestVault } from '../support/support.ts';

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
    const { keyring, rpc } = service.vault;
    const freezing = rpc.freeze();
    // Before anything is awaited.
    expect(keyring.unlocked).toBe(false);
    expect(await freezing).toMatchObject({ state: 'locked', frozen: { at: expect.any(Number) as unknown } });
    expect(await sign(service.root, 'after')).toMatchObject(frozen);
    // Reading needs no signature.
    expect(await service.root.query('list_wallets')).toMatchObject({ status: 200 });
    expect(await rpc.unlock({ with: 'password', password })).toMatchObject({
      state: 'unlocked',
      frozen: null,
    });
    expect(await sign(service.root, 'after')).toMatchObject({ status: 200 });
  });

  test('rejects what waits for votes as it is lifted, and says so', async () => {
    const { activity, ben } = await waiting('one');
    const events: VaultEvent[] = [];
    service.vault.rpc.onEvent((event) => events.push(event));
    await service.vault.rpc.freeze();
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
    expect(await service.vault.rpc.checkLog()).toMatchObject({ findings: [] });
  });

  test('of a locked vault rejects what waits once it is opened, before a vote is counted', async () => {
    const { activity, ben } = await waiting('two');
    const { rpc } = service.vault;
    await rpc.lock();
    await rpc.freeze();
    expect(await now(service.root, activity)).toMatchObject({ status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED' });
    const opening = rpc.unlock(recovery());
    while (!service.vault.keyring.unlocked) await nextTurn();
    const vote = await approve(ben, activity);
    expect(vote.body?.['message']).toMatch(/takes no more votes, it is ACTIVITY_STATUS_REJECTED$/);
    await opening;
    expect(await now(service.root, activity)).toMatchObject({ status: 'ACTIVITY_STATUS_REJECTED' });
  });

  test('rejects many in small transactions; a crash leaves some to be rejected later, once, and they accept no vote', async () => {
    const { activity: first, ben } = await waiting('many');
    const ann = await service.newUser('Ann of many');
    resultOf(
      await service.root.submit('create_policy', 'CREATE_POLICY_V3', {
        policyName: 'Ann asks',
        effect: 'EFFECT_ALLOW',
        condition: "activity.action == 'SIGN'",
        consensus: `approvers.any(user, user.id == '${ann.userId}') && approvers.count() >= 2`,
        notes: '',
      }),
    );
    const others: ActivityBody[] = [];
    for (let index = 0; index < 70; index++) {
      others.push(activityOf(await sign(ann.client, `many ${String(index)}`)));
    }
    const last = others.at(-1) ?? first;
    const { rpc, connection, units } = service.vault;
    const rejections = (): number[] =>
      units
        .readUnverified((tx) =>
          tx.all<{ count: number }>(
            "SELECT count(*) AS count FROM activities WHERE status = 'ACTIVITY_STATUS_REJECTED' GROUP BY id",
          ),
        )
        .map(({ count }) => count);
    connection.exec(
      `CREATE TEMP TRIGGER failing BEFORE INSERT ON activities WHEN NEW.status = 'ACTIVITY_STATUS_REJECTED' AND
       (SELECT count(*) FROM activities WHERE status = 'ACTIVITY_STATUS_REJECTED') >= 40
       BEGIN SELECT RAISE (ABORT, 'the process ends here'); END`,
    );
    await rpc.freeze();
    await service.unlock();
    await vi.waitFor(() => {
      expect(rejections()).toHaveLength(32);
    });
    expect(await now(service.root, last)).toMatchObject({ status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED' });
    const refused = await approve(ben, last);
    expect(refused.body?.['message']).toMatch(/takes no more votes, it is ACTIVITY_STATUS_REJECTED$/);
    expect(service.faults.splice(0)).toMatchObject([{ message: 'the process ends here' }]);
    await service.vault.close();

    const again = await startVault(service.config, { clock: service.clock });
    try {
      expect(await again.rpc.status()).toMatchObject({ state: 'locked', frozen: {} });
      await again.rpc.unlock(recovery());
      const counts = () =>
        again.units.readUnverified((tx) => ({
          rejected: tx.all<{ count: number }>(
            "SELECT count(*) AS count FROM activities WHERE status = 'ACTIVITY_STATUS_REJECTED' GROUP BY id",
          ),
          frozen: tx.all('SELECT 1 FROM freeze').length,
        }));
      await vi.waitFor(() => {
        expect(counts()).toEqual({ rejected: Array(71).fill({ count: 1 }), frozen: 0 });
      });
      expect(await again.rpc.checkLog()).toMatchObject({ findings: [] });
      await vi.waitFor(() => {
        expect(existsSync(join(service.directory, 'frozen'))).toBe(false);
      });
    } finally {
      await again.close();
    }
  });

  test('wins over an unlocking that is on its way', async () => {
    const { rpc } = service.vault;
    await rpc.lock();
    const opening = rpc.unlock({ with: 'password', password });
    await rpc.freeze();
    await expect(opening).rejects.toMatchObject({ code: 'VAULT_FROZEN' });
    expect(await rpc.status()).toMatchObject({ state: 'locked', frozen: {} });
  });

  test('twice keeps the first time, and locking changes nothing', async () => {
    const { rpc } = service.vault;
    const { frozen: first } = await rpc.freeze();
    service.clock.advance(60_000);
    expect((await rpc.freeze()).frozen).toEqual(first);
    expect((await rpc.lock()).frozen).toEqual(first);
  });

  test('drops the keys also where the file cannot say so', async () => {
    const { rpc, connection } = service.vault;
    connection.exec(
      "CREATE TEMP TRIGGER full BEFORE INSERT ON freeze BEGIN SELECT RAISE (ABORT, 'refused'); END",
    );
    // The marker beside it can: a restart finds it.
    expect(await rpc.freeze()).toMatchObject({ state: 'locked', frozen: { unsaved: null } });
    expect(existsSync(join(service.directory, 'frozen'))).toBe(true);
  });
});

describe('a freeze comes before all that waits', () => {
  const signing = { type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2' };
  const signIn = (payload: string) =>
    service.vault.rpc.call('/public/v1/submit/sign_raw_payload', {
      ...signing,
      parameters: {
        signWith: address,
        payload,
        encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
        hashFunction: 'HASH_FUNCTION_KECCAK256',
      },
    });
  const countSigned = (): number =>
    service.vault.units.readUnverified(
      (tx) =>
        tx.get<{ count: number }>(
          "SELECT count(*) AS count FROM activities WHERE type = ? AND status = 'ACTIVITY_STATUS_COMPLETED'",
          signing.type,
        )?.count ?? 0,
    );

  // At each of the turns that a request has: before its proof, before it is read, before it is written, and after.
  test.each([0, 1, 2, 3, 4, 5])(
    '%d turns after requests came: what was not written is refused',
    async (turns) => {
      const { rpc, keyring } = service.vault;
      const answers = Promise.all(
        Array.from({ length: 40 }, (_, index) => signIn(`payload ${String(index)}`)),
      );
      for (let turn = 0; turn < turns; turn++) await nextTurn();
      const freezing = rpc.freeze();
      const signed = countSigned();
      expect(keyring.unlocked).toBe(false);
      const { frozen: state } = await freezing;
      const given = (await answers).filter(({ status }) => status === 200);
      expect(given).toHaveLength(signed);
      for (const answer of await answers) if (answer.status !== 200) expect(answer).toMatchObject(frozen);
      expect(countSigned()).toBe(signed);
      const last = given.at(-1)?.body as { activity?: { id: string } } | undefined;
      if (signed === 0) expect(state?.lastSignature).toBeNull();
      else expect(state?.lastSignature).toMatchObject({ type: signing.type });
      if (last !== undefined) {
        const ids = given.map(({ body }) => (body as { activity: { id: string } }).activity.id);
        expect(ids).toContain(state?.lastSignature?.activityId);
      }
    },
  );

  // The early check allowed it; the second check, in the transaction, counts.
  test('wipes what was opened for a request that is refused then', async () => {
    const init = { userId: service.rootUserId };
    const begun = await service.root.submit('init_import_wallet', 'INIT_IMPORT_WALLET', init);
    const { body: keys } = await send(service.url, { method: 'GET', path: '/public/v1/discovery/keys' });
    const encryptedBundle = await encryptWalletToBundle({
      mnemonic: service.recoveryPhrase,
      importBundle: String(resultOf(begun)['importBundle']),
      userId: service.rootUserId,
      organizationId: service.organizationId,
      dangerouslyOverrideSignerPublicKey: String(keys?.['signer']),
    });
    const operation = operations.byPath.get('submit/import_wallet');
    if (operation?.kind !== 'activity' || operation.vote !== undefined || !operation.prepare) {
      throw new Error('imports are prepared');
    }
    const { prepare } = operation;
    let opened: Uint8Array | undefined;
    const freezing = vi.spyOn(operation, 'prepare').mockImplementation(async (context) => {
      const prepared = (await prepare(context)) as { readonly secret: Uint8Array };
      opened = prepared.secret;
      expect(Buffer.from(opened).toString()).toBe(service.recoveryPhrase);
      await service.vault.rpc.freeze();
      return prepared;
    });
    try {
      const refused = await service.root.submit('import_wallet', 'IMPORT_WALLET', {
        ...init,
        walletName: 'Imported',
        encryptedBundle,
        accounts: [],
      });
      expect(refused).toMatchObject(frozen);
      expect(opened?.every((byte) => byte === 0)).toBe(true);
    } finally {
      freezing.mockRestore();
    }
  });

  test('tells which signature was the last, also after a restart', async () => {
    expect(await sign(service.root, 'first')).toMatchObject({ status: 200 });
    const { id } = activityOf(await sign(service.root, 'last'));
    await service.root.submit('create_user_tag', 'CREATE_USER_TAG', { userTagName: 'tag', userIds: [] });
    const { frozen: state } = await service.vault.rpc.freeze();
    expect(state).toMatchObject({ lastSignature: { activityId: id, type: signing.type } });
    await service.vault.close();
    const again = await startVault(service.config, { clock: service.clock });
    try {
      expect(await again.rpc.status()).toMatchObject({ frozen: state });
    } finally {
      await again.close();
    }
  });
});

describe('a freeze that the disk does not take', () => {
  const failing =
    "CREATE TEMP TRIGGER full BEFORE INSERT ON freeze BEGIN SELECT RAISE (ABORT, 'refused'); END";
  const marker = () => join(service.directory, 'frozen');
  const ready = () => join(service.directory, 'not-frozen');
  const restarted = async <T>(look: (rpc: VaultRpc) => Promise<T>): Promise<T> => {
    await service.vault.close();
    const again = await startVault(service.config, { clock: service.clock });
    try {
      return await look(again.rpc);
    } finally {
      await again.close();
    }
  };

  test('is there after a restart by the name of a file, and ends with a secret', async () => {
    const { rpc, connection } = service.vault;
    expect(existsSync(ready())).toBe(true);
    connection.exec(failing);
    expect(await rpc.freeze()).toMatchObject({ state: 'locked', frozen: { unsaved: null } });
    expect(existsSync(ready())).toBe(false);
    await restarted(async (again) => {
      expect(await again.status()).toMatchObject({
        state: 'locked',
        frozen: { at: expect.any(Number) as number },
      });
      expect(await again.unlock(recovery())).toMatchObject({ state: 'unlocked', frozen: null });
      await vi.waitFor(() => {
        expect(existsSync(ready())).toBe(true);
      });
      expect(existsSync(marker())).toBe(false);
    });
  });

  test('is in memory alone where the directory refuses the name too, and says so', async () => {
    const { rpc, connection, keyring } = service.vault;
    connection.exec(failing);
    // Neither can be renamed, even by root.
    rmSync(ready());
    mkdirSync(join(service.directory, 'held'));
    symlinkSync(join(service.directory, 'held', 'missing', 'file'), marker());
    await expect(rpc.freeze()).rejects.toMatchObject({
      code: 'STORAGE_UNAVAILABLE',
      message: expect.stringMatching(
        /^The vault is frozen in memory, but not in the file: the database refused it\./,
      ) as string,
    });
    expect(keyring.unlocked).toBe(false);
    expect(await sign(service.root, 'after')).toMatchObject(frozen);
    expect(await rpc.status()).toMatchObject({
      state: 'locked',
      frozen: { unsaved: expect.stringContaining('the database refused it') as string },
    });
    // Once it takes it, the same call saves it.
    connection.exec('DROP TRIGGER temp.full');
    expect(await rpc.freeze()).toMatchObject({ frozen: { unsaved: null } });
    rmSync(marker());
  });

  test.each(['row', 'name'])('holds by the %s alone', async (kept) => {
    const { rpc, units } = service.vault;
    await rpc.freeze();
    if (kept === 'row') rmSync(marker());
    else await units.write((tx) => tx.run('DELETE FROM freeze'));
    await restarted(async (again) => {
      expect(await again.status()).toMatchObject({ state: 'locked', frozen: {} });
      expect(await again.unlock(recovery())).toMatchObject({ frozen: null });
      await again.lock();
      expect(await again.status()).toMatchObject({ frozen: null });
    });
    expect(existsSync(marker())).toBe(false);
  });

  test('has its file once there is a vault, and not before', async () => {
    await using own = await startTestVault({ empty: true });
    const file = join(own.directory, 'not-frozen');
    expect(existsSync(file)).toBe(false);
    await own.vault.setUp({
      organizationName: 'Tests',
      userName: 'Root',
      useKeychain: false,
      recoveryPhrase: own.recoveryPhrase,
      recoveryConfirmed: true,
    });
    expect(existsSync(file)).toBe(true);
  });

  test('makes its file where an earlier version did not', async () => {
    await service.vault.close();
    rmSync(ready());
    const again = await startVault(service.config, { clock: service.clock });
    expect(existsSync(ready())).toBe(true);
    await again.close();
  });
});

describe('a frozen vault', () => {
  test('does not open with the keychain, also not after a restart', async () => {
    const { keychain } = memoryKeychain();
    await using own = await startTestVault({ password, substitutes: { keychain } });
    const proof = { with: 'password', password } as const;
    await own.vault.rpc.changeKeyslots({ do: 'addKeychain', proof });
    await own.vault.rpc.lock();
    expect((await own.vault.rpc.unlock({ with: 'keychain' })).state).toBe('unlocked');
    const { frozen: since } = await own.vault.rpc.freeze();
    await expect(own.vault.rpc.unlock({ with: 'keychain' })).rejects.toMatchObject({
      code: 'VAULT_FROZEN',
    });
    await own.vault.close();

    const again = await startVault(own.config, { keychain, clock: own.clock });
    try {
      expect(await again.rpc.status()).toMatchObject({ state: 'locked', frozen: since });
      await expect(again.rpc.unlock({ with: 'keychain' })).rejects.toMatchObject({ code: 'VAULT_FROZEN' });
      expect(await again.rpc.unlock(proof)).toMatchObject({ state: 'unlocked', frozen: null });
      // Lifted: the keychain opens it again.
      await again.rpc.lock();
      expect(await again.rpc.unlock({ with: 'keychain' })).toMatchObject({ state: 'unlocked' });
    } finally {
      await again.close();
    }
  });
});

describe('a vault that another process freezes by the name of its file', () => {
  const openedByKeychain = async () => {
    const { keychain } = memoryKeychain();
    const own = await startTestVault({ password, substitutes: { keychain } });
    const proof = { with: 'password', password } as const;
    await own.vault.rpc.changeKeyslots({ do: 'addKeychain', proof });
    await own.vault.rpc.lock();
    const freezeOutside = (): void => {
      new FreezeMarker(own.directory).set();
    };
    return { own, keychain, proof, freezeOutside };
  };

  // A password in a file is there at every start.
  test.each(['keychain', 'password'])('opens with a secret that is given after that: %s', async (first) => {
    const { own, proof, freezeOutside } = await openedByKeychain();
    await using service = own;
    freezeOutside();
    const { rpc } = service.vault;
    const unlocking = rpc.unlock(first === 'keychain' ? { with: first } : proof);
    await expect(unlocking).rejects.toMatchObject({ code: 'VAULT_FROZEN' });
    expect(await rpc.status()).toMatchObject({ frozen: { at: expect.any(Number) as unknown } });
    await expect(rpc.unlock({ with: 'keychain' })).rejects.toMatchObject({ code: 'VAULT_FROZEN' });
    expect(await rpc.unlock(proof)).toMatchObject({ state: 'unlocked', frozen: null });
    // Lifted: the keychain opens it again.
    await vi.waitFor(() => {
      expect(existsSync(join(own.directory, 'frozen'))).toBe(false);
    });
    await rpc.lock();
    expect(await rpc.unlock({ with: 'keychain' })).toMatchObject({ state: 'unlocked' });
  });

  test('does not open where that happens while it is being unlocked', async () => {
    const { own, keychain, proof, freezeOutside } = await openedByKeychain();
    await using service = own;
    const { get } = keychain;
    keychain.get = (account) => {
      freezeOutside();
      return get(account);
    };
    const { rpc } = service.vault;
    await expect(rpc.unlock({ with: 'keychain' })).rejects.toMatchObject({ code: 'VAULT_FROZEN' });
    expect(service.vault.keyring.unlocked).toBe(false);
    expect(await rpc.unlock(proof)).toMatchObject({ state: 'unlocked', frozen: null });
  });
});

describe('keyhearth freeze', () => {
  test('and SIGUSR2 freeze a running vault, or the file of one that is not served; a start does not open it', async () => {
    using home = temporaryDirectory();
    const environment = {
      HOME: home.path,
      KEYHEARTH_DATA_DIR: join(home.path, 'vault'),
      KEYHEARTH_CONFIG_DIR: join(home.path, 'config'),
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
      expect((await run('status')).stdout).toMatch(/^State +frozen\n[^]*\nFrozen since 20/);
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
    expect(again.stderr).toContain(
      'The vault stays frozen. Unlock it with its password or recovery phrase: keyhearth unlock',
    );
    expect(await run('unlock', ...secret)).toMatchObject({ code: 0 });
    expect((await run('status')).stdout).not.toContain('frozen');
  });
});
