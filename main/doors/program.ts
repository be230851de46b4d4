/** A paired program: its requests enter the API like any other, stamped with the key that the vault keeps for it. */
import { hash } from 'node:crypto';
import { stampWith } from '../auth/make-stamp.ts';
import type { Origin } from '../chains/origin.ts';
import { toHex } from '../crypto/encodings.ts';
import { compressP256 } from '../crypto/keys/p256.ts';
import { handle, type ApiAnswer, type Service } from '../http/handle.ts';
import { longestWait, type Wait, type Waiters } from '../http/waiters.ts';
import type { Keyring } from '../keys/keyring.ts';
import { latest } from '../lib/clock.ts';
import { errorCodes, KeyhearthError, type ErrorCodeName, type ErrorDetail } from '../lib/errors.ts';
import type { DoorName } from '../lib/policies/doors.ts';
import { pagesOf } from '../lib/web/pages.ts';
import { pathOfType } from '../lib/text/activity-types.ts';
import { storedObject } from '../lib/text/stored-json.ts';
import { Lru } from '../lib/lru.ts';
import { findApiKeyHolder } from '../storage/tables/api-keys.ts';
import type {
  ActivityParameters,
  ActivityResult,
  ActivityType,
  Answer,
  QueryParameters,
  QueryPath,
} from '../operations/api.ts';
import { getServerKey, serverKeyContext, type DoorKeyName } from '../storage/tables/server-keys.ts';
import { requireVault } from '../storage/tables/vault.ts';
import { explainedRefusal } from './refusals.ts';

export interface ProgramParts {
  readonly service: Service;
  readonly keyring: Keyring;
  /** The requests that wait for the vault to be unlocked, by the name of the program's key. */
  readonly unlocking: Waiters;
  /** Called when a request begins or ends to wait for that. */
  readonly onWaiting: () => void;
  /** Aborted when the program is let in no longer. */
  readonly closing: AbortSignal;
}

/** People voted against the request. */
export class RejectedError extends KeyhearthError {
  constructor() {
    super('PERMISSION_DENIED', 'the request was rejected');
  }
}

/** How long a program may be waited for. */
export type Gone = Wait['gone'];

export interface SubmitOptions {
  /** The time of a request that a door keeps itself: the same request again is that of this time. */
  readonly at?: number;
  /** False where the caller does not wait for votes. */
  readonly wait?: boolean;
}

/** Requests whose answer a caller may have missed. */
const mostRemembered = 1000;
/** As many activities as one query answers. */
const pageSize = 100;

export class Program {
  readonly door: DoorName;
  readonly name: string;
  readonly #key: DoorKeyName;
  readonly #parts: ProgramParts;
  /**
   * When each content was sent: a repeat with the same time is the same request, and joins the activity that the first one made. The
   * bodies themselves may be a megabyte each.
   */
  readonly #sent = new Lru<string, number>(mostRemembered);
  /** Settled once the requests of an earlier process are among them. */
  #recalled: Promise<void> | undefined;
  #lastTimestamp = 0;
  #waiting = 0;

  constructor(parts: ProgramParts, door: DoorName, name: string) {
    this.#parts = parts;
    this.door = door;
    this.name = name;
    this.#key = keyNameOf(door, name);
  }

  /** A request that signs says by it which way it came. */
  get origin(): Origin {
    return { door: this.door, program: this.name };
  }

  /** True once the program is let in no longer. */
  get isEnded(): boolean {
    return this.#parts.closing.aborted;
  }

  /** @throws KeyhearthError PERMISSION_DENIED */
  checkLetIn(): void {
    if (!this.isEnded) return;
    throw new KeyhearthError('PERMISSION_DENIED', `the program ${this.name} is let in no longer`);
  }

  /** How many requests wait for the vault to be unlocked. */
  get waiting(): number {
    return this.#waiting;
  }

  /** @throws KeyhearthError as the API refuses; PERMISSION_DENIED where the program has no user. */
  async query<Path extends QueryPath>(
    path: Path,
    parameters: QueryParameters<Path>,
    gone: Gone,
  ): Promise<Answer<Path>> {
    await this.ready(gone);
    return this.#ask(path, parameters);
  }

  async #ask<Path extends QueryPath>(path: Path, parameters: QueryParameters<Path>): Promise<Answer<Path>> {
    const { organizationId } = this.#holder();
    const raw = Buffer.from(JSON.stringify({ organizationId, ...(parameters as object) }));
    return bodyOf(await this.#send(`query/${path}`, raw)) as Answer<Path>;
  }

  /**
   * Submits an activity and waits until it is decided. Where its caller leaves, the activity goes on waiting for its votes.
   * @returns the activity's result; undefined where no one has decided yet.
   * @throws KeyhearthError as the API refuses, with the policies that do; or rejected.
   */
  async submit<Type extends ActivityType>(
    type: Type,
    parameters: ActivityParameters<Type>,
    gone: Gone,
    { at, wait = true }: SubmitOptions = {},
  ): Promise<ActivityResult<Type> | undefined> {
    await this.ready(gone);
    this.#recalled ??= this.#recall().catch((error: unknown) => {
      this.#recalled = undefined;
      throw error;
    });
    await this.#recalled;
    const { organizationId } = this.#holder();
    const asked = { organizationId, type, parameters: parameters as object };
    const content = contentOf(asked);
    const sent = at === undefined ? this.#sent.get(content) : undefined;
    const time = at ?? sent ?? this.nextTimestamp();
    if (at === undefined) this.#sent.set(content, time);
    const answer = await this.#send(
      `submit/${pathOfType(type)}`,
      Buffer.from(bodyAt(asked, time)),
      wait ? { seconds: longestWait, gone } : undefined,
    );
    if (sent !== undefined && answer.body['turnkeyErrorCode'] === 'INVALID_TIME') {
      // It was refused then, and came to nothing: the same is asked for again.
      if (this.#sent.get(content) === sent) this.#sent.delete(content);
      return this.submit(type, parameters, gone, { wait });
    }
    const { activity } = (await this.#allowed(answer)) as {
      readonly activity: { readonly status: string; readonly result: Record<string, ActivityResult<Type>> };
    };
    if (activity.status === 'ACTIVITY_STATUS_COMPLETED') return Object.values(activity.result)[0];
    if (activity.status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED') return undefined;
    // The caller has the answer, so a repeat is a new request.
    if (!gone.aborted) this.#sent.delete(content);
    throw new RejectedError();
  }

  /** As `submit`, for callers that get nothing later. @throws KeyhearthError UNAVAILABLE where no one has decided yet. */
  async submitNow<Type extends ActivityType>(
    type: Type,
    parameters: ActivityParameters<Type>,
    gone: Gone,
  ): Promise<ActivityResult<Type>> {
    const result = await this.submit(type, parameters, gone);
    if (result !== undefined) return result;
    throw new KeyhearthError('UNAVAILABLE', 'the request still waits for approval: send it again');
  }

  async #allowed(answer: ApiAnswer): Promise<Record<string, unknown>> {
    try {
      return bodyOf(answer);
    } catch (error) {
      const ownId = (): string => this.#holder().userId;
      throw await explainedRefusal((path, parameters) => this.#ask(path, parameters), ownId, error);
    }
  }

  /**
   * Reads the newest requests of the program from the log: a caller may repeat one that it sent before the service was ended,
   * and a vote may have come meanwhile.
   */
  async #recall(): Promise<void> {
    const { userId } = this.#holder();
    const ask = async (status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED' | 'ACTIVITY_STATUS_COMPLETED') => {
      const all: Answer<'list_activities'>['activities'][number][] = [];
      const pages = pagesOf((cursor) =>
        this.#ask('list_activities', {
          filterByStatus: [status],
          inParts: true,
          paginationOptions: { limit: String(pageSize), ...cursor },
        }),
      );
      // Those of other users come between.
      for await (const { activities } of pages) {
        all.push(...activities);
        if (all.length >= mostRemembered) break;
      }
      return all;
    };
    // In this order: one that is decided between the two questions is in the second answer.
    const waiting = await ask('ACTIVITY_STATUS_CONSENSUS_NEEDED');
    const completed = await ask('ACTIVITY_STATUS_COMPLETED');
    // The newest counts, and one that waits before one that does not. The first vote is that of the user who asked, with the
    // body of the request.
    for (const { votes } of [...waiting, ...completed].toReversed()) {
      const [own] = votes;
      if (own?.userId !== userId) continue;
      const sent = storedObject(own.message) as (Content & { readonly timestampMs: string }) | undefined;
      if (sent === undefined) continue;
      const time = Number(sent.timestampMs);
      if (bodyAt(sent, time) === own.message) this.#sent.set(contentOf(sent), time);
    }
  }

  /**
   * Waits for the vault to be unlocked. A frozen one refuses at once.
   * @throws KeyhearthError VAULT_FROZEN, VAULT_LOCKED where the wait ended before, or UNAVAILABLE where its caller has gone: nothing
   * was decided.
   */
  async ready(gone: Gone): Promise<void> {
    const { keyring, unlocking, onWaiting } = this.#parts;
    if (keyring.unlocked) return;
    const over = unlocking.wait(
      this.#key,
      { ...this.#holder(), isBelow: false },
      { seconds: longestWait, gone },
      0,
    );
    if (over !== undefined) {
      this.#waiting += 1;
      onWaiting();
      await over.finally(() => {
        this.#waiting -= 1;
        onWaiting();
      });
    }
    if (gone.aborted) throw new KeyhearthError('UNAVAILABLE', `no one waits for ${this.name} any more`);
    keyring.checkUnlocked();
  }

  /** The user who has the program's key. Before the vault is unlocked its rows are not verified: nothing is decided by them. */
  #holder(): { readonly organizationId: string; readonly userId: string } {
    const holder = this.#parts.service.units.readUnverified((tx) => {
      const key = getServerKey(tx, this.#key);
      return key && findApiKeyHolder(tx, compressed(key.publicKey));
    });
    if (holder !== undefined) return holder;
    throw new KeyhearthError('PERMISSION_DENIED', `the program ${this.name} has no user: it was revoked`);
  }

  #send(path: string, raw: Buffer, wait?: Wait): Promise<ApiAnswer> {
    const { service, closing } = this.#parts;
    return handle(service, { path, raw, headers: { 'x-stamp': this.#stamp(raw) }, wait, until: closing });
  }

  #stamp(raw: Uint8Array): string {
    const { service, keyring } = this.#parts;
    // Another program may have the name since, and with it the key that is found here.
    this.checkLetIn();
    const [key, vault] = service.units.read((tx) => [getServerKey(tx, this.#key), requireVault(tx)] as const);
    if (key === undefined)
      throw new KeyhearthError('PERMISSION_DENIED', `the program ${this.name} was removed`);
    const context = serverKeyContext(this.#key, vault.organizationId);
    return stampWith(
      keyring.cached(`server key ${this.#key} ${key.publicKey}`, () => keyring.open(context, key.sealed)),
      raw,
    );
  }

  /** Rises with each request: two different ones in a millisecond are two. It falls with a clock that was ahead. */
  nextTimestamp(): number {
    const now = this.#parts.service.clock.now();
    const next = this.#lastTimestamp + 1;
    this.#lastTimestamp = next > latest(now) ? now : Math.max(next, now);
    return this.#lastTimestamp;
  }
}

interface Content {
  readonly organizationId: string;
  readonly type: string;
  readonly parameters: object;
}

/** The request for a content at a time: the same text again for the same two. */
const bodyAt = ({ organizationId, type, parameters }: Content, time: number): string =>
  JSON.stringify({ type, timestampMs: String(time), organizationId, parameters });

/** Names what is asked for, whenever it is asked. */
const contentOf = ({ organizationId, type, parameters }: Content): string =>
  hash('sha256', JSON.stringify({ organizationId, type, parameters }));

export const keyNameOf = (door: DoorName, name: string): DoorKeyName => `door ${door} ${name}`;

/** @param publicKey Uncompressed, hex. */
export const compressed = (publicKey: string): string =>
  toHex(compressP256(new Uint8Array(Buffer.from(publicKey, 'hex'))));

function bodyOf({ status, body }: ApiAnswer): Record<string, unknown> {
  if (status === 200) return body;
  const { message, turnkeyErrorCode, details } = body as unknown as {
    readonly message: string;
    readonly turnkeyErrorCode: string;
    readonly details: readonly ErrorDetail[];
  };
  throw new KeyhearthError(codeOf(status, turnkeyErrorCode), message, { turnkeyErrorCode, details });
}

/** Some codes share a status: those are their own names for the API's. */
const codeOf = (status: number, named: string): ErrorCodeName =>
  codeNames.find((name) => name === named) ??
  codeNames.find((name) => errorCodes[name].http === status) ??
  'INTERNAL';

const codeNames = Object.keys(errorCodes) as readonly ErrorCodeName[];
