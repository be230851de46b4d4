/** A log that proves itself: whatever is done to its rows or its signed heads, in the file or in an export, is found. */
import { createHash, generateKeyPairSync, randomInt, sign } from 'node:crypto';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import type Sqlite from 'better-sqlite3';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  checkFile,
  checkText,
  exportFile,
  headsOf,
  makeSignedLog,
  rechain,
  runStandalone,
  tamper,
} from './audit-log.ts';
import { temporaryDirectory } from '../support/support.ts';

let signedLog: string;
let directory: string;
let exported: string;
let count = 0;

beforeAll(async () => {
  const temporary = temporaryDirectory();
  directory = temporary.path;
  signedLog = await makeSignedLog(directory);
  exported = exportFile(signedLog);
  return () => {
    temporary[Symbol.dispose]();
  };
});

type Change = (database: Sqlite.Database) => void;

/** A copy of the file, changed. */
function changed(change: Change): string {
  count += 1;
  const file = join(directory, `changed-${String(count)}.db`);
  copyFileSync(signedLog, file);
  tamper(file, change);
  return file;
}

const sql =
  (text: string): Change =>
  (database) => {
    database.exec(text);
  };

const forged =
  (text: string): Change =>
  (database) => {
    database.exec(text);
    rechain(database);
  };

const signedAt = String.raw`the vault signed on \d{4}-\d\d-\d\dT[\d:.]+Z`;
const notSigned = (row: number): RegExp =>
  new RegExp(`^entry ${String(row)} is not the one that ${signedAt}: `);
const wasChanged = (row: number): RegExp =>
  new RegExp(`^entry ${String(row)} was changed after it was written$`);
const notFollowing = (row: number): RegExp =>
  new RegExp(`^entry ${String(row)} does not follow the entry before it`);
const isMissing = (row: number): RegExp =>
  new RegExp(`^(entry|entries) ${String(row)} (is|to .* are) missing$`);
const endMissing = (last: number): RegExp =>
  new RegExp(
    `^the end is missing: the log ends at entry ${String(last)}, and entry 12 is one that ${signedAt}$`,
  );

/** Every verifier finds the same place first: in the file, in its export, and in the export without Keyhearth. */
async function expectFound(file: string, row: number | null, problem: RegExp): Promise<void> {
  const check = await checkFile(file);
  expect(check.findings[0]).toEqual({ row, problem: expect.stringMatching(problem) as string });
  const text = exportFile(file);
  expect((await checkText(text)).findings[0]?.problem).toMatch(problem);
  const { code, stdout } = await runStandalone(text);
  expect(code).toBe(1);
  expect(stdout.split('\n')[0]).toMatch(problem);
}

/** The next row with everything but its sequence and ids as in another. */
const copyOf = (row: number, as: number): string =>
  `INSERT INTO activities SELECT ${String(as)}, 'inserted', revision, organization_id, type, status, 'inserted', timestamp_ms,
     intent, result, failure, votes, created_at, updated_at, previous_hash, hash FROM activities WHERE sequence = ${String(row)};`;

/** Moves the rows after one up or down by one, in an order in which no two meet. */
const shift = (after: number, by: 1 | -1): string =>
  `UPDATE activities SET sequence = -sequence WHERE sequence > ${String(after)};
   UPDATE activities SET sequence = -sequence + ${String(by)} WHERE sequence < 0;`;

const swap = `UPDATE activities SET sequence = -6 WHERE sequence = 6; UPDATE activities SET sequence = 6 WHERE sequence = 7;
  UPDATE activities SET sequence = 7 WHERE sequence = -6;`;

describe('the log as the vault left it', () => {
  test('holds, up to its last row', async () => {
    const check = await checkFile(signedLog);
    expect(check).toMatchObject({ rows: 12, signed: 12, findings: [], more: 0 });
    expect(headsOf(signedLog).map(({ sequence }) => sequence)).toEqual([4, 8, 12]);
    expect(await checkText(exported)).toEqual(check);
    expect(await runStandalone(exported)).toMatchObject({ code: 0, stderr: '' });
  });

  test('holds a noted head, of any row, and the key that was noted', async () => {
    for (const { sequence, hash, publicKey } of headsOf(signedLog)) {
      const noted = [{ sequence, hash, known: 'you noted' }];
      expect((await checkFile(signedLog, noted)).findings).toEqual([]);
      expect((await checkText(exported, { noted, publicKey })).findings).toEqual([]);
      const argv = ['--head', `${String(sequence)}:${hash}`, '--public-key', publicKey];
      expect((await runStandalone(exported, argv)).code).toBe(0);
    }
  });
});

describe('every column of a row is hashed', () => {
  /** All that the table has: a column that is added is edited here as well. */
  const columns: readonly (readonly [column: string, value: string, row: number, problem: RegExp])[] = [
    ['sequence', '600', 6, isMissing(6)],
    ['id', "'other'", 6, wasChanged(6)],
    ['revision', '2', 6, wasChanged(6)],
    ['organization_id', "'other'", 6, wasChanged(6)],
    ['type', "'other'", 6, wasChanged(6)],
    ['status', "'ACTIVITY_STATUS_REJECTED'", 6, wasChanged(6)],
    ['fingerprint', "'sha256:00'", 6, wasChanged(6)],
    ['timestamp_ms', 'timestamp_ms + 1', 6, wasChanged(6)],
    ['intent', "intent || ' '", 6, wasChanged(6)],
    ['result', "'{}'", 6, wasChanged(6)],
    ['failure', "'{}'", 6, wasChanged(6)],
    ['votes', "'[]'", 6, wasChanged(6)],
    ['created_at', 'created_at + 1', 6, wasChanged(6)],
    ['updated_at', 'updated_at + 1', 6, wasChanged(6)],
    ['previous_hash', "x'00'", 6, wasChanged(6)],
    ['hash', "x'00'", 6, wasChanged(6)],
  ];

  test('and the table has no other', () => {
    changed((database) => {
      const names = database.prepare("SELECT name FROM pragma_table_info('activities')").pluck().all();
      expect(columns.map(([column]) => column)).toEqual(names);
    });
  });

  test.each(columns)('%s', async (column, value, row, problem) => {
    const file = changed(sql(`UPDATE activities SET ${column} = ${value} WHERE sequence = 6`));
    const [finding] = (await checkFile(file)).findings;
    expect(finding).toEqual({ row, problem: expect.stringMatching(problem) as string });
  });

  test.each(columns.filter(([column]) => !['sequence', 'previous_hash', 'hash'].includes(column)))(
    '%s, with every hash computed again: the signed head reveals',
    async (column, value) => {
      const file = changed(forged(`UPDATE activities SET ${column} = ${value} WHERE sequence = 6`));
      const check = await checkFile(file);
      expect(check.findings).toMatchObject([{ row: 8 }, { row: 12 }]);
      expect(check.findings[0]?.problem).toMatch(notSigned(8));
      expect(check.findings[0]?.problem).toMatch(/: an entry from 5 to 8 was changed$/);
      expect(check.signed).toBe(4);
    },
  );
});

describe('rows that are edited, deleted, inserted, swapped or cut off', () => {
  test.each<[string, Change, number, RegExp]>([
    ['an edit', sql("UPDATE activities SET intent = '{}' WHERE sequence = 3"), 3, wasChanged(3)],
    [
      'the last row edited',
      sql("UPDATE activities SET intent = '{}' WHERE sequence = 12"),
      12,
      wasChanged(12),
    ],
    ['a row deleted', sql('DELETE FROM activities WHERE sequence = 6'), 6, isMissing(6)],
    ['the first deleted', sql('DELETE FROM activities WHERE sequence = 1'), 1, isMissing(1)],
    ['three deleted', sql('DELETE FROM activities WHERE sequence BETWEEN 5 AND 7'), 5, isMissing(5)],
    [
      'a row deleted and the others moved up',
      sql(`DELETE FROM activities WHERE sequence = 6; ${shift(6, -1)}`),
      6,
      wasChanged(6),
    ],
    [
      'a row deleted, and every hash made anew',
      forged(`DELETE FROM activities WHERE sequence = 6; ${shift(6, -1)}`),
      8,
      notSigned(8),
    ],
    ['a row inserted', sql(shift(6, 1) + copyOf(6, 7)), 7, wasChanged(7)],
    ['a row inserted, and every hash made anew', forged(shift(6, 1) + copyOf(6, 7)), 8, notSigned(8)],
    ['two rows swapped', sql(swap), 6, wasChanged(6)],
    ['two rows swapped, and every hash made anew', forged(swap), 8, notSigned(8)],
    ['the end cut off', sql('DELETE FROM activities WHERE sequence > 10'), 11, endMissing(10)],
    ['everything cut off', sql('DELETE FROM activities'), 1, endMissing(0)],
    [
      'the end replaced',
      forged("UPDATE activities SET intent = '{}' WHERE sequence = 12"),
      12,
      notSigned(12),
    ],
  ])('%s', async (_what, change, row, problem) => {
    await expectFound(changed(change), row, problem);
  });

  test('an edit whose own hash was computed again shows at the row after it', async () => {
    const file = changed((database) => {
      const untouched = database.prepare('SELECT previous_hash, hash FROM activities WHERE sequence = 7');
      const before = untouched.get() as { previous_hash: Buffer; hash: Buffer };
      database.exec("UPDATE activities SET intent = '{}' WHERE sequence = 6");
      rechain(database);
      database
        .prepare('UPDATE activities SET previous_hash = ?, hash = ? WHERE sequence = 7')
        .run(before.previous_hash, before.hash);
    });
    await expectFound(file, 7, notFollowing(7));
  });

  test('a row that is added at the end with a right hash is shown as not signed', async () => {
    const file = changed(forged(copyOf(12, 13)));
    expect(await checkFile(file)).toMatchObject({ rows: 13, signed: 12, findings: [] });
    const { stdout } = await runStandalone(exportFile(file));
    expect(stdout).toMatch(/^13 entries .*\nEntry 12 is the one that /);
  });

  test('the end cut off with its heads: a noted head tells', async () => {
    const file = changed(
      sql('DELETE FROM activities WHERE sequence > 8; DELETE FROM log_heads WHERE sequence > 8'),
    );
    const text = exportFile(file);
    expect((await checkFile(file)).findings).toEqual([]);
    const { sequence, hash } = headsOf(signedLog).at(-1) ?? { sequence: 0, hash: '' };
    const noted = [{ sequence, hash, known: 'you noted' }];
    const problem = 'the end is missing: the log ends at entry 8, and entry 12 is one that you noted';
    expect((await checkFile(file, noted)).findings).toEqual([{ row: 9, problem }]);
    expect((await checkText(text, { noted })).findings).toEqual([{ row: 9, problem }]);
    const alone = await runStandalone(text, ['--head', `12:${hash}`]);
    expect(alone.code).toBe(1);
    expect(alone.stdout).toContain(problem);
  });

  test('a log rewritten from the start, heads and all: a noted head and a noted key reveal', async () => {
    const file = changed((database) => {
      const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
      const hex = `04${Buffer.from(x, 'base64url').toString('hex')}${Buffer.from(y, 'base64url').toString('hex')}`;
      database.exec("UPDATE activities SET intent = '{}' WHERE sequence = 2");
      rechain(database);
      database.prepare("UPDATE server_keys SET public_key = ? WHERE name = 'notarizer'").run(hex);
      const vault = database.prepare('SELECT id, organization_id FROM vault').get() as Record<string, string>;
      for (const head of database.prepare('SELECT * FROM log_heads').all() as Record<string, unknown>[]) {
        const row = database.prepare('SELECT hash FROM activities WHERE sequence = ?').get(head['sequence']);
        const { hash } = row as { hash: Buffer };
        const message = [vault['id'], vault['organization_id'], head['sequence'], hash.toString('hex')];
        const signature = sign(
          'sha256',
          Buffer.from(JSON.stringify(['latchkey log head', 1, ...message, head['signed_at']])),
          privateKey,
        );
        database
          .prepare('UPDATE log_heads SET hash = ?, public_key = ?, signature = ? WHERE sequence = ?')
          .run(hash, hex, signature.toString('hex'), head['sequence']);
      }
    });
    // Such a file is whole in itself.
    expect(await checkFile(file)).toMatchObject({ signed: 12, findings: [] });
    const text = exportFile(file);
    const [{ sequence, hash, publicKey } = { sequence: 0, hash: '', publicKey: '' }] = headsOf(signedLog);
    const noted = [{ sequence, hash, known: 'you noted' }];
    expect((await checkFile(file, noted)).findings[0]?.problem).toMatch(
      /^entry 4 is not the one that you noted/,
    );
    expect((await checkText(text, { noted: [], publicKey })).findings[0]?.problem).toMatch(
      /^the log is signed by the key 04[0-9a-f]+, not by the one given$/,
    );
    const alone = await runStandalone(text, ['--public-key', publicKey]);
    expect(alone.code).toBe(1);
    expect(alone.stdout).toMatch(/^the log is signed by the key 04[0-9a-f]+, not by the one given\n/);
  });
});

describe('signed heads', () => {
  const headChanged =
    /^the head of entry (8|80) (was changed: its signature does not hold|is signed by another key)/;

  test.each([
    ['sequence', '80'],
    ['hash', "x'" + '00'.repeat(32) + "'"],
    ['public_key', "(SELECT public_key FROM server_keys WHERE name = 'signer')"],
    ['signature', '(SELECT signature FROM log_heads WHERE sequence = 4)'],
    ['signed_at', 'signed_at + 1'],
  ])('are signed in every column: %s', async (column, value) => {
    const file = changed(sql(`UPDATE log_heads SET ${column} = ${value} WHERE sequence = 8`));
    const { findings } = await checkFile(file);
    expect(findings).toHaveLength(1);
    expect(findings[0]?.problem).toMatch(headChanged);
    const text = exportFile(file);
    // A head of a row that is not there is in no export, unless it is the newest.
    expect((await checkText(text)).findings.length).toBeGreaterThan(0);
    expect((await runStandalone(text)).code).toBe(1);
  });

  test('that are none are named by their row', async () => {
    const file = changed(
      sql("UPDATE log_heads SET signature = 'none', public_key = 'none' WHERE sequence = 8"),
    );
    expect((await checkFile(file)).findings).toMatchObject([{ row: 8 }]);
  });

  test('of another vault do not fit', async () => {
    const file = changed(sql("UPDATE vault SET id = '00000000-0000-4000-8000-000000000000'"));
    const { signed, findings } = await checkFile(file);
    expect(signed).toBe(0);
    expect(findings.map(({ problem }) => problem)).toEqual(
      [4, 8, 12].map((row) => `the head of entry ${String(row)} was changed: its signature does not hold`),
    );
  });
});

describe('an exported log', () => {
  const lines = (): string[] => exported.trimEnd().split('\n');
  const lineOf = (sequence: number): number =>
    lines().findIndex((text) => text.startsWith(`{"kind":"activity","sequence":${String(sequence)},`));
  const rewritten = (change: (all: string[]) => void): string => {
    const all = lines();
    change(all);
    return `${all.join('\n')}\n`;
  };

  test.each<[string, (all: string[]) => void, RegExp]>([
    ['a line left out', (all) => all.splice(lineOf(6), 1), isMissing(6)],
    [
      'a line twice',
      (all) => all.splice(lineOf(6), 0, all[lineOf(6)] ?? ''),
      /^entry 6 stands after entry 6/,
    ],
    [
      'two lines swapped',
      (all) => all.splice(lineOf(6), 2, all[lineOf(7)] ?? '', all[lineOf(6)] ?? ''),
      isMissing(6),
    ],
    ['the end cut off', (all) => all.splice(lineOf(11)), /^the first line says that the log has 12 entries/],
    ['an empty line', (all) => all.splice(3, 0, ''), /^line 4 is not/],
    [
      'a line in other words',
      (all) => (all[3] = (all[3] ?? '').replace(':', ': ')),
      /^line 4 is not as Keyhearth writes it/,
    ],
    [
      'a field more',
      (all) => (all[3] = (all[3] ?? '').replace(/\}$/, ',"note":"x"}')),
      /^line 4 is not as Keyhearth writes it/,
    ],
    [
      'a field twice',
      (all) => (all[3] = (all[3] ?? '').replace('"revision"', '"revision":9,"revision"')),
      /^line 4 is not as Keyhearth writes it/,
    ],
    ['another log after it', (all) => all.push(all[0] ?? ''), /^line \d+ begins another log$/],
    [
      'a head that was moved',
      (all) => all.push(...all.splice(lineOf(4) + 1, 1)),
      /^the head of entry 4 stands after entry 12: it was moved$/,
    ],
    [
      'a vault of another name',
      (all) => (all[0] = (all[0] ?? '').replace(/"vaultId":"./, '"vaultId":"?')),
      /^the head of entry 12 /,
    ],
  ])('%s', async (_what, change, problem) => {
    const text = rewritten(change);
    expect((await checkText(text)).findings[0]?.problem).toMatch(problem);
    const { code, stdout } = await runStandalone(text);
    expect(code).toBe(1);
    expect(stdout.split('\n')[0]).toMatch(problem);
  });

  // The class: a log that any program can write, called intact against a key that signed nothing of it.
  test('without a signature does not stand against the key that is given', async () => {
    const [first = '', ...rest] = exported.split('\n');
    const { publicKey } = JSON.parse(first) as { publicKey: string };
    const begun = JSON.stringify({ ...(JSON.parse(first) as object), head: null });
    const unsigned = [begun, ...rest.filter((text) => !text.startsWith('{"kind":"head"'))].join('\n');
    const { findings } = await checkText(unsigned, { noted: [], publicKey });
    expect(findings.map(({ problem }) => problem)).toEqual(['no entry is signed by the key that is given']);
    const { code, stdout } = await runStandalone(unsigned, ['--public-key', publicKey]);
    expect(stdout).toContain('no entry is signed by the key that is given');
    expect(stdout).not.toContain('The log is intact.');
    expect(code).toBe(1);
    // Nothing is claimed of a key where none is given.
    expect((await checkText(unsigned)).findings).toEqual([]);
    expect(await runStandalone(unsigned)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('No entry is signed.') as string,
    });
  });

  // The class: a value that JavaScript takes for a number, where rows and heads are found by number.
  test('with rows numbered by texts does not stand against a head that was noted', async () => {
    const [first = '', ...rest] = exported.split('\n');
    const rows = rest.flatMap((text) =>
      text.startsWith('{"kind":"activity"') ? [JSON.parse(text) as object] : [],
    );
    let previousHash = '00'.repeat(32);
    const forgedRows = rows.map((row, index) => {
      const fields = { ...row, sequence: '1'.repeat(index + 1), intent: '{}' };
      const [, ...hashed] = Object.values({ ...fields, previousHash: '', hash: '' }).slice(0, -2);
      const hash = createHash('sha256')
        .update(Buffer.from(previousHash, 'hex'))
        .update(JSON.stringify(hashed))
        .digest('hex');
      const line = JSON.stringify({ ...fields, previousHash, hash });
      previousHash = hash;
      return line;
    });
    const begun = JSON.stringify({ ...(JSON.parse(first) as object), rows: '1'.repeat(rows.length) });
    const { sequence, hash, publicKey } = headsOf(signedLog).at(-1) ?? {
      sequence: 0,
      hash: '',
      publicKey: '',
    };
    const argv = ['--head', `${String(sequence)}:${hash}`, '--public-key', publicKey];
    for (const begin of [begun, first]) {
      const { code, stdout } = await runStandalone([begin, ...forgedRows, ''].join('\n'), argv);
      expect(stdout).not.toContain('The log is intact.');
      expect(code).toBe(1);
    }
  });

  test.each(['', 'no log at all\n', '{}\n', '[1]\n', 'null\n'])('that is none: %j', async (text) => {
    await expect(checkText(text)).rejects.toThrow(/^this is no exported log: line 1 /);
    const { code, stderr } = await runStandalone(text);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^verify-log: this is no exported log/);
  });

  test('with any single byte changed does not hold', async () => {
    const bytes = Buffer.from(exported);
    const held: string[] = [];
    for (let round = 0; round < 400; round++) {
      const at = randomInt(bytes.length);
      const copy = Buffer.from(bytes);
      copy[at] = (copy[at] ?? 0) ^ (1 + randomInt(255));
      const found = await checkText(copy.toString('utf8')).then(
        ({ findings }) => findings.length,
        () => 1,
      );
      if (found === 0) held.push(`byte ${String(at)}: ${String(bytes[at])} became ${String(copy[at])}`);
    }
    expect(held).toEqual([]);
  });

  test('with any single byte changed does not hold for the stand-alone verifier either', async () => {
    const bytes = Buffer.from(exported);
    for (let round = 0; round < 20; round++) {
      const at = randomInt(bytes.length);
      const copy = Buffer.from(bytes);
      copy[at] = (copy[at] ?? 0) ^ (1 + randomInt(127));
      const { code } = await runStandalone(copy.toString('utf8'));
      expect(code, `byte ${String(at)}`).toBe(1);
    }
  });

  // Each further piece of a line was once searched together with all before it: for this one some hundred gigabytes in all.
  test('of one line of 100 MB is refused, in time that grows as the file does', async () => {
    const line = 'x'.repeat(100_000_000);
    await expect(checkText(line)).rejects.toThrow(/^this is no exported log/);
    const { code, stderr } = await runStandalone(line);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^verify-log: this is no exported log/);
  });

  test('is verified by a script that says how it is called', async () => {
    for (const argv of [['more'], ['--head', '4'], ['--what'], ['--public-key', '04']]) {
      const { code, stderr } = await runStandalone(exported, argv);
      expect(code).toBe(2);
      expect(stderr).toMatch(/^verify-log: /);
    }
  });
});
