import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { describeType } from './activity-words.ts';
import { Spoken } from './spoken.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import type { ActivityLine, SpokenPart } from '../../app/rpc/resources.ts';
import '../../ui/rows.css';

interface Props {
  readonly activity: Pick<ActivityLine, 'type' | 'createdAt'>;
  /** Its objects; undefined until the service has said them. */
  readonly about: readonly SpokenPart[] | undefined;
  readonly href: string;
  /** A second line. */
  readonly more?: ReactNode;
  /** The state of the activity, before the time. */
  readonly children: ReactNode;
}

/** An activity in a list, which leads to it. */
export function ActivityRow({ activity, about = [], href, more, children }: Props): ReactNode {
  return (
    <li>
      <Link href={href} className="kh-row">
        <span>
          <span className="kh-row-name">{describeType(activity.type)}</span>{' '}
          <span className="kh-row-more">
            <Spoken parts={about} />
          </span>
          {more !== undefined && (
            <>
              <br />
              <span className="kh-row-more">{more}</span>
            </>
          )}
        </span>
        <span className="kh-row-side kh-activity-side">
          {children}
          <RelativeTime at={activity.createdAt} />
        </span>
      </Link>
    </li>
  );
}
