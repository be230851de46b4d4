import { useRef, useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { notifications } from '@mantine/notifications';
import { useLocation } from 'wouter';
import { accountAt, chains } from '../accounts/chains.ts';
import { FirstAccounts } from '../accounts/first-accounts.tsx';
import { FormEnd } from '../../ui/form-end.tsx';
import { NameField } from '../../ui/name-field.tsx';
import { freeName, nameProblem } from '../../ui/text/names.ts';
import { PageHead } from '../../ui/page.tsx';
import { OutcomeForm } from '../../ui/outcome-form.tsx';
import { PasswordField } from '../../ui/password-field.tsx';
import { SeedPhraseField } from './seed-phrase-field.tsx';
import { phraseProblem, unknownWord } from './seed-words.ts';
import { wordsOf } from '../keyslots/phrase.ts';
import { leadTo } from '../../app/lead-to.ts';
import { useAsyncAction } from '../../ui/use-async-action.ts';
import { t } from '../../app/i18n/text.ts';
import { useImport } from '../accounts/transfer.ts';
import type { Sealed } from '../accounts/transfer.ts';
import { WalletPreview } from './wallet-preview.tsx';
import { useApiQuery, useRpc, useSubmit } from '../../app/rpc/vault.tsx';
import { onText } from '../../ui/on-text.ts';

/** The separator between words and passphrase in an import. */
const separator = '\n--PASS--\n';

export function ImportWallet(): ReactNode {
  const [, navigate] = useLocation();
  const { data: existing } = useApiQuery('list_wallets');
  const taken = existing?.wallets.map((wallet) => wallet.walletName) ?? [];
  const [typedName, setTypedName] = useState<string | null>(null);
  const [phrase, setPhrase] = useState('');
  const [passphrase, setPassphrase] = useState('');
  const [chosen, setChosen] = useState<readonly string[]>(['ADDRESS_FORMAT_ETHEREUM']);
  const [tried, setTried] = useState(false);
  const [done, setDone] = useState(false);
  const rpc = useRpc();
  const begin = useSubmit('ACTIVITY_TYPE_INIT_IMPORT_WALLET');
  /** One key of the vault serves the preview and the import. */
  const begun = useRef<ReturnType<typeof begin.mutateAsync>>(null);
  const finish = useSubmit('ACTIVITY_TYPE_IMPORT_WALLET');
  const bring = useImport();
  const task = useAsyncAction();
  const preview = useAsyncAction();
  const [shown, setShown] = useState<{ readonly of: string; readonly addresses: readonly string[] } | null>(
    null,
  );
  const name = typedName ?? freeName('Wallet', taken);
  // Once the wallet is there its own name is taken, while this form is still on the screen.
  const problem = done || task.isPending ? null : nameProblem(name, taken);
  const words = wordsOf(phrase);
  const accounts = chains.filter((chain) => chosen.includes(chain.format));
  const [left, setLeft] = useState(false);
  const finished = tried || left;
  const wordsProblem = finished && phrase !== '' ? phraseProblem(phrase) : unknownWord(phrase);
  const missing = tried && phrase === '' ? phraseProblem('') : null;

  /** The words as they are typed now: addresses of others are not shown beside them. */
  const typed = JSON.stringify([words, passphrase, chosen]);
  const send = async <Answer,>(finishing: (sealed: Sealed) => Promise<Answer>): Promise<Answer> => {
    const secret = new TextEncoder().encode(
      words.join(' ') + (passphrase === '' ? '' : separator + passphrase),
    );
    try {
      return await bring(secret, {
        begin: (parameters) => (begun.current ??= begin.mutateAsync(parameters)),
        finish: finishing,
      });
    } catch (error) {
      // The key may be old: the next attempt asks for another.
      begun.current = null;
      throw error;
    }
  };
  const show = () => {
    setTried(true);
    if (phraseProblem(phrase) !== null) return;
    preview.run(async () => {
      const { addresses } = await send(({ encryptedBundle }) =>
        rpc.previewWallet({ encryptedBundle, accounts: accounts.map((chain) => accountAt(chain, 0)) }),
      );
      setShown({ of: typed, addresses });
    });
  };
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    setTried(true);
    if (problem !== null || phraseProblem(phrase) !== null) return;
    // The name stays where the answer is lost: with the next free one, the next press would do this twice.
    setTypedName(name);
    task.run(() =>
      leadTo(navigate, async () => {
        const { result } = await send((sealed) =>
          finish.mutateAsync({
            ...sealed,
            walletName: name.trim(),
            accounts: accounts.map((chain) => accountAt(chain, 0)),
          }),
        );
        const { walletId, addresses } = result;
        setDone(true);
        setPhrase('');
        setPassphrase('');
        setShown(null);
        notifications.show({
          title: t('Imported “{{name}}”', { name: name.trim() }),
          message:
            addresses.length === 0
              ? t('The wallet has no accounts yet.')
              : t('The wallet has {{count}} accounts.', { count: addresses.length }),
        });
        return `/wallets/${walletId}`;
      }),
    );
  };

  return (
    <>
      <PageHead title={t('Import wallet')} back={{ to: '/wallets', label: t('Wallets') }} />
      <OutcomeForm
        onSubmit={submit}
        secret
        outcomes={[
          t('The words are encrypted in this window and sealed in the vault.'),
          accounts.length === 0
            ? t('The wallet has no address until you add an account.')
            : t('Adds {{count}} accounts: {{accounts}}.', {
                count: accounts.length,
                accounts: accounts.map((chain) => chain.label).join(', '),
              }),
          t('Marked as imported: the words may exist elsewhere.'),
          t(
            'MetaMask, Ledger, Trezor and Phantom use these paths. If an address differs, add an account at your old wallet’s path later.',
          ),
        ]}
      >
        <NameField value={name} problem={problem} others={taken} onType={setTypedName} />
        <SeedPhraseField
          value={phrase}
          problem={done ? null : (missing ?? wordsProblem)}
          onType={(typed) => {
            setPhrase(typed);
            setLeft(false);
          }}
          onLeave={() => {
            setLeft(true);
          }}
          onEnter={submit}
        />
        <PasswordField
          label={t('BIP-39 passphrase (optional)')}
          description={t('Only if the wallet has one. A wrong one opens an empty wallet.')}
          autoComplete="new-password"
          autoCapitalize="none"
          autoCorrect="off"
          spellCheck={false}
          className="kh-mono-input"
          visibilityToggleButtonProps={{ 'aria-label': t('Show passphrase'), tabIndex: 0 }}
          value={passphrase}
          onChange={onText(setPassphrase)}
        />
        <FirstAccounts
          about={t('The first account of each chain. Add others later.')}
          chosen={chosen}
          onChoose={setChosen}
        />
        {accounts.length > 0 && (
          <WalletPreview
            chains={accounts}
            addresses={shown?.of === typed ? shown.addresses : null}
            busy={preview.isPending}
            error={preview.error}
            onShow={show}
          />
        )}
        <FormEnd
          failed={t('Couldn’t import the wallet')}
          error={task.error}
          busy={task.isPending}
          does={t('Import wallet')}
          back="/wallets"
        />
      </OutcomeForm>
    </>
  );
}
