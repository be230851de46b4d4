/** The screens that are not needed for the first sight of the window. */

import { later } from './later.tsx';

export const About = later(async () => (await import('../features/settings/about.tsx')).About);
export const Activity = later(async () => (await import('../features/activity/activity.tsx')).Activity);
export const Addresses = later(async () => (await import('../features/addresses/addresses.tsx')).Addresses);
export const Agents = later(async () => (await import('../features/agents/agents.tsx')).Agents);
export const Approvals = later(async () => (await import('../features/approvals/approvals.tsx')).Approvals);
export const Backups = later(async () => (await import('../features/backups/backups.tsx')).Backups);
export const Connect = later(async () => (await import('../features/connect/connect.tsx')).Connect);
export const ContractInterfaces = later(
  async () => (await import('../features/contract-interfaces/contract-interfaces.tsx')).ContractInterfaces,
);
export const Doors = later(async () => (await import('../features/doors/doors.tsx')).Doors);
export const Messages = later(async () => (await import('../features/messages/messages.tsx')).Messages);
export const Organization = later(
  async () => (await import('../features/organization/organization.tsx')).Organization,
);
export const Keyslots = later(async () => (await import('../features/keyslots/keyslots.tsx')).Keyslots);
export const NewPhrase = later(
  async () => (await import('../features/keyslots/keyslots-phrase.tsx')).NewPhrase,
);
export const RecoverySheets = later(
  async () => (await import('../features/keyslots/keyslots-sheet.tsx')).RecoverySheets,
);
export const Permissions = later(
  async () => (await import('../features/policies/permissions/permissions.tsx')).Permissions,
);
export const Policies = later(async () => (await import('../features/policies/policies.tsx')).Policies);
export const NewPolicy = later(async () => (await import('../features/policies/policy.tsx')).NewPolicy);
export const Policy = later(async () => (await import('../features/policies/policy.tsx')).Policy);
export const ImportPrivateKey = later(
  async () => (await import('../features/private-keys/private-key-import.tsx')).ImportPrivateKey,
);
export const PrivateKey = later(
  async () => (await import('../features/private-keys/private-key.tsx')).PrivateKey,
);
export const NewPrivateKey = later(
  async () => (await import('../features/private-keys/private-keys.tsx')).NewPrivateKey,
);
export const PrivateKeys = later(
  async () => (await import('../features/private-keys/private-keys.tsx')).PrivateKeys,
);
export const NewSecret = later(async () => (await import('../features/secrets/secrets.tsx')).NewSecret);
export const Secret = later(async () => (await import('../features/secrets/secret.tsx')).Secret);
export const Secrets = later(async () => (await import('../features/secrets/secrets.tsx')).Secrets);
export const SecretActivity = later(
  async () => (await import('../features/activity/object-activity.tsx')).SecretActivity,
);
export const Sessions = later(async () => (await import('../features/users/sessions.tsx')).Sessions);
export const SecurityTimeline = later(
  async () => (await import('../features/activity/security-timeline.tsx')).SecurityTimeline,
);
export const Settings = later(async () => (await import('../features/settings/settings.tsx')).Settings);
export const Sign = later(async () => (await import('../features/sign/sign.tsx')).Sign);
export const SubOrganization = later(
  async () => (await import('../features/organization/sub-organization.tsx')).SubOrganization,
);
export const NewSubOrganization = later(
  async () => (await import('../features/organization/sub-organizations.tsx')).NewSubOrganization,
);
export const SubOrganizations = later(
  async () => (await import('../features/organization/sub-organizations.tsx')).SubOrganizations,
);
export const Tags = later(async () => (await import('../features/tags/tags.tsx')).Tags);
export const User = later(async () => (await import('../features/users/user.tsx')).User);
export const UserApiKey = later(async () => (await import('../features/users/user.tsx')).UserApiKey);
export const NewUser = later(async () => (await import('../features/users/users.tsx')).NewUser);
export const Users = later(async () => (await import('../features/users/users.tsx')).Users);
export const WalletAccount = later(
  async () => (await import('../features/wallets/wallet-account.tsx')).WalletAccount,
);
export const ImportWallet = later(
  async () => (await import('../features/wallets/wallet-import.tsx')).ImportWallet,
);
export const Wallet = later(async () => (await import('../features/wallets/wallet.tsx')).Wallet);
export const NewWallet = later(async () => (await import('../features/wallets/wallets.tsx')).NewWallet);
export const Wallets = later(async () => (await import('../features/wallets/wallets.tsx')).Wallets);
export const Webhooks = later(async () => (await import('../features/webhooks/webhooks.tsx')).Webhooks);
export const PolicyActivity = later(
  async () => (await import('../features/activity/object-activity.tsx')).PolicyActivity,
);
export const PrivateKeyActivity = later(
  async () => (await import('../features/activity/object-activity.tsx')).PrivateKeyActivity,
);
export const UserActivity = later(
  async () => (await import('../features/activity/object-activity.tsx')).UserActivity,
);
export const WalletActivity = later(
  async () => (await import('../features/activity/object-activity.tsx')).WalletActivity,
);
