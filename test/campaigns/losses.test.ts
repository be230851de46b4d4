/**
 * Acknowledged activities that the vault's file has lost: a write-ahead log that was damaged, cut, removed or
 * replaced after a crash, and a file that was deleted, moved or replaced while it was served. Every loss is
 * reported.
 */
import { randomInt } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  test,
  vi,
  type MockInstance,
} from 'vitest';
import { makeConfig } from '../../main/app/config.ts';
import { logEnd } from '../../main/storage/tables/activities.ts';
import { KeyhearthError } from '../../main/lib/errors.ts';
import { openVault } from '../../main/app/compose.ts';
import {
  CommandProcess,
  newWallet,
  runCommand,
  startTestVault,
  temporaryDirectory,
  TestClient,
  testKeyOf,
} from '../support/support.ts';
import { atLength, report } from './length.ts';

/** For each kind of damage. */
const trials = atLength(3, 60);
const password = 'a password for this test';
const answers = 30;
const signature = {
  payload: '00',
  encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
  hashFunction: 'HASH_FUNCTION_SHA256',
};

const home = temporaryDirectory();
afterAll(() => {
  home[Symbol.dispose]();
});

const fileNames = ['vault.db', 'vault.db-wal', 'vault.mark'] as const;

/** The files of a vault as its killed process left them, and how many rows its log had when it had answered last. */
interface Killed {
  readonly directory: string;
  readonly files: Readonly<Record<(typeof fileNames)[number], Buffer>>;
  readonly rows: number;
  /** A backup that lacks most of what was answered. */
  readonly backup: string;
}

async function killedVault(name: string): Promise<Killed> {
  const place = join(home.path, name);
  mkdirSync(place);
  const directory = join(place, 'vault');
  const locations = ['--data-dir', directory, '--config-dir', place];
  const secret = { descriptor3: password };
  const made = await runCommand(
    ['init', '--no-keychain', '--json', ...locations, '--password-fd', '3'],
    secret,
  );
  const { organizationId } = JSON.parse(made.stdout) as { organizationId: string };
  const read = (file: string): string => readFileSync(join(place, 'keys', file), 'utf8').trim();
  const key = testKeyOf(read('owner.private'), read('owner.public'));
  await using service = new CommandProcess(
    ['serve', '--port', '0', '--no-keychain', '--json', ...locations, '--password-fd', '3'],
    secret,
  );
  const { url } = JSON.parse(await service.nextLine()) as { url: string };
  const client = new TestClient(url, organizationId, key);
  const { ethereum } = await newWallet(client);
  const backup = join(place, 'before.backup');
  expect((await runCommand(['backup', backup, ...locations])).code).toBe(0);
  for (let count = 0; count < answers; count++) {
    const answer = await client.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', {
      ...signature,
      signWith: ethereum,
      payload: count.toString(16).padStart(4, '0'),
    });
    expect(answer.status).toBe(200);
  }
  expect(await service.stop('SIGKILL')).toBe('SIGKILL');
  const [database, log, mark] = fileNames.map((file) => readFileSync(join(directory, file)));
  if (database === undefined || log === undefined || mark === undefined) throw new Error('a file is missing');
  const files = { 'vault.db': database, 'vault.db-wal': log, 'vault.mark': mark };
  // The wallet, and what was signed with it.
  return { directory, files, backup, rows: 1 + answers };
}

let killed: Killed;
let other: Killed;

beforeAll(async () => {
  killed = await killedVault('one');
  other = await killedVault('other');
}, 120_000);

/** Puts the files back as they were, in their places: a file keeps its number. */
function putBack({ directory, files }: Killed): void {
  for (const name of [...fileNames, 'vault.db-shm', 'vault.db-wal.damaged']) {
    if (name in files) writeFileSync(join(directory, name), files[name as (typeof fileNames)[number]]);
    else rmSync(join(directory, name), { force: true });
  }
}

const openKilled = (): ReturnType<typeof openVault> =>
  openVault(makeConfig({ dataDir: killed.directory, configDir: home.path, keychain: false }, {}));

/** Opens the vault as the next start does. @returns how many rows its log has, or how it is refused. */
async function opened({ directory }: Killed): Promise<{ rows: number } | KeyhearthError> {
  const config = makeConfig({ dataDir: directory, configDir: home.path, keychain: false }, {});
  let vault: ReturnType<typeof openVault> | undefined;
  try {
    vault = openVault(config);
    await vault.rpc.unlock({ with: 'password', password });
    return vault.units.read((tx) => ({ rows: logEnd(tx).sequence }));
  } catch (error) {
    if (error instanceof KeyhearthError) return error;
    throw error;
  } finally {
    vault?.close();
  }
}

/** Does what the owner does who goes on with what is left. */
async function accept({ directory }: Killed): Promise<void> {
  const config = makeConfig({ dataDir: directory, configDir: home.path, keychain: false }, {});
  const vault = openVault(config);
  try {
    const rollback = await vault.log.findRollback({ with: 'password', password });
    expect(rollback?.problem).toContain('gone');
    await rollback?.accept();
  } finally {
    vault.close();
  }
}

const logOf = ({ directory }: Killed): string => join(directory, 'vault.db-wal');

function edit(file: string, change: (bytes: Buffer) => void): void {
  const bytes = readFileSync(file);
  change(bytes);
  writeFileSync(file, bytes);
}

const kinds: readonly (readonly [string, (vault: Killed) => void])[] = [
  [
    'with a changed byte',
    (vault) => {
      edit(logOf(vault), (bytes) => {
        const at = randomInt(bytes.length);
        bytes[at] = (bytes[at] ?? 0) ^ (1 + randomInt(255));
      });
    },
  ],
  [
    'with a zeroed block',
    (vault) => {
      edit(logOf(vault), (bytes) => {
        const at = 4096 * randomInt(Math.floor(bytes.length / 4096));
        bytes.fill(0, at, at + 4096);
      });
    },
  ],
  [
    'cut short',
    (vault) => {
      truncateSync(logOf(vault), randomInt(vault.files['vault.db-wal'].length));
    },
  ],
  [
    'removed',
    (vault) => {
      rmSync(logOf(vault));
    },
  ],
  [
    'of another vault',
    (vault) => {
      writeFileSync(logOf(vault), other.files['vault.db-wal']);
    },
  ],
];

describe('after a crash', () => {
  // Each damaged log is reported there, at the start.
  let said: MockInstance<typeof process.stderr.write>;
  beforeEach(() => {
    said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  });
  afterEach(() => {
    said.mockRestore();
  });

  test('all that was answered is there', async () => {
    putBack(killed);
    expect(await opened(killed)).toEqual({ rows: killed.rows });
  });

  test('an index of the log that is damaged is built again', async () => {
    putBack(killed);
    writeFileSync(join(killed.directory, 'vault.db-shm'), Buffer.alloc(32_768, 0xa5));
    expect(await opened(killed)).toEqual({ rows: killed.rows });
  });

  test.each(kinds)(
    'a write-ahead log %s loses nothing in silence',
    { timeout: trials * 60_000 },
    async (kind, damage) => {
      let refused = 0;
      for (let trial = 0; trial < trials; trial++) {
        putBack(killed);
        damage(killed);
        const found = await opened(killed);
        if (!(found instanceof KeyhearthError)) {
          expect(found).toEqual({ rows: killed.rows });
          continue;
        }
        refused++;
        expect(['VAULT_ROLLED_BACK', 'VAULT_TAMPERED']).toContain(found.code);
        if (found.code !== 'VAULT_ROLLED_BACK') continue;
        expect(found.message).toMatch(
          new RegExp(
            `its log ends at entry \\d+, and entry ${String(killed.rows)} was answered here: (entry|entries) .* gone`,
          ),
        );
        // The next start says the same, although SQLite has taken up the log meanwhile.
        expect(await opened(killed)).toMatchObject({ code: 'VAULT_ROLLED_BACK', message: found.message });
        await accept(killed);
        const { rows } = (await opened(killed)) as { rows: number };
        expect(rows).toBeLessThan(killed.rows);
        expect(found.message).toContain(`ends at entry ${String(rows)}`);
      }
      expect(refused).toBeGreaterThan(0);
      report(`a write-ahead log ${kind}`, { trials, refused, 'lost in silence': 0 });
    },
  );

  test('a damaged log is reported without the mark too, and kept', async () => {
    putBack(killed);
    rmSync(join(killed.directory, 'vault.mark'));
    edit(logOf(killed), (bytes) => {
      bytes[5000] = (bytes[5000] ?? 0) ^ 1;
    });
    const found = await opened(killed);
    expect(said).toHaveBeenCalledWith(
      expect.stringMatching(/^The write-ahead log of .* is damaged from frame 2 on/),
    );
    expect(found).toMatchObject({ code: 'VAULT_ROLLED_BACK' });
    expect(existsSync(join(killed.directory, 'vault.db-wal.damaged'))).toBe(true);
    await accept(killed);
    expect(await opened(killed)).not.toBeInstanceOf(KeyhearthError);
  });

  test('doctor names what is gone, and the log that was kept', async () => {
    putBack(killed);
    edit(logOf(killed), (bytes) => {
      bytes[5000] = (bytes[5000] ?? 0) ^ 1;
    });
    const { message } = (await opened(killed)) as KeyhearthError;
    const doctor = await runCommand(['doctor', '--data-dir', killed.directory, '--no-keychain']);
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).toContain(join(killed.directory, 'vault.db-wal.damaged'));
    expect(doctor.stdout).toMatch(/^failed +answered activities +/m);
    expect(doctor.stdout).toContain(message);
  });

  test('a file that was emptied is not taken for a new one', async () => {
    putBack(killed);
    truncateSync(join(killed.directory, 'vault.db'), 0);
    rmSync(logOf(killed));
    expect(await opened(killed)).toMatchObject({ code: 'VAULT_TAMPERED' });
  });

  // The owner moves the vault's file away, as for a restore, and forgets the log beside it.
  test.each<[string, (name: string) => Promise<unknown>]>([
    [
      'a start without the file',
      () => {
        openKilled().close();
        return Promise.resolve();
      },
    ],
    [
      'a restore',
      async (kept) => {
        const { directory, backup } = killed;
        const restoring = ['restore', backup, '--data-dir', directory, '--password-fd', '3'];
        const { code, stderr } = await runCommand(restoring, { descriptor3: password });
        expect(code).toBe(0);
        expect(stderr).toContain(`It is kept in ${kept}`);
      },
    ],
  ])('%s keeps the log of a file that was moved away', async (_what, run) => {
    putBack(killed);
    const { directory, files } = killed;
    const at = (name: string): string => join(directory, name);
    const moved = join(directory, '..', 'moved.db');
    const earlier = Buffer.from('a log that was kept before');
    writeFileSync(at('vault.db-wal.kept'), earlier);
    writeFileSync(at('vault.db-wal.damaged'), 'a damaged log');
    renameSync(at('vault.db'), moved);
    await run(at('vault.db-wal.kept-2'));
    expect(readFileSync(at('vault.db-wal.kept')).equals(earlier)).toBe(true);
    expect(readFileSync(at('vault.db-wal.damaged.kept'), 'utf8')).toBe('a damaged log');
    expect(existsSync(at('vault.db-wal.damaged'))).toBe(false);
    expect(readFileSync(at('vault.db-wal.kept-2')).equals(files['vault.db-wal'])).toBe(true);

    for (const name of ['vault.db', 'vault.db-wal', 'vault.db-shm']) rmSync(at(name), { force: true });
    renameSync(moved, at('vault.db'));
    renameSync(at('vault.db-wal.kept-2'), at('vault.db-wal'));
    for (const name of ['vault.db-wal.kept', 'vault.db-wal.damaged.kept']) rmSync(at(name));
    expect(await opened(killed)).toEqual({ rows: killed.rows });
  });

  test('a copy elsewhere is not held against the mark', async () => {
    putBack(killed);
    const directory = join(home.path, 'copy');
    mkdirSync(directory);
    for (const name of fileNames) copyFileSync(join(killed.directory, name), join(directory, name));
    // Copied in this order from a vault in use, the mark may be newer than what was copied before it.
    rmSync(join(directory, 'vault.db-wal'));
    const found = await opened({ ...killed, directory });
    expect(found).not.toBeInstanceOf(KeyhearthError);
  });
});

describe('while it is served', () => {
  const moves: readonly (readonly [string, string, (directory: string) => void])[] = [
    [
      'deleted',
      'was deleted or moved away',
      (directory) => {
        rmSync(join(directory, 'vault.db'));
      },
    ],
    [
      'moved',
      'was deleted or moved away',
      (directory) => {
        renameSync(join(directory, 'vault.db'), join(directory, 'elsewhere.db'));
      },
    ],
    [
      'replaced by a copy of itself',
      'another file was put in the place',
      (directory) => {
        copyFileSync(join(directory, 'vault.db'), join(directory, 'copy.db'));
        renameSync(join(directory, 'copy.db'), join(directory, 'vault.db'));
      },
    ],
    [
      'parted from its log',
      'was deleted or moved away',
      (directory) => {
        rmSync(join(directory, 'vault.db-wal'));
      },
    ],
    [
      'moved with its directory',
      'was deleted or moved away',
      (directory) => {
        renameSync(directory, `${directory} elsewhere`);
        mkdirSync(directory);
      },
    ],
  ];

  test.each(moves)('a file that is %s: nothing more is acknowledged', async (_what, said, move) => {
    await using service = await startTestVault();
    const { vault, root, directory } = service;
    const { ethereum } = await newWallet(root);
    const sign = () =>
      root.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', { ...signature, signWith: ethereum });
    expect((await sign()).status).toBe(200);
    move(directory);
    // At once, whether or not the clock has looked.
    expect(await sign()).toMatchObject({ status: 400, body: { turnkeyErrorCode: 'VAULT_TAMPERED' } });
    const { state, tampering } = await vault.rpc.status();
    expect(state).toBe('locked');
    expect(tampering?.findings[0]?.problem).toContain(said);
  });

  test('it is noticed without a request too, and the vault opens once the file is back', async () => {
    await using service = await startTestVault();
    const { vault, directory } = service;
    const [there, elsewhere] = [join(directory, 'vault.db'), join(directory, 'elsewhere.db')];
    renameSync(there, elsewhere);
    await vi.waitUntil(() => !vault.keyring.unlocked);
    await expect(service.unlock()).rejects.toMatchObject({ code: 'VAULT_TAMPERED' });
    renameSync(elsewhere, there);
    await service.unlock();
    expect((await vault.rpc.status()).tampering).toBeNull();
  });
});
