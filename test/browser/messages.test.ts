/** Messages in the window: a mail server and a gateway are set up and tried, and codes shown on this computer. */
import type { Browser } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { mailUser, startMailServer } from '../delivery/mail-server.ts';
import { sharedChromium, openWindow } from './support/chromium.ts';
import { axeFindings, tooWideFindings } from './support/inspect.ts';
import { newVaultHome, serveDevVault } from './support/service.ts';
import { button, chooseSegment, firstRun, goTo, heading } from './support/steps.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await sharedChromium();
});

test('a person sets up mail, tries it, and has codes shown', async () => {
  await using server = await startMailServer();
  using place = newVaultHome();
  await using service = await place.serve();
  await using person = await openWindow(browser);
  const { page } = person;
  const amiss: string[] = [];
  const look = async (screen: string): Promise<void> => {
    amiss.push(...(await axeFindings(page, screen)));
  };
  await page.goto(service.windowUrl);
  await firstRun(page);
  await goTo(page, 'Messages');
  await page.getByText('No mail server.').waitFor();
  await look('messages-empty');

  await button(page, 'Set up email…').click();
  const dialog = page.getByRole('dialog');
  await button(dialog, 'Save').click();
  await dialog.getByText('Enter the server name.').waitFor();
  const field = (name: string) => dialog.getByRole('textbox', { name });
  await field('Server').fill('127.0.0.1');
  await chooseSegment(page, 'Encryption', 'TLS from the start');
  await expect.poll(() => field('Port').inputValue()).toBe('465');
  await chooseSegment(page, 'Encryption', 'STARTTLS');
  await expect.poll(() => field('Port').inputValue()).toBe('587');
  await field('Port').fill(String(server.port));
  await field('User').fill(mailUser.user);
  await dialog.getByLabel('Password', { exact: true }).fill('the wrong one');
  await field('From').fill('vault@example.com');
  await field('Certificates').fill(server.certificate);
  await look('messages-mail');
  await button(dialog, 'Save').click();
  await dialog.waitFor({ state: 'hidden' });
  await page.getByText(`Through 127.0.0.1, port ${String(server.port)}, from vault@example.com.`).waitFor();

  await button(page, 'Send test by email…').click();
  await field('Address').fill('ada@example.com');
  await button(dialog, 'Send test').click();
  await dialog.getByRole('alert').filter({ hasText: 'refused user and password' }).waitFor();
  await button(dialog, 'Cancel').click();

  await button(page, 'Change email…').click();
  await dialog.getByLabel('Password', { exact: true }).fill(mailUser.password);
  await button(dialog, 'Save').click();
  await dialog.waitFor({ state: 'hidden' });
  await button(page, 'Send test by email…').click();
  await field('Address').fill('ada@example.com');
  await button(dialog, 'Send test').click();
  await dialog.getByText('Test sent').waitFor();
  expect(server.mails[0]?.subject).toBe('A test from Keyhearth');
  await button(dialog, 'Done').click();
  await button(page, 'Turn off email…').click();
  await button(dialog, 'Turn off').click();
  await page.getByText('No mail server.').waitFor();

  await button(page, 'Set up SMS…').click();
  await field('Headers').fill('no header');
  await button(dialog, 'Save').click();
  await dialog.getByText('Line 1 is not in the form Name: value.').waitFor();
  await field('Headers').fill('Content-Type: application/json');
  await field('Address').fill('http://sms.example.com/key');
  await button(dialog, 'Save').click();
  await dialog.getByRole('alert').filter({ hasText: 'Expected a URL that begins with https://' }).waitFor();
  await field('Address').fill('https://sms.example.com/key');
  await button(dialog, 'Save').click();
  await page.getByText('Through the gateway at https://sms.example.com.').waitFor();
  await button(page, 'Change SMS…').click();
  await chooseSegment(page, 'Type of gateway', 'Twilio');
  await look('messages-twilio');
  await button(dialog, 'Cancel').click();

  await page.getByRole('switch', { name: 'Show codes on this computer' }).press('Space');
  await page.getByText('Sign-in codes appear here').waitFor();
  await button(page, 'Show test').click();
  const shown = page.getByRole('list', { name: 'Messages on this computer' });
  await shown.getByText('TEST', { exact: true }).waitFor();
  await page.getByText('Code for this computer').waitFor();
  await shown.getByText('Full message').click();
  await shown.getByText('Messages from your key vault arrive here.').waitFor();
  await look('messages-shown');
  amiss.push(...(await tooWideFindings(page, 'messages-shown')));
  expect(amiss).toEqual([]);
  expect(service.stderr()).toBe('');
});

test('a vault for tests has an inbox, and nothing to set up', async () => {
  await using service = await serveDevVault();
  await using person = await openWindow(browser);
  const { page } = person;
  await page.goto(service.windowUrl);
  await goTo(page, 'Messages');
  await heading(page, 'Messages').waitFor();
  await page.getByText('This vault is for tests and sends nothing.').waitFor();
  expect(await button(page, 'Set up email…').count()).toBe(0);

  const otp = { otpType: 'OTP_TYPE_SMS', contact: '+15551234567', appName: 'Engine', alphanumeric: false };
  expect((await service.root.submit('init_otp', 'INIT_OTP_V3', otp)).status).toBe(200);
  const inbox = page.getByRole('list', { name: 'Messages on this computer' });
  await inbox.getByText('For +15551234567').waitFor();
  await inbox.getByText('Full message').click();
  await inbox.getByText(/^[0-9]{9} is your code for Engine\. It works once, for 5 minutes\.$/).waitFor();
  const log = page.getByRole('list', { name: 'Delivery log' });
  await log.getByText('Sent: kept in the inbox').waitFor();
  expect(await axeFindings(page, 'messages-inbox')).toEqual([]);
});
