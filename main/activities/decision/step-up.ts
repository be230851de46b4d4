/** Finds the requests of the owner's window that need step-up: see `StepUp`. */
import { findActivityByFingerprint } from '../../storage/tables/activities.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { isReadable, stepUpFor, type StepUp } from '../define.ts';
import type { Engine } from '../request/engine.ts';
import { operationOf } from '../request/stored.ts';
import { parseRequest } from '../request/parse-request.ts';

/**
 * The step-up that a request needs. An approval needs the step-up of its activity: with it the owner does what another user
 * submitted.
 * @param path What follows `/public/v1/`.
 * @returns undefined where it needs nothing, and for a request that is refused for itself.
 */
export function stepUpOf(
  { operations, units }: Pick<Engine, 'operations' | 'units'>,
  path: string,
  body: unknown,
): StepUp<unknown>['for'] | undefined {
  const operation = operations.byPath.get(path);
  if (operation === undefined || operation.kind === 'query') return undefined;
  if (operation.vote === undefined && operation.stepUp === undefined) return undefined;
  if (operation.vote === 'VOTE_SELECTION_REJECTED') return undefined;
  let request: ReturnType<typeof parseRequest>;
  try {
    request = parseRequest(operation, body);
  } catch (error) {
    if (error instanceof KeyhearthError) return undefined;
    throw error;
  }
  const { organizationId } = request;
  if (operation.vote === undefined) {
    return units.read((tx) => stepUpFor(operation, request.params, { tx, organizationId }));
  }
  const { fingerprint } = request.params as { readonly fingerprint: string };
  return units.read((tx) => {
    const target = findActivityByFingerprint(tx, organizationId, fingerprint);
    if (target === undefined || !isReadable(operations, target)) return undefined;
    const waiting = operationOf(operations, target);
    return stepUpFor(waiting.operation, waiting.activity.params, { tx, organizationId });
  });
}
