import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Anchor, Button, Stack, Text } from '@mantine/core';
import type { CreateVault, ProveWith } from '../../preload/contract.ts';
import { useProof } from '../parts/keyslot-form.tsx';
import { useKeyslots } from '../parts/keyslots.ts';
import { Outcomes, PageHead, Panel } from '../parts/page.tsx';
import { PhraseSheet } from '../parts/phrase-sheet.tsx';
import { wordsOf } from '../parts/phrase.ts';
import { SheetMaker } from '../parts/recovery-sheet.tsx';
import { Failure } from '../parts/states.tsx';
import { useTask } from '../parts/task.ts';
import { useThreeWords } from '../parts/three-words.tsx';
import { useBridge, useStatus } from '../parts/vault.tsx';

/** 24 new words: drawn, written down, checked, and then they open the vault. */
export function NewPhrase({ keyslotId }: { readonly keyslotId: string }): ReactNode {
  const bridge = useBridge();
  const { data } = useKeyslots();
  const task = useTask();
  const [words, setWords] = useState<readonly string[] | null>(null);
  const [done, setDone] = useState(false);
  const replaces = data?.keyslots.some(({ id, kind }) => id === keyslotId && kind === 'recovery') ?? false;
  // Once it is done the replaced one is no more there to be found.
  const [replaced, setReplaced] = useState(false);
  const draw = () => {
    task.run(async () => {
      setWords(wordsOf((await bridge.newRecoveryPhrase()).phrase));
    });
  };
  return (
    <>
      <PageHead
        title="New recovery phrase"
        back={{ to: '/keyslots', label: 'Keys to the vault' }}
        lead="24 words on paper, which open the vault when nothing else does."
      />
      {words === null && (
        <Panel>
          <Stack gap="md" maw={560}>
            <Outcomes
              items={[
                'You write down 24 words, and type three of them back.',
                replaces
                  ? 'The words and the shares that you have now open the vault no more. Older copies and backups still open with them.'
                  : 'The vault opens with the new words, and with all that opens it now.',
              ]}
            />
            <Failure title="The words could not be drawn" error={task.error} />
            <div>
              <Button loading={task.isPending} onClick={draw}>
                Draw 24 words
              </Button>
            </div>
          </Stack>
        </Panel>
      )}
      {words !== null && !done && (
        <Writing
          words={words}
          onDraw={draw}
          change={async (proof, confirmedWords) => {
            await bridge.changeKeyslots(
              replaces
                ? { do: 'changeRecovery', keyslotId, proof, confirmedWords }
                : { do: 'addRecovery', proof, confirmedWords },
            );
            setReplaced(replaces);
            setDone(true);
          }}
        />
      )}
      {words !== null && done && (
        <>
          <Outcomes
            title="What happened"
            done
            items={[
              replaced
                ? 'The vault opens with the new words, and no more with the old ones: destroy the old paper.'
                : 'The vault opens with the new words too.',
            ]}
          />
          <Panel title="On paper">
            <SheetMaker phrase={words.join(' ')} />
          </Panel>
        </>
      )}
    </>
  );
}

interface WritingProps {
  readonly words: readonly string[];
  readonly onDraw: () => void;
  readonly change: (proof: ProveWith, confirmedWords: CreateVault['confirmedWords']) => Promise<void>;
}

function Writing({ words, onDraw, change }: WritingProps): ReactNode {
  const { organization } = useStatus();
  const task = useTask();
  const proof = useProof();
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
      <Panel title="The words">
        <PhraseSheet
          words={words}
          label="New recovery phrase"
          printTitle={`Latchkey recovery phrase for “${organization?.name ?? ''}”`}
          onShow={() => {
            setSeen(words);
          }}
        />
        {pressed && seen !== words && (
          <Text c="var(--lk-danger)" size="sm" role="alert" mt="sm">
            Show the words first and write them down.
          </Text>
        )}
        <Text size="sm" c="dimmed" mt="md" className="lk-noprint">
          Did someone see them?{' '}
          <Anchor component="button" type="button" size="sm" onClick={onDraw}>
            Draw 24 new words
          </Anchor>
        </Text>
      </Panel>
      <form onSubmit={submit} noValidate className="lk-noprint">
        <Panel title="From your paper">
          <Stack gap="md" maw={560}>
            {three.fields}
            {proof.fields(submit)}
            <Failure title="The recovery phrase was not taken into use" error={task.error} />
            <div>
              <Button type="submit" loading={task.isPending}>
                Take the words into use
              </Button>
            </div>
          </Stack>
        </Panel>
      </form>
    </>
  );
}
