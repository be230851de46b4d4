import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Button, Checkbox, Group, Stack, Switch, TagsInput, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery } from '@tanstack/react-query';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import type { ProgramToSetUp } from '../../../main/lib/policies/door-kind.ts';
import { doorKinds, type DoorName } from '../../../main/lib/policies/doors.ts';
import type { Answer } from '../../../main/operations/api.ts';
import { FormEnd } from '../../ui/form-end.tsx';
import { AwaitedVotes } from '../approvals/patient-submit.tsx';
import { useAsyncAction } from '../../ui/use-async-action.ts';
import { t } from '../../app/i18n/text.ts';
import { apiQueryKey, queryApi, useRpc, useStatus } from '../../app/rpc/vault.tsx';
import { useBudgetCheck } from '../agents/widening.tsx';
import { LifetimeSelect } from '../connect/lifetime-select.tsx';
import { usualLifetime } from '../connect/lifetimes.ts';
import { programNameProblem, usePairing } from './pairing.ts';
import { ProgramNameField } from './program-name-field.tsx';
import { SetUp } from './set-up.tsx';
import { useSpending } from './spending.tsx';

interface Props {
  readonly door: DoorName;
  readonly taken: readonly string[];
  readonly close: () => void;
}

const isFingerprint = (text: string): boolean => /^SHA256:[A-Za-z0-9+/]{43}$/.test(text);

export function NewProgram({ door, taken, close }: Props): ReactNode {
  const kind = doorKinds[door];
  const { takes, curves } = kind;
  const sends = takes.includes('spending');
  const form = useSpending();
  const { owner, url } = useStatus();
  const [name, setName] = useState('');
  const [asks, setAsks] = useState(true);
  const [lifetime, setLifetime] = useState<string>(usualLifetime);
  const [accounts, setAccounts] = useState<readonly string[]>([]);
  const [forwarders, setForwarders] = useState<readonly string[]>([]);
  const [tried, setTried] = useState(false);
  const [token, setToken] = useState<string | null>(null);
  const { pair, waiting } = usePairing();
  const check = useBudgetCheck();
  const task = useAsyncAction();
  const problems = {
    name: task.isPending ? null : programNameProblem(name, taken),
    forwarders: forwarders.every(isFingerprint)
      ? null
      : t('Enter fingerprints as “ssh-keygen -l” shows them: SHA256:…'),
  };
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    setTried(true);
    const spending = sends ? form.spending : undefined;
    if (problems.name !== null || problems.forwarders !== null || (sends && spending === undefined)) return;
    const approverId = asks ? owner?.userId : undefined;
    task.run(async () => {
      const policiesOf = (userId: string, tagId: string) =>
        kind.policies?.(name, { userId, tagId, accounts, forwarders, spending, approverId }) ?? [];
      const made = await pair({ door, name, lifetime, policiesOf, ...(sends && { check }) });
      notifications.show({
        title: t('Program paired'),
        message: t('“{{name}}” may ask for signatures.', { name }),
      });
      if (made === null) close();
      else setToken(made);
    });
  };
  if (token !== null) {
    return (
      <Token door={door} program={{ name, address: `${url}/${kind.endpoint ?? ''}`, token }} close={close} />
    );
  }
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <ProgramNameField
          label={t('Program')}
          description={t('One for each purpose: laptop, ci.')}
          value={name}
          problem={tried ? problems.name : null}
          onType={setName}
        />
        <Switch
          label={t('Ask me')}
          description={t(kind.words.asks)}
          checked={asks}
          onChange={(event) => {
            setAsks(event.currentTarget.checked);
          }}
        />
        {sends && form.fields(tried)}
        <LifetimeSelect value={lifetime} onChange={setLifetime} />
        {takes.includes('accounts') && <Accounts curves={curves} value={accounts} onChange={setAccounts} />}
        {takes.includes('forwarders') && (
          <TagsInput
            label={t('Servers that may forward (optional)')}
            description={t('Fingerprints of their host keys.')}
            placeholder={forwarders.length === 0 ? 'SHA256:…' : ''}
            value={[...forwarders]}
            error={tried ? problems.forwarders : null}
            onChange={setForwarders}
          />
        )}
        <AwaitedVotes of={waiting} />
        <FormEnd
          failed={t('Couldn’t pair the program')}
          error={task.error}
          busy={task.isPending}
          does={t('Pair program')}
          back={close}
        />
      </Stack>
    </form>
  );
}

/** The token of a program that was paired: nothing keeps it. */
function Token({
  door,
  program,
  close,
}: {
  readonly door: DoorName;
  readonly program: ProgramToSetUp;
  readonly close: () => void;
}): ReactNode {
  return (
    <Stack gap="md">
      <Text size="sm">{t('These lines have the program’s token. They are shown once.')}</Text>
      <SetUp door={door} program={program} />
      <Group justify="end">
        <Button onClick={close}>{t('Done')}</Button>
      </Group>
    </Stack>
  );
}

/** In one answer. */
const pageSize = 100;

/** The accounts of all wallets, each with its wallet. */
function useAccounts() {
  const rpc = useRpc();
  return useQuery({
    queryKey: apiQueryKey('list_wallet_accounts', { includeWalletDetails: true }),
    queryFn: async ({ signal }) => {
      const all: Answer<'list_wallet_accounts'>['accounts'][number][] = [];
      for (;;) {
        signal.throwIfAborted();
        const after = all.at(-1)?.walletAccountId;
        const { accounts } = await queryApi(rpc, 'list_wallet_accounts', {
          includeWalletDetails: true,
          paginationOptions: { limit: String(pageSize), ...(after !== undefined && { after }) },
        });
        all.push(...accounts);
        if (accounts.length < pageSize) return all;
      }
    },
  });
}

/** Accounts of wallets, which have no tags: each is chosen for the program. */
function Accounts({
  curves,
  value,
  onChange,
}: {
  readonly curves: readonly string[];
  readonly value: readonly string[];
  readonly onChange: (value: readonly string[]) => void;
}): ReactNode {
  const { data } = useAccounts();
  const fitting = new Map(
    (data ?? [])
      .filter(({ curve }) => curves.includes(curve))
      .map(({ publicKey, path, walletDetails }) => [
        publicKey,
        `${walletDetails?.walletName ?? ''} · ${path}`,
      ]),
  );
  if (fitting.size === 0) return null;
  return (
    <Checkbox.Group
      label={t('Wallet accounts (optional)')}
      description={t('For this program alone.')}
      value={[...value]}
      onChange={onChange}
    >
      <Stack gap="xs" mt="xs">
        {[...fitting].map(([key, label]) => (
          <Checkbox key={key} value={key} label={visibleName(label)} />
        ))}
      </Stack>
    </Checkbox.Group>
  );
}
