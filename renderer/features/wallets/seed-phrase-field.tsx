import { useId } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Text, Textarea } from '@mantine/core';
import { useCompletion } from '../../ui/completion/completion.tsx';
import { wordsOf } from '../keyslots/phrase.ts';
import { wordSuggestions } from './seed-words.ts';
import { t } from '../../app/i18n/text.ts';

interface Props {
  readonly value: string;
  readonly problem: string | null;
  readonly onType: (typed: string) => void;
  readonly onLeave: () => void;
  readonly onEnter: (event: SyntheticEvent) => void;
}

/** A field for a seed phrase. Each word is completed while it is typed. */
export function SeedPhraseField({ value, problem, onType, onLeave, onEnter }: Props): ReactNode {
  const id = useId();
  const label = t('Seed phrase');
  const { props, list } = useCompletion({
    id,
    label,
    value,
    onType,
    suggestionsFor: wordSuggestions,
    opensAfter: /\p{L}{2}$/u,
  });
  return (
    <div>
      <div className="kh-completed">
        <Textarea
          id={id}
          label={label}
          description={t('English BIP-39 words in order. Enter takes a suggestion.')}
          autosize
          minRows={3}
          autoComplete="off"
          autoCapitalize="none"
          autoCorrect="off"
          spellCheck={false}
          required
          className="kh-mono-input"
          value={value}
          error={problem}
          {...props}
          onBlur={() => {
            props.onBlur();
            onLeave();
          }}
          onKeyDown={(event) => {
            props.onKeyDown(event);
            if (event.key === 'Enter' && !event.shiftKey && !event.defaultPrevented) onEnter(event);
          }}
        />
        {list}
      </div>
      <Text size="sm" c="dimmed" role="status" mt={4}>
        {t('{{count}} words', { count: wordsOf(value).length })}
      </Text>
    </div>
  );
}
