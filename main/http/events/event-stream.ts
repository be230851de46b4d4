/**
 * Activity events as a stream (server-sent events, WHATWG HTML 9.2), for scripts that run no server: one stamped request,
 * answered by each revision of an activity as it is committed. Its id is its place in the log, as the organization is
 * shown it, from which a later request goes on.
 */
import type { Response } from 'express';
import { z } from 'zod';
import { eventsAfter, isOfSubOrganization, newestEvent, rowOfEvent } from '../../activities/answer/events.ts';
import { parse } from '../../lib/parse.ts';
import type { Claim } from '../../auth/proof.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { every } from '../../lib/concurrency/every.ts';
import { owned } from '../../lib/faults.ts';
import { prove, type ApiRequest, type Proven, type Service } from '../handle.ts';
import { parseQuestion } from '../json-body.ts';
import { Shares, type ShareHolder } from '../shares.ts';

/**
 * Revisions that are read in a turn, and rows of the log that are searched for them: other requests wait
 * meanwhile.
 */
const pageSize = 20;
const pageRows = 500;
/** The name of a stream's turns and of its request. */
const path = 'stream/activities';

/** How many streams may be open at once. */
export const mostStreams = { ofAll: 100, ofSubOrganizations: 80, ofOrganization: 20, ofUser: 5 } as const;

/** A place in the log, in digits. */
const eventId = z.string().regex(/^[0-9]{1,15}$/, 'Expected the id of an event, in digits');
const streamBody = z.looseObject({ organizationId: z.uuid().toLowerCase(), lastEventId: eventId.optional() });

/** A stream whose request was read and whose caller is known. */
interface Begun {
  readonly organizationId: string;
  readonly identify: Claim['identify'];
  readonly last: number;
  readonly holder: ShareHolder;
}

export class EventStreams {
  readonly #service: Service;
  readonly #shares = new Shares(mostStreams);

  readonly #keepAliveMs: number;

  /** @param keepAliveMs From one sign of life to the next, in milliseconds. */
  constructor(service: Service, keepAliveMs = 20_000) {
    this.#service = service;
    this.#keepAliveMs = keepAliveMs;
  }

  /** @throws KeyhearthError before anything is answered. */
  async answer(request: Omit<ApiRequest, 'path'>, response: Response): Promise<void> {
    const { turns } = this.#service;
    // A stream outlasts a session that may only read: it takes a stamp.
    const proven = await prove(this.#service, { ...request, path }, 'activity');
    const begun = await turns.take(proven.line, path, () => this.#begin(request, proven), request.raw.length);
    // A client that left meanwhile does not say so again.
    if (response.closed) return;
    const release = this.#shares.open(begun.holder);
    if (typeof release !== 'function') {
      throw new KeyhearthError(
        'RESOURCE_EXHAUSTED',
        `too many streams: ${release.whose} ${String(release.most)} open, the most there may be; close one first`,
      );
    }
    response.writeHead(200, {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
    });
    response.write(': connected\n\n');
    this.#send(response, proven, begun, release);
  }

  async #begin({ raw, headers }: Omit<ApiRequest, 'path'>, { proof, line }: Proven): Promise<Begun> {
    const { units, keys, clock, turns } = this.#service;
    const { organizationId, lastEventId } = parse(streamBody, parseQuestion(raw));
    const { identify, spend } = proof.against({ organizationId, below: false, recovering: false }, clock);
    const after = headers['last-event-id'] ?? lastEventId;
    const start = parse(eventId.optional(), after, 'lastEventId');
    const meter = (ms: number): void => {
      turns.charge(line, path, ms);
    };
    if (spend && keys.unlocked) await units.write(spend, { meter });
    return units.read((tx) => {
      const caller = identify(tx);
      return {
        organizationId,
        identify,
        last: start === undefined ? newestEvent(tx) : rowOfEvent(tx, organizationId, Number(start)),
        holder: { ...caller, isBelow: isOfSubOrganization(tx, caller) },
      };
    });
  }

  /** Sends what the log has and what it comes to have, a page in each turn of the caller's line. */
  #send(response: Response, { line }: Proven, begun: Begun, release: () => void): void {
    const { units, watchLog, onFault, turns, operations } = this.#service;
    const { organizationId, identify } = begun;
    let { last } = begun;
    let isDraining = false;
    let isWaiting = false;
    const page = (): object => {
      if (response.writableEnded || response.closed) return {};
      const { events, looked, more } = units.read((tx) => {
        // A key that is gone, or has expired, reads no further.
        identify(tx);
        return eventsAfter(tx, organizationId, { after: last, limit: pageSize, rows: pageRows }, operations);
      });
      last = looked;
      for (const { id, activity } of events) {
        isDraining = !response.write(
          `id: ${String(id)}\nevent: activity\ndata: ${JSON.stringify(activity)}\n\n`,
        );
      }
      isWaiting = false;
      if (more) look();
      return {};
    };
    const look = (): void => {
      if (isDraining || isWaiting) return;
      isWaiting = true;
      turns.take(line, path, page).catch((error: unknown) => {
        if (!(error instanceof KeyhearthError)) onFault(error);
        end();
      });
    };
    const stop = watchLog(look);
    const stopKeeping = every(this.#keepAliveMs, () => response.write(': still here\n\n'), onFault);
    const drained = owned(() => {
      isDraining = false;
      look();
    }, onFault);
    /** A client that reads nothing keeps the connection open after the end, and a write then is an error of its own. */
    const end = (): void => {
      stopKeeping();
      stop();
      response.end();
    };
    const closed = owned(() => {
      release();
      end();
    }, onFault);
    response.on('drain', drained).on('close', closed).on('error', owned(onFault));
    look();
  }
}
