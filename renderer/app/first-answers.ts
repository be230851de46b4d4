/**
 * A screen appears once its first answers are there. If each were shown as it comes, it would move what is below it, perhaps
 * under a pointer that is about to press.
 */
import { useEffect, useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { flushSync } from 'react-dom';

/** Milliseconds after which a screen shows what it has. */
const patience = 2_000;

/** Milliseconds between two looks. One answer may lead to another question within that time. */
const pause = 30;

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
    const isWaiting = (): boolean =>
      expected > 0 || client.isFetching({ predicate: ({ state }) => state.status === 'pending' }) > 0;
    const until = performance.now() + patience;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let calmLooks = 0;
    const look = (): void => {
      calmLooks = isWaiting() ? 0 : calmLooks + 1;
      if (calmLooks === 2 || performance.now() > until) setAreHere(true);
      else timer = setTimeout(look, pause);
    };
    // The rest of the screen asks in this turn. One that was seen before appears in the same frame.
    queueMicrotask(() => {
      if (isWaiting()) timer = setTimeout(look, pause);
      else
        flushSync(() => {
          setAreHere(true);
        });
    });
    return () => {
      clearTimeout(timer);
    };
  }, [client]);
  return areHere;
}
