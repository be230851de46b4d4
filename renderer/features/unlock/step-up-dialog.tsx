import { useEffect, useRef } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Modal, Stack, Text } from '@mantine/core';
import { FormEnd } from './form-end.tsx';
import { useProof } from './keyslot-form.tsx';
import { layers } from './layers.ts';
import { useProofQuestion } from './owner-proof.ts';
import type { ProofQuestion } from './owner-proof.ts';
import { useTask } from './task.ts';
import { t } from './text.ts';
import { useBridge } from './vault.tsx';
import { Working } from './working.tsx';

/** Asks for a secret of the owner's wherever the service wants one first. */
export function OwnerProofDialog(): ReactNode {
  const question = useProofQuestion();
  const last = useRef<ProofQuestion>(null);
  useEffect(() => {
    if (question === null) giveFocusBack(last.current?.from ?? null);
    last.current = question;
  }, [question]);
  // A vault that is locked meanwhile asks nothing: what waits is refused.
  useEffect(() => () => last.current?.answer(false), []);
  const cancel = () => question?.answer(false);
  return (
    <Modal
      opened={question !== null}
      zIndex={layers.ownerProof}
      onClose={cancel}
      title={t('Confirm it is you')}
      size="lg"
      returnFocus={false}
      // A click beside it does not throw away a phrase that is half typed.
      closeOnClickOutside={false}
    >
      <ProofForm onShown={() => question?.answer(true)} onCancel={cancel} />
    </Modal>
  );
}

function ProofForm({
  onShown,
  onCancel,
}: {
  readonly onShown: () => void;
  readonly onCancel: () => void;
}): ReactNode {
  const bridge = useBridge();
  const proof = useProof();
  const task = useTask();
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    const given = proof.read();
    if (given === null) return;
    task.run(async () => {
      await bridge.prove(given);
      onShown();
    });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <Text>
          {t(
            'What you are about to do lets somebody sign in, or takes a secret out of the vault. So that nobody can do it who only finds this window open, show that it is you.',
          )}
        </Text>
        {proof.fields(submit, true)}
        <Text size="sm" c="dimmed">
          {t('For five minutes after it you can add more ways to sign in without being asked again.')}
        </Text>
        <Working busy={task.isPending}>{t('Checking what you typed')}</Working>
        <FormEnd
          failed={t('This did not show that it is you')}
          error={task.error}
          busy={task.isPending}
          does={t('Confirm')}
          back={onCancel}
        />
      </Stack>
    </form>
  );
}

/** How long the screen that called may take to let its button be pressed again, in milliseconds. */
const longestWait = 2_000;

/** Where one was, as soon as that can be focused again, unless the focus went elsewhere meanwhile. */
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
