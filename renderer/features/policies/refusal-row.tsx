import { useState } from 'react';
import type { ReactNode } from 'react';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import type { Answer } from '../../../main/operations/api.ts';
import { DetailsButton } from './details-button.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { describeType } from '../activity/activity-words.ts';
import { PolicyExplanation } from './policy-explanation.tsx';
import '../../ui/rows.css';

interface Props {
  readonly of: Answer<'list_refusals'>['refusals'][number];
  /** The name of its user, where others are listed too. */
  readonly by?: string;
}

/** A refused request in a list, and which policies refused it. */
export function RefusalRow({ of, by }: Props): ReactNode {
  const [open, setOpen] = useState(false);
  const what = describeType(of.type);
  return (
    <li className="kh-row">
      <div>
        <span className="kh-row-name">{what}</span>
        <br />
        <span className="kh-row-more">
          {by !== undefined && `${visibleName(by)}, `}
          <RelativeTime at={of.createdAt} />
        </span>
      </div>
      <DetailsButton of={what} open={open} onToggle={setOpen} />
      {open && (
        <div style={{ gridColumn: '1 / -1' }}>
          <PolicyExplanation question={{ activityId: of.refusalId }} />
        </div>
      )}
    </li>
  );
}
