/** Freezing from the window, and what the threshold says then. */
import type { Browser } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { sharedChromium, openWindow } from './support/chromium.ts';
import { inspectScreens } from './support/inspect.ts';
import { newVaultHome } from './support/service.ts';
import { button, firstRun, heading, password } from './support/steps.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await sharedChromium();
});

test('a vault is frozen from inside, after a question, and opens with its password', async () => {
  using place = newVaultHome();
  await using service = await place.serve();
  await using person = await openWindow(browser);
  const { page } = person;
  const { look, amiss: found } = inspectScreens(page);
  await page.goto(service.windowUrl);
  await firstRun(page);

  await button(page, 'Freeze all signing').click();
  const question = page.getByRole('dialog', { name: 'Freeze all signing' });
  await button(question, 'Cancel').click();
  await question.waitFor({ state: 'hidden' });
  await button(page, 'Freeze all signing').click();
  await question.getByText(/until you unlock with the password or recovery phrase/).waitFor();
  await look('freeze');
  await button(question, 'Freeze now').click();

  await heading(page, 'Unlock').waitFor();
  await page.getByRole('alert').filter({ hasText: 'All signing is frozen' }).waitFor();
  await look('frozen');
  await page.getByRole('textbox', { name: 'Password', exact: true }).fill(password);
  await button(page, 'Unlock').click();
  await button(page, 'Freeze all signing').waitFor();
  expect(found).toEqual([]);
  expect(person.complaints).toEqual([]);
  expect(person.violations).toEqual([]);
});
