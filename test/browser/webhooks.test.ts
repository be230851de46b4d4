/** Webhooks through the window: an endpoint added, tested, switched off and deleted, and its deliveries. */
import { expect, test } from 'vitest';
import { WebhookReceiver } from '../delivery/webhook-receiver.ts';
import { takePicture, openHome } from './support/chromium.ts';
import { axeFindings, tooWideFindings } from './support/inspect.ts';
import { serveDevVault } from './support/service.ts';
import { button, goTo } from './support/steps.ts';

test('the window adds an endpoint, tests it, shows the result, and deletes it', async () => {
  await using receiver = await WebhookReceiver.start();
  await using service = await serveDevVault();
  await using person = await openHome(service.windowUrl);
  const { page } = person;
  const found: string[] = [];
  await goTo(page, 'Webhooks');
  await page.getByText('No deliveries').waitFor();
  found.push(...(await axeFindings(page, 'webhooks-empty')));

  await button(page, 'Add endpoint').click();
  await page.getByText('Enter a URL.').waitFor();
  await page.getByLabel('Name').fill('Mine');
  await page.getByLabel('URL').fill(receiver.url);
  await button(page, 'Add endpoint').click();
  await button(page, 'Send test to Mine').click();
  const deliveries = page.getByRole('list', { name: 'Delivery log' });
  await deliveries
    .getByRole('listitem')
    .filter({ hasText: 'Delivered' })
    .filter({ hasText: 'Mine' })
    .first()
    .waitFor();
  expect(receiver.events.map(({ body }) => body.type)).toContain('ACTIVITY_TYPE_TEST_WEBHOOK_ENDPOINT');

  receiver.misbehave = (response) => {
    response.writeHead(410).end('moved away');
    return true;
  };
  await button(page, 'Send test to Mine').click();
  await deliveries.getByText('HTTP 410: moved away').first().waitFor();
  receiver.misbehave = undefined;
  await deliveries
    .getByRole('button', { name: /^Resend/ })
    .first()
    .click();
  await expect.poll(() => receiver.events.length).toBeGreaterThan(1);

  // Deliveries are filtered by state, and all of a period are sent again with their original ids.
  const state = page.getByRole('combobox', { name: 'Status' });
  await deliveries.getByText('Pending').first().waitFor({ state: 'detached' });
  await state.click();
  await page.getByRole('option', { name: 'Failed' }).click();
  await page.getByText('No matching deliveries').waitFor();
  await state.click();
  await page.getByRole('option', { name: 'Any status' }).click();
  await deliveries.getByText('Delivered').first().waitFor();
  const known = new Set(receiver.events.map(({ body }) => body.id));
  const before = receiver.events.length;
  await button(page, 'Resend… earlier events to Mine').click();
  const replaying = page.getByRole('dialog');
  found.push(...(await axeFindings(page, 'webhooks-replay')));
  await button(replaying, 'Resend').click();
  await page.getByRole('alert').filter({ hasText: 'Resending events' }).waitFor();
  await expect.poll(() => receiver.events.length).toBeGreaterThan(before);
  expect(receiver.events.slice(before).filter(({ body }) => known.has(body.id))).not.toEqual([]);
  found.push(...(await axeFindings(page, 'webhooks')));
  found.push(...(await tooWideFindings(page, 'webhooks')));
  await takePicture(page, 'webhooks');

  await page.getByLabel('Send events to Mine').press('Space');
  await expect.poll(() => page.getByLabel('Send events to Mine').isChecked()).toBe(false);
  await expect.poll(() => button(page, 'Send test to Mine').isDisabled()).toBe(true);
  await button(page, 'Delete endpoint Mine').click();
  const deleting = page.getByRole('dialog');
  await deleting.getByRole('textbox', { name: 'Type the name to confirm' }).fill('Mine');
  await button(deleting, /^Delete/).click();
  await page.getByText('No endpoints').waitFor();
  expect(found).toEqual([]);
  expect(person.violations).toEqual([]);
  expect(person.complaints).toEqual([]);
});
