/** Files between a person's browser and the service: who may bring and take one, and what is left of it. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { BackupRecord, UploadProgress } from '../../preload/contract.ts';
import { uploadFile } from '../../renderer/app/rpc/upload-file.ts';
import { send, signInWindow, startTestVault, temporaryDirectory } from '../support/support.ts';
import type { Answer, TestVault } from '../support/support.ts';

const elsewhere = temporaryDirectory();
const file = join(elsewhere.path, 'family.backup');

let service: TestVault;
let backup: BackupRecord;
let bytes: Buffer;
let session: Awaited<ReturnType<typeof signInWindow>>;

beforeAll(async () => {
  service = await startTestVault({ config: { ui: true } });
  session = await signInWindow(service.vault.newLink());
  backup = await service.vault.rpc.backUp({ file });
  bytes = readFileSync(file);
});
afterEach(() => {
  vi.useRealTimers();
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  elsewhere[Symbol.dispose]();
});

const drafts = (at = service): string[] =>
  readdirSync(at.directory).filter((name) => name.startsWith('chosen-'));

interface Part {
  readonly at?: number;
  readonly length?: number;
  readonly file?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const bring = ({ at = 0, length = 100_000, file: begun, headers = session }: Part = {}): Promise<Answer> => {
  const query = new URLSearchParams({ name: 'family.backup', size: String(bytes.length), at: String(at) });
  if (begun !== undefined) query.set('file', begun);
  return send(service.url, {
    path: `/window/files?${query.toString()}`,
    headers: { 'content-type': 'application/octet-stream', ...headers },
    body: bytes.subarray(at, at + length),
  });
};
const saveLink = (headers: Readonly<Record<string, string>> = session, id = backup.id): Promise<Answer> =>
  send(service.url, { path: '/window/save', headers, body: JSON.stringify({ id }) });
const addressOf = ({ body }: Answer): string => (body as { value: { address: string } }).value.address;
const fetchSaved = (
  address: string,
  headers: Record<string, string> = { cookie: session.cookie },
): Promise<Response> => fetch(new URL(address, service.url), { headers });

/** As the window's client does it in a browser. */
function choose(
  content: Buffer,
  options: Parameters<typeof uploadFile>[1] = {},
  name = 'family.backup',
): ReturnType<typeof uploadFile> {
  return uploadFile(new File([new Uint8Array(content)], name), options, {
    async post(query, part) {
      const answer = await send(service.url, {
        path: `/window/files?${query}`,
        headers: { ...session },
        body: new Uint8Array(part),
      });
      if (answer.status !== 200) throw new Error(String(answer.body?.['message']));
      return answer.body?.['value'] as UploadProgress;
    },
    release: (brought) => service.vault.rpc.releaseBackup(brought),
  });
}

test('no client uploads or downloads a file without a session, or from a page of another origin', async () => {
  const { cookie } = session;
  for (const headers of [{}, { cookie }, { 'x-keyhearth-session': session['x-keyhearth-session'] }]) {
    expect((await bring({ headers })).status).toBe(401);
    expect((await saveLink(headers)).status).toBe(401);
  }
  for (const origin of ['https://example.com', 'http://localhost:3000', 'null']) {
    expect((await bring({ headers: { ...session, origin } })).status).toBe(403);
    expect((await saveLink({ ...session, origin })).status).toBe(403);
  }
  const address = addressOf(await saveLink());
  for (const headers of [
    { cookie, origin: 'https://example.com' },
    { cookie, 'sec-fetch-site': 'cross-site' },
  ]) {
    expect((await send(service.url, { method: 'GET', path: address, headers })).status).toBe(403);
  }
  // None of them spent it.
  expect((await fetchSaved(address)).status).toBe(200);
  expect(drafts()).toEqual([]);
});

test('a backup is brought in parts, two at once, tried under its own name, and gone then', async () => {
  const told: number[] = [];
  const [one, two] = await Promise.all([
    choose(bytes, { onProgress: (done, total) => told.push(done / total) }),
    choose(bytes, {}, 'the same.backup'),
  ]);
  expect(one).toMatchObject({ name: 'family.backup', madeAt: backup.madeAt, size: bytes.length });
  expect(told.at(-1)).toBe(1);
  expect(told).toEqual(told.toSorted((a, b) => a - b));
  expect(drafts()).toHaveLength(2);
  const { rpc } = service.vault;
  await expect(
    rpc.verifyBackup({ file: one.file, secret: { with: 'password', password: 'not the one' } }),
  ).rejects.toThrow(/The backup does not open/);
  expect(await rpc.verifyBackup({ file: one.file })).toMatchObject({
    file: 'family.backup',
    problemCount: 0,
  });
  expect(drafts()).toHaveLength(1);
  await expect(rpc.verifyBackup({ file: one.file })).rejects.toThrow(/choose it again/);
  // A copy of one that is known proves that one.
  const { backups } = await rpc.backups();
  expect(backups).toEqual([{ ...backup, provenAt: expect.any(Number) as unknown }]);
  await rpc.releaseBackup(two.file);
  expect(drafts()).toEqual([]);
});

test('a wrong file is refused by its first bytes; one that is given up, or cannot be read, leaves nothing', async () => {
  await expect(choose(Buffer.alloc(3_000_000, 'x'))).rejects.toThrow(/does not begin as a Keyhearth backup/);
  await expect(choose(bytes.subarray(0, -1))).rejects.toThrow(/it is cut off/);
  const giving = new AbortController();
  const given = choose(bytes, {
    signal: giving.signal,
    onProgress: () => {
      expect(drafts()).toHaveLength(1);
      giving.abort();
    },
  });
  await expect(given).rejects.toThrow(/abort/i);
  expect(drafts()).toEqual([]);
  // A person may change the file while it is read: the browser then stops reading.
  const slice = vi.spyOn(File.prototype, 'slice');
  slice.mockImplementation(function (this: File, ...where) {
    if (where[0] === 0) return Blob.prototype.slice.apply(this, where);
    throw new DOMException('changed', 'NotReadableError');
  });
  await expect(choose(bytes)).rejects.toThrow(/^Couldn’t read the file. Choose the file again/);
  slice.mockRestore();
  expect(drafts()).toEqual([]);
});

test('an invalid part of a file is refused by name', async () => {
  const post = (query: string): Promise<Answer> =>
    send(service.url, { path: `/window/files${query}`, headers: session, body: 'x' });
  expect((await post('')).body?.['message']).toMatch(/^missing field part\.name/);
  expect((await post('?name=x&size=-1&at=0')).body?.['message']).toMatch(
    /^invalid part\.size: Expected a number/i,
  );
  expect((await post('?name=x&size=9&at=0&file=chosen:none')).status).toBe(404);
  await service.vault.rpc.lock();
  expect((await bring()).body?.['message']).toMatch(/^The vault is locked/);
  expect((await saveLink()).body?.['message']).toMatch(/^The vault is locked/);
  await service.unlock();
});

test('a backup is taken away once by each link, by the browser that asked, whole and never cached', async () => {
  const address = addressOf(await saveLink());
  expect(address).toMatch(/^\/window\/save\/[A-Za-z0-9_-]{43}$/);
  const answer = await fetchSaved(address);
  expect(Buffer.from(await answer.arrayBuffer())).toEqual(bytes);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-type': 'application/octet-stream',
    'cache-control': 'no-store',
    'content-length': String(bytes.length),
    'content-disposition': expect.stringMatching(
      /^attachment; filename="?keyhearth-Tests-\d{4}-\d\d-\d\d-\d{4}\.backup"?$/,
    ) as unknown,
  });
  expect((await fetchSaved(address)).status).toBe(404);

  const stolen = addressOf(await saveLink());
  const other = await signInWindow(service.vault.newLink());
  expect((await fetchSaved(stolen, { cookie: other.cookie })).status).toBe(404);
  expect((await fetchSaved(stolen)).status).toBe(404);
  expect((await fetchSaved(addressOf(await saveLink()), {})).status).toBe(404);

  vi.useFakeTimers({ toFake: ['Date'] });
  const old = addressOf(await saveLink());
  vi.setSystemTime(Date.now() + 61_000);
  expect((await fetchSaved(old)).status).toBe(404);
});

test('nothing is taken away but backups of the list', async () => {
  expect((await saveLink(session, 'ae0f13e2-3ebf-42c5-9ed0-a0faad035be3')).body?.['message']).toBe(
    'this backup is in the list no more',
  );
  expect((await saveLink(session, '../../etc/passwd')).status).toBe(400);
  writeFileSync(file, 'what was put in its place');
  expect((await saveLink()).body?.['message']).toMatch(/does not begin as a Keyhearth backup/);
  writeFileSync(file, bytes);
});

test('a backup that was brought is restored where there is no vault, and known by its name', async () => {
  await using fresh = await startTestVault({ empty: true, config: { ui: true } });
  const name = 'family.backup';
  const { rpc } = fresh.vault;
  const part = { name, size: bytes.length, at: 0, bytes };
  await expect(
    rpc.restore({ file: 'chosen:none', secret: { with: 'recovery', phrase: 'x' } }),
  ).rejects.toThrow(/choose it again/);
  const query = new URLSearchParams({ name, size: String(part.size), at: '0' });
  const answer = await send(fresh.url, {
    path: `/window/files?${query.toString()}`,
    headers: await signInWindow(fresh.vault.newLink()),
    body: bytes,
  });
  const { backup: brought } = (answer.body as { value: UploadProgress }).value;
  expect(drafts(fresh)).toHaveLength(1);
  const secret = { with: 'recovery', phrase: service.recoveryPhrase } as const;
  expect(await rpc.restore({ file: brought.file, secret })).toMatchObject({ state: 'unlocked' });
  expect(drafts(fresh)).toEqual([]);
  const { backups } = await rpc.backups();
  expect(backups).toEqual([expect.objectContaining({ file: name, found: null, madeAt: backup.madeAt })]);
  const { events } = await rpc.securityEvents();
  expect(events).toContainEqual(expect.objectContaining({ kind: 'restored', count: 1 }));
});
