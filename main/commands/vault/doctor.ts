/**
 * `keyhearth doctor`: checks the machine and the vault, a line each, and changes nothing; with `--accept-changes` it
 * authenticates the vault's rows as they are.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { LongestTurn, RowFinding } from '../../../preload/contract.ts';
import { checkLog } from '../../audit/check.ts';
import { identityOf, logSigningKey } from '../../audit/signed-heads.ts';
import { LogMark } from '../../audit/mark.ts';
import type { Config } from '../../app/config.ts';
import { HmacKey } from '../../crypto/hmac.ts';
import { checkActivityChain } from '../../storage/tables/activities.ts';
import type { Reader } from '../../storage/connection.ts';
import { findDamage } from '../../storage/file/find-damage.ts';
import { areWordsNotShown } from '../../storage/tables/settings.ts';
import { checkRows, verifyQuickly } from '../../storage/integrity/verify.ts';
import { describeFinding, isDamaged } from '../../storage/integrity/refusal.ts';
import { listKeychainLeftovers } from '../../storage/tables/keychain-leftovers.ts';
import { listKeyslots } from '../../storage/tables/keyslots.ts';
import { schemaVersion } from '../../storage/migrations.ts';
import { checkSchema } from '../../storage/schema.ts';
import { getVault, requireVault } from '../../storage/tables/vault.ts';
import { openAnySlot, type OpenWith } from '../../keys/keyslots/slots.ts';
import { authenticateAll, findRowKey, type FoundRowKey } from '../../keys/unlock.ts';
import { errorBody, assertNever, KeyhearthError } from '../../lib/errors.ts';
import { logFileName, logFileNames } from '../../files/log-file.ts';
import { logFault } from '../../lib/log.ts';
import type { Random } from '../../lib/random.ts';
import { checkCryptography } from '../../self-test/cryptography.ts';
import { checkDisk } from '../../self-test/disk.ts';
import type { Finding } from '../../self-test/finding.ts';
import { keychainOf } from '../../app/keychain.ts';
import { findRunning, noVault, type Running } from '../shared/client.ts';
import { readSchedule, scheduleFinding } from './check-schedule.ts';
import { dataDirectory, wordsNotShown } from './control.ts';
import { readSecret, secretFlags, type SecretOptions } from '../shared/proof.ts';
import { namingCommand } from '../shared/command-name.ts';
import { count } from '../backup/backup.ts';
import {
  CommandError,
  exitCodeOfOpening,
  exitCodes,
  note,
  print,
  problemOf,
  refusedWith,
} from '../shared/output.ts';
import { askToGoOn } from '../shared/prompts.ts';
import { startProgress } from '../shared/progress.ts';
import { table } from '../shared/table.ts';
import { canAsk } from '../shared/secrets.ts';
import { hasVaultFile, readVaultFile, vaultFile } from '../shared/vault-file.ts';

/** The secret that opens the vault for the check of its rows; empty to skip that check. */
export interface DoctorOptions extends SecretOptions {
  readonly keychain?: boolean;
  readonly yes?: boolean;
  readonly json: boolean;
}

export async function doctor(config: Config, { json, ...options }: DoctorOptions): Promise<void> {
  const directory = dataDirectory(config);
  const running = await findRunning(directory);
  const how = await openWith(config, options);
  const checks: readonly (() => readonly Finding[] | Promise<readonly Finding[]>)[] = [
    () => [checkCryptography()],
    async () => [await checkKeychain(config)],
    () => checkFiles(directory),
    () => checkServiceLog(directory),
    () => checkStorage(directory, running),
    () => checkDatabase(directory),
    () => checkAuthenticity(directory, running, how),
    () => checkSchedule(directory, running),
    () => [checkService(running)],
  ];
  const findings: Finding[] = [];
  {
    using progress = startProgress('Checking the vault', json);
    for (const [index, check] of checks.entries()) {
      progress.report(index, checks.length);
      findings.push(...(await check()));
    }
  }
  const failed = findings.filter(({ outcome }) => outcome === 'failed').length;
  print(json, { ok: failed === 0, findings }, [
    table(
      ['Result', 'Check', 'Details'],
      findings.map(({ check, outcome, detail }) => [
        { text: outcome, tone: tones[outcome] },
        check,
        namingCommand(detail),
      ]),
    ),
    failed === 0 ? 'All checks passed.' : `${count(failed, 'check')} failed.`,
  ]);
  if (failed > 0) process.exitCode = exitCodes.failed;
}

const tones = { ok: 'good', note: 'notable', failed: 'bad' } as const;

async function checkKeychain(config: Config): Promise<Finding> {
  const probe = await keychainOf(config).probe();
  return probe.available
    ? { check: 'keychain', outcome: 'ok', detail: 'a secret can be stored, read and removed' }
    : { check: 'keychain', outcome: 'note', detail: probe.reason };
}

/** Checks the disk with the state of the process that holds the vault, and with a file there. */
async function checkStorage(directory: string, running: Running | undefined): Promise<Finding[]> {
  if (!existsSync(directory)) return [];
  const check = 'disk';
  const status = await running?.status();
  const disk: Finding = status?.storage
    ? { check, outcome: 'failed', detail: status.storage.problem }
    : { check, ...(await checkDisk(vaultFile(directory))) };
  return status?.longestTurn ? [disk, turnFinding(status.longestTurn)] : [disk];
}

/** Milliseconds for which one request may keep all others waiting before it is worth knowing. */
const longTurn = 250;

const turnFinding = ({ name, ms, at }: LongestTurn): Finding => ({
  check: 'longest turn',
  outcome: ms < longTurn ? 'ok' : 'note',
  detail: `${ms.toFixed(0)} ms, ${name}, at ${new Date(at).toISOString()}: other requests waited that long`,
});

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
    ...logFileNames.map((name) => [name, 0o600] as const),
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
        detail: fine
          ? found.toString(8)
          : `${found.toString(8)}, so other users have access: run chmod ${mode.toString(8)} on the file`,
      },
    ];
  });
}

/** Names the log of the service. */
function checkServiceLog(directory: string): Finding[] {
  // The checks of the vault's file report an unreadable directory.
  const files = logFileNames.map((name) => join(directory, name)).filter((file) => existsSync(file));
  const sizes = files.map((file) => statSync(file).size);
  if (sizes.length === 0) return [];
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const number = sizes.length === 1 ? 'one file' : `${String(sizes.length)} files`;
  const detail = `${join(directory, logFileName)}: ${String(Math.ceil(total / 1024))} KB in ${number}`;
  return [{ check: 'log of the service', outcome: 'ok', detail }];
}

async function checkDatabase(directory: string): Promise<Finding[]> {
  if (!hasVaultFile(directory))
    return [
      { check: 'vault', outcome: 'note', detail: 'no vault file yet: create one with `keyhearth init`' },
    ];
  try {
    return await diagnose(directory);
  } catch (error) {
    // SQLite throws for a file that is not a database, and for damaged pages.
    return [
      {
        check: 'database',
        outcome: 'failed',
        detail: problemOf(error, vaultFile(directory)),
      },
    ];
  }
}

async function diagnose(directory: string): Promise<Finding[]> {
  using file = readVaultFile(directory);
  const { connection } = file;
  const damage = findDamage(connection);
  if (isDamaged(damage)) {
    const check = 'database';
    return [
      ...damage.map((finding): Finding => ({ check, outcome: 'failed', detail: describeFinding(finding) })),
      {
        check,
        outcome: 'note',
        detail: 'SQLite cannot read a part of the file, and its content is lost here: restore a backup',
      },
    ];
  }
  const found = Number(connection.pragma('user_version'));
  const integrity = String(connection.pragma('integrity_check'));
  const findings: Finding[] = [
    {
      check: 'schema',
      outcome: found === schemaVersion ? 'ok' : found < schemaVersion ? 'note' : 'failed',
      detail: `version ${String(found)}; this Keyhearth uses ${String(schemaVersion)}`,
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
  findings.push(...checkMark(connection, directory));
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

/** Holds the log against what was answered here, and names the logs that were kept as they were found. */
function checkMark(connection: Reader, directory: string): Finding[] {
  const findings: Finding[] = readdirSync(directory)
    .filter((name) => name.endsWith('.damaged'))
    .map((name) => ({
      check: 'damaged log',
      outcome: 'note',
      detail: `${join(directory, name)} is a write-ahead log as it was found damaged: what it held may be lost`,
    }));
  if (getVault(connection) === undefined) return findings;
  try {
    new LogMark(vaultFile(directory), logFault).check(connection);
  } catch (error) {
    if (!(error instanceof KeyhearthError)) throw error;
    findings.push({ check: 'answered activities', outcome: 'failed', detail: error.message });
  }
  return findings;
}

/** The chain is intact. `keyhearth audit verify` compares it with the vault's signatures in detail. */
async function checkHeads(connection: Reader, rows: number): Promise<Finding[]> {
  const vault = getVault(connection);
  if (vault === undefined) return [];
  const check = 'signed heads of the log';
  const { publicKey } = logSigningKey(connection, vault);
  const { findings, signed } = await checkLog((work) => work(connection), {
    identity: identityOf(vault),
    publicKey,
  });
  const [finding] = findings;
  if (finding !== undefined) return [{ check, outcome: 'failed', detail: finding.problem }];
  return [{ check, outcome: 'ok', detail: `${signed} of ${rows} entries are signed` }];
}

async function checkSchedule(directory: string, running: Running | undefined): Promise<Finding[]> {
  if (!hasVaultFile(directory)) return [];
  const now = Date.now();
  try {
    using file = running ? undefined : readVaultFile(directory);
    const schedule = file ? readSchedule(file.connection, now) : (await running?.call('backups'))?.schedule;
    return schedule ? [scheduleFinding(schedule, { now, isServed: running !== undefined })] : [];
  } catch (error) {
    // The checks of the file report its faults.
    if (error instanceof KeyhearthError || error instanceof CommandError || isSqliteError(error)) return [];
    throw error;
  }
}

async function openWith(
  config: Config,
  { keychain, ...options }: Omit<DoctorOptions, 'yes' | 'json'>,
): Promise<OpenWith | undefined> {
  const secret = await readSecret(options);
  if (secret !== undefined) return secret;
  return keychain === true ? { with: 'keychain', keychain: keychainOf(config) } : undefined;
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
    if (!(error instanceof KeyhearthError || error instanceof CommandError || isSqliteError(error)))
      throw error;
    return [
      {
        check: 'rows',
        outcome: 'failed',
        detail: `not checked: ${problemOf(error, vaultFile(directory))}`,
      },
    ];
  }
  return [
    {
      ...rowsNote,
      detail: `not checked, because the vault is locked: unlock the vault, or give ${secretFlags}, or --keychain`,
    },
  ];
}

const rowsNote = { check: 'rows', outcome: 'note' } as const;

const rowFindings = (findings: readonly RowFinding[] | undefined): Finding[] =>
  findings === undefined
    ? [{ ...rowsNote, detail: 'not authenticated yet: unlock the vault once' }]
    : findings.length === 0
      ? [{ check: 'rows', outcome: 'ok', detail: 'all rows are authentic and complete' }]
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
export async function acceptChanges(config: Config, { yes, json, ...options }: DoctorOptions): Promise<void> {
  const how = await openWith(config, { ...options, keychain: false });
  if (how === undefined) {
    throw new CommandError(
      exitCodes.usage,
      `missing secret: accepting changes takes the password or the recovery phrase. Give ${secretFlags}`,
    );
  }
  if (!hasVaultFile(dataDirectory(config))) {
    throw noVault(dataDirectory(config));
  }
  const { openVault } = await import('../../app/compose.ts');
  const vault = openVault(config);
  const { connection, units, guard, keyring } = vault;
  try {
    checkReadable(units.readUnverified(findDamage));
    const { id } = units.readUnverified(requireVault);
    const masterKey = await openAnySlot(id, units.readUnverified(listKeyslots), how).catch(
      (error: unknown) => {
        throw error instanceof KeyhearthError
          ? refusedWith(errorBody(error), { exitCodeOf: exitCodeOfOpening })
          : error;
      },
    );
    try {
      // The mark follows the accepted file: lost activities are a question of their own, for `audit accept-rollback`.
      vault.log.checkMark();
      const seen = connection.look();
      const found = units.readUnverified((tx) => findRowKey(tx, masterKey));
      const findings = findingsOf(connection, found);
      const list = findings.map(describeFinding);
      if (list.length === 0) {
        print(json, { accepted: [] }, 'Nothing to accept: the file was not changed.');
        return;
      }
      if (!json && yes !== true && canAsk()) {
        note(list.join('\n'));
        const message = 'Accept these changes and use the vault as it is now?';
        await askToGoOn({ message, initialValue: false }, 'nothing was accepted');
      }
      authenticateAll({ units, guard, keyring, random }, masterKey, () => {
        if (connection.look() !== seen) throw changedMeanwhile();
      });
      print(
        json,
        { accepted: findings },
        ['Accepted these changes:', ...list, 'The activity log still shows where the file was changed.'].join(
          '\n',
        ),
      );
    } finally {
      masterKey.fill(0);
    }
  } finally {
    vault.close();
  }
}

/** The list that a person said yes to is not what is in the file now. */
const changedMeanwhile = (): CommandError =>
  new CommandError(
    exitCodes.busy,
    'nothing was accepted: another program changed the file while its changes were listed. Run the command again, and look at the new list',
  );

/** @throws CommandError for lost pages: unreadable rows cannot be accepted as a change. */
function checkReadable(damage: readonly RowFinding[]): void {
  if (!isDamaged(damage)) return;
  throw new CommandError(
    exitCodes.damaged,
    `nothing was accepted: SQLite cannot read a part of the file, and what was there is lost. Restore a backup. Damaged: ${damage.map(describeFinding).join('; ')}`,
  );
}

function findingsOf(tx: Reader, found: FoundRowKey): readonly RowFinding[] {
  switch (found.state) {
    case 'found': {
      const key = new HmacKey(found.rowKey);
      found.rowKey.fill(0);
      return verifyQuickly(tx, (data) => key.mac(data));
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
    ? { check: 'service', outcome: 'ok', detail: `running at ${running.url}` }
    : { check: 'service', outcome: 'note', detail: 'not running' };
}
