import { useEffect, useRef, useState } from 'react';
import type { SyntheticEvent, ReactNode } from 'react';
import { Button, Group, SegmentedControl, Stack, Text, Title } from '@mantine/core';
import type { KeyslotKind, UnlockWith } from '../../../preload/contract.ts';
import { LostVotes } from '../approvals/lost-votes.tsx';
import { FrozenNotice } from './frozen-notice.tsx';
import { KeychainNote } from '../keyslots/keychain-note.tsx';
import { useScreenTitle } from '../../ui/page.tsx';
import { PasswordField } from '../../ui/password-field.tsx';
import { recoveryOf, recoveryProblem, toRecovery } from '../keyslots/phrase.ts';
import type { Recovery } from '../keyslots/phrase.ts';
import { RecoveryField } from '../keyslots/recovery-field.tsx';
import { Failure } from '../../ui/feedback.tsx';
import { StorageNotice } from '../../app/shell/storage.tsx';
import { Tampering } from './tampering.tsx';
import { t } from '../../app/i18n/text.ts';
import { Trans } from '../../app/i18n/trans.ts';
import { AuthLayout } from '../../ui/auth-layout.tsx';
import { useStatus, useStatusCall } from '../../app/rpc/vault.tsx';
import { Busy } from '../../ui/busy.tsx';
import { onText } from '../../ui/on-text.ts';

const slotLabels: Readonly<Record<KeyslotKind, string>> = {
  keychain: t('Keychain'),
  password: t('Password'),
  recovery: t('Recovery phrase'),
};

/** From the quickest to the last resort. */
const order: readonly KeyslotKind[] = ['keychain', 'password', 'recovery'];

/** The beginning of the service's refusal of a changed file. */
const changedOutside = t("The vault's file was changed outside Keyhearth");

/** Opens a locked vault with whichever of its keyslots one has at hand. */
export function Unlock(): ReactNode {
  const { keyslots, keychain, organization, tampering, url, frozen, unlocking } = useStatus();
  const slots = order.filter((slot) => keyslots.includes(slot));
  const usable = slots.filter((slot) => slot !== 'keychain' || (keychain.available && frozen === null));
  // Null until the person has chosen, or begun to type.
  const [wanted, setWanted] = useState<KeyslotKind | null>(null);
  // The vault may be frozen while this screen is shown, and the keychain may come and go.
  const chosen = wanted !== null && usable.includes(wanted) ? wanted : (usable[0] ?? 'recovery');
  const [password, setPassword] = useState('');
  const [phrase, setPhrase] = useState('');
  const [missing, setMissing] = useState<string | null>(null);
  const unlock = useStatusCall((rpc, how: UnlockWith) => rpc.unlock(how));
  const stop = useStatusCall((rpc) => rpc.lock());
  // Another window may be about it.
  const busy = unlock.isPending || unlocking !== null;
  const heading = useScreenTitle(t('Unlock'));
  const form = useRef<HTMLFormElement>(null);
  // After the heading has named the screen.
  useEffect(() => {
    form.current?.querySelector<HTMLElement>('input:not([type="radio"]), textarea')?.focus();
  }, []);
  const recovery = recoveryOf(phrase);
  const isNoted = !keychain.available && keychain.reason === unlock.error?.message;

  const choose = (slot: KeyslotKind) => {
    setWanted(slot);
    setMissing(null);
    unlock.reset();
  };
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (busy) return;
    const lack = whatIsMissing(chosen, password, recovery);
    setMissing(lack);
    if (lack !== null) return;
    switch (chosen) {
      case 'keychain':
        unlock.mutate({ with: 'keychain' });
        break;
      case 'password':
        unlock.mutate({ with: 'password', password });
        break;
      case 'recovery':
        unlock.mutate(toRecovery(recovery));
        break;
    }
  };

  return (
    <AuthLayout
      latch={unlock.isSuccess ? 'open' : 'shut'}
      aside={
        <>
          <p>
            <Trans
              i18nKey="<strong>{{name}}</strong> is locked."
              values={{ name: organization?.name ?? t('The vault') }}
              components={{ strong: <strong /> }}
            />
          </p>
          <p className="kh-auth-aside-more">
            <Trans
              i18nKey="Scripts at <span>{{url}}</span> are refused until you unlock the vault."
              values={{ url }}
              components={{ span: <span className="kh-mono" /> }}
            />
          </p>
        </>
      }
    >
      <form ref={form} onSubmit={submit} noValidate>
        <Title order={1} ref={heading} tabIndex={-1} mb="xs">
          {t('Unlock')}
        </Title>
        <p className="kh-prose">{t('The keys stay in memory until you lock the vault again.')}</p>
        <Stack gap="lg" maw={460}>
          <LostVotes />
          <StorageNotice />
          <FrozenNotice />
          {slots.length > 1 && (
            <SegmentedControl
              aria-label={t('Unlock with')}
              value={chosen}
              onChange={choose}
              data={slots.map((slot) => ({
                value: slot,
                label: slotLabels[slot],
                disabled: !usable.includes(slot),
              }))}
              fullWidth
            />
          )}
          {slots.includes('keychain') && frozen === null && (
            <KeychainNote
              says={(reason) => t('The keychain is not available: {{reason}}', { reason })}
              onFound={() => {
                choose('keychain');
              }}
            />
          )}
          {chosen === 'keychain' && <Text>{t('Your computer may ask for its own password.')}</Text>}
          {chosen === 'password' && (
            <PasswordField
              label={t('Password')}
              autoComplete="current-password"
              required
              visibilityToggleButtonProps={{ 'aria-label': t('Show password'), tabIndex: 0 }}
              value={password}
              error={missing}
              onChange={onText((text) => {
                setWanted('password');
                setPassword(text);
              })}
            />
          )}
          {chosen === 'recovery' && (
            <RecoveryField
              typed={phrase}
              problem={missing}
              onType={(text) => {
                setWanted('recovery');
                setPhrase(text);
              }}
              onEnter={submit}
            />
          )}
          <Tampering tampering={tampering} />
          {/* The list above already shows this refusal. */}
          {(tampering === null || unlock.error?.message.startsWith(changedOutside) === false) && !isNoted && (
            <Failure title={t('Couldn’t unlock the vault')} error={unlock.error} />
          )}
          <Busy
            busy={busy}
            progress={unlocking === null ? null : { done: unlocking.checked, total: unlocking.total }}
          >
            {unlocking === null
              ? t('Unlocking the vault')
              : t('Checking the vault. A large one takes a while.')}
          </Busy>
          <Group gap="sm">
            <Button type="submit" size="md" loading={busy} flex="1 1 auto">
              {chosen === 'keychain' ? t('Unlock with the keychain') : t('Unlock')}
            </Button>
            {unlocking !== null && (
              <Button
                variant="default"
                size="md"
                loading={stop.isPending}
                onClick={() => {
                  stop.mutate(undefined);
                }}
              >
                {t('Stop')}
              </Button>
            )}
          </Group>
        </Stack>
      </form>
    </AuthLayout>
  );
}

function whatIsMissing(slot: KeyslotKind, password: string, recovery: Recovery): string | null {
  if (slot === 'password' && password === '') return t('Enter the password.');
  return slot === 'recovery' ? recoveryProblem(recovery) : null;
}
