import type { ReactNode } from 'react';
import { useNow } from '../relative-time.tsx';
import { exactTime, millisecondsOf, relativeTime } from '../text/time.ts';
import type { Timestamp } from '../text/time.ts';

interface Props {
  readonly at: Timestamp;
  /** Puts the time into words; without it, it stands alone. */
  readonly say?: (when: string) => string;
}

/** A relative time in a row of a long list, with the exact one on hover or focus. */
export function RowTime({ at, say }: Props): ReactNode {
  const time = millisecondsOf(at);
  const when = relativeTime(time, Math.max(useNow(), time));
  return (
    <time dateTime={new Date(time).toISOString()} className="kh-nowrap" data-hint={exactTime(time)}>
      {say === undefined ? when : say(when)}
    </time>
  );
}
