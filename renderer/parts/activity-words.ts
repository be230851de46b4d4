/** Activities in plain words. */

import { count } from './bytes.ts';
import type { Activity } from './resources.ts';
import { shorten } from './short.ts';

const typeWords: Readonly<Record<string, string>> = {
  CREATE_WALLET: 'Create a wallet',
  CREATE_WALLET_ACCOUNTS: 'Add accounts to a wallet',
  CREATE_PRIVATE_KEYS: 'Create private keys',
  SIGN_RAW_PAYLOAD: 'Sign a payload',
  CREATE_USERS: 'Add users',
  CREATE_API_KEYS: 'Add API keys',
};

const bareType = (type: string): string => type.replace(/^ACTIVITY_TYPE_/, '').replace(/_V\d+$/, '');

export function describeType(type: string): string {
  const bare = bareType(type);
  const words = bare.toLowerCase().replaceAll('_', ' ');
  return typeWords[bare] ?? words.charAt(0).toUpperCase() + words.slice(1);
}

/** What to filter by, with every version of the type that a client may have sent. */
export const typeFilters: readonly { readonly label: string; readonly types: readonly string[] }[] = [
  ['CREATE_WALLET'],
  ['CREATE_WALLET_ACCOUNTS'],
  ['CREATE_PRIVATE_KEYS_V2', 'CREATE_PRIVATE_KEYS'],
  ['SIGN_RAW_PAYLOAD_V2', 'SIGN_RAW_PAYLOAD'],
  ['CREATE_USERS_V4', 'CREATE_USERS_V3', 'CREATE_USERS_V2'],
  ['CREATE_API_KEYS_V2', 'CREATE_API_KEYS'],
].map((types) => ({
  label: describeType(types[0] ?? ''),
  types: types.map((type) => `ACTIVITY_TYPE_${type}`),
}));

interface StatusWords {
  readonly label: string;
  readonly tone: 'done' | 'failed' | 'waiting';
}

const statusWords: Readonly<Record<string, StatusWords>> = {
  ACTIVITY_STATUS_COMPLETED: { label: 'Done', tone: 'done' },
  ACTIVITY_STATUS_FAILED: { label: 'Failed', tone: 'failed' },
  ACTIVITY_STATUS_REJECTED: { label: 'Rejected', tone: 'failed' },
  ACTIVITY_STATUS_CREATED: { label: 'Started', tone: 'waiting' },
  ACTIVITY_STATUS_PENDING: { label: 'In progress', tone: 'waiting' },
  ACTIVITY_STATUS_CONSENSUS_NEEDED: { label: 'Needs approval', tone: 'waiting' },
  ACTIVITY_STATUS_AUTHENTICATORS_NEEDED: { label: 'Needs a passkey', tone: 'waiting' },
};

export const filterStatuses: readonly string[] = Object.keys(statusWords);

export const describeStatus = (status: string): StatusWords =>
  statusWords[status] ?? { label: status.replace(/^ACTIVITY_STATUS_/, ''), tone: 'waiting' };

/** What was asked, without the wrapper that names the type's version. */
export function intentOf(activity: Pick<Activity, 'intent'>): Readonly<Record<string, unknown>> {
  const [first] = Object.values(activity.intent);
  return isRecord(first) ? first : {};
}

/** One line on what the activity is about: names where there are names, ends of identifiers where not. */
export function summarize(activity: Pick<Activity, 'type' | 'intent'>): string {
  const intent = intentOf(activity);
  const accounts = listOf(intent['accounts']);
  switch (bareType(activity.type)) {
    case 'CREATE_WALLET':
      return join(textOf(intent['walletName']), accounts.length > 0 && count(accounts.length, 'account'));
    case 'CREATE_WALLET_ACCOUNTS':
      return join(...accounts.map((account) => textOf(account['path'])));
    case 'CREATE_PRIVATE_KEYS':
      return join(...listOf(intent['privateKeys']).map((key) => textOf(key['privateKeyName'])));
    case 'SIGN_RAW_PAYLOAD':
      return `with ${shorten(textOf(intent['signWith']) || textOf(intent['privateKeyId']))}`;
    case 'CREATE_USERS':
      return join(...listOf(intent['users']).map((user) => textOf(user['userName'])));
    case 'CREATE_API_KEYS':
      return join(...listOf(intent['apiKeys']).map((key) => textOf(key['apiKeyName'])));
    default:
      return '';
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const listOf = (value: unknown): readonly Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter(isRecord) : [];
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const join = (...parts: readonly (string | false)[]): string =>
  parts.filter((part) => part !== false && part !== '').join(', ');
