/**
 * Who may speak through `/window/`: a browser that was let in with a one-time code, and the same user's `latchkey`
 * command, which reads this run's nonce from `endpoint.json`.
 *
 * A browser sends a cookie to every port of a host, so the cookie alone proves nothing: a second secret, which the
 * page keeps for its own origin, must come with it.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const codeLifetimeMs = 10 * 60_000;
const idleLimitMs = 12 * 60 * 60_000;
const mostSessions = 32;

interface Session {
  readonly cookie: Buffer;
  readonly token: Buffer;
  lastUsed: number;
}

export class WindowSessions {
  readonly #nonce: Buffer;
  readonly #codes = new Map<string, number>();
  #sessions: Session[] = [];

  /** @param nonce This run's secret for the command line. */
  constructor(nonce: string) {
    this.#nonce = digest(nonce);
  }

  /** @returns a code that opens one session, within ten minutes. */
  newCode(): string {
    for (const [key, expires] of this.#codes) if (expires < Date.now()) this.#codes.delete(key);
    const code = randomBytes(16).toString('base64url');
    this.#codes.set(digest(code).toString('hex'), Date.now() + codeLifetimeMs);
    return code;
  }

  /** Spends a code. @returns the session's two secrets, or undefined where the code is unknown, spent or old. */
  open(code: string): { readonly cookie: string; readonly token: string } | undefined {
    const key = digest(code).toString('hex');
    const expires = this.#codes.get(key);
    this.#codes.delete(key);
    if (expires === undefined || expires < Date.now()) return undefined;
    const cookie = randomBytes(32).toString('base64url');
    const token = randomBytes(32).toString('base64url');
    const session = { cookie: digest(cookie), token: digest(token), lastUsed: Date.now() };
    this.#sessions = [session, ...this.#sessions].slice(0, mostSessions);
    return { cookie, token };
  }

  /** What tells apart the browsers that are let in, by their cookies alone: undefined for one that is not. */
  browserOf(headers: IncomingHttpHeaders, cookieName: string): Buffer | undefined {
    const cookie = digest(readCookie(headers.cookie ?? '', cookieName) ?? '');
    const now = Date.now();
    return this.#sessions.find(
      (candidate) => timingSafeEqual(candidate.cookie, cookie) && now - candidate.lastUsed <= idleLimitMs,
    )?.cookie;
  }

  /** Whether a request comes from a browser session, from the command line, or from neither. */
  identify(headers: IncomingHttpHeaders, cookieName: string): 'browser' | 'command' | undefined {
    const bearer = /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1];
    if (bearer !== undefined) return timingSafeEqual(digest(bearer), this.#nonce) ? 'command' : undefined;
    const token = headers['x-latchkey-session'];
    const cookie = readCookie(headers.cookie ?? '', cookieName);
    if (typeof token !== 'string' || cookie === undefined) return undefined;
    const now = Date.now();
    const session = this.#sessions.find(
      (candidate) =>
        timingSafeEqual(candidate.token, digest(token)) && timingSafeEqual(candidate.cookie, digest(cookie)),
    );
    if (session === undefined || now - session.lastUsed > idleLimitMs) return undefined;
    session.lastUsed = now;
    return 'browser';
  }
}

const digest = (text: string): Buffer => hash('sha256', text, 'buffer');

function readCookie(header: string, name: string): string | undefined {
  for (const part of header.split(';')) {
    const [key, value] = part.trim().split('=', 2);
    if (key === name) return value;
  }
  return undefined;
}
