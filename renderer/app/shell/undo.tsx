/** Undo for what was just done. What cannot be undone needs a typed confirmation instead (`danger-zone.tsx`). */

import { useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { readable } from '../../ui/text/readable.ts';
import { t } from '../i18n/text.ts';

/** Milliseconds for which it is offered; it stays while the pointer is on it. */
const offered = 15_000;

export interface Undoable {
  /** The completed action: “Savings is now called Pension”. */
  readonly title: string;
  /** Additional information, if any. */
  readonly message?: string;
  /** Puts it back as it was, with a request of its own. */
  readonly undo: () => Promise<unknown>;
  /** Asks the vault: another person may have changed the same since, whose change an undo would take back. */
  readonly isAsDone: () => Promise<boolean>;
}

let offers = 0;
/** The newest action that is done, and the newest offer of any kind. */
let newestDone = '';
let newest = '';

const newOffer = (): string => {
  offers += 1;
  newest = `undo ${String(offers)}`;
  return newest;
};

/** Says that something was done, with a button that puts it back. Only the newest is offered: older ones may rest on it. */
export function sayDone({ title, message, undo, isAsDone }: Undoable): void {
  notifications.hide(newestDone);
  const id = newOffer();
  newestDone = id;
  notifications.show({
    id,
    title,
    message: <Offer id={id} message={message} undo={undo} isAsDone={isAsDone} />,
    autoClose: offered,
  });
}

/** Presses the button of the newest offer, if there is one. @returns whether there was. */
export function undoNewest(): boolean {
  const button = document.querySelector<HTMLElement>(`[data-undo="${newest}"]`);
  button?.click();
  return button !== null;
}

/** An action to come, unless the person takes it back. */
export interface Held {
  /** The action: “Approving: Sign a transaction”. */
  readonly title: string;
  readonly message: string;
  readonly takeBack: () => void;
}

/** Says that something is about to be done. Each stays until it is closed. @returns what closes it. */
export function sayHeld({ title, message, takeBack }: Held): () => void {
  const id = newOffer();
  const close = () => {
    notifications.hide(id);
  };
  notifications.show({
    id,
    title,
    message: (
      <span className="kh-undo">
        <span>{message}</span>
        <Button
          variant="default"
          size="compact-sm"
          data-undo={id}
          onClick={() => {
            close();
            takeBack();
          }}
        >
          {t('Undo')}
        </Button>
      </span>
    ),
    autoClose: false,
    withCloseButton: false,
  });
  return close;
}

interface OfferProps {
  readonly id: string;
  readonly message: string | undefined;
  readonly undo: Undoable['undo'];
  readonly isAsDone: Undoable['isAsDone'];
}

function Offer({ id, message, undo, isAsDone }: OfferProps): ReactNode {
  const isPressed = useRef(false);
  const [busy, setBusy] = useState(false);
  const putBack = async (): Promise<void> => {
    if (!(await isAsDone())) throw new Error(t('It was changed again since.'));
    await undo();
  };
  const takeBack = () => {
    if (isPressed.current) return;
    isPressed.current = true;
    setBusy(true);
    putBack().then(
      () => {
        answer(t('Undone'));
      },
      (error: unknown) => {
        answer(t('Couldn’t undo'), readable(error), false);
      },
    );
  };
  // The offer may be gone by then, when its time was over.
  const answer = (title: string, said?: string, autoClose: number | false = 4_000) => {
    notifications.hide(id);
    notifications.show({ title, message: said, autoClose });
  };
  return (
    <span className="kh-undo">
      {message !== undefined && <span>{message}</span>}
      <Button variant="default" size="compact-sm" loading={busy} data-undo={id} onClick={takeBack}>
        {t('Undo')}
      </Button>
    </span>
  );
}
