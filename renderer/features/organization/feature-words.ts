/** Features of the organization in plain words. */

import type { Feature } from '../../app/rpc/resources.ts';
import { t } from '../../app/i18n/text.ts';

interface FeatureRow {
  readonly name: Feature['name'];
  readonly label: string;
  readonly about: string;
  /** The field of its value; a switch has none. */
  readonly value?: { readonly label: string; readonly placeholder: string };
}

const switchNote = t('For sub-organizations. The vault itself uses the settings under Messages.');

export const features: readonly FeatureRow[] = [
  {
    name: 'FEATURE_NAME_WEBHOOK',
    label: t('Webhook URL'),
    about: t('Receives every activity. Deliveries are under Webhooks.'),
    value: { label: t('URL'), placeholder: 'https://example.org/hook' },
  },
  {
    name: 'FEATURE_NAME_WEBAUTHN_ORIGINS',
    label: t('Passkey origins'),
    about: t(
      'Web pages that may create and use passkeys. Include this window’s page to register passkeys here.',
    ),
    value: { label: t('Origins, separated by commas'), placeholder: 'https://app.example.org' },
  },
  {
    name: 'FEATURE_NAME_EMAIL_AUTH',
    label: t('Sign-in by email'),
    about: t('Users may sign in by email. {{switchNote}}', { switchNote }),
  },
  {
    name: 'FEATURE_NAME_OTP_EMAIL_AUTH',
    label: t('One-time codes by email'),
    about: t('Users may sign in with a code sent by email. {{switchNote}}', {
      switchNote,
    }),
  },
  {
    name: 'FEATURE_NAME_SMS_AUTH',
    label: t('One-time codes by SMS'),
    about: t('Users may sign in with a code sent to their phone. {{switchNote}}', { switchNote }),
  },
  {
    name: 'FEATURE_NAME_EMAIL_RECOVERY',
    label: t('Recovery by email'),
    about: t('Users without their keys may regain access by email. {{switchNote}}', {
      switchNote,
    }),
  },
  {
    name: 'FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY',
    label: t('Recovery by email for the root quorum'),
    about: t('The same for members of the root quorum. {{switchNote}}', { switchNote }),
  },
];

/** A feature's name in words; one that is not known, as it is. */
export const featureLabel = (name: string): string =>
  features.find((feature) => feature.name === name)?.label ?? name;
