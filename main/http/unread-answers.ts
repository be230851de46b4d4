/**
 * Answers that their clients have not read. Each is in memory until it is, and a client may ask for megabytes and read none of
 * them. Beyond a bound the connections are cut whose answers have waited for longest.
 */
import type { ServerResponse } from 'node:http';
import { owned } from '../lib/faults.ts';
import { mostSmallBytes } from '../lib/concurrency/turns.ts';

/** Bytes of all answers together. No single one is as large. */
const mostUnread = 256 * 1024 * 1024;

/** @returns what counts an answer from its first byte to its last. */
export function boundUnread(most = mostUnread): (response: ServerResponse) => void {
  /** The oldest first. */
  const unread = new Set<ServerResponse>();

  const count = (response: ServerResponse): void => {
    if (response.writableLength <= mostSmallBytes || response.closed) return;
    unread.add(response);
    let total = 0;
    for (const { writableLength } of unread) total += writableLength;
    for (const oldest of unread) {
      if (total <= most) return;
      total -= oldest.writableLength;
      unread.delete(oldest);
      oldest.req.socket.destroy();
    }
  };

  return (response) => {
    response.once(
      'close',
      owned(() => unread.delete(response)),
    );
    // No event tells of an answer that is behind another on its connection.
    for (const name of ['write', 'end'] as const) {
      const method = response[name].bind(response) as (...given: readonly unknown[]) => never;
      response[name] = (...given: readonly unknown[]) => {
        const result = method(...given);
        count(response);
        return result;
      };
    }
  };
}
