import { useEffect, useId, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { Anchor, Button, FileButton, Input, Stack, Text, TextInput } from '@mantine/core';
import { IconFileImport } from '@tabler/icons-react';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import type { WindowRpc, UploadedBackup } from '../../../preload/contract.ts';
import { useDropPlace } from '../../ui/drop-place.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { Failure } from '../../ui/feedback.tsx';
import { anyOf, t } from '../../app/i18n/text.ts';
import { Trans } from '../../app/i18n/trans.ts';
import { timestampOf } from '../../ui/text/time.ts';
import { useRpc } from '../../app/rpc/vault.tsx';
import { Busy } from '../../ui/busy.tsx';
import type { Progress } from '../../ui/busy.tsx';
import './backup-file.css';

interface Props {
  /** The missing value. */
  readonly problem: string | undefined;
  /** While it is used. */
  readonly disabled: boolean;
  /** Called with the file's path or upload, or null, and for an upload with the facts in its header. */
  readonly onChange: (file: string | null, upload?: UploadedBackup) => void;
}

/** Chooses a backup: a file that is chosen or dropped here, or a path on the machine of the service. */
export function BackupFileField({ problem, disabled, onChange }: Props): ReactNode {
  const [path, setPath] = useState<string | null>(null);
  const choice = useChoice(onChange);
  useNoStrayDrops();
  if (path !== null) {
    return (
      <Stack gap={6} align="stretch">
        <TextInput
          label={t('Backup file')}
          description={t('Full path on the computer that runs Keyhearth.')}
          placeholder="/media/usb/keyhearth.backup"
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          className="kh-mono-input"
          required
          autoFocus
          disabled={disabled}
          value={path}
          error={problem}
          onChange={(event) => {
            const typed = event.currentTarget.value;
            setPath(typed);
            onChange(typed.trim() === '' ? null : typed.trim());
          }}
        />
        <Other
          disabled={disabled}
          onClick={() => {
            setPath(null);
            onChange(null);
          }}
        >
          {t('Choose a file instead')}
        </Other>
      </Stack>
    );
  }
  return (
    <Stack gap={6}>
      <Chooser choice={choice} problem={problem} disabled={disabled} />
      <Other
        disabled={disabled}
        onClick={() => {
          choice.drop();
          setPath('');
          onChange(null);
        }}
      >
        {t('Enter a path on the computer that runs Keyhearth')}
      </Other>
      <Failure title={t('Couldn’t use this file')} error={choice.error} />
    </Stack>
  );
}

function Other({
  disabled,
  onClick,
  children,
}: {
  readonly disabled: boolean;
  readonly onClick: () => void;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <div>
      <Anchor component="button" type="button" size="sm" disabled={disabled} onClick={onClick}>
        {children}
      </Anchor>
    </div>
  );
}

interface ChooserProps {
  readonly choice: Choice;
  readonly problem: string | undefined;
  readonly disabled: boolean;
}

function Chooser({ choice, problem, disabled }: ChooserProps): ReactNode {
  const id = useId();
  const reset = useRef<() => void>(null);
  const { coming, upload } = choice;
  // A file that is on its way was chosen: it is not asked for again.
  const wrong = problem === undefined || coming === null ? problem : t('Wait until the file is uploaded.');
  const place = useDropPlace(choice.takeDropped, disabled);
  return (
    <Input.Wrapper id={id} label={t('Backup file')} labelElement="div" required error={wrong}>
      <div
        role="group"
        aria-labelledby={`${id}-label`}
        className="kh-file-place"
        {...place}
        data-amiss={problem === undefined ? undefined : true}
      >
        {coming === null ? (
          <>
            {upload === null ? (
              <Text size="sm" c="dimmed" className="kh-file-hint">
                {t('Drop a backup file here, or choose one.')}
              </Text>
            ) : (
              <UploadFacts of={upload} />
            )}
            <FileButton
              accept=".backup"
              disabled={disabled}
              resetRef={reset}
              onChange={(file) => {
                // The same file may be chosen again, once it is another.
                reset.current?.();
                if (file !== null) choice.take(file);
              }}
            >
              {(props) => (
                <Button
                  {...props}
                  variant="default"
                  disabled={disabled}
                  data-autofocus
                  aria-describedby={problem === undefined ? undefined : `${id}-error`}
                  leftSection={<IconFileImport size={16} aria-hidden />}
                >
                  {upload === null ? t('Choose file…') : t('Choose another…')}
                </Button>
              )}
            </FileButton>
          </>
        ) : (
          <>
            <div className="kh-file-hint">
              <Text className="kh-row-name kh-backup-file">{visibleName(coming.name)}</Text>
              <Busy busy progress={coming.progress}>
                {t('Uploading the file')}
              </Busy>
            </div>
            <Button variant="default" aria-label={t('Cancel the upload')} onClick={choice.drop}>
              {t('Cancel')}
            </Button>
          </>
        )}
      </div>
    </Input.Wrapper>
  );
}

const secretNames: Readonly<Record<UploadedBackup['opensWith'][number], string>> = {
  password: t('its password'),
  recovery: t('the recovery phrase'),
};

function UploadFacts({ of }: { readonly of: UploadedBackup }): ReactNode {
  return (
    <div className="kh-file-hint" role="status">
      <Text className="kh-row-name kh-backup-file">{visibleName(of.name)}</Text>
      <Text size="sm" c="dimmed">
        <Trans
          i18nKey="Created <moment/>, {{size}}. Opens with {{secrets}}."
          values={{ size: sizeOf(of), secrets: anyOf(of.opensWith.map((kind) => secretNames[kind])) }}
          components={{ moment: <RelativeTime at={timestampOf(of.madeAt)} exact /> }}
        />
      </Text>
    </div>
  );
}

export function sizeOf({ size }: { readonly size: number }): string {
  if (size < 1024 * 1024) return t('{{count}} KiB', { count: Math.ceil(size / 1024) });
  return t('{{size}} MiB', { size: (size / 1024 / 1024).toFixed(1) });
}

interface Choice {
  readonly coming: { readonly name: string; readonly progress: Progress | null } | null;
  readonly upload: UploadedBackup | null;
  readonly error: Error | null;
  readonly take: (file: File) => void;
  readonly takeDropped: (files: FileList) => void;
  /** Ends what is coming, and lets go of what came. */
  readonly drop: () => void;
}

function useChoice(onChange: Props['onChange']): Choice {
  const rpc = useRpc();
  const [coming, setComing] = useState<Choice['coming']>(null);
  const [upload, setUpload] = useState<UploadedBackup | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const running = useRef<AbortController | null>(null);
  const uploaded = useRef<string | null>(null);
  useEffect(
    () => () => {
      letGo(rpc, running, uploaded);
    },
    [rpc],
  );
  const clear = (why: Error | null): void => {
    letGo(rpc, running, uploaded);
    setComing(null);
    setUpload(null);
    setError(why);
    onChange(null);
  };
  const take = (file: File): void => {
    clear(null);
    const own = new AbortController();
    running.current = own;
    const { name } = file;
    setComing({ name, progress: null });
    const onProgress = (done: number, total: number): void => {
      if (!own.signal.aborted) setComing({ name, progress: { done, total } });
    };
    rpc.chooseBackup(file, { signal: own.signal, onProgress }).then(
      (backup) => {
        if (own.signal.aborted) {
          rpc.releaseBackup(backup.file).catch(() => undefined);
          return;
        }
        running.current = null;
        uploaded.current = backup.file;
        setComing(null);
        setUpload(backup);
        onChange(backup.file, backup);
      },
      (reason: unknown) => {
        if (own.signal.aborted) return;
        running.current = null;
        setComing(null);
        setError(reason instanceof Error ? reason : new Error(String(reason)));
      },
    );
  };
  return {
    coming,
    upload,
    error,
    take,
    takeDropped(files) {
      const [file, ...others] = files;
      if (file === undefined || others.length > 0) clear(new Error(t('Drop a single backup file.')));
      else take(file);
    },
    drop() {
      clear(null);
    },
  };
}

/** Releases an upload. If the service does not get this call, it removes the upload in time. */
function letGo(
  rpc: WindowRpc,
  running: { current: AbortController | null },
  uploaded: { current: string | null },
): void {
  running.current?.abort();
  running.current = null;
  if (uploaded.current !== null) rpc.releaseBackup(uploaded.current).catch(() => undefined);
  uploaded.current = null;
}

/** The browser would open a file that is dropped beside the drop zone, instead of this window. */
function useNoStrayDrops(): void {
  useEffect(() => {
    const refuse = (event: globalThis.DragEvent): void => {
      if (event.defaultPrevented) return;
      event.preventDefault();
      if (event.dataTransfer !== null) event.dataTransfer.dropEffect = 'none';
    };
    window.addEventListener('dragover', refuse);
    window.addEventListener('drop', refuse);
    return () => {
      window.removeEventListener('dragover', refuse);
      window.removeEventListener('drop', refuse);
    };
  }, []);
}
