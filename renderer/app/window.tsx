/** Chooses the screen: outside the vault by its state, inside it by the address. */

import { Suspense, useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { Loader, VisuallyHidden } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { Route, Router, Switch } from 'wouter';
import { useHashLocation } from 'wouter/use-hash-location';
import { ApprovalNotices } from '../features/approvals/approval-notices.tsx';
import { LoadBoundary } from './load-boundary.tsx';
import { Failure, LoadingRows } from '../ui/feedback.tsx';
import { MessageNotices } from '../features/messages/message-notices.tsx';
import { StepUpDialog } from '../features/unlock/step-up-dialog.tsx';
import { Shell } from './shell/shell.tsx';
import { t } from './i18n/text.ts';
import { StatusProvider, useRpcState, useStatusQuery } from './rpc/vault.tsx';
import { Home } from '../features/home/home.tsx';
import { SignedOut } from './signed-out.tsx';
import { Stopped } from './stopped.tsx';
import {
  About,
  Activity,
  Addresses,
  Approvals,
  Backups,
  Connect,
  ContractInterfaces,
  FirstRun,
  ImportPrivateKey,
  ImportWallet,
  Keyslots,
  Messages,
  NewPhrase,
  NewPolicy,
  NewPrivateKey,
  NewSubOrganization,
  NewUser,
  NewWallet,
  Organization,
  Permissions,
  Policies,
  Policy,
  PolicyActivity,
  PrivateKey,
  PrivateKeyActivity,
  PrivateKeys,
  RecoverySheets,
  SecurityTimeline,
  Sessions,
  Settings,
  Sign,
  SubOrganization,
  SubOrganizations,
  Tags,
  User,
  UserActivity,
  UserApiKey,
  Users,
  Wallet,
  WalletActivity,
  WalletAccount,
  Wallets,
  Webhooks,
  loadAllScreens,
} from './screens.ts';
import { Unlock } from '../features/unlock/unlock.tsx';
import { NotFound } from './not-found.tsx';

export function Window(): ReactNode {
  const connection = useRpcState();
  if (connection === 'signed-out') return <SignedOut />;
  return (
    <>
      {connection === 'stopped' && <Stopped />}
      {/* Typed values stay in place until the service is back. */}
      <div hidden={connection === 'stopped'}>
        <Vault />
      </div>
    </>
  );
}

function Vault(): ReactNode {
  const { data: status, error, refetch } = useStatusQuery();
  // The last step of the first run is shown when the vault is there already.
  const [creating, setCreating] = useState(false);

  if (status === undefined) {
    return (
      <div className="kh-waiting">
        {error === null ? (
          <div role="status">
            <Loader aria-hidden />
            <VisuallyHidden>{t('Loading the vault')}</VisuallyHidden>
          </div>
        ) : (
          <Failure title={t('Couldn’t load the vault')} error={error} onRetry={() => void refetch()} />
        )}
      </div>
    );
  }
  return <StatusProvider value={status}>{inside()}</StatusProvider>;

  function inside(): ReactNode {
    if (creating || status?.state === 'none')
      return (
        <ScreenPart>
          <FirstRun onCreating={setCreating} />
        </ScreenPart>
      );
    if (status?.state === 'locked') return <Unlock />;
    return <Screens />;
  }
}

/** A screen whose code may still be on its way from the service. */
function ScreenPart({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <LoadBoundary>
      <Suspense fallback={<LoadingRows label={t('Loading the screen')} late />}>{children}</Suspense>
    </LoadBoundary>
  );
}

function Screens(): ReactNode {
  // The code of the other screens is fetched after this one has appeared, so that navigation does not wait.
  useEffect(() => loadAllScreens(), []);
  // Notifications from inside the vault disappear outside of it.
  useEffect(
    () => () => {
      notifications.clean();
    },
    [],
  );
  return (
    <Router hook={useHashLocation}>
      <MessageNotices />
      <ApprovalNotices />
      <StepUpDialog />
      <Shell>
        <ScreenPart>
          <Switch>
            <Route path="/" component={Home} />
            <Route path="/wallets" component={Wallets} />
            <Route path="/wallets/new" component={NewWallet} />
            <Route path="/wallets/import" component={ImportWallet} />
            <Route path="/wallets/:walletId/activity">
              {({ walletId }) => <WalletActivity key={walletId} walletId={walletId} />}
            </Route>
            <Route path="/wallets/:walletId">
              {({ walletId }) => <Wallet key={walletId} walletId={walletId} />}
            </Route>
            <Route path="/wallets/:walletId/accounts/:address">
              {({ walletId, address }) => (
                <WalletAccount key={walletId + address} walletId={walletId} address={address} />
              )}
            </Route>
            <Route path="/private-keys" component={PrivateKeys} />
            <Route path="/private-keys/new" component={NewPrivateKey} />
            <Route path="/private-keys/import" component={ImportPrivateKey} />
            <Route path="/private-keys/:privateKeyId/activity">
              {({ privateKeyId }) => <PrivateKeyActivity key={privateKeyId} privateKeyId={privateKeyId} />}
            </Route>
            <Route path="/private-keys/:privateKeyId">
              {({ privateKeyId }) => <PrivateKey key={privateKeyId} privateKeyId={privateKeyId} />}
            </Route>
            <Route path="/sign">
              <Sign />
            </Route>
            <Route path="/sign/contracts" component={ContractInterfaces} />
            <Route path="/sign/account/:walletId/:address">
              {({ walletId, address }) => (
                <Sign key={walletId + address} start={{ kind: 'account', walletId, address }} />
              )}
            </Route>
            <Route path="/sign/key/:privateKeyId">
              {({ privateKeyId }) => <Sign key={privateKeyId} start={{ kind: 'key', privateKeyId }} />}
            </Route>
            <Route path="/addresses/:address?">
              {({ address }) => <Addresses key={address} address={address} />}
            </Route>
            <Route path="/users" component={Users} />
            <Route path="/users/new" component={NewUser} />
            <Route path="/users/:userId/activity">
              {({ userId }) => <UserActivity key={userId} userId={userId} />}
            </Route>
            <Route path="/users/:userId">{({ userId }) => <User key={userId} userId={userId} />}</Route>
            <Route path="/users/:userId/new-api-key">
              {({ userId }) => <UserApiKey key={userId} userId={userId} />}
            </Route>
            <Route path="/sessions" component={Sessions} />
            <Route path="/tags" component={Tags} />
            <Route path="/policies" component={Policies} />
            <Route path="/policies/permissions" component={Permissions} />
            <Route path="/policies/new/:template?">
              {({ template }) => <NewPolicy key={template} template={template} />}
            </Route>
            <Route path="/policies/:policyId/activity">
              {({ policyId }) => <PolicyActivity key={policyId} policyId={policyId} />}
            </Route>
            <Route path="/policies/:policyId">
              {({ policyId }) => <Policy key={policyId} policyId={policyId} />}
            </Route>
            <Route path="/organization" component={Organization} />
            <Route path="/sub-organizations" component={SubOrganizations} />
            <Route path="/sub-organizations/new" component={NewSubOrganization} />
            <Route path="/sub-organizations/:organizationId">
              {({ organizationId }) => (
                <SubOrganization key={organizationId} organizationId={organizationId} />
              )}
            </Route>
            <Route path="/keyslots" component={Keyslots} />
            <Route path="/keyslots/sheet" component={RecoverySheets} />
            <Route path="/keyslots/:keyslotId/new-phrase">
              {({ keyslotId }) => <NewPhrase key={keyslotId} keyslotId={keyslotId} />}
            </Route>
            <Route path="/activity/security" component={SecurityTimeline} />
            <Route path="/activity/:activityId?">
              {({ activityId }) => <Activity activityId={activityId} />}
            </Route>
            <Route path="/webhooks" component={Webhooks} />
            <Route path="/approvals/:activityId?">
              {({ activityId }) => <Approvals activityId={activityId} />}
            </Route>
            <Route path="/backups" component={Backups} />
            <Route path="/messages" component={Messages} />
            <Route path="/settings" component={Settings} />
            <Route path="/about" component={About} />
            <Route path="/connect" component={Connect} />
            <Route component={NotFound} />
          </Switch>
        </ScreenPart>
      </Shell>
    </Router>
  );
}
