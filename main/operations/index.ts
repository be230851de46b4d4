/** Every operation, by the names that requests use. */
import type { Operation } from '../activities/define.ts';
import * as activities from './activities.ts';
import * as activityLists from './activity-lists.ts';
import * as apiKeys from './api-keys.ts';
import * as authenticators from './authenticators.ts';
import * as credentialUses from './credential-uses.ts';
import * as features from './features.ts';
import * as oauthProviders from './oauth-providers.ts';
import * as organizations from './organizations.ts';
import * as otp from './otp.ts';
import * as payloadDescriptions from './payload-descriptions.ts';
import * as permissions from './permissions.ts';
import * as policies from './policies.ts';
import * as policyDrafts from './policy-drafts.ts';
import * as policyTrials from './policy-trials.ts';
import * as privateKeys from './private-keys.ts';
import * as recovery from './recovery.ts';
import * as refusals from './refusals.ts';
import * as search from './search.ts';
import * as sessions from './sessions.ts';
import * as signIn from './sign-in.ts';
import * as signing from './signing.ts';
import * as smartContractInterfaces from './smart-contract-interfaces.ts';
import * as subOrganizations from './sub-organizations.ts';
import * as tags from './tags.ts';
import * as transactions from './transactions.ts';
import * as users from './users.ts';
import * as walletAccounts from './wallet-accounts.ts';
import * as votes from './votes.ts';
import * as walletAccountLists from './wallet-account-lists.ts';
import * as wallets from './wallets.ts';
import * as webhookDeliveries from './webhook-deliveries.ts';
import * as webhookEndpoints from './webhook-endpoints.ts';

const all: readonly Operation[] = [
  organizations,
  search,
  subOrganizations,
  features,
  users,
  apiKeys,
  authenticators,
  oauthProviders,
  otp,
  signIn,
  sessions,
  credentialUses,
  recovery,
  privateKeys,
  wallets,
  walletAccounts,
  walletAccountLists,
  signing,
  transactions,
  smartContractInterfaces,
  payloadDescriptions,
  tags,
  policies,
  policyDrafts,
  webhookEndpoints,
  webhookDeliveries,
  policyTrials,
  permissions,
  refusals,
  activities,
  activityLists,
  votes,
].flatMap((resource) => Object.values<Operation>(resource));

/** By path, as it follows `/public/v1/`: `submit/create_wallet`, `query/list_wallets`. */
export const operations: ReadonlyMap<string, Operation> = new Map(
  all.map((operation) => [`${operation.kind === 'query' ? 'query' : 'submit'}/${operation.path}`, operation]),
);
