/** Which screen is shown: outside the vault by its state, inside it by the address. */

import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { Loader, VisuallyHidden } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { Route, Router, Switch } from 'wouter';
import { useHashLocation } from 'wouter/use-hash-location';
import { ApprovalNotices } from './parts/approval-notices.tsx';
import { Failure } from './parts/states.tsx';
import { MessageNotices } from './parts/message-notices.tsx';
import { Shell } from './parts/shell.tsx';
import { StatusProvider, useDoorState, useStatusQuery } from './parts/vault.tsx';
import { About } from './screens/about.tsx';
import { Activity } from './screens/activity.tsx';
import { Approvals } from './screens/approvals.tsx';
import { Backups } from './screens/backups.tsx';
import { Connect } from './screens/connect.tsx';
import { ContractInterfaces } from './screens/contract-interfaces.tsx';
import { FirstRun } from './screens/first-run.tsx';
import { Home } from './screens/home.tsx';
import { Messages } from './screens/messages.tsx';
import { Organization } from './screens/organization.tsx';
import { Keyslots } from './screens/keyslots.tsx';
import { NewPhrase } from './screens/keyslots-phrase.tsx';
import { RecoverySheets } from './screens/keyslots-sheet.tsx';
import { Permissions } from './screens/permissions.tsx';
import { Policies } from './screens/policies.tsx';
import { NewPolicy, Policy } from './screens/policy.tsx';
import { ImportPrivateKey } from './screens/private-key-import.tsx';
import { PrivateKey } from './screens/private-key.tsx';
import { NewPrivateKey, PrivateKeys } from './screens/private-keys.tsx';
import { Sessions } from './screens/sessions.tsx';
import { Settings } from './screens/settings.tsx';
import { Sign } from './screens/sign.tsx';
import { SignedOut } from './screens/signed-out.tsx';
import { Stopped } from './screens/stopped.tsx';
import { SubOrganization } from './screens/sub-organization.tsx';
import { NewSubOrganization, SubOrganizations } from './screens/sub-organizations.tsx';
import { Tags } from './screens/tags.tsx';
import { Unlock } from './screens/unlock.tsx';
import { User, UserApiKey } from './screens/user.tsx';
import { NewUser, Users } from './screens/users.tsx';
import { WalletAccount } from './screens/wallet-account.tsx';
import { ImportWallet } from './screens/wallet-import.tsx';
import { Wallet } from './screens/wallet.tsx';
import { NewWallet, Wallets } from './screens/wallets.tsx';
import { Webhooks } from './screens/webhooks.tsx';
import { NotFound } from './screens/not-found.tsx';

export function Window(): ReactNode {
  const door = useDoorState();
  if (door === 'signed-out') return <SignedOut />;
  return (
    <>
      {door === 'stopped' && <Stopped />}
      {/* What was typed stays where it is until the service is back. */}
      <div hidden={door === 'stopped'}>
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
      <div className="lk-waiting">
        {error === null ? (
          <div role="status">
            <Loader aria-hidden />
            <VisuallyHidden>Asking the vault for its state</VisuallyHidden>
          </div>
        ) : (
          <Failure
            title="The vault did not say what state it is in"
            error={error}
            onRetry={() => void refetch()}
          />
        )}
      </div>
    );
  }
  return <StatusProvider value={status}>{inside()}</StatusProvider>;

  function inside(): ReactNode {
    if (creating || status?.state === 'none') return <FirstRun onCreating={setCreating} />;
    if (status?.state === 'locked') return <Unlock />;
    return <Places />;
  }
}

function Places(): ReactNode {
  // What was said inside the vault is not left standing outside of it.
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
      <Shell>
        <Switch>
          <Route path="/" component={Home} />
          <Route path="/wallets" component={Wallets} />
          <Route path="/wallets/new" component={NewWallet} />
          <Route path="/wallets/import" component={ImportWallet} />
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
          <Route path="/private-keys/:privateKeyId">
            {({ privateKeyId }) => <PrivateKey key={privateKeyId} privateKeyId={privateKeyId} />}
          </Route>
          <Route path="/sign">
            <Sign />
          </Route>
          <Route path="/sign/contracts" component={ContractInterfaces} />
          <Route path="/sign/account/:walletId/:accountId">
            {({ walletId, accountId }) => (
              <Sign key={accountId} start={{ kind: 'account', walletId, accountId }} />
            )}
          </Route>
          <Route path="/sign/key/:privateKeyId">
            {({ privateKeyId }) => <Sign key={privateKeyId} start={{ kind: 'key', privateKeyId }} />}
          </Route>
          <Route path="/users" component={Users} />
          <Route path="/users/new" component={NewUser} />
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
          <Route path="/policies/:policyId">
            {({ policyId }) => <Policy key={policyId} policyId={policyId} />}
          </Route>
          <Route path="/organization" component={Organization} />
          <Route path="/sub-organizations" component={SubOrganizations} />
          <Route path="/sub-organizations/new" component={NewSubOrganization} />
          <Route path="/sub-organizations/:organizationId">
            {({ organizationId }) => <SubOrganization key={organizationId} organizationId={organizationId} />}
          </Route>
          <Route path="/keyslots" component={Keyslots} />
          <Route path="/keyslots/sheet" component={RecoverySheets} />
          <Route path="/keyslots/:keyslotId/new-phrase">
            {({ keyslotId }) => <NewPhrase key={keyslotId} keyslotId={keyslotId} />}
          </Route>
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
      </Shell>
    </Router>
  );
}
