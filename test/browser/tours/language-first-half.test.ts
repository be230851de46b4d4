/** The window in another language: the first half of its addresses. */
import type { Browser } from 'playwright-core';
import { beforeAll, test } from 'vitest';
import { sharedChromium } from '../support/chromium.ts';
import { lookAtHalf } from '../support/language.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await sharedChromium();
});

test('every screen is translated whole, fits, and passes axe-core', async () => {
  await lookAtHalf(browser, 'first');
});
