/**
 * The last requests that came to the port, in memory, for authors of clients who want to see what arrived. Bodies are not kept,
 * and neither are stamps: of a request whose proof did not hold, what was wrong with it is worked out at once.
 */
import type { Request, Response } from 'express';
import { z } from 'zod';
import type { ProofStep, SeenRequest } from '../../preload/contract.ts';
import { isLive } from '../activities/request/parse-request.ts';
import { explainStamp } from '../auth/explain-stamp.ts';
import type { Caller } from '../lib/caller.ts';
import { mostSmallBytes } from '../lib/concurrency/turns.ts';
import { rawBody } from './answer.ts';
import type { RequestNotes, Service } from './handle.ts';
import { parseJson } from './json-body.ts';
import { owned } from '../lib/faults.ts';
import { logDetail } from '../lib/log.ts';
import { upTo } from '../lib/text/up-to.ts';

/** Whom a proof named: the stamp itself is not kept. */
type JournalCaller = Pick<Caller, 'organizationId' | 'userId' | 'credentialId'>;

/** As `SeenRequest`, but for the caller's name, which is looked up when it is read. */
export type JournalEntry = Omit<SeenRequest, 'caller'> & { readonly caller: JournalCaller | null };

/** Facts about a request beside its answer, and the size of the answer. */
interface JournalNotes extends RequestNotes {
  answerBytes?: number;
}

const kept = 200;
const longestPath = 200;
const longestClient = 120;
const longestMessage = 600;
/** Each takes a few signature checks, and reads the body, which is done for small ones alone. */
const explainedPerSecond = 50;
/** Milliseconds for which events report new requests after the list was queried. */
const lookingMs = 30_000;
/** Between two events: a script may make thousands of requests in a second. */
const eventPauseMs = 250;

/** The notes of a request that is being answered. */
export const takeNotes = (response: Response): JournalNotes =>
  (response.locals['notes'] ??= {}) as JournalNotes;

type JournalService = Pick<Service, 'operations' | 'units' | 'clock' | 'rpId' | 'onFault'>;

export class RequestJournal {
  readonly #service: JournalService;
  readonly #onNew: () => void;
  readonly #entries: JournalEntry[] = [];
  #total = 0;
  #lookedAt = -Infinity;
  #telling = false;
  #explained = { second: 0, count: 0 };

  /** @param onNew Called after new requests, not each time, and only for a while after a query. */
  constructor(service: JournalService, onNew: () => void) {
    this.#service = service;
    this.#onNew = onNew;
  }

  /** Enters a request once it is answered: those to the API, and whatever else was refused. */
  watch(request: Request, response: Response): void {
    const { path } = request;
    if (path.startsWith('/window/')) return;
    const isCall = path.startsWith('/public/');
    const at = Date.now();
    const started = performance.now();
    response.once(
      'close',
      owned(() => {
        if (!isCall && response.statusCode < 400) return;
        this.#enter(request, response, { at, path, durationMs: performance.now() - started });
      }, this.#service.onFault),
    );
  }

  /** @returns the newest first, and how many there were in all. */
  read(after: number): { readonly requests: readonly JournalEntry[]; readonly total: number } {
    this.#lookedAt = performance.now();
    return { requests: this.#entries.filter(({ id }) => id > after).reverse(), total: this.#total };
  }

  #enter(
    request: Request,
    response: Response,
    begun: Pick<JournalEntry, 'at' | 'path' | 'durationMs'>,
  ): void {
    const notes = takeNotes(response);
    const raw = rawBody(request.body);
    const { caller, activity = null, refused, answerBytes = 0 } = notes;
    logDetail(() => {
      const path = begun.path.slice('/public/v1/'.length);
      // A path that there is not may be anything, a secret too.
      const what = this.#service.operations.byPath.has(path) ? path : 'a path that is no operation';
      const sizes = `${String(raw.length)} bytes in, ${String(answerBytes)} out`;
      const refusal = refused === undefined ? '' : ` ${refused.code}`;
      return `request ${what}: ${String(response.statusCode)}${refusal} in ${begun.durationMs.toFixed(0)} ms, ${sizes}`;
    });
    this.#entries.push({
      id: ++this.#total,
      ...begun,
      method: request.method,
      path: begun.path.slice(0, longestPath),
      client: request.headers['user-agent']?.slice(0, longestClient) ?? null,
      status: response.writableFinished ? response.statusCode : 0,
      requestBytes: raw.length,
      answerBytes,
      caller: caller === undefined ? null : callerOf(caller),
      activity,
      error: refused
        ? {
            code: refused.turnkeyErrorCode,
            message: upTo(refused.message, longestMessage),
            byPolicies: refused.details.some((detail) =>
              detail['@type'].endsWith('PolicyEnginePermissionError'),
            ),
          }
        : null,
      steps:
        refused && isUnproven(refused.code, refused.turnkeyErrorCode)
          ? this.#explain(begun.path, request, raw)
          : [],
    });
    if (this.#entries.length > kept) this.#entries.shift();
    if (performance.now() - this.#lookedAt < lookingMs) this.#emit();
  }

  #emit(): void {
    if (this.#telling) return;
    this.#telling = true;
    setTimeout(
      owned(() => {
        this.#telling = false;
        this.#onNew();
      }, this.#service.onFault),
      eventPauseMs,
    ).unref();
  }

  #explain(path: string, { headers }: Request, raw: Uint8Array): readonly ProofStep[] {
    const second = Math.floor(performance.now() / 1000);
    if (this.#explained.second !== second) this.#explained = { second, count: 0 };
    if (raw.length > mostSmallBytes || ++this.#explained.count > explainedPerSecond) return [];
    const { units, clock, rpId, onFault } = this.#service;
    try {
      // Also of a file that does not hold, and of a locked vault: nothing is decided by it.
      const steps = units.readUnverified((tx) => explainStamp(tx, { raw, headers, rpId, clock }));
      return path.startsWith('/public/v1/submit/') ? [...steps, this.#explainTime(raw)] : steps;
    } catch (error) {
      onFault(error);
      return [];
    }
  }

  #explainTime(raw: Uint8Array): ProofStep {
    const { clock } = this.#service;
    const body = timed.safeParse(jsonOf(raw)).data;
    const step = (outcome: ProofStep['outcome'], text: string, advice: string | null): ProofStep => ({
      check: 'time',
      outcome,
      text,
      advice,
    });
    if (body === undefined) {
      const advice =
        'Give the time of signing in timestampMs: milliseconds since the epoch, as a string of digits.';
      return step('failed', 'The body tells none.', advice);
    }
    const seconds = Math.round((clock.wall() - Number(body.timestampMs)) / 1000);
    const text = `It was signed ${seconds < 0 ? `${String(-seconds)} s ahead of this clock` : `${String(seconds)} s ago`}.`;
    return isLive(body.timestampMs, clock)
      ? step('passed', text, null)
      : step(
          'failed',
          text,
          'A request counts for an hour, and at most 5 minutes ahead. Sign each one anew, with the time of now in milliseconds.',
        );
  }
}

const callerOf = ({ organizationId, userId, credentialId }: Caller): JournalCaller => ({
  organizationId,
  userId,
  ...(credentialId !== undefined && { credentialId }),
});

const timed = z.looseObject({ timestampMs: z.string().regex(/^[0-9]{1,15}$/) });

function jsonOf(raw: Uint8Array): unknown {
  try {
    return parseJson(raw);
  } catch {
    return undefined;
  }
}

/** True for a refusal that concerns caller or time: then the proof is explained. */
const isUnproven = (code: string, turnkeyErrorCode: string): boolean =>
  code === 'UNAUTHENTICATED' || ['INVALID_TIME', 'INVALID_ORGANIZATION_ID'].includes(turnkeyErrorCode);
