import { LatchkeyError } from '../lib/errors.ts';

/** What a person is told of an error: a refusal in its own words; of anything else, that the log knows more. */
export function publicMessage(error: unknown): string {
  return error instanceof LatchkeyError
    ? error.message
    : 'Something went wrong inside Latchkey. Its log on standard error says more.';
}

/** Logs an error that nobody waits for. */
export function report(what: string, error: unknown): void {
  console.error(`latchkey: ${what}:`, error);
}
