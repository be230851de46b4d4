import { useRef, useState } from 'react';

export interface AsyncAction {
  readonly isPending: boolean;
  readonly error: Error | null;
  /** Runs it, one at a time; its failure is shown, and its result is what it does itself. */
  readonly run: (work: () => Promise<void>) => void;
}

/**
 * An action that takes time and uses a secret. Unlike a mutation it leaves nothing behind: neither its
 * arguments nor its result are in a cache.
 */
export function useAsyncAction(): AsyncAction {
  // A busy window takes a second press before it renders what the first one set.
  const isRunning = useRef(false);
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  return {
    isPending,
    error,
    run(work) {
      if (isRunning.current) return;
      isRunning.current = true;
      setPending(true);
      setError(null);
      work()
        .catch((reason: unknown) => {
          setError(reason instanceof Error ? reason : new Error(String(reason)));
        })
        .finally(() => {
          isRunning.current = false;
          setPending(false);
        });
    },
  };
}
