import { useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { Button, Group, Text } from '@mantine/core';
import { IconEye, IconPrinter } from '@tabler/icons-react';
import { CopyButton } from './copy-button.tsx';
import './phrase-sheet.css';

interface Props {
  readonly words: readonly string[];
  readonly vaultName: string;
  readonly onShow: () => void;
}

/** The recovery phrase as a numbered sheet: hidden until asked for, and printed alone. */
export function PhraseSheet({ words, vaultName, onShow }: Props): ReactNode {
  const [shown, setShown] = useState<readonly string[] | null>(null);
  const list = useRef<HTMLOListElement>(null);
  const [warned, setWarned] = useState(false);
  // Words drawn anew are hidden again: the sheet shows exactly those that it was asked to show.
  const visible = shown === words;
  return (
    <div className="lk-sheet" data-visible={visible || undefined}>
      <p className="lk-sheet-title">
        Latchkey recovery phrase for “{vaultName}”,{' '}
        {new Intl.DateTimeFormat(undefined, { dateStyle: 'long' }).format()}. Keep it offline and out of
        sight. Whoever has these words has the keys.
      </p>
      <ol className="lk-words" aria-label="Recovery phrase" aria-hidden={!visible} ref={list} tabIndex={-1}>
        {words.map((word, index) => (
          <li key={index}>
            <span className="lk-words-number">{index + 1}</span>
            <span className="lk-words-word">{visible ? word : ''}</span>
          </li>
        ))}
      </ol>
      {visible ? (
        <div className="lk-noprint">
          <Group gap="xs" mt="md">
            <Button
              variant="default"
              size="xs"
              leftSection={<IconPrinter size={16} aria-hidden />}
              onClick={() => {
                window.print();
              }}
            >
              Print
            </Button>
            {warned ? (
              <CopyButton text={words.join(' ')} what="the words anyway" wide />
            ) : (
              <Button
                variant="default"
                size="xs"
                onClick={() => {
                  setWarned(true);
                }}
              >
                Copy…
              </Button>
            )}
          </Group>
          <Text size="sm" mt="xs" c="var(--lk-brass-ink)" role="status">
            {warned &&
              'Every program on this computer can read the clipboard, and some systems send it to your other devices. Paper is safer. If you copy, paste it at once and then copy something else.'}
          </Text>
        </div>
      ) : (
        <div className="lk-sheet-cover">
          <Button
            size="md"
            variant="filled"
            leftSection={<IconEye size={18} aria-hidden />}
            onClick={() => {
              setShown(words);
              // The button goes away; the focus goes to what it has shown.
              list.current?.focus();
              onShow();
            }}
          >
            Show my words
          </Button>
          <Text size="sm">Is anyone, or a camera, looking at your screen?</Text>
        </div>
      )}
    </div>
  );
}
