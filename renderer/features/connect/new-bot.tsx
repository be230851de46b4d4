import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Button, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { periods, policiesOfBot, readBudget, type Period } from '../../../main/lib/policies/bots.ts';
import { generateApiKeyPair } from './key-pair.ts';
import type { NamedPair } from './new-api-key.tsx';
import { NameField } from '../../ui/name-field.tsx';
import { freeName, nameProblem } from '../../ui/text/names.ts';
import { Expectations, Panel } from '../../ui/page.tsx';
import { Failure } from '../../ui/feedback.tsx';
import { useAsyncAction } from '../../ui/use-async-action.ts';
import { t } from '../../app/i18n/text.ts';
import { useApiQuery, useSubmit } from '../../app/rpc/vault.tsx';
import { onText } from '../../ui/on-text.ts';

const periodLabels: Readonly<Record<Period, string>> = {
  hour: t('In any hour'),
  day: t('In any day'),
  week: t('In any week'),
};

interface Props {
  /** Called when the key pair was generated here; nothing else has its private half. */
  readonly onMade: (pair: NamedPair) => void;
}

/** Lets in a program that pays from one wallet within a budget, and does nothing else. */
export function NewBot({ onMade }: Props): ReactNode {
  const { data: walletsData } = useApiQuery('list_wallets');
  const { data: usersData } = useApiQuery('list_users');
  const wallets = walletsData?.wallets ?? [];
  const taken = usersData?.users.map(({ userName }) => userName) ?? [];
  const [typedName, setTypedName] = useState<string | null>(null);
  const [chosen, setChosen] = useState<string | null>(null);
  const [amount, setAmount] = useState('0.05');
  const [period, setPeriod] = useState<Period>('day');
  const [tried, setTried] = useState(false);
  const create = useNewBot();
  const task = useAsyncAction();
  const name = (typedName ?? freeName('Bot', taken)).trim();
  const problem = task.isPending ? null : nameProblem(name, 'user', taken);
  const wallet = wallets.find(({ walletId }) => walletId === chosen) ?? wallets[0];
  const budget = readBudget(`${amount.trim()} ETH/${period}`);

  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    setTried(true);
    if (problem !== null || wallet === undefined || budget === undefined) return;
    task.run(async () => {
      onMade(await create(name, { walletId: wallet.walletId, chainId: 1n, budget, receivers: [] }));
    });
  };

  return (
    <form onSubmit={submit} noValidate className="kh-beside">
      <Panel title={t('A key with a budget')}>
        <Stack gap="lg">
          <NameField
            description={t('The program gets a user of this name.')}
            value={typedName ?? name}
            problem={problem}
            others={taken}
            onType={setTypedName}
          />
          <Select
            label={t('Pays from the wallet')}
            data={wallets.map(({ walletId, walletName }) => ({
              value: walletId,
              label: visibleName(walletName),
            }))}
            value={wallet?.walletId ?? null}
            error={tried && wallet === undefined && t('Create a wallet with an Ethereum account first.')}
            allowDeselect={false}
            onChange={setChosen}
          />
          <Group gap="sm" align="start" grow>
            <TextInput
              label={t('Budget in ETH')}
              description={t('All that leaves the wallet, fees included.')}
              inputMode="decimal"
              autoComplete="off"
              required
              value={amount}
              error={tried && budget === undefined && t('Enter an amount above zero, such as 0.05.')}
              onChange={onText(setAmount)}
            />
            <Select
              label={t('Within')}
              description={t('The time moves on with the clock.')}
              data={periods.map((value) => ({ value, label: periodLabels[value] }))}
              value={period}
              allowDeselect={false}
              onChange={(value) => {
                setPeriod(periods.find((each) => each === value) ?? period);
              }}
            />
          </Group>
          <Failure title={t('The key was not made')} error={task.error} />
          <Group gap="sm">
            <Button type="submit" loading={task.isPending}>
              {t('Make a key with a budget')}
            </Button>
          </Group>
        </Stack>
      </Panel>
      <aside>
        <Expectations
          items={[
            t('A user is created, with policies that allow payments on Ethereum within the budget.'),
            t(
              'All else is denied: tokens, calls of contracts, messages, other wallets, exports, users and policies.',
            ),
            t('A key pair is drawn in this window. Its public half is registered in the vault.'),
            t('The private half is shown to you once and kept nowhere here.'),
          ]}
        />
        <Text size="sm" c="dimmed" mt="md">
          {t(
            'Like every user, the program can read names, addresses, policies and the log. It reads no secret.',
          )}
        </Text>
      </aside>
    </form>
  );
}

type Terms = Omit<Parameters<typeof policiesOfBot>[1], 'userId'>;

/**
 * The user gets its key once the policies are in force. If a step is refused, the created resources are
 * deleted, the user first.
 */
function useNewBot(): (name: string, terms: Terms) => Promise<NamedPair> {
  const createUsers = useSubmit('ACTIVITY_TYPE_CREATE_USERS_V4');
  const createPolicies = useSubmit('ACTIVITY_TYPE_CREATE_POLICIES');
  const createKeys = useSubmit('ACTIVITY_TYPE_CREATE_API_KEYS_V2');
  const deleteUsers = useSubmit('ACTIVITY_TYPE_DELETE_USERS');
  const deletePolicies = useSubmit('ACTIVITY_TYPE_DELETE_POLICIES');
  return async (name, terms) => {
    const pair = await generateApiKeyPair();
    const user = { userName: name, apiKeys: [], authenticators: [], oauthProviders: [], userTags: [] };
    const made = await createUsers.mutateAsync({ users: [user] });
    const [userId = ''] = made.result.userIds;
    let policyIds: readonly string[] = [];
    try {
      const policies = policiesOfBot(name, { ...terms, userId });
      ({ policyIds } = (await createPolicies.mutateAsync({ policies })).result);
      const key = { apiKeyName: name, publicKey: pair.publicKey, curveType: 'API_KEY_CURVE_P256' } as const;
      await createKeys.mutateAsync({ userId, apiKeys: [key] });
    } catch (error) {
      await deleteUsers.mutateAsync({ userIds: [userId] });
      if (policyIds.length > 0) await deletePolicies.mutateAsync({ policyIds });
      throw error;
    }
    return { ...pair, name };
  };
}
