/**
 * The window in another language: a pseudo-locale, in which each of its texts is longer, accented and in brackets. What stands
 * outside of them no translation would reach; what does not fit would not fit then. At every address there is.
 */
import type { Browser } from 'playwright-core';
import { expect } from 'vitest';
import { openWindow } from './chromium.ts';
import { axeFindings, tooWideFindings, untranslated, visit } from './inspect.ts';
import { addressesOf, furnish, patterns } from './places.ts';
import { serveDevVault } from './service.ts';

/** In letters that no text of the window has: what people name is not translated. */
const inGreek: Readonly<Record<string, string>> = {
  wallet: 'Πορτοφόλι',
  key: 'Κλειδί',
  user: 'Χρήστης',
  policy: 'Πολιτική',
};

/**
 * Visits each address in the pseudo-locale: every text is translated, fits, does not move, and passes
 * axe-core.
 * @param half Half of the patterns of addresses, so that two browsers share the work.
 */
export async function lookAtHalf(browser: Browser, half: 'first' | 'second'): Promise<void> {
  await using service = await serveDevVault();
  let named = 0;
  const values = await furnish(service, (what) => `${inGreek[what] ?? 'Όνομα'} ${String((named += 1))}`);
  const keyslots = { keyslotId: '00000000-0000-4000-8000-000000000000', template: 'two-approvals' };
  await using person = await openWindow(browser, { locale: 'en-US' });
  const { page } = person;
  await person.context.addInitScript(() => {
    localStorage.setItem('keyhearth.language', 'en-XA');
  });
  await page.goto(service.windowUrl);
  await page.locator('h1', { hasText: '⟦' }).waitFor();
  expect(await page.locator('html').getAttribute('lang')).toBe('en-XA');

  const found: string[] = [];
  /** A fault that all screens share is reported once. */
  const told = new Map<string, string>();
  const middle = Math.ceil(patterns.length / 2);
  const addresses = (half === 'first' ? patterns.slice(0, middle) : patterns.slice(middle)).flatMap(
    (pattern) => addressesOf(pattern, { ...keyslots, ...values }),
  );
  expect(addresses.length).toBeGreaterThan(15);
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
}

/** Runs in the page. @returns whether something moves that a person who asked for less movement would see. */
const moves = (): boolean =>
  document.getAnimations().some(({ effect }) => Number(effect?.getComputedTiming().duration ?? 0) > 10);
