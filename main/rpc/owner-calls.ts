/** The API as the owner's own programs call it over the rpc, typed by the operations. */
import type { CallAnswer, WindowRpc } from '../../preload/contract.ts';
import { pathOfType } from '../lib/text/activity-types.ts';
import type {
  ActivityParameters,
  ActivityType,
  Answer,
  QueryParameters,
  QueryPath,
  VoteType,
} from '../operations/api.ts';

type Caller = Pick<WindowRpc, 'call'>;

/** A query's answer, or the body of its refusal. */
export type QueryAnswer<Path extends QueryPath> =
  | { readonly isRefused: false; readonly body: Answer<Path> }
  | ({ readonly isRefused: true } & CallAnswer);

export async function queryAsOwner<Path extends QueryPath>(
  rpc: Caller,
  path: Path,
  parameters: QueryParameters<Path>,
): Promise<QueryAnswer<Path>> {
  const answer = await rpc.call(`/public/v1/query/${path}`, parameters as object);
  if (answer.status !== 200) return { isRefused: true, ...answer };
  // The service's schemas have made the type.
  return { isRefused: false, body: answer.body as Answer<Path> };
}

export const submitAsOwner = <Type extends ActivityType>(
  rpc: Caller,
  type: Type,
  parameters: ActivityParameters<Type>,
): Promise<CallAnswer> => rpc.call(`/public/v1/submit/${pathOfType(type)}`, { type, parameters });

export const voteAsOwner = (rpc: Caller, type: VoteType, fingerprint: string): Promise<CallAnswer> =>
  rpc.call(`/public/v1/submit/${pathOfType(type)}`, { type, parameters: { fingerprint } });
