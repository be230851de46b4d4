/**
 * The window in another language: a pseudo-locale, in which each of its texts is longer, accented and in brackets. What stands
 * outside of them no translation would reach; what does not fit would not fit then. At every address there is.
 */
import type { Browser } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { launchChromium, openWindow } from './chromium.ts';
import { axeFindings, tooWideFindings, untranslated, visit } from './inspect.ts';
import { addressesOf, furnish, patterns } from './places.ts';
import { serveDevVault } from './service.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await launchChromium();
  return () => browser.close();
});

/** In letters that no text of the window has: what people name is not translated. */
const inGreek: Readonly<Record<string, string>> = {
  wallet: 'Πορτοφόλι',
  key: 'Κλειδί',
  user: 'Χρήστης',
  policy: 'Πολιτική',
};

test('every screen speaks it whole, fits, and has nothing for axe-core to mend', async () => {
  await using service = await serveDevVault();
  let named = 0;
  const values = await furnish(service, (what) => `${inGreek[what] ?? 'Όνομα'} ${String((named += 1))}`);
  const keyslots = { keyslotId: '00000000-0000-4000-8000-000000000000', template: 'two-approvals' };
  await using person = await openWindow(browser, { locale: 'en-US' });
  const { page } = person;
  await person.context.addInitScript(() => {
    localStorage.setItem('latchkey.language', 'en-XA');
  });
  await page.goto(service.windowUrl);
  await page.locator('h1', { hasText: '⟦' }).waitFor();
  expect(await page.locator('html').getAttribute('lang')).toBe('en-XA');

  const found: string[] = [];
  /** What all screens have is told once. */
  const told = new Map<string, string>();
  const addresses = patterns.flatMap((pattern) => addressesOf(pattern, { ...keyslots, ...values }));
  expect(addresses.length).toBeGreaterThan(30);
  for (const address of addresses) {
    await visit(page, address);
    const screen = address === '/' ? 'home' : address.replaceAll(/[^\w-]+/g, '-').slice(1, 60);
    for (const text of await page.evaluate(untranslated)) told.set(text, told.get(text) ?? address);
    found.push(...(await tooWideFindings(page, screen)));
    if (await page.evaluate(moves)) found.push(`${screen}: something moves`);
    found.push(...(await axeFindings(page, `pseudo-${screen}`)));
  }
  expect([...[...told].map(([text, address]) => `${address}: ${text}`), ...found]).toEqual([]);
  expect(person.complaints).toEqual([]);
});

/** Runs in the page. @returns whether something moves that a person who asked for less movement would see. */
const moves = (): boolean =>
  document.getAnimations().some(({ effect }) => Number(effect?.getComputedTiming().duration ?? 0) > 10);
