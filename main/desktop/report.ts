import { KeyhearthError } from '../lib/errors.ts';
import { logFault } from '../lib/log.ts';

/** The message of an error for a person: a refusal's own words; for anything else, that the log has more. */
export function publicMessage(error: unknown): string {
  return error instanceof KeyhearthError
    ? error.message
    : 'Something went wrong in Keyhearth. See the log file beside the vault.';
}

/** Logs an error that has no caller. */
export function report(what: string, error: unknown): void {
  logFault(error, what);
}
