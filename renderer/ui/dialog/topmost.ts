import { useEffect, useState } from 'react';

/** Dialogs and drawers that are open, from below. */
const open: symbol[] = [];

/** The topmost when the press or the key came: what it shuts or opens changes that before all have heard of it. */
let topmost: symbol | undefined;
for (const kind of ['keydown', 'click'] as const) {
  window.addEventListener(
    kind,
    () => {
      topmost = open.at(-1);
    },
    { capture: true },
  );
}

/**
 * For a dialog or a drawer: each of those that are open hears an Escape, and the topmost alone acts on it.
 * @returns what answers whether this one is the topmost.
 */
export function useTopmost(opened: boolean): () => boolean {
  const [own] = useState(() => Symbol('layer'));
  useEffect(() => {
    if (!opened) return;
    open.push(own);
    return () => {
      open.splice(open.indexOf(own), 1);
    };
  }, [opened, own]);
  return () => topmost === own;
}
