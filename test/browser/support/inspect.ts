/** Checks for any screen: axe-core, and content that a narrow window cuts off. */
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { takePicture } from './chromium.ts';
import type { Look } from './steps.ts';

/** Everything that WCAG 2.2 asks for at levels A and AA, and axe-core's own good practice. */
const everything = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22a', 'wcag22aa', 'best-practice'];

/** The rules that a change of colours can break. */
const ofColours = ['color-contrast', 'link-in-text-block'];

/**
 * Checks everything in the current scheme, and then in the other one the rules that its colors can break. The
 * other scheme stays on: changing back lays out the whole page again.
 * @returns `screen (scheme): rule, where, why`, for each fault in either.
 */
export async function axeFindings(page: Page, screen: string): Promise<readonly string[]> {
  const on = await page.evaluate(() => document.documentElement.dataset['mantineColorScheme']);
  const [first, second] = on === 'dark' ? (['dark', 'light'] as const) : (['light', 'dark'] as const);
  const found: string[] = [];
  await page.evaluate(haveNoTransitions);
  for (const scheme of [first, second]) {
    await page.emulateMedia({ colorScheme: scheme });
    // The pages of the documentation follow the system by their styles alone.
    if (on !== undefined) await page.locator(`html[data-mantine-color-scheme=${scheme}]`).waitFor();
    await takePicture(page, `${screen}-${scheme}`);
    const axe = await axeOn(page);
    const { violations, passes } = await (
      scheme === first ? axe.withTags(everything) : axe.withRules(ofColours)
    ).analyze();
    if (passes.length === 0) throw new Error(`axe-core found nothing to check on ${screen}`);
    for (const { id, nodes } of violations) {
      for (const { target, failureSummary } of nodes) {
        found.push(`${screen} (${scheme}): ${id} at ${target.join(' ')}: ${failureSummary ?? ''}`);
      }
    }
  }
  await page.evaluate(haveTransitions);
  return found;
}

/** Runs in the page. A colour on its way to another is still the old one, and that of what is inside of it follows later. */
function haveNoTransitions(): void {
  const still = new CSSStyleSheet();
  still.replaceSync('*, ::before, ::after { transition: none !important; }');
  document.adoptedStyleSheets.push(still);
}

/** Runs in the page. */
function haveTransitions(): void {
  document.adoptedStyleSheets.pop();
}

/**
 * Elements that need no landmark around them: axe-core's own list, and tooltips. A tooltip is read with the element that
 * it describes, and which of them is shown depends on where the last click left the pointer.
 */
const regionMatcher = 'dialog, [role=dialog], [role=alertdialog], svg, [role=tooltip]';

const options = {
  // Passed rules are not listed element by element.
  resultTypes: ['violations' as const],
  // axe-core takes this too, though its types do not name it.
  checks: { region: { options: { regionMatcher } } },
};

async function axeOn(page: Page): Promise<AxeBuilder> {
  // A page that has axe-core already needs it no second time: it is as large as the window's own code.
  const isThere = await page.evaluate(() => 'axe' in globalThis);
  return (
    new AxeBuilder({ page, ...(isThere && { axeSource: ';' }) })
      // There are no frames to look into, and another page to gather results in would take as long again.
      .setLegacyMode()
      .options(options)
  );
}

/** The narrowest that a page must fit without scrolling sideways (WCAG 2.2, 1.4.10 asks for 320). */
const widths = [360, 320];

/** @returns what reaches beyond the edge of a narrow window, or is cut off there. */
export async function tooWideFindings(page: Page, screen: string): Promise<readonly string[]> {
  const found: string[] = [];
  const before = page.viewportSize();
  // The effect of the pointer over an element that moves is not checked.
  await page.mouse.move(0, 0);
  for (const width of widths) {
    await page.setViewportSize({ width, height: 720 });
    let cut = await page.evaluate(overflows);
    // Elements that scripts place follow the window a moment later.
    for (let tries = 0; tries < 50 && cut.length > 0; tries += 1) {
      await page.waitForTimeout(100);
      cut = await page.evaluate(overflows);
    }
    for (const each of cut) found.push(`${screen} at ${width}: ${each}`);
  }
  if (before !== null) await page.setViewportSize(before);
  return found;
}

/** Runs in the page. */
function overflows(): readonly string[] {
  const { clientWidth, scrollWidth } = document.documentElement;
  const found = scrollWidth > clientWidth ? [`the page is ${scrollWidth} wide in ${clientWidth}`] : [];
  const scrolls = (element: Element | null): boolean =>
    element !== null &&
    (/auto|scroll/.test(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
  /** True inside an element for screen readers alone, which clips all of it away. */
  const isUnseen = (element: Element | null): boolean =>
    element !== null &&
    ((element.clientWidth <= 1 && getComputedStyle(element).overflowX === 'hidden') ||
      isUnseen(element.parentElement));
  for (const element of document.body.querySelectorAll<HTMLElement>('*')) {
    const { right, width, height } = element.getBoundingClientRect();
    // An element for screen readers alone is a pixel in size.
    if (width <= 1 || height <= 1 || !element.checkVisibility({ visibilityProperty: true })) continue;
    // Ornaments of a control move in and out of its frame.
    if (element.closest('[aria-hidden=true]') !== null) continue;
    const frame = element.parentElement?.closest('section, form, main, [role=dialog]');
    const edge = Math.min(clientWidth, frame?.getBoundingClientRect().right ?? clientWidth);
    if (right > edge + 1 && !scrolls(element.parentElement) && !isUnseen(element.parentElement)) {
      found.push(`${element.outerHTML.slice(0, 120)} ends at ${Math.round(right)} of ${Math.round(edge)}`);
    }
    const { overflowX, textOverflow } = getComputedStyle(element);
    // An excerpt says with an ellipsis that there is more.
    if (
      overflowX === 'hidden' &&
      textOverflow !== 'ellipsis' &&
      element.scrollWidth > element.clientWidth + 1
    ) {
      found.push(`${element.outerHTML.slice(0, 120)} cuts off what it holds`);
    }
  }
  return found;
}

/** Goes to an address of the window; what is asked of the service for it is there then. */
export async function visit(page: Page, address: string): Promise<void> {
  await page.evaluate(async (hash) => {
    if (window.location.hash === `#${hash}`) return;
    // Whatever is looked at before the window heard of it is the screen before.
    const heard = new Promise((resolve) => {
      window.addEventListener('hashchange', resolve, { once: true });
    });
    window.location.hash = hash;
    await heard;
  }, address);
  await page.locator('h1').first().waitFor();
  await page.waitForFunction(
    () => document.querySelector('.kh-loading, .kh-skeleton, [data-awaited]') === null,
  );
}

/** Runs in the page. @returns what is said outside of the brackets of the pseudo-locale. */
export function untranslated(): readonly string[] {
  /** Not the window's own words: code, ids, addresses, files; what the service answers; times in another script. */
  const theirs =
    'code, pre, kbd, samp, textarea, .kh-mono, [translate=no], .kh-failure p, script, style, noscript, [aria-hidden=true]';
  /** Names of what is not translated, units, and what ids are made of. */
  const kept =
    /\b(Keyhearth|Development|Root user|Keyhearth window|Schnorr|Ethereum|Solana|Node\.js|OpenSSL|linux|Pseudo-English|English|UTC|GMT|API|URL|AM|PM|dev|window)\b|https?:\S+|(?<!\S)\/\w\S*|\b[\w-]*\d[\w.…-]*|\b\w{4,}…\w{4,}|\b[rsv]\b/g;
  const found: string[] = [];
  let depth = 0;
  const outside = (text: string): string => {
    let said = '';
    for (const letter of text) {
      if (letter === '⟦') depth += 1;
      else if (letter === '⟧') depth -= 1;
      else if (depth === 0) said += letter;
    }
    return said.replaceAll(kept, '');
  };
  const tell = (where: Element, text: string): void => {
    const said = outside(text).trim();
    if (/[a-z]{2}/i.test(said)) found.push(`“${said}” in ${where.outerHTML.slice(0, 60)}`);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const element = node.parentElement;
    if (element === null || node.textContent === null) continue;
    if (element.closest(theirs) === null) tell(element, node.textContent);
    else outside(node.textContent);
  }
  depth = 0;
  for (const element of document.body.querySelectorAll('*')) {
    for (const name of ['aria-label', 'aria-description', 'title', 'placeholder', 'alt']) {
      const text = element.getAttribute(name);
      depth = 0;
      if (text !== null && element.closest(theirs) === null) tell(element, text);
    }
  }
  return [...found, ...(depth === 0 ? [] : ['brackets do not match'])];
}

/** Finds both: what axe finds, and what is too wide for the window. */
export const screenFindings = async (page: Page, screen: string): Promise<readonly string[]> => [
  ...(await axeFindings(page, screen)),
  ...(await tooWideFindings(page, screen)),
];

/** Inspects each screen that a test comes to, and keeps a picture of it. */
export function inspectScreens(page: Page): { readonly look: Look; readonly amiss: string[] } {
  const amiss: string[] = [];
  const look: Look = async (screen) => {
    amiss.push(...(await screenFindings(page, screen)));
    await takePicture(page, screen);
  };
  return { look, amiss };
}
