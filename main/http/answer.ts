/** Writes JSON answers: the content type is bare, since some SDKs compare it to the letter. */
import type { Response } from 'express';

/** @returns the size of the body, in bytes. */
export function sendJson(
  response: Response,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): number {
  const bytes = Buffer.from(JSON.stringify(body));
  response
    .writeHead(status, {
      'Content-Type': 'application/json',
      'Content-Length': bytes.length,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      ...headers,
    })
    .end(bytes);
  return bytes.length;
}

/** The raw body of a request; empty where none was sent. */
export const rawBody = (body: unknown): Uint8Array => (Buffer.isBuffer(body) ? body : new Uint8Array(0));
