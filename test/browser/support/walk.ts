/**
 * The experience with a keyboard and a screen reader: where the focus goes, in which order, and if it is
 * visible.
 */
import type { Locator, Page } from 'playwright-core';

/** Runs in the page. @returns what of the stops of Tab is not in the order in which one reads. */
export function outOfOrder(): readonly string[] {
  const found: string[] = [];
  const name = (element: Element): string => element.outerHTML.slice(0, 90);
  /** The visible box: a radio of a segmented control, or a switch, has no size of its own. */
  const placeOf = (element: Element): DOMRect => {
    let shown = element;
    while (shown.getBoundingClientRect().width < 10 && shown.parentElement !== null)
      shown = shown.parentElement;
    return shown.getBoundingClientRect();
  };
  const reachable = [
    ...document.body.querySelectorAll<HTMLElement>('a[href], button, input, select, textarea, [tabindex]'),
  ].filter(
    (element) =>
      !element.matches(':disabled, [tabindex="-1"], [inert] *, input[type=radio]:not(:checked)') &&
      element.checkVisibility({ visibilityProperty: true }) &&
      placeOf(element).bottom > 0,
  );
  for (const element of reachable) {
    if (element.tabIndex > 0) found.push(`${name(element)} has a place of its own in the order`);
  }
  /** True if one is in a scrolling box without the other: then it may be anywhere. */
  const scrollsApart = (element: Element, other: Element): boolean => {
    for (let box = element.parentElement; box !== null && !box.contains(other); box = box.parentElement) {
      if (box.scrollHeight > box.clientHeight && /auto|scroll/.test(getComputedStyle(box).overflowY))
        return true;
    }
    return false;
  };
  for (const [index, element] of reachable.entries()) {
    const before = reachable[index - 1];
    // Scrolling content has its own order; floating content is where it is.
    if (before === undefined || before.parentElement?.closest('.kh-skip, .kh-long') !== null) continue;
    if (scrollsApart(before, element)) continue;
    const [a, b] = [placeOf(before), placeOf(element)];
    const isAbove = b.bottom <= a.top + 2 && b.left < a.right;
    const isOnSameLine =
      Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > Math.min(a.height, b.height) / 2;
    if (isAbove || (isOnSameLine && b.right <= a.left + 2)) {
      found.push(`${name(element)} comes after ${name(before)}`);
    }
  }
  return found;
}

/**
 * Runs in the page. @returns the ids in sight, as text or in a field: a person tells things by their names. What is folded away
 * is not in sight.
 */
export function idsInSight(): readonly string[] {
  const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;
  const texts = [document.body.innerText];
  for (const field of document.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>('input, textarea')) {
    if (!/^(?:checkbox|radio|hidden)$/.test(field.type) && field.checkVisibility()) texts.push(field.value);
  }
  return texts.flatMap((text) =>
    [...text.matchAll(uuid)].map(
      ({ 0: id, index }) => `the id ${id} is in sight: “${text.slice(Math.max(0, index - 40), index)}”`,
    ),
  );
}

/** Runs in the page. @returns the controls of the screen that look the same with the focus and without. */
export function unseenFocus(): readonly string[] {
  const look = (element: Element): string => {
    const around = [element, element.parentElement, element.parentElement?.parentElement];
    return [...around, ...(element.parentElement?.children ?? [])]
      .flatMap((each) => {
        if (each == null) return [];
        const { outline, boxShadow, borderColor, backgroundColor } = getComputedStyle(each);
        const { opacity, textDecorationLine } = getComputedStyle(each);
        return [outline, boxShadow, borderColor, backgroundColor, opacity, textDecorationLine].join();
      })
      .join('; ');
  };
  const found: string[] = [];
  // A colour on its way to another is still the old one.
  const still = document.createElement('style');
  still.nonce = document.querySelector<HTMLStyleElement>('style[nonce]')?.nonce ?? '';
  still.textContent = '* { transition: none !important; }';
  document.head.append(still);
  for (const element of document.querySelectorAll<HTMLElement>(
    'main :is(a[href], button, input, select, textarea)',
  )) {
    if (element.matches(':disabled, [inert] *') || !element.checkVisibility({ visibilityProperty: true }))
      continue;
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    const before = look(element);
    element.focus({ preventScroll: true });
    if (document.activeElement === element && look(element) === before)
      found.push(element.outerHTML.slice(0, 120));
  }
  still.remove();
  return found;
}

/** The state after navigation: the document has the screen's title, and the focus is at its beginning. */
export async function arrival(page: Page): Promise<readonly string[]> {
  let found = await page.evaluate(astray);
  for (let tries = 0; tries < 200 && found.length > 0; tries += 1) {
    await page.waitForTimeout(50);
    found = await page.evaluate(astray);
  }
  return found;
}

/** Runs in the page. */
function astray(): readonly string[] {
  const found: string[] = [];
  const [head, ...more] = document.querySelectorAll('h1');
  if (more.length > 0) found.push('there is more than one h1');
  const named = (head?.textContent ?? '').trim();
  if (document.title !== `${named} · Keyhearth`)
    found.push(`the document is called “${document.title}” on “${named}”`);
  const focused = document.activeElement;
  if (focused?.closest('main h1, main form, [role=dialog]') == null) {
    found.push(`the focus is on ${focused?.outerHTML.slice(0, 80) ?? 'nothing'}`);
  }
  return found;
}

/** Controls that open a dialog or a menu over this screen. */
export const openers = (page: Page): Locator =>
  page.locator(
    '[aria-haspopup=dialog]:visible:not([disabled]), [aria-haspopup=menu]:visible:not([disabled])',
  );

/**
 * Opens what a button opens, by the keyboard, looks at it, and leaves it by Escape.
 * @returns what is wrong with where the focus is meanwhile, and after it.
 */
export async function throughDialog(
  page: Page,
  opener: Locator,
  look: (dialog: Locator) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const found: string[] = [];
  const isMenu = (await opener.getAttribute('aria-haspopup')) === 'menu';
  await opener.focus();
  await page.keyboard.press('Enter');
  const dialog = page.locator(isMenu ? '[role=menu]:visible' : '[role=dialog]:visible');
  await dialog.waitFor();
  const holdsFocus = (): Promise<boolean> =>
    dialog.evaluate((element) => element.contains(document.activeElement));
  const settledFocus = async (wanted: () => Promise<boolean>): Promise<boolean> => {
    for (let tries = 0; tries < 200; tries += 1) {
      if (await wanted()) return true;
      await page.waitForTimeout(50);
    }
    return false;
  };
  if (!(await settledFocus(holdsFocus))) found.push('the focus does not go into it');
  if (!isMenu) {
    if ((await dialog.getAttribute('aria-modal')) !== 'true')
      found.push('what is under it is not out of reach');
    for (const key of ['Shift+Tab', 'Tab', 'Tab']) {
      await page.keyboard.press(key);
      if (!(await holdsFocus())) found.push(`${key} leads out of it`);
    }
    const named = await dialog.evaluate((element) => {
      const heading = document.getElementById(element.getAttribute('aria-labelledby') ?? '');
      return (element.getAttribute('aria-label') ?? heading?.textContent ?? '').trim();
    });
    if (named === '') found.push('it has no name');
    const isUnder = await opener.evaluate((element) => {
      const { x, y, width, height } = element.getBoundingClientRect();
      const top = document.elementFromPoint(x + width / 2, y + height / 2);
      return top === null || !element.contains(top);
    });
    if (!isUnder) found.push('the pointer reaches what is under it');
  }
  found.push(...(await look(dialog)));
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  const isBack = (): Promise<boolean> => opener.evaluate((element) => element === document.activeElement);
  if (!(await settledFocus(isBack))) found.push('the focus does not come back from it');
  return found;
}
