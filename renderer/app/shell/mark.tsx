import type { ReactNode } from 'react';
import './mark.css';

/** The mark: a key whose bit makes an L. Decorative; the name stands beside it. */
export function Mark({ size = 28 }: { readonly size?: number }): ReactNode {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" className="kh-mark">
      <path d="M14 14v12.5h7.5M14 20.5h4.5" />
      <circle cx="14" cy="9.5" r="4.2" />
    </svg>
  );
}

export type LatchPosition = 'shut' | 'open' | 'away';

/** A latch seen from inside: the bolt is in its keeper, pulled back, or missing. Decorative. */
export function Latch({
  position,
  width = 168,
}: {
  readonly position: LatchPosition;
  readonly width?: number;
}): ReactNode {
  return (
    <svg
      width={width}
      height={width / 2.8}
      viewBox="0 0 168 60"
      aria-hidden="true"
      className="kh-latch"
      data-position={position}
    >
      <rect className="kh-latch-plate" x="1" y="8" width="112" height="44" rx="6" />
      <rect className="kh-latch-plate" x="133" y="8" width="34" height="44" rx="6" />
      <rect className="kh-latch-slot" x="133" y="21" width="22" height="18" rx="2" />
      <g className="kh-latch-bolt">
        <rect className="kh-latch-bar" x="48" y="22" width="104" height="16" rx="3" />
        <rect className="kh-latch-knob" x="64" y="14" width="12" height="32" rx="4" />
      </g>
      <rect className="kh-latch-guide" x="86" y="16" width="19" height="28" rx="2" />
      <circle className="kh-latch-screw" cx="11" cy="17" r="2.4" />
      <circle className="kh-latch-screw" cx="11" cy="43" r="2.4" />
      <circle className="kh-latch-screw" cx="161" cy="30" r="2.4" />
    </svg>
  );
}
