/**
 * Files between a person's browser and the service: a backup that they choose, which comes in parts, and one that they take
 * away, by a link of its own, since what a browser saves by itself sends no header of ours.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import { z } from 'zod';
import type { BackupPart } from '../../../preload/contract.ts';
import { parse } from '../../lib/parse.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { rawBody } from '../answer.ts';

const count = z
  .string()
  .regex(/^\d{1,15}$/, 'Expected a number')
  .transform(Number);
const partQuery = z.object({
  file: z.string().min(1).max(100).optional(),
  name: z.string().trim().min(1).max(255),
  size: count,
  at: count,
});

/** @throws KeyhearthError INVALID_ARGUMENT for a query that does not say what the body is. */
export function readPart(request: Request): BackupPart {
  const { searchParams } = new URL(request.originalUrl, 'http://localhost');
  return { ...parse(partQuery, Object.fromEntries(searchParams), 'part'), bytes: rawBody(request.body) };
}

/** From its making to its use, in milliseconds. */
const ticketLifetime = 60_000;
const mostTickets = 32;

export interface SavedFile {
  /** A path on this machine. */
  readonly file: string;
  /** The file name for the download. */
  readonly name: string;
}

interface Ticket extends SavedFile {
  /** Whom it was given to: a browser that sends the same cookie. */
  readonly session: Buffer;
  readonly expires: number;
}

/** Links that hand out one file each, once, within a minute, to the browser that requested it. */
export class SaveTickets {
  readonly #tickets = new Map<string, Ticket>();

  /** @returns what the link ends in. */
  issue(saved: SavedFile, session: Buffer): string {
    for (const [key, { expires }] of this.#tickets) if (expires < Date.now()) this.#tickets.delete(key);
    const [oldest] = this.#tickets.keys();
    if (oldest !== undefined && this.#tickets.size >= mostTickets) this.#tickets.delete(oldest);
    const ticket = randomBytes(32).toString('base64url');
    this.#tickets.set(keyOf(ticket), { ...saved, session, expires: Date.now() + ticketLifetime });
    return ticket;
  }

  /** Spends a ticket, also where another browser shows it. @throws KeyhearthError NOT_FOUND */
  take(ticket: string, session: Buffer | undefined): SavedFile {
    const key = keyOf(ticket);
    const found = this.#tickets.get(key);
    this.#tickets.delete(key);
    if (
      found === undefined ||
      session === undefined ||
      found.expires < Date.now() ||
      // A clock that was set back makes no link last longer.
      found.expires > Date.now() + ticketLifetime ||
      !timingSafeEqual(found.session, session)
    ) {
      throw new KeyhearthError('NOT_FOUND', 'this link was used or is too old: save the file again');
    }
    return found;
  }
}

const keyOf = (ticket: string): string => hash('sha256', ticket);

const goneAway: ReadonlySet<string> = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE']);

/** Streams a file to be saved. A client that disconnects ends the stream. */
export async function sendFile(response: Response, { file, name }: SavedFile): Promise<void> {
  await using handle = await open(file, 'r');
  const { size } = await handle.stat();
  response.attachment(name).writeHead(200, {
    'Content-Type': 'application/octet-stream',
    'Content-Length': size,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Cross-Origin-Resource-Policy': 'same-origin',
  });
  const content = handle.createReadStream({ autoClose: false, start: 0, end: size - 1 });
  await pipeline(content, response).catch((error: unknown) => {
    // A client that disconnected gets nothing.
    if (!goneAway.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
  });
}
