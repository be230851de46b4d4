/** The window in another language: the first half of its addresses. */
import type { Browser } from 'playwright-core';
import { beforeAll, test } from 'vitest';
import { launchChromium } from './chromium.ts';
import { lookAtHalf } from './language.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await launchChromium();
  return () => browser.close();
});

test('every screen speaks it whole, fits, and has nothing for axe-core to mend', async () => {
  await lookAtHalf(browser, 'first');
});
