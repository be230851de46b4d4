import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { MultiSelect, Stack, Switch, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { agentTitle } from '../../../main/lib/policies/mcp-programs.ts';
import { isReceiver, policiesOfSpender, unitsOf, type Spender } from '../../../main/lib/policies/spenders.ts';
import { FormEnd } from '../../ui/form-end.tsx';
import { useAsyncAction } from '../../ui/use-async-action.ts';
import { t } from '../../app/i18n/text.ts';
import { useStatus } from '../../app/rpc/vault.tsx';
import { AwaitedVotes } from '../approvals/patient-submit.tsx';
import { LifetimeSelect } from '../connect/lifetime-select.tsx';
import { usualLifetime } from '../connect/lifetimes.ts';
import { usePayingWallet } from '../connect/paying-wallet.tsx';
import { programNameProblem, usePairing } from '../doors/pairing.ts';
import { userNameOf } from '../../../main/lib/policies/doors.ts';
import { ProgramNameField } from '../doors/program-name-field.tsx';
import { ReceiversField } from '../policies/builder/policy-builder-fields.tsx';
import { useLanguage } from '../policies/policy-queries.ts';
import { useTags } from '../tags/tag-queries.ts';
import { useBudgetLines } from './agent-budgets.tsx';
import { ClientSetUp } from './client-set-up.tsx';
import { isWide, useBudgetCheck, useWidening, WideningNotice } from './widening.tsx';

interface Props {
  readonly taken: readonly string[];
  readonly close: () => void;
}

/** Creates an agent as the command does: its user, its policies, and a key that the vault keeps. */
export function NewAgent({ taken, close }: Props): ReactNode {
  const { owner } = useStatus();
  const [name, setName] = useState('');
  const [lifetime, setLifetime] = useState<string>(usualLifetime);
  const [asks, setAsks] = useState(true);
  const [tried, setTried] = useState(false);
  const [token, setToken] = useState<string | null>(null);
  const task = useAsyncAction();
  const spending = useAgentSpending(asks ? owner?.userId : undefined);
  const { pair, waiting } = usePairing();
  const check = useBudgetCheck();
  // No user has this id: it stands for the one to be created.
  const [userToBe] = useState(() => crypto.randomUUID());
  const tagId = useTags('user').list.find(({ tagName }) => tagName === 'mcp')?.tagId;
  const nameProblem = task.isPending ? null : programNameProblem(name, taken);
  const { terms } = spending;
  const widening = useWidening(
    terms === undefined || nameProblem !== null
      ? null
      : {
          userId: userToBe,
          userName: userNameOf('mcp', name),
          userTags: tagId === undefined ? [] : [tagId],
          policies: policiesOfSpender(agentTitle(name), { ...terms, userId: userToBe }),
        },
  );
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    setTried(true);
    if (nameProblem !== null || terms === undefined || (widening !== undefined && isWide(widening))) return;
    task.run(async () => {
      const made = await pair({
        door: 'mcp',
        name,
        lifetime,
        policiesOf: (userId) => policiesOfSpender(agentTitle(name), { ...terms, userId }),
        check,
      });
      notifications.show({
        title: t('Agent created'),
        message: t('“{{name}}” may pay within its budgets.', { name }),
      });
      setToken(made ?? '');
    });
  };
  if (token !== null) return <ClientSetUp name={name} token={token} close={close} />;
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <ProgramNameField
          label={t('Name')}
          description={t('Small letters, digits and hyphens: claude, shopping-2.')}
          value={name}
          problem={tried ? nameProblem : null}
          onType={setName}
        />
        {spending.fields(tried)}
        <Switch
          label={t('Ask me')}
          description={t('Payments beyond a budget wait for your approval. Otherwise they are refused.')}
          checked={asks}
          onChange={(event) => {
            setAsks(event.currentTarget.checked);
          }}
        />
        <LifetimeSelect value={lifetime} onChange={setLifetime} />
        <Text size="sm" c="dimmed">
          {t(
            'Everything else is denied: other calls, new contracts, authorizations, hashes, other keys, exports and changes of the vault.',
          )}
        </Text>
        <WideningNotice of={widening} />
        <AwaitedVotes of={waiting} />
        <FormEnd
          failed={t('Couldn’t create the agent')}
          error={task.error}
          busy={task.isPending}
          does={t('Create agent')}
          back={close}
        />
      </Stack>
    </form>
  );
}

interface AgentSpending {
  /** Undefined while a field is wrong. */
  readonly terms: Omit<Spender, 'userId'> | undefined;
  readonly fields: (tried: boolean) => ReactNode;
}

/** The fields of an agent's bounds: the wallet, the networks, the budgets, the receivers. */
function useAgentSpending(approverId: string | undefined): AgentSpending {
  const paying = usePayingWallet();
  const { walletId } = paying;
  const assets = useLanguage()?.assets ?? [];
  const [networks, setNetworks] = useState<readonly string[]>(['1']);
  // Null: any address, once the owner chose that.
  const [receivers, setReceivers] = useState<readonly string[] | null>([]);
  const [messages, setMessages] = useState(false);
  const chainIds = networks.map(BigInt);
  const { budgets, fields } = useBudgetLines(unitsOf(chainIds, assets));
  const areReceivers = receivers === null || (receivers.length > 0 && receivers.every(isReceiver));
  const isWhole = walletId !== undefined && chainIds.length > 0 && budgets !== undefined && areReceivers;
  const known = new Map(assets.map(({ chainId, network }) => [chainId, network]));
  return {
    terms: isWhole
      ? { isBot: false, walletId, chainIds, budgets, receivers: receivers ?? [], messages, approverId }
      : undefined,
    fields: (tried) => (
      <>
        {paying.field(tried)}
        <MultiSelect
          label={t('Networks')}
          data={[...known].map(([value, label]) => ({ value, label }))}
          value={[...networks]}
          attributes={{ option: { translate: 'no' }, pill: { translate: 'no' } }}
          error={tried && networks.length === 0 && t('Choose a network.')}
          comboboxProps={{ transitionProps: { duration: 0 } }}
          openOnFocus={false}
          onChange={setNetworks}
        />
        {fields(tried)}
        <ReceiversField value={receivers} tried={tried} onChange={setReceivers} />
        <Switch
          label={t('Allow texts')}
          description={t('Such as sign-ins. No policy can tell what a text is used for.')}
          checked={messages}
          onChange={(event) => {
            setMessages(event.currentTarget.checked);
          }}
        />
      </>
    ),
  };
}
