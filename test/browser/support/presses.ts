/**
 * Presses that arrive. A press takes two messages to the browser. Where the page moves the button between them, the second one meets
 * another element, and the button is not clicked. A person sees that and presses again, and so do the tests. They report it,
 * since a page that moves under the pointer is worth a look.
 */
import type { BrowserContext, Locator, Page } from 'playwright-core';

interface Presses {
  /** Another one after each load of the page. */
  readonly document: number;
  begun: number;
  /** Those of which the end met the same control. */
  clicks: number;
}

declare global {
  interface Window {
    keyhearthPresses?: Presses;
  }
}

/** Runs in each page, before its own scripts. */
function countPresses(): void {
  const presses: Presses = { document: performance.timeOrigin, begun: 0, clicks: 0 };
  window.keyhearthPresses = presses;
  let pressed: Element | null = null;
  const begin = ({ target }: Event): void => {
    presses.begun += 1;
    const element = target as Element;
    pressed = element.closest('button, a, label, input, textarea, select, summary, [role]') ?? element;
  };
  const end = ({ target }: Event): void => {
    // A press that begins and ends on two elements clicks the one around both.
    if (pressed?.contains(target as Element) === true) presses.clicks += 1;
  };
  window.addEventListener('pointerdown', begin, true);
  window.addEventListener('click', end, true);
}

const pressesOf = (page: Page): Promise<Presses | undefined> =>
  page.evaluate(() => window.keyhearthPresses).catch(() => undefined);

/** True where a press began on the page that is there, and clicked nothing. */
function isLost(before: Presses | undefined, after: Presses | undefined): boolean {
  if (before === undefined || before.document !== after?.document) return false;
  return after.begun > before.begun && after.clicks === before.clicks;
}

type Click = Locator['click'];
const patched = new WeakSet<object>();

/** Has `click` of every locator press again where the first press clicked nothing. */
export async function repeatLostPresses(context: BrowserContext, page: Page): Promise<void> {
  await context.addInitScript(countPresses);
  const prototype = Object.getPrototypeOf(page.locator('html')) as { click: Click };
  if (patched.has(prototype)) return;
  patched.add(prototype);
  const press = prototype.click;
  prototype.click = async function click(this: Locator, ...given: Parameters<Click>) {
    const before = await pressesOf(this.page());
    await press.apply(this, given);
    if (!isLost(before, await pressesOf(this.page())) || !(await this.isVisible())) return;
    console.warn(`The page moved under a press on ${String(this)}.`);
    await press.apply(this, given);
  };
}
