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
      // Who goes there while the service is away is told so then.
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

export const About = screen(async () => (await import('./screens/about.tsx')).About);
export const Activity = screen(async () => (await import('./screens/activity.tsx')).Activity);
export const Approvals = screen(async () => (await import('./screens/approvals.tsx')).Approvals);
export const Backups = screen(async () => (await import('./screens/backups.tsx')).Backups);
export const Connect = screen(async () => (await import('./screens/connect.tsx')).Connect);
export const ContractInterfaces = screen(
  async () => (await import('./screens/contract-interfaces.tsx')).ContractInterfaces,
);
export const FirstRun = screen(async () => (await import('./screens/first-run.tsx')).FirstRun);
export const Messages = screen(async () => (await import('./screens/messages.tsx')).Messages);
export const Organization = screen(async () => (await import('./screens/organization.tsx')).Organization);
export const Keyslots = screen(async () => (await import('./screens/keyslots.tsx')).Keyslots);
export const NewPhrase = screen(async () => (await import('./screens/keyslots-phrase.tsx')).NewPhrase);
export const RecoverySheets = screen(
  async () => (await import('./screens/keyslots-sheet.tsx')).RecoverySheets,
);
export const Permissions = screen(async () => (await import('./screens/permissions.tsx')).Permissions);
export const Policies = screen(async () => (await import('./screens/policies.tsx')).Policies);
export const NewPolicy = screen(async () => (await import('./screens/policy.tsx')).NewPolicy);
export const Policy = screen(async () => (await import('./screens/policy.tsx')).Policy);
export const ImportPrivateKey = screen(
  async () => (await import('./screens/private-key-import.tsx')).ImportPrivateKey,
);
export const PrivateKey = screen(async () => (await import('./screens/private-key.tsx')).PrivateKey);
export const NewPrivateKey = screen(async () => (await import('./screens/private-keys.tsx')).NewPrivateKey);
export const PrivateKeys = screen(async () => (await import('./screens/private-keys.tsx')).PrivateKeys);
export const Sessions = screen(async () => (await import('./screens/sessions.tsx')).Sessions);
export const Settings = screen(async () => (await import('./screens/settings.tsx')).Settings);
export const Sign = screen(async () => (await import('./screens/sign.tsx')).Sign);
export const SubOrganization = screen(
  async () => (await import('./screens/sub-organization.tsx')).SubOrganization,
);
export const NewSubOrganization = screen(
  async () => (await import('./screens/sub-organizations.tsx')).NewSubOrganization,
);
export const SubOrganizations = screen(
  async () => (await import('./screens/sub-organizations.tsx')).SubOrganizations,
);
export const Tags = screen(async () => (await import('./screens/tags.tsx')).Tags);
export const User = screen(async () => (await import('./screens/user.tsx')).User);
export const UserApiKey = screen(async () => (await import('./screens/user.tsx')).UserApiKey);
export const NewUser = screen(async () => (await import('./screens/users.tsx')).NewUser);
export const Users = screen(async () => (await import('./screens/users.tsx')).Users);
export const WalletAccount = screen(async () => (await import('./screens/wallet-account.tsx')).WalletAccount);
export const ImportWallet = screen(async () => (await import('./screens/wallet-import.tsx')).ImportWallet);
export const Wallet = screen(async () => (await import('./screens/wallet.tsx')).Wallet);
export const NewWallet = screen(async () => (await import('./screens/wallets.tsx')).NewWallet);
export const Wallets = screen(async () => (await import('./screens/wallets.tsx')).Wallets);
export const Webhooks = screen(async () => (await import('./screens/webhooks.tsx')).Webhooks);
