import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import {
  Alert,
  Button,
  Group,
  PasswordInput,
  SegmentedControl,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { BackupSecret, VerifiedBackup } from '../../preload/contract.ts';
import { count } from './bytes.ts';
import { timestampOf } from './backup-ages.tsx';
import { Moment } from './moment.tsx';
import { Facts, Outcomes } from './page.tsx';
import { wordsOf } from './phrase.ts';
import { Failure } from './states.tsx';
import { useBackupCall } from './vault.tsx';

type Way = BackupSecret['with'] | 'vault';

const ways: readonly { readonly value: Way; readonly label: string }[] = [
  { value: 'vault', label: 'This open vault' },
  { value: 'recovery', label: 'Recovery phrase' },
  { value: 'password', label: 'Password' },
];

interface Props {
  /** Undefined where the person names the file. */
  readonly file: string | undefined;
  readonly onDone: () => void;
}

/** Tries a backup, and shows what came of it. */
export function ProveBackup({ file, onDone }: Props): ReactNode {
  const [path, setPath] = useState(file ?? '');
  const [way, setWay] = useState<Way>('vault');
  const [secret, setSecret] = useState('');
  const [lack, setLack] = useState<string | null>(null);
  const prove = useBackupCall(
    (bridge, given: { readonly file: string; readonly secret: BackupSecret | undefined }) =>
      bridge.verifyBackup({
        file: given.file,
        ...(given.secret === undefined ? {} : { secret: given.secret }),
      }),
  );
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    const missing =
      path.trim() === ''
        ? 'Type where the file is.'
        : way !== 'vault' && secret.trim() === ''
          ? 'Type what opens it.'
          : null;
    setLack(missing);
    if (missing !== null) return;
    prove.mutate(
      { file: path.trim(), secret: secretOf(way, secret) },
      {
        onSettled() {
          setSecret('');
        },
      },
    );
  };
  if (prove.data !== undefined) return <Proof found={prove.data} onDone={onDone} />;
  const pathLack = path.trim() === '' ? lack : null;
  const secretLack = pathLack === null ? lack : null;
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        {file === undefined ? (
          <TextInput
            label="File"
            description="Its full path on this computer."
            className="lk-mono-input"
            autoComplete="off"
            spellCheck={false}
            required
            value={path}
            error={pathLack}
            data-autofocus
            onChange={(event) => {
              setPath(event.currentTarget.value);
            }}
          />
        ) : (
          <Text size="sm" className="lk-mono lk-backup-file">
            {file}
          </Text>
        )}
        <SegmentedControl
          aria-label="Open it with"
          value={way}
          onChange={(next) => {
            setWay(next);
            setSecret('');
            setLack(null);
            prove.reset();
          }}
          data={[...ways]}
          fullWidth
        />
        {way === 'recovery' && (
          <Textarea
            label="Recovery phrase"
            description="The 24 words from your paper. This shows that the paper opens the backup."
            autosize
            minRows={3}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            required
            className="lk-mono-input"
            value={secret}
            error={secretLack}
            onChange={(event) => {
              setSecret(event.currentTarget.value);
            }}
          />
        )}
        {way === 'password' && (
          <PasswordInput
            label="Password"
            description="One that the vault had when the backup was made."
            autoComplete="current-password"
            required
            visibilityToggleButtonProps={{ 'aria-label': 'Show password', tabIndex: 0 }}
            value={secret}
            error={secretLack}
            onChange={(event) => {
              setSecret(event.currentTarget.value);
            }}
          />
        )}
        <Outcomes
          items={[
            'The backup is opened in memory; nothing is written over.',
            'Every sealed record is opened and every address derived again.',
            'The activity log is checked, and all is compared with the vault.',
          ]}
        />
        <Failure title="The backup is not proven" error={prove.error} />
        <Group gap="sm">
          <Button type="submit" loading={prove.isPending}>
            Try the backup
          </Button>
          <Button variant="subtle" color="gray" onClick={onDone}>
            Cancel
          </Button>
        </Group>
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

function Proof({
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
          <Text className="lk-row-name">Proven: this backup restores.</Text>
        ) : (
          <Text className="lk-row-name">Not proven: do not rely on this backup.</Text>
        )}
      </div>
      {!proven && (
        <Alert
          color="red"
          variant="light"
          title={count(problemCount, 'thing does not hold', 'things do not hold')}
          icon={<IconAlertTriangle aria-hidden />}
          className="lk-failure"
        >
          {problems.map((problem, index) => (
            <p key={index}>{problem}</p>
          ))}
        </Alert>
      )}
      <Facts
        rows={[
          ['Vault', found.organization],
          ['Made', <Moment key="made" at={timestampOf(found.madeAt)} />],
          ['Sealed records', `${count(counts.sealed, 'record')} opened`],
          [
            'Addresses',
            `of ${count(counts.accounts, 'account')} and ${count(counts.privateKeys, 'private key')} derived again`,
          ],
          ['Activity log', count(log.rows, 'entry', 'entries')],
          ['Not in it', uncovered === null ? 'not compared: it is another vault’s' : since(uncovered)],
        ]}
      />
      <div>
        <Button onClick={onDone} data-autofocus>
          Done
        </Button>
      </div>
    </Stack>
  );
}

function since({ activities, resources }: NonNullable<VerifiedBackup['uncovered']>): string {
  if (activities === 0 && resources.length === 0) return 'nothing: all of the vault is in it';
  const kinds = resources.map(({ kind, added, changed, removed }) => {
    const parts = [
      ...(added > 0 ? [`${String(added)} new`] : []),
      ...(changed > 0 ? [`${String(changed)} changed`] : []),
      ...(removed > 0 ? [`${String(removed)} deleted`] : []),
    ];
    return `${kind}: ${parts.join(', ')}`;
  });
  return [`${count(activities, 'log entry', 'log entries')} since then`, ...kinds].join('; ');
}
