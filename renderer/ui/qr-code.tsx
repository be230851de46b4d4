import { useMemo } from 'react';
import type { ReactNode } from 'react';
import encodeQR from 'qr';

/** A text as a QR code: always dark on light, which is what cameras read. */
export function QrCode({ text, label }: { readonly text: string; readonly label: string }): ReactNode {
  const { side, path } = useMemo(() => {
    const rows = encodeQR(text, 'raw', { ecc: 'medium', border: 2 });
    const squares = rows.flatMap((row, y) =>
      row.flatMap((dark, x) => (dark ? `M${String(x)} ${String(y)}h1v1h-1z` : [])),
    );
    return { side: rows.length, path: squares.join('') };
  }, [text]);
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${String(side)} ${String(side)}`}
      width="232"
      height="232"
      shapeRendering="crispEdges"
    >
      <rect width={side} height={side} rx="1" fill="#ffffff" />
      <path d={path} fill="#10241f" />
    </svg>
  );
}
