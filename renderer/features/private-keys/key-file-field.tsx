import { useEffect, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { Button, FileButton, Group, Input, Stack } from '@mantine/core';
import { IconFileImport } from '@tabler/icons-react';
import { t } from '../../app/i18n/text.ts';
import { useDropPlace } from '../../ui/drop-place.ts';
import { PasswordField } from '../../ui/password-field.tsx';
import { toHex } from '../../ui/text/bytes.ts';
import { useAsyncAction } from '../../ui/use-async-action.ts';
import type { Curve } from '../accounts/chains.ts';
import './key-file-field.css';

export interface ReadKeyFile {
  readonly curve: Curve;
  readonly hex: string;
  /** The comment of the file; empty where there is none. */
  readonly comment: string;
}

/** A file that waits for its passphrase. */
interface Locked {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Takes an SSH private key from a file that is dropped here or chosen. The file stays in this window. */
export function KeyFileField({ onRead }: { readonly onRead: (key: ReadKeyFile) => void }): ReactNode {
  const [locked, setLocked] = useState<Locked | null>(null);
  const [passphrase, setPassphrase] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const reset = useRef<() => void>(null);
  const task = useAsyncAction();

  useEffect(
    () => () => {
      locked?.bytes.fill(0);
    },
    [locked],
  );

  const read = async ({ name, bytes }: Locked, secret: Uint8Array | undefined): Promise<void> => {
    const { readSshKeyFile } = await import('../../../main/lib/key-files/ssh-key-file.ts');
    const reading = readSshKeyFile(bytes, secret);
    secret?.fill(0);
    setPassphrase('');
    if (!reading.ok) {
      const isLocked = reading.kind !== 'refused';
      setLocked(isLocked ? { name, bytes: bytes.slice() } : null);
      setProblem(reading.kind === 'passphrase needed' ? null : reading.problem);
      return;
    }
    const { curve, comment } = reading.key;
    onRead({ curve, comment, hex: toHex(reading.key.secret) });
    reading.key.secret.fill(0);
    setLocked(null);
    setProblem(null);
  };
  const take = (file: File | null | undefined) => {
    // The same file may be chosen again.
    reset.current?.();
    if (file == null) return;
    task.run(async () => {
      // A key file is short; more bytes than it may have are refused by its reader.
      const bytes = new Uint8Array(await file.slice(0, 20_000).arrayBuffer());
      await read({ name: file.name, bytes }, undefined).finally(() => bytes.fill(0));
    });
  };
  const place = useDropPlace(([file]) => {
    take(file);
  });
  const error = problem ?? task.error?.message ?? null;
  return (
    <Stack gap="xs" className="kh-key-file" {...place}>
      <Input.Wrapper
        label={t('SSH key file (optional)')}
        description={t('Drop a private key of OpenSSH here.')}
        labelElement="div"
        error={locked === null ? error : null}
      >
        <Group mt={6}>
          <FileButton onChange={take} resetRef={reset}>
            {(props) => (
              <Button
                {...props}
                size="compact-sm"
                variant="default"
                loading={task.isPending && locked === null}
                leftSection={<IconFileImport size={14} aria-hidden />}
              >
                {t('Choose file…')}
              </Button>
            )}
          </FileButton>
        </Group>
      </Input.Wrapper>
      {locked !== null && (
        <Group align="end" wrap="nowrap">
          <PasswordField
            flex={1}
            label={t('Passphrase of {{name}}', { name: locked.name })}
            autoComplete="new-password"
            autoFocus
            visibilityToggleButtonProps={{ 'aria-label': t('Show the passphrase'), tabIndex: 0 }}
            value={passphrase}
            error={error}
            onChange={(event) => {
              setPassphrase(event.currentTarget.value);
              setProblem(null);
            }}
            onKeyDown={(event) => {
              if (event.key !== 'Enter') return;
              event.preventDefault();
              unlock(locked);
            }}
          />
          <Button
            variant="default"
            loading={task.isPending}
            onClick={() => {
              unlock(locked);
            }}
          >
            {t('Decrypt')}
          </Button>
        </Group>
      )}
    </Stack>
  );

  function unlock(file: Locked): void {
    if (passphrase === '') {
      setProblem(t('Enter the passphrase of the file.'));
      return;
    }
    const secret = new TextEncoder().encode(passphrase);
    task.run(() => read(file, secret));
  }
}
