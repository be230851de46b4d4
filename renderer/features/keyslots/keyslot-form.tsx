import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { SegmentedControl, Stack } from '@mantine/core';
import type { ProveWith } from '../../../preload/contract.ts';
import { FormEnd } from '../../ui/form-end.tsx';
import { Expectations } from '../../ui/page.tsx';
import { PasswordField } from '../../ui/password-field.tsx';
import { useKeyslotChange } from './keyslot-change.ts';
import type { ShownChange } from './keyslot-change.ts';
import { refusalOf } from './password.ts';
import { recoveryOf, recoveryProblem, toRecovery } from './phrase.ts';
import { RecoveryField } from './recovery-field.tsx';
import { StrengthMeter } from './strength-meter.tsx';
import { useAsyncAction } from '../../ui/use-async-action.ts';
import { t } from '../../app/i18n/text.ts';
import { useStatus } from '../../app/rpc/vault.tsx';
import { Busy } from '../../ui/busy.tsx';
import { onText } from '../../ui/on-text.ts';

interface FormProps {
  readonly outcomes: readonly ReactNode[];
  readonly action: string;
  /** The title of a refusal. */
  readonly failed: string;
  readonly danger?: boolean;
  /** Fields of its own. */
  readonly children?: ReactNode;
  /** Looks at them, and says beside each what is wrong. @returns whether they will do. */
  readonly check?: () => boolean;
  readonly change: (proof: ProveWith) => ShownChange;
  readonly onDone: () => void;
  readonly onCancel: () => void;
}

/** Changes what opens the vault. Needs a secret that opens it now. */
export function KeyslotForm({
  outcomes,
  action,
  failed,
  danger = false,
  children,
  check = () => true,
  change,
  onDone,
  onCancel,
}: FormProps): ReactNode {
  const send = useKeyslotChange();
  const proof = useOwnerSecret();
  const task = useAsyncAction();
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    const isFine = check();
    const given = proof.read();
    if (!isFine || given === null) return;
    task.run(async () => {
      await send(change(given));
      onDone();
    });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        {children}
        {proof.fields(submit)}
        <Expectations items={outcomes} />
        <Busy busy={task.isPending}>{t('Checking')}</Busy>
        <FormEnd
          failed={failed}
          error={task.error}
          busy={task.isPending}
          does={action}
          danger={danger}
          back={onCancel}
        />
      </Stack>
    </form>
  );
}

interface OwnerSecret {
  /** @param first Whether nothing comes before them, so that the focus goes there. */
  readonly fields: (onEnter: (event: SyntheticEvent) => void, first?: boolean) => ReactNode;
  /** @returns what was typed, or null after saying what is missing. */
  readonly read: () => ProveWith | null;
}

/** The field for a secret that only the owner has: the vault may be open on a desk that its owner has left. */
export function useOwnerSecret(): OwnerSecret {
  const { keyslots } = useStatus();
  const kinds = (['password', 'recovery'] as const).filter((kind) => keyslots.includes(kind));
  const [chosen, setChosen] = useState<'password' | 'recovery'>(kinds[0] ?? 'recovery');
  const [password, setPassword] = useState('');
  const [phrase, setPhrase] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const choose = (kind: 'password' | 'recovery') => {
    setChosen(kind);
    setProblem(null);
  };
  return {
    read() {
      const recovery = recoveryOf(phrase);
      const lack =
        chosen === 'recovery' ? recoveryProblem(recovery) : password === '' ? t('Enter the password.') : null;
      setProblem(lack);
      if (lack !== null) return null;
      return chosen === 'recovery' ? toRecovery(recovery) : { with: 'password', password };
    },
    fields: (onEnter, first = false) => (
      <>
        {kinds.length > 1 && (
          <SegmentedControl
            aria-label={t('Confirm with')}
            value={chosen}
            onChange={choose}
            data={[
              { value: 'password', label: t('Password') },
              { value: 'recovery', label: t('Recovery phrase') },
            ]}
            fullWidth
          />
        )}
        {chosen === 'password' ? (
          <PasswordField
            label={t('Current password')}
            autoComplete="current-password"
            data-autofocus={first || undefined}
            required
            visibilityToggleButtonProps={{ 'aria-label': t('Show password'), tabIndex: 0 }}
            value={password}
            error={problem}
            onChange={onText(setPassword)}
          />
        ) : (
          <RecoveryField
            label={t('Current recovery phrase')}
            typed={phrase}
            problem={problem}
            onType={setPhrase}
            onEnter={onEnter}
            first={first}
          />
        )}
      </>
    ),
  };
}

interface NewPassword {
  readonly fields: ReactNode;
  readonly check: () => boolean;
  readonly password: string;
}

/** A new password, typed twice. */
export function useNewPassword(): NewPassword {
  const { organization, owner } = useStatus();
  const known = [organization?.name, owner?.userName].filter((name) => name !== undefined);
  const [password, setPassword] = useState('');
  const [repeated, setRepeated] = useState('');
  const [problems, setProblems] = useState<{ readonly password?: string; readonly repeated?: string }>({});
  return {
    password,
    check() {
      const short = refusalOf(password);
      const found = {
        ...(short === undefined ? {} : { password: short }),
        ...(password === repeated ? {} : { repeated: t('The passwords don’t match.') }),
      };
      setProblems(found);
      return Object.keys(found).length === 0;
    },
    fields: (
      <>
        <div>
          <PasswordField
            label={t('New password')}
            autoComplete="new-password"
            required
            visibilityToggleButtonProps={{ 'aria-label': t('Show new password'), tabIndex: 0 }}
            value={password}
            error={problems.password}
            onChange={onText(setPassword)}
          />
          {/* The field already shows the problem. */}
          {problems.password === undefined && <StrengthMeter password={password} known={known} />}
        </div>
        <PasswordField
          label={t('Repeat password')}
          autoComplete="new-password"
          required
          visibilityToggleButtonProps={{ 'aria-label': t('Show repeated password'), tabIndex: 0 }}
          value={repeated}
          error={problems.repeated}
          onChange={onText(setRepeated)}
        />
      </>
    ),
  };
}
