/** Settings, About and what is secret on the screen, in a real Chromium against the real service. */
import { homedir } from 'node:os';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sharedChromium, openWindow, takePicture } from './support/chromium.ts';
import type { BrowserWindow } from './support/chromium.ts';
import { axeFindings, tooWideFindings } from './support/inspect.ts';
import { newVaultHome } from './support/service.ts';
import type { Service, VaultHome } from './support/service.ts';
import {
  button,
  exportFrom,
  firstRun,
  goTo,
  heading,
  hold,
  makeWallet,
  openDialog,
  pairsIn,
  password,
  readPhrase,
} from './support/steps.ts';

let browser: Browser;
let place: VaultHome;
let service: Service;
let person: BrowserWindow;
let page: Page;
let phrase: readonly string[];

beforeAll(async () => {
  browser = await sharedChromium();
  place = newVaultHome();
  service = await place.serve();
  person = await openWindow(browser);
  ({ page } = person);
  // The page's clock is moved, so the test does not wait half a minute.
  await page.clock.install();
  await page.goto(service.windowUrl);
  phrase = await firstRun(page);
});

afterAll(async () => {
  await person[Symbol.asyncDispose]();
  await service.stop();
  place[Symbol.dispose]();
});

const toast = (text: string) => page.getByRole('alert').filter({ hasText: text });
const clipboard = () => page.evaluate(() => navigator.clipboard.readText());

describe('settings', () => {
  test('the network is switched off, and on again by taking it back', async () => {
    await goTo(page, 'Settings');
    await heading(page, 'Settings').waitFor();
    await page.getByText('2 unlock methods').waitFor();
    const network = page.getByRole('switch', { name: 'Allow outgoing connections' });
    await expect.poll(() => network.isChecked()).toBe(true);
    await takePicture(page, 'settings');
    expect(await axeFindings(page, 'settings')).toEqual([]);
    await network.click();
    await page.getByText('Email, SMS, webhooks and update checks wait').waitFor();
    expect(await network.isChecked()).toBe(false);
    await toast('Network turned off').getByRole('button', { name: 'Undo' }).click();
    await toast('Undone').waitFor();
    await expect.poll(() => network.isChecked()).toBe(true);
  });

  test('the port is one that a user can have, and is used at the next start', async () => {
    const port = page.getByRole('textbox', { name: 'Port' });
    await port.fill('80');
    await button(page, 'Save port').click();
    await page.getByText('A number from 1024 to 65535.').waitFor();
    await port.fill('17377');
    await button(page, 'Save port').click();
    await toast('Port changed').waitFor();
    expect(await port.inputValue()).toBe('17377');
  });

  test('limits are as many times the usual ones as is said, and are put back', async () => {
    await page.getByText('100 users, 100 wallets').waitFor();
    const times = page.getByRole('textbox', { name: 'Multiplier' });
    await times.fill('101');
    await button(page, 'Save limits').click();
    await page.getByText('Enter a number from 1 to 100.', { exact: true }).waitFor();
    await times.fill('3');
    await button(page, 'Save limits').click();
    await page.getByText('300 users, 300 wallets').waitFor();
    await toast('Limits changed').waitFor();
    // A change by a command meanwhile stays.
    await place.changeSetting('network', 'off');
    await toast('Limits changed').getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => times.inputValue()).toBe('1');
    expect(await page.getByRole('switch', { name: 'Allow outgoing connections' }).isChecked()).toBe(false);
    await place.changeSetting('network', 'on');
  });

  test('auto-lock is set, and switched off', async () => {
    const after = page.getByRole('combobox', { name: 'Lock the vault' });
    expect(await after.inputValue()).toBe('10');
    await after.selectOption('120');
    await toast('The vault locks after 2 hours without use.').waitFor();
    await after.selectOption('never');
    await toast('The vault stays open until you lock it').waitFor();
  });

  test('fits a narrow window', async () => {
    await page.setViewportSize({ width: 360, height: 720 });
    expect(await tooWideFindings(page, 'settings')).toEqual([]);
    await takePicture(page, 'settings-narrow');
    await page.setViewportSize({ width: 1280, height: 800 });
  });
});

describe('about', () => {
  test('tells what runs here, and what the self-test finds', async () => {
    await goTo(page, 'Settings');
    await page.getByRole('link', { name: 'About' }).click();
    await heading(page, 'About').waitFor();
    await page.getByText('Node.js').waitFor();
    await button(page, 'Run self-test').click();
    await page.getByText('All checks passed.').waitFor();
    const lines = await page.getByRole('list', { name: 'Self-test' }).getByRole('listitem').allInnerTexts();
    const told = lines.map((line) => line.replaceAll(/\s+/g, ' '));
    expect(told).toEqual([
      expect.stringMatching(/^OK Cryptography the known answers are right$/),
      expect.stringMatching(/^OK Vault rows each is as Keyhearth wrote it/),
      expect.stringMatching(/^OK Activity log an unbroken chain of \d+ entries/),
      expect.stringMatching(/^Note Keychain it is switched off/),
      expect.stringMatching(/^(OK|Note) Disk it can be written/),
      expect.stringMatching(/^(OK|Note) Clock /),
    ]);
    await takePicture(page, 'about');
    expect(await axeFindings(page, 'about')).toEqual([]);
  });

  test('shows the diagnostics before they are copied, without names', async () => {
    await button(page, 'Show diagnostics').click();
    const text = await page.getByRole('region', { name: 'Diagnostics' }).innerText();
    expect(text).toMatch(/^Keyhearth \d+\.\d+\.\d+, built from /);
    expect(text).toMatch(/^Vault: unlocked, schema \d+, opens with /m);
    expect(text).toMatch(/^ {2}ok {5}rows: each is as Keyhearth wrote it/m);
    expect(text).toMatch(/^\S+ info {2}The vault is unlocked$/m);
    expect(text).not.toContain(homedir());
    await button(page, 'Copy diagnostics').click();
    await expect.poll(clipboard).toBe(text);
    expect(await axeFindings(page, 'diagnostics')).toEqual([]);
  });

  test('has the license of everything that is shipped', async () => {
    await button(page, 'Show licenses').click();
    const list = page.getByRole('list', { name: 'Licenses' });
    // In the window's bundle, in the service's, and beside them.
    for (const name of ['@mantine/core', 'nodemailer', 'better-sqlite3', '@scalar/api-reference']) {
      await page.getByRole('textbox', { name: 'Find a package' }).fill(name);
      await list.getByText(name, { exact: true }).first().waitFor();
    }
    await page.getByRole('textbox', { name: 'Find a package' }).fill('better-sqlite3');
    await list.locator('summary').first().click();
    await list.getByText('Permission is hereby granted').waitFor();
    expect(await axeFindings(page, 'licenses')).toEqual([]);
  });
});

describe('a seed phrase', () => {
  test('is not exported with a wrong password, nor without one', async () => {
    await goTo(page, 'Wallets');
    await makeWallet(page, 'Savings', ['Ethereum']);
    const dialog = await openDialog(page, 'Export…', 'Export wallet');
    await button(dialog, 'Export seed phrase').click();
    await dialog.getByText('Enter the password.').waitFor();
    await dialog.getByRole('textbox', { name: /^Current password/ }).fill('incorrect horse');
    await button(dialog, 'Export seed phrase').click();
    await dialog.getByText('The password does not open this vault.').waitFor();
    await takePicture(page, 'export-refused');
    await exportFrom(dialog, 'Export seed phrase');
    await button(dialog, 'Show my words').waitFor();
  });

  test('is shown while its button is held, or pressed twice, and not by one press', async () => {
    const dialog = page.getByRole('dialog');
    const words = dialog.getByRole('list', { name: 'Seed phrase' });
    await button(dialog, 'Show my words').click();
    await dialog.getByText('Press again to show, or hold for a moment.').waitFor();
    expect(await words.count()).toBe(0);
    await button(dialog, 'Show my words').click();
    expect(await readPhrase(page, 'Seed phrase')).toHaveLength(12);
    await button(dialog, 'Hide').click();
    await hold(button(dialog, 'Show my words'));
    expect(await readPhrase(page, 'Seed phrase')).toHaveLength(12);
  });

  test('is hidden when the window loses the focus, and after two minutes unless one asks for longer', async () => {
    const dialog = page.getByRole('dialog');
    await page.evaluate(() => window.dispatchEvent(new Event('blur')));
    // No time passes meanwhile but what is said here, or it might be over too soon.
    await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 60_000);
    await button(dialog, 'Show my words').click();
    await button(dialog, 'Show my words').click();
    await button(dialog, 'Hide').waitFor();
    await page.clock.fastForward(112_000);
    await dialog.getByText(/^Hides in \d seconds?\.$/).waitFor();
    await button(dialog, 'Show longer').click();
    await page.clock.fastForward(60_000);
    expect(await readPhrase(page, 'Seed phrase')).toHaveLength(12);
    await page.clock.fastForward(61_000);
    await button(dialog, 'Show my words').waitFor();
    await page.clock.resume();
  });

  test('is taken off the clipboard after half a minute', async () => {
    const dialog = page.getByRole('dialog');
    await hold(button(dialog, 'Show my words'));
    await button(dialog, 'Copy…').click();
    await button(dialog, 'Copy anyway').click();
    await expect.poll(async () => (await clipboard()).split(' ').length).toBe(12);
    await page.clock.fastForward(31_000);
    await expect.poll(clipboard).toBe('');
    // Content from another program stays.
    await button(dialog, 'Copy anyway').click();
    await expect.poll(async () => (await clipboard()).split(' ').length).toBe(12);
    await page.evaluate(() => navigator.clipboard.writeText('something else'));
    await page.clock.fastForward(31_000);
    expect(await clipboard()).toBe('something else');
    // A browser that lets a page write at a person's gesture alone: with the next one.
    await button(dialog, 'Copy anyway').click();
    await expect.poll(async () => (await clipboard()).split(' ').length).toBe(12);
    await page.evaluate(() => {
      const write = navigator.clipboard.writeText.bind(navigator.clipboard);
      navigator.clipboard.writeText = () => Promise.reject(new DOMException('no gesture', 'NotAllowedError'));
      const allow = () => (navigator.clipboard.writeText = write);
      window.addEventListener('pointerdown', allow, { capture: true, once: true });
    });
    await page.clock.fastForward(31_000);
    expect((await clipboard()).split(' ').length).toBe(12);
    await dialog.getByRole('heading').first().click();
    await expect.poll(clipboard).toBe('');
    // Also where the page is loaded again meanwhile.
    await button(dialog, 'Copy anyway').click();
    await expect.poll(async () => (await clipboard()).split(' ').length).toBe(12);
    await page.reload();
    await page.getByRole('navigation').first().waitFor();
    await page.clock.fastForward(31_000);
    await expect.poll(clipboard).toBe('');
  });
});

describe('the recovery sheet', () => {
  test('has the words and a code of them on paper, and neither on the screen until it is held', async () => {
    await goTo(page, 'Unlock methods');
    await page.getByRole('link', { name: 'Print…' }).click();
    await page.getByRole('textbox', { name: 'Recovery phrase' }).fill(phrase.join(' '));
    await button(page, 'Continue').click();
    await button(page, 'Create sheet').click();
    await button(page, 'Print').waitFor();
    const pairs = async () => pairsIn(phrase, await page.getByRole('main').innerText()).length;
    expect(await pairs()).toBe(0);
    await hold(button(page, 'Show on screen'));
    await expect.poll(pairs).toBe(23);
    await page.clock.fastForward(31_000);
    await expect.poll(pairs).toBe(0);
    await page.emulateMedia({ media: 'print' });
    const paper = page.getByRole('region', { name: 'Recovery phrase' });
    const printed = (await paper.innerText()).split(/\s+/);
    for (const word of phrase) expect(printed).toContain(word);
    expect(await paper.getByRole('img', { name: 'QR code: Recovery phrase' }).isVisible()).toBe(true);
    await takePicture(page, 'recovery-sheet-print');
    await page.emulateMedia({ media: 'screen' });
  });

  test('nothing was against the page’s policy, and nothing complained', () => {
    expect(person.violations).toEqual([]);
    expect(person.complaints).toEqual([]);
    expect(service.stderr()).toBe('');
    expect(password).not.toBe('');
  });
});
