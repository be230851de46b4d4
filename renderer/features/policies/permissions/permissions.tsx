import { useState } from 'react';
import type { ReactNode } from 'react';
import { Button, Checkbox, Group, MultiSelect, NativeSelect, Text, VisuallyHidden } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { Link } from 'wouter';
import { visibleName } from '../../../../main/lib/text/visible-text.ts';
import type { Answer } from '../../../../main/operations/api.ts';
import { describeType } from '../../activity/activity-words.ts';
import { PageHead, Panel } from '../../../ui/page.tsx';
import { Empty, Failure, LoadingRows } from '../../../ui/feedback.tsx';
import { labelled } from '../../../ui/text/names.ts';
import { t } from '../../../app/i18n/text.ts';
import { apiQueryKey, queryApi, useApiQuery, useRpc, useStatus } from '../../../app/rpc/vault.tsx';
import { areaOf, areas } from './permission-areas.ts';
import type { Area } from './permission-areas.ts';
import './permissions.css';

type Permission = Answer<'list_permissions'>['permissions'][number];
type Reach = Permission['reach'];

/** Texts of cells, and how much each allows. */
const reaches = {
  REACH_ROOT_QUORUM: { label: t('Yes, root'), tone: 'allowed', about: t('Allowed as a root quorum member') },
  REACH_ALLOWED: { label: t('Yes'), tone: 'allowed', about: t('Allowed') },
  REACH_DEPENDS: { label: t('Some cases'), tone: 'partly', about: t('Allowed in some cases') },
  REACH_OWN_CREDENTIALS: { label: t('Own only'), tone: 'partly', about: t('Allowed for own credentials') },
  REACH_CONSENSUS: { label: t('Approval'), tone: 'waiting', about: t('Requires approval') },
  REACH_DENIED: { label: t('No'), tone: 'denied', about: t('Denied') },
} as const satisfies Record<Reach, { readonly label: string; readonly tone: string; readonly about: string }>;

/** Columns that a person compares at a glance. Others are chosen. */
const mostAtFirst = 5;

/** The matrix of permissions: a row for each kind of activity, a column for each user. */
export function Permissions(): ReactNode {
  const { owner } = useStatus();
  const rpc = useRpc();
  const users = useApiQuery('list_users');
  const policies = useApiQuery('list_policies');
  const all = labelled(
    (users.data?.users ?? []).map(({ userId, userName }) => ({ id: userId, name: userName })),
  );
  // The owner comes last: the owner may do everything.
  const usual = [
    ...all.filter(({ id }) => id !== owner?.userId),
    ...all.filter(({ id }) => id === owner?.userId),
  ];
  const [chosen, setChosen] = useState<readonly string[] | null>(null);
  const shown = usual.filter(({ id }, index) => chosen?.includes(id) ?? index < mostAtFirst);
  const answers = useQueries({
    queries: shown.map(({ id: userId }) => ({
      queryKey: apiQueryKey('list_permissions', { userId }),
      queryFn: () => queryApi(rpc, 'list_permissions', { userId }),
    })),
  });
  const [area, setArea] = useState<Area | 'all'>('all');
  const [isPossible, setIsPossible] = useState(false);
  const columns = shown.map((user, index) => ({
    ...user,
    cells: new Map(answers[index]?.data?.permissions.map((each) => [each.activityType, each])),
  }));
  const types = [...new Set(columns.flatMap(({ cells }) => [...cells.keys()]))];
  // An unknown permission may be an allowed one.
  const mayBe = (type: string): boolean =>
    columns.some(({ cells }) => (cells.get(type)?.reach ?? 'REACH_DEPENDS') !== 'REACH_DENIED');
  const rows = types.filter(
    (type) => (area === 'all' || areaOf(type) === area) && (!isPossible || mayBe(type)),
  );
  const nameOf = (wanted: string): string =>
    policies.data?.policies.find(({ policyId }) => policyId === wanted)?.policyName ?? t('a deleted policy');
  const error = users.error ?? answers.find((each) => each.error !== null)?.error ?? null;
  return (
    <>
      <PageHead
        title={t('Permissions')}
        back={{ to: '/policies', label: t('Policies') }}
        lead={t('What each user may do under the current policies. Every user can read.')}
      />
      <Group align="end" mb="md" gap="md">
        <MultiSelect
          label={t('Users')}
          data={usual.map(({ id, label }) => ({ value: id, label }))}
          value={shown.map(({ id }) => id)}
          onChange={setChosen}
          searchable
          comboboxProps={{ transitionProps: { duration: 0 } }}
          nothingFoundMessage={t('Nothing found')}
          style={{ flex: '1 1 20rem', minWidth: 0 }}
        />
        <NativeSelect
          label={t('Area')}
          value={area}
          data={[
            { value: 'all', label: t('All areas') },
            ...areas.map(({ id, label }) => ({ value: id, label })),
          ]}
          onChange={({ currentTarget }) => {
            setArea(areas.find(({ id }) => id === currentTarget.value)?.id ?? 'all');
          }}
        />
        <Checkbox
          label={t('Hide what none of them may do')}
          checked={isPossible}
          onChange={({ currentTarget }) => {
            setIsPossible(currentTarget.checked);
          }}
          mb="xs"
        />
      </Group>
      <Failure
        title={t('Couldn’t load the permissions')}
        error={error}
        onRetry={() => {
          void users.refetch();
          for (const each of answers) if (each.error !== null) void each.refetch();
        }}
      />
      {answers.some(({ isPending }) => isPending) && (
        <LoadingRows label={t('Loading permissions')} rows={6} />
      )}
      {users.data !== undefined && shown.length === 0 && (
        <Empty title={t('No user chosen')}>
          <p>{t('Choose the users to compare.')}</p>
        </Empty>
      )}
      {rows.length > 0 && (
        <Panel kind="plain">
          <div className="kh-matrix" tabIndex={0} role="group" aria-label={t('Permissions')}>
            <table>
              <caption>
                <VisuallyHidden>{t('Permissions')}</VisuallyHidden>
              </caption>
              <thead>
                <tr>
                  <th scope="col">{t('Activity')}</th>
                  {columns.map(({ id, label }) => (
                    <th key={id} scope="col">
                      <Link href={`/users/${id}`} className="kh-link">
                        {label}
                      </Link>
                    </th>
                  ))}
                </tr>
              </thead>
              {areas.map(({ id, label }) => {
                const those = rows.filter((type) => areaOf(type) === id);
                if (those.length === 0) return null;
                return (
                  <tbody key={id}>
                    <tr>
                      <th scope="rowgroup" colSpan={columns.length + 1} className="kh-matrix-area">
                        <span>{label}</span>
                      </th>
                    </tr>
                    {those.map((type) => (
                      <tr key={type}>
                        <th scope="row">{describeType(type)}</th>
                        {columns.map((column) => (
                          <td key={column.id}>
                            <Cell of={column.cells.get(type)} nameOf={nameOf} />
                          </td>
                        ))}
                      </tr>
                    ))}
                  </tbody>
                );
              })}
            </table>
          </div>
        </Panel>
      )}
      <Group justify="space-between">
        <Text size="sm" c="dimmed" role="status">
          {t('{{rows}} of {{all}} activities, {{users}} of {{everyone}} users', {
            rows: String(rows.length),
            all: String(types.length),
            users: String(shown.length),
            everyone: String(all.length),
          })}
        </Text>
        {(rows.length < types.length || shown.length < all.length) && (
          <Button
            variant="default"
            size="xs"
            onClick={() => {
              setArea('all');
              setIsPossible(false);
              setChosen(all.map(({ id }) => id));
            }}
          >
            {t('Show all')}
          </Button>
        )}
      </Group>
    </>
  );
}

/** One user's permission, and the policies behind it. */
function Cell({
  of,
  nameOf,
}: {
  readonly of: Permission | undefined;
  readonly nameOf: (policyId: string) => string;
}): ReactNode {
  if (of === undefined) return <span className="kh-matrix-reach">{t('unknown')}</span>;
  const { label, tone, about } = reaches[of.reach];
  return (
    <>
      <span className="kh-matrix-reach" data-tone={tone} data-hint={about}>
        {label}
      </span>
      {of.policyIds.map((policyId) => (
        <Link key={policyId} href={`/policies/${policyId}`} className="kh-link kh-matrix-policy">
          {visibleName(nameOf(policyId))}
        </Link>
      ))}
    </>
  );
}
