/** `keyhearth audit`: the activity log taken out, checked and noted down; and the word of an owner who put an older file back. */
import { createReadStream, writeSync } from 'node:fs';
import type { LogCheck, LogHead, LogPart, LogRange, LogState } from '../../../preload/contract.ts';
import { checkLog, isoTime, type KnownHead } from '../../audit/check.ts';
import { checkExport, exportPart, exportStart } from '../../audit/export.ts';
import {
  hashHex,
  headOfRow,
  headVerifier,
  identityOf,
  logSigningKey,
  publicKeyHex,
} from '../../audit/signed-heads.ts';
import { knownAnchor, readAnchor, usesKeychain } from '../../audit/rollback-anchor.ts';
import type { Config } from '../../app/config.ts';
import { logEnd } from '../../storage/tables/activities.ts';
import type { Connection } from '../../storage/connection.ts';
import { lastLogHead } from '../../storage/tables/log-heads.ts';
import { schemaVersion } from '../../storage/migrations.ts';
import { requireVault, type VaultRow } from '../../storage/tables/vault.ts';
import { defined } from '../../lib/defined.ts';
import { KeyhearthError, quoted } from '../../lib/errors.ts';
import { reasonOf } from '../../lib/text/reasons.ts';
import { visibleName } from '../../lib/text/visible-text.ts';
import { keychainOf } from '../../app/keychain.ts';
import { findRunning, noVault } from '../shared/client.ts';
import { dataDirectory } from '../vault/control.ts';
import { writeFileOnce } from '../shared/new-files.ts';
import { CommandError, exitCodes, note, print } from '../shared/output.ts';
import { askToGoOn } from '../shared/prompts.ts';
import { startProgress } from '../shared/progress.ts';
import { readSecret, secretFlags, type SecretOptions } from '../shared/proof.ts';
import { askForPasswordOfVault, canAsk, tryUntilRight } from '../shared/secrets.ts';
import { hasVaultFile, readVaultFile } from '../shared/vault-file.ts';

/** The log of a vault: of the service that serves it, or of its file where none does. */
interface Source extends Disposable {
  readonly isRunning: boolean;
  /** True if the vault's own keys prove the identity of the log; otherwise only the file does. */
  readonly isUnlocked: boolean;
  readonly connection: Connection;
  readonly vault: VaultRow;
  /** With the head signed first, where the vault runs and is unlocked. */
  state(): Promise<LogState>;
  part(range?: LogRange): Promise<LogPart>;
}

async function openSource(config: Config): Promise<Source> {
  const directory = dataDirectory(config);
  if (!hasVaultFile(directory)) throw noVault(directory);
  const running = await findRunning(directory);
  const isUnlocked = running !== undefined && (await running.status()).state === 'unlocked';
  const file = readVaultFile(directory);
  const { connection } = file;
  try {
    const found = Number(connection.pragma('user_version'));
    if (found !== schemaVersion) {
      throw new CommandError(
        exitCodes.failed,
        `the vault file has schema version ${String(found)}, and this Keyhearth's is ${String(schemaVersion)}: serve it once with the newer of the two`,
      );
    }
    const vault = requireVault(connection);
    const head = (): LogHead | null => {
      const row = lastLogHead(connection);
      return row === undefined ? null : headOfRow(row);
    };
    const { publicKey } = logSigningKey(connection, vault);
    return {
      isRunning: running !== undefined,
      isUnlocked,
      connection,
      vault,
      state: async () =>
        running === undefined
          ? { rows: logEnd(connection).sequence, head: head(), publicKey, witness: null }
          : running.call('logState', true),
      part: async (range) => {
        if (running !== undefined) {
          return running.call('exportLog', ...(range === undefined ? [] : [range]));
        }
        return range === undefined
          ? exportStart(connection, identityOf(vault), publicKey, head())
          : exportPart(connection, range);
      },
      [Symbol.dispose]: () => {
        file[Symbol.dispose]();
      },
    };
  } catch (error) {
    file[Symbol.dispose]();
    throw error;
  }
}

/** @param file A new file, or - for standard output. */
export async function auditExport(config: Config, file: string, json: boolean): Promise<void> {
  using source = await openSource(config);
  if (file === '-') {
    await writeParts(source, (text) => writeOut(text));
    return;
  }
  await writeFileOnce(file, (descriptor) =>
    writeParts(source, (text) => {
      // A single write may take a part of it only.
      const bytes = Buffer.from(text);
      for (let offset = 0; offset < bytes.length;) offset += writeSync(descriptor, bytes, offset);
    }),
  );
  const { rows, head } = await source.state();
  print(
    json,
    { file, rows, head },
    `Exported the activity log to ${file}: ${entries(rows)}${head === null ? '' : `, signed up to entry ${head.sequence}`}. Verify it with: keyhearth audit verify ${file}`,
  );
}

async function writeParts(source: Source, write: (text: string) => Promise<void> | void): Promise<void> {
  let range: LogRange | undefined;
  do {
    const { text, next } = await source.part(range);
    await write(text);
    range = next ?? undefined;
  } while (range !== undefined);
}

const writeOut = (text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => {
      if (error) reject(error);
      else resolve();
    });
  });

/** Writes the newest signed head, for the owner to note it where a person who changes the file cannot reach it. */
export async function auditHead(config: Config, json: boolean): Promise<void> {
  using source = await openSource(config);
  const { rows, head } = await source.state();
  if (head === null) {
    throw new CommandError(
      exitCodes.failed,
      rows === 0
        ? 'the activity log is empty: there is no head to sign'
        : `no entry of ${rows} is signed yet: unlock the vault to sign them`,
    );
  }
  const { id, organizationId } = source.vault;
  print(
    json,
    { vaultId: id, organizationId, rows, head },
    [
      `Entry ${head.sequence} of ${rows}, signed on ${isoTime(head.signedAt)}. To verify the log against this head later:`,
      `keyhearth audit verify --head ${head.sequence}:${head.hash} --public-key ${head.publicKey}`,
    ].join('\n'),
  );
}

export interface AuditVerifyOptions {
  /** Hex, uncompressed. */
  readonly publicKey?: string;
  /** Noted heads, each `SEQUENCE:HASH`. */
  readonly head: readonly string[];
  readonly json: boolean;
}

interface Verdict {
  readonly check: LogCheck;
  readonly vaultId: string;
  readonly organizationId: string;
  readonly publicKey: string;
  /** The source of the vault's key. */
  readonly publicKeyFrom: 'given' | 'vault' | 'file';
  /** The keychain's answer, for a person; undefined if it was not used. */
  readonly witness?: string;
}

/** @param file An exported log, or - for standard input; without it the vault's own. */
export async function auditVerify(
  config: Config,
  file: string | undefined,
  { publicKey, head, json }: AuditVerifyOptions,
): Promise<void> {
  if (publicKey !== undefined && !publicKeyHex.safeParse(publicKey).success) {
    throw new CommandError(
      exitCodes.usage,
      `invalid --public-key ${quoted(publicKey)}: expected an uncompressed P-256 key, 130 lowercase hex digits that begin with 04`,
    );
  }
  const noted = head.map(notedHead);
  const verdict = await verify(config, { file, publicKey, noted }, json);
  const { check, ...about } = verdict;
  const problems = check.findings.length + check.more;
  print(
    json,
    { ok: problems === 0, ...about, ...check, unsigned: Math.max(0, check.rows - check.signed) },
    // An exported log says its own vault's id: no text of it makes a line of its own.
    describe(verdict).map(visibleName).join('\n'),
  );
  if (problems > 0) process.exitCode = exitCodes.failed;
}

async function verify(
  config: Config,
  given: {
    readonly file: string | undefined;
    readonly publicKey: string | undefined;
    readonly noted: readonly KnownHead[];
  },
  json: boolean,
): Promise<Verdict> {
  const { file, publicKey, noted } = given;
  using _ = startProgress('Verifying the activity log', json);
  return file === undefined
    ? await verifyVault(config, publicKey, noted)
    : await verifyFile(file, publicKey, noted);
}

const entries = (count: number): string => (count === 1 ? '1 entry' : `${count} entries`);

function notedHead(text: string): KnownHead {
  const [, sequence = '', hash = ''] = /^([0-9]{1,15}):(.*)$/.exec(text) ?? [];
  if (!hashHex.safeParse(hash).success) {
    throw new CommandError(
      exitCodes.usage,
      `invalid --head ${quoted(text)}: expected SEQUENCE:HASH as \`keyhearth audit head\` writes it`,
    );
  }
  return { sequence: Number(sequence), hash, known: 'you noted' };
}

async function verifyFile(
  file: string,
  given: string | undefined,
  noted: readonly KnownHead[],
): Promise<Verdict> {
  const stream = file === '-' ? process.stdin : createReadStream(file);
  stream.setEncoding('utf8');
  try {
    const { check, identity, publicKey } = await checkExport(stream as AsyncIterable<string>, {
      noted,
      ...defined({ publicKey: given }),
    });
    const { vaultId, organizationId } = identity;
    const publicKeyFrom = given === undefined ? 'file' : 'given';
    return { check, vaultId, organizationId, publicKey: given ?? publicKey, publicKeyFrom };
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error instanceof KeyhearthError) throw error;
    throw new CommandError(exitCodes.usage, `${file} cannot be read: ${reasonOf(error)}`);
  }
}

async function verifyVault(
  config: Config,
  given: string | undefined,
  noted: readonly KnownHead[],
): Promise<Verdict> {
  using source = await openSource(config);
  const { connection, vault } = source;
  const state = source.isRunning ? await source.state() : undefined;
  const publicKey = given ?? state?.publicKey ?? logSigningKey(connection, vault).publicKey;
  const asked = state === undefined ? await readKeychain(config, source, publicKey) : undefined;
  const identity = identityOf(vault);
  const all = [...noted, ...(asked?.noted ?? [])];
  const checked = await checkLog((work) => work(connection), { identity, publicKey, noted: all });
  const findings = [...(asked?.findings ?? []), ...checked.findings];
  const anchor = asked?.said ?? anchorOf(state);
  return {
    check: { ...checked, findings },
    ...identity,
    publicKey,
    publicKeyFrom: given !== undefined ? 'given' : source.isUnlocked ? 'vault' : 'file',
    ...defined({ witness: anchor }),
  };
}

interface KeychainWord {
  readonly said: string;
  readonly noted: readonly KnownHead[];
  readonly findings: LogCheck['findings'];
}

/** The keychain's anchor of a vault that no process serves; a running service answers for its own. */
async function readKeychain(
  config: Config,
  { connection, vault }: Source,
  publicKey: string,
): Promise<KeychainWord | undefined> {
  if (!config.useKeychain || !usesKeychain(connection)) return undefined;
  const nothing = { noted: [], findings: [] };
  try {
    const anchor = await readAnchor(keychainOf(config), vault.id);
    if (anchor === undefined) return { ...nothing, said: 'The keychain holds no note of the log.' };
    const said = `The keychain holds a note of entry ${anchor.sequence}.`;
    if (headVerifier(identityOf(vault), publicKey)(anchor)) {
      return { said, noted: [knownAnchor(anchor)], findings: [] };
    }
    const problem = 'the note that the keychain holds of the newest entry is not signed by the vault’s key';
    return { said, noted: [], findings: [{ row: anchor.sequence, problem }] };
  } catch (error) {
    const problem = reasonOf(error);
    if (error instanceof KeyhearthError && error.code === 'VAULT_ROLLED_BACK') {
      return { said: problem, noted: [], findings: [{ row: null, problem }] };
    }
    return { ...nothing, said: `The keychain was not asked: ${problem}` };
  }
}

function anchorOf(state: LogState | undefined): string | undefined {
  if (state?.witness == null) return undefined;
  return 'sequence' in state.witness
    ? `The keychain holds a note of entry ${state.witness.sequence}.`
    : `The keychain holds no note of the log: ${state.witness.obstacle}`;
}

const whoseWord = {
  given: 'from --public-key',
  vault: 'from the running vault',
  file: 'from the log itself: compare with the key that you noted',
} as const satisfies Record<Verdict['publicKeyFrom'], string>;

function describe({ check, vaultId, publicKey, publicKeyFrom, witness }: Verdict): string[] {
  const { rows, signed, signedAt, findings, more } = check;
  const problems = findings.length + more;
  return [
    ...findings.map(({ problem }) => problem),
    ...(more > 0 ? [`and ${more} more`] : []),
    `${entries(rows)} of vault ${vaultId}.`,
    signedAt === null
      ? 'No entry is signed yet.'
      : `Signed up to entry ${signed} on ${isoTime(signedAt)}${rows > signed ? `; ${rows - signed} since are not signed yet` : ''}.`,
    `Key: ${publicKey}, ${whoseWord[publicKeyFrom]}.`,
    ...(witness === undefined ? [] : [witness]),
    problems === 0
      ? 'The log is intact.'
      : `${problems === 1 ? '1 problem' : `${problems} problems`}: this log was changed or is incomplete.`,
  ];
}

export interface AcceptRollbackOptions extends SecretOptions {
  readonly yes?: boolean;
  readonly json: boolean;
}

/** Lets a file be used that is older than the keychain knows of; asks for what the keychain cannot give. */
export async function acceptRollback(
  config: Config,
  { yes, json, ...options }: AcceptRollbackOptions,
): Promise<void> {
  const directory = dataDirectory(config);
  if (!hasVaultFile(directory)) throw noVault(directory);
  const { openVault } = await import('../../app/compose.ts');
  const vault = openVault(config);
  try {
    const given = await readSecret(options);
    if (given === undefined && !canAsk()) {
      throw new CommandError(
        exitCodes.usage,
        `missing secret: accepting an older file takes the recovery phrase or the password. Give ${secretFlags}`,
      );
    }
    const rollback = await tryUntilRight(given, askForPasswordOfVault, (how) => vault.log.findRollback(how));
    if (rollback === undefined) {
      print(json, { accepted: false }, 'Nothing to accept: the keychain knows no newer file.');
      return;
    }
    if (yes !== true) await askWhetherToAccept(rollback.problem);
    await rollback.accept();
    print(json, { accepted: true }, 'Accepted the older file. The vault can be unlocked now.');
  } finally {
    vault.close();
  }
}

async function askWhetherToAccept(problem: string): Promise<void> {
  note(problem);
  if (!canAsk()) {
    throw new CommandError(
      exitCodes.usage,
      'nothing was accepted: confirm with --yes, or run this at a terminal',
    );
  }
  const message = 'Use the older file? Later changes are lost.';
  await askToGoOn({ message, initialValue: false }, 'nothing was accepted');
}
