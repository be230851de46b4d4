/**
 * Large bodies are read a few at a time. Each is megabytes in memory until it is answered, and some milliseconds of copying in
 * which nothing else is served: senders beyond that wait with theirs, unread.
 */
import type { Request, RequestHandler } from 'express';
import { owned } from '../lib/faults.ts';
import { mostSmallBytes } from '../lib/concurrency/turns.ts';

const mostAtOnce = 32;

/** A sender that takes longer, in milliseconds, is cut off: it keeps the place of another. */
const longestMs = 10_000;

/** @param most How many are read at once. */
export function largeBodies(most = mostAtOnce, patienceMs = longestMs): RequestHandler {
  let reading = 0;
  const waiting = new Set<() => void>();

  const leave = (): void => {
    reading -= 1;
    const [next] = waiting;
    if (next === undefined) return;
    waiting.delete(next);
    next();
  };

  return (request, response, next) => {
    if (isSmall(request)) {
      next();
      return;
    }
    const enter = (): void => {
      reading += 1;
      const timer = setTimeout(
        owned(() => {
          request.destroy();
        }),
        patienceMs,
      ).unref();
      let isOver = false;
      const end = owned(() => {
        if (isOver) return;
        isOver = true;
        clearTimeout(timer);
        leave();
      });
      request.once('end', end).once('close', end);
      next();
    };
    if (reading < most) {
      enter();
      return;
    }
    waiting.add(enter);
    // A request stops waiting when its client disconnects.
    response.once(
      'close',
      owned(() => waiting.delete(enter)),
    );
  };
}

/** A request of any method has a body where its head says so. One without a length in the head may be of any. */
const isSmall = ({ headers }: Request): boolean =>
  headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= mostSmallBytes;
