/**
 * The settings about the desktop around the app: a browser has none, so the test supplies the vault's answer.
 */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Settings } from '../../preload/contract.ts';
import { sharedChromium, openWindow } from './support/chromium.ts';
import type { BrowserWindow } from './support/chromium.ts';
import { axeFindings } from './support/inspect.ts';
import { newVaultHome, type Service, type VaultHome } from './support/service.ts';
import { firstRun, goTo, heading } from './support/steps.ts';

let browser: Browser;
let place: VaultHome;
let service: Service;
let person: BrowserWindow;
let desktop: Settings['desktop'] = null;

beforeAll(async () => {
  browser = await sharedChromium();
  place = newVaultHome();
  service = await place.serve();
  person = await openWindow(browser);
  await person.page.route('**/window/settings', async (route) => {
    const response = await route.fetch();
    const { value } = (await response.json()) as { readonly value: Settings };
    await route.fulfill({ response, json: { value: { ...value, desktop } } });
  });
  await person.page.goto(service.windowUrl);
  await firstRun(person.page);
});

afterAll(async () => {
  await person[Symbol.asyncDispose]();
  await service.stop();
  place[Symbol.dispose]();
});

const silent = 'This desktop does not report screen locks.';

test.each<[Settings['desktop'], readonly string[]]>([
  [null, []],
  [{ reportsLock: true, freezeShortcut: 'bound' }, ['freezes all signing from any app.']],
  [{ reportsLock: true, freezeShortcut: 'taken' }, ['Another app uses']],
  [
    { reportsLock: false, freezeShortcut: 'unknown' },
    [silent, 'to Keyhearth in this desktop’s keyboard settings'],
  ],
])('of %j the settings say %j', async (given, said) => {
  const { page } = person;
  desktop = given;
  await page.reload();
  await goTo(page, 'Settings');
  await heading(page, 'Settings').waitFor();
  await page.getByRole('switch', { name: 'Allow outgoing connections' }).waitFor();
  for (const text of said) await page.getByText(text).waitFor();
  expect(await page.getByText(silent).count()).toBe(said.includes(silent) ? 1 : 0);
  expect(await page.getByRole('switch', { name: 'Lock when the screen locks' }).count()).toBe(
    given === null ? 0 : 1,
  );
  expect(await axeFindings(page, 'desktop settings')).toEqual([]);
});
