/** Filters of webhook subscriptions: lists of texts, and an event must match one of each list. */

export const webhookFilterNames = ['activityTypes', 'statuses', 'organizationIds'] as const;
type FilterName = (typeof webhookFilterNames)[number];

export type WebhookFilters = Readonly<Partial<Record<FilterName, readonly string[]>>>;

/** The fields of an event that filters read. */
export interface FilteredEvent {
  readonly type: string;
  readonly status: string;
  readonly organizationId: string;
}

/** @returns undefined for a text that is not a JSON object of such lists, or has other members. */
export function readWebhookFilters(text: string): WebhookFilters | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  for (const [name, list] of Object.entries(value)) {
    if (!webhookFilterNames.some((known) => known === name)) return undefined;
    if (!Array.isArray(list) || !list.every((element) => typeof element === 'string')) return undefined;
  }
  return value;
}

/** @param text Filters as JSON; none where it is empty. What cannot be read lets nothing through. */
export function passesFilters(text: string | undefined, event: FilteredEvent): boolean {
  if (text === undefined || text === '') return true;
  const filters = readWebhookFilters(text);
  if (filters === undefined) return false;
  const { activityTypes, statuses, organizationIds } = filters;
  return (
    (activityTypes?.includes(event.type) ?? true) &&
    (statuses?.includes(event.status) ?? true) &&
    (organizationIds?.includes(event.organizationId) ?? true)
  );
}
