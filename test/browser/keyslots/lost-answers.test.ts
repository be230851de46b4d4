/**
 * The service changes what opens the vault, and its answer is lost. The class: a person takes a change for one that was not done,
 * and keeps the wrong password or paper.
 */
import { expect, test } from 'vitest';
import { openWindow, sharedChromium } from '../support/chromium.ts';
import { newVaultHome } from '../support/service.ts';
import {
  askedPositions,
  button,
  firstRun,
  fromWordsToVault,
  goTo,
  heading,
  hold,
  leaveDialog,
  lock,
  loseAnswersTo,
  openDialog,
  password,
  readPhrase,
  wordField,
} from '../support/steps.ts';

const place = 'Unlock methods';
const another = 'another correct horse';

test('a password, a recovery phrase and a removal are said to be done', async () => {
  using home = newVaultHome();
  await using service = await home.serve();
  await using person = await openWindow(await sharedChromium());
  const { page } = person;
  await page.goto(service.windowUrl);
  await firstRun(page);
  await goTo(page, place);
  const find = await loseAnswersTo(page, 'changeKeyslots');

  await button(page, 'Change password').click();
  const changing = page.getByRole('dialog', { name: 'Change password' });
  await changing.getByRole('textbox', { name: 'New password' }).fill(another);
  await changing.getByRole('textbox', { name: 'Repeat password' }).fill(another);
  await changing.getByRole('textbox', { name: 'Current password' }).fill(password);
  await button(changing, 'Change password').click();
  await page.getByRole('alert').filter({ hasText: 'Password changed' }).waitFor();

  await page.getByRole('link', { name: 'Replace…' }).click();
  await button(page, 'Generate 24 words').click();
  await hold(button(page, 'Show my words'));
  const words = await readPhrase(page, 'New recovery phrase');
  for (const position of await askedPositions(page))
    await wordField(page, position).fill(words[position - 1] ?? '');
  await page.getByRole('textbox', { name: 'Current password' }).fill(another);
  await button(page, 'Start using these words').click();
  await page.getByText('Destroy the old paper.').waitFor();

  await goTo(page, place);
  const removing = await openDialog(page, 'Remove password', 'Remove password');
  await removing.getByText('Recovery phrase', { exact: true }).click();
  await removing.getByRole('textbox', { name: 'Current recovery phrase' }).fill(words.join(' '));
  await button(removing, 'Remove password').click();
  await page.getByRole('alert').filter({ hasText: 'Password removed' }).waitFor();
  await find();
  await lock(page);
  await page.getByRole('textbox', { name: 'Recovery phrase' }).fill(words.join(' '));
  await button(page, 'Unlock').click();
  await heading(page, place).waitFor();
});

test('a change is looked for until the service answers again', async () => {
  using home = newVaultHome();
  await using service = await home.serve();
  await using person = await openWindow(await sharedChromium());
  const { page } = person;
  await page.goto(service.windowUrl);
  await firstRun(page);
  await goTo(page, place);
  const adding = await openDialog(page, 'Add password…', 'Add password');
  await adding.getByRole('textbox', { name: 'New password' }).fill(another);
  await adding.getByRole('textbox', { name: 'Repeat password' }).fill(another);
  await adding.getByRole('textbox', { name: 'Current password' }).fill(password);
  let isCut = false;
  let looks = 0;
  await page.route('**/window/**', async (route) => {
    const isChange = route.request().url().endsWith('/changeKeyslots');
    isCut ||= isChange;
    if (!isCut) return route.fallback();
    if (isChange) await route.fetch();
    else looks += 1;
    return route.abort();
  });
  await button(adding, 'Add password').click();
  await heading(page, 'The Keyhearth service stopped').waitFor();
  await expect.poll(() => looks).toBeGreaterThan(12);
  await page.unrouteAll();
  await page.getByRole('alert').filter({ hasText: 'Password added' }).waitFor();
});

test('words are not shown any longer where the service may have others', async () => {
  using home = newVaultHome();
  await using service = await home.serve();
  await using person = await openWindow(await sharedChromium());
  const { page } = person;
  await page.goto(service.windowUrl);
  await button(page, 'Set up a vault').click();
  await button(page, 'Continue').click();
  await page.getByRole('textbox', { name: 'Password', exact: true }).fill(password);
  await page.getByRole('textbox', { name: 'Repeat password' }).fill(password);
  await button(page, 'Continue').click();
  await heading(page, 'Your recovery phrase').waitFor();
  const find = await loseAnswersTo(page, 'newRecoveryPhrase');
  await button(page, 'Generate 24 new words').click();
  const refusal = page.getByRole('alert');
  await refusal.filter({ hasText: 'Couldn’t generate the recovery phrase' }).waitFor();
  await find();
  await button(page, 'Continue').click();
  await fromWordsToVault(page);

  await goTo(page, place);
  await page.getByRole('link', { name: 'Replace…' }).click();
  await button(page, 'Generate 24 words').click();
  await button(page, 'Show my words').waitFor();
  await loseAnswersTo(page, 'newRecoveryPhrase');
  await button(page, 'Generate 24 new words').click();
  await refusal.filter({ hasText: 'Couldn’t generate the words' }).waitFor();
  expect(await button(page, 'Show my words').count()).toBe(0);
});

test('a phrase whose check has no answer is not said to be wrong', async () => {
  using home = newVaultHome();
  await using service = await home.serve();
  await using person = await openWindow(await sharedChromium());
  const { page } = person;
  await page.goto(service.windowUrl);
  const words = await firstRun(page);
  await goTo(page, place);
  const find = await loseAnswersTo(page, 'checkRecovery');
  const checking = await openDialog(page, 'Check recovery phrase', 'Check recovery phrase');
  await checking.getByRole('textbox', { name: 'Recovery phrase' }).fill(words.join(' '));
  await button(checking, 'Check').click();
  const refusal = page.getByRole('alert').filter({ hasText: 'isn’t responding' });
  expect(await refusal.innerText()).toContain('Couldn’t check the phrase');
  await find();
  await button(checking, 'Check').click();
  await checking.getByText('Correct: this phrase opens the vault.').waitFor();
  await leaveDialog(checking, 'Done');

  await page.getByRole('link', { name: 'Print…' }).click();
  await loseAnswersTo(page, 'checkRecovery');
  await page.getByRole('textbox', { name: 'Recovery phrase' }).fill(words.join(' '));
  await button(page, 'Continue').click();
  expect(await refusal.innerText()).toContain('Couldn’t check the phrase');
});
