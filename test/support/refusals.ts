/** Checks a failed or refused operation: the answer, the log, and that nothing else has changed. */
import { hash } from 'node:crypto';
import { expect } from 'vitest';
import type { ActivityBody, Answer, Json, TestVault } from './support.ts';

export interface Refusal {
  readonly status: number;
  readonly code: number;
  readonly message: string | RegExp;
  readonly turnkeyErrorCode?: string;
}

export const invalid = (message: string | RegExp): Refusal => ({ status: 400, code: 3, message });
export const missing = (message: string | RegExp): Refusal => ({ status: 404, code: 5, message });
export const taken = (message: string | RegExp): Refusal => ({ status: 409, code: 6, message });
export const denied: Refusal = { status: 403, code: 7, message: /sufficient permissions/ };

type Work = () => Promise<Answer>;

/** Work that is refused, log and all else read before and after. */
async function refuse(
  service: TestVault,
  work: Work,
  { status, ...error }: Refusal,
): Promise<{ readonly answer: Answer; readonly before: ActivityBody | undefined }> {
  const contents = stored(service);
  const before = await latestActivity(service);
  const answer = await work();
  expect(answer.status, answer.text).toBe(status);
  const message =
    typeof error.message === 'string' ? error.message : (expect.stringMatching(error.message) as string);
  expect(answer.body).toMatchObject({ ...error, message });
  expect(stored(service)).toEqual(contents);
  return { answer, before };
}

/** The work is refused, the log keeps it as failed, and nothing else has changed. */
export async function fails(service: TestVault, work: Work, refusal: Refusal): Promise<Answer> {
  const { answer, before } = await refuse(service, work, refusal);
  const activity = await latestActivity(service);
  expect(activity?.id).not.toBe(before?.id);
  expect(activity).toMatchObject({
    status: 'ACTIVITY_STATUS_FAILED',
    result: {},
    failure: { code: refusal.code, message: answer.body?.['message'] },
  });
  return answer;
}

/** The work is refused before it is an activity. */
export async function isRefused(service: TestVault, work: Work, refusal: Refusal): Promise<void> {
  const { before } = await refuse(service, work, refusal);
  expect((await latestActivity(service))?.id).toBe(before?.id);
}

export async function latestActivity({ root }: TestVault): Promise<ActivityBody | undefined> {
  const { body } = await root.query('list_activities', { paginationOptions: { limit: '1' } });
  return (body as { activities: readonly ActivityBody[] }).activities[0];
}

/**
 * The digest of every table but the log's own, the seal over its end, and records of refusals and of the use
 * of credentials.
 */
export function stored({ vault: { connection } }: TestVault): Json {
  const tables = connection.all<{ name: string }>(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN ('activities', 'user_snapshots', 'integrity', 'refusals', 'credential_uses', 'key_uses', 'security_events', 'security_events_waiting')",
  );
  return Object.fromEntries(
    tables.map(({ name }) => {
      // A vote, of a failed activity too, may note which snapshot of its voter it shows; the row's HMAC covers that.
      const rows = connection
        .all<Json>(`SELECT * FROM ${name}`)
        .map(({ snapshot: _noted, mac: _follows, ...row }) => row);
      return [name, hash('sha256', JSON.stringify(rows))];
    }),
  );
}
