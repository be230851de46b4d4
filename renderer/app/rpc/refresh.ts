/** Asks again what the window shows. */
import type { QueryClient, QueryFilters } from '@tanstack/react-query';

/**
 * Asks queries again: those that are shown now, the others when they are shown next. React Query starts nothing beside a first
 * answer that is on its way. That may be from before the change, so it is asked again once it is there.
 */
export async function refresh(client: QueryClient, filters: QueryFilters): Promise<void> {
  const begun = client
    .getQueryCache()
    .findAll({ ...filters, fetchStatus: 'fetching' })
    .filter(({ state }) => state.data === undefined);
  await client.invalidateQueries(filters);
  await Promise.all(begun.map(({ queryKey }) => client.invalidateQueries({ queryKey, exact: true })));
}
