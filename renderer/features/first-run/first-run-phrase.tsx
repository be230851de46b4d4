import { useState } from 'react';
import type { ReactNode } from 'react';
import { Anchor, Stack, Text } from '@mantine/core';
import type { CreateVault } from '../../../preload/contract.ts';
import { Expectations } from '../../ui/page.tsx';
import { PhraseSheet } from '../keyslots/phrase-sheet.tsx';
import { Failure } from '../../ui/feedback.tsx';
import { StepFrame } from './step-frame.tsx';
import { anyOf, t } from '../../app/i18n/text.ts';
import { Trans } from '../../app/i18n/trans.ts';
import { useThreeWords } from '../keyslots/three-words.tsx';
import { useStatus } from '../../app/rpc/vault.tsx';

interface PhraseProps {
  readonly words: readonly string[];
  readonly vaultName: string;
  readonly busy: boolean;
  readonly onBack: () => void;
  readonly onGenerate: () => void;
  readonly onNext: () => void;
}

/** The recovery phrase, to be written down. */
export function PhraseStep({ words, vaultName, busy, onBack, onGenerate, onNext }: PhraseProps): ReactNode {
  const [seen, setSeen] = useState<readonly string[] | null>(null);
  const [pressed, setPressed] = useState(false);
  return (
    <StepFrame
      title={t('Your recovery phrase')}
      next={t('I wrote them down')}
      busy={busy}
      onBack={onBack}
      onNext={() => {
        if (seen === words) onNext();
        else setPressed(true);
      }}
    >
      <p className="kh-prose kh-noprint">
        {t(
          'These words always open the vault, and are shown once. Keep them on paper: anyone who has them has your keys.',
        )}
      </p>
      <PhraseSheet
        words={words}
        label={t('Recovery phrase')}
        printTitle={t('Keyhearth recovery phrase for “{{vaultName}}”', { vaultName })}
        onShow={() => {
          setSeen(words);
        }}
      />
      <div className="kh-noprint">
        {pressed && seen !== words && (
          <Text c="var(--kh-danger)" size="sm" role="alert" mt="sm">
            {t('Show the words and write them down first.')}
          </Text>
        )}
        <Text size="sm" c="dimmed" mt="md">
          <Trans
            i18nKey="Did someone see them? <a>Generate 24 new words</a>"
            components={{ a: <Anchor component="button" type="button" size="sm" onClick={onGenerate} /> }}
          />
        </Text>
      </div>
    </StepFrame>
  );
}

interface CheckProps {
  readonly words: readonly string[];
  /** The other ways to open the vault. */
  readonly opening: { readonly useKeychain: boolean; readonly password: string };
  readonly busy: boolean;
  readonly error: Error | null;
  readonly onBack: () => void;
  readonly onNext: (confirmedWords: CreateVault['confirmedWords']) => void;
}

/** Some words of it, typed back from the paper. */
export function CheckStep({ words, opening, busy, error, onBack, onNext }: CheckProps): ReactNode {
  const { directory } = useStatus();
  const three = useThreeWords(words);
  const check = () => {
    const confirmedWords = three.check();
    if (confirmedWords !== null) onNext(confirmedWords);
  };
  return (
    <StepFrame
      title={t('Check the words')}
      next={t('Create the vault')}
      busy={busy}
      onBack={onBack}
      onNext={check}
    >
      <p className="kh-prose">{t('Enter three words from your paper.')}</p>
      {three.fields}
      <Expectations
        items={[
          directory === null ? (
            t('The vault is created in memory.')
          ) : (
            <>
              <Trans
                i18nKey="The vault is created in <span>{{directory}}</span>, readable only by you."
                values={{ directory }}
                components={{ span: <span className="kh-mono" /> }}
              />
            </>
          ),
          t('The vault opens with {{opening}}.', { opening: openers(opening) }),
          t('This window gets an API key, sealed in the vault.'),
        ]}
      />
      <Stack mt="md">
        <Failure title={t('Couldn’t create the vault')} error={error} />
      </Stack>
    </StepFrame>
  );
}

const openers = ({ useKeychain, password }: CheckProps['opening']): string =>
  anyOf([
    ...(useKeychain ? [t('this computer’s keychain')] : []),
    ...(password === '' ? [] : [t('your password')]),
    t('the recovery phrase'),
  ]);
