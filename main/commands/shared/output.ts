/** Output and exit codes of commands. */
import { fsyncSync, writeSync } from 'node:fs';
import { z } from 'zod';
import { defined } from '../../lib/defined.ts';
import { ExplainedError, errorBody, KeyhearthError, type ErrorCodeName } from '../../lib/errors.ts';
import { causeOf } from '../../files/storage-causes.ts';
import { namingDatabase } from '../../storage/file/disk-state.ts';
import { visibleJson, visibleName } from '../../lib/text/visible-text.ts';
import { problemOf as problemOfPath, reasonOf } from '../../lib/text/reasons.ts';
import { namingCommand } from './command-name.ts';
import { isColored, type Table } from './table.ts';

/** Exit codes, as `keyhearth --help` documents them. */
export const exitCodes = {
  ok: 0,
  /** The request was refused, or a check failed. */
  failed: 1,
  /** The command line is wrong. */
  usage: 2,
  /** Nothing to talk to: no vault, or it is not running. */
  absent: 3,
  /** The vault is held by another process, or the port is taken. */
  busy: 4,
  /** The vault is locked, or what was given does not open it. */
  locked: 5,
  /** It was asked for, and others have to approve of it before it is done. */
  waits: 6,
  /** The vault's file is damaged, was changed outside Keyhearth, or is an older one: to start again does not help. */
  damaged: 7,
  /** A disk is full, can only be read, or fails. */
  storage: 8,
} as const;

/** For help and docs. */
export const exitCodeTexts: Readonly<Record<ExitCode, string>> = {
  [exitCodes.ok]: 'Done',
  [exitCodes.failed]: 'Refused or failed',
  [exitCodes.usage]: 'Wrong usage',
  [exitCodes.absent]: 'No vault, or the vault is not running',
  [exitCodes.busy]: 'The vault or the port is in use, or its process does not answer',
  [exitCodes.locked]: 'The vault is locked, or the given secret does not unlock it',
  [exitCodes.waits]: 'The request needs approvals of other users',
  [exitCodes.damaged]: 'The vault’s file is damaged or was changed outside Keyhearth',
  [exitCodes.storage]: 'The disk is full, read-only or failing',
};

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

const refusalExitCodes = new Map<unknown, ExitCode>([
  ['VAULT_LOCKED', exitCodes.locked],
  ['VAULT_FROZEN', exitCodes.locked],
  ['WRONG_SECRET', exitCodes.locked],
  ['VAULT_MISSING', exitCodes.absent],
  ['VAULT_TAMPERED', exitCodes.damaged],
  ['VAULT_ROLLED_BACK', exitCodes.damaged],
  ['STORAGE_UNAVAILABLE', exitCodes.storage],
] satisfies (readonly [ErrorCodeName, ExitCode])[]);

/** @param code Of a refusal: its `turnkeyErrorCode`. @returns how it ends a command. */
export const exitCodeOfRefusal = (code: unknown): ExitCode => refusalExitCodes.get(code) ?? exitCodes.failed;

/** The same of a call that opens the vault: what is refused there for no reason of its own leaves it locked. */
export function exitCodeOfOpening(code: unknown): ExitCode {
  const usual = exitCodeOfRefusal(code);
  return usual === exitCodes.failed ? exitCodes.locked : usual;
}

/** The parts of a refusal beside its message: its codes as the API has them, the policies that decided, and what helps. */
const refusalBody = z.looseObject({
  code: z.number().optional(),
  turnkeyErrorCode: z.string().optional(),
  details: z
    .array(
      z.looseObject({
        policyEvaluations: z.array(z.unknown()).optional(),
        description: z.string().optional(),
      }),
    )
    .optional(),
});

/** @param body Of an answer that refuses. @returns what an error in JSON carries beside its message. */
export function detailsOfRefusal(body: unknown): object {
  const { data } = refusalBody.safeParse(body);
  if (data === undefined) return {};
  const policies = data.details?.flatMap(({ policyEvaluations = [] }) => policyEvaluations) ?? [];
  return defined({
    code: data.code,
    turnkeyErrorCode: data.turnkeyErrorCode,
    policyEvaluations: policies.length === 0 ? undefined : policies,
  });
}

/** True if a command was refused because its secret opens nothing. */
export const isWrongSecret = (error: unknown): error is Error =>
  error instanceof CommandError
    ? 'turnkeyErrorCode' in error.details && error.details.turnkeyErrorCode === 'WRONG_SECRET'
    : error instanceof KeyhearthError && error.code === 'WRONG_SECRET';

/** Ends a command with a message and a code. */
export class CommandError extends ExplainedError {
  override readonly name = 'CommandError';
  readonly exitCode: ExitCode;
  /** For scripts, beside the message. */
  readonly details: object;

  constructor(exitCode: ExitCode, message: string, details: object = {}) {
    super(message);
    this.exitCode = exitCode;
    this.details = details;
  }
}

/** A refusal, as every answer of the vault has it. */
export const refusal = z.looseObject({ message: z.string(), turnkeyErrorCode: z.string().optional() });

interface RefusalOptions {
  /** The options that fields of the request come from. The message names those. */
  readonly fields?: Readonly<Record<string, string>> | undefined;
  readonly exitCodeOf?: (code: unknown) => ExitCode;
}

/** @param body Of an answer that refuses. @returns the error that ends the command. */
export function refusedWith(
  body: unknown,
  { fields = {}, exitCodeOf = exitCodeOfRefusal }: RefusalOptions = {},
): CommandError {
  const { message, turnkeyErrorCode } = refusal.safeParse(body).data ?? {
    message: 'the vault refused it, and its answer does not say why',
  };
  const help =
    refusalBody.safeParse(body).data?.details?.flatMap(({ description = [] }) => description) ?? [];
  return new CommandError(
    exitCodeOf(turnkeyErrorCode),
    Object.entries(fields).reduce(
      (said, [field, option]) => said.replaceAll(field, option),
      [message, ...help].join(' '),
    ),
    detailsOfRefusal(body),
  );
}

/** The same of the vault of this computer, which one command unlocks. */
export function refusedHere(body: unknown, options: RefusalOptions = {}): CommandError {
  const refused = refusedWith(body, options);
  const { exitCode, details } = refused;
  return 'turnkeyErrorCode' in details && details.turnkeyErrorCode === 'VAULT_LOCKED'
    ? new CommandError(exitCode, 'the vault is locked: run `keyhearth unlock`', details)
    : refused;
}

/** The text of a result for people. */
export type Shown = string | Table | readonly (string | Table)[];

/** Writes a result: one line of JSON for scripts, or text and tables for people. */
export function print(json: boolean, value: object, shown: Shown): void {
  process.stdout.write(json ? jsonLine(value) : `${rendered(shown, isColored(process.stdout))}\n`);
}

const rendered = (shown: Shown, colored: boolean): string =>
  [shown]
    .flat()
    .map((part) => (typeof part === 'string' ? forPeople(part) : part.render(colored)))
    .join('\n');

/** Milliseconds between two tries to write to a pipe that is full. */
const pipePause = 10;

/** Pipes and terminals have nothing to flush. */
const unflushable = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP']);

/** Writes a result that nothing shows again. @throws Error where not all of it was written. */
export function printForSure(json: boolean, value: object, text: string): void {
  const bytes = Buffer.from(json ? jsonLine(value) : `${forPeople(text)}\n`);
  try {
    for (let offset = 0; offset < bytes.length;) offset += writeSome(bytes, offset);
  } finally {
    bytes.fill(0);
  }
  try {
    fsyncSync(process.stdout.fd);
  } catch (error) {
    if (!unflushable.has(String((error as NodeJS.ErrnoException).code))) throw error;
  }
}

function writeSome(bytes: Uint8Array, offset: number): number {
  try {
    return writeSync(process.stdout.fd, bytes, offset);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pipePause);
    return 0;
  }
}

/** Says something on the side, where it does not disturb a result. */
export function note(shown: Shown): void {
  process.stderr.write(`${rendered(shown, isColored(process.stderr))}\n`);
}

/** Foreign names and texts cannot control a terminal or hide anything: they may be in any line. */
const forPeople = (text: string): string => namingCommand(text).split('\n').map(visibleName).join('\n');

const jsonLine = (value: object): string => `${visibleJson(JSON.stringify(value))}\n`;

/** @returns a refusal's own message, and in words what the system refused where nothing said it better. */
const describeProblem = (error: unknown): string =>
  isSqliteError(error) ? sqliteProblem(error) : problemOfPath(error);

const isSqliteError = (error: unknown): error is Error & { readonly code: string } =>
  error instanceof Error && error.name === 'SqliteError' && 'code' in error && typeof error.code === 'string';

/** By the beginning of SQLite's codes: what each means, and what to do. */
const sqliteProblems: readonly (readonly [RegExp, string])[] = [
  [
    /^SQLITE_(CORRUPT|NOTADB|IOERR_SHORT_READ)/,
    'it is damaged, or no vault. `keyhearth doctor` says more; a backup brings the vault back: move the directory away, then `keyhearth restore FILE`',
  ],
  [/^SQLITE_(BUSY|LOCKED)/, 'another program uses it. End that program, and try again'],
  [/^SQLITE_FULL/, 'the disk is full. Make room on it, and try again'],
  [
    /^SQLITE_READONLY/,
    'it can only be read. Mount the disk so that it can be written, and give the file back to this user',
  ],
  [
    /^SQLITE_(IOERR_)?NOMEM/,
    'the system gives this process no more memory. End other programs, or raise the limit (ulimit -v), and try again',
  ],
  [/^SQLITE_IOERR/, 'the disk failed. Look at the system’s log, and bring the newest backup to another disk'],
  [/^SQLITE_CANTOPEN/, 'it cannot be opened. Look whether it is there, and whose it is'],
];

/** SQLite's own words say neither which file nor what to do. @param file The vault's, unless another is named. */
function sqliteProblem({ code }: Error & { readonly code: string }, file = 'the vault’s file'): string {
  return `${file}: ${sqliteProblems.find(([codes]) => codes.test(code))?.[1] ?? 'the database refused it'}`;
}

/** @returns what is wrong with a file, in words of which none is SQLite's alone. */
export function problemOf(error: unknown, file: string): string {
  const named = withCause(error, file);
  return isSqliteError(named) ? sqliteProblem(named, file) : describeProblem(named);
}

/** SQLite has one code for a disk that fails and for most of what it refuses: the disk is asked, where more than the code is to be had. */
const withCause = (error: unknown, file: string): unknown =>
  isSqliteError(error) && /^SQLITE_IOERR(?!_SHORT_READ|_NOMEM)/.test(error.code)
    ? namingDatabase(error, file)
    : error;

/** The error of a command over a vault: one of SQLite's names the file. */
export function aboutVault(thrown: unknown, file: string): unknown {
  const error = withCause(thrown, file);
  if (!isSqliteError(error)) return error;
  const cause = causeOf(error);
  const code = cause === undefined ? exitCodes.damaged : exitCodes.storage;
  const isBusy = /^SQLITE_(BUSY|LOCKED)/.test(error.code);
  return new CommandError(isBusy ? exitCodes.busy : code, sqliteProblem(error, file));
}

let outputFailed = false;

/** Standard output may lie on a full disk; without this, the process ends with a stack. cli.ts sees to a reader that is gone. */
export function watchOutput(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (outputFailed || error.code === 'EPIPE') return;
    outputFailed = true;
    note(`keyhearth: standard output cannot be written: ${reasonOf(error)}`);
    process.exitCode = exitCodes.failed;
  });
}

/** Writes why a command failed, and sets the exit code. */
export function fail(json: boolean, error: unknown): void {
  process.exitCode = exitCodeOf(error);
  // The failure was already reported.
  if (outputFailed) return;
  const message = namingCommand(describeProblem(error));
  const details =
    error instanceof CommandError
      ? error.details
      : error instanceof KeyhearthError
        ? detailsOfRefusal(errorBody(error))
        : {};
  if (json) process.stderr.write(jsonLine({ error: { message, ...details } }));
  else note(`keyhearth: ${message}`);
}

function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CommandError) return error.exitCode;
  if (error instanceof KeyhearthError) return exitCodeOfRefusal(error.code);
  const name = error instanceof Error ? error.name : '';
  if (name === 'VaultInUseError' || name === 'PortInUseError') return exitCodes.busy;
  const cause = causeOf(error);
  if (cause !== undefined && cause !== 'forbidden') return exitCodes.storage;
  return name === 'ConfigError' ? exitCodes.usage : exitCodes.failed;
}
