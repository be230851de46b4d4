/**
 * A screen appears once its first answers are there. If each were shown as it comes, it would move what is below it, perhaps
 * under a pointer that is about to press.
 */
import { useEffect, useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { flushSync } from 'react-dom';

/** Milliseconds between two looks. */
const pause = 20;

/** Looks that find nothing asked for. One may come before an answer is rendered, and one before that asks for more. */
const calm = 3;

/** Looks without another answer, after which a screen shows what it has: two seconds of them. */
const patience = 100;

let expected = 0;

/** Says that something on the screen waits for an answer. @returns what ends that. */
export function expectAnswer(): () => void {
  expected += 1;
  return () => {
    expected -= 1;
  };
}

/** @returns false while a new screen waits for an answer that it never had. */
export function useFirstAnswers(): boolean {
  const client = useQueryClient();
  const [areHere, setAreHere] = useState(false);
  useEffect(() => {
    if (areHere) return undefined;
    const countAwaited = (): number =>
      expected + client.isFetching({ predicate: ({ state }) => state.status === 'pending' });
    let timer: ReturnType<typeof setTimeout> | undefined;
    let awaited = 0;
    let calmLooks = 0;
    let idleLooks = 0;
    const look = (): void => {
      const before = awaited;
      awaited = countAwaited();
      calmLooks = awaited === 0 ? calmLooks + 1 : 0;
      idleLooks = awaited === before ? idleLooks + 1 : 0;
      if (calmLooks === calm || idleLooks === patience) setAreHere(true);
      else timer = setTimeout(look, pause);
    };
    const appear = (): void => {
      flushSync(() => {
        setAreHere(true);
      });
    };
    // The focus must not go where nothing is seen.
    const onKey = ({ key }: KeyboardEvent): void => {
      if (key === 'Tab') appear();
    };
    window.addEventListener('keydown', onKey, { capture: true });
    // The rest of the screen asks in this turn. One that was seen before appears in the same frame.
    queueMicrotask(() => {
      if (countAwaited() > 0) timer = setTimeout(look, pause);
      else appear();
    });
    return () => {
      clearTimeout(timer);
      window.removeEventListener('keydown', onKey, { capture: true });
    };
  }, [client, areHere]);
  return areHere;
}
