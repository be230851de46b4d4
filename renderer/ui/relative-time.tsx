import { useSyncExternalStore } from 'react';
import type { ReactNode } from 'react';
import { t } from '../app/i18n/text.ts';
import { dateAndTime, exactTime, millisecondsOf, relativeTime } from './text/time.ts';
import type { Timestamp } from './text/time.ts';

/** Milliseconds between updates of relative times. */
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

/** The present, in milliseconds, updated at intervals. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => now);

interface Props {
  readonly at: Timestamp;
  /** Allows a time in the future. A past event is never in the future, even by a wrong clock. */
  readonly ahead?: boolean;
  /** Says the exact time beside it: among the facts about one thing, and in logs, whose rows are read by their times. */
  readonly exact?: boolean;
}

/** A relative time, with the exact one as its tooltip. */
export function RelativeTime({ at, ahead = false, exact = false }: Props): ReactNode {
  const time = millisecondsOf(at);
  const present = useNow();
  const said = relativeTime(time, ahead ? present : Math.max(present, time));
  return exact ? (
    <time dateTime={isoOf(time)}>
      {t('{{relative}} ({{exact}})', { relative: said, exact: dateAndTime(time) })}
    </time>
  ) : (
    <time dateTime={isoOf(time)} className="kh-nowrap" data-hint={exactTime(time)}>
      {said}
    </time>
  );
}

const isoOf = (time: number): string => new Date(time).toISOString();
