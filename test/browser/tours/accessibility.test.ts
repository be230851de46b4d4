/** Accessibility: axe-core on every screen in both schemes, little room, and the keyboard alone. */
import type { Browser, Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { sharedChromium, openWindow, takePicture } from '../support/chromium.ts';
import { axeFindings, tooWideFindings } from '../support/inspect.ts';
import { newVaultHome } from '../support/service.ts';
import {
  askedPositions,
  button,
  firstRun,
  heading,
  password,
  readPhrase,
  wordField,
} from '../support/steps.ts';
import { refusedUnlocks, tour } from '../support/tours.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await sharedChromium();
});

const narrow = { width: 360, height: 720 };
const wide = { width: 1280, height: 800 };

describe('every screen, on a walk in a narrow window', () => {
  test('fits there; when wide, axe-core finds nothing in light and in dark; nothing violates the page’s policy', async () => {
    using place = newVaultHome();
    await using service = await place.serve();
    await using person = await openWindow(browser, { baseURL: service.windowOrigin, viewport: narrow });
    const { page } = person;
    const found: string[] = [];
    const seen: string[] = [];
    const look = async (screen: string): Promise<void> => {
      seen.push(screen);
      await takePicture(page, `${screen}-narrow`);
      found.push(...(await tooWideFindings(page, screen)));
      await page.setViewportSize(wide);
      found.push(...(await axeFindings(page, screen)));
      await page.setViewportSize(narrow);
    };
    await page.goto('/');
    await heading(page, 'This window needs a new link').waitFor();
    await look('signed-out');
    await page.goto(service.windowUrl);
    await firstRun(page, look);
    await tour(page, look);
    await refusedUnlocks(page, look);
    expect(service.stderr()).toBe('');
    await service.stop();
    await heading(page, /service stopped$/).waitFor();
    await look('stopped');
    expect(seen.length).toBe(new Set(seen).size);
    expect(seen.length).toBeGreaterThan(35);
    expect(found).toEqual([]);
    expect(person.violations).toEqual([]);
    expect(person.complaints).toEqual([]);
  });
});

describe('the keyboard alone', () => {
  test('leads from the link to a first wallet and a signature, the focus always in sight', async () => {
    using place = newVaultHome();
    await using service = await place.serve();
    await using person = await openWindow(browser);
    const { page } = person;
    const keys = keyboardOf(page);
    await page.goto(service.windowUrl);

    await heading(page, 'A vault for your keys').waitFor();
    await keys.press(button(page, 'Set up a vault'));
    await heading(page, 'Names').waitFor();
    await keys.type(page.getByRole('textbox', { name: 'Vault' }), 'Keyboard');
    await keys.press(button(page, 'Continue'));
    await heading(page, 'Unlock methods').waitFor();
    await keys.type(page.getByRole('textbox', { name: 'Password', exact: true }), password);
    await keys.type(page.getByRole('textbox', { name: 'Repeat password' }), password);
    // Enter in a field is as good as the button.
    await page.keyboard.press('Enter');
    await heading(page, 'Your recovery phrase').waitFor();
    // A person who cannot hold a button presses it twice.
    await keys.press(button(page, 'Show my words'), 'Space');
    await page.getByText('Press again to show, or hold for a moment.').waitFor();
    await page.keyboard.press('Space');
    const words = await readPhrase(page);
    await keys.press(button(page, 'I wrote them down'));
    await heading(page, 'Check the words').waitFor();
    for (const position of await askedPositions(page)) {
      await keys.type(wordField(page, position), words[position - 1] ?? '');
    }
    await keys.press(button(page, 'Create the vault'));
    await heading(page, 'Your vault is ready').waitFor();
    await keys.press(button(page, 'Open the vault'));
    await heading(page, 'Home').waitFor();

    await keys.press(page.getByRole('link', { name: 'Create wallet' }).first());
    await heading(page, 'Create wallet').waitFor();
    await keys.type(page.getByRole('textbox', { name: 'Name' }), 'Made by keyboard');
    const solana = page.getByRole('checkbox', { name: 'Solana' });
    await keys.press(solana, 'Space');
    expect(await solana.isChecked()).toBe(true);
    await keys.reach(page.getByRole('radio', { name: '12 words' }));
    await page.keyboard.press('ArrowRight');
    expect(await page.getByRole('radio', { name: '24 words' }).isChecked()).toBe(true);
    await keys.press(button(page, 'Create wallet'));
    await heading(page, 'Made by keyboard').waitFor();

    // A dialog takes the focus, keeps it, and gives it back.
    const opener = button(page, 'Show QR code of Ethereum address');
    await keys.press(opener);
    const dialog = page.getByRole('dialog', { name: 'Ethereum address' });
    await dialog.waitFor();
    await expect
      .poll(() => dialog.evaluate((element) => element.contains(document.activeElement)))
      .toBe(true);
    for (let count = 0; count < 5; count += 1) {
      await page.keyboard.press('Tab');
      expect(await dialog.evaluate((element) => element.contains(document.activeElement))).toBe(true);
    }
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await expect.poll(() => isFocused(opener)).toBe(true);

    await keys.press(page.getByRole('link', { name: 'Sign', exact: true }).last());
    await heading(page, 'Sign').waitFor();
    await keys.reach(page.getByRole('combobox', { name: 'Account' }));
    await page.keyboard.press('ArrowDown');
    await page.getByRole('option').first().waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await keys.type(page.getByRole('textbox', { name: 'Payload' }), 'no mouse');
    await page.getByRole('region', { name: 'Summary' }).waitFor();
    await keys.press(button(page, /^Sign$/));
    await page.getByRole('region', { name: 'Signed' }).waitFor();

    await keys.press(button(page, 'Lock'));
    await heading(page, 'Unlock').waitFor();
    await keys.type(page.getByRole('textbox', { name: 'Password', exact: true }), password);
    await page.keyboard.press('Enter');
    await heading(page, 'Sign').waitFor();

    // The first stop of each screen leads past the menu.
    await page.evaluate(() => {
      window.location.hash = '#/wallets';
    });
    await heading(page, 'Wallets').waitFor();
    await page.reload();
    await heading(page, 'Wallets').waitFor();
    const skip = page.getByRole('link', { name: 'Skip to content' });
    await keys.reach(skip);
    await page.keyboard.press('Enter');
    await keys.reach(page.getByRole('link', { name: 'Create wallet' }), 1);
    expect(keys.hidden).toEqual([]);
    expect(person.complaints).toEqual([]);
  });
});

const isFocused = (target: Locator): Promise<boolean> =>
  target.evaluate((element) => element === document.activeElement);

interface Keyboard {
  /** Presses Tab until the target has the focus. */
  readonly reach: (target: Locator, most?: number) => Promise<void>;
  readonly press: (target: Locator, key?: 'Enter' | 'Space') => Promise<void>;
  /** Replaces what a field holds. */
  readonly type: (target: Locator, text: string) => Promise<void>;
  /** The stops at which one could not see where the focus is. */
  readonly hidden: readonly string[];
}

function keyboardOf(page: Page): Keyboard {
  const hidden: string[] = [];

  const reach: Keyboard['reach'] = async (target, most = 40) => {
    for (let count = 0; count < most; count += 1) {
      await page.keyboard.press('Tab');
      const unseen = await focusOutOfSight(page);
      if (unseen !== undefined) hidden.push(unseen);
      if (await isFocused(target)) return;
    }
    throw new Error(`${most} times Tab did not lead to ${String(target)}`);
  };
  return {
    reach,
    press: async (target, key = 'Enter') => {
      await reach(target);
      await page.keyboard.press(key);
    },
    type: async (target, text) => {
      await reach(target);
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.type(text);
    },
    hidden,
  };
}

/** Room around an element for its outline, in pixels. */
const room = 6;

/** Compares what the screen shows around the focused element with and without the focus. @returns its name if that is the same. */
async function focusOutOfSight(page: Page): Promise<string | undefined> {
  for (;;) {
    const spot = await focusedSpot(page);
    if (spot === undefined) return undefined;
    const focused = await pictureOf(page, spot);
    const element = await page.evaluateHandle(() => document.activeElement as HTMLElement);
    await element.evaluate((each) => {
      each.blur();
    });
    const unfocused = await pictureOf(page, spot);
    await element.evaluate((each) => {
      each.focus({ preventScroll: true });
    });
    if (!focused.equals(unfocused)) return undefined;
    // Content that loads meanwhile moves the rest: then the position was another one.
    const { x, y } = (await focusedSpot(page)) ?? spot;
    if (x === spot.x && y === spot.y) return spot.name;
  }
}

interface Spot {
  readonly name: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** @returns where the focused element is; undefined where the focus is on the browser's own controls. */
const focusedSpot = (page: Page): Promise<Spot | undefined> =>
  page.evaluate(() => {
    const element = document.activeElement;
    if (!(element instanceof HTMLElement) || element === document.body) return undefined;
    element.scrollIntoView({ block: 'nearest' });
    let shown: Element = element;
    // A radio of a segmented control has no size of its own; its segment shows the focus.
    while (shown.getBoundingClientRect().width < 10 && shown.parentElement !== null)
      shown = shown.parentElement;
    const { x, y, width, height } = shown.getBoundingClientRect();
    return { name: element.outerHTML.slice(0, 200), x, y, width, height };
  });

const pictureOf = (page: Page, { x, y, width, height }: Spot): Promise<Buffer> =>
  page.screenshot({
    clip: {
      x: Math.max(0, x - room),
      y: Math.max(0, y - room),
      width: width + 2 * room,
      height: height + 2 * room,
    },
  });
