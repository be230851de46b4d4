/** The ways to sign in that an organization allows. */
import type { Reader } from '../../storage/connection.ts';
import { getFeature } from '../../storage/tables/features.ts';
import { getOrganization } from '../../storage/tables/organizations.ts';
import type { UserRow } from '../../storage/tables/users.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { holdersOf, type Channel } from '../users/contacts.ts';

/** The features of a sub-organization, any of which lets its people in this way. */
const gates = {
  code: { email: ['FEATURE_NAME_OTP_EMAIL_AUTH'], sms: ['FEATURE_NAME_SMS_AUTH'] },
  credential: { email: ['FEATURE_NAME_EMAIL_AUTH'] },
  recovery: { email: ['FEATURE_NAME_EMAIL_RECOVERY', 'FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY'] },
} as const satisfies Record<string, Partial<Record<Channel, readonly string[]>>>;

/**
 * The vault's own organization decides by its message settings and by policies; a sub-organization by its
 * features, which it has unless it was created without them.
 * @throws KeyhearthError PERMISSION_DENIED
 */
export function checkGate<Way extends keyof typeof gates>(
  tx: Reader,
  organizationId: string,
  way: Way,
  channel: keyof (typeof gates)[Way] & Channel,
): void {
  const organization = getOrganization(tx, organizationId);
  if (organization?.parentId == null) return;
  const features = gates[way][channel] as unknown as readonly string[];
  if (features.some((feature) => getFeature(tx, organizationId, feature) !== undefined)) return;
  throw new KeyhearthError(
    'PERMISSION_DENIED',
    `request not authorized: ${features.join(' or ')} is not set in organization ${organizationId}`,
    { turnkeyErrorCode: 'REQUEST_NOT_AUTHORIZED' },
  );
}

/**
 * True if a user has a contact that signs in by a feature of the organization. One that several users have does not say who
 * signs in.
 */
export const hasContactThatSignsIn = (
  tx: Reader,
  { organizationId, email, phoneNumber }: Pick<UserRow, 'organizationId' | 'email' | 'phoneNumber'>,
): boolean =>
  Object.entries({ email, sms: phoneNumber }).some(
    ([channel, address]) =>
      address !== null &&
      holdersOf(tx, organizationId, { channel: channel as Channel, address }).length === 1 &&
      Object.values(gates)
        .flatMap((gate: Partial<Record<string, readonly string[]>>) => gate[channel] ?? [])
        .some((feature) => getFeature(tx, organizationId, feature) !== undefined),
  );
