/** Writes the outcomes of events: several in one row where they are the same. */
import type { Writer } from '../../storage/connection.ts';
import {
  correctWebhookResult,
  keepWebhookResult,
  listLogFor,
  noteWebhookRecovery,
  deadLetterWebhookRows,
  type WebhookResult,
} from '../../storage/tables/webhook-deliveries.ts';
import { getWebhookEndpoint, moveEndpoint, noteFailing } from '../../storage/tables/webhook-endpoints.ts';
import { sorterFor } from '../../storage/tables/webhook-events.ts';
import { backoffMs, longestPauseMs } from '../queue/backoff.ts';
import type { DeliveryOutcome } from '../queue/outbox.ts';
import type { Item, Taken } from './queue.ts';

/** Milliseconds for which an endpoint that refuses all events is retried. */
const periodMs = 24 * 60 * 60_000;
/** Rows that become dead letters in one transaction. */
const deadLetteredAtOnce = 1000;

/** The time of an attempt, and a random number from 0 up to 1. */
interface Attempt {
  readonly now: number;
  readonly random: () => number;
}

/**
 * Records the outcomes of the first events of a batch, and moves the endpoint on.
 * @returns true if the endpoint has failed for so long that the rest of its log must become dead letters too.
 */
export function keepOutcomes(
  tx: Writer,
  { endpoint, from, items, to }: Taken,
  outcomes: readonly DeliveryOutcome[],
  attempt: Attempt,
): boolean {
  const { now } = attempt;
  const tried = items.slice(0, outcomes.length);
  const failed = outcomes.at(-1)?.outcome === 'retry';
  // The log beyond the last attempt is behind the endpoint only if all events were tried.
  const reached =
    outcomes.length === items.length ? to : (tried.findLast(({ isRow }) => !isRow)?.sequence ?? from);
  const current = getWebhookEndpoint(tx, endpoint.id);
  if (current === undefined) {
    // Removed while they were on their way, and noted as refused by that.
    const ended = eventsOf(tried, outcomes).filter(({ outcome }) => outcome.outcome !== 'retry');
    for (const result of resultsOf(ended, null, attempt)) correctWebhookResult(tx, endpoint, result);
    return false;
  }
  if (current.position === null) return false;
  // If the endpoint was moved back meanwhile, or further on, the log beyond its new position waits, for any
  // outcome here.
  const isMoved =
    reached === from ? current.position !== from : !moveEndpoint(tx, endpoint.id, { from, to: reached });
  const position = isMoved ? current.position : reached;
  const triedEvents = eventsOf(tried, outcomes).filter(({ item }) => item.sequence <= position);
  const recovered = outcomes.some(({ outcome }) => outcome !== 'retry');
  // Since a time to come, where the clock was ahead: it fails since now.
  const noted = current.failingSince === null ? null : Math.min(current.failingSince, now);
  const failingSince = recovered ? null : noted;
  for (const result of resultsOf(triedEvents, failingSince, attempt)) keepWebhookResult(tx, endpoint, result);
  if (recovered && current.failingSince !== null) noteWebhookRecovery(tx, endpoint.id);
  const since = failed ? (failingSince ?? now) : failingSince;
  if (since !== current.failingSince) noteFailing(tx, endpoint.id, since);
  if (!failed) return false;
  deadLetterWebhookRows(tx, endpoint.id, { failingSince: now - periodMs, now });
  return since !== null && since <= now - periodMs;
}

/**
 * Dead-letters what has waited for as long behind an event that failed, as if each had a row.
 * @returns whether there may be more of it.
 */
export function deadLetterBeyond(tx: Writer, endpointId: string, now: number): boolean {
  const endpoint = getWebhookEndpoint(tx, endpointId);
  if (endpoint?.position == null || endpoint.failingSince === null) return false;
  const { rows, isEnd } = listLogFor(tx, endpoint, endpoint.position, deadLetteredAtOnce);
  const young = rows.findIndex(({ updatedAt }) => updatedAt > now - periodMs);
  const old = young === -1 ? rows : rows.slice(0, young);
  const last = old.at(-1);
  if (last === undefined) return false;
  const fateOf = sorterFor(endpoint);
  const sequences = old.filter((row) => fateOf(row) !== 'skip').map(({ sequence }) => sequence);
  const note = 'not tried: what was before it could not be delivered';
  keepWebhookResult(tx, endpoint, { sequences, state: 'parked', attempts: 0, finishedAt: now, note });
  moveEndpoint(tx, endpointId, { from: endpoint.position, to: last.sequence });
  return !isEnd && old.length === rows.length;
}

interface TriedEvent {
  readonly outcome: DeliveryOutcome;
  readonly item: Item;
}

const eventsOf = (tried: readonly Item[], outcomes: readonly DeliveryOutcome[]): readonly TriedEvent[] =>
  outcomes.flatMap((outcome, index) => {
    const item = tried[index];
    return item === undefined ? [] : [{ outcome, item }];
  });

function resultsOf(
  triedEvents: readonly TriedEvent[],
  failingSince: number | null,
  { now, random }: Attempt,
): WebhookResult[] {
  const results: (WebhookResult & { readonly sequences: number[] })[] = [];
  for (const { outcome, item } of triedEvents) {
    const attempts = item.attempts + 1;
    const { sequence } = item;
    if (outcome.outcome === 'retry') {
      const pause = Math.min(Math.max(backoffMs(attempts, random()), outcome.afterMs ?? 0), longestPauseMs);
      // It waited behind what failed from when it came about.
      const waited = Math.max(failingSince ?? now, item.row?.updatedAt ?? 0);
      results.push({
        sequences: [sequence],
        state: 'waiting',
        attempts,
        nextAt: now + pause,
        failingSince: Math.min(now, item.isRow ? (item.failingSince ?? now) : waited),
        note: outcome.note,
      });
      continue;
    }
    const { outcome: state, note = null } = outcome;
    const last = results.at(-1);
    if (last?.state === state && last.attempts === attempts && last.note === note)
      last.sequences.push(sequence);
    else results.push({ sequences: [sequence], state, attempts, finishedAt: now, note });
  }
  return results;
}
