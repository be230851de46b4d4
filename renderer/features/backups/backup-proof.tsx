import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Alert, Button, SegmentedControl, Stack, Text, Textarea } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { BackupSecret, VerifiedBackup } from '../../../preload/contract.ts';
import { BackupFileField } from './backup-file.tsx';
import { FormEnd } from '../../ui/form-end.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { Facts, Expectations } from '../../ui/page.tsx';
import { PasswordField } from '../../ui/password-field.tsx';
import { wordsOf } from '../keyslots/phrase.ts';
import { t } from '../../app/i18n/text.ts';
import { timestampOf } from '../../ui/text/time.ts';
import { useBackupCall, useBackups } from '../../app/rpc/vault.tsx';
import { Busy } from '../../ui/busy.tsx';
import { onText } from '../../ui/on-text.ts';

type Way = BackupSecret['with'] | 'vault';

const ways: readonly { readonly value: Way; readonly label: string }[] = [
  { value: 'vault', label: t('This vault') },
  { value: 'recovery', label: t('Recovery phrase') },
  { value: 'password', label: t('Password') },
];

interface Props {
  /** Undefined where the person chooses the file. */
  readonly file: string | undefined;
  readonly onDone: () => void;
}

/** Verifies a backup, and shows the result. */
export function ProveBackup({ file, onDone }: Props): ReactNode {
  const [path, setPath] = useState<string | null>(file ?? null);
  const [way, setWay] = useState<Way>('vault');
  const [secret, setSecret] = useState('');
  const [lack, setLack] = useState<string | null>(null);
  const verify = useBackupCall(
    (rpc, given: { readonly file: string; readonly secret: BackupSecret | undefined }) =>
      rpc.verifyBackup({
        file: given.file,
        ...(given.secret === undefined ? {} : { secret: given.secret }),
      }),
  );
  const running = useBackups().data?.running;
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    const missing =
      path === null
        ? t('Choose a backup file.')
        : way !== 'vault' && secret.trim() === ''
          ? t('Enter the secret.')
          : null;
    setLack(missing);
    if (path === null || missing !== null) return;
    verify.mutate(
      { file: path, secret: secretOf(way, secret) },
      {
        onSettled() {
          setSecret('');
        },
      },
    );
  };
  if (verify.data !== undefined) return <VerifiedFacts found={verify.data} onDone={onDone} />;
  const pathLack = path === null ? lack : null;
  const secretLack = pathLack === null ? lack : null;
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        {file === undefined ? (
          <BackupFileField
            problem={pathLack ?? undefined}
            disabled={verify.isPending}
            onChange={(next) => {
              setPath(next);
              setLack(null);
              verify.reset();
            }}
          />
        ) : (
          <Text size="sm" className="kh-mono kh-backup-file">
            {file}
          </Text>
        )}
        <SegmentedControl
          aria-label={t('Open with')}
          value={way}
          onChange={(next) => {
            setWay(next);
            setSecret('');
            setLack(null);
            verify.reset();
          }}
          data={[...ways]}
          fullWidth
        />
        {way === 'recovery' && (
          <Textarea
            label={t('Recovery phrase')}
            description={t('The 24 words from your paper. This also tests the paper.')}
            autosize
            minRows={3}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            required
            className="kh-mono-input"
            value={secret}
            error={secretLack}
            onChange={onText(setSecret)}
          />
        )}
        {way === 'password' && (
          <PasswordField
            label={t('Password')}
            description={t('A password that the vault had at the time.')}
            autoComplete="current-password"
            required
            visibilityToggleButtonProps={{ 'aria-label': t('Show password'), tabIndex: 0 }}
            value={secret}
            error={secretLack}
            onChange={onText(setSecret)}
          />
        )}
        <Expectations
          items={[
            t('The backup is opened in memory. Nothing is overwritten.'),
            t('Sealed records are opened, and addresses derived again.'),
            t('The activity log is checked and compared with the vault.'),
          ]}
        />
        <Busy busy={verify.isPending} progress={running?.what === 'verify' ? running : null}>
          {t('Testing the backup')}
        </Busy>
        <FormEnd
          failed={t('Couldn’t test the backup')}
          error={verify.error}
          busy={verify.isPending}
          does={t('Test')}
          back={onDone}
        />
      </Stack>
    </form>
  );
}

function secretOf(way: Way, secret: string): BackupSecret | undefined {
  switch (way) {
    case 'vault':
      return undefined;
    case 'password':
      return { with: 'password', password: secret };
    case 'recovery':
      return { with: 'recovery', phrase: wordsOf(secret).join(' ') };
  }
}

function VerifiedFacts({
  found,
  onDone,
}: {
  readonly found: VerifiedBackup;
  readonly onDone: () => void;
}): ReactNode {
  const { counts, log, uncovered, problems, problemCount } = found;
  const proven = problemCount === 0;
  return (
    <Stack gap="md">
      <div role="status">
        {proven ? (
          <Text className="kh-row-name">{t('Tested: this backup restores.')}</Text>
        ) : (
          <Text className="kh-row-name">{t('Failed: do not rely on this backup.')}</Text>
        )}
      </div>
      {!proven && (
        <Alert
          color="red"
          variant="light"
          title={t('{{count}} problems', { count: problemCount })}
          icon={<IconAlertTriangle aria-hidden />}
          className="kh-failure"
        >
          {problems.map((problem, index) => (
            <p key={index}>{problem}</p>
          ))}
        </Alert>
      )}
      <Facts
        rows={[
          [t('Vault'), found.organization],
          [t('Created'), <RelativeTime key="made" at={timestampOf(found.madeAt)} exact />],
          [t('Sealed records'), t('{{count}} records opened', { count: counts.sealed })],
          [
            t('Addresses'),
            t('{{count}} accounts and {{value}} derived again', {
              count: counts.accounts,
              value: t('{{count}} private keys', { count: counts.privateKeys }),
            }),
          ],
          [t('Activity log'), t('{{count}} entries', { count: log.rows })],
          [
            t('Newer than the backup'),
            uncovered === null ? t('not compared: the backup is from another vault') : since(uncovered),
          ],
        ]}
      />
      <div>
        <Button onClick={onDone} data-autofocus>
          {t('Done')}
        </Button>
      </div>
    </Stack>
  );
}

function since({ activities, resources }: NonNullable<VerifiedBackup['uncovered']>): string {
  if (activities === 0 && resources.length === 0) return t('nothing');
  const kinds = resources.map(({ kind, added, changed, removed }) => {
    const parts = [
      ...(added > 0 ? [t('{{added}} new', { added })] : []),
      ...(changed > 0 ? [t('{{changed}} changed', { changed })] : []),
      ...(removed > 0 ? [t('{{removed}} deleted', { removed })] : []),
    ];
    return `${kind}: ${parts.join(', ')}`;
  });
  return [t('{{count}} log entries', { count: activities }), ...kinds].join('; ');
}
