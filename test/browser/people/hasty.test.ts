/** A hasty person holds a key down, or presses twice. The class: one act for one press, and none that a question was to come before. */
import { expect, test } from 'vitest';
import { newWallet } from '../../support/support.ts';
import { openHome } from '../support/chromium.ts';
import { visit } from '../support/inspect.ts';
import { serveDevVault } from '../support/service.ts';
import { button, goTo } from '../support/steps.ts';

/** As often as a keyboard repeats a key in half a second. */
const repeats = 15;

test('Enter held on Freeze asks, and freezes nothing', async () => {
  await using service = await serveDevVault();
  await using person = await openHome(service.windowUrl);
  const { page } = person;
  const freezes: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/window/freeze')) freezes.push(request.url());
  });
  await button(page, 'Freeze all signing').focus();
  await page.keyboard.down('Enter');
  const dialog = page.getByRole('dialog', { name: 'Freeze all signing' });
  const freeze = button(dialog, 'Freeze now');
  await expect.poll(() => freeze.evaluate((element) => element === document.activeElement)).toBe(true);
  for (let count = 0; count < repeats; count += 1) await page.keyboard.down('Enter');
  await page.keyboard.up('Enter');
  expect(await freeze.isEnabled()).toBe(true);
  await button(dialog, 'Cancel').click();
  // The service answers in the order of the requests.
  await goTo(page, 'Wallets');
  await page.getByText('No wallets yet').waitFor();
  expect(freezes).toEqual([]);

  await button(page, 'Freeze all signing').focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => freeze.evaluate((element) => element === document.activeElement)).toBe(true);
  await page.keyboard.press('Enter');
  await page.getByRole('alert').filter({ hasText: 'All signing is frozen' }).waitFor();
  expect(person.complaints).toEqual([]);
});

test('a slow second press on Archive brings nothing back', async () => {
  await using service = await serveDevVault();
  const { root } = service;
  const { walletId } = await newWallet(root, 'Savings');
  await using person = await openHome(service.windowUrl);
  const { page } = person;
  await visit(page, `/wallets/${walletId}`);
  const archive = button(page, /^Archive$/);
  await archive.scrollIntoViewIfNeeded();
  const box = await archive.boundingBox();
  if (box === null) throw new Error('Archive is not on the screen');
  const press = () => page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await press();
  await button(page, 'Unarchive').waitFor();
  await press();
  await button(page, 'Unarchive').click();
  await page.getByText('Wallet back in the lists').waitFor();
  const { activities } = (await root.query('list_activities')).body as unknown as {
    readonly activities: readonly { readonly type: string }[];
  };
  const changes = activities.filter(({ type }) => type === 'ACTIVITY_TYPE_UPDATE_WALLET_LABELS');
  expect(changes).toHaveLength(2);
  expect(person.complaints).toEqual([]);
});
