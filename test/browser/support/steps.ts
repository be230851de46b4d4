/** A person's way through the window: by what is written on the screen, as they would find it. */
import type { Locator, Page } from 'playwright-core';
import { stepUpRequired } from '../../../preload/contract.ts';

export const password = 'correct horse battery staple';

/** Tells a test that a screen is complete, before the person goes on. */
export type Look = (screen: string) => Promise<void>;

const nowhere: Look = () => Promise.resolve();

export const heading = (page: Page, name: string | RegExp): Locator =>
  page.getByRole('heading', { level: 1, name });
export const button = (place: Page | Locator, name: string | RegExp): Locator =>
  place.getByRole('button', { name });

/** Holds a button until it acts, however long that takes: what it shows takes its place. */
export async function hold(target: Locator): Promise<void> {
  const { mouse } = target.page();
  const held = target.page().locator('[data-holding]');
  // The window may still follow its size when the pointer comes. A press that meets nothing is repeated.
  for (;;) {
    await target.hover();
    await mouse.down();
    if ((await target.and(held).count()) > 0 || (await target.count()) === 0) break;
    await mouse.up();
  }
  await target.waitFor({ state: 'detached' });
  await mouse.up();
}

/** The first run from its first screen into the vault. @returns the 24 words. */
export async function firstRun(page: Page, look: Look = nowhere): Promise<readonly string[]> {
  const words = await firstRunToEnd(page, look);
  await openVault(page);
  return words;
}

/** The first run from its first screen to its last. @returns the 24 words. */
export async function firstRunToEnd(page: Page, look: Look = nowhere): Promise<readonly string[]> {
  await heading(page, 'A vault for your keys').waitFor();
  await look('first-run-welcome');
  await button(page, 'Set up a vault').click();

  await heading(page, 'Names').waitFor();
  await page.getByRole('textbox', { name: 'Vault' }).fill('');
  await page.getByRole('textbox', { name: 'Email' }).fill('not an address');
  await button(page, 'Continue').click();
  await page.getByText('Enter a name for the vault.').waitFor();
  await look('first-run-names-refused');
  await page.getByRole('textbox', { name: 'Vault' }).fill('Family');
  await page.getByRole('textbox', { name: 'You' }).fill('Ada');
  await page.getByRole('textbox', { name: 'Email' }).fill('ada@example.org');
  await look('first-run-names');
  await button(page, 'Continue').click();

  await choosePassword(page, look);
  return fromWordsToEnd(page, look);
}

async function choosePassword(page: Page, look: Look): Promise<void> {
  await heading(page, 'Unlock methods').waitFor();
  await look('first-run-opening');
  await page.getByRole('textbox', { name: 'Password', exact: true }).fill('short');
  await page.getByRole('textbox', { name: 'Repeat password' }).fill('shorter');
  await button(page, 'Continue').click();
  await page.getByText('The passwords don’t match.').waitFor();
  // Said in one place, or this finds two.
  await page.getByText('Add at least 3 characters.').waitFor();
  await look('first-run-opening-refused');
  await page.getByRole('textbox', { name: 'Password', exact: true }).fill(password);
  await page.getByRole('textbox', { name: 'Repeat password' }).fill(password);
  await look('first-run-opening-filled');
  await button(page, 'Continue').click();
}

/**
 * The end of the first run: the words are generated, written down and typed back.
 * @returns the 24 words.
 */
export async function fromWordsToVault(page: Page, look: Look = nowhere): Promise<readonly string[]> {
  const words = await fromWordsToEnd(page, look);
  await openVault(page);
  return words;
}

async function openVault(page: Page): Promise<void> {
  await button(page, 'Open the vault').click();
  await heading(page, 'Home').waitFor();
  await confirmWhenAsked(page);
}

async function fromWordsToEnd(page: Page, look: Look): Promise<readonly string[]> {
  await heading(page, 'Your recovery phrase').waitFor();
  await look('first-run-phrase-hidden');
  await hold(button(page, 'Show my words'));
  await look('first-run-phrase');
  await button(page, 'Copy…').click();
  await look('first-run-phrase-copying');
  const words = await readPhrase(page);
  await button(page, 'I wrote them down').click();

  await heading(page, 'Check the words').waitFor();
  const asked = await askedPositions(page);
  for (const position of asked) await wordField(page, position).fill('zebra');
  await button(page, 'Create the vault').click();
  await page.getByText('on your paper again').first().waitFor();
  await look('first-run-check-refused');
  for (const position of asked) await wordField(page, position).fill(words[position - 1] ?? '');
  await look('first-run-check');
  await button(page, 'Create the vault').click();

  await heading(page, 'Your vault is ready').waitFor();
  await look('first-run-done');
  return words;
}

/** The words on the sheet, in the order of their numbers. */
export async function readPhrase(page: Page, label = 'Recovery phrase'): Promise<readonly string[]> {
  const list = page.getByRole('list', { name: label }).getByRole('listitem');
  await list.first().waitFor();
  const items = await list.allInnerTexts();
  const numbered = items.map((text) => /^(\d+)\s+([a-z]+)$/.exec(text.trim()));
  return numbered.map((match, index) => {
    if (match?.[1] !== String(index + 1))
      throw new Error(`word ${index + 1} is shown as ${String(items[index])}`);
    return match[2] ?? '';
  });
}

/**
 * Neighbours of a phrase that a text has side by side, whatever stands between them but letters. A word alone may be one of the
 * window's own.
 */
export function pairsIn(words: readonly string[], text: string): readonly string[] {
  return words
    .slice(1)
    .map((word, index) => `${words[index] ?? ''} ${word}`)
    .filter((pair) => new RegExp(`(?<![a-z])${pair.replace(' ', '[^a-z]+')}(?![a-z])`, 'i').test(text));
}

/** The positions of the words that are asked for, in the order of their fields. */
export async function askedPositions(page: Page): Promise<readonly number[]> {
  const labels = page.locator('label').filter({ hasText: /^Word \d+/ });
  await labels.first().waitFor();
  return (await labels.allInnerTexts()).map((label) => Number(/\d+/.exec(label)?.[0]));
}

export const wordField = (page: Page, position: number): Locator =>
  page.getByRole('textbox', { name: `Word ${String(position)}`, exact: true });

/** Goes to a place by the menu of the vault, which a narrow window keeps behind a button. */
export async function goTo(page: Page, place: string): Promise<void> {
  // A place may say how much waits there.
  const name = new RegExp(`^${place}( ?\\d.*)?$`);
  const link = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name });
  await openMenu(page, link);
  await link.click();
  await heading(page, place).waitFor();
}

/** Opens the menu where the window is narrow, unless it is open. @param inside something that is in it. */
async function openMenu(page: Page, inside: Locator): Promise<void> {
  const menu = button(page, 'Menu');
  await menu.or(inside).filter({ visible: true }).first().waitFor();
  if (!(await inside.isVisible())) await menu.click();
}

/** Makes a wallet from the list of wallets. */
export async function makeWallet(page: Page, name: string, chains: readonly string[]): Promise<void> {
  await page.getByRole('link', { name: 'Create wallet' }).first().click();
  await heading(page, 'Create wallet').waitFor();
  await page.getByRole('textbox', { name: 'Name' }).fill(name);
  for (const chain of ['Ethereum', 'Bitcoin', 'Solana']) {
    await page.getByRole('checkbox', { name: chain }).setChecked(chains.includes(chain));
  }
  await button(page, 'Create wallet').click();
  await heading(page, name).waitFor();
}

/** The addresses of the wallet on the screen, by the name of their chain. */
export async function readAddresses(page: Page, list = 'Accounts'): Promise<readonly string[]> {
  const addresses = page.getByRole('list', { name: list }).locator('.kh-grouped');
  await addresses.first().waitFor();
  return addresses.allInnerTexts();
}

/** Picks an option of a select by its words. */
export async function choose(page: Page, label: string, option: string | RegExp): Promise<void> {
  await page.getByRole('combobox', { name: label }).click();
  await page.getByRole('option', { name: option }).click();
}

/** A segment of a segmented control is a radio that its label covers. */
export async function chooseSegment(page: Page, control: string, segment: string): Promise<void> {
  await page.getByRole('radiogroup', { name: control }).locator('label').filter({ hasText: segment }).click();
}

/** Reads the signature's panel, by the names of its rows. */
export async function readFacts(place: Locator): Promise<ReadonlyMap<string, string>> {
  await place.locator('dl > div').first().waitFor();
  const rows = await place.locator('dl > div').all();
  return new Map(
    await Promise.all(
      rows.map(
        async (row) =>
          [
            (await row.locator('dt').innerText()).trim(),
            (await row.locator('dd').innerText()).trim(),
          ] as const,
      ),
    ),
  );
}

export async function lock(page: Page): Promise<void> {
  await openMenu(page, button(page, 'Lock'));
  await button(page, 'Lock').click();
  await heading(page, 'Unlock').waitFor();
}

/** The words that developers' tools use for a chain of their own, and what follows from them. */
export const knownWallet = {
  phrase: 'test test test test test test test test test test test junk',
  ethereum: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  ethereumKey: 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
};

/** Opens a dialog by its button. */
export async function openDialog(page: Page, name: string, title: string): Promise<Locator> {
  await button(page, name).click();
  const dialog = page.getByRole('dialog', { name: title });
  await dialog.waitFor();
  return dialog;
}

/**
 * Shows to be the owner, and has a secret exported.
 * @param phrase Of a vault that no password opens: `keyhearth dev`.
 */
export async function exportFrom(dialog: Locator, name: string, phrase?: string): Promise<void> {
  const [field, secret] =
    phrase === undefined ? ['Current password', password] : ['Current recovery phrase', phrase];
  await dialog.getByRole('textbox', { name: field }).fill(secret);
  await button(dialog, name).click();
}

/**
 * Shows to be the owner from here on, whenever the window asks before it adds a way to sign in: how long ago the vault was
 * opened is a matter of how fast the machine is.
 * @param phrase As for `exportFrom`.
 */
export async function confirmWhenAsked(page: Page, phrase?: string): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Confirm it’s you' });
  await page.addLocatorHandler(dialog, () => exportFrom(dialog, 'Confirm', phrase));
}

/** Shuts a dialog by one of its buttons, and waits until it is gone. */
export async function leaveDialog(dialog: Locator, name: string): Promise<void> {
  await button(dialog, name).click();
  await dialog.waitFor({ state: 'hidden' });
}

/** Milliseconds in which a vote can be taken back, as the window says. */
const heldFor = 10_000;

/** Lets the time pass after which a vote is sent. The page's clock is installed: `page.clock.install()`. */
export async function sendVote(page: Page): Promise<void> {
  const offer = page.getByText('Your vote is sent in ten seconds.').last();
  await offer.waitFor();
  await page.clock.fastForward(heldFor);
  // The next vote has an offer of its own.
  await offer.waitFor({ state: 'hidden' });
}

/**
 * From now on the service does what this type of request asks, and its answers are lost. One that only asks for the owner's secret
 * comes: nothing is done yet. @returns what ends that.
 */
export async function loseAnswers(page: Page, type: string): Promise<() => Promise<void>> {
  const where = '**/window/**';
  await page.route(where, async (route) => {
    if (route.request().postData()?.includes(type) !== true) return route.fallback();
    const response = await route.fetch();
    return (await response.text()).includes(stepUpRequired) ? route.fulfill({ response }) : route.abort();
  });
  return () => page.unroute(where);
}

/** As `loseAnswers`, for all calls of a name. */
export async function loseAnswersTo(page: Page, call: string): Promise<() => Promise<void>> {
  const where = `**/window/${call}`;
  await page.route(where, async (route) => {
    await route.fetch();
    return route.abort();
  });
  return () => page.unroute(where);
}
