/** The open vault: its frame, the dialogs of every screen, and the table of screens. */

import { Suspense, useEffect } from 'react';
import type { ReactNode } from 'react';
import { Route, Router, Switch, useLocation } from 'wouter';
import { useHashLocation } from 'wouter/use-hash-location';
import { ApprovalNotices } from '../features/approvals/approval-notices.tsx';
import { MessageNotices } from '../features/messages/message-notices.tsx';
import { StepUp } from '../features/unlock/step-up-part.tsx';
import { Shell } from './shell/shell.tsx';
import { LoadBoundary } from './load-boundary.tsx';
import { LoadingRows } from '../ui/feedback.tsx';
import { t } from './i18n/text.ts';
import { Home } from '../features/home/home.tsx';
import {
  About,
  Activity,
  Addresses,
  Agents,
  Approvals,
  Backups,
  Connect,
  ContractInterfaces,
  Doors,
  ImportPrivateKey,
  ImportWallet,
  Keyslots,
  Messages,
  NewPhrase,
  NewPolicy,
  NewPrivateKey,
  NewSecret,
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
  Secret,
  SecretActivity,
  Secrets,
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
} from './screens.ts';
import { NotFound } from './not-found.tsx';
import { dropDraftsOnLeave } from './drafts.ts';
import { useInsideNotices } from './inside-notices.ts';
import { LockWarning } from './shell/lock-warning.tsx';

export function OpenVault(): ReactNode {
  useInsideNotices();
  useEffect(dropDraftsOnLeave, []);
  return (
    <Router hook={useHashLocation}>
      <LockWarning />
      <MessageNotices />
      <ApprovalNotices />
      <StepUp />
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
            <Route path="/secrets" component={Secrets} />
            <Route path="/secrets/new" component={NewSecret} />
            <Route path="/secrets/:secretId/activity">
              {({ secretId }) => <SecretActivity key={secretId} secretId={secretId} />}
            </Route>
            <Route path="/secrets/:secretId">
              {({ secretId }) => <Secret key={secretId} secretId={secretId} />}
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
            <Route path="/agents" component={Agents} />
            <Route path="/doors" component={Doors} />
            <Route component={NotFound} />
          </Switch>
        </ScreenPart>
      </Shell>
    </Router>
  );
}

/** A screen whose code may still be on its way from the service. */
function ScreenPart({ children }: { readonly children: ReactNode }): ReactNode {
  const [location] = useLocation();
  return (
    <LoadBoundary at={location}>
      <Suspense fallback={<LoadingRows label={t('Loading the screen')} late />}>{children}</Suspense>
    </LoadBoundary>
  );
}
