/** JSON-RPC 2.0 over HTTP: bodies and batches. */
import { z } from 'zod';
import { isObject } from '../../crypto/json.ts';
import { KeyhearthError, messageOf } from '../../lib/errors.ts';
import type { OnFault } from '../../lib/faults.ts';
import { rpcCodes, RpcError, writeJson } from '../../lib/web/json-rpc.ts';
import { RejectedError } from '../program.ts';
import { readBody, sharedId, sharesIds } from '../read-body.ts';

export interface Call {
  readonly method: string;
  readonly params: readonly unknown[];
}

const mostOfBatch = 100;
/** Characters of a batch’s answers: calls beyond are refused. A node may answer each with megabytes. */
const mostAnswered = 16 * 1024 * 1024;
const longestId = 200;
const id = z.union([z.string().max(longestId), z.number(), z.bigint(), z.null()]);
const call = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: id.optional(),
  method: z.string().min(1).max(100),
  params: z.array(z.unknown()).optional(),
});

type Id = z.output<typeof id>;

/**
 * Answers a body: one call, or a batch of them in its order.
 * @returns undefined where nothing of it wants an answer.
 */
export async function answerBody(
  raw: Uint8Array,
  run: (call: Call) => Promise<unknown>,
  onFault: OnFault,
): Promise<string | undefined> {
  let body: unknown;
  try {
    body = readBody(raw);
  } catch (error) {
    const { message } = failureOf(error, onFault);
    return writeJson(failure(null, { code: rpcCodes.parse, message }));
  }
  if (!Array.isArray(body)) return answerCall(body, run, onFault);
  if (body.length === 0 || body.length > mostOfBatch) {
    const message = `expected 1 to ${String(mostOfBatch)} calls in a batch, got ${String(body.length)}`;
    return writeJson(failure(null, { code: rpcCodes.request, message }));
  }
  if (sharesIds(body)) return writeJson(failure(null, { code: rpcCodes.request, message: sharedId }));
  const answers: string[] = [];
  let length = 0;
  const runWithin = (asked: Call): Promise<unknown> => {
    if (length <= mostAnswered) return run(asked);
    const message =
      'the answers to this batch are too large together: this call was not made; send it by itself';
    throw new RpcError(rpcCodes.limit, message);
  };
  for (const each of body) {
    const answer = await answerCall(each, runWithin, onFault);
    if (answer === undefined) continue;
    answers.push(answer);
    length += answer.length;
  }
  return answers.length === 0 ? undefined : `[${answers.join(',')}]`;
}

async function answerCall(
  body: unknown,
  run: (call: Call) => Promise<unknown>,
  onFault: OnFault,
): Promise<string | undefined> {
  const read = call.safeParse(body);
  if (!read.success) {
    const message = 'expected a call of JSON-RPC 2.0: jsonrpc, id, method, and params as a list';
    const known = isObject(body) ? id.safeParse(body['id']).data : undefined;
    return writeJson(failure(known ?? null, { code: rpcCodes.request, message }));
  }
  const { id: wanted, method, params = [] } = read.data;
  // A notification has no one who would get what it asks for: it is not run.
  if (wanted === undefined) return undefined;
  try {
    return writeJson({ jsonrpc: '2.0', id: wanted, result: (await run({ method, params })) ?? null });
  } catch (error) {
    return writeJson(failure(wanted, failureOf(error, onFault)));
  }
}

interface Failure {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

const failure = (id: Id, error: Failure) => ({ jsonrpc: '2.0', id, error });

/** The error that the program gets: all of a refusal, nothing of a fault. */
export function failureOf(error: unknown, onFault: OnFault): Failure {
  if (error instanceof RpcError) {
    const { code, message, data } = error;
    return { code, message, ...(data !== undefined && { data }) };
  }
  // Nested deeper than the stack goes: only a caller or a node writes that.
  if (error instanceof RangeError) return { code: rpcCodes.params, message: 'it is nested too deeply' };
  if (error instanceof KeyhearthError) return { code: codeOf(error), message: messageOf(error) };
  onFault(error);
  return { code: rpcCodes.internal, message: 'internal error: the log has the cause' };
}

function codeOf(error: KeyhearthError): number {
  if (error instanceof RejectedError) return rpcCodes.rejected;
  switch (error.code) {
    case 'PERMISSION_DENIED':
    case 'UNAUTHENTICATED':
    case 'VAULT_FROZEN':
      return rpcCodes.unauthorized;
    case 'VAULT_LOCKED':
    case 'UNAVAILABLE':
      return rpcCodes.notYet;
    case 'RESOURCE_EXHAUSTED':
    case 'LIMIT_REACHED':
      return rpcCodes.limit;
    case 'INVALID_ARGUMENT':
    case 'NOT_FOUND':
    case 'PAYLOAD_TOO_LARGE':
      return rpcCodes.params;
    default:
      return rpcCodes.internal;
  }
}
