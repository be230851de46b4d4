import { useEffect, useRef, useState } from 'react';
import type { FocusEvent, ReactNode } from 'react';
import { Button, Group, Modal, Text } from '@mantine/core';
import type { ModalProps } from '@mantine/core';
import { t } from '../../app/i18n/text.ts';
import { useTopmost } from './topmost.ts';

/** A field in which a person types. A choice from a list is soon made again. */
type TextField = HTMLInputElement | HTMLTextAreaElement;

const isTextField = (element: Element): element is TextField =>
  element instanceof HTMLTextAreaElement ||
  (element instanceof HTMLInputElement &&
    ['text', 'password', 'email', 'url', 'tel', 'number'].includes(element.type) &&
    element.getAttribute('role') !== 'combobox');

/**
 * A dialog that asks before Escape, its cross or a press beside it throws typed text away. A field where a person only repeats a
 * text, to confirm, is marked with `data-repeats`.
 */
export function Dialog({ opened, onClose, children, ...rest }: ModalProps): ReactNode {
  const [asking, setAsking] = useState(false);
  const isTopmost = useTopmost(opened);
  /** The text that each field had when the person came to it. */
  const found = useRef(new Map<TextField, string>());
  useEffect(() => {
    const fields = found.current;
    return () => {
      fields.clear();
      setAsking(false);
    };
  }, [opened]);
  const onFocus = ({ target }: FocusEvent) => {
    if (isTextField(target) && !('repeats' in target.dataset) && !found.current.has(target)) {
      found.current.set(target, target.value);
    }
  };
  const leave = () => {
    if (!isTopmost()) return;
    // The text of a field that is gone was sent.
    const holdsText = [...found.current].some(([field, text]) => field.isConnected && field.value !== text);
    if (holdsText) setAsking(true);
    else onClose();
  };
  return (
    <>
      <Modal {...rest} opened={opened} onClose={leave} onFocusCapture={onFocus}>
        {children}
      </Modal>
      <Discard
        opened={opened && asking}
        {...(rest.zIndex === undefined ? {} : { zIndex: rest.zIndex })}
        onKeep={() => {
          setAsking(false);
        }}
        onDiscard={onClose}
      />
    </>
  );
}

interface DiscardProps extends Pick<ModalProps, 'opened' | 'zIndex'> {
  readonly onKeep: () => void;
  readonly onDiscard: () => void;
}

function Discard({ onKeep, onDiscard, ...rest }: DiscardProps): ReactNode {
  const isTopmost = useTopmost(rest.opened);
  const title = t('Discard what you typed?');
  return (
    <Modal.Root
      {...rest}
      size="sm"
      onClose={() => {
        if (isTopmost()) onKeep();
      }}
    >
      <Modal.Overlay />
      {/* Without a header of its own: a page has one banner to assistive technology. */}
      <Modal.Content aria-label={title}>
        <Modal.Body pt="md">
          <Text fw={600} mb="md">
            {title}
          </Text>
          <Group gap="sm">
            <Button data-autofocus onClick={onKeep}>
              {t('Keep editing')}
            </Button>
            <Button variant="default" className="kh-danger-button" onClick={onDiscard}>
              {t('Discard')}
            </Button>
          </Group>
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}
