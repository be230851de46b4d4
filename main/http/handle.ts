/** THE request, top to bottom: bytes and headers in, status and body out. It knows nothing of Express. */
import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { ask } from '../activities/ask.ts';
import type { Engine, SubmitRequest } from '../activities/engine.ts';
import { parse } from '../activities/parse.ts';
import { submitVote } from '../activities/cast-vote.ts';
import { noteRefusal } from '../activities/refusals.ts';
import { showTo } from '../activities/show-to.ts';
import { submit } from '../activities/submit.ts';
import { organizationId } from '../activities/understand.ts';
import { authenticate } from '../auth/authenticate.ts';
import type { Caller } from '../lib/caller.ts';
import { errorBody, errorCodes, fromFailure, LatchkeyError, type Failure } from '../lib/errors.ts';
import { z } from 'zod';

/** What the service serves, and with what. */
export interface Service extends Engine {
  /** Calls back after rows were appended to the log and committed. @returns the function that stops it. */
  readonly watchLog: (listener: () => void) => () => void;
  /** Called after an activity is committed. */
  readonly onActivity: (activity: {
    readonly id: string;
    readonly type: string;
    readonly status: string;
  }) => void;
  /** Called with whom a request proves to be from, each time that it is looked up. */
  readonly onCaller: (caller: Caller) => void;
  /** Called with every error that is not the caller's. */
  readonly onFault: (error: unknown) => void;
}

export interface ApiRequest {
  /** What follows `/public/v1/`. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly raw: Uint8Array;
  /** Is told what becomes known of the request while it is answered. */
  readonly notes?: RequestNotes;
}

/** What is known of a request beside its answer. */
export interface RequestNotes {
  caller?: Caller;
  activity?: { readonly id: string; readonly type: string; readonly status: string };
  refused?: LatchkeyError;
}

export interface ApiAnswer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

const addressed = z.looseObject({ organizationId });

/** Answers one request; a refusal is an answer too. */
export async function handle(service: Service, request: ApiRequest): Promise<ApiAnswer> {
  try {
    return { status: 200, body: await answer(service, request) };
  } catch (error) {
    if (request.notes && error instanceof LatchkeyError) request.notes.refused = error;
    return refusal(service, error);
  }
}

async function answer(
  service: Service,
  { path, headers, raw, notes }: ApiRequest,
): Promise<Record<string, unknown>> {
  const operation = service.operations.get(path);
  if (operation === undefined) {
    throw new LatchkeyError(
      'UNIMPLEMENTED',
      `unknown operation ${JSON.stringify(path.slice(0, 80))}: Latchkey does not have it`,
    );
  }
  const proof = authenticate(raw, headers, service.rpId, operation.kind);
  const body = parseJson(raw);
  const { organizationId } = parse(addressed, body);
  const { inCallersOrganization = false } = operation.kind === 'query' ? operation : operation.authority;
  const recovering = operation.kind === 'query' || operation.authority.byRecoveryKey === true;
  const claim = proof({ organizationId, below: inCallersOrganization, recovering }, service.clock);
  const identify: typeof claim.identify = (tx) => {
    const caller = claim.identify(tx);
    service.onCaller(caller);
    if (notes) notes.caller = caller;
    return caller;
  };
  const authenticated: SubmitRequest = { raw, body, ...claim, identify };

  if (operation.kind === 'query') return ask(service, operation, { ...authenticated, organizationId });
  const row = await (operation.vote === undefined
    ? submit(service, operation, authenticated).catch(async (error: unknown) => {
        await noteRefusal(service, operation, authenticated, error).catch(service.onFault);
        throw error;
      })
    : submitVote(service, operation, authenticated));
  service.onActivity(row);
  if (notes) notes.activity = { id: row.id, type: row.type, status: row.status };
  if (row.failure !== null) throw fromFailure(JSON.parse(row.failure) as Failure);
  return { activity: service.units.read((tx) => showTo(service, tx, row, () => authenticated.identify(tx))) };
}

export function parseJson(raw: Uint8Array): unknown {
  const text = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  // The log keeps the signed bytes as text: it must be able to give them back.
  if (!isUtf8(text)) throw badBody('it is not UTF-8');
  if (text.length === 0) throw badBody('it is empty');
  try {
    return JSON.parse(text.toString('utf8')) as unknown;
  } catch {
    throw badBody('it is not JSON');
  }
}

const badBody = (problem: string): LatchkeyError =>
  new LatchkeyError('INVALID_ARGUMENT', `bad request body: expected a JSON object, but ${problem}`);

/** What a caller is told of an error: all of a refusal, nothing of a fault. */
export function refusal(service: Pick<Service, 'onFault'>, error: unknown): ApiAnswer {
  if (error instanceof LatchkeyError) {
    if (error.cause !== undefined) service.onFault(error);
    return { status: errorCodes[error.code].http, body: errorBody(error) };
  }
  service.onFault(error);
  return {
    status: 500,
    body: errorBody(
      new LatchkeyError('INTERNAL', 'internal error: the request was not carried out; see the log'),
    ),
  };
}
