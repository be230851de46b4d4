/** The web pages that may register and use an organization's passkeys. */
import { readWebOrigins } from '../../lib/web/web-origins.ts';
import type { Reader } from '../connection.ts';
import { getFeature } from './features.ts';
import { getOrganization } from './organizations.ts';

const feature = 'FEATURE_NAME_WEBAUTHN_ORIGINS';

/**
 * The organization's own list, or its parent's.
 * @returns undefined where neither has one: every page of the relying party will do.
 */
export function passkeyOrigins(tx: Reader, organizationId: string): readonly string[] | undefined {
  const own = getFeature(tx, organizationId, feature);
  const parentId = own ? null : (getOrganization(tx, organizationId)?.parentId ?? null);
  const listed = own ?? (parentId === null ? undefined : getFeature(tx, parentId, feature));
  // A list that cannot be read lets nothing in.
  return listed && (readWebOrigins(listed.value) ?? []);
}
