import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Stack, Text, Textarea } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useLocation } from 'wouter';
import { accountAt, chains } from '../accounts/chains.ts';
import { FirstAccounts } from '../accounts/first-accounts.tsx';
import { FormEnd } from '../../ui/form-end.tsx';
import { NameField } from '../../ui/name-field.tsx';
import { freeName, nameProblem } from '../../ui/text/names.ts';
import { Expectations, PageHead, Panel } from '../../ui/page.tsx';
import { PasswordField } from '../../ui/password-field.tsx';
import { wordsOf } from '../keyslots/phrase.ts';
import { useAsyncAction } from '../../ui/use-async-action.ts';
import { t } from '../../app/i18n/text.ts';
import { useImport } from '../accounts/transfer.ts';
import { useApiQuery, useSubmit } from '../../app/rpc/vault.tsx';
import { onText } from '../../ui/on-text.ts';

/** Allowed numbers of words in a mnemonic (BIP-39). */
const lengths = [12, 15, 18, 21, 24];

/** The separator between words and passphrase in an import. */
const separator = '\n--PASS--\n';

export function ImportWallet(): ReactNode {
  const [, navigate] = useLocation();
  const { data: existing } = useApiQuery('list_wallets');
  const taken = existing?.wallets.map((wallet) => wallet.walletName) ?? [];
  const [typedName, setTypedName] = useState<string | null>(null);
  const [phrase, setPhrase] = useState('');
  const [passphrase, setPassphrase] = useState('');
  const [chosen, setChosen] = useState<readonly string[]>(['ethereum']);
  const [tried, setTried] = useState(false);
  const [done, setDone] = useState(false);
  const begin = useSubmit('ACTIVITY_TYPE_INIT_IMPORT_WALLET');
  const finish = useSubmit('ACTIVITY_TYPE_IMPORT_WALLET');
  const bring = useImport();
  const task = useAsyncAction();
  const name = typedName ?? freeName('Wallet', taken);
  // Once the wallet is there its own name is taken, while this form is still on the screen.
  const problem = done ? null : nameProblem(name, taken);
  const words = wordsOf(phrase);
  const accounts = chains.filter((chain) => chosen.includes(chain.id));
  const wordsProblem = lengths.includes(words.length)
    ? null
    : t('A seed phrase has 12, 15, 18, 21 or 24 words; this has {{words}}.', { words: words.length });

  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    setTried(true);
    if (problem !== null || wordsProblem !== null) return;
    task.run(async () => {
      const secret = new TextEncoder().encode(
        words.join(' ') + (passphrase === '' ? '' : separator + passphrase),
      );
      const { result } = await bring(secret, {
        begin: begin.mutateAsync,
        finish: (sealed) =>
          finish.mutateAsync({
            ...sealed,
            walletName: name.trim(),
            accounts: accounts.map((chain) => accountAt(chain, 0)),
          }),
      });
      const { walletId, addresses } = result;
      setDone(true);
      setPhrase('');
      setPassphrase('');
      notifications.show({
        title: t('Imported “{{name}}”', { name: name.trim() }),
        message:
          addresses.length === 0
            ? t('The wallet has no accounts yet.')
            : t('The wallet has {{count}} accounts.', { count: addresses.length }),
      });
      navigate(`/wallets/${walletId}`, { replace: true });
    });
  };

  return (
    <>
      <PageHead title={t('Import wallet')} back={{ to: '/wallets', label: t('Wallets') }} />
      <form onSubmit={submit} noValidate className="kh-beside" autoComplete="off">
        <Panel>
          <Stack gap="lg">
            <NameField value={name} problem={problem} others={taken} onType={setTypedName} />
            <div>
              <Textarea
                label={t('Seed phrase')}
                description={t('English BIP-39 words in order, separated by spaces.')}
                autosize
                minRows={3}
                autoComplete="off"
                autoCapitalize="none"
                autoCorrect="off"
                spellCheck={false}
                required
                className="kh-mono-input"
                value={phrase}
                error={tried && !done && wordsProblem}
                onChange={onText(setPhrase)}
                onKeyDown={(event) => {
                  if (event.key === 'Enter' && !event.shiftKey) submit(event);
                }}
              />
              <Text size="sm" c="dimmed" role="status" mt={4}>
                {tried && wordsProblem !== null ? '' : t('{{count}} words', { count: words.length })}
              </Text>
            </div>
            <PasswordField
              label={t('BIP-39 passphrase (optional)')}
              description={t(
                'Only if the wallet has one. A wrong passphrase opens a different, empty wallet.',
              )}
              autoComplete="off"
              autoCapitalize="none"
              autoCorrect="off"
              spellCheck={false}
              className="kh-mono-input"
              visibilityToggleButtonProps={{ 'aria-label': t('Show passphrase'), tabIndex: 0 }}
              value={passphrase}
              onChange={onText(setPassphrase)}
            />
            <FirstAccounts
              about={t('The first account of each chain. Add others on the wallet’s page.')}
              chosen={chosen}
              onChoose={setChosen}
            />
            <FormEnd
              failed={t('Couldn’t import the wallet')}
              error={task.error}
              busy={task.isPending}
              does={t('Import wallet')}
              back="/wallets"
            />
          </Stack>
        </Panel>
        <aside>
          <Expectations
            items={[
              t('The words are encrypted before they leave this window, and sealed in the vault.'),
              accounts.length === 0
                ? t('The wallet has no address until you add an account.')
                : t('Adds {{count}} accounts: {{accounts}}. Compare the addresses with those you know.', {
                    count: accounts.length,
                    accounts: accounts.map((chain) => chain.label).join(', '),
                  }),
              t('The wallet is marked as imported: the words may exist elsewhere.'),
            ]}
          />
        </aside>
      </form>
    </>
  );
}
