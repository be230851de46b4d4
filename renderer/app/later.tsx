/**
 * Parts of the window whose code is not needed for its first screen. The code of a part is fetched once the window has
 * nothing else to do, or when the part is opened. A part whose code is here appears at once.
 */

import { lazy, Suspense, useEffect, useLayoutEffect, useState } from 'react';
import type { ComponentType, LazyExoticComponent, ReactNode } from 'react';
import { expectAnswer } from './first-answers.ts';
import { LoadBoundary } from './load-boundary.tsx';

interface Module<Props> {
  readonly default: ComponentType<Props>;
}

/** How the code of a part comes. */
interface Arriving {
  readonly fetch: () => Promise<unknown>;
  readonly isHere: () => boolean;
}

const loads: (() => Promise<unknown>)[] = [];

/** The code of a part that is shown now. */
async function expected<Code>(arriving: Promise<Code>): Promise<Code> {
  const end = expectAnswer();
  try {
    return await arriving;
  } finally {
    end();
  }
}

/** Must stand inside a `Suspense` and a `LoadBoundary`. */
export function later<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): LazyExoticComponent<ComponentType<Props>> & Arriving {
  let here: Module<Props> | undefined;
  const fetch = async (): Promise<Module<Props>> => (here ??= { default: await load() });
  loads.push(fetch);
  const part = lazy(() => (here === undefined ? expected(fetch()) : fulfilled(here)));
  return Object.assign(part, { fetch, isHere: () => here !== undefined });
}

/**
 * Fetches a part before it is rendered. React keeps a fallback for 300 ms once it is shown, which a first screen need not wait.
 * @returns true when the part can be rendered; also after a failure, which its `LoadBoundary` then shows.
 */
export function useArrived(part: Arriving | null): boolean {
  const [tried, setTried] = useState<Arriving | null>(null);
  const isHere = part?.isHere() ?? false;
  useEffect(() => {
    if (part === null || isHere) return;
    const done = () => {
      setTried(part);
    };
    part.fetch().then(done, done);
  }, [part, isHere]);
  return isHere || (part !== null && tried === part);
}

/** A promise that answers in the same turn: React then shows the part without a fallback in between. */
const fulfilled = <Value,>(value: Value): Promise<Value> =>
  Object.assign(Promise.resolve(value), {
    then: (onFulfilled: (value: Value) => unknown) => {
      onFulfilled(value);
    },
  });

/** Fetches the code of all parts, one after another. @returns what stops it. */
export function loadAllParts(): () => void {
  let stopped = false;
  const next = (index: number): void => {
    const load = loads[index];
    if (load === undefined) return;
    setTimeout(() => {
      if (stopped) return;
      // A visit to the part reports the failure, if the service is still away.
      load()
        .catch(() => undefined)
        .finally(() => {
          next(index + 1);
        });
    }, pause);
  };
  next(0);
  return () => {
    stopped = true;
  };
}

/** In milliseconds, so that what one does meanwhile comes first. */
const pause = 50;

interface DialogProps {
  readonly opened: boolean;
}

/** A dialog that is a part of its own. It gives the focus back as it would if it had been here all the time. */
export function laterDialog<Props extends DialogProps>(
  load: () => Promise<ComponentType<Props>>,
): (props: Props) => ReactNode {
  const Part = later<Props>(load);
  return function LaterDialog(props) {
    const [wanted, setWanted] = useState(false);
    const [isHere, setIsHere] = useState(false);
    if (props.opened && !wanted) setWanted(true);
    if (!wanted) return null;
    return (
      <LoadBoundary>
        <Suspense>
          {/* A dialog of Mantine's remembers the focus when it changes from closed to open. */}
          <Part {...props} opened={props.opened && isHere} />
          <Arrival onHere={setIsHere} />
        </Suspense>
      </LoadBoundary>
    );
  };
}

/** Mounted together with the part beside it. */
function Arrival({ onHere }: { readonly onHere: (isHere: true) => void }): null {
  useLayoutEffect(() => {
    onHere(true);
  }, [onHere]);
  return null;
}
