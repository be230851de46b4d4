import type { ReactNode } from 'react';
import { useNow } from './moment.tsx';
import { exactTime, millisecondsOf, relativeTime } from './time.ts';
import type { Timestamp } from './time.ts';

interface Props {
  readonly at: Timestamp;
  /** Puts the time into words; without it, it stands alone. */
  readonly say?: (when: string) => string;
}

/** A time in a row of a long list: as people say it, with the exact one for whoever points at it or has the keyboard there. */
export function RowTime({ at, say }: Props): ReactNode {
  const time = millisecondsOf(at);
  const when = relativeTime(time, Math.max(useNow(), time));
  return (
    <time dateTime={new Date(time).toISOString()} className="lk-nowrap" data-hint={exactTime(time)}>
      {say === undefined ? when : say(when)}
    </time>
  );
}
