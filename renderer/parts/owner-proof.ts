/**
 * What the service refuses until its owner has shown a secret is asked for in one place, whichever screen called: a dialog
 * (`owner-proof-dialog.tsx`) answers, and the call is made again. The screen waits meanwhile, with all that was typed.
 */

import { useSyncExternalStore } from 'react';
import { ownerProofRequired } from '../../preload/contract.ts';
import type { Bridge, CallAnswer } from '../../preload/contract.ts';
import { BridgeError } from './bridge-error.ts';
import { t } from './text.ts';

/** The owner is asked to show that it is them. */
export interface ProofQuestion {
  /** What had the focus when the call was made. */
  readonly from: Element | null;
  readonly answer: (shown: boolean) => void;
}

let question: ProofQuestion | null = null;
let answered: Promise<boolean> = Promise.resolve(false);
const listeners = new Set<() => void>();

function put(next: ProofQuestion | null): void {
  question = next;
  for (const listener of listeners) listener();
}

/** Calls that are refused at once ask once. */
function askOwner(from: Element | null): Promise<boolean> {
  if (question !== null) return answered;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  answered = promise;
  const asked: ProofQuestion = {
    from,
    answer(shown) {
      if (question === asked) put(null);
      resolve(shown);
    },
  };
  put(asked);
  return answered;
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
};

/** Null while nothing is asked. */
export const useProofQuestion = (): ProofQuestion | null => useSyncExternalStore(subscribe, () => question);

const isRefusedWithoutProof = ({ body }: CallAnswer): boolean =>
  (body as { readonly turnkeyErrorCode?: string } | null)?.turnkeyErrorCode === ownerProofRequired;

/** Makes calls that ask the owner where the service wants it, and go on as if nothing had been. */
export const askingCall =
  (bridge: Pick<Bridge, 'call'>): Bridge['call'] =>
  async (path, body) => {
    const from = document.activeElement;
    for (;;) {
      const answer = await bridge.call(path, body);
      if (!isRefusedWithoutProof(answer)) return answer;
      if (!(await askOwner(from))) {
        throw new BridgeError(t('You did not confirm that it is you. Nothing was changed.'));
      }
    }
  };
