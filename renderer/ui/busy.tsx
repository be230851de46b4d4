import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import './feedback.css';

export interface Progress {
  readonly done: number;
  readonly total: number;
}

/** Milliseconds before progress is shown: shorter work ends before a person could read it. */
const noticed = 400;

interface Props {
  readonly busy: boolean;
  /** The work: `Decrypting the backup`. */
  readonly children: ReactNode;
  /** The progress, if it is known. */
  readonly progress?: Progress | null | undefined;
}

/** The current work, announced as soon as it takes noticeable time. */
export function Busy({ busy, children, progress }: Props): ReactNode {
  return <div role="status">{busy && <Late progress={progress}>{children}</Late>}</div>;
}

function Late({ children, progress }: Omit<Props, 'busy'>): ReactNode {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => {
      setLate(true);
    }, noticed);
    return () => {
      clearTimeout(timer);
    };
  }, []);
  if (!late) return null;
  return (
    <label className="kh-working">
      {children}
      <progress {...(progress == null ? {} : { value: progress.done, max: Math.max(progress.total, 1) })} />
    </label>
  );
}
