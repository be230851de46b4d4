/** The ways to open the vault, in the window: every screen of them, and that their statements are true. */
import type { Browser, Locator, Page } from 'playwright-core';
import decodeQR from 'qr/decode.js';
import { beforeAll, describe, expect, test } from 'vitest';
import { sharedChromium, openWindow, takePicture } from './support/chromium.ts';
import { axeFindings, tooWideFindings } from './support/inspect.ts';
import { readPng } from './support/png.ts';
import { newVaultPlace } from './support/service.ts';
import {
  askedPositions,
  button,
  chooseSegment,
  firstRun,
  goTo,
  heading,
  hold,
  leaveDialog,
  lock,
  openDialog,
  password,
  readPhrase,
  wordField,
} from './support/steps.ts';
import type { Look } from './support/steps.ts';

const place = 'Keys to the vault';
const changed = 'another correct horse';

let browser: Browser;

beforeAll(async () => {
  browser = await sharedChromium();
});

const proofField = (at: Page | Locator): Locator =>
  at.getByRole('textbox', { name: 'Password of the vault, as it is now' });

const slots = (page: Page): Promise<string[]> =>
  page.getByRole('list', { name: 'What opens the vault' }).locator('.kh-row-name').allInnerTexts();

const told = (page: Page, title: string): Promise<void> =>
  page.getByRole('alert').filter({ hasText: title }).last().waitFor();

/** Unlocks by a password, or by a phrase or shares of it. @returns whether the vault opened. */
async function unlocks(page: Page, how: { password: string } | { recovery: string }): Promise<boolean> {
  await heading(page, 'Unlock').waitFor();
  const refusal = page.getByRole('alert').filter({ hasText: 'The vault is still locked' });
  const [segment, other, field] =
    'password' in how
      ? ([
          'Password',
          'Recovery phrase',
          page.getByRole('textbox', { name: 'Password', exact: true }),
        ] as const)
      : (['Recovery phrase', 'Password', page.getByRole('textbox', { name: 'Recovery phrase' })] as const);
  // To change what it opens with takes away a refusal that was there before.
  await chooseSegment(page, 'Unlock with', other);
  await chooseSegment(page, 'Unlock with', segment);
  await refusal.waitFor({ state: 'hidden' });
  await field.fill('password' in how ? how.password : how.recovery);
  await button(page, 'Unlock').click();
  const inside = heading(page, /^(?!Unlock)/);
  await refusal.or(inside).first().waitFor();
  return inside.isVisible();
}

/** Goes through every screen and form, changes each thing once, and leaves the vault unlocked. */
async function tour(page: Page, words: readonly string[], look: Look): Promise<readonly string[]> {
  await goTo(page, place);
  await page.getByText('Recovery phrase', { exact: true }).waitFor();
  await look('keyslots');

  // A second password; refused at first for what is typed, then for what is shown.
  const adding = await openDialog(page, 'Add a password…', 'Add a password');
  await adding.getByRole('textbox', { name: 'New password' }).fill('short');
  await button(adding, 'Add the password').click();
  await adding.getByText('The two passwords differ.').waitFor();
  await adding.getByText('Type the password.').waitFor();
  await look('keyslots-add-password-missing');
  await adding.getByRole('textbox', { name: 'New password' }).fill(changed);
  await adding.getByRole('textbox', { name: 'The same password again' }).fill(changed);
  await proofField(adding).fill('not the password');
  await button(adding, 'Add the password').click();
  await adding.getByRole('alert').filter({ hasText: 'The password does not open this vault.' }).waitFor();
  await look('keyslots-add-password-refused');
  await proofField(adding).fill(password);
  await button(adding, 'Add the password').click();
  await told(page, 'The password is added');
  await expect.poll(() => slots(page)).toEqual(['Recovery phrase', 'Password 1', 'Password 2']);

  const removing = await openDialog(page, 'Remove the password 2', 'Remove the password');
  await look('keyslots-remove');
  await proofField(removing).fill(password);
  await button(removing, 'Remove the password').click();
  await told(page, 'The password is removed');
  await expect.poll(() => slots(page)).toEqual(['Recovery phrase', 'Password']);

  const changing = await openDialog(page, 'Change the password', 'Change the password');
  await changing.getByRole('textbox', { name: 'New password' }).fill(changed);
  await changing.getByRole('textbox', { name: 'The same password again' }).fill(changed);
  await chooseSegmentIn(changing, 'Show that it is you with', 'Recovery phrase');
  await changing.getByRole('textbox', { name: 'Recovery phrase, as it is now' }).fill('abandon');
  await button(changing, 'Change the password').click();
  await changing.getByText('A recovery phrase has 24 words; here are 1.').waitFor();
  await look('keyslots-change-password');
  await changing.getByRole('textbox', { name: 'Recovery phrase, as it is now' }).fill(words.join(' '));
  await button(changing, 'Change the password').click();
  await told(page, 'The password is changed');

  const checking = await openDialog(page, 'Check the recovery phrase', 'Check the recovery phrase');
  const phraseField = checking.getByRole('textbox', { name: 'Recovery phrase' });
  await phraseField.fill([...words].reverse().join(' '));
  await button(checking, 'Check').click();
  await checking.getByRole('alert').filter({ hasText: 'This does not open the vault' }).waitFor();
  await look('keyslots-check-wrong');
  await phraseField.fill(words.join(' '));
  await button(checking, 'Check').click();
  await checking.getByText('Right: this opens the vault.').waitFor();
  // Nothing of it is left to be read.
  await expect.poll(() => phraseField.inputValue()).toBe('');
  await look('keyslots-check-right');
  await leaveDialog(checking, 'Done');

  const rotating = await openDialog(page, 'New master key…', 'Draw a new master key');
  await rotating.getByRole('textbox', { name: 'Password', exact: true }).fill(changed);
  await button(rotating, 'Draw a new master key').click();
  await rotating.getByText('Type it, or say below that it may go.').waitFor();
  await look('keyslots-rotate');
  await rotating.getByRole('textbox', { name: 'Recovery phrase' }).fill(words.join(' '));
  await button(rotating, 'Draw a new master key').click();
  await told(page, 'The vault has a new master key');
  await expect.poll(() => slots(page)).toEqual(['Recovery phrase', 'Password']);

  // New words take the place of the old ones.
  await page.getByRole('link', { name: 'Replace…' }).click();
  await heading(page, 'New recovery phrase').waitFor();
  await look('keyslots-new-phrase');
  await button(page, 'Draw 24 words').click();
  await button(page, 'Take the words into use').waitFor();
  await button(page, 'Take the words into use').click();
  await page.getByText('Show the words first and write them down.').waitFor();
  await look('keyslots-new-phrase-hidden');
  await hold(button(page, 'Show my words'));
  const drawn = await readPhrase(page, 'New recovery phrase');
  for (const position of await askedPositions(page)) {
    await wordField(page, position).fill(drawn[position - 1] ?? '');
  }
  await proofField(page).fill(changed);
  await look('keyslots-new-phrase-shown');
  await button(page, 'Take the words into use').click();
  await page.getByText('destroy the old paper').waitFor();
  await look('keyslots-new-phrase-done');
  return drawn;
}

async function chooseSegmentIn(at: Locator, control: string, segment: string): Promise<void> {
  await at.getByRole('radiogroup', { name: control }).locator('label').filter({ hasText: segment }).click();
}

/** The sheet of the whole phrase, and shares. @returns the shares. */
async function sheets(page: Page, words: readonly string[], look: Look): Promise<readonly string[]> {
  await goTo(page, place);
  await page.getByRole('link', { name: 'Print…' }).click();
  await heading(page, 'Recovery sheet').waitFor();
  await page.getByRole('textbox', { name: 'Recovery phrase' }).fill('abandon '.repeat(23).concat('art'));
  await button(page, 'Continue').click();
  await page
    .getByRole('alert')
    .filter({ hasText: 'The recovery phrase does not open this vault.' })
    .waitFor();
  await look('recovery-sheet-refused');
  await page.getByRole('textbox', { name: 'Recovery phrase' }).fill(words.join(' '));
  await button(page, 'Continue').click();
  await chooseSegment(page, 'What is on the paper', 'Shares of it');
  await page.getByRole('textbox', { name: 'Needed to open the vault' }).fill('9');
  await button(page, 'Make the shares').click();
  await page.getByText('A number from 2 to 3.').waitFor();
  await look('recovery-sheet-shares');
  await page.getByRole('textbox', { name: 'Needed to open the vault' }).fill('2');
  await button(page, 'Make the shares').click();
  await page.getByText('3 shares are ready, a page each.').waitFor();
  await look('recovery-sheet-ready');
  // Ready for paper, and not to be seen.
  expect(await page.locator('.kh-paper-share:visible').count()).toBe(0);
  await hold(button(page, 'Show on the screen'));
  await page.getByRole('region', { name: 'Recovery share 2 of 3' }).waitFor();
  await look('recovery-sheet-shown');
  return page.locator('.kh-paper-share:visible').allInnerTexts();
}

describe('every screen about the keys to the vault', () => {
  test('passes axe-core, in light and in dark, fits a narrow window, and does what it says', async () => {
    using home = newVaultPlace();
    await using service = await home.serve();
    await using person = await openWindow(browser);
    const { page } = person;
    const found: string[] = [];
    const look: Look = async (screen) => {
      found.push(...(await axeFindings(page, screen)), ...(await tooWideFindings(page, screen)));
      await takePicture(page, screen);
    };
    await page.goto(service.windowUrl);
    const words = await firstRun(page);
    const drawn = await tour(page, words, look);
    const shares = await sheets(page, drawn, look);
    expect(found).toEqual([]);
    expect(shares).toHaveLength(3);

    await lock(page);
    await expect.poll(() => page.locator('body').innerHTML()).not.toContain(drawn.slice(0, 3).join(' '));
    await expect.poll(() => page.locator('.kh-papers').count()).toBe(0);
    expect(await unlocks(page, { password })).toBe(false);
    expect(await unlocks(page, { recovery: words.join(' ') })).toBe(false);
    expect(await unlocks(page, { recovery: shares.slice(1).join('\n') })).toBe(true);
    await lock(page);
    expect(await unlocks(page, { recovery: `1: ${shares[2] ?? ''}` })).toBe(false);
    expect(await unlocks(page, { password: changed })).toBe(true);
    await lock(page);
    expect(await unlocks(page, { recovery: drawn.join(' ') })).toBe(true);
    expect(person.violations).toEqual([]);
    expect(person.complaints).toEqual([]);
  });
});

test('a sheet on paper is the sheet alone, and its QR code says the words', async () => {
  using home = newVaultPlace();
  await using service = await home.serve();
  await using person = await openWindow(browser);
  const { page } = person;
  await page.goto(service.windowUrl);
  const words = await firstRun(page);
  await goTo(page, place);
  await page.getByRole('link', { name: 'Print…' }).click();
  await page.getByRole('textbox', { name: 'Recovery phrase' }).fill(words.join(' '));
  await button(page, 'Continue').click();
  await button(page, 'Make the sheet').click();
  await page.getByText('The sheet is ready.').waitFor();
  await page.emulateMedia({ media: 'print' });
  const paper = page.locator('.kh-papers');
  await paper.waitFor();
  expect(await page.locator('.kh-shell').isVisible()).toBe(false);
  const text = await paper.innerText();
  for (const [index, word] of words.entries()) {
    expect(text).toMatch(new RegExp(`\\b${String(index + 1)}\\s+${word}\\b`));
  }
  for (const part of ['Family', 'Vault', 'On a new computer']) expect(text).toContain(part);
  const { data, width, height } = readPng(await paper.getByRole('img').screenshot());
  expect(decodeQR({ data, width, height })).toBe(words.join(' '));
  await takePicture(page, 'recovery-sheet-paper');
});
