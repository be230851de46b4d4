import { useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { Button, FileButton, Group, Textarea } from '@mantine/core';
import { IconFileImport } from '@tabler/icons-react';
import { requestLimits } from '../../../main/lib/published-limits.ts';
import { t } from '../../app/i18n/text.ts';
import { useDropPlace } from '../../ui/drop-place.ts';
import { onText } from '../../ui/on-text.ts';
import { fileText } from './readings.ts';
import './sign.css';

interface Props {
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly problem: string | null;
}

/** Takes what is to be signed: typed, pasted, dropped as a file, or chosen. A file becomes the field's text. */
export function PayloadField({ value, onChange, problem }: Props): ReactNode {
  const [fileProblem, setFileProblem] = useState<string | null>(null);
  const reset = useRef<() => void>(null);
  const most = requestLimits.payloadCharacters;
  const take = (file: File | null | undefined) => {
    // The same file may be chosen again.
    reset.current?.();
    if (file == null) return;
    if (file.size > most / 2) {
      setFileProblem(
        t('“{{name}}” is too large: at most {{count}} bytes.', { name: file.name, count: most / 2 }),
      );
      return;
    }
    setFileProblem(null);
    file.arrayBuffer().then(
      (bytes) => {
        onChange(fileText(new Uint8Array(bytes)));
      },
      () => {
        setFileProblem(t('Couldn’t read “{{name}}”.', { name: file.name }));
      },
    );
  };
  const place = useDropPlace(([file]) => {
    take(file);
  });
  return (
    <div className="kh-payload" {...place}>
      <Group justify="space-between" align="end" mb={6}>
        <label htmlFor="payload" className="kh-label">
          {t('Payload')}
        </label>
        <FileButton onChange={take} resetRef={reset}>
          {(props) => (
            <Button
              {...props}
              size="compact-sm"
              variant="default"
              leftSection={<IconFileImport size={14} aria-hidden />}
            >
              {t('Choose file…')}
            </Button>
          )}
        </FileButton>
      </Group>
      <Textarea
        id="payload"
        autosize
        minRows={4}
        maxRows={14}
        spellCheck={false}
        autoComplete="off"
        maxLength={most}
        className={/^\s*0x[0-9a-f\s]*$/i.test(value) ? 'kh-mono-input' : ''}
        placeholder={t('Paste or drop a message, typed data, a transaction, a PSBT file or hex')}
        value={value}
        error={fileProblem ?? problem}
        onChange={onText((text) => {
          setFileProblem(null);
          onChange(text);
        })}
      />
    </div>
  );
}
