/** Reports that a person uses the window. */

const signs = ['keydown', 'pointerdown', 'pointermove', 'wheel', 'touchstart'] as const;

/** Between two words of it, in milliseconds: far less than the shortest time after which a vault is locked. */
const pause = 10_000;

/** Calls back at each sign of use. @returns what stops it. */
export function onUse(notice: () => void): () => void {
  for (const sign of signs) window.addEventListener(sign, notice, { capture: true, passive: true });
  return () => {
    for (const sign of signs) window.removeEventListener(sign, notice, { capture: true });
  };
}

/**
 * Calls back at each use, once in a while at most; having opened the window is one.
 * @param tell Returns whether it could say so: if not, the next sign of use calls back too.
 */
export function onWindowUse(tell: () => boolean): void {
  let toldAt = -Infinity;
  const notice = () => {
    const now = performance.now();
    if (now - toldAt < pause) return;
    if (tell()) toldAt = now;
  };
  onUse(notice);
  notice();
}
