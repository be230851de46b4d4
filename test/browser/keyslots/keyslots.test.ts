/** The ways to open the vault, in the window: every screen of them, and that their statements are true. */
import type { Browser, Locator, Page } from 'playwright-core';
import decodeQR from 'qr/decode.js';
import { beforeAll, describe, expect, test } from 'vitest';
import { sharedChromium, openWindow, takePicture } from '../support/chromium.ts';
import { inspectScreens } from '../support/inspect.ts';
import { readPng } from '../support/png.ts';
import { newVaultHome } from '../support/service.ts';
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
} from '../support/steps.ts';
import type { Look } from '../support/steps.ts';

const place = 'Unlock methods';
const changed = 'another correct horse';

let browser: Browser;

beforeAll(async () => {
  browser = await sharedChromium();
});

const proofField = (at: Page | Locator): Locator => at.getByRole('textbox', { name: 'Current password' });

const slots = (page: Page): Promise<string[]> =>
  page.getByRole('list', { name: 'Unlock methods in use' }).locator('.kh-row-name').allInnerTexts();

const told = (page: Page, title: string): Promise<void> =>
  page.getByRole('alert').filter({ hasText: title }).last().waitFor();

/** Unlocks by a password, or by a phrase or shares of it. @returns whether the vault opened. */
async function unlocks(page: Page, how: { password: string } | { recovery: string }): Promise<boolean> {
  await heading(page, 'Unlock').waitFor();
  const refusal = page.getByRole('alert').filter({ hasText: 'Couldn’t unlock the vault' });
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
  const adding = await openDialog(page, 'Add password…', 'Add password');
  await adding.getByRole('textbox', { name: 'New password' }).fill('short');
  await button(adding, 'Add password').click();
  await adding.getByText('The passwords don’t match.').waitFor();
  await adding.getByText('Enter the password.').waitFor();
  await look('keyslots-add-password-missing');
  await adding.getByRole('textbox', { name: 'New password' }).fill(changed);
  await adding.getByRole('textbox', { name: 'Repeat password' }).fill(changed);
  await proofField(adding).fill('not the password');
  await button(adding, 'Add password').click();
  await adding.getByRole('alert').filter({ hasText: 'The password does not open this vault.' }).waitFor();
  await look('keyslots-add-password-refused');
  await proofField(adding).fill(password);
  await button(adding, 'Add password').click();
  await told(page, 'Password added');
  await expect.poll(() => slots(page)).toEqual(['Recovery phrase', 'Password 1', 'Password 2']);

  const removing = await openDialog(page, 'Remove password 2', 'Remove password');
  await look('keyslots-remove');
  await proofField(removing).fill(password);
  await button(removing, 'Remove password').click();
  await told(page, 'Password removed');
  await expect.poll(() => slots(page)).toEqual(['Recovery phrase', 'Password']);

  const changing = await openDialog(page, 'Change password', 'Change password');
  await changing.getByRole('textbox', { name: 'New password' }).fill(changed);
  await changing.getByRole('textbox', { name: 'Repeat password' }).fill(changed);
  await chooseSegmentIn(changing, 'Confirm with', 'Recovery phrase');
  await changing.getByRole('textbox', { name: 'Current recovery phrase' }).fill('abandon');
  await button(changing, 'Change password').click();
  await changing.getByText('A recovery phrase has 24 words; you entered 1.').waitFor();
  await look('keyslots-change-password');
  await changing.getByRole('textbox', { name: 'Current recovery phrase' }).fill(words.join(' '));
  await button(changing, 'Change password').click();
  await told(page, 'Password changed');

  const checking = await openDialog(page, 'Check recovery phrase', 'Check recovery phrase');
  const phraseField = checking.getByRole('textbox', { name: 'Recovery phrase' });
  await phraseField.fill([...words].reverse().join(' '));
  await button(checking, 'Check').click();
  await checking.getByRole('alert').filter({ hasText: 'This phrase doesn’t open the vault' }).waitFor();
  await look('keyslots-check-wrong');
  await phraseField.fill(words.join(' '));
  await button(checking, 'Check').click();
  await checking.getByText('Correct: this phrase opens the vault.').waitFor();
  // Nothing of it is left to be read.
  await expect.poll(() => phraseField.inputValue()).toBe('');
  await look('keyslots-check-right');
  await leaveDialog(checking, 'Done');

  const rotating = await openDialog(page, 'Replace the master key…', 'Replace the master key');
  await rotating.getByRole('textbox', { name: 'Password', exact: true }).fill(changed);
  await button(rotating, 'Replace the master key').click();
  await rotating.getByText('Enter this secret, or allow its removal below.').waitFor();
  await look('keyslots-rotate');
  await rotating.getByRole('textbox', { name: 'Recovery phrase' }).fill(words.join(' '));
  await button(rotating, 'Replace the master key').click();
  await told(page, 'Master key replaced');
  await expect.poll(() => slots(page)).toEqual(['Recovery phrase', 'Password']);

  // New words take the place of the old ones.
  await page.getByRole('link', { name: 'Replace…' }).click();
  await heading(page, 'New recovery phrase').waitFor();
  await look('keyslots-new-phrase');
  await button(page, 'Generate 24 words').click();
  await button(page, 'Start using these words').waitFor();
  await button(page, 'Start using these words').click();
  await page.getByText('Show the words and write them down first.').waitFor();
  await look('keyslots-new-phrase-hidden');
  await hold(button(page, 'Show my words'));
  const drawn = await readPhrase(page, 'New recovery phrase');
  for (const position of await askedPositions(page)) {
    await wordField(page, position).fill(drawn[position - 1] ?? '');
  }
  await proofField(page).fill(changed);
  await look('keyslots-new-phrase-shown');
  await button(page, 'Start using these words').click();
  await page.getByText('Destroy the old paper').waitFor();
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
  await chooseSegment(page, 'Contents', 'Shares');
  await page.getByRole('textbox', { name: 'Shares needed' }).fill('9');
  await button(page, 'Create shares').click();
  await page.getByText('A number from 2 to 3.').waitFor();
  await look('recovery-sheet-shares');
  await page.getByRole('textbox', { name: 'Shares needed' }).fill('2');
  await button(page, 'Create shares').click();
  await page.getByText('3 shares are ready, one per page.').waitFor();
  await look('recovery-sheet-ready');
  // Ready for paper, and not to be seen.
  expect(await page.locator('.kh-paper-share:visible').count()).toBe(0);
  await hold(button(page, 'Show on screen'));
  await page.getByRole('region', { name: 'Recovery share 2 of 3' }).waitFor();
  await look('recovery-sheet-shown');
  return page.locator('.kh-paper-share:visible').allInnerTexts();
}

describe('every screen about unlock methods', () => {
  test('passes axe-core, in light and in dark, fits a narrow window, and does what it says', async () => {
    using home = newVaultHome();
    await using service = await home.serve();
    await using person = await openWindow(browser);
    const { page } = person;
    const { look, amiss: found } = inspectScreens(page);
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
  using home = newVaultHome();
  await using service = await home.serve();
  await using person = await openWindow(browser);
  const { page } = person;
  await page.goto(service.windowUrl);
  const words = await firstRun(page);
  await goTo(page, place);
  await page.getByRole('link', { name: 'Print…' }).click();
  await page.getByRole('textbox', { name: 'Recovery phrase' }).fill(words.join(' '));
  await button(page, 'Continue').click();
  await button(page, 'Create sheet').click();
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
