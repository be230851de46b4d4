import { useState } from 'react';
import type { ReactNode } from 'react';
import { TextInput } from '@mantine/core';
import type { CreateVault } from '../../../preload/contract.ts';
import { choosePositions, randomBelow } from './phrase.ts';
import { t } from '../../app/i18n/text.ts';

interface ThreeWords {
  readonly fields: ReactNode;
  /** @returns the words and their positions, or null after saying what is wrong. */
  readonly check: () => CreateVault['confirmedWords'] | null;
}

/** Some words of a phrase, typed back from the paper; other ones for each phrase. */
export function useThreeWords(words: readonly string[]): ThreeWords {
  const [asked, setAsked] = useState(() => choose(words));
  const [typed, setTyped] = useState<readonly string[]>(['', '', '']);
  const [problems, setProblems] = useState<readonly (string | null)[]>([]);
  if (asked.of !== words) {
    setAsked(choose(words));
    setTyped(['', '', '']);
    setProblems([]);
  }
  return {
    check() {
      const found = asked.positions.map((position, index) => {
        const word = (typed[index] ?? '').trim().toLowerCase();
        if (word === '') return t('Enter word {{position}}.', { position });
        return word === words[position - 1]
          ? null
          : t('This is not word {{position}}. Look at number {{position}} on your paper again.', {
              position,
            });
      });
      setProblems(found);
      return found.every((problem) => problem === null)
        ? asked.positions.map((position, index) => ({ position, word: typed[index] ?? '' }))
        : null;
    },
    fields: (
      <div className="kh-three">
        {asked.positions.map((position, index) => (
          <TextInput
            key={position}
            label={t('Word {{position}}', { position })}
            autoComplete="off"
            autoCapitalize="none"
            autoCorrect="off"
            spellCheck={false}
            required
            error={problems[index]}
            value={typed[index] ?? ''}
            onChange={(event) => {
              setTyped(typed.with(index, event.currentTarget.value));
              setProblems(problems.map((problem, at) => (at === index ? null : problem)));
            }}
          />
        ))}
      </div>
    ),
  };
}

const choose = (words: readonly string[]) => ({
  of: words,
  positions: choosePositions(3, words.length, randomBelow),
});
