import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Button, Group, Text } from '@mantine/core';
import { pairInOrder } from '../../../main/lib/policies/pairing.ts';
import { botTitle, policiesOfSpender, type Spender } from '../../../main/lib/policies/spenders.ts';
import { useBudgetCheck } from '../agents/widening.tsx';
import { AwaitedVotes } from '../approvals/patient-submit.tsx';
import { useUserSteps } from '../doors/pairing.ts';
import { LifetimeSelect } from './lifetime-select.tsx';
import { usualLifetime } from './lifetimes.ts';
import { generateApiKeyPair } from './key-pair.ts';
import type { NamedPair } from './new-api-key.tsx';
import { useWalletBudget } from './wallet-budget.tsx';
import { NameField } from '../../ui/name-field.tsx';
import { freeName, nameProblem } from '../../ui/text/names.ts';
import { OutcomeForm } from '../../ui/outcome-form.tsx';
import { Failure } from '../../ui/feedback.tsx';
import { useAsyncAction } from '../../ui/use-async-action.ts';
import { t } from '../../app/i18n/text.ts';
import type { Activity } from '../../app/rpc/resources.ts';
import { useApiQuery } from '../../app/rpc/vault.tsx';

interface Props {
  /** Called when the key pair was generated here; nothing else has its private half. */
  readonly onMade: (pair: NamedPair) => void;
}

/** Lets in a program that pays from one wallet within a budget, and does nothing else. */
export function NewBot({ onMade }: Props): ReactNode {
  const { data: usersData } = useApiQuery('list_users');
  const taken = usersData?.users.map(({ userName }) => userName) ?? [];
  const [typedName, setTypedName] = useState<string | null>(null);
  const [lifetime, setLifetime] = useState<string>(usualLifetime);
  const [tried, setTried] = useState(false);
  const { create, waiting } = useNewBot();
  const task = useAsyncAction();
  const name = (typedName ?? freeName('Bot', taken)).trim();
  const problem = task.isPending ? null : nameProblem(name, taken);
  const paying = useWalletBudget();
  const { walletId, budget } = paying;

  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    setTried(true);
    if (problem !== null || walletId === undefined || budget === undefined) return;
    task.run(async () => {
      const terms = {
        isBot: true,
        walletId,
        chainIds: [1n],
        budgets: [budget],
        receivers: [],
        messages: false,
        approverId: undefined,
      };
      onMade(await create(name, terms, lifetime));
    });
  };

  return (
    <OutcomeForm
      title={t('Key with a budget')}
      onSubmit={submit}
      outcomes={[
        t('Creates a user with a budget for Ethereum payments.'),
        t('Denies everything else, tokens and contract calls too.'),
        t('This window generates the keys. The vault stores the public one.'),
        t('The private key is shown once and not stored.'),
      ]}
      more={
        <Text size="sm" c="dimmed" mt="md">
          {t('The program can read names, addresses, policies and the log, but no secrets.')}
        </Text>
      }
    >
      <NameField
        description={t('Also the name of the program’s user.')}
        value={typedName ?? name}
        problem={problem}
        others={taken}
        onType={setTypedName}
      />
      {paying.fields(tried)}
      <LifetimeSelect value={lifetime} onChange={setLifetime} />
      <AwaitedVotes of={waiting} />
      <Failure title={t('Couldn’t create the key')} error={task.error} />
      <Group gap="sm">
        <Button type="submit" loading={task.isPending}>
          {t('Create key with a budget')}
        </Button>
      </Group>
    </OutcomeForm>
  );
}

type Terms = Omit<Spender, 'userId'>;

interface UseNewBot {
  readonly create: (name: string, terms: Terms, lifetime: string) => Promise<NamedPair>;
  /** The request that needs votes now. */
  readonly waiting: Activity | null;
}

function useNewBot(): UseNewBot {
  const { steps, waiting } = useUserSteps();
  const check = useBudgetCheck();
  return {
    waiting,
    async create(name, terms, lifetime) {
      const { key } = await pairInOrder({
        ...steps({ userName: name, lifetime }),
        makeKey: generateApiKeyPair,
        policiesOf: (userId) => policiesOfSpender(botTitle(name), { ...terms, userId }),
        check,
      });
      return { ...key, name };
    },
  };
}
