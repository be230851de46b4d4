/** Activities of the log, understood again by the operations that they are of. */
import type { ActivityRow } from '../db/activities.ts';
import type { ActivityOperation, ActivityVersion, Operation } from './define.ts';
import type { Activity } from './facts.ts';

/** Every operation, by path. */
export type Operations = ReadonlyMap<string, Operation>;

/** @throws Error where no operation is of the row's type: the log is of this program's making. */
export function operationOf(
  operations: Operations,
  { type, organizationId, intent }: Pick<ActivityRow, 'type' | 'organizationId' | 'intent'>,
): { readonly operation: ActivityOperation; readonly activity: Activity } {
  const { operation, version } = ofType(operations, type);
  // It went through the version's schema before it was kept.
  const params = version.upgrade(JSON.parse(intent));
  return { operation, activity: { type, organizationId, params } };
}

/** @throws Error as `operationOf`. */
export const versionOf = (operations: Operations, type: string): ActivityVersion =>
  ofType(operations, type).version;

interface Typed {
  readonly operation: ActivityOperation;
  readonly version: ActivityVersion;
}

function ofType(operations: Operations, type: string): Typed {
  const typed = byType(operations).get(type);
  if (typed === undefined) throw new Error(`no operation carries out activities of type ${type}`);
  return typed;
}

const known = new WeakMap<Operations, ReadonlyMap<string, Typed>>();

function byType(operations: Operations): ReadonlyMap<string, Typed> {
  const present = known.get(operations);
  if (present !== undefined) return present;
  const types = new Map(
    [...operations.values()].flatMap((operation) =>
      operation.kind === 'activity' && operation.vote === undefined
        ? operation.versions.map((version) => [version.type, { operation, version }] as const)
        : [],
    ),
  );
  known.set(operations, types);
  return types;
}
