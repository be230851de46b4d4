import { useState } from 'react';
import type { SyntheticEvent, ReactNode } from 'react';
import {
  Button,
  Checkbox,
  Fieldset,
  Group,
  Modal,
  SegmentedControl,
  Select,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconPlus } from '@tabler/icons-react';
import { Link, useLocation } from 'wouter';
import { AddressRow } from '../parts/address-row.tsx';
import {
  accountAt,
  chains,
  curveLabel,
  curves,
  describeFormat,
  firstChains,
  formatsFor,
  nextAccount,
  pathProblem,
} from '../parts/chains.ts';
import type { Curve, NewAccount } from '../parts/chains.ts';
import { count } from '../parts/bytes.ts';
import { ShortId } from '../parts/identifier.tsx';
import { Moment } from '../parts/moment.tsx';
import { freeName, longestName, nameProblem } from '../parts/names.ts';
import { Outcomes, PageHead, Panel } from '../parts/page.tsx';
import type { Wallet as WalletRecord, WalletAccount } from '../parts/resources.ts';
import { Empty, Failure, LoadingRows } from '../parts/states.tsx';
import { useAsk, useSubmit } from '../parts/vault.tsx';
import { useWalletAccounts } from '../parts/wallet-accounts.ts';
import '../parts/rows.css';

export function Wallets(): ReactNode {
  const { data, error, isPending, refetch } = useAsk<{ wallets: readonly WalletRecord[] }>('list_wallets');
  const newWallet = (
    <Button component={Link} href="/wallets/new" leftSection={<IconPlus size={16} aria-hidden />}>
      New wallet
    </Button>
  );
  return (
    <>
      <PageHead
        title="Wallets"
        lead="A wallet is one seed from which accounts on many chains are derived."
        action={data !== undefined && data.wallets.length > 0 ? newWallet : undefined}
      />
      <Panel kind="plain">
        {isPending && <LoadingRows what="wallets" />}
        <Failure title="The wallets could not be read" error={error} onRetry={() => void refetch()} />
        {data?.wallets.length === 0 && (
          <Empty title="No wallet yet" action={newWallet}>
            <p>
              Latchkey draws the seed itself and keeps it sealed. You choose the chains; each gets an address
              to receive with and a key to sign with.
            </p>
            <p>Making a wallet costs nothing and sends nothing anywhere.</p>
          </Empty>
        )}
        {data !== undefined && data.wallets.length > 0 && (
          <ul className="lk-rows" aria-label="Wallets">
            {data.wallets.map((wallet) => (
              <li key={wallet.walletId}>
                <Link href={`/wallets/${wallet.walletId}`} className="lk-row">
                  <span>
                    <span className="lk-row-name">{wallet.walletName}</span> <Origin of={wallet} />
                  </span>
                  <span className="lk-row-side">
                    Made <Moment at={wallet.createdAt} />
                  </span>
                </Link>
              </li>
            ))}
          </ul>
        )}
      </Panel>
    </>
  );
}

/** Whether the seed or key has ever been outside this vault. */
export function Origin({
  of,
}: {
  readonly of: { readonly exported: boolean; readonly imported: boolean };
}): ReactNode {
  return (
    <>
      {of.imported && (
        <span className="lk-badge" data-tone="waiting">
          Imported
        </span>
      )}
      {of.exported && (
        <span className="lk-badge" data-tone="waiting">
          Exported
        </span>
      )}
    </>
  );
}

const createWallet = {
  operation: 'create_wallet',
  type: 'ACTIVITY_TYPE_CREATE_WALLET',
  result: 'createWalletResult',
} as const;

export function NewWallet(): ReactNode {
  const [, navigate] = useLocation();
  const { data: existing } = useAsk<{ wallets: readonly WalletRecord[] }>('list_wallets');
  const taken = existing?.wallets.map((wallet) => wallet.walletName) ?? [];
  const suggested = freeName('Wallet', taken);
  const [typedName, setTypedName] = useState<string | null>(null);
  const [words, setWords] = useState('12');
  const [chosen, setChosen] = useState<readonly string[]>(['ethereum']);
  const create = useSubmit<
    { walletName: string; accounts: readonly NewAccount[]; mnemonicLength: number },
    { walletId: string; addresses: readonly string[] }
  >(createWallet);
  const name = typedName ?? suggested;
  // Once the wallet is made its own name is taken, while this form is still on the screen.
  const problem = create.isSuccess ? null : nameProblem(name, 'wallet', taken);
  const accounts = firstChains.filter((chain) => chosen.includes(chain.id));

  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (problem !== null) return;
    create.mutate(
      {
        walletName: name.trim(),
        accounts: accounts.map((chain) => accountAt(chain, 0)),
        mnemonicLength: Number(words),
      },
      {
        onSuccess({ result }) {
          notifications.show({
            title: `“${name.trim()}” is made`,
            message: `Its seed is sealed in the vault, with ${count(result.addresses.length, 'account')}.`,
          });
          navigate(`/wallets/${result.walletId}`, { replace: true });
        },
      },
    );
  };

  return (
    <>
      <PageHead title="New wallet" back={{ to: '/wallets', label: 'Wallets' }} />
      <form onSubmit={submit} noValidate className="lk-beside">
        <Panel>
          <Stack gap="lg">
            <TextInput
              label="Name"
              description="For you and your scripts; names are unique in the vault."
              autoComplete="off"
              required
              value={name}
              maxLength={longestName}
              error={problem}
              onChange={(event) => {
                setTypedName(event.currentTarget.value);
              }}
            />
            <Fieldset legend="First accounts" variant="unstyled">
              <Text size="sm" c="dimmed" mb="sm">
                More can be added at any time. The path says where in the wallet an account sits; other
                wallets find it by the same one.
              </Text>
              <Checkbox.Group value={[...chosen]} onChange={setChosen} aria-label="First accounts">
                <Stack gap="xs">
                  {firstChains.map((chain) => (
                    <Checkbox
                      key={chain.id}
                      value={chain.id}
                      label={chain.label}
                      description={
                        <>
                          <span className="lk-mono">{accountAt(chain, 0).path}</span> ·{' '}
                          {describeFormat(chain.addressFormat).about}
                        </>
                      }
                    />
                  ))}
                </Stack>
              </Checkbox.Group>
            </Fieldset>
            <Fieldset legend="Length of its seed phrase" variant="unstyled">
              <SegmentedControl
                aria-label="Length of its seed phrase"
                value={words}
                onChange={setWords}
                data={[
                  { value: '12', label: '12 words' },
                  { value: '24', label: '24 words' },
                ]}
              />
              <Text size="sm" c="dimmed" mt="xs">
                Both are out of reach of guessing. Take 24 where another system expects it.
              </Text>
            </Fieldset>
            <Failure title="The wallet was not made" error={create.error} />
            <Group gap="sm">
              <Button type="submit" loading={create.isPending}>
                Make the wallet
              </Button>
              <Button variant="subtle" color="gray" component={Link} href="/wallets">
                Cancel
              </Button>
            </Group>
          </Stack>
        </Panel>
        <aside>
          <Outcomes
            items={[
              `A seed of ${words} words is drawn on this computer and sealed in the vault. It is not shown.`,
              accounts.length === 0
                ? 'No account is derived yet: the wallet has no address until you add one.'
                : `${count(accounts.length, 'account')} ${accounts.length === 1 ? 'is' : 'are'} derived: ${accounts.map((chain) => chain.label).join(', ')}.`,
              'It is written to the activity log. Nothing is sent anywhere.',
            ]}
          />
        </aside>
      </form>
    </>
  );
}

export function Wallet({ walletId }: { readonly walletId: string }): ReactNode {
  const wallet = useAsk<{ wallet: WalletRecord }>('get_wallet', { walletId });
  const accounts = useWalletAccounts(walletId);
  const { list } = accounts;
  const [adding, setAdding] = useState(false);
  const found = wallet.data?.wallet;
  const addButton = (
    <Button
      leftSection={<IconPlus size={16} aria-hidden />}
      onClick={() => {
        setAdding(true);
      }}
    >
      Add account
    </Button>
  );

  return (
    <>
      <PageHead
        title={found?.walletName ?? 'Wallet'}
        back={{ to: '/wallets', label: 'Wallets' }}
        lead={
          found !== undefined && (
            <>
              <ShortId text={found.walletId} what="wallet id" /> · made <Moment at={found.createdAt} />{' '}
              <Origin of={found} />
            </>
          )
        }
        action={list.length > 0 ? addButton : undefined}
      />
      <Failure
        title="The wallet could not be read"
        error={wallet.error}
        onRetry={() => void wallet.refetch()}
      />
      {wallet.error === null && (
        <Panel kind="plain">
          {accounts.isPending && <LoadingRows what="accounts" />}
          <Failure title="The accounts could not be read" error={accounts.error} onRetry={accounts.retry} />
          {!accounts.isPending && accounts.error === null && list.length === 0 && (
            <Empty title="No account yet" action={addButton}>
              <p>
                An account is a key derived from this wallet’s seed, at a path of its own, with an address in
                the form its chain uses.
              </p>
            </Empty>
          )}
          {list.length > 0 && (
            <ul className="lk-rows" aria-label="Accounts">
              {list.map((account) => (
                <li key={account.walletAccountId}>
                  <AddressRow
                    format={account.addressFormat}
                    address={account.address}
                    detail={
                      <>
                        {account.name !== undefined && account.name !== '' && <>{account.name} · </>}
                        <span className="lk-mono lk-nowrap">{account.path}</span>
                      </>
                    }
                    signHref={`/sign/account/${walletId}/${account.walletAccountId}`}
                  />
                </li>
              ))}
            </ul>
          )}
        </Panel>
      )}
      {accounts.more !== null && (
        <Button variant="default" loading={accounts.isLoadingMore} onClick={accounts.more}>
          Load more accounts
        </Button>
      )}
      <Modal
        opened={adding}
        onClose={() => {
          setAdding(false);
        }}
        title="Add an account"
        size="lg"
      >
        <AddAccount
          walletId={walletId}
          existing={list}
          onDone={() => {
            setAdding(false);
          }}
        />
      </Modal>
    </>
  );
}

const createAccounts = {
  operation: 'create_wallet_accounts',
  type: 'ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS',
  result: 'createWalletAccountsResult',
} as const;

interface AddAccountProps {
  readonly walletId: string;
  readonly existing: readonly WalletAccount[];
  readonly onDone: () => void;
}

const custom = 'custom';

function AddAccount({ walletId, existing, onDone }: AddAccountProps): ReactNode {
  const [choice, setChoice] = useState('ethereum');
  const [name, setName] = useState('');
  const [curve, setCurve] = useState<Curve>('CURVE_SECP256K1');
  const [format, setFormat] = useState('ADDRESS_FORMAT_ETHEREUM');
  const [path, setPath] = useState("m/44'/60'/0'/0/0");
  const create = useSubmit<
    { walletId: string; accounts: readonly NewAccount[] },
    { addresses: readonly string[] }
  >(createAccounts);

  const chain = chains.find(({ id }) => id === choice);
  const account: NewAccount =
    chain === undefined
      ? { curve, pathFormat: 'PATH_FORMAT_BIP32', path: path.trim(), addressFormat: format }
      : nextAccount(chain, existing);
  const problem = chain === undefined ? pathProblem(account.path, curve) : null;

  const chooseCurve = (next: Curve) => {
    setCurve(next);
    const fitting = formatsFor(next);
    if (!fitting.some((row) => row.format === format)) setFormat(fitting[0]?.format ?? '');
  };
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (problem !== null) return;
    create.mutate(
      { walletId, accounts: [{ ...account, ...(name.trim() === '' ? {} : { name: name.trim() }) }] },
      {
        onSuccess({ result }) {
          notifications.show({ title: 'The account is added', message: result.addresses[0] ?? account.path });
          onDone();
        },
      },
    );
  };

  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <Select
          label="Chain"
          data={[
            ...chains.map(({ id, label }) => ({ value: id, label })),
            { value: custom, label: 'Another path or format' },
          ]}
          value={choice}
          allowDeselect={false}
          onChange={(value) => {
            setChoice(value ?? custom);
          }}
          data-autofocus
        />
        {choice === custom && (
          <>
            <Select
              label="Curve"
              data={Object.entries(curves).map(([value, { label, use }]) => ({
                value,
                label: `${label}: ${use}`,
              }))}
              value={curve}
              allowDeselect={false}
              onChange={(value) => {
                chooseCurve((value ?? curve) as Curve);
              }}
            />
            <Select
              label="Address format"
              data={formatsFor(curve).map(({ format: value, label }) => ({ value, label }))}
              value={format}
              allowDeselect={false}
              onChange={(value) => {
                setFormat(value ?? format);
              }}
            />
            <TextInput
              label="Path"
              description="Steps from the seed; ' marks a hardened one."
              autoComplete="off"
              spellCheck={false}
              className="lk-mono-input"
              value={path}
              error={problem}
              onChange={(event) => {
                setPath(event.currentTarget.value);
              }}
            />
          </>
        )}
        <TextInput
          label="Label (optional)"
          description="What you use it for."
          autoComplete="off"
          maxLength={longestName}
          value={name}
          onChange={(event) => {
            setName(event.currentTarget.value);
          }}
        />
        <Outcomes
          items={[
            <>
              A key on the curve {curveLabel(account.curve)} is derived at{' '}
              <span className="lk-mono lk-nowrap">{account.path}</span>
              {chain !== undefined && ', the next free place'}.
            </>,
            `It gets an address of the form “${describeFormat(account.addressFormat).label}”.`,
          ]}
        />
        <Failure title="The account was not added" error={create.error} />
        <Group gap="sm">
          <Button type="submit" loading={create.isPending}>
            Add account
          </Button>
          <Button variant="subtle" color="gray" onClick={onDone}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
