/**
 * The screens that are not needed for the first sight of the window: the code of each is fetched when one goes there, or
 * when the window has nothing else to do.
 */

import { lazy } from 'react';
import type { ComponentType, LazyExoticComponent } from 'react';

const loads: (() => Promise<unknown>)[] = [];

function screen<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): LazyExoticComponent<ComponentType<Props>> {
  loads.push(load);
  return lazy(async () => ({ default: await load() }));
}

/** Fetches them all, one after another, as soon as nothing else is to be done. @returns what stops it. */
export function loadAllScreens(): () => void {
  let stopped = false;
  const next = (index: number): void => {
    const load = loads[index];
    if (load === undefined) return;
    setTimeout(() => {
      if (stopped) return;
      // A visit to the screen reports the failure, if the service is still away.
      load()
        .catch(() => undefined)
        .finally(() => {
          next(index + 1);
        });
    }, pause);
  };
  next(0);
  return () => {
    stopped = true;
  };
}

/** In milliseconds, so that what one does meanwhile comes first. */
const pause = 50;

export const About = screen(async () => (await import('../features/settings/about.tsx')).About);
export const Activity = screen(async () => (await import('../features/activity/activity.tsx')).Activity);
export const Addresses = screen(async () => (await import('../features/addresses/addresses.tsx')).Addresses);
export const Approvals = screen(async () => (await import('../features/approvals/approvals.tsx')).Approvals);
export const Backups = screen(async () => (await import('../features/backups/backups.tsx')).Backups);
export const Connect = screen(async () => (await import('../features/connect/connect.tsx')).Connect);
export const ContractInterfaces = screen(
  async () => (await import('../features/contract-interfaces/contract-interfaces.tsx')).ContractInterfaces,
);
export const FirstRun = screen(async () => (await import('../features/first-run/first-run.tsx')).FirstRun);
export const Messages = screen(async () => (await import('../features/messages/messages.tsx')).Messages);
export const Organization = screen(
  async () => (await import('../features/organization/organization.tsx')).Organization,
);
export const Keyslots = screen(async () => (await import('../features/keyslots/keyslots.tsx')).Keyslots);
export const NewPhrase = screen(
  async () => (await import('../features/keyslots/keyslots-phrase.tsx')).NewPhrase,
);
export const RecoverySheets = screen(
  async () => (await import('../features/keyslots/keyslots-sheet.tsx')).RecoverySheets,
);
export const Permissions = screen(
  async () => (await import('../features/policies/permissions.tsx')).Permissions,
);
export const Policies = screen(async () => (await import('../features/policies/policies.tsx')).Policies);
export const NewPolicy = screen(async () => (await import('../features/policies/policy.tsx')).NewPolicy);
export const Policy = screen(async () => (await import('../features/policies/policy.tsx')).Policy);
export const ImportPrivateKey = screen(
  async () => (await import('../features/private-keys/private-key-import.tsx')).ImportPrivateKey,
);
export const PrivateKey = screen(
  async () => (await import('../features/private-keys/private-key.tsx')).PrivateKey,
);
export const NewPrivateKey = screen(
  async () => (await import('../features/private-keys/private-keys.tsx')).NewPrivateKey,
);
export const PrivateKeys = screen(
  async () => (await import('../features/private-keys/private-keys.tsx')).PrivateKeys,
);
export const Sessions = screen(async () => (await import('../features/users/sessions.tsx')).Sessions);
export const SecurityTimeline = screen(
  async () => (await import('../features/activity/security-timeline.tsx')).SecurityTimeline,
);
export const Settings = screen(async () => (await import('../features/settings/settings.tsx')).Settings);
export const Sign = screen(async () => (await import('../features/sign/sign.tsx')).Sign);
export const SubOrganization = screen(
  async () => (await import('../features/organization/sub-organization.tsx')).SubOrganization,
);
export const NewSubOrganization = screen(
  async () => (await import('../features/organization/sub-organizations.tsx')).NewSubOrganization,
);
export const SubOrganizations = screen(
  async () => (await import('../features/organization/sub-organizations.tsx')).SubOrganizations,
);
export const Tags = screen(async () => (await import('../features/tags/tags.tsx')).Tags);
export const User = screen(async () => (await import('../features/users/user.tsx')).User);
export const UserApiKey = screen(async () => (await import('../features/users/user.tsx')).UserApiKey);
export const NewUser = screen(async () => (await import('../features/users/users.tsx')).NewUser);
export const Users = screen(async () => (await import('../features/users/users.tsx')).Users);
export const WalletAccount = screen(
  async () => (await import('../features/wallets/wallet-account.tsx')).WalletAccount,
);
export const ImportWallet = screen(
  async () => (await import('../features/wallets/wallet-import.tsx')).ImportWallet,
);
export const Wallet = screen(async () => (await import('../features/wallets/wallet.tsx')).Wallet);
export const NewWallet = screen(async () => (await import('../features/wallets/wallets.tsx')).NewWallet);
export const Wallets = screen(async () => (await import('../features/wallets/wallets.tsx')).Wallets);
export const Webhooks = screen(async () => (await import('../features/webhooks/webhooks.tsx')).Webhooks);
export const PolicyActivity = screen(
  async () => (await import('../features/activity/object-activity.tsx')).PolicyActivity,
);
export const PrivateKeyActivity = screen(
  async () => (await import('../features/activity/object-activity.tsx')).PrivateKeyActivity,
);
export const UserActivity = screen(
  async () => (await import('../features/activity/object-activity.tsx')).UserActivity,
);
export const WalletActivity = screen(
  async () => (await import('../features/activity/object-activity.tsx')).WalletActivity,
);
