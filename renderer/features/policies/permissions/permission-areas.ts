/** Areas of the matrix of permissions. */
import { kindOf } from '../../../../main/lib/text/activity-types.ts';
import { t } from '../../../app/i18n/text.ts';

/** In the order in which they are shown: what loses most comes first. */
export const areas = [
  { id: 'sign', label: t('Sign'), kinds: /^SIGN_/ },
  { id: 'export', label: t('Export'), kinds: /^EXPORT_/ },
  { id: 'policies', label: t('Policies and address book'), kinds: /POLIC|GRANT|KNOWN_ADDRESS/ },
  { id: 'keys', label: t('Wallets and keys'), kinds: /WALLET|PRIVATE_KEY|CONTRACT_INTERFACE/ },
  {
    id: 'people',
    label: t('Users and credentials'),
    kinds: /USER|API_KEY|AUTHENTICATOR|OAUTH|OTP|EMAIL|SESSION|LOGIN/,
  },
  { id: 'vault', label: t('Organization and webhooks'), kinds: /(?:)/ },
] as const;

export type Area = (typeof areas)[number]['id'];

/** @returns the first area that fits. The last takes every other kind, so that none is left out. */
export const areaOf = (type: string): Area =>
  areas.find(({ kinds }) => kinds.test(kindOf(type)))?.id ?? 'vault';
