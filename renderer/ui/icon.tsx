import type { ReactNode } from 'react';

/** Lines on a field of 24 by 24, each icon one path: rows of long lists have several. */
const lines = {
  copy: 'M9 9h11v11H9zM15 5.5V4H4v11h1.5',
  done: 'M5 12.5l4.5 4.5L19 7.5',
  qr: 'M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM7 17v.01M14 14h3v3M20 14v.01M14 20h3M20 17.5V20',
  sign: 'M3 17c3.5-5 5-10 3.5-11S4 10 5 14s3 3 4.5 0 2.5-3 2.5-.5 1.5 2 2.5 0 2-1.5 2.5 0 1.5 1.5 4 1.5',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
} as const;

interface Props {
  readonly of: keyof typeof lines;
  readonly size?: number;
}

/** An icon that costs next to nothing; what it says is said beside it or by the name of its button. */
export function Icon({ of, size = 16 }: Props): ReactNode {
  return (
    <svg className="kh-glyph" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true">
      <path d={lines[of]} />
    </svg>
  );
}
