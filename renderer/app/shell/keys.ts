/** The keys of the window's shortcuts. */

/** The modifier key of this machine. */
export const modifierKey = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl';

/** For the button that opens the palette. */
export const paletteKeys: readonly string[] = [modifierKey, 'K'];

/** True if keys pressed there are letters of a text. */
export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null;
