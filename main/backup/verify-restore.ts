/**
 * Verifies that a backup restores (`keyhearth backup verify`): opens every sealed record of its database, derives every key and
 * address again, walks the log's chain, and counts what the live vault has beyond it. Nothing leaves memory.
 */
import type { VerifiedBackup } from '../../preload/contract.ts';
import { encodeAddress, type AddressFormat } from '../chains/addresses/addresses.ts';
import { curves, type Curve } from '../crypto/keys/curves.ts';
import { SeedDerivation } from '../crypto/keys/derivation.ts';
import { HmacKey } from '../crypto/hmac.ts';
import { toHex } from '../crypto/encodings.ts';
import { p256PublicKey, uncompressP256 } from '../crypto/keys/p256.ts';
import type { SealContext } from '../crypto/sealing.ts';
import { checkActivityChain } from '../storage/tables/activities.ts';
import type { Connection, Reader } from '../storage/connection.ts';
import { rowsByKey } from '../storage/keyset.ts';
import { checkRows } from '../storage/integrity/verify.ts';
import { describeFinding } from '../storage/integrity/refusal.ts';
import { migrate } from '../storage/migrations.ts';
import { listAddresses, privateKeyContext, type PrivateKeyRow } from '../storage/tables/private-keys.ts';
import { forEachSealedRecord, sealedColumns } from '../storage/sealed-records.ts';
import {
  getServerKey,
  listDoorKeys,
  serverKeyContext,
  serverKeyNames,
} from '../storage/tables/server-keys.ts';
import { requireVault, type VaultRow } from '../storage/tables/vault.ts';
import type { WalletAccountRow } from '../storage/tables/wallet-accounts.ts';
import type { WalletRow } from '../storage/tables/wallets.ts';
import type { Keyring } from '../keys/keyring.ts';
import { findRowKey } from '../keys/unlock.ts';
import { ExplainedError, assertNever } from '../lib/errors.ts';
import { reasonOf } from '../lib/text/reasons.ts';
import { withSeed } from '../storage/wallet-secrets.ts';
import type { Progress } from './file.ts';

/** Findings of the verification of a backup. */
export type RestoreCheck = Pick<
  VerifiedBackup,
  'organization' | 'log' | 'counts' | 'problems' | 'problemCount'
>;

/** Resources of the live vault that the backup lacks. */
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
      this.add(`${what}: ${reasonOf(error)}`);
    }
  }
}

/** Tables whose secrets must give the public key or address beside them. Secrets of other tables only have to open. */
const compared = new Set(['server_keys', 'private_keys', 'wallets']);

/**
 * @param connection The backup's database, in memory. Its schema was looked at.
 * @param keyring Holds the master key that opens it.
 */
export function verifyRestore(
  connection: Connection,
  masterKey: Uint8Array,
  keyring: Keyring,
  onProgress: Progress,
): RestoreCheck {
  const findings = new Findings();
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
  verifyServerKeys(connection, keyring, vault, findings, step);
  verifyPrivateKeys(connection, keyring, findings, step);
  verifyWallets(connection, keyring, findings, step);
  verifyOthers(connection, keyring, findings, step);
  const goOn = (): void => {
    onProgress(done, total);
  };
  verifyRows(connection, masterKey, findings, goOn);
  const chain = checkActivityChain(connection, goOn);
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

function verifyServerKeys(
  tx: Reader,
  keyring: Keyring,
  vault: VaultRow,
  findings: Findings,
  step: Step,
): void {
  for (const name of [...serverKeyNames, ...listDoorKeys(tx).map((key) => key.name)]) {
    findings.attempt(`server key ${name}`, () => {
      const row = getServerKey(tx, name);
      if (row === undefined) throw new ExplainedError('it is missing');
      withSecret(keyring, serverKeyContext(name, vault.organizationId), row.sealed, (secret) => {
        expectSame('public key', toHex(uncompressP256(p256PublicKey(secret))), row.publicKey);
      });
    });
    step();
  }
}

function verifyPrivateKeys(tx: Reader, keyring: Keyring, findings: Findings, step: Step): void {
  const columns =
    'rowid AS rowid, id, organization_id AS organizationId, curve, public_key AS publicKey, sealed';
  type Row = Pick<PrivateKeyRow, 'id' | 'organizationId' | 'curve' | 'publicKey' | 'sealed'>;
  for (const row of rowsByKey<Row>(tx, { columns, from: 'private_keys', key: ['rowid'], pageSize: 200 })) {
    findings.attempt(`private key ${row.id}`, () => {
      const curve = row.curve as Curve;
      withSecret(keyring, privateKeyContext(row), row.sealed, (secret) => {
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

function verifyWallets(tx: Reader, keyring: Keyring, findings: Findings, step: Step): void {
  const columns = 'rowid AS rowid, id, organization_id AS organizationId, sealed';
  type Row = Pick<WalletRow, 'id' | 'organizationId' | 'sealed'>;
  for (const wallet of rowsByKey<Row>(tx, { columns, from: 'wallets', key: ['rowid'], pageSize: 200 })) {
    let derivation: SeedDerivation | undefined;
    findings.attempt(`wallet ${wallet.id}`, () => {
      derivation = withSeed(keyring, wallet, (seed) => new SeedDerivation(seed));
    });
    step();
    verifyAccounts(tx, wallet.id, derivation, findings, step);
    derivation?.[Symbol.dispose]();
  }
}

/** @param derivation Undefined where the wallet did not open: its accounts are counted as found wrong. */
function verifyAccounts(
  tx: Reader,
  walletId: string,
  derivation: SeedDerivation | undefined,
  findings: Findings,
  step: Step,
): void {
  const ofWallet = {
    columns: 'sequence, id, curve, path, address_format AS addressFormat, address, public_key AS publicKey',
    ...{ from: 'wallet_accounts', where: 'wallet_id = ?', values: [walletId] },
    ...{ key: ['sequence'], pageSize: 500 },
  };
  type Row = Pick<WalletAccountRow, 'id' | 'curve' | 'path' | 'addressFormat' | 'address' | 'publicKey'>;
  for (const row of rowsByKey<Row>(tx, ofWallet)) {
    findings.attempt(`wallet account ${row.id}`, () => {
      if (derivation === undefined) throw new ExplainedError('its wallet does not open');
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

function verifyOthers(tx: Reader, keyring: Keyring, findings: Findings, step: Step): void {
  forEachSealedRecord(tx, (context, sealed) => {
    if (compared.has(context.table)) return;
    findings.attempt(`${context.table} ${context.rowId}`, () => {
      withSecret(keyring, context, sealed, () => undefined);
    });
    step();
  });
}

/** Verifies that each row is as the vault wrote it, and that none is missing. */
function verifyRows(tx: Reader, masterKey: Uint8Array, findings: Findings, step: Step): void {
  const found = findRowKey(tx, masterKey);
  switch (found.state) {
    case 'found': {
      const key = new HmacKey(found.rowKey);
      found.rowKey.fill(0);
      try {
        for (const finding of checkRows(tx, (data) => key.mac(data), step))
          findings.add(describeFinding(finding));
      } finally {
        key.erase();
      }
      break;
    }
    case 'lost':
      findings.add(describeFinding(found.finding));
      break;
    case 'unadopted':
      // An earlier version created the vault, and it was not unlocked since: its rows are not authenticated
      // yet.
      break;
    default:
      assertNever(found);
  }
}

function withSecret(
  keyring: Keyring,
  context: SealContext,
  sealed: Uint8Array,
  use: (secret: Uint8Array) => void,
): void {
  const secret = keyring.open(context, sealed);
  try {
    use(secret);
  } finally {
    secret.fill(0);
  }
}

function expectSame(what: string, derived: string, stored: string): void {
  if (derived !== stored)
    throw new ExplainedError(`its ${what} is ${stored}, and its secret gives ${derived}`);
}

const countOf = (tx: Reader, table: string): number =>
  tx.get<{ count: number }>(`SELECT count(*) AS count FROM ${table}`)?.count ?? 0;

const nameOf = (tx: Reader, organizationId: string): string =>
  tx.get<{ name: string }>('SELECT name FROM organizations WHERE id = ?', organizationId)?.name ?? '';

/** Compared with the live vault: the noun, and the table. */
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
  ['secrets', 'secrets'],
  ['session profiles', 'session_profiles'],
] as const;

/**
 * Compares a backup with the vault as it is now.
 * @param live Its database, where it is the same vault's.
 * @returns what the backup does not cover; `problem` where the backup is not a part of this vault's past.
 */
export function compare(
  backup: Reader,
  live: Reader,
  log: RestoreCheck['log'],
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
  // A log that is broken, which is a finding already, or empty, has no head to look for.
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
