/** A freeze comes first: under a flood of everything, no signature is given after it, and it does not wait for the flood. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import {
  activityOf,
  askControl,
  newUserBy,
  newWallet,
  type Json,
  type TestClient,
} from '../support/support.ts';
import { readEndpoint } from '../../main/storage/file/vault-directory.ts';
import { FaultyDisk, type DiskCall, type DiskFault } from './faulty-disk.ts';
import type { Flooded, FloodPlan } from './flood.ts';
import { atLength, report } from './length.ts';
import { ServedVault } from './served-vault.ts';

const rounds = atLength(2, 100);
/** Of each of five kinds. */
const connections = atLength(3, 6);

interface Frozen {
  readonly at: number;
  readonly lastSignature: { readonly activityId: string } | null;
  readonly unsaved: string | null;
}

class Flood implements AsyncDisposable {
  readonly #child;
  readonly #lines;

  constructor(plan: FloodPlan) {
    this.#child = spawn(process.execPath, [join(import.meta.dirname, 'flood.ts'), JSON.stringify(plan)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  async begun(): Promise<void> {
    expect(await this.#lines.next()).toMatchObject({ value: 'flooding' });
  }

  /** Ends the flood once all that was sent is answered. */
  async stop(): Promise<Flooded> {
    this.#child.stdin.end();
    const line = await this.#lines.next();
    return JSON.parse(String(line.value)) as Flooded;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    return Promise.resolve();
  }
}

/** The newest activity that signed, by the log. */
async function newestSignature(client: TestClient): Promise<string | undefined> {
  const { status, body, text } = await client.query('list_activities', {
    filterByType: ['ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'],
    filterByStatus: ['ACTIVITY_STATUS_COMPLETED'],
    paginationOptions: { limit: '1' },
  });
  expect(status, text).toBe(200);
  const [newest] = (body?.['activities'] ?? []) as readonly { readonly id: string }[];
  return newest?.id;
}

test.skipIf(process.platform === 'win32')(
  `a freeze by command and by signal under a flood of ${String(5 * connections)} connections, ${String(rounds)} rounds`,
  { timeout: atLength(4, 60) * 60_000 },
  async () => {
    await using vault = await ServedVault.make();
    const { process: service, client } = await vault.serve();
    const { ethereum } = await newWallet(client);
    // The flood is one user's: another is not kept waiting by it.
    const { client: other } = await newUserBy(client, 'Another');
    const { url, organizationId, key } = client;
    const { privateKey, publicKey } = key;
    await using flood = new Flood({
      url,
      organizationId,
      privateKey,
      publicKey,
      signWith: ethereum,
      connections,
    });
    await flood.begun();
    const status = async (): Promise<{ readonly frozen: Frozen | null }> => {
      const { body } = await askControl(vault.directory, 'status', { args: [] });
      return body?.['value'] as { readonly frozen: Frozen | null };
    };
    const waits = { signal: [] as number[], command: [] as number[] };
    const longest: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const before = await newestSignature(other);
      await vi.waitFor(async () => {
        expect(await newestSignature(other)).not.toBe(before);
      });
      await sleep(atLength(300, 500));
      const asked = Date.now();
      if (round % 2 === 0) service.child.kill('SIGUSR2');
      else {
        const answered = await askControl(vault.directory, 'freeze', { args: [] });
        expect(answered.status).toBe(200);
      }
      let frozen: Frozen | null = null;
      while (frozen === null) ({ frozen } = await status());
      waits[round % 2 === 0 ? 'signal' : 'command'].push(frozen.at - asked);
      longest.push(Date.now() - asked);
      expect(frozen.unsaved).toBeNull();
      // The flood goes on, and everything that waited to be written is refused.
      await sleep(atLength(300, 200));
      expect(await newestSignature(other)).toBe(frozen.lastSignature?.activityId);
      const opened = await askControl(vault.directory, 'unlock', {
        args: [{ with: 'password', password: 'a password for this test' }],
      });
      expect(opened.status, opened.text).toBe(200);
    }
    const flooded = await flood.stop();
    const kept = await idsOf(other, new Set(flooded.signed));
    expect(flooded.signed.filter((id) => !kept.has(id))).toEqual([]);
    expect(flooded.statuses['submit/sign_raw_payload 400']).toBeGreaterThan(0);
    expect(Object.keys(flooded.statuses).filter((each) => / (5\d\d|ECONN\w+|EPIPE)$/.test(each))).toEqual([]);
    expect(service.stderr).toContain('The last signature was given at 20');
    const within = (all: readonly number[], share: number): number =>
      all.toSorted((a, b) => a - b)[Math.ceil(all.length * share) - 1] ?? 0;
    report('freeze under flood', {
      rounds,
      signatures: flooded.signed.length,
      'by signal, median ms': within(waits.signal, 0.5),
      'slowest ms': within(waits.signal, 1),
      'by command, median ms': within(waits.command, 0.5),
      'slowest by command ms': within(waits.command, 1),
      'slowest until it is told ms': within(longest, 1),
      ...flooded.statuses,
    });
    expect(await service.stop()).toBe(0);
  },
);

test
  .skipIf(process.platform !== 'linux')
  .each<readonly [what: string, calls: readonly DiskCall[], fault: DiskFault, code: number]>([
    ['is full', ['write', 'truncate', 'create'], 'ENOSPC', 0],
    ['fails to write', ['write', 'truncate'], 'EIO', 0],
    ['can only be read', ['write', 'truncate', 'create', 'rename', 'unlink'], 'EROFS', 8],
  ])('a disk that %s takes no freeze into the database, and the keys go all the same', async (...given) => {
  const [, calls, fault, code] = given;
  await using vault = await ServedVault.make();
  const disk = new FaultyDisk(vault.home, vault.directory);
  const { process: service, client } = await vault.serve(disk.environment);
  const { ethereum } = await newWallet(client);
  const sign = () =>
    client.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', {
      signWith: ethereum,
      payload: 'payload',
      encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
      hashFunction: 'HASH_FUNCTION_KECCAK256',
    });
  const { id } = activityOf(await sign());
  disk.fail(calls, fault);
  const frozen = await vault.run(['freeze', '--json']);
  expect(frozen.code, frozen.stderr).toBe(code);
  if (code === 0) {
    expect(JSON.parse(frozen.stdout)).toMatchObject({
      frozen: { unsaved: null, lastSignature: { activityId: id } },
    });
  } else {
    expect(frozen.stderr).toContain('The vault is frozen in memory, but not in the file: ');
    service.child.kill('SIGUSR2');
    await vi.waitFor(() => {
      expect(service.stderr).toContain('The vault is frozen in memory, but not in the file: ');
    });
  }
  expect(await sign()).toMatchObject({ status: 400, body: { turnkeyErrorCode: 'VAULT_FROZEN' } });
  expect(disk.heal()).toBeGreaterThan(0);
  expect(await sign()).toMatchObject({ status: 400, body: { turnkeyErrorCode: 'VAULT_FROZEN' } });
  if (code !== 0) expect((await vault.run(['freeze'])).code).toBe(0);
  expect(await service.stop('SIGKILL')).toBe('SIGKILL');

  // The password is at hand at the start, and does not lift it.
  const { process: again, client: after } = await vault.serve();
  const refused = await after.submit('create_user_tag', 'CREATE_USER_TAG', {
    userTagName: 'tag',
    userIds: [],
  });
  expect(refused).toMatchObject({ status: 400, body: { turnkeyErrorCode: 'VAULT_FROZEN' } });
  expect(await again.stop()).toBe(0);
});

test.skipIf(process.platform === 'win32').each([
  ['the port', 100],
  ['the control socket', 100],
  ['the port', 1000],
  ['the control socket', 1000],
])('connections to %s that ask nothing leave room for a freeze, of %i descriptors', async (where, most) => {
  await using vault = await ServedVault.make();
  const { process: service, client } = await vault.serve({}, [], most);
  const { socket } = readEndpoint(vault.directory) ?? {};
  const port = Number(new URL(client.url).port);
  using idle = new DisposableStack();
  const ended = { count: 0 };
  for (let count = 0; count < most + 50; count++) {
    // The system keeps a queue of those that are not accepted yet, and refuses more.
    const silent = await vi.waitFor(async () => {
      const made = connect(where === 'the port' ? { port, host: '127.0.0.1' } : { path: String(socket) });
      await once(made, 'connect');
      return made;
    });
    idle.defer(() => silent.destroy());
    silent.on('error', () => undefined).on('close', () => (ended.count += 1));
  }
  await expect.poll(() => ended.count).toBeGreaterThan(50);
  expect((await client.query('whoami')).status).toBe(200);
  const frozen = await vault.run(['freeze', '--json']);
  expect(frozen.code, frozen.stderr).toBe(0);
  expect(JSON.parse(frozen.stdout)).toMatchObject({ frozen: { unsaved: null } });
  expect(await service.stop()).toBe(0);
});

test.skipIf(process.platform !== 'linux')(
  'a freeze waits for room where the queue of the control socket is full',
  async () => {
    await using vault = await ServedVault.make();
    const { process: service } = await vault.serve();
    const path = String(readEndpoint(vault.directory)?.socket);
    using waiting = new DisposableStack();
    service.child.kill('SIGSTOP');
    const fill = async (): Promise<void> => {
      for (;;) {
        const silent = connect({ path });
        waiting.defer(() => silent.destroy());
        await once(silent, 'connect');
        silent.on('error', () => undefined);
      }
    };
    await expect(fill()).rejects.toMatchObject({ code: 'EAGAIN' });
    // It has found the queue full before it returns.
    const freezing = askControl(vault.directory, 'freeze', { args: [] });
    service.child.kill('SIGCONT');
    expect(await freezing).toMatchObject({ status: 200 });
    expect(await service.stop()).toBe(0);
  },
);

async function idsOf(client: TestClient, wanted: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  let after: string | undefined;
  for (;;) {
    const { body } = await client.query('list_activities', {
      paginationOptions: { limit: '100', ...(after === undefined ? {} : { after }) },
    });
    const page = (body?.['activities'] ?? []) as readonly (Json & { readonly id: string })[];
    for (const { id } of page) if (wanted.has(id)) found.add(id);
    after = page.at(-1)?.id;
    if (after === undefined || page.length < 100 || found.size === wanted.size) return found;
  }
}
