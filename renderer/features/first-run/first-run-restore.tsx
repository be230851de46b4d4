import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { Fieldset, SegmentedControl, Stack } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { RestoreVault } from '../../../preload/contract.ts';
import { BackupFileField } from '../backups/backup-file.tsx';
import { Expectations } from '../../ui/page.tsx';
import { PasswordField } from '../../ui/password-field.tsx';
import { recoveryOf, recoveryProblem, toRecovery } from '../keyslots/phrase.ts';
import { RecoveryField } from '../keyslots/recovery-field.tsx';
import { Failure } from '../../ui/feedback.tsx';
import { StepFrame } from './step-frame.tsx';
import { t } from '../../app/i18n/text.ts';
import { useRpc, useStatus, useStatusCall } from '../../app/rpc/vault.tsx';
import { Busy } from '../../ui/busy.tsx';
import type { Progress } from '../../ui/busy.tsx';
import { onText } from '../../ui/on-text.ts';

interface Props {
  readonly onBack: () => void;
  /** Told when the restoring begins, and when it is over, well or not. */
  readonly onRestoring: (restoring: boolean) => void;
}

interface Problems {
  readonly file?: string | undefined;
  readonly secret?: string | null;
}

/** The vault of a backup instead of a new one: which file, and what opens it. */
export function RestoreStep({ onBack, onRestoring }: Props): ReactNode {
  const { directory } = useStatus();
  const [file, setFile] = useState<string | null>(null);
  const [kind, setKind] = useState<'password' | 'recovery'>('password');
  const [password, setPassword] = useState('');
  const [phrase, setPhrase] = useState('');
  const [problems, setProblems] = useState<Problems>({});
  const restore = useStatusCall((rpc, wish: RestoreVault) => rpc.restore(wish));
  const progress = useProgress(restore.isPending);
  const checking = progress === null || progress.done === progress.total;

  const submit = () => {
    if (restore.isPending) return;
    const recovery = recoveryOf(phrase);
    const found: Problems = {
      file: file === null ? t('Choose a backup file.') : undefined,
      secret:
        kind === 'password' ? (password === '' ? t('Enter the password.') : null) : recoveryProblem(recovery),
    };
    setProblems(found);
    if (file === null || found.secret !== null) return;
    onRestoring(true);
    restore.mutate(
      {
        file,
        secret: kind === 'password' ? { with: 'password', password } : toRecovery(recovery),
      },
      {
        onSuccess({ organization }) {
          notifications.show({
            title: t('“{{name}}” is restored', { name: organization?.name ?? '' }),
            message: t('Set a new backup schedule on this computer.'),
            autoClose: 12_000,
          });
        },
        onSettled() {
          onRestoring(false);
        },
      },
    );
  };

  return (
    <StepFrame
      title={t('Restore a backup')}
      next={t('Restore')}
      busy={restore.isPending}
      onBack={onBack}
      onNext={submit}
    >
      <p className="kh-prose">
        {t('A “.backup” file opens with the password or recovery phrase that its vault had then.')}
      </p>
      <Stack gap="lg">
        <BackupFileField
          problem={problems.file}
          disabled={restore.isPending}
          onChange={(next, upload) => {
            setFile(next);
            setProblems({});
            restore.reset();
            if (upload?.opensWith.includes('password') === false) setKind('recovery');
          }}
        />
        <Fieldset legend={t('Unlock with')} variant="unstyled">
          <SegmentedControl
            aria-label={t('Unlock with')}
            fullWidth
            maw={460}
            value={kind}
            onChange={(upload) => {
              setKind(upload);
              setProblems({});
            }}
            data={[
              { value: 'password' as const, label: t('Password') },
              { value: 'recovery' as const, label: t('Recovery phrase') },
            ]}
          />
        </Fieldset>
        {kind === 'password' ? (
          <PasswordField
            label={t('Password')}
            autoComplete="current-password"
            required
            visibilityToggleButtonProps={{ 'aria-label': t('Show password'), tabIndex: 0 }}
            value={password}
            error={problems.secret}
            onChange={onText(setPassword)}
          />
        ) : (
          <RecoveryField
            typed={phrase}
            problem={problems.secret ?? null}
            onType={setPhrase}
            onEnter={(event) => {
              event.preventDefault();
              submit();
            }}
          />
        )}
        <Expectations
          items={[
            t('The file is decrypted and checked completely.'),
            directory === null
              ? t('The vault is created in memory.')
              : t('The vault is created in {{directory}}.', { directory }),
            t('What was deleted, revoked or rejected since the backup is back.'),
            t('The same secrets open the vault, and this computer’s keychain if there is one.'),
          ]}
        />
        <Busy busy={restore.isPending} progress={checking ? null : progress}>
          {checking ? t('Checking the contents') : t('Decrypting the backup')}
        </Busy>
        <Failure title={t('Couldn’t restore the vault')} error={restore.error} />
      </Stack>
    </StepFrame>
  );
}

/** The service's progress; null before its first report. */
function useProgress(running: boolean): Progress | null {
  const rpc = useRpc();
  const [progress, setProgress] = useState<Progress | null>(null);
  useEffect(() => {
    if (!running) return;
    const stop = rpc.onEvent((event) => {
      if (event.kind === 'restore') setProgress({ done: event.done, total: event.total });
    });
    return () => {
      stop();
      setProgress(null);
    };
  }, [rpc, running]);
  return progress;
}
