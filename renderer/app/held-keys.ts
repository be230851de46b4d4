/**
 * Enter acts once for a press. While it is held, the browser repeats it on whatever has the focus by then: the button of a dialog
 * that the press itself opened, or the button that takes back what was just done. In a text of several lines it types lines.
 */

/** @returns what stops it. */
export function ignoreHeldEnter(): () => void {
  const onKeyDown = (event: KeyboardEvent): void => {
    if (!event.repeat || event.key !== 'Enter') return;
    if (event.target instanceof Element && event.target.closest('textarea, [contenteditable]') !== null)
      return;
    event.preventDefault();
    event.stopPropagation();
  };
  window.addEventListener('keydown', onKeyDown, true);
  return () => {
    window.removeEventListener('keydown', onKeyDown, true);
  };
}
