import type { ReactNode } from 'react';
import { notifications } from '@mantine/notifications';
import { useLocation } from 'wouter';
import { describeStatus, describeType } from '../parts/activity-words.ts';
import { count } from '../parts/bytes.ts';
import { featureLabel } from '../parts/features.ts';
import { ShortId } from '../parts/identifier.tsx';
import { DeleteForm, Manage, ManageAction } from '../parts/manage.tsx';
import { Moment } from '../parts/moment.tsx';
import { Origin } from '../parts/origin.tsx';
import { Facts, PageHead, Panel } from '../parts/page.tsx';
import { describeQuorum } from '../parts/quorum.ts';
import type { Activity, User } from '../parts/resources.ts';
import { shorten } from '../parts/short.ts';
import { Empty, Failure, LoadingRows } from '../parts/states.tsx';
import { isOurs, useSubOrganization, useWindowKey } from '../parts/sub-organizations.ts';
import type { OrganizationData } from '../parts/sub-organizations.ts';
import { useAsk, useSubmit } from '../parts/vault.tsx';
import '../parts/rows.css';

const back = { to: '/sub-organizations', label: 'Sub-organizations' };

/** One sub-organization, to read; whoever may act in it can delete it. */
export function SubOrganization({ organizationId }: { readonly organizationId: string }): ReactNode {
  const { data, error, isPending, refetch } = useSubOrganization(organizationId);
  const windowKey = useWindowKey();
  const organization = data?.organizationData;
  return (
    <>
      <PageHead title={organization?.name ?? 'Sub-organization'} back={back} />
      {isPending && (
        <Panel kind="plain">
          <LoadingRows what="the sub-organization" />
        </Panel>
      )}
      <Failure title="The sub-organization could not be read" error={error} onRetry={() => void refetch()} />
      {organization !== undefined && (
        <>
          <Overview of={organization} />
          <Users of={organization.users} />
          <Holdings of={organization} />
          <Recent organizationId={organizationId} />
          <Manage>
            <Delete of={organization} may={isOurs(organization, windowKey)} />
          </Manage>
        </>
      )}
    </>
  );
}

function Overview({ of }: { readonly of: OrganizationData }): ReactNode {
  const { threshold, userIds } = of.rootQuorum;
  const nameOf = (id: string): string =>
    of.users.find(({ userId }) => userId === id)?.userName ?? shorten(id);
  return (
    <Panel>
      <Facts
        rows={[
          ['Id', <ShortId key="id" text={of.organizationId} what="organization id" />],
          ['Root quorum', describeQuorum(threshold, userIds.map(nameOf))],
          ['Policies', of.policies.map(({ policyName }) => policyName).join(', ') || 'None'],
          ['Switched on', of.features.map(({ name }) => featureLabel(name)).join(', ') || 'Nothing'],
        ]}
      />
    </Panel>
  );
}

function Users({ of }: { readonly of: readonly User[] }): ReactNode {
  return (
    <Panel title="Users" kind="plain">
      <ul className="lk-rows" aria-label="Users">
        {of.map((user) => (
          <li key={user.userId} className="lk-row">
            <span>
              <span className="lk-row-name">{user.userName}</span>
              <br />
              <span className="lk-row-more">{waysIn(user)}</span>
            </span>
            <span className="lk-row-side">
              Made <Moment at={user.createdAt} />
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

const waysIn = ({
  userEmail = '',
  userPhoneNumber = '',
  apiKeys,
  authenticators,
  oauthProviders,
}: User): string =>
  [
    userEmail,
    userPhoneNumber,
    apiKeys.length === 0 ? '' : count(apiKeys.length, 'API key'),
    authenticators.length === 0 ? '' : count(authenticators.length, 'passkey'),
    oauthProviders.length === 0 ? '' : count(oauthProviders.length, 'OAuth provider'),
  ]
    .filter((part) => part !== '')
    .join(' · ');

function Holdings({ of: { wallets, privateKeys } }: { readonly of: OrganizationData }): ReactNode {
  const rows = [
    ...wallets.map((wallet) => ({
      id: wallet.walletId,
      name: wallet.walletName,
      what: 'Wallet',
      of: wallet,
    })),
    ...privateKeys.map((key) => ({
      id: key.privateKeyId,
      name: key.privateKeyName,
      what: 'Private key',
      of: key,
    })),
  ];
  return (
    <Panel title="Wallets and private keys" kind="plain">
      {rows.length === 0 ? (
        <Empty title="None yet" level={3}>
          <p>Its users make wallets and keys in it, by requests that name its id.</p>
        </Empty>
      ) : (
        <ul className="lk-rows" aria-label="Wallets and private keys">
          {rows.map(({ id, name, what, of }) => (
            <li key={id} className="lk-row">
              <span>
                <span className="lk-row-name">{name}</span> <Origin of={of} />
                <br />
                <span className="lk-row-more">{what}</span>
              </span>
              <span className="lk-row-side">
                Made <Moment at={of.createdAt} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

const shownActivities = 10;

function Recent({ organizationId }: { readonly organizationId: string }): ReactNode {
  const { data, error, isPending, refetch } = useAsk<{ activities: readonly Activity[] }>('list_activities', {
    organizationId,
    paginationOptions: { limit: String(shownActivities) },
  });
  return (
    <Panel title="Last activity" kind="plain">
      {isPending && <LoadingRows what="its activity" />}
      <Failure title="Its activity could not be read" error={error} onRetry={() => void refetch()} />
      {data?.activities.length === 0 && (
        <Empty title="Nothing was done in it yet" level={3}>
          <p>What made it is in the activity of the vault’s own organization.</p>
        </Empty>
      )}
      {data !== undefined && data.activities.length > 0 && (
        <ul className="lk-rows" aria-label="Last activity">
          {data.activities.map((activity) => (
            <li key={activity.id} className="lk-row">
              <span>
                <span className="lk-row-name">{describeType(activity.type)}</span>
                <br />
                <span className="lk-row-more">{describeStatus(activity.status).label}</span>
              </span>
              <span className="lk-row-side">
                <Moment at={activity.createdAt} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

const deleteSubOrganization = {
  operation: 'delete_sub_organization',
  type: 'ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION',
  result: 'deleteSubOrganizationResult',
} as const;

function Delete({ of, may }: { readonly of: OrganizationData; readonly may: boolean }): ReactNode {
  const [, navigate] = useLocation();
  const remove = useSubmit<{ deleteWithoutExport: boolean }, unknown>({
    ...deleteSubOrganization,
    organizationId: of.organizationId,
  });
  const kept = [...of.wallets, ...of.privateKeys];
  const lost = kept.filter(({ exported }) => !exported).length;
  return (
    <ManageAction
      name="Delete"
      about="Everything in it goes with it. What was done in it stays in the activity log."
      title={`Delete “${of.name}”`}
      danger
      refused={
        may ? undefined : 'Only its own users may delete it: this window has no key of its root quorum.'
      }
    >
      {(close) => (
        <DeleteForm
          what="organization"
          outcomes={[
            `${count(of.users.length, 'user')} and ${count(kept.length, 'wallet or private key', 'wallets and private keys')} go with it.`,
            'Requests of its users are refused from then on.',
          ]}
          loss={
            lost === 0
              ? undefined
              : {
                  title: 'Keys would be lost for good',
                  text: `Nobody has exported ${count(lost, 'wallet or private key', 'wallets and private keys')} of it. What they hold could never be moved again.`,
                }
          }
          confirm={{ text: of.name, what: 'its name' }}
          submitting={remove}
          onCancel={close}
          onDelete={() => {
            remove.mutate(
              { deleteWithoutExport: lost > 0 },
              {
                onSuccess() {
                  close();
                  notifications.show({
                    title: 'The sub-organization is deleted',
                    message: `“${of.name}” and all that was in it are gone.`,
                  });
                  navigate('/sub-organizations', { replace: true });
                },
              },
            );
          }}
        />
      )}
    </ManageAction>
  );
}
