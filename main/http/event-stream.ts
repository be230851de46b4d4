/**
 * Activity events as a stream (server-sent events, WHATWG HTML 9.2), for scripts that run no server: one stamped request,
 * answered by each revision of an activity as it is committed. Its id is its place in the log, from which a later
 * request goes on.
 */
import type { Response } from 'express';
import { z } from 'zod';
import { eventsAfter, newestEvent } from '../activities/events.ts';
import { parse } from '../activities/parse.ts';
import { authenticate } from '../auth/authenticate.ts';
import { LatchkeyError } from '../lib/errors.ts';
import { parseJson, type ApiRequest, type Service } from './handle.ts';

const keepAliveMs = 20_000;
/** How many revisions are read at once, and among how many of the whole log: others wait for that. */
const pageSize = 100;
const pageRows = 2000;
const mostStreams = 100;

/** A place in the log, in digits. */
const eventId = z.string().regex(/^[0-9]{1,15}$/, 'Expected the id of an event, in digits');
const streamBody = z.looseObject({ organizationId: z.uuid().toLowerCase(), lastEventId: eventId.optional() });

export class EventStreams {
  readonly #service: Service;
  #open = 0;

  constructor(service: Service) {
    this.#service = service;
  }

  /** @throws LatchkeyError before anything is answered. */
  async answer(request: Omit<ApiRequest, 'path'>, response: Response): Promise<void> {
    const { units, keys, clock, rpId, watchLog, onFault } = this.#service;
    // A stream outlasts a session that may only read: it takes a stamp.
    const proof = authenticate(request.raw, request.headers, rpId, 'activity');
    const { organizationId, lastEventId } = parse(streamBody, parseJson(request.raw));
    const claim = proof({ organizationId, below: false, recovering: false }, clock);
    const after = request.headers['last-event-id'] ?? lastEventId;
    const start = parse(eventId.optional(), after, 'lastEventId');
    if (claim.spend && keys.unlocked) await units.write(claim.spend);
    let last = units.read((tx) => {
      claim.identify(tx);
      return start === undefined ? newestEvent(tx) : Number(start);
    });
    // Whoever left while this was awaited tells so no more.
    if (response.closed) return;
    if (this.#open >= mostStreams) {
      throw new LatchkeyError(
        'RESOURCE_EXHAUSTED',
        `there are ${String(mostStreams)} streams already: close one`,
      );
    }
    this.#open++;
    response.writeHead(200, {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
    });
    response.write(': connected\n\n');
    let draining = false;
    let next: NodeJS.Immediate | undefined;
    const send = (): void => {
      if (draining || next !== undefined || response.writableEnded) return;
      try {
        const { events, looked, more } = units.read((tx) => {
          // A key that is gone, or has expired, reads no further.
          claim.identify(tx);
          const page = { after: last, limit: pageSize, rows: pageRows };
          return eventsAfter(tx, organizationId, page, this.#service.operations);
        });
        last = looked;
        for (const { id, activity } of events) {
          draining = !response.write(
            `id: ${String(id)}\nevent: activity\ndata: ${JSON.stringify(activity)}\n\n`,
          );
        }
        if (!more || draining) return;
        next = setImmediate(() => {
          next = undefined;
          send();
        });
      } catch (error) {
        if (!(error instanceof LatchkeyError)) onFault(error);
        response.end();
      }
    };
    const stop = watchLog(send);
    const keepAlive = setInterval(() => response.write(': still here\n\n'), keepAliveMs);
    response.on('drain', () => {
      draining = false;
      send();
    });
    response.on('close', () => {
      this.#open--;
      clearImmediate(next);
      clearInterval(keepAlive);
      stop();
    });
    send();
  }
}
