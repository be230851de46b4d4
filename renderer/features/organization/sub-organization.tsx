import type { ReactNode } from 'react';
import { notifications } from '@mantine/notifications';
import { useLocation } from 'wouter';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { describeStatus, describeType } from '../activity/activity-words.ts';
import { featureLabel } from './feature-words.ts';
import { ShortId } from '../../ui/identifier.tsx';
import { DeleteForm, DangerZone, DangerAction } from '../../ui/danger-zone.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { OutsideBadges } from '../../ui/outside-badges.tsx';
import { Facts, PageHead, Panel } from '../../ui/page.tsx';
import { describeQuorum } from './quorum.ts';
import type { User } from '../../app/rpc/resources.ts';
import { shorten } from '../../ui/text/short.ts';
import { Empty, Failure, LoadingRows } from '../../ui/feedback.tsx';
import { isOurs, useSubOrganization } from './sub-organization-queries.ts';
import type { OrganizationData } from './sub-organization-queries.ts';
import { t } from '../../app/i18n/text.ts';
import { Trans } from '../../app/i18n/trans.ts';
import { useApiQuery, useStatus, useSubmit } from '../../app/rpc/vault.tsx';
import '../../ui/rows.css';

const back = { to: '/sub-organizations', label: t('Sub-organizations') };

/** One sub-organization, read-only; a user who may act in it can delete it. */
export function SubOrganization({ organizationId }: { readonly organizationId: string }): ReactNode {
  const { data, error, isPending, refetch } = useSubOrganization(organizationId);
  const { windowKey } = useStatus();
  const organization = data?.organizationData;
  return (
    <>
      <PageHead title={organization?.name ?? t('Sub-organization')} back={back} />
      {isPending && (
        <Panel kind="plain">
          <LoadingRows label={t('Loading the sub-organization')} />
        </Panel>
      )}
      <Failure title={t('Couldn’t load the sub-organization')} error={error} onRetry={() => void refetch()} />
      {organization !== undefined && (
        <>
          <Overview of={organization} />
          <Users of={organization.users} />
          <Holdings of={organization} />
          <Recent organizationId={organizationId} />
          <DangerZone>
            <Delete of={organization} may={isOurs(organization, windowKey)} />
          </DangerZone>
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
          [t('ID'), <ShortId key="id" text={of.organizationId} copy={t('Copy organization ID')} />],
          [t('Root quorum'), describeQuorum(threshold, userIds.map(nameOf))],
          [t('Policies'), of.policies.map(({ policyName }) => policyName).join(', ') || t('None')],
          [t('Features'), of.features.map(({ name }) => featureLabel(name)).join(', ') || t('None')],
        ]}
      />
    </Panel>
  );
}

function Users({ of }: { readonly of: readonly User[] }): ReactNode {
  return (
    <Panel title={t('Users')} kind="plain">
      <ul className="kh-rows" aria-label={t('Users')}>
        {of.map((user) => (
          <li key={user.userId} className="kh-row">
            <span>
              <span className="kh-row-name">{visibleName(user.userName)}</span>
              <br />
              <span className="kh-row-more">{waysIn(user)}</span>
            </span>
            <span className="kh-row-side">
              <Trans
                i18nKey="Created <moment/>"
                components={{ moment: <RelativeTime at={user.createdAt} /> }}
              />
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
    apiKeys.length === 0 ? '' : t('{{count}} API keys', { count: apiKeys.length }),
    authenticators.length === 0 ? '' : t('{{count}} passkeys', { count: authenticators.length }),
    oauthProviders.length === 0 ? '' : t('{{count}} OAuth providers', { count: oauthProviders.length }),
  ]
    .filter((part) => part !== '')
    .join(' · ');

function Holdings({
  of: { organizationId, wallets, privateKeys },
}: {
  readonly of: OrganizationData;
}): ReactNode {
  const rows = [
    ...wallets.map((wallet) => ({
      id: wallet.walletId,
      name: wallet.walletName,
      what: t('Wallet'),
      of: wallet,
    })),
    ...privateKeys.map((key) => ({
      id: key.privateKeyId,
      name: key.privateKeyName,
      what: t('Private key'),
      of: key,
    })),
  ];
  return (
    <Panel title={t('Wallets and private keys')} kind="plain">
      {rows.length === 0 ? (
        <Empty title={t('None yet')} level={3}>
          <p>
            <Trans
              i18nKey="Its users create wallets and keys by its ID: <shortId/>"
              components={{ shortId: <ShortId text={organizationId} copy={t('Copy organization ID')} /> }}
            />
          </p>
        </Empty>
      ) : (
        <ul className="kh-rows" aria-label={t('Wallets and private keys')}>
          {rows.map(({ id, name, what, of }) => (
            <li key={id} className="kh-row">
              <span>
                <span className="kh-row-name">{visibleName(name)}</span> <OutsideBadges of={of} />
                <br />
                <span className="kh-row-more">{what}</span>
              </span>
              <span className="kh-row-side">
                <Trans
                  i18nKey="Created <moment/>"
                  components={{ moment: <RelativeTime at={of.createdAt} /> }}
                />
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
  const { data, error, isPending, refetch } = useApiQuery('list_activities', {
    organizationId,
    paginationOptions: { limit: String(shownActivities) },
  });
  return (
    <Panel title={t('Last activity')} kind="plain">
      {isPending && <LoadingRows label={t('Loading the activity')} />}
      <Failure title={t('Couldn’t load the activity')} error={error} onRetry={() => void refetch()} />
      {data?.activities.length === 0 && (
        <Empty title={t('No activity')} level={3}>
          <p>{t('Its creation is in the activity of the vault’s organization.')}</p>
        </Empty>
      )}
      {data !== undefined && data.activities.length > 0 && (
        <ul className="kh-rows" aria-label={t('Last activity')}>
          {data.activities.map((activity) => (
            <li key={activity.id} className="kh-row">
              <span>
                <span className="kh-row-name">{describeType(activity.type)}</span>
                <br />
                <span className="kh-row-more">{describeStatus(activity.status).label}</span>
              </span>
              <span className="kh-row-side">
                <RelativeTime at={activity.createdAt} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

function Delete({ of, may }: { readonly of: OrganizationData; readonly may: boolean }): ReactNode {
  const [, navigate] = useLocation();
  const remove = useSubmit('ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION', {
    organizationId: of.organizationId,
  });
  const kept = [...of.wallets, ...of.privateKeys];
  const lost = kept.filter(({ exported }) => !exported).length;
  return (
    <DangerAction
      name={t('Delete')}
      about={t('Deletes everything in the sub-organization but its activity.')}
      title={t('Delete “{{name}}”', { name: of.name })}
      danger
      refused={may ? undefined : t('Only its own users may delete the sub-organization.')}
    >
      {(close) => (
        <DeleteForm
          what="organization"
          outcomes={[
            t('{{count}} users are deleted.', { count: of.users.length }),
            t('{{count}} wallets and private keys are deleted.', {
              count: kept.length,
            }),
            t('Requests from its users are refused from then on.'),
          ]}
          loss={
            lost === 0
              ? undefined
              : {
                  title: t('Keys would be lost permanently'),
                  text: t(
                    '{{count}} wallets and private keys were never exported. Their funds could never be moved.',
                    { count: lost },
                  ),
                }
          }
          confirm={{ text: of.name, as: 'name' }}
          submitting={remove}
          onCancel={close}
          onDelete={() => {
            remove.mutate(
              { deleteWithoutExport: lost > 0 },
              {
                onSuccess() {
                  close();
                  notifications.show({
                    title: t('Sub-organization deleted'),
                    message: t('“{{name}}” and everything in it are deleted.', { name: of.name }),
                  });
                  navigate('/sub-organizations', { replace: true });
                },
              },
            );
          }}
        />
      )}
    </DangerAction>
  );
}
