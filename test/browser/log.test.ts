/** The activity log as a whole, through the window: its state, a check of it, and a copy to take away. */
import { readFile } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { checkText, runStandalone } from '../storage/audit-log.ts';
import { sharedChromium, openWindow, takePicture } from './support/chromium.ts';
import { axeFindings, tooWideFindings } from './support/inspect.ts';
import { newVaultHome } from './support/service.ts';
import { button, firstRun, goTo, makeWallet } from './support/steps.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await sharedChromium();
});

test('the log is checked, exported, and a change by another program is detected', async () => {
  using place = newVaultHome();
  await using service = await place.serve();
  await using person = await openWindow(browser);
  const { page } = person;
  await page.goto(service.windowUrl);
  await firstRun(page);
  await goTo(page, 'Activity');
  // An empty log has nothing to show of itself.
  await page.getByRole('heading', { name: 'No activity yet' }).waitFor();
  expect(await button(page, 'Verify log').count()).toBe(0);

  await goTo(page, 'Wallets');
  await makeWallet(page, 'Savings', ['Ethereum']);
  await goTo(page, 'Activity');
  await page.getByText('None yet').waitFor();
  await button(page, 'Verify log').click();
  const fine = page.getByRole('alert').filter({ hasText: 'The log is intact' });
  await fine.filter({ hasText: 'No entry is signed yet.' }).waitFor();

  const [download] = await Promise.all([page.waitForEvent('download'), button(page, 'Export').click()]);
  expect(download.suggestedFilename()).toMatch(/^keyhearth-log-\d{4}-\d\d-\d\d\.jsonl$/);
  const text = await readFile(await download.path(), 'utf8');
  expect(await checkText(text)).toMatchObject({ rows: 1, signed: 1, findings: [] });
  expect((await runStandalone(text)).code).toBe(0);

  // The export had the head signed.
  await page.getByText('Up to entry 1, just now').waitFor();
  await button(page, 'Verify log').click();
  await fine.filter({ hasText: /Signed up to entry 1, on/ }).waitFor();
  expect(await axeFindings(page, 'log-checked')).toEqual([]);
  await takePicture(page, 'log-checked');

  // As if the file had been changed; detecting such a change is tested elsewhere.
  const findings = Array.from({ length: 12 }, (_, index) => ({
    row: index + 1,
    problem: `entry ${String(index + 1)} was changed after it was written`,
  }));
  await page.route('**/window/checkLog', (route) =>
    route.fulfill({
      json: { value: { rows: 12, hash: '00'.repeat(32), signed: 0, signedAt: null, findings, more: 3 } },
    }),
  );
  await button(page, 'Verify log').click();
  const wrong = page.getByRole('alert').filter({ hasText: 'The log was changed or is incomplete' });
  await wrong.filter({ hasText: 'entry 1 was changed after it was written' }).waitFor();
  await wrong.filter({ hasText: 'and 5 more' }).waitFor();
  expect(await axeFindings(page, 'log-changed')).toEqual([]);
  await takePicture(page, 'log-changed');
  await page.setViewportSize({ width: 360, height: 720 });
  expect(await tooWideFindings(page, 'log-changed')).toEqual([]);
  expect(person.violations).toEqual([]);
  expect(person.complaints).toEqual([]);
});
