/** Undo for what was just done. What cannot be undone needs a typed confirmation instead (`danger-zone.tsx`). */

import { useState } from 'react';
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
}

let newest = 0;

/** Says that something was done, with a button that puts it back. Only the newest is offered: older ones may rest on it. */
export function sayDone({ title, message, undo }: Undoable): void {
  notifications.hide(idOf(newest));
  newest += 1;
  const id = idOf(newest);
  notifications.show({
    id,
    title,
    message: <Offer id={id} message={message} undo={undo} />,
    autoClose: offered,
  });
}

/** Presses the button of the newest offer, if there is one. @returns whether there was. */
export function undoNewest(): boolean {
  const button = document.querySelector<HTMLElement>(`[data-undo="${idOf(newest)}"]`);
  button?.click();
  return button !== null;
}

const idOf = (number: number): string => `undo ${String(number)}`;

interface OfferProps {
  readonly id: string;
  readonly message: string | undefined;
  readonly undo: Undoable['undo'];
}

function Offer({ id, message, undo }: OfferProps): ReactNode {
  const [busy, setBusy] = useState(false);
  const takeBack = () => {
    setBusy(true);
    undo().then(
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
