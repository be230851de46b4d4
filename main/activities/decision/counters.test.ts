import { afterEach, beforeEach, expect, test } from 'vitest';
import { Connection } from '../../storage/connection.ts';
import { migrate } from '../../storage/migrations.ts';
import { reserve } from '../../storage/tables/policy-reservations.ts';
import { insertPrivateKey } from '../../storage/tables/private-keys.ts';
import { insertAccount } from '../../storage/tables/wallet-accounts.ts';
import { insertWallet } from '../../storage/tables/wallets.ts';
import { countersOf } from './counters.ts';

const organizationId = 'o';
const publicKey = '02ab';
const byKey = '[["signing_key.public_key","02ab"]]';
const measure = 'eth.tx.value';

let connection: Connection;

beforeEach(() => {
  connection = Connection.open(':memory:');
  migrate(connection);
  connection.exec(
    "INSERT INTO organizations (id, name, root_quorum_threshold, created_at, updated_at) VALUES ('o', 'O', 1, 0, 0)",
  );
  insertWallet(connection, {
    id: 'w',
    organizationId,
    name: 'W',
    sealed: new Uint8Array(),
    exported: 0,
    imported: 0,
    createdAt: 0,
    updatedAt: 0,
  });
  const account = (id: string, address: string, key = publicKey): void => {
    insertAccount(connection, {
      id,
      organizationId,
      walletId: 'w',
      name: null,
      curve: 'CURVE_SECP256K1',
      path: 'm/0',
      addressFormat: id,
      address,
      publicKey: key,
      exported: 0,
      createdAt: 0,
      updatedAt: 0,
    });
  };
  account('ethereum', '0xAb');
  account('bitcoin', 'bc1q');
  account('other', '0xCd', '02cd');
  insertPrivateKey(
    connection,
    {
      id: 'p',
      organizationId,
      name: 'P',
      curve: 'CURVE_SECP256K1',
      publicKey,
      sealed: new Uint8Array(),
      exported: 0,
      imported: 0,
      createdAt: 0,
      updatedAt: 0,
    },
    [],
  );
});
afterEach(() => {
  connection.close();
});

const reserved = (by: string, amount: bigint): void => {
  reserve(connection, { organizationId, measure, by }, { activityId: 'a', amount, now: 10 }, 1_000);
};
const total = (by: string): bigint => countersOf(connection, organizationId).total({ measure, by }, 0);

test('what was reserved by the names of a key, before counters were kept by the key, is counted in', () => {
  reserved('[["wallet_account.address","0xAb"]]', 1n);
  reserved('[["wallet_account.address","bc1q"]]', 2n);
  reserved('[["private_key.id","p"]]', 4n);
  reserved('[["CaseInsensitiveString(wallet_account.address)","0xab"]]', 8n);
  reserved(byKey, 16n);
  reserved('[["wallet_account.address","0xCd"]]', 32n);
  reserved('[["wallet_account.address","gone"]]', 64n);
  expect(total(byKey)).toBe(31n);
  // Also for what is still kept by a name, as no key signs.
  expect(total('[["wallet_account.address","bc1q"]]')).toBe(31n);
  expect(total('[["private_key.id","p"]]')).toBe(31n);
  expect(total('[["signing_key.public_key","02cd"]]')).toBe(32n);
  expect(total('[["wallet_account.address","gone"]]')).toBe(64n);
});

test('beside what else a counter is kept by', () => {
  const by = (key: readonly [string, string], user: string): string =>
    JSON.stringify([['submitter.id', user], key, ['eth.tx.to', '0x1']]);
  reserved(by(['wallet_account.address', '0xAb'], 'ann'), 1n);
  reserved(by(['signing_key.public_key', publicKey], 'ann'), 2n);
  reserved(by(['wallet_account.address', 'bc1q'], 'ben'), 4n);
  expect(total(by(['signing_key.public_key', publicKey], 'ann'))).toBe(3n);
  expect(total(by(['signing_key.public_key', publicKey], 'ben'))).toBe(4n);
  reserved('[["submitter.id","ann"]]', 8n);
  expect(total('[["submitter.id","ann"]]')).toBe(8n);
  expect(total('[]')).toBe(0n);
});
