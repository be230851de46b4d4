import { useSyncExternalStore } from 'react';
import type { ReactNode } from 'react';
import { Tooltip } from '@mantine/core';
import { exactTime, millisecondsOf, relativeTime } from './time.ts';
import type { Timestamp } from './time.ts';

/** How often relative times are said anew, in milliseconds. */
const tick = 20_000;

let now = Date.now();
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** One clock for all times on the screen; it runs only while one is shown. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  now = Date.now();
  timer ??= setInterval(() => {
    now = Date.now();
    for (const each of listeners) each();
  }, tick);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/** The present, in milliseconds, said anew every now and then. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => now);

interface Props {
  readonly at: Timestamp;
  /** Whether it may lie ahead. What has happened is never in the future, whatever the clock that was read says. */
  readonly ahead?: boolean;
}

/** A time as people say it, with the exact one on hover. */
export function Moment({ at, ahead = false }: Props): ReactNode {
  const time = millisecondsOf(at);
  const present = useNow();
  return (
    <Tooltip label={exactTime(time)}>
      <time dateTime={new Date(time).toISOString()} className="lk-nowrap">
        {relativeTime(time, ahead ? present : Math.max(present, time))}
      </time>
    </Tooltip>
  );
}
