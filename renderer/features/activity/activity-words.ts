/** Activities in plain words. */

import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { activityTitle } from '../../../main/lib/text/activity-titles.ts';
import { kindOf } from '../../../main/lib/text/activity-types.ts';
import { transactionTypeList } from '../../../main/lib/text/transaction-types.ts';
import { intentOf } from '../../../main/lib/text/to-be-signed.ts';
import { featureLabel } from '../organization/feature-words.ts';
import type { Activity, ActivityLine } from '../../app/rpc/resources.ts';
import { shorten } from '../../ui/text/short.ts';
import { numeral, t } from '../../app/i18n/text.ts';

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

/** One line on what the activity is about: names where there are names, ends of identifiers where not. */
export const summarize = (activity: Pick<Activity, 'type' | 'intent'>): string =>
  summarizeIntent(activity.type, intentOf(activity));

/** The same of what is shown in a list, which says how long it is where it is too long for that. */
export function summarizeLine({
  type,
  intent,
  intentSize,
}: Pick<ActivityLine, 'type' | 'intent' | 'intentSize'>): string {
  if (intent === undefined) {
    return t('{{size}} KiB, open to see the request', { size: numeral(Math.ceil(intentSize / 1024)) });
  }
  const value: unknown = JSON.parse(intent);
  return summarizeIntent(type, isRecord(value) ? value : {});
}

function summarizeIntent(type: string, intent: Readonly<Record<string, unknown>>): string {
  const accounts = listOf(intent['accounts']);
  switch (kindOf(type)) {
    case 'CREATE_WALLET':
    case 'IMPORT_WALLET':
      return join(
        textOf(intent['walletName']),
        accounts.length > 0 && t('{{count}} accounts', { count: accounts.length }),
      );
    case 'UPDATE_WALLET':
      return t('to {{walletName}}', { walletName: textOf(intent['walletName']) });
    case 'UPDATE_WALLET_ACCOUNT_NAME':
      return intent['name'] === ''
        ? t('to no name')
        : t('to {{walletName}}', { walletName: textOf(intent['name']) });
    case 'CREATE_WALLET_ACCOUNTS':
      return join(...accounts.map((account) => textOf(account['path'])));
    case 'EXPORT_WALLET_ACCOUNT':
      return shorten(textOf(intent['address']));
    case 'CREATE_PRIVATE_KEYS':
      return join(...listOf(intent['privateKeys']).map((key) => textOf(key['privateKeyName'])));
    case 'IMPORT_PRIVATE_KEY':
      return textOf(intent['privateKeyName']);
    case 'CREATE_SMART_CONTRACT_INTERFACE':
      return join(textOf(intent['label']), shorten(textOf(intent['smartContractAddress'])));
    case 'SIGN_TRANSACTION':
      return join(
        chainLabel(textOf(intent['type'])),
        t('with {{signWith}}', {
          signWith: shorten(textOf(intent['signWith']) || textOf(intent['privateKeyId'])),
        }),
      );
    case 'SIGN_RAW_PAYLOADS':
    case 'SIGN_RAW_PAYLOAD':
      return t('with {{signWith}}', {
        signWith: shorten(textOf(intent['signWith']) || textOf(intent['privateKeyId'])),
      });
    case 'CREATE_USERS':
      return join(...listOf(intent['users']).map((user) => textOf(user['userName'])));
    case 'CREATE_API_KEYS':
      return join(...listOf(intent['apiKeys']).map((key) => textOf(key['apiKeyName'])));
    case 'CREATE_AUTHENTICATORS':
      return join(...listOf(intent['authenticators']).map((key) => textOf(key['authenticatorName'])));
    case 'CREATE_POLICY':
      return textOf(intent['policyName']);
    case 'CREATE_POLICIES':
      return join(...listOf(intent['policies']).map((policy) => textOf(policy['policyName'])));
    case 'CREATE_USER_TAG':
      return textOf(intent['userTagName']);
    case 'CREATE_PRIVATE_KEY_TAG':
      return textOf(intent['privateKeyTagName']);
    case 'UPDATE_ORGANIZATION_NAME':
      return t('to {{organizationName}}', { organizationName: textOf(intent['organizationName']) });
    case 'SET_ORGANIZATION_FEATURE':
    case 'REMOVE_ORGANIZATION_FEATURE':
      return featureLabel(textOf(intent['name']));
    default:
      return '';
  }
}

const chainLabel = (type: string): string =>
  transactionTypeList.find((each) => each.type === type)?.chain ?? visibleName(type);
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const listOf = (value: unknown): readonly Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter(isRecord) : [];
const textOf = (value: unknown): string => (typeof value === 'string' ? visibleName(value) : '');
const join = (...parts: readonly (string | false)[]): string =>
  parts.filter((part) => part !== false && part !== '').join(', ');
