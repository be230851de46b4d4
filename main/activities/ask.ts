/** The life of a query: it reads, and answers at once. */
import { uuidV7 } from '../crypto/uuid.ts';
import { isPaced, withoutBreak } from '../lib/paced.ts';
import { casesOf } from './policy-cases.ts';
import type { QueryOperation } from './define.ts';
import type { Claim, Engine } from './engine.ts';
import { parse } from './parse.ts';
import { showTo } from './show-to.ts';

export interface AskRequest extends Claim {
  readonly body: unknown;
  /** The organization that it names. */
  readonly organizationId: string;
}

/**
 * @returns the resource under its name, as the SDKs read it, and the specification's envelope beside it.
 */
export async function ask(
  engine: Engine,
  operation: QueryOperation,
  request: AskRequest,
): Promise<Record<string, unknown>> {
  const now = engine.clock.now();
  // A locked vault writes nothing, as it could not authenticate it: what is read meanwhile is not counted.
  if (request.spend && engine.keys.unlocked) await engine.units.write(request.spend);
  return engine.units.read((tx) => {
    const caller = request.identify(tx);
    const params: unknown = parse(operation.params, request.body);
    // Whoever is known to the organization or to its parent may read.
    const organizationId =
      operation.inCallersOrganization === true ? caller.organizationId : request.organizationId;
    const answer = operation.run({
      tx,
      organizationId,
      params,
      caller,
      now,
      showActivity: (row) => showTo(engine, tx, row, () => caller),
      operations: engine.operations,
      lastUses: () => engine.lastUses(tx, organizationId),
      cases: () => casesOf(tx, engine.operations, organizationId, now),
    });
    const resource = isPaced(answer) ? withoutBreak(answer) : answer;
    const envelope = {
      id: uuidV7(now, engine.random('query', 10)),
      organizationId,
      status: 'ACTIVITY_STATUS_COMPLETED',
      type: 'ACTIVITY_TYPE_UNKNOWN_V1',
      timestampMs: String(now),
      result: resource,
    };
    // A resource named `activity` is itself an activity, and is what clients read there.
    return { activity: envelope, ...resource };
  });
}
