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

const switchNote = t(
  'In a sub-organization this opens the way. The vault’s own organization goes by what is set up under Messages, and by its policies.',
);

export const features: readonly FeatureRow[] = [
  {
    name: 'FEATURE_NAME_WEBHOOK',
    label: t('Webhook URL'),
    about: t(
      'Where a program of yours is told of every activity from then on. What became of each delivery is under Webhooks.',
    ),
    value: { label: t('URL'), placeholder: 'https://example.org/hook' },
  },
  {
    name: 'FEATURE_NAME_WEBAUTHN_ORIGINS',
    label: t('Passkey origins'),
    about: t(
      'The web pages on which passkeys may be made and used: these and no others. Name the page of this window too, if you register passkeys here.',
    ),
    value: { label: t('Origins, with commas between'), placeholder: 'https://app.example.org' },
  },
  {
    name: 'FEATURE_NAME_EMAIL_AUTH',
    label: t('Sign-in by email'),
    about: t('Users may sign in with what is sent to their email address. {{switchNote}}', { switchNote }),
  },
  {
    name: 'FEATURE_NAME_OTP_EMAIL_AUTH',
    label: t('One-time codes by email'),
    about: t('Users may sign in with a code that is sent to their email address. {{switchNote}}', {
      switchNote,
    }),
  },
  {
    name: 'FEATURE_NAME_SMS_AUTH',
    label: t('One-time codes by SMS'),
    about: t('Users may sign in with a code that is sent to their phone. {{switchNote}}', { switchNote }),
  },
  {
    name: 'FEATURE_NAME_EMAIL_RECOVERY',
    label: t('Recovery by email'),
    about: t('Users who have lost their keys and passkeys may get in again by email. {{switchNote}}', {
      switchNote,
    }),
  },
  {
    name: 'FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY',
    label: t('Recovery by email for the root quorum'),
    about: t('The same for users who decide everything here. {{switchNote}}', { switchNote }),
  },
];

/** A feature's name in words; one that is not known, as it is. */
export const featureLabel = (name: string): string =>
  features.find((feature) => feature.name === name)?.label ?? name;
