import { useEffect, useRef } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Stack, Text } from '@mantine/core';
import { Dialog } from '../../ui/dialog/dialog.tsx';
import { FormEnd } from '../../ui/form-end.tsx';
import { useOwnerSecret } from '../keyslots/keyslot-form.tsx';
import { layers } from '../../app/layers.ts';
import { useStepUpQuestion } from './step-up.ts';
import type { StepUpQuestion } from './step-up.ts';
import { useAsyncAction } from '../../ui/use-async-action.ts';
import { t } from '../../app/i18n/text.ts';
import { useRpc } from '../../app/rpc/vault.tsx';
import { Busy } from '../../ui/busy.tsx';

/** The step-up dialog: the owner shows a secret wherever the service needs one first. */
export function StepUpDialog({ opened }: { readonly opened: boolean }): ReactNode {
  const question = useStepUpQuestion();
  const last = useRef<StepUpQuestion>(null);
  useEffect(() => {
    if (question === null) giveFocusBack(last.current?.from ?? null);
    last.current = question;
  }, [question]);
  const cancel = () => question?.answer(false);
  return (
    <Dialog
      opened={opened}
      zIndex={layers.stepUp}
      onClose={cancel}
      title={t('Confirm it’s you')}
      size="lg"
      returnFocus={false}
    >
      <StepUpForm onShown={() => question?.answer(true)} onCancel={cancel} />
    </Dialog>
  );
}

function StepUpForm({
  onShown,
  onCancel,
}: {
  readonly onShown: () => void;
  readonly onCancel: () => void;
}): ReactNode {
  const rpc = useRpc();
  const proof = useOwnerSecret();
  const task = useAsyncAction();
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    const given = proof.read();
    if (given === null) return;
    task.run(async () => {
      await rpc.prove(given);
      onShown();
    });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <Text>
          {t('Exports, new ways to sign in and policies for all need your password or recovery phrase.')}
        </Text>
        {proof.fields(submit, true)}
        <Text size="sm" c="dimmed">
          {t('You can then add ways to sign in for five minutes.')}
        </Text>
        <Busy busy={task.isPending}>{t('Checking')}</Busy>
        <FormEnd
          failed={t('Couldn’t confirm it’s you')}
          error={task.error}
          busy={task.isPending}
          does={t('Confirm')}
          back={onCancel}
        />
      </Stack>
    </form>
  );
}

/** Milliseconds that the calling screen may take to enable its button again. */
const longestWait = 2_000;

/** Returns the focus as soon as the element can have it, unless the focus went elsewhere meanwhile. */
function giveFocusBack(from: Element | null): void {
  if (!(from instanceof HTMLElement)) return;
  const end = performance.now() + longestWait;
  const attempt = () => {
    if (!from.isConnected || performance.now() > end) return;
    const { activeElement } = document;
    const isNowhere =
      activeElement === null ||
      activeElement === document.body ||
      activeElement.closest('[role=dialog]') !== null;
    if (!isNowhere) return;
    from.focus();
    if (document.activeElement !== from) requestAnimationFrame(attempt);
  };
  requestAnimationFrame(attempt);
}
