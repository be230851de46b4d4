/** THE request, top to bottom: bytes and headers in, status and body out. It knows nothing of Express. */
import type { IncomingHttpHeaders } from 'node:http';
import { runQuery } from '../activities/request/query.ts';
import type { ActivityOperation, Operation, VoteOperation } from '../activities/define.ts';
import type { Engine, Submitted, SubmitRequest } from '../activities/request/engine.ts';
import { parse } from '../lib/parse.ts';
import { submitVote } from '../activities/request/vote.ts';
import { noteRefusal } from '../activities/answer/refusals.ts';
import { asItIs, envelopeFor } from '../activities/answer/envelope-for.ts';
import { isOfSubOrganization } from '../activities/answer/events.ts';
import { submit } from '../activities/request/submit.ts';
import { organizationId } from '../activities/request/parse-request.ts';
import { authenticate } from '../auth/authenticate.ts';
import { requireHolder, type Claim, type Proof } from '../auth/proof.ts';
import type { Verifications } from '../auth/verifications.ts';
import type { Caller } from '../lib/caller.ts';
import type { Paced } from '../lib/concurrency/paced.ts';
import { shortageOf } from '../lib/concurrency/shortages.ts';
import {
  errorBody,
  errorCodes,
  fromFailure,
  isOfStorage,
  KeyhearthError,
  readFailure,
} from '../lib/errors.ts';
import {
  callersLine,
  mostSmallBytes,
  OverloadError,
  ownersLine,
  unprovenLine,
  type Line,
  type Turns,
} from '../lib/concurrency/turns.ts';
import { z } from 'zod';
import { parseJson, parseQuestion } from './json-body.ts';
import type { Wait, Waiters } from './waiters.ts';

/** The operations that the service serves, and its parts. */
export interface Service extends Engine {
  /** The turns in which requests wait. */
  readonly turns: Turns;
  readonly verifications: Verifications;
  /** The requests that wait for votes. */
  readonly waiters: Waiters;
  /** Calls back after rows were appended to the log and committed. @returns the function that stops it. */
  readonly watchLog: (listener: () => void) => () => void;
  /** Called after an activity is committed. */
  readonly onActivity: (activity: {
    readonly id: string;
    readonly organizationId: string;
    readonly type: string;
    readonly status: string;
  }) => void;
  /** Called with whom a request proves to be from, each time that it is looked up. */
  readonly onCaller: (caller: Caller) => void;
  /** Called with every error that is not the caller's. */
  readonly onFault: (error: unknown) => void;
}

export interface ApiRequest {
  /** The path after `/public/v1/`. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly raw: Uint8Array;
  /** The owner's own window or command sends it: it comes before all others. */
  readonly byOwner?: true;
  /** How long the caller waits for votes; undefined where the activity is answered as it is. */
  readonly wait?: Wait | undefined;
  /** Aborted when the caller is let in no longer: from then on nothing is decided or answered for it. */
  readonly until?: AbortSignal;
  /** Called with what becomes known of the request while it is answered. */
  readonly notes?: RequestNotes;
}

/** Facts about a request beside its answer. */
export interface RequestNotes {
  caller?: Caller;
  activity?: { readonly id: string; readonly type: string; readonly status: string };
  refused?: KeyhearthError;
  /** The activity that its request could wait for. */
  undecided?: Undecided;
  /** For how many seconds it was willing to wait, where it could. */
  waited?: number;
}

interface Undecided {
  readonly row: Submitted['row'];
  /** Of the request, as of a transaction. */
  readonly identify: Claim['identify'];
}

export interface ApiAnswer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly headers?: Readonly<Record<string, string>>;
}

const addressed = z.looseObject({ organizationId });

/** Answers one request; a refusal is an answer too. */
export async function handle(service: Service, request: ApiRequest): Promise<ApiAnswer> {
  try {
    return { status: 200, body: await answer(service, request) };
  } catch (error) {
    if (request.notes && error instanceof KeyhearthError) request.notes.refused = error;
    return request.byOwner ? refusal(service, error) : callersRefusal(service, error);
  }
}

async function answer(service: Service, request: ApiRequest): Promise<Record<string, unknown>> {
  const { path, raw } = request;
  const operation = service.operations.byPath.get(path);
  if (operation === undefined) {
    throw new KeyhearthError(
      'UNIMPLEMENTED',
      `unknown operation ${JSON.stringify(path.slice(0, 80))}: Keyhearth does not have it`,
    );
  }
  const proven = await prove(service, request, operation.kind);
  const notes = request.notes ?? {};
  const noted = { ...request, notes };
  const body = await service.turns.take(
    proven.line,
    path,
    () => run(service, operation, noted, proven),
    raw.length,
  );
  const { undecided } = notes;
  if (undecided === undefined || request.wait === undefined) return body;
  const { wait } = request;
  return (await afterCommit(() => decided(service, noted, undecided, wait))) ?? body;
}

/**
 * Waits for the votes on an activity, outside of any turn.
 * @returns the activity as it is then, for a caller that is who it was; undefined where the request cannot wait.
 * @throws KeyhearthError as a repeat of the request would: where the activity failed, or the caller's key has gone.
 */
async function decided(
  service: Service,
  { raw, notes }: Pick<ApiRequest, 'raw'> & { readonly notes: RequestNotes },
  { row, identify }: Undecided,
  wait: Wait,
): Promise<Record<string, unknown> | undefined> {
  const { units, waiters } = service;
  const holder = units.read((tx) => {
    const caller = identify(tx);
    return { ...caller, isBelow: isOfSubOrganization(tx, caller) };
  });
  const isRefused = (): boolean => {
    try {
      units.read(identify);
      return false;
    } catch {
      // Read once more for the answer.
      return true;
    }
  };
  const over = waiters.wait(row.id, holder, wait, raw.length, isRefused);
  if (over === undefined) return undefined;
  notes.waited = wait.seconds;
  // A vote may have come before the request waited.
  if (!isWaiting(units.read((tx) => asItIs(tx, row)))) waiters.decided(row.id);
  await over;
  const now = units.read((tx) => {
    identify(tx);
    return asItIs(tx, row);
  });
  return activityBody(service, now, identify, notes);
}

/** A request whose proof holds, before anything of its body was read. */
export interface Proven {
  readonly proof: Proof;
  /** The line in which the request waits from now on. */
  readonly line: Line;
}

/**
 * Verifies the proof of a request and looks up whose it is, in a turn of its own. A large body is read for users alone; of a
 * small one, the organization that it names is part of the refusal.
 * @throws KeyhearthError UNAUTHENTICATED
 */
export async function prove(
  { turns, units, rpId, verifications }: Pick<Service, 'turns' | 'units' | 'rpId' | 'verifications'>,
  { path, raw, headers, byOwner }: ApiRequest,
  kind: Operation['kind'],
): Promise<Proven> {
  const isLarge = raw.length > mostSmallBytes;
  const proven = (proof: Proof): Proven => {
    const holder = units.read((tx) => (isLarge ? requireHolder(tx, proof) : proof.holder(tx)));
    return { proof, line: byOwner ? ownersLine : holder ? callersLine(holder) : unprovenLine(raw.length) };
  };
  const work = function* (): Paced<Proven | Promise<Proven>> {
    const proof = yield* authenticate(raw, headers, kind, { rpId, verify: verifications.verify });
    return proof instanceof Promise ? proof.then(proven) : proven(proof);
  };
  return turns.take(byOwner ? ownersLine : unprovenLine(raw.length), path, work, raw.length);
}

/** Queries or submits. The caller is identified before any schema sees the parameters; for a query, `runQuery` does so. */
function run(
  service: Service,
  operation: Operation,
  { path, raw, until, notes }: ApiRequest & { readonly notes: RequestNotes },
  { proof, line }: Proven,
): Record<string, unknown> | Paced<Record<string, unknown>> | Promise<Record<string, unknown>> {
  const { turns, units, clock } = service;
  const body = operation.kind === 'query' ? parseQuestion(raw) : parseJson(raw);
  const { organizationId } = parse(addressed, body);
  const { inCallersOrganization = false } = operation.kind === 'query' ? operation : operation.authority;
  const recovering = operation.kind === 'query' || operation.authority.byRecoveryKey === true;
  const claim = proof.against({ organizationId, below: inCallersOrganization, recovering }, clock);
  const identify: typeof claim.identify = (tx) => {
    if (until?.aborted === true)
      throw new KeyhearthError('PERMISSION_DENIED', 'the program is let in no longer');
    const caller = claim.identify(tx);
    service.onCaller(caller);
    notes.caller = caller;
    return caller;
  };
  const meter = (ms: number): void => {
    turns.charge(line, path, ms);
  };
  const authenticated: SubmitRequest = { raw, body, meter, ...claim, identify };
  if (operation.kind === 'activity') {
    units.read(identify);
    return submitted(service, operation, authenticated, notes);
  }
  const start = () => runQuery(service, operation, { ...authenticated, organizationId });
  // A locked vault writes nothing, as it could not authenticate it: what is read meanwhile is not counted.
  if (claim.spend === undefined || !service.keys.unlocked) return start();
  units.read(identify);
  return units.write(claim.spend, { meter }).then(() => turns.take(line, path, start));
}

async function submitted(
  service: Service,
  operation: ActivityOperation | VoteOperation,
  request: SubmitRequest,
  notes: RequestNotes,
): Promise<Record<string, unknown>> {
  const { row, isRepeat } = await (operation.vote === undefined
    ? submit(service, operation, request).catch(async (error: unknown) => {
        await noteRefusal(service, operation, request, error).catch(service.onFault);
        throw error;
      })
    : submitVote(service, operation, request));
  service.onActivity(row);
  const identify: Claim['identify'] = isRepeat
    ? (tx) => ({ ...request.identify(tx), isRepeat })
    : request.identify;
  if (isWaiting(row)) notes.undecided = { row, identify };
  return afterCommit(() => activityBody(service, row, identify, notes));
}

/** Reads for the answer to a request that the log has. @throws KeyhearthError that says so, where the disk does not give it back. */
async function afterCommit<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isOfStorage(error)) throw error;
    const said = `${error.message} The log has the request: the same request, sent again, tells its outcome.`;
    throw new KeyhearthError(error.code, said);
  }
}

const isWaiting = ({ status }: Pick<Submitted['row'], 'status'>): boolean =>
  status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED';

/** @throws KeyhearthError for an activity that failed: the caller gets what it failed with. */
function activityBody(
  service: Service,
  row: Submitted['row'],
  identify: Claim['identify'],
  notes: RequestNotes,
): Record<string, unknown> {
  notes.activity = { id: row.id, type: row.type, status: row.status };
  if (row.failure !== null) throw fromFailure(readFailure(row.failure));
  return { activity: service.units.read((tx) => envelopeFor(service, tx, row, () => identify(tx))) };
}

/** The error that a caller of the API gets: changed rows may be of another organization, and only the owner sees them. */
export function callersRefusal(service: Pick<Service, 'onFault'>, error: unknown): ApiAnswer {
  const answer = refusal(service, error);
  const isTampered = error instanceof KeyhearthError && error.code === 'VAULT_TAMPERED';
  return isTampered ? { ...answer, body: errorBody(tampered) } : answer;
}

const tampered = new KeyhearthError(
  'VAULT_TAMPERED',
  "The vault's file was changed outside Keyhearth, and is not used. Its owner sees what was found: `keyhearth doctor` lists it",
);

/** The error that the owner gets: all of a refusal, nothing of a fault. */
export function refusal(service: Pick<Service, 'onFault'>, error: unknown): ApiAnswer {
  if (error instanceof KeyhearthError) {
    if (error.cause !== undefined) service.onFault(error);
    return {
      status: errorCodes[error.code].http,
      body: errorBody(error),
      ...(error instanceof OverloadError && {
        headers: { 'Retry-After': String(error.retryAfterSeconds) },
      }),
    };
  }
  service.onFault(error);
  const { code, message } = shortageOf(error) ?? new KeyhearthError('INTERNAL', 'internal error');
  const said = `${message}: the request may have been executed; the same request, sent again, tells. The log has the cause`;
  return { status: errorCodes[code].http, body: errorBody(new KeyhearthError(code, said)) };
}
