/**
 * The registry: every operation, under the resource that it is about. HTTP, the window, commands, OpenAPI and the documentation take the
 * names, the words and the types of operations from here.
 */
import { toOperations, type Operation } from '../activities/define.ts';
import * as activities from './activities/activities.ts';
import * as activityDescriptions from './activities/activity-descriptions.ts';
import * as activityLists from './activities/activity-lists.ts';
import * as apiKeys from './credentials/api-keys.ts';
import * as authenticators from './credentials/authenticators.ts';
import * as credentialUses from './credentials/credential-uses.ts';
import * as features from './organizations/features.ts';
import * as neededApprovals from './activities/needed-approvals.ts';
import * as oauthProviders from './credentials/oauth-providers.ts';
import * as organizations from './organizations/organizations.ts';
import * as grants from './policies/grants.ts';
import * as knownAddresses from './addresses/known-addresses.ts';
import * as otp from './sign-in/otp.ts';
import * as payloadDescriptions from './signing/payload-descriptions.ts';
import * as permissions from './users/permissions.ts';
import * as policies from './policies/policies.ts';
import * as policyBudgets from './policies/policy-budgets.ts';
import * as policyDrafts from './policies/policy-drafts.ts';
import * as policyTrials from './policies/policy-trials.ts';
import * as previews from './signing/previews.ts';
import * as privateKeys from './private-keys/private-keys.ts';
import * as recovery from './sign-in/recovery.ts';
import * as receiverUses from './activities/receiver-uses.ts';
import * as refusals from './activities/refusals.ts';
import * as secrets from './secrets/secrets.ts';
import * as search from './organizations/search.ts';
import * as sessionProfiles from './sign-in/session-profiles.ts';
import * as sessions from './sign-in/sessions.ts';
import * as signIn from './sign-in/sign-in.ts';
import * as signing from './signing/signing.ts';
import * as signingDays from './activities/signing-days.ts';
import * as spenderChecks from './policies/spender-checks.ts';
import * as smartContractInterfaces from './signing/smart-contract-interfaces.ts';
import * as signedWhoami from './organizations/signed-whoami.ts';
import * as subOrganizations from './organizations/sub-organizations.ts';
import * as tags from './tags/tags.ts';
import * as transactions from './signing/transactions.ts';
import * as users from './users/users.ts';
import * as walletAccounts from './wallets/wallet-accounts.ts';
import * as votes from './activities/votes.ts';
import * as walletAccountLists from './wallets/wallet-account-lists.ts';
import * as walletLabels from './wallets/wallet-labels.ts';
import * as walletSummaries from './wallets/wallet-summaries.ts';
import * as wallets from './wallets/wallets.ts';
import * as webhookDeliveries from './webhooks/webhook-deliveries.ts';
import * as webhookEndpoints from './webhooks/webhook-endpoints.ts';

/** In the order in which a reader looks for them. */
const groups = [
  {
    name: 'Organization',
    about: 'The organization whose vault this is, and what it has switched on.',
    operations: [organizations, signedWhoami, search, features],
  },
  {
    name: 'Sub-organizations',
    about:
      'Organizations of their own under the vault’s: their users alone act in them, the parent’s users read.',
    operations: [subOrganizations],
  },
  {
    name: 'Webhooks',
    about: 'Every activity, sent to URLs as it comes about, signed; and what became of that.',
    operations: [webhookEndpoints, webhookDeliveries],
  },
  {
    name: 'Users',
    about: 'People and programs that may ask something of the vault.',
    operations: [users],
  },
  {
    name: 'API keys',
    about: 'Keys that stamp requests for a user.',
    operations: [apiKeys],
  },
  {
    name: 'Authenticators',
    about: 'Passkeys that stamp requests for a user.',
    operations: [authenticators],
  },
  {
    name: 'Sign-in',
    about: 'Short-lived API keys for users who prove who they are.',
    operations: [signIn, oauthProviders, otp, recovery],
  },
  {
    name: 'Sessions',
    about: 'What a user who is signed in has, on one device for a while.',
    operations: [sessions, sessionProfiles, credentialUses],
  },
  {
    name: 'Private keys',
    about: 'Single keys, made here or imported.',
    operations: [privateKeys],
  },
  {
    name: 'Secrets',
    about: 'Values that programs need, such as passwords and tokens.',
    operations: [secrets],
  },
  {
    name: 'Wallets',
    about: 'HD wallets: one secret, and accounts derived from it.',
    operations: [wallets, walletAccounts, walletAccountLists, walletLabels, walletSummaries],
  },
  {
    name: 'Tags',
    about: 'Names that group users, or private keys.',
    operations: [tags],
  },
  {
    name: 'Signing',
    about: 'Signatures by private keys and wallet accounts.',
    operations: [signing, payloadDescriptions, previews, transactions],
  },
  {
    name: 'Smart contract interfaces',
    about: 'ABIs and IDLs, by which policies and people read the calls in transactions.',
    operations: [smartContractInterfaces],
  },
  {
    name: 'Address book',
    about: 'Names for addresses of others.',
    operations: [knownAddresses],
  },
  {
    name: 'Policies',
    about: 'Rules that say who may do what.',
    operations: [
      policies,
      grants,
      policyBudgets,
      policyDrafts,
      policyTrials,
      spenderChecks,
      refusals,
      permissions,
    ],
  },
  {
    name: 'Activities',
    about: 'The log of every request that changed or signed something.',
    operations: [
      activities,
      activityDescriptions,
      activityLists,
      neededApprovals,
      receiverUses,
      signingDays,
      votes,
    ],
  },
] as const;

export const operations = toOperations(
  groups.map(({ name, about, operations: files }) => ({
    name,
    about,
    operations: files.flatMap((file) => Object.values<Operation>(file)),
  })),
);

type ValuesOfEach<File> = File extends unknown ? File[keyof File] : never;

/** Of every operation its own type: `main/operations/api.ts` tells clients what each takes and answers. */
export type KnownOperation = ValuesOfEach<(typeof groups)[number]['operations'][number]>;
