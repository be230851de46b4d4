/** Activities in plain words. */

import { activityTitle } from '../../../main/lib/text/activity-titles.ts';
import { t } from '../../app/i18n/text.ts';

/** In the person's language. */
export const describeType = (type: string): string => t(activityTitle(type));

/** Filters by type, each with every version of the type that a client may have sent. */
export const typeFilters: readonly { readonly label: string; readonly types: readonly string[] }[] = [
  ['CREATE_WALLET'],
  ['CREATE_WALLET_ACCOUNTS'],
  ['IMPORT_WALLET'],
  ['EXPORT_WALLET'],
  ['EXPORT_WALLET_ACCOUNT'],
  ['DELETE_WALLETS'],
  ['CREATE_PRIVATE_KEYS_V2', 'CREATE_PRIVATE_KEYS'],
  ['IMPORT_PRIVATE_KEY'],
  ['EXPORT_PRIVATE_KEY'],
  ['DELETE_PRIVATE_KEYS'],
  ['IMPORT_SECRETS'],
  ['UPDATE_SECRET'],
  ['EXPORT_SECRETS'],
  ['DELETE_SECRETS'],
  ['SIGN_TRANSACTION_V2', 'SIGN_TRANSACTION'],
  ['SIGN_RAW_PAYLOAD_V2', 'SIGN_RAW_PAYLOAD'],
  ['CREATE_USERS_V4', 'CREATE_USERS_V3', 'CREATE_USERS_V2', 'CREATE_USERS'],
  ['DELETE_USERS'],
  ['CREATE_API_KEYS_V2', 'CREATE_API_KEYS'],
  ['DELETE_API_KEYS'],
  [
    ...[8, 7, 6, 5, 4, 3, 2].map((version) => `CREATE_SUB_ORGANIZATION_V${version}`),
    'CREATE_SUB_ORGANIZATION',
  ],
].map((types) => ({
  label: describeType(types[0] ?? ''),
  types: types.map((type) => `ACTIVITY_TYPE_${type}`),
}));

interface StatusWords {
  readonly label: string;
  readonly tone: 'done' | 'failed' | 'waiting';
}

const statusWords: Readonly<Record<string, StatusWords>> = {
  ACTIVITY_STATUS_COMPLETED: { label: t('Completed'), tone: 'done' },
  ACTIVITY_STATUS_FAILED: { label: t('Failed'), tone: 'failed' },
  ACTIVITY_STATUS_REJECTED: { label: t('Rejected'), tone: 'failed' },
  ACTIVITY_STATUS_CREATED: { label: t('Created'), tone: 'waiting' },
  ACTIVITY_STATUS_PENDING: { label: t('In progress'), tone: 'waiting' },
  ACTIVITY_STATUS_CONSENSUS_NEEDED: { label: t('Needs approval'), tone: 'waiting' },
  ACTIVITY_STATUS_AUTHENTICATORS_NEEDED: { label: t('Needs a passkey'), tone: 'waiting' },
};

export const filterStatuses: readonly string[] = Object.keys(statusWords);

export const describeStatus = (status: string): StatusWords =>
  statusWords[status] ?? { label: status.replace(/^ACTIVITY_STATUS_/, ''), tone: 'waiting' };
