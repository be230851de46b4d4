/** What a command says and how it ends. */
import { LatchkeyError, type ErrorCodeName } from '../lib/errors.ts';

/** Exit codes, as `latchkey --help` documents them. */
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
} as const;

/** Codes of refusals that end a command with `exitCodes.locked`. */
export const lockedCodes: ReadonlySet<unknown> = new Set<ErrorCodeName>([
  'VAULT_LOCKED',
  'VAULT_FROZEN',
  'WRONG_SECRET',
]);

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Ends a command with a message and a code. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Writes a result: one line of JSON for scripts, or text for people. */
export function print(json: boolean, value: object, text: string): void {
  process.stdout.write(json ? `${JSON.stringify(value)}\n` : `${text}\n`);
}

/** Says something on the side, where it does not disturb a result. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Writes why a command failed, and sets the exit code. */
export function fail(json: boolean, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(json ? `${JSON.stringify({ error: { message } })}\n` : `latchkey: ${message}\n`);
  process.exitCode = exitCodeOf(error);
}

function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CommandError) return error.exitCode;
  if (error instanceof LatchkeyError) {
    if (lockedCodes.has(error.code)) return exitCodes.locked;
    return error.code === 'VAULT_MISSING' ? exitCodes.absent : exitCodes.failed;
  }
  const name = error instanceof Error ? error.name : '';
  if (name === 'VaultInUseError' || name === 'PortInUseError') return exitCodes.busy;
  return name === 'ConfigError' ? exitCodes.usage : exitCodes.failed;
}
