import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Box, Button, Checkbox, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { BackupProgress, BackupRecord, BackupsStatus } from '../../../preload/contract.ts';
import { agesOf } from './backup-ages.tsx';
import { sizeOf } from './backup-file.tsx';
import { ProveBackup } from './backup-proof.tsx';
import { useSaveBackup } from './backup-save.ts';
import { DialogButton } from '../../ui/danger-zone.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { Facts, PageHead, Panel } from '../../ui/page.tsx';
import { Empty, Failure, LoadingRows } from '../../ui/feedback.tsx';
import { t, Trans } from '../../app/i18n/text.ts';
import { timestampOf } from '../../ui/text/time.ts';
import { sayDone } from '../../app/shell/undo.tsx';
import { useBackupCall, useBackups, useStatus } from '../../app/rpc/vault.tsx';
import { Busy } from '../../ui/busy.tsx';
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
        lead={t(
          'A backup is one encrypted file with everything in this vault. It opens on any machine with your recovery phrase or a password, and never with a keychain alone.',
        )}
      />
      {isPending && (
        <Panel kind="plain">
          <LoadingRows label={t('Loading backups')} />
        </Panel>
      )}
      <Failure title={t('The backups could not be read')} error={error} onRetry={() => void refetch()} />
      {data !== undefined && !data.available && (
        <Panel>
          <Text>{t('This vault is in memory, to be thrown away. It has no backups.')}</Text>
        </Panel>
      )}
      {data !== undefined && data.available && (
        <>
          <State of={data} />
          {data.running !== null && <Running progress={data.running} />}
          <BackUp of={data} key={data.schedule?.directory ?? ''} />
          <Schedule of={data} key={`schedule ${data.schedule?.directory ?? ''}`} />
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
            [t('Last backup'), made === undefined ? t('none yet') : at(made)],
            [t('Last proven'), proven === undefined ? t('never') : at(proven)],
            [
              t('Next'),
              schedule === null ? (
                t('when you make one')
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
  const name = what === 'backup' ? t('Making a backup') : t('Trying a backup');
  return (
    <Panel title={name}>
      <Text size="sm" mb="xs" className="kh-backup-file">
        {file}
      </Text>
      <Busy busy progress={done === 0 ? null : { done, total }}>
        {what === 'backup' ? t('The vault stays in use.') : t('Everything in it is opened and checked.')}
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
            title: t('The backup is made'),
            message: t('{{made}} in {{file}}. Try it, to know that it restores, and keep a copy elsewhere.', {
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
            description={t(
              'Its full path on the computer that runs Keyhearth: on a stick, say, or in a folder that is synced. From the list below a copy is saved to wherever you like.',
            )}
            className="kh-mono-input"
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            required
            value={file}
            error={file.trim() === '' ? t('Type where the backup is to go.') : null}
            onChange={onText(setTyped)}
          />
          <Checkbox
            label={t('Replace an older backup of that name')}
            checked={replace}
            onChange={(event) => {
              setReplace(event.currentTarget.checked);
            }}
          />
          <Failure title={t('No backup was made')} error={backUp.error} />
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
  { value: '6', label: t('Every six hours') },
  { value: '24', label: t('Every day') },
  { value: '168', label: t('Every week') },
];

function Schedule({ of: { schedule, suggestedDirectory } }: { readonly of: BackupsStatus }): ReactNode {
  const [typed, setTyped] = useState<string | null>(null);
  const [hours, setHours] = useState(String(schedule?.hours ?? 24));
  const change = useBackupCall((rpc, wish: { readonly directory: string; readonly hours: number } | null) =>
    rpc.scheduleBackups(wish),
  );
  const directory = typed ?? schedule?.directory ?? suggestedDirectory;
  const former = schedule && { directory: schedule.directory, hours: schedule.hours };
  const isAsSet = schedule?.directory === directory.trim() && String(schedule.hours) === hours;
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    change.mutate(
      { directory: directory.trim(), hours: Number(hours) },
      {
        onSuccess() {
          sayDone({
            title: t('The schedule is set'),
            message: t('The first backup is made now, the others while Keyhearth runs.'),
            undo: () => change.mutateAsync(former),
          });
        },
      },
    );
  };
  const stop = () => {
    change.mutate(null, {
      onSuccess() {
        sayDone({
          title: t('The schedule is off'),
          message: t('The backups that there are stay.'),
          undo: () => change.mutateAsync(former),
        });
      },
    });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Panel title={t('Schedule')}>
        <Stack gap="md" maw={640}>
          <Text size="sm" c="dimmed">
            {schedule === null
              ? t(
                  'Keyhearth can make backups by itself while it runs, also while the vault is locked. It keeps the last seven, and the newest of each of four weeks and twelve months.',
                )
              : t(
                  'Of those in {{directory}}, the last seven are kept, and the newest of each of four weeks and twelve months.',
                  { directory: schedule.directory },
                )}
          </Text>
          <TextInput
            label={t('Folder')}
            className="kh-mono-input"
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            required
            value={directory}
            error={directory.trim() === '' ? t('Type a folder.') : null}
            onChange={onText(setTyped)}
          />
          <NativeSelect
            label={t('How often')}
            value={hours}
            data={
              rhythms.some(({ value }) => value === hours)
                ? rhythms
                : [...rhythms, { value: hours, label: t('Every {{hours}} hours', { hours }) }]
            }
            onChange={onText(setHours)}
          />
          <Failure title={t('The schedule was not changed')} error={change.error} />
          <Group gap="sm">
            <Button type="submit" loading={change.isPending} disabled={isAsSet || directory.trim() === ''}>
              {schedule === null ? t('Set the schedule') : t('Change the schedule')}
            </Button>
            {schedule !== null && (
              <Button variant="default" onClick={stop} disabled={change.isPending}>
                {t('Turn it off')}
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
      title={t('Backups that were made')}
      kind="plain"
      aside={
        <DialogButton name={t('Try a file…')} title={t('Try a backup')} wide>
          {(close) => <ProveBackup file={undefined} onDone={close} />}
        </DialogButton>
      }
    >
      {saving.error !== null && (
        <Box px="md" pb="xs">
          <Failure title={t('No copy was saved')} error={saving.error} />
        </Box>
      )}
      {backups.length === 0 ? (
        <Empty title={t('No backup yet')} level={3}>
          <p>{t('Make one above. Keep it elsewhere than on this computer, and try it once.')}</p>
        </Empty>
      ) : (
        <ul className="kh-rows" aria-label={t('Backups that were made')}>
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
                    aria-label={t('Save a copy {{file}}', { file: backup.file })}
                    onClick={() => {
                      saving.save(backup);
                    }}
                  >
                    {t('Save a copy')}
                  </Button>
                )}
                <DialogButton
                  name={t('Try it…')}
                  label={t('Try it… {{file}}', { file: backup.file })}
                  title={t('Try a backup')}
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
  if (backup.found === false) return `· ${t('not where it was; it may be on a disk that is not connected')}`;
  if (backup.problem !== null) return `· ${t('bad: {{problem}}', { problem: backup.problem })}`;
  const size = `· ${sizeOf(backup)} · `;
  if (backup.provenAt === null) return `${size}${t('not tried yet')}`;
  return (
    <>
      {size}
      <Trans
        i18nKey="proven <moment/>"
        components={{ moment: <RelativeTime at={timestampOf(backup.provenAt)} /> }}
      />
    </>
  );
}
