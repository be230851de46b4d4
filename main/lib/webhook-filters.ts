/** Which events a webhook subscription lets through: lists of texts, one of which each has to be. */

export const webhookFilterNames = ['activityTypes', 'statuses', 'organizationIds'] as const;
type FilterName = (typeof webhookFilterNames)[number];

export type WebhookFilters = Readonly<Partial<Record<FilterName, readonly string[]>>>;

/** What filters look at. */
export interface FilteredEvent {
  readonly type: string;
  readonly status: string;
  readonly organizationId: string;
}

/** @returns undefined for what is no JSON object of such lists, or has others. */
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
