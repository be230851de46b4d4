import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import './feedback.css';

export interface Progress {
  readonly done: number;
  readonly total: number;
}

/** What takes less is done before it could be read, in milliseconds. */
const noticed = 400;

interface Props {
  readonly busy: boolean;
  /** What goes on: `Decrypting the backup`. */
  readonly children: ReactNode;
  /** How far it is, where that is known. */
  readonly progress?: Progress | null | undefined;
}

/** What goes on, said as soon as it takes long enough to be noticed. */
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
