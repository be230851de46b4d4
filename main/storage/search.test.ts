import { beforeAll, describe, expect, test } from 'vitest';
import { Connection, type Reader, type Value } from './connection.ts';
import { migrate } from './migrations.ts';
import { search } from './search.ts';

const id = (number: number): string => `${number.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`;
const address = (number: number): string => `0xAb${number.toString(16).padStart(38, '0')}`;

const connection = Connection.open(':memory:');
const accounts = 2_000;

beforeAll(() => {
  migrate(connection);
  connection.run('PRAGMA foreign_keys = OFF');
  connection.transaction(() => {
    fill();
  });
  return () => {
    connection.close();
  };
});

function fill(): void {
  const run = (sql: string, ...values: Value[]): number => connection.run(sql, ...values);
  for (const [organization, name] of [
    ['sub', 'Northern branch'],
    ['other', 'North of elsewhere'],
  ] as const) {
    run(
      `INSERT INTO organizations (id, parent_id, name, root_quorum_threshold, created_at, updated_at) VALUES (?, ?, ?, 1, 0, 0)`,
      organization,
      organization === 'sub' ? 'o' : 'elsewhere',
      name,
    );
  }
  for (const [number, organization, name] of [
    [1, 'o', 'My Savings'],
    [2, 'o', 'savings 100%'],
    [3, 'elsewhere', 'Savings'],
  ] as const) {
    run(
      `INSERT INTO wallets (id, organization_id, name, sealed, exported, imported, created_at, updated_at) VALUES (?, ?, ?, x'', 0, 0, 0, 0)`,
      id(number),
      organization,
      name,
    );
  }
  for (let number = 0; number < accounts; number += 1) {
    run(
      `INSERT INTO wallet_accounts (id, organization_id, wallet_id, name, curve, path, address_format, address, public_key, created_at, updated_at)
       VALUES (?, 'o', ?, ?, 'CURVE_SECP256K1', ?, 'ADDRESS_FORMAT_ETHEREUM', ?, ?, 0, 0)`,
      id(0x1000 + number),
      id(1),
      number === 7 ? 'Petty cash' : null,
      String(number),
      address(number),
      `02${number.toString(16).padStart(64, '0')}`,
    );
    run(
      `INSERT INTO activities (id, revision, organization_id, type, status, fingerprint, timestamp_ms, intent, votes, created_at, updated_at, previous_hash, hash)
       VALUES (?, 1, 'o', 'ACTIVITY_TYPE_SIGN', 'DONE', ?, 0, '{}', '[]', 0, 0, x'', x'')`,
      id(0x9000_0000 + number),
      `sha256:${number.toString(16).padStart(64, '0')}`,
    );
  }
  run(
    `INSERT INTO users (id, organization_id, name, email, root, created_at, updated_at) VALUES (?, 'o', 'Ada', 'ada@example.org', 1, 0, 0)`,
    id(4),
  );
  run(
    `INSERT INTO api_keys (id, organization_id, user_id, name, credential_type, public_key, created_at, updated_at)
     VALUES (?, 'o', ?, 'nightly', 'T', '03ffee', 0, 0)`,
    id(5),
    id(4),
  );
  run(
    `INSERT INTO private_keys (id, organization_id, name, curve, public_key, sealed, exported, imported, created_at, updated_at)
     VALUES (?, 'o', 'Release', 'CURVE_ED25519', 'aabbcc', x'', 0, 0, 0, 0)`,
    id(6),
  );
  run(
    `INSERT INTO private_key_addresses (private_key_id, position, organization_id, format, address) VALUES (?, 0, 'o', 'F', 'SoLana111')`,
    id(6),
  );
  run(
    `INSERT INTO tags (id, organization_id, type, name, created_at, updated_at) VALUES (?, 'o', 'TAG_TYPE_USER', 'Savers', 0, 0)`,
    id(8),
  );
  for (const [number, organization] of [
    [9, 'o'],
    [10, 'elsewhere'],
  ] as const) {
    run(
      `INSERT INTO known_addresses (id, organization_id, name, address, created_at) VALUES (?, ?, 'Roofer', '0x5290Cafe', 0)`,
      id(number),
      organization,
    );
  }
}

const found = (text: string, limit = 5): string[] =>
  search(connection, 'o', text, limit).map(({ kind, name }) => `${kind} ${name}`);

describe('search', () => {
  test.each([
    // Those that begin with it first; nothing of another organization.
    ['sav', ['WALLET savings 100%', 'WALLET My Savings', 'USER_TAG Savers']],
    ['100%', ['WALLET savings 100%']],
    ['%', ['WALLET savings 100%']],
    ['_', []],
    ['\\', []],
    ['PETTY', ['WALLET_ACCOUNT Petty cash']],
    [address(0x1f).toLowerCase(), [`WALLET_ACCOUNT ${address(0x1f)}`]],
    [address(0x1f).slice(2).toUpperCase(), [`WALLET_ACCOUNT ${address(0x1f)}`]],
    [`02${'0'.repeat(62)}07`, ['WALLET_ACCOUNT Petty cash']],
    [id(0x1007).toUpperCase(), ['WALLET_ACCOUNT Petty cash']],
    ['ada@ex', ['USER Ada']],
    ['nightly', ['API_KEY nightly']],
    ['03FF', ['API_KEY nightly']],
    ['solana1', ['PRIVATE_KEY Release']],
    ['AABB', ['PRIVATE_KEY Release']],
    ['roof', ['KNOWN_ADDRESS Roofer']],
    ['0x5290', ['KNOWN_ADDRESS Roofer']],
    ['5290CAFE', ['KNOWN_ADDRESS Roofer']],
    ['north', ['SUB_ORGANIZATION Northern branch']],
    [id(0x9000_0011), ['ACTIVITY ACTIVITY_TYPE_SIGN']],
    [`sha256:${'0'.repeat(62)}11`, ['ACTIVITY ACTIVITY_TYPE_SIGN']],
    ['\u{1F511} nothing', []],
  ])('%s', (text, expected) => {
    expect(found(text)).toEqual(expected);
  });

  test('answers at most so many of a kind, and where they are', () => {
    expect(found('0xab', 3)).toHaveLength(3);
    expect(search(connection, 'o', 'petty', 5)).toEqual([
      { kind: 'WALLET_ACCOUNT', id: id(0x1007), name: 'Petty cash', detail: address(7), within: id(1) },
    ]);
    expect(search(connection, 'o', 'nightly', 5)[0]?.within).toBe(id(4));
  });

  test('looks through no table of which there may be many rows', () => {
    const scans: string[] = [];
    const explaining: Reader = {
      get: (sql, ...values) => connection.get(sql, ...values),
      kept: (sql, ...values) => connection.kept(sql, ...values),
      keptAll: (sql, ...values) => connection.keptAll(sql, ...values),
      all: (sql, ...values) => {
        for (const { detail } of connection.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, ...values)) {
          const bounded = /^(SEARCH .*[<>]|USE TEMP B-TREE|CORRELATED|MULTI-INDEX|INDEX \d)/.test(detail);
          const ofMany = / (wallet_accounts|activities|organizations)\b/.test(detail);
          if (ofMany && !bounded) scans.push(detail);
        }
        return connection.all(sql, ...values);
      },
    };
    for (const text of ['0xab', 'ab000000', 'sha256:00', '0000', 'no']) search(explaining, 'o', text, 5);
    expect(scans).toEqual([]);
  });
});
