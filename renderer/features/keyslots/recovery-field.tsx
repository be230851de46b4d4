import type { ReactNode, SyntheticEvent } from 'react';
import { Text, Textarea } from '@mantine/core';
import { phraseLength, recoveryOf } from './phrase.ts';
import { t } from '../../app/i18n/text.ts';
import { onText } from '../../ui/on-text.ts';

interface Props {
  readonly label?: string;
  readonly typed: string;
  readonly problem: string | null;
  readonly onType: (typed: string) => void;
  readonly onEnter: (event: SyntheticEvent) => void;
  /** Accepts shares too. */
  readonly takesShares?: boolean;
  readonly required?: boolean;
  /** Puts the focus there when its dialog opens. */
  readonly first?: boolean;
}

/** A field for a recovery phrase, or for shares of it. */
export function RecoveryField({
  label = t('Recovery phrase'),
  typed,
  problem,
  onType,
  onEnter,
  takesShares = true,
  required = true,
  first = false,
}: Props): ReactNode {
  const recovery = recoveryOf(typed);
  return (
    <div>
      <Textarea
        label={label}
        description={
          takesShares
            ? t(
                '{{phraseLength}} words in order, separated by spaces; or shares, which begin with lkshare1.',
                { phraseLength },
              )
            : t('{{phraseLength}} words in order, separated by spaces.', {
                phraseLength,
              })
        }
        autosize
        minRows={3}
        autoComplete="off"
        autoCapitalize="none"
        autoCorrect="off"
        spellCheck={false}
        required={required}
        data-autofocus={first || undefined}
        className="kh-mono-input"
        value={typed}
        error={problem}
        onChange={onText(onType)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.shiftKey) onEnter(event);
        }}
      />
      <Text size="sm" c="dimmed" role="status" mt="xs">
        {recovery.kind === 'shares'
          ? t('{{count}} shares', { count: recovery.shares.length })
          : t('{{words}} of {{phraseLength}} words', { words: recovery.words.length, phraseLength })}
      </Text>
    </div>
  );
}
