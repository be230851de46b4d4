/** Webhook endpoints are found here, and where they may lead. What addresses a name has is looked at whenever something is sent there. */
import type { ActivityContext } from '../../activities/define.ts';
import type { Reader } from '../../storage/connection.ts';
import { getOrganization } from '../../storage/tables/organizations.ts';
import { getWebhookEndpoint, type WebhookEndpointRow } from '../../storage/tables/webhook-endpoints.ts';
import { KeyhearthError, quoted } from '../../lib/errors.ts';
import { isThisMachine } from '../../lib/network.ts';
import { orNotFound } from '../shared/parameters.ts';

export const mostUrlCharacters = 2000;

/**
 * The vault's own organization may use any address, this machine's too: its administrator could reach that
 * anyway. A sub-organization is foreign. It may use public hosts over TLS alone; in a vault for tests, this
 * machine too.
 * @throws KeyhearthError INVALID_ARGUMENT
 */
export function checkWebhookUrl(
  { tx, organizationId, sandbox }: Pick<ActivityContext<unknown>, 'tx' | 'organizationId' | 'sandbox'>,
  field: string,
  text: string | undefined,
): void {
  const url = text === undefined ? null : URL.parse(text);
  const isTest = sandbox && url !== null && isThisMachine(url.hostname);
  const isSubOrganization = !isTest && getOrganization(tx, organizationId)?.parentId != null;
  const protocols = isSubOrganization ? ['https:'] : ['http:', 'https:'];
  if (url !== null && protocols.includes(url.protocol) && url.username === '' && url.password === '') {
    if (!isSubOrganization || !isLocalName(url.hostname)) return;
  }
  const expected = isSubOrganization
    ? 'an https URL of a public host, without user name and password, since it is a sub-organization’s'
    : 'an http or https URL without user name and password';
  throw new KeyhearthError('INVALID_ARGUMENT', `invalid ${field}: expected ${expected}, got ${quoted(text)}`);
}

/** Hosts that are never public by their form alone: numeric addresses, and names of this machine or its network. */
const isLocalName = (host: string): boolean =>
  /^[\d.]+$/.test(host) ||
  host.startsWith('[') ||
  !host.includes('.') ||
  /\.(localhost|local|internal)\.?$/i.test(host);

/** @throws KeyhearthError NOT_FOUND */
export const findWebhookEndpoint = (
  tx: Reader,
  organizationId: string,
  endpointId: string,
): WebhookEndpointRow => {
  const row = getWebhookEndpoint(tx, endpointId);
  return orNotFound(
    row?.organizationId === organizationId ? row : undefined,
    `unable to find webhook endpoint ${endpointId}`,
  );
};
