import { useCallback, useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Box, Button, Checkbox, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { BackupProgress, BackupRecord, BackupsStatus, WindowRpc } from '../../../preload/contract.ts';
import { agesOf } from './backup-ages.tsx';
import { sizeOf } from './backup-file.tsx';
import { ProveBackup } from './backup-proof.tsx';
import { useSaveBackup } from './backup-save.ts';
import { DialogButton } from '../../ui/danger-zone.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { Facts, PageHead, Panel } from '../../ui/page.tsx';
import { Empty, Failure, LoadingRows } from '../../ui/feedback.tsx';
import { t } from '../../app/i18n/text.ts';
import { Trans } from '../../app/i18n/trans.ts';
import { timestampOf } from '../../ui/text/time.ts';
import { areSame, ChangedMeanwhile, useMeanwhile } from '../../app/meanwhile.tsx';
import { sayDone } from '../../app/shell/undo.tsx';
import { useBackupCall, useBackups, useRpc, useStatus } from '../../app/rpc/vault.tsx';
import { Busy } from '../../ui/busy.tsx';
import { useAsyncAction } from '../../ui/use-async-action.ts';
import { onText } from '../../ui/on-text.ts';
import './backup-ages.css';
import '../../ui/rows.css';

/** Copies of the whole vault: made, tried, and on a schedule. */
export function Backups(): ReactNode {
  const { data, error, isPending, refetch } = useBackups();
  return (
    <>
      <PageHead
        title={t('Backups')}
        lead={t('One encrypted file with the whole vault. The phrase or a password opens it.')}
      />
      {isPending && (
        <Panel kind="plain">
          <LoadingRows label={t('Loading backups')} />
        </Panel>
      )}
      <Failure title={t('Couldn’t load the backups')} error={error} onRetry={() => void refetch()} />
      {data !== undefined && !data.available && (
        <Panel>
          <Text>{t('This vault is in memory only. It has no backups.')}</Text>
        </Panel>
      )}
      {data !== undefined && data.available && (
        <>
          <State of={data} />
          {data.running !== null && <Running progress={data.running} />}
          <BackUp of={data} />
          <Schedule of={data} />
          <List of={data} />
        </>
      )}
    </>
  );
}

function State({ of }: { readonly of: BackupsStatus }): ReactNode {
  const { made, proven } = agesOf(of);
  const at = (time: number): ReactNode => <RelativeTime at={timestampOf(time)} exact />;
  const { schedule, notices } = of;
  return (
    <Panel kind={notices.length === 0 ? 'usual' : 'brass'}>
      <Stack gap="sm">
        {notices.map(({ kind, message }) => (
          <Text key={kind} className="kh-row-name">
            {message}
          </Text>
        ))}
        <Facts
          rows={[
            [t('Last backup'), made === undefined ? t('none') : at(made)],
            [t('Last tested'), proven === undefined ? t('never') : at(proven)],
            [
              t('Next'),
              schedule === null ? (
                t('not scheduled')
              ) : (
                <RelativeTime key="due" at={timestampOf(schedule.dueAt)} ahead exact />
              ),
            ],
          ]}
        />
      </Stack>
    </Panel>
  );
}

function Running({
  progress: { what, file, done, total },
}: {
  readonly progress: BackupProgress;
}): ReactNode {
  const name = what === 'backup' ? t('Creating a backup') : t('Testing a backup');
  return (
    <Panel title={name}>
      <Text size="sm" mb="xs" className="kh-backup-file">
        {file}
      </Text>
      <Busy busy progress={done === 0 ? null : { done, total }}>
        {what === 'backup'
          ? t('You can go on using the vault.')
          : t('Everything in the backup is opened and checked.')}
      </Busy>
    </Panel>
  );
}

/** @returns a file name with the vault and the day, for a path on this computer. */
function proposed({ schedule, suggestedDirectory }: BackupsStatus, organization: string): string {
  const directory = schedule?.directory ?? suggestedDirectory;
  const separator = directory.includes('\\') ? '\\' : '/';
  const vault = organization.replaceAll(/[^\p{L}\p{N}]+/gu, '-').replaceAll(/^-|-$/g, '');
  const day = new Date().toISOString().slice(0, 10);
  return `${directory}${separator}keyhearth-${vault === '' ? 'vault' : vault}-${day}.backup`;
}

function BackUp({ of }: { readonly of: BackupsStatus }): ReactNode {
  const { organization } = useStatus();
  const [typed, setTyped] = useState<string | null>(null);
  const [replace, setReplace] = useState(false);
  const backUp = useBackupCall((rpc, wish: { readonly file: string; readonly replace: boolean }) =>
    rpc.backUp(wish),
  );
  const file = typed ?? proposed(of, organization?.name ?? '');
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    backUp.mutate(
      { file: file.trim(), replace },
      {
        onSuccess(made) {
          setReplace(false);
          notifications.show({
            title: t('Backup created'),
            message: t('{{made}} in {{file}}. Test the backup and keep a copy elsewhere.', {
              made: sizeOf(made),
              file: made.file,
            }),
          });
        },
      },
    );
  };
  return (
    <form onSubmit={submit} noValidate>
      <Panel title={t('Back up now')}>
        <Stack gap="md" maw={640}>
          <TextInput
            label={t('File')}
            description={t('Full path on the computer that runs Keyhearth.')}
            className="kh-mono-input"
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            required
            value={file}
            error={file.trim() === '' ? t('Enter a path for the backup.') : null}
            onChange={onText(setTyped)}
          />
          <Checkbox
            label={t('Replace an older backup of that name')}
            checked={replace}
            onChange={(event) => {
              setReplace(event.currentTarget.checked);
            }}
          />
          <Failure title={t('Couldn’t create the backup')} error={backUp.error} />
          <div>
            <Button type="submit" loading={backUp.isPending} disabled={file.trim() === ''}>
              {t('Back up now')}
            </Button>
          </div>
        </Stack>
      </Panel>
    </form>
  );
}

const rhythms = [
  { value: '6', label: t('Every 6 hours') },
  { value: '24', label: t('Every day') },
  { value: '168', label: t('Every week') },
];

const nameOfRhythm = (hours: string): string =>
  rhythms.find(({ value }) => value === hours)?.label ?? t('Every {{hours}} hours', { hours });

type ScheduleWish = Parameters<WindowRpc['scheduleBackups']>[0];

const wishOf = (schedule: BackupsStatus['schedule']): ScheduleWish =>
  schedule && { directory: schedule.directory, hours: schedule.hours };

interface ScheduleFields {
  readonly directory: string;
  readonly hours: string;
}

/** Empty where nothing is scheduled. */
const fieldsOf = (schedule: ScheduleWish | undefined): ScheduleFields =>
  schedule == null
    ? { directory: '', hours: '' }
    : { directory: schedule.directory, hours: String(schedule.hours) };

function Schedule({ of: { schedule, suggestedDirectory } }: { readonly of: BackupsStatus }): ReactNode {
  /** Null while the form shows what is set. */
  const [typed, setTyped] = useState<ScheduleFields | null>(null);
  const forget = useCallback(() => {
    setTyped(null);
  }, []);
  const rpc = useRpc();
  const { refetch } = useBackups();
  const change = useBackupCall((to, wish: ScheduleWish) => to.scheduleBackups(wish));
  const task = useAsyncAction();
  const saved = fieldsOf(schedule);
  const shown = typed ?? (schedule === null ? { directory: suggestedDirectory, hours: '24' } : saved);
  const { directory, hours } = shown;
  const wanted = { directory: directory.trim(), hours };
  const meanwhile = useMeanwhile({
    name: 'schedule',
    saved,
    typed: typed === null ? saved : wanted,
    isSaving: task.isPending,
    onTake: forget,
  });
  const former = wishOf(schedule);
  const isScheduled = async (wish: ScheduleWish): Promise<boolean> => {
    const { schedule: now } = await rpc.backups();
    return areSame(wishOf(now), wish);
  };
  const isAsSet = areSame(wanted, saved);
  /** From then on the form shows what is set, also after an undo. */
  const save = (wish: ScheduleWish, said: { readonly title: string; readonly message: string }) => {
    if (meanwhile.isOutdated) return;
    task.run(async () => {
      await meanwhile.save({
        sent: fieldsOf(wish),
        readNow: async () => fieldsOf((await refetch({ throwOnError: true })).data?.schedule),
        send: async () => {
          await change.mutateAsync(wish);
          forget();
          sayDone({ ...said, isAsDone: () => isScheduled(wish), undo: () => change.mutateAsync(former) });
        },
      });
    });
  };
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    save(
      { directory: wanted.directory, hours: Number(hours) },
      {
        title: t('Schedule changed'),
        message: t('The first backup starts now, the others while Keyhearth runs.'),
      },
    );
  };
  const stop = () => {
    save(null, { title: t('Schedule turned off'), message: t('Existing backups stay.') });
  };
  const none = ['', t('not scheduled')] as const;
  return (
    <form onSubmit={submit} noValidate>
      <Panel title={t('Schedule')}>
        <Stack gap="md" maw={640}>
          <Text size="sm" c="dimmed">
            {schedule === null
              ? t(
                  'Runs with Keyhearth, even while the vault is locked. Keeps the last 7 backups, 4 weekly and 12 monthly.',
                )
              : t('{{directory}} keeps the last 7 backups, 4 weekly and 12 monthly.', {
                  directory: schedule.directory,
                })}
          </Text>
          <TextInput
            label={t('Folder')}
            className="kh-mono-input"
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            required
            value={directory}
            error={directory.trim() === '' ? t('Enter a folder.') : null}
            onChange={onText((text) => {
              setTyped({ ...shown, directory: text });
            })}
          />
          <NativeSelect
            label={t('Frequency')}
            value={hours}
            data={
              rhythms.some(({ value }) => value === hours)
                ? rhythms
                : [...rhythms, { value: hours, label: nameOfRhythm(hours) }]
            }
            onChange={onText((text) => {
              setTyped({ ...shown, hours: text });
            })}
          />
          <ChangedMeanwhile
            meanwhile={meanwhile}
            saved={saved}
            labels={{ directory: t('Folder'), hours: t('Frequency') }}
            words={{
              directory: new Map([none]),
              hours: new Map([[saved.hours, nameOfRhythm(saved.hours)], none]),
            }}
            onTake={forget}
          />
          <Failure title={t('Couldn’t change the schedule')} error={task.error} />
          <Group gap="sm">
            <Button type="submit" loading={task.isPending} disabled={isAsSet || directory.trim() === ''}>
              {schedule === null ? t('Set schedule') : t('Change schedule')}
            </Button>
            {schedule !== null && (
              <Button variant="default" onClick={stop} disabled={task.isPending}>
                {t('Turn off')}
              </Button>
            )}
          </Group>
        </Stack>
      </Panel>
    </form>
  );
}

function List({ of: { backups } }: { readonly of: BackupsStatus }): ReactNode {
  const saving = useSaveBackup();
  return (
    <Panel
      title={t('Existing backups')}
      kind="plain"
      aside={
        <DialogButton name={t('Test a file…')} title={t('Test a backup')} wide>
          {(close) => <ProveBackup file={undefined} onDone={close} />}
        </DialogButton>
      }
    >
      {saving.error !== null && (
        <Box px="md" pb="xs">
          <Failure title={t('Couldn’t save a copy')} error={saving.error} />
        </Box>
      )}
      {backups.length === 0 ? (
        <Empty title={t('No backup yet')} level={3}>
          <p>{t('Create a backup, keep a copy elsewhere, and test the backup once.')}</p>
        </Empty>
      ) : (
        <ul className="kh-rows" aria-label={t('Existing backups')}>
          {backups.map((backup) => (
            <li key={backup.id} className="kh-row kh-manage">
              <div>
                <span className="kh-row-name">
                  <RelativeTime at={timestampOf(backup.madeAt)} />
                </span>{' '}
                <span className="kh-row-more">{stateOf(backup)}</span>
                <br />
                <span className="kh-row-more kh-mono kh-backup-file">{backup.file}</span>
              </div>
              <Group gap="xs">
                {backup.found === true && (
                  <Button
                    variant="default"
                    size="xs"
                    loading={saving.saves === backup.id}
                    disabled={saving.saves !== null}
                    aria-label={t('Save a copy of {{file}}', { file: backup.file })}
                    onClick={() => {
                      saving.save(backup);
                    }}
                  >
                    {t('Save a copy')}
                  </Button>
                )}
                <DialogButton
                  name={t('Test…')}
                  label={t('Test… {{file}}', { file: backup.file })}
                  title={t('Test a backup')}
                  wide
                >
                  {(close) => <ProveBackup file={hasPath(backup) ? backup.file : undefined} onDone={close} />}
                </DialogButton>
              </Group>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

/** One that a browser brought is known by a name, and chosen again to be tried. */
const hasPath = ({ file }: BackupRecord): boolean => /[/\\]/.test(file);

function stateOf(backup: BackupRecord): ReactNode {
  if (backup.found === false) return `· ${t('file not found; its disk may be disconnected')}`;
  if (backup.problem !== null) return `· ${t('failed: {{problem}}', { problem: backup.problem })}`;
  const size = `· ${sizeOf(backup)} · `;
  if (backup.provenAt === null) return `${size}${t('not tested')}`;
  return (
    <>
      {size}
      <Trans
        i18nKey="tested <moment/>"
        components={{ moment: <RelativeTime at={timestampOf(backup.provenAt)} /> }}
      />
    </>
  );
}
