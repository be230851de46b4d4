/**
 * Overlays: the prompt that a call waits for can be answered by mouse wherever it appears. The class: an
 * overlay that opens while another is open, at every width.
 */
import { createECDH } from 'node:crypto';
import type { Browser } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { activityOf, allowByVotes, ethereumAccount, newUserBy, resultOf } from '../support/support.ts';
import { sharedChromium, openHome, openWindow } from './support/chromium.ts';
import { serveDevVault } from './support/service.ts';
import type { DevService } from './support/service.ts';
import { axeFindings, visit } from './support/inspect.ts';
import { button, exportFrom, goTo, heading, openDialog, sendVote } from './support/steps.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await sharedChromium();
});

/** Ben asks for an export, which the owner shows a secret for. */
async function askForExport({ root }: DevService) {
  const { client: ben } = await newUserBy(root, 'Ben');
  await allowByVotes(root, 'Exports by two', "activity.action == 'EXPORT'", 2);
  const { walletId } = resultOf(
    await root.submit('create_wallet', 'CREATE_WALLET', {
      walletName: 'Everyday',
      accounts: [ethereumAccount],
    }),
  );
  const target = createECDH('prime256v1').generateKeys('hex', 'uncompressed');
  const asked = activityOf(
    await ben.submit('export_wallet', 'EXPORT_WALLET', { walletId, targetPublicKey: target }),
  );
  return { ben, asked };
}

test.each([1280, 480])('the owner approves an export by mouse at a width of %i', async (width) => {
  await using service = await serveDevVault();
  const { root, recoveryPhrase } = service;
  const { asked } = await askForExport(service);
  await using person = await openWindow(browser);
  const { page } = person;
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.clock.install();
  await page.goto(service.windowUrl);
  await heading(page, 'Home').waitFor();
  await goTo(page, 'Approvals');
  await page.getByRole('link', { name: /requested by Ben/ }).click();
  const drawer = page.getByRole('dialog').filter({ hasText: 'Exports by two' });
  await page.setViewportSize({ width, height: 800 });
  await button(drawer, 'Approve once').click();

  // The question comes before the ten seconds, in which the person may look away.
  const question = page.getByRole('dialog', { name: 'Confirm it’s you' });
  await question.waitFor();
  // An Escape shuts the question, and not what is under it.
  await page.keyboard.press('Escape');
  await question.waitFor({ state: 'hidden' });
  await drawer.getByText('Not confirmed: nothing changed.').waitFor();
  await button(drawer, 'Approve once').click();
  await question.waitFor();
  await exportFrom(question, 'Confirm', recoveryPhrase);
  await sendVote(page);
  await page.getByText('Approved and completed.').waitFor();
  const { status } = activityOf(await root.query('get_activity', { activityId: asked.id }));
  expect(status).toBe('ACTIVITY_STATUS_COMPLETED');
  expect(person.complaints).toEqual([]);
  expect(person.violations).toEqual([]);
});

test('no key votes on a request, or goes to another, under the dialog that asks for a secret', async () => {
  await using service = await serveDevVault();
  const { root } = service;
  const { ben, asked } = await askForExport(service);
  await allowByVotes(root, 'Tags by two', "activity.resource == 'USER'", 2);
  await ben.submit('create_user_tag', 'CREATE_USER_TAG', { userTagName: 'Other', userIds: [] });
  await using person = await openHome(service.windowUrl);
  const { page } = person;
  await visit(page, `/approvals/${asked.id}`);
  const drawer = page.getByRole('dialog', { name: 'Approval' });
  await drawer.getByText('“Exports by two” needs more approvals').waitFor();
  const place = drawer.getByText(/^\d of 2$/);
  const shown = await place.innerText();
  await button(drawer, 'Approve once').click();
  const question = page.getByRole('dialog', { name: 'Confirm it’s you' });
  await button(question, 'Cancel').focus();
  for (const key of ['j', 'd', 'd', 'k', 'd', 'd']) await page.keyboard.press(key);
  await button(question, 'Cancel').click();
  await question.waitFor({ state: 'hidden' });
  await drawer.getByText('Not confirmed: nothing changed.').waitFor();
  expect(await place.innerText()).toBe(shown);
  expect(await page.getByText('Your vote is sent in ten seconds.').count()).toBe(0);
  await drawer.getByText(/^Press/).waitFor({ state: 'hidden' });
  // They do so again when it is gone.
  await page.keyboard.press(shown.startsWith('1') ? 'j' : 'k');
  await expect.poll(() => place.innerText()).not.toBe(shown);
  expect(person.complaints).toEqual([]);
});

test('typed text is not thrown away by Escape, by a press beside the dialog, or by an Escape for another dialog', async () => {
  await using service = await serveDevVault();
  await using person = await openWindow(browser);
  const { page } = person;
  await page.goto(service.windowUrl);
  await goTo(page, 'Sessions');
  const dialog = await openDialog(page, 'New profile…', 'New session profile');
  const name = dialog.getByRole('textbox', { name: 'Name' });
  // Nothing is typed: nothing is asked.
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  await openDialog(page, 'New profile…', 'New session profile');
  await name.fill('Shop');

  const question = page.getByRole('dialog', { name: 'Discard what you typed?' });
  await page.keyboard.press('Escape');
  await question.waitFor();
  const amiss = await axeFindings(page, 'discard');
  // Escape answers the question, and not the dialog under it.
  await page.keyboard.press('Escape');
  await question.waitFor({ state: 'hidden' });
  expect(await name.inputValue()).toBe('Shop');
  await expect.poll(() => name.evaluate((field) => field === document.activeElement)).toBe(true);
  await page.mouse.click(5, 400);
  await button(question, 'Keep editing').click();
  await question.waitFor({ state: 'hidden' });
  expect(await name.inputValue()).toBe('Shop');

  // The palette over it is shut alone.
  await page.keyboard.press('Control+k');
  const palette = page.getByRole('dialog', { name: 'Search and commands' });
  await palette.waitFor();
  await page.keyboard.press('Escape');
  await palette.waitFor({ state: 'hidden' });
  expect(await question.count()).toBe(0);
  expect(await name.inputValue()).toBe('Shop');

  // Text that was taken back is none.
  await name.fill('');
  await button(dialog, 'Close').click();
  await dialog.waitFor({ state: 'hidden' });
  await openDialog(page, 'New profile…', 'New session profile');
  await name.fill('Shop');
  await button(dialog, 'Close').click();
  await button(question, 'Discard').click();
  await question.waitFor({ state: 'hidden' });
  await dialog.waitFor({ state: 'hidden' });
  await openDialog(page, 'New profile…', 'New session profile');
  expect(await name.inputValue()).toBe('');
  // Text that was sent is not asked about.
  await name.fill('Shop');
  await button(dialog, 'Create profile').click();
  await dialog.waitFor({ state: 'hidden' });
  expect(await question.count()).toBe(0);
  expect(amiss).toEqual([]);
  expect(person.complaints).toEqual([]);
});
