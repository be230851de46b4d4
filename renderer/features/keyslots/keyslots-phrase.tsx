import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Anchor, Button, Stack, Text } from '@mantine/core';
import type { CreateVault, ProveWith } from '../../../preload/contract.ts';
import { useOwnerSecret } from './keyslot-form.tsx';
import { Expectations, PageHead, Panel } from '../../ui/page.tsx';
import { PhraseSheet } from './phrase-sheet.tsx';
import { wordsOf } from './phrase.ts';
import { SheetMaker } from './recovery-sheet.tsx';
import { Failure } from '../../ui/feedback.tsx';
import { useAsyncAction } from '../../ui/use-async-action.ts';
import { t } from '../../app/i18n/text.ts';
import { Trans } from '../../app/i18n/trans.ts';
import { useThreeWords } from './three-words.tsx';
import { orFind } from '../../app/rpc/rpc-error.ts';
import { useRpc, useStatus } from '../../app/rpc/vault.tsx';

/** 24 new words: generated, written down, checked, and then they open the vault. */
export function NewPhrase({ keyslotId }: { readonly keyslotId: string }): ReactNode {
  const rpc = useRpc();
  const task = useAsyncAction();
  const [words, setWords] = useState<readonly string[] | null>(null);
  const [done, setDone] = useState(false);
  // The address says what the person came for. The words that are to be replaced may be gone by the end.
  const replaces = keyslotId !== 'another';
  const generate = () => {
    task.run(async () => {
      try {
        setWords(wordsOf((await rpc.newRecoveryPhrase()).phrase));
      } catch (error) {
        // The service may have others by now, and accepts only its last.
        setWords(null);
        throw error;
      }
    });
  };
  return (
    <>
      <PageHead
        title={t('New recovery phrase')}
        back={{ to: '/keyslots', label: t('Unlock methods') }}
        lead={t('24 words on paper, for emergencies.')}
      />
      {words === null && (
        <Panel>
          <Stack gap="md" maw={560}>
            <Expectations
              items={[
                t('You write down 24 words and enter three of them.'),
                replaces
                  ? t('Your current words and shares stop working, except with older backups and copies.')
                  : t('The vault also opens with the new words.'),
              ]}
            />
            <Failure title={t('Couldn’t generate the words')} error={task.error} />
            <div>
              <Button loading={task.isPending} onClick={generate}>
                {t('Generate 24 words')}
              </Button>
            </div>
          </Stack>
        </Panel>
      )}
      {words !== null && !done && (
        <Writing
          words={words}
          onGenerate={generate}
          change={async (proof, confirmedWords) => {
            await orFind(
              () =>
                rpc.changeKeyslots(
                  replaces
                    ? { do: 'changeRecovery', keyslotId, proof, confirmedWords }
                    : { do: 'addRecovery', proof, confirmedWords },
                ),
              () => rpc.checkRecovery({ with: 'recovery', phrase: words.join(' ') }),
            );
            setDone(true);
          }}
        />
      )}
      {words !== null && done && (
        <>
          <Expectations
            title={t('Summary')}
            done
            items={[
              replaces
                ? t('The vault opens with the new words. Destroy the old paper.')
                : t('The vault also opens with the new words.'),
            ]}
          />
          <Panel title={t('Recovery sheet')}>
            <SheetMaker phrase={words.join(' ')} />
          </Panel>
        </>
      )}
    </>
  );
}

interface WritingProps {
  readonly words: readonly string[];
  readonly onGenerate: () => void;
  readonly change: (proof: ProveWith, confirmedWords: CreateVault['confirmedWords']) => Promise<void>;
}

function Writing({ words, onGenerate, change }: WritingProps): ReactNode {
  const { organization } = useStatus();
  const task = useAsyncAction();
  const proof = useOwnerSecret();
  const three = useThreeWords(words);
  const [seen, setSeen] = useState<readonly string[] | null>(null);
  const [pressed, setPressed] = useState(false);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    setPressed(true);
    const confirmedWords = three.check();
    const given = proof.read();
    if (seen !== words || confirmedWords === null || given === null) return;
    task.run(() => change(given, confirmedWords));
  };
  return (
    <>
      <Panel title={t('The words')}>
        <PhraseSheet
          words={words}
          label={t('New recovery phrase')}
          printTitle={t('Keyhearth recovery phrase for “{{name}}”', { name: organization?.name ?? '' })}
          onShow={() => {
            setSeen(words);
          }}
        />
        {pressed && seen !== words && (
          <Text c="var(--kh-danger)" size="sm" role="alert" mt="sm">
            {t('Show the words and write them down first.')}
          </Text>
        )}
        <Text size="sm" c="dimmed" mt="md" className="kh-noprint">
          <Trans
            i18nKey="Did someone see them? <a>Generate 24 new words</a>"
            components={{ a: <Anchor component="button" type="button" size="sm" onClick={onGenerate} /> }}
          />
        </Text>
      </Panel>
      <form onSubmit={submit} noValidate className="kh-noprint">
        <Panel title={t('From your paper')}>
          <Stack gap="md" maw={560}>
            {three.fields}
            {proof.fields(submit)}
            <Failure title={t('Couldn’t start using these words')} error={task.error} />
            <div>
              <Button type="submit" loading={task.isPending}>
                {t('Start using these words')}
              </Button>
            </div>
          </Stack>
        </Panel>
      </form>
    </>
  );
}
