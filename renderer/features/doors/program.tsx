import type { ReactNode } from 'react';
import { Group } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { Link } from 'wouter';
import type { DoorProgram } from '../../../preload/contract.ts';
import type { Budget } from '../../../main/lib/policies/spenders.ts';
import { grantEnd } from '../../../main/lib/policies/grants.ts';
import {
  boundsOf,
  doorKinds,
  policiesOfProgram,
  userToRevoke,
  type DoorName,
} from '../../../main/lib/policies/doors.ts';
import { ConfirmForm, DialogButton } from '../../ui/danger-zone.tsx';
import { LastUse, useLastUses } from '../../ui/last-use.tsx';
import { useNow } from '../../ui/relative-time.tsx';
import { dateAndTime } from '../../ui/text/time.ts';
import { useAsyncAction } from '../../ui/use-async-action.ts';
import { t } from '../../app/i18n/text.ts';
import { useApiQuery } from '../../app/rpc/vault.tsx';
import { decimalOf } from '../policies/builder/policy-building.ts';
import { Expiry } from '../connect/api-keys.tsx';
import { useRevoking } from './pairing.ts';
import { SetUp } from './set-up.tsx';

interface Props {
  readonly door: DoorName;
  readonly program: DoorProgram;
}

/** A paired program: its rights in a sentence, its end, its last use. */
export function Program({ door, program: { name, publicKey, socket, waiting } }: Props): ReactNode {
  const { data } = useApiQuery('list_users');
  const uses = useLastUses();
  const user = data?.users.find(({ apiKeys }) =>
    apiKeys.some(({ credential }) => credential.publicKey === publicKey),
  );
  const left = userToRevoke(data?.users ?? [], door, { name, publicKey });
  const key = user?.apiKeys.find(({ credential }) => credential.publicKey === publicKey);
  return (
    <li className="kh-row kh-manage">
      <div>
        <span className="kh-row-name">
          {user === undefined ? (
            name
          ) : (
            <Link href={`/users/${user.userId}/activity`} className="kh-link">
              {name}
            </Link>
          )}
        </span>
        {waiting > 0 && (
          <>
            {' '}
            <span className="kh-badge">{t('Waits for the vault')}</span>
          </>
        )}
        <br />
        {data !== undefined && <Rights door={door} userId={user?.userId} />}
        <br />
        <span className="kh-row-more">
          {key !== undefined && (
            <>
              <Expiry of={key} />
              {uses !== undefined && (
                <>
                  {' · '}
                  <LastUse at={uses.get(key.apiKeyId)} />
                </>
              )}
            </>
          )}
        </span>
      </div>
      <Group gap="xs">
        {socket !== null && (
          <DialogButton
            name={t('Set up…')}
            label={t('Set up {{name}}…', { name })}
            title={t('Set up {{name}}', { name })}
            wide
          >
            {() => <SetUp door={door} program={{ name, address: socket, token: 'TOKEN' }} />}
          </DialogButton>
        )}
        <Revoke door={door} name={name} userId={left?.userId} />
      </Group>
    </li>
  );
}

function Rights({
  door,
  userId,
}: {
  readonly door: DoorName;
  readonly userId: string | undefined;
}): ReactNode {
  const kind = doorKinds[door];
  const { data } = useApiQuery('list_policies');
  const present = useNow();
  if (data === undefined) return null;
  if (userId === undefined) return t('Its user or key is gone: it may do nothing.');
  const ids = new Set(policiesOfProgram(userId, data.policies));
  const own = data.policies.filter(({ policyId }) => ids.has(policyId));
  const end = Math.max(...own.map((policy) => grantEnd(policy) ?? 0));
  const bounds = boundsOf(
    kind,
    userId,
    own.filter((policy) => grantEnd(policy) === undefined),
  );
  if (kind.read === undefined)
    return (
      <Link href="/policies" className="kh-link">
        {t(kind.words.may)}
      </Link>
    );
  if (bounds === undefined) {
    return (
      <Link href="/policies" className="kh-link">
        {t('Its policies were changed, or are of an earlier version. Check them.')}
      </Link>
    );
  }
  return [
    t(kind.words.may),
    ...(bounds.approverId === undefined ? [] : [t(kind.words.asks)]),
    ...(bounds.spending === undefined ? [] : [budgetWords(bounds.spending.budget)]),
    ...(bounds.accounts.length === 0
      ? []
      : [t('Wallet accounts: {{count}}.', { count: bounds.accounts.length })]),
    ...(bounds.forwarders.length === 0
      ? []
      : [t('Forwarding servers: {{count}}.', { count: bounds.forwarders.length })]),
    ...(end > present
      ? [t('Allowed without asking until {{time}}, in part.', { time: dateAndTime(end) })]
      : []),
  ].join(' ');
}

function budgetWords({ amount: wei, period }: Budget): string {
  const amount = decimalOf(String(wei), 18);
  switch (period) {
    case 'hour':
      return t('At most {{amount}} ETH in any hour.', { amount });
    case 'day':
      return t('At most {{amount}} ETH in any day.', { amount });
    case 'week':
      return t('At most {{amount}} ETH in any week.', { amount });
  }
}

/** A button that revokes a program, once it is confirmed. */
export function Revoke({
  door,
  name,
  userId,
}: {
  readonly door: DoorName;
  readonly name: string;
  readonly userId: string | undefined;
}): ReactNode {
  const revoke = useRevoking();
  const task = useAsyncAction();
  return (
    <DialogButton
      name={t('Revoke…')}
      label={t('Revoke {{name}}…', { name })}
      title={t('Revoke {{name}}', { name })}
      danger
    >
      {(close) => (
        <ConfirmForm
          does={t('Revoke')}
          failed={t('Couldn’t revoke the program')}
          outcomes={[
            t('Its user, key and policies are deleted.'),
            t('Its requests are refused. The log stays.'),
          ]}
          submitting={task}
          onCancel={close}
          onConfirm={() => {
            task.run(async () => {
              await revoke(door, name, userId);
              close();
              notifications.show({
                title: t('Program revoked'),
                message: t('“{{name}}” no longer works.', { name }),
              });
            });
          }}
        />
      )}
    </DialogButton>
  );
}
