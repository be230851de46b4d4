/** Activities of the log, parsed again by their operations. */
import type { ActivityRow } from '../../storage/tables/activities.ts';
import type { ActivityOperation, ActivityVersion, Operations } from '../define.ts';
import type { Activity } from '../decision/facts.ts';

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

/** @throws Error as `operationOf`. */
export function ofType(
  { byType }: Operations,
  type: string,
): { readonly operation: ActivityOperation; readonly version: ActivityVersion } {
  const typed = byType.get(type);
  if (typed === undefined) throw new Error(`no operation executes activities of type ${type}`);
  return typed;
}
