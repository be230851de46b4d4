/** Sessions in the window: who is signed in is seen, and ended. */
import type { Browser } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { newTestKey } from '../support/support.ts';
import { sharedChromium, openWindow, takePicture } from './support/chromium.ts';
import { axeFindings, screenFindings } from './support/inspect.ts';
import { serveDevVault } from './support/service.ts';
import { button, goTo } from './support/steps.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await sharedChromium();
});

test('a person sees who is signed in, and ends it', async () => {
  await using service = await serveDevVault();
  const { root } = service;
  await using person = await openWindow(browser);
  const { page } = person;
  await page.goto(service.windowUrl);
  await goTo(page, 'Sessions');
  await page.getByText('No active sessions').waitFor();
  const amiss = [...(await axeFindings(page, 'sessions-empty'))];

  await button(page, 'New profile…').click();
  const form = page.getByRole('dialog', { name: 'New session profile' });
  await form.getByRole('textbox', { name: 'Name' }).fill('Shop');
  await form.getByRole('combobox', { name: 'May do' }).click();
  // Even the scope `true` adds no way in, and changes no rights without naming that.
  await page.getByRole('option', { name: 'All but new ways in and the rights of others' }).waitFor();
  await page.getByRole('option', { name: 'What an expression says' }).click();
  await form.getByRole('textbox', { name: 'Scope' }).fill("activity.actio == 'SIGN'");
  await form.getByText(/did you mean/i).waitFor();
  await button(form, 'Create profile').click();
  await form.getByText('Couldn’t create the session profile').waitFor();
  await form.getByRole('textbox', { name: 'Scope' }).fill("activity.action == 'SIGN'");
  await takePicture(page, 'session-profile-new');
  amiss.push(...(await axeFindings(page, 'session-profile-new')));
  await button(form, 'Create profile').click();
  const profiles = page.getByRole('list', { name: 'Session profiles' });
  await profiles.getByText('Signatures').waitFor();
  await profiles.getByText('Ends after 1 hour at most.').waitFor();

  const key = newTestKey();
  const { sessionProfiles } = (await root.query('get_session_profiles', {})).body as {
    sessionProfiles: readonly { sessionProfileId: string; scope: string; expirationSeconds: string }[];
  };
  expect(sessionProfiles).toMatchObject([{ scope: "activity.action == 'SIGN'", expirationSeconds: '3600' }]);
  const sessionProfileId = sessionProfiles[0]?.sessionProfileId;
  const login = { publicKey: key.publicKey, sessionProfileId };
  expect((await root.submit('stamp_login', 'STAMP_LOGIN', login)).status).toBe(200);
  expect((await root.submit('create_read_only_session', 'CREATE_READ_ONLY_SESSION', {})).status).toBe(200);
  const list = page.getByRole('list', { name: 'Sessions' });
  await list.getByText('Read-only').waitFor();
  const signedIn = list.getByRole('listitem').filter({ hasText: 'Signed in with the client’s own key' });
  await signedIn.getByText('Root user').waitFor();
  await signedIn.getByText('limited by “Shop”').waitFor();
  await takePicture(page, 'sessions-limited');
  amiss.push(...(await screenFindings(page, 'sessions')));

  // The exact time is under the pointer. Tab passes over a time.
  const begun = signedIn.locator('time').first();
  const exactly = page.getByRole('tooltip').filter({ hasText: /\d{4}/ });
  expect(await begun.getAttribute('tabindex')).toBeNull();
  await begun.hover();
  await exactly.waitFor();
  await page.mouse.move(0, 0);
  await exactly.waitFor({ state: 'hidden' });

  await button(signedIn, /^End session Login/).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Requests in this session are refused').waitFor();
  amiss.push(...(await axeFindings(page, 'session-end')));
  await button(dialog, 'End session').click();
  await dialog.waitFor({ state: 'hidden' });
  await signedIn.waitFor({ state: 'detached' });
  expect((await root.as(key).query('whoami')).status).toBe(401);

  // Under its user too, and not among the keys that last.
  await goTo(page, 'Users');
  await page.getByRole('link', { name: /^Root user/ }).click();
  await page.getByRole('list', { name: 'Sessions' }).getByText('Read-only').waitFor();
  expect(
    await page
      .getByRole('list', { name: 'API keys' })
      .getByText(/^Login/)
      .count(),
  ).toBe(0);
  expect(amiss).toEqual([]);
});
