/** The window in another language: the second half of its addresses. */
import type { Browser } from 'playwright-core';
import { beforeAll, test } from 'vitest';
import { sharedChromium } from '../support/chromium.ts';
import { lookAtHalf } from '../support/language.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await sharedChromium();
});

test('every screen speaks it whole, fits, and has nothing for axe-core to mend', async () => {
  await lookAtHalf(browser, 'second');
});
