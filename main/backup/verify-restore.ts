/**
 * The restore drill: takes a backup's database for what it says it is, and does with it what its owner would one day.
 * Every sealed record is opened, every key and address derived again, the log's chain walked, and what the vault has
 * beyond it is counted. Nothing leaves memory.
 */
import type { VerifiedBackup } from '../../preload/contract.ts';
import { encodeAddress, type AddressFormat } from '../crypto/addresses.ts';
import { curves, type Curve } from '../crypto/curves.ts';
import { SeedDerivation } from '../crypto/derivation.ts';
import { HmacKey } from '../crypto/hmac.ts';
import { toHex } from '../crypto/encodings.ts';
import { p256PublicKey, uncompressP256 } from '../crypto/p256.ts';
import type { Place } from '../crypto/sealing.ts';
import { checkActivityChain } from '../db/activities.ts';
import type { Connection, Reader } from '../db/connection.ts';
import { checkRows } from '../integrity/examine.ts';
import { describeFinding } from '../integrity/refusal.ts';
import { migrate } from '../db/migrations.ts';
import { listAddresses, privateKeyPlace, type PrivateKeyRow } from '../db/private-keys.ts';
import { checkSchema } from '../db/schema.ts';
import { forEachSealedRecord, sealedColumns } from '../db/sealed-records.ts';
import { serverKeyNames, getServerKey, serverKeyPlace } from '../db/server-keys.ts';
import { requireVault, type VaultRow } from '../db/vault.ts';
import type { WalletAccountRow } from '../db/wallet-accounts.ts';
import type { WalletRow } from '../db/wallets.ts';
import type { Keyring } from '../keyslots/keyring.ts';
import { findRowKey } from '../keyslots/unlock.ts';
import { assertNever } from '../lib/errors.ts';
import { withSeed } from '../operations/wallet-secrets.ts';
import type { Progress } from './file.ts';

/** What a drill found in a backup. */
export type Proof = Pick<VerifiedBackup, 'organization' | 'log' | 'counts' | 'problems' | 'problemCount'>;

/** What the live vault has and the backup has not. */
export type Uncovered = NonNullable<VerifiedBackup['uncovered']>;

/** Lists are cut to this many lines. */
const mostProblems = 20;

class Findings {
  readonly problems: string[] = [];
  count = 0;

  add(problem: string): void {
    this.count++;
    if (this.problems.length < mostProblems) this.problems.push(problem);
  }

  /** Runs one check; what it throws is a finding, named by what was checked. */
  attempt(what: string, check: () => void): void {
    try {
      check();
    } catch (error) {
      this.add(`${what}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

/** Tables whose secrets are compared with what is said of them; of the others, that they open is all there is to see. */
const compared = new Set(['server_keys', 'private_keys', 'wallets']);

/**
 * @param connection The backup's database, in memory.
 * @param keyring Holds the master key that opens it.
 */
export function drill(
  connection: Connection,
  masterKey: Uint8Array,
  keyring: Keyring,
  onProgress: Progress,
): Proof {
  const findings = new Findings();
  for (const finding of checkSchema(connection)) findings.add(describeFinding(finding));
  migrate(connection);
  const integrity = connection.pragma('quick_check');
  if (integrity !== 'ok') findings.add(`database: its check says ${String(integrity)}`);
  const strays = connection.all('PRAGMA foreign_key_check').length;
  if (strays > 0) findings.add(`database: ${strays} rows refer to rows that are not there`);
  const vault = requireVault(connection);
  const count = (table: string): number => countOf(connection, table);
  const counts = {
    users: count('users'),
    wallets: count('wallets'),
    accounts: count('wallet_accounts'),
    privateKeys: count('private_keys'),
    sealed: sealedColumns.reduce((total, { table }) => total + count(table), 0),
  };
  let done = 0;
  const total = counts.sealed + counts.accounts;
  const step = (): void => {
    onProgress(++done, total);
  };
  drillServerKeys(connection, keyring, vault, findings, step);
  drillPrivateKeys(connection, keyring, findings, step);
  drillWallets(connection, keyring, findings, step);
  drillOthers(connection, keyring, findings, step);
  drillRows(connection, masterKey, findings);
  const chain = checkActivityChain(connection);
  if (!chain.ok) findings.add(`activity log: ${chain.problem}`);
  return {
    organization: nameOf(connection, vault.organizationId),
    log: chain.ok ? { rows: chain.rows, head: chain.head } : { rows: chain.sequence - 1, head: '' },
    counts,
    problems: findings.problems,
    problemCount: findings.count,
  };
}

type Step = () => void;

function drillServerKeys(
  tx: Reader,
  keyring: Keyring,
  vault: VaultRow,
  findings: Findings,
  step: Step,
): void {
  for (const name of serverKeyNames) {
    findings.attempt(`server key ${name}`, () => {
      const row = getServerKey(tx, name);
      if (row === undefined) throw new Error('it is missing');
      withSecret(keyring, serverKeyPlace(name, vault.organizationId), row.sealed, (secret) => {
        expectSame('public key', toHex(uncompressP256(p256PublicKey(secret))), row.publicKey);
      });
    });
    step();
  }
}

function drillPrivateKeys(tx: Reader, keyring: Keyring, findings: Findings, step: Step): void {
  const select = `SELECT rowid AS position, id, organization_id AS organizationId, curve, public_key AS publicKey, sealed
    FROM private_keys WHERE rowid > ? ORDER BY rowid LIMIT 200`;
  type Row = Pick<PrivateKeyRow, 'id' | 'organizationId' | 'curve' | 'publicKey' | 'sealed'>;
  for (const row of paged<Row>(tx, select)) {
    findings.attempt(`private key ${row.id}`, () => {
      const curve = row.curve as Curve;
      withSecret(keyring, privateKeyPlace(row), row.sealed, (secret) => {
        const publicKey = curves[curve].publicKey(secret);
        expectSame('public key', toHex(publicKey), row.publicKey);
        for (const { format, address } of listAddresses(tx, row.id)) {
          expectSame('address', encodeAddress(format as AddressFormat, curve, publicKey), address);
        }
      });
    });
    step();
  }
}

function drillWallets(tx: Reader, keyring: Keyring, findings: Findings, step: Step): void {
  const select = `SELECT rowid AS position, id, organization_id AS organizationId, sealed
    FROM wallets WHERE rowid > ? ORDER BY rowid LIMIT 200`;
  for (const wallet of paged<Pick<WalletRow, 'id' | 'organizationId' | 'sealed'>>(tx, select)) {
    let derivation: SeedDerivation | undefined;
    findings.attempt(`wallet ${wallet.id}`, () => {
      derivation = withSeed(keyring, wallet, (seed) => new SeedDerivation(seed));
    });
    step();
    drillAccounts(tx, wallet.id, derivation, findings, step);
    derivation?.[Symbol.dispose]();
  }
}

/** @param derivation Undefined where the wallet did not open: its accounts are counted as found wrong. */
function drillAccounts(
  tx: Reader,
  walletId: string,
  derivation: SeedDerivation | undefined,
  findings: Findings,
  step: Step,
): void {
  const select = `SELECT sequence AS position, id, curve, path, address_format AS addressFormat, address,
      public_key AS publicKey
    FROM wallet_accounts WHERE sequence > ? AND wallet_id = ? ORDER BY sequence LIMIT 500`;
  type Row = Pick<WalletAccountRow, 'id' | 'curve' | 'path' | 'addressFormat' | 'address' | 'publicKey'>;
  for (const row of paged<Row>(tx, select, walletId)) {
    findings.attempt(`wallet account ${row.id}`, () => {
      if (derivation === undefined) throw new Error('its wallet does not open');
      const curve = row.curve as Curve;
      const secret = derivation.privateKey(curve, row.path);
      const publicKey = curves[curve].publicKey(secret);
      secret.fill(0);
      expectSame('public key', toHex(publicKey), row.publicKey);
      expectSame('address', encodeAddress(row.addressFormat as AddressFormat, curve, publicKey), row.address);
    });
    step();
  }
}

function drillOthers(tx: Reader, keyring: Keyring, findings: Findings, step: Step): void {
  forEachSealedRecord(tx, (place, sealed) => {
    if (compared.has(place.table)) return;
    findings.attempt(`${place.table} ${place.rowId}`, () => {
      withSecret(keyring, place, sealed, () => undefined);
    });
    step();
  });
}

/** That each row is as the vault wrote it, and none is missing. */
function drillRows(tx: Reader, masterKey: Uint8Array, findings: Findings): void {
  const found = findRowKey(tx, masterKey);
  switch (found.state) {
    case 'held': {
      const key = new HmacKey(found.rowKey);
      found.rowKey.fill(0);
      for (const finding of checkRows(tx, (data) => key.mac(data))) findings.add(describeFinding(finding));
      key.erase();
      break;
    }
    case 'lost':
      findings.add(describeFinding(found.finding));
      break;
    case 'unadopted':
      // The vault was not unlocked since it was made by an earlier version: nothing authenticates its rows yet.
      break;
    default:
      assertNever(found);
  }
}

/** @param select Takes the last position as its first value, and answers the rows after it under `position`. */
function* paged<Row>(tx: Reader, select: string, ...values: readonly string[]): Generator<Row> {
  let after = 0;
  for (;;) {
    const rows = tx.all<Row & { readonly position: number }>(select, after, ...values);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield* rows;
    after = last.position;
  }
}

function withSecret(
  keyring: Keyring,
  place: Place,
  sealed: Uint8Array,
  use: (secret: Uint8Array) => void,
): void {
  const secret = keyring.open(place, sealed);
  try {
    use(secret);
  } finally {
    secret.fill(0);
  }
}

function expectSame(what: string, derived: string, stored: string): void {
  if (derived !== stored) throw new Error(`its ${what} is ${stored}, and its secret gives ${derived}`);
}

const countOf = (tx: Reader, table: string): number =>
  tx.get<{ count: number }>(`SELECT count(*) AS count FROM ${table}`)?.count ?? 0;

const nameOf = (tx: Reader, organizationId: string): string =>
  tx.get<{ name: string }>('SELECT name FROM organizations WHERE id = ?', organizationId)?.name ?? '';

/** What is compared with the live vault: the noun, and the table. */
const resourceTables = [
  ['organizations', 'organizations'],
  ['users', 'users'],
  ['API keys', 'api_keys'],
  ['passkeys', 'authenticators'],
  ['OAuth providers', 'oauth_providers'],
  ['policies', 'policies'],
  ['tags', 'tags'],
  ['wallets', 'wallets'],
  ['wallet accounts', 'wallet_accounts'],
  ['private keys', 'private_keys'],
] as const;

/**
 * Compares a backup with the vault as it is now.
 * @param live Its database, where it is the same vault's.
 * @returns what the backup does not cover; `problem` where the backup is not a part of this vault's past.
 */
export function compare(
  backup: Reader,
  live: Reader,
  log: Proof['log'],
): { readonly uncovered: Uncovered; readonly problem?: string } {
  const liveRows = countOf(live, 'activities');
  const resources = resourceTables.flatMap(([kind, table]) => {
    const found = differences(backup, live, table);
    return found.added + found.changed + found.removed === 0 ? [] : [{ kind, ...found }];
  });
  const uncovered = { activities: Math.max(liveRows - log.rows, 0), resources };
  if (liveRows < log.rows) {
    const newer = `activity log: the vault's has ${liveRows} entries and the backup's ${log.rows}: this vault is older than its backup`;
    return { uncovered, problem: newer };
  }
  // A log that is broken, as the drill says, or empty, has no head to look for.
  if (log.rows === 0 || log.head === '') return { uncovered };
  const same = live.get<{ hash: Uint8Array }>('SELECT hash FROM activities WHERE sequence = ?', log.rows);
  if (same !== undefined && toHex(same.hash) === log.head) return { uncovered };
  const parted = `activity log: entry ${log.rows} of the vault is not the one in the backup: their histories part`;
  return { uncovered, problem: parted };
}

function differences(
  backup: Reader,
  live: Reader,
  table: string,
): { readonly added: number; readonly changed: number; readonly removed: number } {
  const select = `SELECT id, updated_at AS updatedAt FROM ${table}`;
  interface Row {
    readonly id: string;
    readonly updatedAt: number;
  }
  const then = new Map(backup.all<Row>(select).map(({ id, updatedAt }) => [id, updatedAt]));
  let added = 0;
  let changed = 0;
  for (const { id, updatedAt } of live.all<Row>(select)) {
    const before = then.get(id);
    if (before === undefined) added++;
    else if (before !== updatedAt) changed++;
    then.delete(id);
  }
  return { added, changed, removed: then.size };
}
