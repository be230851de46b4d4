/**
 * Keeps the keyboard's place. A control that is removed or disabled while it has the focus hands the focus to what stands around
 * it, and gets the focus back when it can be used again. A refused form moves the focus to its first wrong field, whose error
 * a screen reader then reads.
 */

/** Parts of a screen that can hold the focus for a control of theirs. */
const holders = ['[role="dialog"]', 'form', 'fieldset', 'section', 'li', 'main'].join(',');

const isUsable = (element: HTMLElement): boolean =>
  element.isConnected && !element.matches(':disabled') && element.getClientRects().length > 0;

interface Place {
  readonly element: HTMLElement;
  /** From the inside to the outside, as they stood when the element got the focus. */
  readonly around: readonly HTMLElement[];
}

function placeOf(element: HTMLElement): Place {
  const around: HTMLElement[] = [];
  for (let each = element.parentElement; each !== null; each = each.parentElement) {
    if (each.matches(holders)) around.push(each);
  }
  return { element, around };
}

/** Milliseconds after the focus is lost. A dialog that closes returns the focus itself, within this time. */
const grace = 40;

/** @returns what stops it. */
export function keepFocus(): () => void {
  const listening = new AbortController();
  const { signal } = listening;
  let place: Place | undefined;
  let standIn: HTMLElement | undefined;
  let isWaiting = false;

  const isLost = (): boolean => document.activeElement === null || document.activeElement === document.body;

  const look = (): void => {
    if (place === undefined || isWaiting) return;
    if (isUsable(place.element)) {
      // It was disabled while it worked.
      if (standIn !== undefined && (isLost() || document.activeElement === standIn))
        place.element.focus({ preventScroll: true });
    } else if (isLost()) {
      isWaiting = true;
      setTimeout(() => {
        isWaiting = false;
        if (isLost()) handOver();
      }, grace);
    }
  };

  const handOver = (): void => {
    if (place === undefined) return;
    if (isUsable(place.element)) {
      place.element.focus({ preventScroll: true });
      return;
    }
    standIn = place.around.find(isUsable) ?? document.querySelector('main') ?? undefined;
    if (standIn === undefined) return;
    if (!standIn.hasAttribute('tabindex')) standIn.tabIndex = -1;
    standIn.focus({ preventScroll: true });
  };

  document.addEventListener(
    'focusin',
    ({ target }) => {
      if (!(target instanceof HTMLElement) || target === standIn) return;
      place = placeOf(target);
      standIn = undefined;
    },
    { signal },
  );
  document.addEventListener(
    'submit',
    ({ target }) => {
      if (!(target instanceof HTMLElement)) return;
      const pressed = document.activeElement;
      requestAnimationFrame(() =>
        setTimeout(() => {
          const active = document.activeElement;
          // A person who has moved on meanwhile stays where they are.
          if (active !== pressed && active !== document.body) return;
          target.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
        }),
      );
    },
    { signal },
  );
  const observer = new MutationObserver(() => {
    requestAnimationFrame(look);
  });
  observer.observe(document.body, {
    subtree: true,
    childList: true,
    attributeFilter: ['disabled', 'hidden'],
  });
  signal.addEventListener('abort', () => {
    observer.disconnect();
  });
  return () => {
    listening.abort();
  };
}
