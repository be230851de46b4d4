/**
 * The service does what a form asks, and its answer is lost. The class: the next press does it a second time, or what only this
 * window has is gone.
 */
import { expect, test } from 'vitest';
import { authenticatorsOf } from '../support/authenticator.ts';
import { openHome } from '../support/chromium.ts';
import { serveDevVault } from '../support/service.ts';
import { button, confirmWhenAsked, goTo, heading, loseAnswers } from '../support/steps.ts';

test.each([
  {
    screen: '/wallets/new',
    type: 'CREATE_WALLET',
    does: 'Create wallet',
    list: 'list_wallets',
    of: 'wallets',
  },
  {
    screen: '/private-keys/new',
    type: 'CREATE_PRIVATE_KEYS_V2',
    does: 'Create private key',
    list: 'list_private_keys',
    of: 'privateKeys',
  },
  { screen: '/secrets/new', type: 'IMPORT_SECRETS', does: 'Add secret', list: 'list_secrets', of: 'secrets' },
])('$does: the next press does not do it twice', async ({ screen, type, does, list, of }) => {
  await using service = await serveDevVault();
  await using person = await openHome(service.windowUrl);
  const { page } = person;
  await page.goto(`${service.windowOrigin}/#${screen}`);
  await heading(page, does).waitFor();
  const value = page.getByRole('textbox', { name: 'Value' });
  if (does === 'Add secret') await value.fill('the value');
  const find = await loseAnswers(page, `ACTIVITY_TYPE_${type}`);
  await button(page, does).click();
  await page.getByRole('alert').filter({ hasText: 'It may have done this anyway' }).waitFor();
  await find();
  await page.getByText('This name is taken.').waitFor();
  await button(page, does).click();
  const { body } = await service.root.query(list);
  expect(body?.[of]).toHaveLength(1);
});

test('an API key is shown, and a passkey is said to be registered', async () => {
  await using service = await serveDevVault();
  const { root } = service;
  await using person = await openHome(service.windowUrl);
  const { page } = person;
  await confirmWhenAsked(page, service.recoveryPhrase);
  await goTo(page, 'Users');
  await page.getByRole('link', { name: /^Root user/ }).click();
  await heading(page, 'Root user').waitFor();
  await loseAnswers(page, 'ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2');
  await (await authenticatorsOf(page)).add();
  await page.getByRole('textbox', { name: 'Name of the new passkey' }).fill('This laptop');
  await button(page, 'Register passkey').click();
  await page.getByText('“This laptop” now signs').waitFor();

  await page.getByRole('link', { name: 'Add API key' }).click();
  await heading(page, 'Add API key').waitFor();
  await loseAnswers(page, 'ACTIVITY_TYPE_CREATE_API_KEYS_V2');
  await button(page, 'Create key').click();
  await button(page, 'Show the private key').waitFor();
  expect((await root.query('list_users')).text).toContain('"apiKeyName":"Script 1"');
});
