import { useRef, useState } from 'react';
import type { CSSProperties, ReactNode } from 'react';
import { Button, Group, Text } from '@mantine/core';
import { IconEyeOff, IconPrinter } from '@tabler/icons-react';
import { flushSync } from 'react-dom';
import { CopyButton } from '../../ui/copy-button.tsx';
import { HoldButton, printPage, staysToBeWrittenMs, useReveal } from '../../ui/secret.tsx';
import { t, usualBlanks } from '../../app/i18n/text.ts';
import './phrase-sheet.css';

interface Props {
  readonly words: readonly string[];
  /** A wallet's BIP-39 passphrase, which belongs to its words; empty for none. */
  readonly passphrase?: string;
  readonly label: string;
  /** The title on paper, before the date. */
  readonly printTitle: string;
  readonly onShow?: () => void;
}

/** A phrase as a numbered sheet: hidden until a person shows it, and printed alone. */
export function PhraseSheet({ words, passphrase = '', label, printTitle, onShow }: Props): ReactNode {
  // New words are hidden again: the sheet shows only the words that a person chose to show.
  const reveal = useReveal(words, staysToBeWrittenMs);
  const visible = reveal.shown;
  const list = useRef<HTMLOListElement>(null);
  const showButton = useRef<HTMLButtonElement>(null);
  const [warned, setWarned] = useState(false);
  const hide = () => {
    flushSync(() => {
      reveal.hide();
      setWarned(false);
    });
    showButton.current?.focus();
  };
  const rows = {
    '--kh-rows-wide': Math.ceil(words.length / 4),
    '--kh-rows-narrow': Math.ceil(words.length / 2),
  } as CSSProperties;
  return (
    <div className="kh-sheet" data-visible={visible || undefined}>
      <p className="kh-sheet-title">
        {t('{{printTitle}}, {{value}}. Keep out of sight: anyone who has these words has the keys.', {
          printTitle,
          value: usualBlanks(new Intl.DateTimeFormat(undefined, { dateStyle: 'long' }).format()),
        })}
      </p>
      <ol
        className="kh-words"
        // Its words are English ones, whatever the window speaks.
        lang="en"
        translate="no"
        aria-label={label}
        aria-hidden={!visible}
        ref={list}
        tabIndex={-1}
        style={rows}
      >
        {words.map((word, index) => (
          <li key={index}>
            <span className="kh-words-number">{index + 1}</span>
            <span className="kh-words-word">{visible ? word : ''}</span>
          </li>
        ))}
      </ol>
      {visible && passphrase !== '' && (
        <p className="kh-sheet-passphrase">
          {t('The wallet also needs this passphrase:')} <span className="kh-words-word">{passphrase}</span>
        </p>
      )}
      {visible ? (
        <div className="kh-noprint">
          <Group gap="xs" mt="md">
            <Button
              variant="default"
              size="xs"
              leftSection={<IconEyeOff size={16} aria-hidden />}
              onClick={hide}
            >
              {t('Hide')}
            </Button>
            <Button
              variant="default"
              size="xs"
              leftSection={<IconPrinter size={16} aria-hidden />}
              onClick={() => {
                printPage();
              }}
            >
              {t('Print')}
            </Button>
            {warned ? (
              <CopyButton text={words.join(' ')} copy={t('Copy anyway')} wide secret />
            ) : (
              <Button
                variant="default"
                size="xs"
                onClick={() => {
                  setWarned(true);
                }}
              >
                {t('Copy…')}
              </Button>
            )}
          </Group>
          <Text size="sm" mt="xs" c="var(--kh-brass-ink)" role="status">
            {warned &&
              t(
                'Other programs and devices may read the clipboard. Paste at once: the words are cleared after 30 seconds.',
              )}
          </Text>
          {reveal.ending}
        </div>
      ) : (
        <div className="kh-sheet-cover">
          <HoldButton
            size="md"
            variant="filled"
            ref={showButton}
            onHeld={() => {
              reveal.show();
              setWarned(false);
              // The button goes away; the focus goes to what it has shown.
              list.current?.focus();
              onShow?.();
            }}
          >
            {t('Show my words')}
          </HoldButton>
          <Text size="sm">{t('Make sure that no person or camera sees your screen.')}</Text>
        </div>
      )}
    </div>
  );
}
