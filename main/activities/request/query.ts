/** The life of a query: it reads, and answers at once, in steps, or once another machine has answered. */
import { uuidV7 } from '../../crypto/uuid.ts';
import { isPaced, type Paced } from '../../lib/concurrency/paced.ts';
import { casesOf } from '../decision/policy-cases.ts';
import type { QueryOperation } from '../define.ts';
import type { Claim, Engine } from './engine.ts';
import { parse } from '../../lib/parse.ts';
import { envelopeFor, needsApproval } from '../answer/envelope-for.ts';

export interface QueryRequest extends Claim {
  readonly body: unknown;
  /** The organization that it names. */
  readonly organizationId: string;
}

type Answer = Record<string, unknown>;

/**
 * @returns the resource under its name, as the SDKs read it, and the specification's envelope beside it; in steps where the
 * operation takes long, and later where another machine is asked.
 */
export function runQuery(
  engine: Engine,
  operation: QueryOperation,
  request: QueryRequest,
): Answer | Paced<Answer> | Promise<Answer> {
  const now = engine.clock.now();
  const { organizationId, resource } = engine.units.read((tx) => {
    const caller = request.identify(tx);
    const params: unknown = parse(operation.params, request.body);
    // Every user of the organization or of its parent may read.
    const organizationId =
      operation.inCallersOrganization === true ? caller.organizationId : request.organizationId;
    const resource = operation.run({
      tx,
      keys: engine.keys,
      organizationId,
      params,
      caller,
      now,
      showActivity: (row) => envelopeFor(engine, tx, row, () => caller),
      needsApproval: (row) => needsApproval(engine, tx, row, caller),
      operations: engine.operations,
      lastUses: () => engine.lastUses(tx, organizationId),
      keyUses: () => engine.keyUses(tx, organizationId),
      signingDays: () => engine.signingCounts.days(tx, organizationId, now),
      cases: () => casesOf(tx, engine.operations, organizationId, now),
      preview: engine.preview,
    });
    return { organizationId, resource };
  });
  const envelop = (shown: Readonly<Answer>): Answer => {
    const envelope = {
      id: uuidV7(now, engine.random('query', 10)),
      organizationId,
      status: 'ACTIVITY_STATUS_COMPLETED',
      type: 'ACTIVITY_TYPE_UNKNOWN_V1',
      timestampMs: String(now),
      result: shown,
    };
    // A resource named `activity` is itself an activity, and is what clients read there.
    return { activity: envelope, ...shown };
  };
  if (typeof resource === 'function') {
    return resource().then((shown) => {
      // The caller may have been deleted meanwhile.
      engine.units.read(request.identify);
      return envelop(shown);
    });
  }
  return isPaced(resource) ? inSteps(engine, request, resource, envelop) : envelop(resource);
}

/** Takes each step in a read of its own, for a caller who is still known. */
function* inSteps(
  { units }: Engine,
  request: QueryRequest,
  steps: Paced<Readonly<Answer>>,
  envelop: (shown: Readonly<Answer>) => Answer,
): Paced<Answer> {
  for (;;) {
    const { done, value } = units.read((tx) => {
      request.identify(tx);
      return steps.next();
    });
    if (done === true) return envelop(value);
    yield;
  }
}
