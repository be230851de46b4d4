/**
 * Step-up for every screen: when the service refuses a call until its owner has given a secret, a dialog
 * (`step-up-dialog.tsx`) asks for the secret, and the call is sent again. The screen waits meanwhile, with
 * all typed values.
 */

import { useSyncExternalStore } from 'react';
import { stepUpRequired } from '../../../preload/contract.ts';
import type { WindowRpc, CallAnswer } from '../../../preload/contract.ts';
import { RpcError } from '../../app/rpc/rpc-error.ts';
import { t } from '../../app/i18n/text.ts';

/** A step-up that waits for the owner. */
export interface StepUpQuestion {
  /** The element that had the focus at the time of the call. */
  readonly from: Element | null;
  readonly answer: (shown: boolean) => void;
}

/** The open vault in which the owner can be asked; null behind its lock. */
let opening: symbol | null = null;
let question: StepUpQuestion | null = null;
let answered: Promise<boolean> = Promise.resolve(false);
const listeners = new Set<() => void>();

function put(next: StepUpQuestion | null): void {
  question = next;
  for (const listener of listeners) listener();
}

/** Calls that are refused at the same time share one dialog. */
function stepUp(from: Element | null): Promise<boolean> {
  if (question !== null) return answered;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  answered = promise;
  const asked: StepUpQuestion = {
    from,
    answer(shown) {
      if (question === asked) put(null);
      resolve(shown);
    },
  };
  put(asked);
  return answered;
}

/** Refuses the calls that wait for the owner, if there are any. */
function refuseStepUp(): void {
  question?.answer(false);
}

/**
 * The vault is open: its owner can be asked. A screen that the person leaves takes its question with it.
 * @returns what refuses the calls that wait, and those that began before: their screen is gone.
 */
export function beginAsking(): () => void {
  opening = Symbol('opening');
  window.addEventListener('hashchange', refuseStepUp);
  return () => {
    opening = null;
    window.removeEventListener('hashchange', refuseStepUp);
    refuseStepUp();
  };
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
};

/** Null while no dialog is open. */
export const useStepUpQuestion = (): StepUpQuestion | null => useSyncExternalStore(subscribe, () => question);

const needsStepUp = ({ body }: CallAnswer): boolean =>
  (body as { readonly turnkeyErrorCode?: string } | null)?.turnkeyErrorCode === stepUpRequired;

/** Wraps `call` and `reserveStepUp`: steps up where the service needs it, and then repeats the call. */
export const steppingUp = ({
  call,
  reserveStepUp,
}: Pick<WindowRpc, 'call' | 'reserveStepUp'>): Pick<WindowRpc, 'call' | 'reserveStepUp'> => ({
  call: repeated(call),
  reserveStepUp: repeated(reserveStepUp),
});

const repeated =
  (send: WindowRpc['call']): WindowRpc['call'] =>
  async (path, body) => {
    const from = document.activeElement;
    const begun = opening;
    for (;;) {
      const answer = await send(path, body);
      if (!needsStepUp(answer)) return answer;
      if (begun === null || begun !== opening || !(await stepUp(from))) {
        throw new RpcError(t('Not confirmed: nothing changed.'));
      }
    }
  };
