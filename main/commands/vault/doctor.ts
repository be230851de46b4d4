/**
 * `latchkey doctor`: checks the machine and the vault, a line each, and changes nothing; with `--accept-changes` it
 * authenticates the vault's rows as they are.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { confirm, isCancel } from '@clack/prompts';
import type { RowFinding } from '../../preload/contract.ts';
import { checkLog } from '../audit/check.ts';
import { identityOf, notaryKey } from '../audit/heads.ts';
import type { Config } from '../config.ts';
import { HmacKey } from '../crypto/hmac.ts';
import { checkActivityChain } from '../db/activities.ts';
import type { Reader } from '../db/connection.ts';
import { areWordsNotShown } from '../db/settings.ts';
import { checkRows, inspect } from '../integrity/examine.ts';
import { describeFinding } from '../integrity/refusal.ts';
import { listKeychainLeftovers } from '../db/keychain-leftovers.ts';
import { listKeyslots } from '../db/keyslots.ts';
import { schemaVersion } from '../db/migrations.ts';
import { checkSchema } from '../db/schema.ts';
import { getVault, requireVault } from '../db/vault.ts';
import { openAnySlot, type OpenWith } from '../keyslots/slots.ts';
import { authenticateAll, findRowKey, type FoundRowKey } from '../keyslots/unlock.ts';
import { assertNever, LatchkeyError } from '../lib/errors.ts';
import type { Random } from '../lib/random.ts';
import { checkCryptography } from '../self-test/cryptography.ts';
import { checkDisk } from '../self-test/disk.ts';
import type { Finding } from '../self-test/finding.ts';
import { keychainOf, openVault } from '../vault.ts';
import { findRunning, type Running } from './client.ts';
import { dataDirectory, wordsNotShown } from './control.ts';
import { readSecret, secretFlags, type ProofOptions } from './proof.ts';
import { CommandError, exitCodes, note, print, problemOf } from './output.ts';
import { canAsk } from './secrets.ts';
import { hasVaultFile, readVaultFile, vaultFile } from './vault-file.ts';

/** What the vault is opened with, to see whether its rows are authentic; nothing where rows are not to be checked. */
export interface DoctorOptions extends ProofOptions {
  readonly keychain: boolean;
}

export async function doctor(config: Config, json: boolean, options: DoctorOptions): Promise<void> {
  const directory = dataDirectory(config);
  const running = await findRunning(directory);
  const findings = [
    checkCryptography(),
    await checkKeychain(config),
    ...checkFiles(directory),
    ...(await checkStorage(directory, running)),
    ...(await checkDatabase(directory)),
    ...(await checkAuthenticity(directory, running, await openWith(config, options))),
    checkService(running),
  ];
  const failed = findings.filter(({ outcome }) => outcome === 'failed').length;
  print(
    json,
    { ok: failed === 0, findings },
    [
      ...findings.map(({ check, outcome, detail }) => `${outcome.padEnd(6)} ${check}: ${detail}`),
      failed === 0 ? 'All is well.' : `${String(failed)} failed.`,
    ].join('\n'),
  );
  if (failed > 0) process.exitCode = exitCodes.failed;
}

async function checkKeychain(config: Config): Promise<Finding> {
  const probe = await keychainOf(config).probe();
  return probe.available
    ? { check: 'keychain', outcome: 'ok', detail: 'a secret can be stored, read and removed' }
    : { check: 'keychain', outcome: 'note', detail: probe.reason };
}

/** What the process that holds the vault knows of its disk, and what a file there shows. */
async function checkStorage(directory: string, running: Running | undefined): Promise<Finding[]> {
  if (!existsSync(directory)) return [];
  const check = 'disk';
  const status = await running?.status();
  if (status?.storage) return [{ check, outcome: 'failed', detail: status.storage.problem }];
  return [{ check, ...(await checkDisk(directory)) }];
}

function checkFiles(directory: string): Finding[] {
  if (!existsSync(directory))
    return [{ check: 'files', outcome: 'note', detail: `there is no ${directory}` }];
  // Windows keeps these files to their owner through the profile's access list, which modes do not show.
  if (process.platform === 'win32') return [];
  const expected: readonly (readonly [string, number])[] = [
    ['', 0o700],
    ['vault.db', 0o600],
    ['vault.db-wal', 0o600],
    ['vault.db-shm', 0o600],
    ['endpoint.json', 0o600],
    ['lock', 0o600],
    ['vault.reserve', 0o600],
  ];
  return expected.flatMap(([name, mode]): Finding[] => {
    const file = join(directory, name);
    if (!existsSync(file)) return [];
    const found = statSync(file).mode & 0o777;
    const fine = (found & ~mode) === 0;
    return [
      {
        check: `mode of ${file}`,
        outcome: fine ? 'ok' : 'failed',
        detail: fine ? found.toString(8) : `it is ${found.toString(8)}: run chmod ${mode.toString(8)} on it`,
      },
    ];
  });
}

async function checkDatabase(directory: string): Promise<Finding[]> {
  if (!hasVaultFile(directory))
    return [{ check: 'vault', outcome: 'note', detail: 'there is no vault file yet' }];
  try {
    return await examine(directory);
  } catch (error) {
    // SQLite throws at what is no database, and at pages that it cannot make sense of.
    return [
      {
        check: 'database',
        outcome: 'failed',
        detail: problemOf(error, vaultFile(directory)),
      },
    ];
  }
}

async function examine(directory: string): Promise<Finding[]> {
  using file = readVaultFile(directory);
  const { connection } = file;
  const found = Number(connection.pragma('user_version'));
  const integrity = String(connection.pragma('integrity_check'));
  const findings: Finding[] = [
    {
      check: 'schema',
      outcome: found === schemaVersion ? 'ok' : found < schemaVersion ? 'note' : 'failed',
      detail: `version ${String(found)}, and this Latchkey's is ${String(schemaVersion)}`,
    },
    {
      check: 'database',
      outcome: integrity === 'ok' ? 'ok' : 'failed',
      detail: `integrity check says ${integrity}`,
    },
  ];
  for (const finding of checkSchema(connection)) {
    findings.push({ check: 'schema', outcome: 'failed', detail: describeFinding(finding) });
  }
  if (found !== schemaVersion) return findings;
  const chain = checkActivityChain(connection);
  findings.push(
    chain.ok
      ? {
          check: 'activity log',
          outcome: 'ok',
          detail: `an unbroken chain of ${String(chain.rows)} entries`,
        }
      : { check: 'activity log', outcome: 'failed', detail: chain.problem },
  );
  if (chain.ok) findings.push(...(await checkHeads(connection, chain.rows)));
  const leftovers = listKeychainLeftovers(connection).length;
  if (leftovers > 0) {
    findings.push({
      check: 'keychain entries',
      outcome: 'note',
      detail: `${String(leftovers)} of keyslots that are gone may be left in the keychain: the next unlocking removes them`,
    });
  }
  if (areWordsNotShown(connection))
    findings.push({ check: 'recovery phrase', outcome: 'failed', detail: wordsNotShown });
  return findings;
}

/** The chain holds; whether it leads up to what the vault signed is told by `latchkey audit verify` in all detail. */
async function checkHeads(connection: Reader, rows: number): Promise<Finding[]> {
  const vault = getVault(connection);
  if (vault === undefined) return [];
  const check = 'signed heads of the log';
  const { publicKey } = notaryKey(connection, vault);
  const { findings, signed } = await checkLog((work) => work(connection), {
    identity: identityOf(vault),
    publicKey,
  });
  const [finding] = findings;
  if (finding !== undefined) return [{ check, outcome: 'failed', detail: finding.problem }];
  return [{ check, outcome: 'ok', detail: `${signed} of ${rows} entries are signed` }];
}

async function openWith(
  config: Config,
  { keychain, ...options }: DoctorOptions,
): Promise<OpenWith | undefined> {
  const secret = await readSecret(options);
  if (secret !== undefined) return secret;
  return keychain ? { with: 'keychain', keychain: keychainOf(config) } : undefined;
}

/** Rows are authenticated under a key that only the unlocked vault has. */
async function checkAuthenticity(
  directory: string,
  running: Running | undefined,
  how: OpenWith | undefined,
): Promise<Finding[]> {
  if (!hasVaultFile(directory)) return [];
  try {
    if (how !== undefined) return rowFindings(await checkFileRows(directory, how));
    const status = await running?.status();
    if (status?.tampering) {
      const { findings, total } = status.tampering;
      const more =
        total > findings.length
          ? [{ ...rowsNote, detail: `and ${String(total - findings.length)} more` }]
          : [];
      return [...rowFindings(findings), ...more];
    }
    if (running && status?.state === 'unlocked') {
      return rowFindings(await running.call('checkRows'));
    }
  } catch (error) {
    if (!(error instanceof LatchkeyError || error instanceof CommandError || isSqliteError(error)))
      throw error;
    return [
      {
        check: 'rows',
        outcome: 'failed',
        detail: `they could not be checked: ${problemOf(error, vaultFile(directory))}`,
      },
    ];
  }
  return [
    {
      ...rowsNote,
      detail: `they were not checked, as the vault is not unlocked: unlock it, or give ${secretFlags}, or --keychain`,
    },
  ];
}

const rowsNote = { check: 'rows', outcome: 'note' } as const;

const rowFindings = (findings: readonly RowFinding[] | undefined): Finding[] =>
  findings === undefined
    ? [{ ...rowsNote, detail: 'they are not authenticated yet: unlock the vault once' }]
    : findings.length === 0
      ? [{ check: 'rows', outcome: 'ok', detail: 'each is as Latchkey wrote it, and none is missing' }]
      : findings.map((finding) => ({ check: 'rows', outcome: 'failed', detail: describeFinding(finding) }));

const isSqliteError = (error: unknown): error is Error =>
  error instanceof Error && error.name === 'SqliteError';

/** @returns undefined for a vault of an earlier version, which was not unlocked since. */
async function checkFileRows(directory: string, how: OpenWith): Promise<readonly RowFinding[] | undefined> {
  using file = readVaultFile(directory);
  const { connection } = file;
  if (Number(connection.pragma('user_version')) !== schemaVersion) return undefined;
  const vault = getVault(connection);
  if (vault === undefined) return [];
  const masterKey = await openAnySlot(vault.id, listKeyslots(connection), how);
  try {
    const found = findRowKey(connection, masterKey);
    if (found.state === 'unadopted') return undefined;
    if (found.state === 'lost') return [found.finding];
    const key = new HmacKey(found.rowKey);
    found.rowKey.fill(0);
    return connection.view(() => checkRows(connection, (data) => key.mac(data)));
  } finally {
    masterKey.fill(0);
  }
}

const random: Random = (_purpose, length) => new Uint8Array(randomBytes(length));

/**
 * Authenticates the rows of the vault as they are, after it has listed what that accepts: for the owner who knows what
 * changed the file. The vault must not be running.
 */
export async function acceptChanges(
  config: Config,
  json: boolean,
  { yes, ...options }: DoctorOptions & { readonly yes: boolean },
): Promise<void> {
  const how = await openWith(config, { ...options, keychain: false });
  if (how === undefined) {
    throw new CommandError(
      exitCodes.usage,
      `changes are accepted with the password or the recovery phrase: give ${secretFlags}`,
    );
  }
  if (!hasVaultFile(dataDirectory(config))) {
    throw new CommandError(exitCodes.absent, `there is no vault in ${dataDirectory(config)}`);
  }
  const vault = openVault(config);
  const { connection, units, guard, keyring } = vault;
  try {
    const { id } = units.peek(requireVault);
    const masterKey = await openAnySlot(id, units.peek(listKeyslots), how).catch((error: unknown) => {
      throw error instanceof LatchkeyError ? new CommandError(exitCodes.locked, error.message) : error;
    });
    try {
      const found = units.peek((tx) => findRowKey(tx, masterKey));
      const findings = findingsOf(connection, found);
      const list = findings.map(describeFinding);
      if (list.length === 0) {
        print(json, { accepted: [] }, 'Nothing was changed: there is nothing to accept.');
        return;
      }
      if (!json && !yes && canAsk()) {
        note(list.join('\n'));
        const answer = await confirm({
          message: 'Is the vault to be used as it is now?',
          initialValue: false,
        });
        if (isCancel(answer) || !answer)
          throw new CommandError(exitCodes.failed, 'cancelled: nothing was accepted');
      }
      authenticateAll({ units, guard, keyring, random }, masterKey);
      print(
        json,
        { accepted: findings },
        [
          'Accepted:',
          ...list,
          'The vault is used as it is now; its log still shows where it was changed.',
        ].join('\n'),
      );
    } finally {
      masterKey.fill(0);
    }
  } finally {
    vault.close();
  }
}

function findingsOf(tx: Reader, found: FoundRowKey): readonly RowFinding[] {
  switch (found.state) {
    case 'held': {
      const key = new HmacKey(found.rowKey);
      found.rowKey.fill(0);
      return inspect(tx, (data) => key.mac(data));
    }
    case 'lost':
      return [found.finding];
    case 'unadopted':
      return [];
    default:
      return assertNever(found);
  }
}

function checkService(running: Running | undefined): Finding {
  return running
    ? { check: 'service', outcome: 'ok', detail: `it runs at ${running.url}` }
    : { check: 'service', outcome: 'note', detail: 'it is not running' };
}
