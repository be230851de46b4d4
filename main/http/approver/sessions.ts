/** Sessions of the approver's window: a user signs in with a passkey, and may ask for little. */
import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { mostSessions, WindowSessions } from '../window/sessions.ts';

/** A signed-in user. */
export interface ApproverSession {
  readonly organizationId: string;
  readonly userId: string;
  /** Of the passkey that signed in, in base64url: the session ends with it. */
  readonly credentialId: string;
  /** The API's read-only session. The token never leaves the service. */
  readonly token: string;
  /** Ids of the activities that the window has seen: it may have those described, and no others. */
  readonly activities: Set<string>;
  /** Digests of the payloads of those activities. */
  readonly payloads: Set<string>;
  /** Receivers in the descriptions of those payloads. */
  readonly receivers: Set<string>;
  /** Policies that decided on activities that the window has seen. */
  readonly policies: Set<string>;
}

type Whose = Pick<ApproverSession, 'organizationId' | 'userId'>;

const challengeLifetimeMs = 2 * 60_000;
/** Bytes of a challenge before its code: random ones, and its end in milliseconds. */
const randomLength = 16;
const endLength = 6;
/** Activities, payloads, receivers and policies that a session remembers, each. */
const mostSeen = 10_000;

export class ApproverSessions {
  readonly #secrets = new WindowSessions();
  /** By the digest of the cookie, in hex. */
  readonly #sessions = new Map<string, ApproverSession>();
  /** Authenticates challenges. Nothing is kept of one that is given out: anyone may request them, and none takes another's place. */
  readonly #key = randomBytes(32);
  /** Challenges that have signed a user in, by their digest in hex, with their ends in milliseconds. */
  readonly #spent = new Map<string, number>();

  /** @returns a text that signs one user in, within two minutes. */
  newChallenge(): string {
    const end = Buffer.alloc(endLength);
    end.writeUIntBE(Date.now() + challengeLifetimeMs, 0, endLength);
    const made = Buffer.concat([randomBytes(randomLength), end]);
    return Buffer.concat([made, this.#codeOf(made)]).toString('base64url');
  }

  /** Answers if a challenge may sign a user in: false for one that is unknown, spent or old. */
  isOpen(challenge: string): boolean {
    return this.#endOf(challenge) !== undefined && !this.#spent.has(digest(challenge));
  }

  /** Spends a challenge whose sign-in is proven. @returns false for one that is unknown, spent or old. */
  spend(challenge: string): boolean {
    const end = this.#endOf(challenge);
    if (end === undefined || !this.isOpen(challenge)) return false;
    const now = Date.now();
    for (const [key, over] of this.#spent) if (over < now) this.#spent.delete(key);
    this.#spent.set(digest(challenge), end);
    return true;
  }

  /**
   * Where there are as many as there may be, one of the organization with the most makes room, and in it of the user with the
   * most: a user who signs in again and again ends no session of another.
   * @returns the two secrets of a new session: one for the cookie, one for the page.
   */
  open(session: Pick<ApproverSession, 'organizationId' | 'userId' | 'credentialId' | 'token'>): {
    readonly cookie: string;
    readonly token: string;
  } {
    if (this.#sessions.size >= mostSessions) this.#makeRoom(session);
    const opened = this.#secrets.open(this.#secrets.newCode());
    if (opened === undefined) throw new Error('a new code opened no session');
    this.#sessions.set(digest(opened.cookie), {
      ...session,
      activities: new Set(),
      payloads: new Set(),
      receivers: new Set(),
      policies: new Set(),
    });
    for (const key of this.#sessions.keys()) {
      if (!this.#secrets.has(key)) this.#sessions.delete(key);
    }
    return opened;
  }

  /** @returns the session of a request with both of its secrets; undefined for any other request. */
  of(headers: IncomingHttpHeaders, cookieName: string): ApproverSession | undefined {
    if (!this.#secrets.isSession(headers, cookieName)) return undefined;
    const key = this.#secrets.browserOf(headers, cookieName)?.toString('hex');
    return key === undefined ? undefined : this.#sessions.get(key);
  }

  /** Ends the session of a request with both of its secrets. */
  end(headers: IncomingHttpHeaders, cookieName: string): void {
    if (!this.#secrets.isSession(headers, cookieName)) return;
    const key = this.#secrets.browserOf(headers, cookieName)?.toString('hex');
    if (key !== undefined) this.#end(key);
  }

  #end(key: string): void {
    this.#secrets.end(key);
    this.#sessions.delete(key);
  }

  /** @param next Whose session comes: it counts as one of those that there are. */
  #makeRoom(next: Whose): void {
    const all: readonly Whose[] = [...this.#sessions.values(), next];
    const like = (whose: Whose, isUsers: boolean): number =>
      all.filter(
        ({ organizationId, userId }) =>
          organizationId === whose.organizationId && (!isUsers || userId === whose.userId),
      ).length;
    // Oldest first, and sorting keeps that among equals.
    const [key] =
      [...this.#sessions].toSorted(
        ([, one], [, other]) => like(other, false) - like(one, false) || like(other, true) - like(one, true),
      )[0] ?? [];
    if (key !== undefined) this.#end(key);
  }

  #codeOf(made: Uint8Array): Buffer {
    return createHmac('sha256', this.#key).update(made).digest();
  }

  /** @returns the end of a challenge that this process gave out and that is not over; undefined for any other text. */
  #endOf(challenge: string): number | undefined {
    const bytes = Buffer.from(challenge, 'base64url');
    const made = bytes.subarray(0, randomLength + endLength);
    const code = bytes.subarray(made.length);
    // One text for each challenge.
    if (bytes.toString('base64url') !== challenge || made.length < randomLength + endLength) return undefined;
    const expected = this.#codeOf(made);
    if (code.length !== expected.length || !timingSafeEqual(code, expected)) return undefined;
    const end = made.readUIntBE(randomLength, endLength);
    const left = end - Date.now();
    return left >= 0 && left <= challengeLifetimeMs ? end : undefined;
  }
}

/** Remembers what a window has seen, up to a bound. */
export function remember(seen: Set<string>, text: string): void {
  const [oldest] = seen;
  if (oldest !== undefined && seen.size >= mostSeen) seen.delete(oldest);
  seen.add(text);
}

export const digest = (text: string): string => hash('sha256', text, 'hex');
