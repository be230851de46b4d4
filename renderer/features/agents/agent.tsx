import type { ReactNode } from 'react';
import { Group, Text, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { DoorProgram, WindowRpc } from '../../../preload/contract.ts';
import {
  pausesOf,
  readSpenders,
  type PolicyText,
  type Spender,
} from '../../../main/lib/policies/spenders.ts';
import { Failure } from '../../ui/feedback.tsx';
import { OppositeButtons } from '../../ui/buttons/opposite-buttons.tsx';
import { Facts, Panel } from '../../ui/page.tsx';
import { useAsyncAction } from '../../ui/use-async-action.ts';
import { t } from '../../app/i18n/text.ts';
import { apiQueryKey, queryApi, useApiQuery, useRpc } from '../../app/rpc/vault.tsx';
import type { ActivityLine } from '../../app/rpc/resources.ts';
import { StatusBadge } from '../activity/activity-parts.tsx';
import { ActivityRow } from '../activity/activity-row.tsx';
import { NamedAddress } from '../addresses/named-address.tsx';
import { Expiry } from '../connect/api-keys.tsx';
import { Revoke } from '../doors/program.tsx';
import { Meters } from '../policies/budget-meters.tsx';
import { NamePill, useKnownNames } from '../policies/policy-names.tsx';
import { useLanguage } from '../policies/policy-queries.ts';
import { RefusalRow } from '../policies/refusal-row.tsx';
import { StillWaiting, usePausing, useResuming } from './pausing.ts';
import { WideningNotice } from './widening.tsx';

/** Milliseconds between two looks at what was refused. */
const lookPause = 5_000;

/** An agent: its budgets, its rights, its last requests and what was refused. */
export function Agent({ program: { name, publicKey } }: { readonly program: DoorProgram }): ReactNode {
  const users = useApiQuery('list_users').data?.users;
  const policies = useApiQuery('list_policies').data?.policies;
  const user = users?.find(({ apiKeys }) =>
    apiKeys.some(({ credential }) => credential.publicKey === publicKey),
  );
  const key = user?.apiKeys.find(({ credential }) => credential.publicKey === publicKey);
  const isPaused = user !== undefined && pausesOf(user.userId, policies ?? []).length > 0;
  return (
    <Panel
      title={name}
      aside={
        <Group gap="xs">
          {isPaused && (
            <span className="kh-badge" data-tone="warn">
              {t('Paused')}
            </span>
          )}
          {user !== undefined && policies !== undefined && (
            <Pause name={name} userId={user.userId} policies={policies} isPaused={isPaused} />
          )}
          <Revoke door="mcp" name={name} userId={user?.userId} />
        </Group>
      }
    >
      {users !== undefined && user === undefined && t('Its user or key is gone: it may do nothing.')}
      {user !== undefined && policies !== undefined && (
        <>
          <Rights userId={user.userId} policies={policies} expiry={key && <Expiry of={key} />} />
          <Requests userId={user.userId} name={name} />
          <Refusals userId={user.userId} name={name} />
        </>
      )}
    </Panel>
  );
}

function Pause({
  name,
  userId,
  policies,
  isPaused,
}: {
  readonly name: string;
  readonly userId: string;
  readonly policies: readonly PolicyText[];
  readonly isPaused: boolean;
}): ReactNode {
  const pause = usePausing();
  const resume = useResuming();
  const task = useAsyncAction();
  return (
    <>
      <Failure
        title={
          task.error instanceof StillWaiting
            ? t('Some of its requests still wait')
            : t('Couldn’t pause or resume the agent')
        }
        error={task.error}
      />
      <OppositeButtons
        size="xs"
        isDone={isPaused}
        busy={task.isPending}
        does={{
          text: t('Pause'),
          label: t('Pause {{name}}', { name }),
          act: () => {
            task.run(async () => {
              await pause(name, userId, policies);
              notifications.show({
                title: t('Agent paused'),
                message: t('“{{name}}” is refused everything, and what waited is rejected.', { name }),
              });
            });
          },
        }}
        undoes={{
          text: t('Resume'),
          label: t('Resume {{name}}', { name }),
          act: () => {
            task.run(async () => {
              await resume(userId, policies);
              notifications.show({
                title: t('Agent resumed'),
                message: t('“{{name}}” works within its budgets.', { name }),
              });
            });
          },
        }}
      />
    </>
  );
}

/** The budgets and bounds, as the agent's policies say them to the letter. */
function Rights({
  userId,
  policies,
  expiry,
}: {
  readonly userId: string;
  readonly policies: readonly PolicyText[];
  readonly expiry: ReactNode;
}): ReactNode {
  const budgets = useApiQuery('list_policy_budgets').data?.policyBudgets ?? [];
  const names = useKnownNames();
  const widening = useApiQuery('list_widening_policies', { userId });
  const spender = readSpenders(policies).find((each) => each.userId === userId)?.spender;
  if (spender === undefined) {
    return (
      <Link href="/policies" className="kh-link">
        {t('Its policies were changed. Check them.')}
      </Link>
    );
  }
  return (
    <>
      <WideningNotice of={widening.data} />
      <Failure title={t('Couldn’t compare the other policies')} error={widening.error} />
      {budgets
        .filter(({ spender: of }) => of?.userId === userId)
        .map((budget, index) => (
          <Meters key={index} budget={budget} names={names} />
        ))}
      <Bounds of={spender} expiry={expiry} />
    </>
  );
}

function Bounds({ of, expiry }: { readonly of: Spender; readonly expiry: ReactNode }): ReactNode {
  const names = useKnownNames();
  const assets = useLanguage()?.assets ?? [];
  const networkOf = (chainId: string): string =>
    assets.find((asset) => asset.chainId === chainId)?.network ?? t('chain {{chainId}}', { chainId });
  return (
    <Facts
      rows={[
        [t('Wallet'), <NamePill key="wallet" kind="wallet" id={of.walletId} names={names} />],
        [t('Networks'), of.chainIds.map((chainId) => networkOf(String(chainId))).join(', ')],
        [
          t('May pay'),
          of.receivers.length === 0
            ? t('any address')
            : of.receivers.map((address) => <NamedAddress key={address} address={address} />),
        ],
        [t('Beyond a budget'), of.approverId === undefined ? t('Refused.') : t('Waits for your approval.')],
        [t('Texts'), of.messages ? t('May be signed, such as sign-ins.') : t('Refused.')],
        [t('Access'), expiry],
      ]}
    />
  );
}

const few = 5;

/** The newest that the user asked for, however much others have asked for since. */
async function lastActivitiesOf(rpc: WindowRpc, userId: string): Promise<readonly ActivityLine[]> {
  const places: number[] = [];
  let before: number | undefined;
  do {
    const { outline } = await queryApi(rpc, 'outline_activities', {
      userId,
      ...(before === undefined ? {} : { before }),
    });
    for (const [first, last] of outline.blocks.flatMap(({ runs }) => runs)) {
      const step = first <= last ? 1 : -1;
      for (let place = first; places.length < few && place !== last + step; place += step) places.push(place);
    }
    before = outline.next;
  } while (places.length < few && before !== undefined);
  return places.length === 0 ? [] : (await queryApi(rpc, 'browse_activities', { places })).lines;
}

function Requests({ userId, name }: { readonly userId: string; readonly name: string }): ReactNode {
  const rpc = useRpc();
  const { data: own = [] } = useQuery({
    queryKey: apiQueryKey('browse_activities', { userId, few }),
    queryFn: () => lastActivitiesOf(rpc, userId),
  });
  if (own.length === 0) return null;
  const label = t('Last requests of {{name}}', { name });
  return (
    <>
      <Title order={3} mt="md">
        {t('Last requests')}
      </Title>
      <ul className="kh-rows" aria-label={label}>
        {own.map((activity) => (
          <ActivityRow
            key={activity.id}
            activity={activity}
            about={activity.about}
            href={`/activity/${activity.id}`}
          >
            <StatusBadge status={activity.status} />
          </ActivityRow>
        ))}
      </ul>
      <Text my="sm">
        <Link href={`/users/${userId}/activity`} className="kh-link">
          {t('All requests of {{name}}', { name })}
        </Link>
      </Text>
    </>
  );
}

function Refusals({ userId, name }: { readonly userId: string; readonly name: string }): ReactNode {
  const rpc = useRpc();
  const { data } = useQuery({
    queryKey: apiQueryKey('list_refusals', {}),
    queryFn: () => queryApi(rpc, 'list_refusals', {}),
    // No event tells of a refusal: nothing is written to the log.
    refetchInterval: lookPause,
  });
  const own = (data?.refusals ?? []).filter((each) => each.userId === userId).slice(0, few);
  if (own.length === 0) return null;
  return (
    <>
      <Title order={3} mt="md">
        {t('Refused')}
      </Title>
      <ul className="kh-rows" aria-label={t('Refused requests of {{name}}', { name })}>
        {own.map((refusal) => (
          <RefusalRow key={refusal.refusalId} of={refusal} />
        ))}
      </ul>
    </>
  );
}
