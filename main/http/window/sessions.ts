/**
 * Sessions of `/window/`: a browser gets in with a one-time code.
 *
 * A browser sends a cookie to every port of a host, so the cookie alone proves nothing. A second secret,
 * which the page keeps for its own origin, must come with it.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Of a code that a person reads, or copies from a terminal. */
const codeLifetimeMs = 10 * 60_000;
const idleLimitMs = 12 * 60 * 60_000;
export const mostSessions = 32;

interface Session {
  readonly cookie: Buffer;
  readonly token: Buffer;
  lastUsed: number;
}

/** A code that was given out. */
interface Code {
  readonly expires: number;
  /** The code has opened its session. */
  readonly onSpent: () => void;
}

export class WindowSessions {
  readonly #codes = new Map<string, Code>();
  #sessions: Session[] = [];

  /** @returns a code that opens one session, within ten minutes unless it is given less. */
  newCode(lifetimeMs = codeLifetimeMs, onSpent: () => void = () => undefined): string {
    for (const [key, { expires }] of this.#codes) if (expires < Date.now()) this.#codes.delete(key);
    const code = randomBytes(16).toString('base64url');
    this.#codes.set(digest(code).toString('hex'), { expires: Date.now() + lifetimeMs, onSpent });
    return code;
  }

  /** Spends a code. @returns the session's two secrets, or undefined where the code is unknown, spent or old. */
  open(code: string): { readonly cookie: string; readonly token: string } | undefined {
    const key = digest(code).toString('hex');
    const found = this.#codes.get(key);
    this.#codes.delete(key);
    if (found === undefined) return undefined;
    const left = found.expires - Date.now();
    // A clock that was set back makes no code last longer.
    if (left < 0 || left > codeLifetimeMs) return undefined;
    found.onSpent();
    const cookie = randomBytes(32).toString('base64url');
    const token = randomBytes(32).toString('base64url');
    const session = { cookie: digest(cookie), token: digest(token), lastUsed: Date.now() };
    this.#sessions = [session, ...this.#sessions].slice(0, mostSessions);
    return { cookie, token };
  }

  /** Identifies a browser by its cookie alone; undefined for one that was not let in. */
  browserOf(headers: IncomingHttpHeaders, cookieName: string): Buffer | undefined {
    const cookie = digest(readCookie(headers.cookie ?? '', cookieName) ?? '');
    const now = Date.now();
    return this.#sessions.find(
      (candidate) =>
        timingSafeEqual(candidate.cookie, cookie) && Math.abs(now - candidate.lastUsed) <= idleLimitMs,
    )?.cookie;
  }

  /** True while a session stands. @param cookie The digest of its cookie, in hex. */
  has(cookie: string): boolean {
    return this.#sessions.some((session) => session.cookie.toString('hex') === cookie);
  }

  /** Ends a session. @param cookie The digest of its cookie, in hex. */
  end(cookie: string): void {
    this.#sessions = this.#sessions.filter((session) => session.cookie.toString('hex') !== cookie);
  }

  /** True for a request with both secrets of a session. */
  isSession(headers: IncomingHttpHeaders, cookieName: string): boolean {
    const token = headers['x-keyhearth-session'];
    const cookie = readCookie(headers.cookie ?? '', cookieName);
    if (typeof token !== 'string' || cookie === undefined) return false;
    const now = Date.now();
    const session = this.#sessions.find(
      (candidate) =>
        timingSafeEqual(candidate.token, digest(token)) && timingSafeEqual(candidate.cookie, digest(cookie)),
    );
    if (session === undefined || Math.abs(now - session.lastUsed) > idleLimitMs) return false;
    session.lastUsed = now;
    return true;
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
