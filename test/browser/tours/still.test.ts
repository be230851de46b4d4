/**
 * The class: a control that moves away from under the pointer, because something above it came later. Each screen is opened
 * after a reload, and the service’s answers arrive one after another.
 */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { openWindow, sharedChromium } from '../support/chromium.ts';
import { addressesOf, furnish, patterns } from '../support/places.ts';
import { serveDevVault } from '../support/service.ts';

/** Milliseconds for which a screen is watched once it is complete. */
const watched = 150;

interface Watching {
  readonly moved: string[];
}

/** Runs in the page, from its beginning: the service’s answers are late, each by another time. */
function delayAnswers(): void {
  /** In milliseconds. */
  const delays = [20, 90, 150, 55, 120];
  const ask = globalThis.fetch;
  let calls = 0;
  globalThis.fetch = async (...request) => {
    const delay = delays[calls++ % delays.length];
    await new Promise((resolve) => {
      setTimeout(resolve, delay);
    });
    return ask(...request);
  };
}

/** Runs in the page, from its beginning. */
function watchControls(): void {
  /** More than a border or a rounded line. Pixels. */
  const noticed = 4;
  const moved: string[] = [];
  (globalThis as unknown as { watching: Watching }).watching = { moved };
  const tops = new Map<Element, number>();
  const look = (): void => {
    for (const element of document.querySelectorAll('main :is(a[href], button, input, select, textarea)')) {
      const { top, width } = element.getBoundingClientRect();
      if (width === 0 || !element.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
        continue;
      const before = tops.get(element) ?? top;
      tops.set(element, top);
      const name = element.getAttribute('aria-label') ?? (element.textContent || element.outerHTML);
      if (Math.abs(top - before) > noticed) moved.push(`${name.slice(0, 60)} by ${String(top - before)}`);
    }
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

async function open(page: Page, address: string): Promise<readonly string[]> {
  await page.evaluate((hash) => {
    window.location.hash = hash;
  }, address);
  await page.reload();
  await page.locator('h1').first().waitFor();
  await page.waitForFunction(
    () => document.querySelector('.kh-loading, .kh-skeleton, [data-awaited]') === null,
  );
  await page.waitForTimeout(watched);
  return page.evaluate(() => (globalThis as unknown as { watching: Watching }).watching.moved);
}

test('no control of a screen moves once it is in sight, in whatever order the answers arrive', async () => {
  const browser = await sharedChromium();
  await using service = await serveDevVault();
  let named = 0;
  const values = await furnish(service, () => `Name ${String((named += 1))}`);
  const others = { keyslotId: '00000000-0000-4000-8000-000000000000', template: 'two-approvals' };
  await using person = await openWindow(browser);
  const { page } = person;
  await page.goto(service.windowUrl);
  await page.locator('h1').waitFor();
  await person.context.addInitScript(watchControls);
  await person.context.addInitScript(delayAnswers);
  const found: string[] = [];
  for (const pattern of patterns) {
    for (const address of addressesOf(pattern, { ...others, ...values })) {
      for (const each of await open(page, address)) found.push(`${address}: ${each}`);
    }
  }
  expect(found).toEqual([]);
});
