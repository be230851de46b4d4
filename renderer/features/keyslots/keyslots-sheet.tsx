import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Button, Stack } from '@mantine/core';
import { PageHead, Panel } from '../../ui/page.tsx';
import { checkFailed } from './keyslot-texts.ts';
import { recoveryOf, recoveryProblem } from './phrase.ts';
import { RecoveryField } from './recovery-field.tsx';
import { SheetMaker } from './recovery-sheet.tsx';
import { Failure } from '../../ui/feedback.tsx';
import { useAsyncAction } from '../../ui/use-async-action.ts';
import { t } from '../../app/i18n/text.ts';
import { useRpc } from '../../app/rpc/vault.tsx';

/** The vault does not keep the phrase: for a sheet of it, it is typed in, and checked. */
export function RecoverySheets(): ReactNode {
  const rpc = useRpc();
  const task = useAsyncAction();
  const [typed, setTyped] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const [phrase, setPhrase] = useState<string | null>(null);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    const recovery = recoveryOf(typed);
    const lack =
      recovery.kind === 'shares'
        ? t('Enter the words: a sheet cannot be created from shares.')
        : recoveryProblem(recovery);
    setProblem(lack);
    if (lack !== null || recovery.kind === 'shares') return;
    const words = recovery.words.join(' ');
    task.run(async () => {
      await rpc.checkRecovery({ with: 'recovery', phrase: words });
      setTyped('');
      setPhrase(words);
    });
  };
  return (
    <>
      <PageHead
        title={t('Recovery sheet')}
        back={{ to: '/keyslots', label: t('Unlock methods') }}
        lead={t('Print the recovery phrase or its shares, with a QR code and instructions.')}
      />
      {phrase === null ? (
        <form onSubmit={submit} noValidate>
          <Panel title={t('Your recovery phrase')}>
            <Stack gap="md" maw={560}>
              <RecoveryField
                typed={typed}
                problem={problem}
                onType={setTyped}
                onEnter={submit}
                takesShares={false}
              />
              <Failure title={checkFailed(task.error)} error={task.error} />
              <div>
                <Button type="submit" loading={task.isPending}>
                  {t('Continue')}
                </Button>
              </div>
            </Stack>
          </Panel>
        </form>
      ) : (
        <Panel title={t('What to print')}>
          <SheetMaker phrase={phrase} />
        </Panel>
      )}
    </>
  );
}
