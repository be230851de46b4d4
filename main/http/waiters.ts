/** Requests that wait until their activity is decided (`Prefer: wait=SECONDS`, RFC 7240), so that a caller need not ask again. */
import type { ServerResponse } from 'node:http';
import { owned, type OnFault } from '../lib/faults.ts';
import { mostSmallBytes } from '../lib/concurrency/turns.ts';
import { Shares, type ShareHolder } from './shares.ts';

/** In seconds: a longer wait is cut to this one. */
export const longestWait = 600;

/** In weights: a request counts one, and one more for each 64 KiB of its body, which stays in memory meanwhile. */
export const mostWaiting = { ofAll: 400, ofSubOrganizations: 300, ofOrganization: 200, ofUser: 100 } as const;

/** How long a caller wants to wait. */
export interface Wait {
  /** From 1 to `longestWait`. */
  readonly seconds: number;
  /** Aborted when the caller has gone. */
  readonly gone: AbortSignal;
}

/** @returns what is aborted when the caller of a response has gone, or has its answer. */
export function whenGone(response: ServerResponse, onFault: OnFault): AbortSignal {
  const gone = new AbortController();
  response.once(
    'close',
    owned(() => {
      gone.abort();
    }, onFault),
  );
  return gone.signal;
}

/**
 * Reads how long a request may wait.
 * @param header `Prefer` (RFC 7240, section 2). Of a preference that is named twice the first counts. An unreadable
 *   one is ignored.
 * @returns seconds, at most `longestWait`; undefined where there is no such preference, or it is 0.
 */
export function readWait(header: string | undefined): number | undefined {
  for (const preference of (header ?? '').split(',')) {
    const [name = '', value = ''] = (preference.split(';', 1)[0] ?? '').split('=', 2);
    if (name.trim().toLowerCase() !== 'wait') continue;
    const digits = /^("?)([0-9]{1,9})\1$/.exec(value.trim())?.[2] ?? '0';
    const seconds = Math.min(Number(digits), longestWait);
    return seconds > 0 ? seconds : undefined;
  }
  return undefined;
}

interface Waiter {
  readonly organizationId: string;
  /** By `performance.now()`. */
  readonly until: number;
  readonly isRefused: () => boolean;
  readonly end: () => void;
}

export class Waiters {
  readonly #byActivity = new Map<string, Set<Waiter>>();
  readonly #shares = new Shares(mostWaiting);
  readonly #isFrozen: () => boolean;
  readonly #onFault: OnFault;
  #timer: { readonly at: number; readonly stop: () => void } | undefined;

  /** @param isFrozen Whether the vault is: then nothing is decided before its owner thaws it, and no request waits. */
  constructor(isFrozen: () => boolean, onFault: OnFault) {
    this.#isFrozen = isFrozen;
    this.#onFault = onFault;
  }

  /** How many requests wait. */
  get size(): number {
    return [...this.#byActivity.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /**
   * Waits until an activity is decided, the time is over, the caller has gone, or nothing waits any longer. The caller looks
   * which of them it was.
   * @param bytes Of the request's body.
   * @param isRefused Asked after each change in the caller's organization: true once the caller would be answered with nothing.
   * @returns undefined where the request does not wait: the caller's share is full, or the vault is frozen.
   */
  wait(
    activityId: string,
    holder: ShareHolder,
    { seconds, gone }: Wait,
    bytes: number,
    isRefused: () => boolean = () => false,
  ): Promise<void> | undefined {
    if (this.#isFrozen()) return undefined;
    const release = this.#shares.open(holder, 1 + Math.floor(bytes / mostSmallBytes));
    if (typeof release !== 'function') return undefined;
    return new Promise((resolve) => {
      const waiters = this.#byActivity.get(activityId) ?? new Set();
      this.#byActivity.set(activityId, waiters);
      const end = (): void => {
        gone.removeEventListener('abort', left);
        release();
        if (waiters.delete(waiter) && waiters.size === 0) this.#byActivity.delete(activityId);
        resolve();
      };
      const left = owned(end, this.#onFault);
      const { organizationId } = holder;
      const until = performance.now() + seconds * 1000;
      const waiter: Waiter = { organizationId, until, isRefused, end };
      waiters.add(waiter);
      gone.addEventListener('abort', left);
      if (gone.aborted) end();
      else this.#endAt(waiter.until);
    });
  }

  /** An activity is no longer as it was: the requests that wait for it look again. */
  decided(activityId: string): void {
    for (const { end } of [...(this.#byActivity.get(activityId) ?? [])]) end();
  }

  /** Users or keys of an organization may have gone: the requests that wait in the name of one end. */
  changed(organizationId: string): void {
    for (const waiter of this.#all()) {
      if (waiter.organizationId === organizationId && waiter.isRefused()) waiter.end();
    }
  }

  /** Answers all that waits: the vault is frozen, or the service ends. */
  endAll(): void {
    for (const { end } of this.#all()) end();
  }

  #all(): readonly Waiter[] {
    return [...this.#byActivity.values()].flatMap((waiters) => [...waiters]);
  }

  /** One timer serves all: it stands at the earliest end. */
  #endAt(at: number): void {
    if (this.#timer !== undefined && this.#timer.at <= at) return;
    this.#timer?.stop();
    const timer = setTimeout(
      owned(() => {
        this.#timer = undefined;
        this.#endThoseOver();
      }, this.#onFault),
      Math.max(1, Math.ceil(at - performance.now())),
    ).unref();
    this.#timer = {
      at,
      stop: () => {
        clearTimeout(timer);
      },
    };
  }

  #endThoseOver(): void {
    const now = performance.now();
    let next = Infinity;
    for (const { until, end } of this.#all()) {
      if (until <= now) end();
      else next = Math.min(next, until);
    }
    if (next !== Infinity) this.#endAt(next);
  }
}
