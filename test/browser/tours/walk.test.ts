/**
 * A walk to every address, into everything that opens over one, and to all screens outside of the vault, as a
 * person does with a screen reader and no mouse. It uses the pseudo-locale, so that text without a
 * translation is found too.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { pseudoText } from '../../../renderer/app/i18n/pseudo-locale.ts';
import { sharedChromium, openWindow } from '../support/chromium.ts';
import { tooWideFindings, untranslated, visit } from '../support/inspect.ts';
import { addressesOf, furnish, patterns } from '../support/places.ts';
import { newVaultHome, serveDevVault } from '../support/service.ts';
import {
  button,
  firstRun,
  goTo,
  heading,
  hold,
  lock,
  makeWallet,
  openDialog,
  password,
} from '../support/steps.ts';
import { arrival, idsInSight, openers, outOfOrder, throughDialog, unseenFocus } from '../support/walk.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await sharedChromium();
});

const speakPseudo = (): void => {
  localStorage.setItem('keyhearth.language', 'en-XA');
};

test('every place says where one is, leads through itself as one reads it, and opens and shuts what lies over it', async () => {
  await using service = await serveDevVault();
  let named = 0;
  const values = await furnish(service, () => `Όνομα ${String((named += 1))}`);
  const others = { keyslotId: '00000000-0000-4000-8000-000000000000', template: 'two-approvals' };
  await using person = await openWindow(browser, { locale: 'en-US' });
  const { page } = person;
  await person.context.addInitScript(speakPseudo);
  await page.goto(service.windowUrl);
  await page.locator('h1', { hasText: '⟦' }).waitFor();

  const found: string[] = [];
  /** Elements of every screen are walked through once. */
  const gone = new Set<string>();
  for (const pattern of patterns) {
    for (const address of addressesOf(pattern, { ...others, ...values })) {
      const tell = (what: string, more: readonly string[]): void => {
        for (const each of more) found.push(`${address}, ${what}: ${each}`);
      };
      await visit(page, address);
      tell('on arrival', await arrival(page));
      tell('ids', await page.evaluate(idsInSight));
      const isCovered = (await page.getByRole('dialog').count()) > 0;
      if (isCovered) {
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'hidden' });
        continue;
      }
      tell('order', await page.evaluate(outOfOrder));
      for (const opener of await openers(page).all()) {
        const name = await opener.evaluate((each) => each.getAttribute('aria-label') ?? each.textContent);
        const isShell = await opener.evaluate((each) => each.closest('aside') !== null);
        const key = `${isShell ? '' : pattern} ${name.replaceAll(/[\dΑ-ώ]+/g, '')}`;
        if (gone.has(key)) continue;
        gone.add(key);
        // A row is laid out again when there is less room, and its dialog closes.
        const isRow = await opener.evaluate((each) => each.closest('.kh-long') !== null);
        const look = async (): Promise<readonly string[]> => [
          ...(await page.evaluate(untranslated)),
          ...(await page.evaluate(idsInSight)),
          ...(isRow ? [] : await tooWideFindings(page, name)),
        ];
        tell(name, await throughDialog(page, opener, look));
      }
      // After a key, what a script focuses looks as what Tab leads to.
      await page.keyboard.press('Tab');
      tell('focus', await page.evaluate(unseenFocus));
    }
  }
  expect(found).toEqual([]);
  expect(gone.size).toBeGreaterThan(25);
  expect(person.complaints).toEqual([]);
});

test('whatever opens a dialog says so, or the walk would miss it', () => {
  const source = join(import.meta.dirname, '../../../renderer');
  const silent = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.tsx'))
    .filter((file) => {
      const text = readFileSync(join(source, file), 'utf8');
      return /<(Modal|Dialog)\b/.test(text) && !text.includes('aria-haspopup="dialog"');
    })
    .sort();
  // Buttons of `search-and-shortcuts.tsx` and `freeze.tsx` open the palette and the freeze. A key opens the list of shortcuts, and so does
  // the palette. The confirmation of a policy, the step-up and the question for typed text appear after an action that needs them.
  expect(silent).toEqual([
    'app/shell/palette.tsx',
    'app/shell/shortcuts.tsx',
    'features/policies/policy-form.tsx',
    'features/unlock/freeze-dialog.tsx',
    'features/unlock/step-up-dialog.tsx',
    'ui/dialog/dialog.tsx',
  ]);
});

test('the way into a vault speaks the pseudo-locale whole too: no link, first run, restoring, unlocking, no service', async () => {
  using home = newVaultHome();
  await using service = await home.serve();
  await using person = await openWindow(browser, { baseURL: service.windowOrigin, locale: 'en-US' });
  const { page } = person;
  await person.context.addInitScript(speakPseudo);
  const found: string[] = [];
  const press = (name: string): Promise<void> => button(page, pseudoText(name)).click();
  const fill = (name: string, text: string): Promise<void> =>
    page.getByRole('textbox', { name: pseudoText(name), exact: true }).fill(text);
  /** Looks at a screen when it is there. */
  const at = async (title: string): Promise<void> => {
    await heading(page, pseudoText(title)).waitFor();
    await look(title);
  };
  const look = async (screen: string): Promise<void> => {
    found.push(...(await page.evaluate(untranslated)).map((each) => `${screen}: ${each}`));
    found.push(...(await tooWideFindings(page, screen)));
    found.push(...(await page.evaluate(outOfOrder)).map((each) => `${screen}: ${each}`));
  };
  const refused = (): Promise<void> => page.locator('[aria-invalid=true]').first().waitFor();

  await page.goto('/');
  await at('This window needs a new link');
  await page.goto(service.windowUrl);
  await at('A vault for your keys');
  await button(page, /Ŕéšţöŕé/).click();
  await at('Restore a backup');
  await press('Restore');
  await refused();
  await look('restore, refused');
  await press('Back');
  await press('Set up a vault');
  await at('Names');
  await fill('Vault name', '');
  await press('Continue');
  await refused();
  await look('names, refused');
  await fill('Vault name', 'Όνομα');
  await fill('Your name', 'Όνομα');
  await press('Continue');
  await at('Unlock methods');
  await fill('Password', 'short');
  await press('Continue');
  await refused();
  await look('opening, refused');
  await fill('Password', password);
  await fill('Repeat password', password);
  await press('Continue');
  await at('Your recovery phrase');
  await hold(button(page, pseudoText('Show my words')));
  const words = await readWords(page);
  await press('Copy…');
  await look('phrase, copying');
  await press('I wrote them down');
  await at('Check the words');
  await press('Create the vault');
  await refused();
  await look('check, refused');
  for (const label of await page.locator('label[for]').filter({ hasText: /\d/ }).all()) {
    const position = Number(/\d+/.exec(await label.innerText())?.[0]);
    await page.locator(`[id="${(await label.getAttribute('for')) ?? ''}"]`).fill(words[position - 1] ?? '');
  }
  await press('Create the vault');
  await at('Your vault is ready');
  for (const opener of await openers(page).all()) {
    found.push(...(await throughDialog(page, opener, () => page.evaluate(untranslated))));
  }
  await press('Open the vault');
  await heading(page, pseudoText('Home')).waitFor();
  await press('Lock');
  await at('Unlock');
  await press('Unlock');
  await refused();
  await look('unlock, nothing typed');
  await fill('Password', 'not the password');
  await press('Unlock');
  await page
    .getByRole('alert')
    .filter({ hasText: pseudoText('Couldn’t unlock the vault') })
    .waitFor();
  await look('unlock, refused');
  await page
    .locator('label')
    .filter({ hasText: pseudoText('Recovery phrase') })
    .first()
    .click();
  await fill('Recovery phrase', 'abandon '.repeat(23));
  await press('Unlock');
  await refused();
  await look('unlock, phrase refused');
  await service.stop();
  await at('The Keyhearth service stopped');
  expect(found).toEqual([]);
  expect(person.complaints).toEqual([]);
});

/** The words on the sheet, which are not texts of the window. */
async function readWords(page: Page): Promise<readonly string[]> {
  const items = await page
    .locator('li')
    .filter({ hasText: /^\d+\s*[a-z]+$/ })
    .allInnerTexts();
  return items.map((text) => text.replaceAll(/[\d\s]+/g, ''));
}

/** Keeps what a screen reader would say by itself: what comes to stand in a live region. */
function keepAnnouncements(): void {
  const said: string[] = [];
  Object.assign(globalThis, { said });
  const live = '[role=status], [role=alert], [aria-live=polite], [aria-live=assertive]';
  const keep = (region: Element | null | undefined): void => {
    const text = region?.textContent.trim() ?? '';
    if (text !== '' && said.at(-1) !== text) said.push(text);
  };
  new MutationObserver((changes) => {
    for (const { target, addedNodes } of changes) {
      keep((target instanceof Element ? target : target.parentElement)?.closest(live));
      for (const node of addedNodes) {
        if (!(node instanceof Element)) continue;
        if (node.matches(live)) keep(node);
        for (const region of node.querySelectorAll(live)) keep(region);
      }
    }
  }).observe(document, { childList: true, characterData: true, subtree: true });
}

test('results are announced: created, copied, refused, undone by a lock', async () => {
  using home = newVaultHome();
  await using service = await home.serve();
  await using person = await openWindow(browser);
  const { page } = person;
  await person.context.addInitScript(keepAnnouncements);
  const said = (): Promise<string> =>
    page.evaluate(() => (globalThis as unknown as { readonly said: string[] }).said.join('\n'));
  const heard = async (text: string): Promise<void> => {
    await expect.poll(said).toContain(text);
  };
  await page.goto(service.windowUrl);
  await firstRun(page);
  await makeWallet(page, 'Savings', ['Ethereum']);
  await heard('Created “Savings”');
  await button(page, 'Copy Ethereum address').click();
  await heard('Copied');
  const dialog = await openDialog(page, 'Export…', 'Export wallet');
  await dialog.getByRole('textbox', { name: 'Current password' }).fill('not the password');
  await button(dialog, 'Export seed phrase').click();
  await heard('Couldn’t export the seed phrase');
  await button(dialog, 'Cancel').click();
  await dialog.waitFor({ state: 'hidden' });
  await goTo(page, 'Wallets');
  await lock(page);
  expect(await arrival(page)).toEqual([]);
  await page.getByRole('textbox', { name: 'Password', exact: true }).fill('not the password');
  await button(page, 'Unlock').click();
  await heard('Couldn’t unlock the vault');
  await page.getByRole('textbox', { name: 'Password', exact: true }).fill(password);
  await button(page, 'Unlock').click();
  await heading(page, 'Wallets').waitFor();
  expect(await arrival(page)).toEqual([]);
  await service.stop();
  await heard('The Keyhearth service stopped');
  expect(person.complaints).toEqual([]);
});
