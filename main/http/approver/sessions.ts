/** Sessions of the approver's window: a user signs in with a passkey, and may ask for little. */
import { hash, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { WindowSessions } from '../window/sessions.ts';

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

const challengeLifetimeMs = 2 * 60_000;
const mostChallenges = 256;
/** Activities, payloads, receivers and policies that a session remembers, each. */
const mostSeen = 10_000;

export class ApproverSessions {
  readonly #secrets = new WindowSessions();
  /** By the digest of the cookie, in hex. */
  readonly #sessions = new Map<string, ApproverSession>();
  /** By the digest of the challenge, in hex, with its end in milliseconds. */
  readonly #challenges = new Map<string, number>();

  /** @returns a text that signs one user in, within two minutes. */
  newChallenge(): string {
    const now = Date.now();
    for (const [key, end] of this.#challenges) if (end < now) this.#challenges.delete(key);
    const [oldest] = this.#challenges.keys();
    if (oldest !== undefined && this.#challenges.size >= mostChallenges) this.#challenges.delete(oldest);
    const challenge = randomBytes(24).toString('base64url');
    this.#challenges.set(digest(challenge), now + challengeLifetimeMs);
    return challenge;
  }

  /** Spends a challenge. @returns false for one that is unknown, spent or old. */
  spend(challenge: string): boolean {
    const key = digest(challenge);
    const left = (this.#challenges.get(key) ?? 0) - Date.now();
    this.#challenges.delete(key);
    return left >= 0 && left <= challengeLifetimeMs;
  }

  /** @returns the two secrets of a new session: one for the cookie, one for the page. */
  open(session: Pick<ApproverSession, 'organizationId' | 'userId' | 'credentialId' | 'token'>): {
    readonly cookie: string;
    readonly token: string;
  } {
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
    if (key === undefined) return;
    this.#secrets.end(key);
    this.#sessions.delete(key);
  }
}

/** Remembers what a window has seen, up to a bound. */
export function remember(seen: Set<string>, text: string): void {
  const [oldest] = seen;
  if (oldest !== undefined && seen.size >= mostSeen) seen.delete(oldest);
  seen.add(text);
}

export const digest = (text: string): string => hash('sha256', text, 'hex');
