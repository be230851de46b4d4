/**
 * The window by keyboard alone, in the system’s own colors. The class: after each press the focus is on something, whatever the
 * press removed or disabled, and a refused form leads to its first wrong field.
 */
import type { Browser, Locator, Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { activityOf, allowByVotes, ethereumAccount, newUserBy, resultOf } from '../../support/support.ts';
import { openWindow, sharedChromium } from '../support/chromium.ts';
import { axeFindings, tooWideFindings } from '../support/inspect.ts';
import { serveDevVault } from '../support/service.ts';
import { button, heading } from '../support/steps.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await sharedChromium();
});

interface Walk {
  /** Moves by Tab until the target has the focus. */
  readonly reach: (target: Locator) => Promise<void>;
  readonly press: (target: Locator, key?: 'Enter' | 'Space') => Promise<void>;
  /** Presses keys where the focus is. */
  readonly keys: (...keys: readonly string[]) => Promise<void>;
  /** The presses after which the focus was nowhere. */
  readonly lost: readonly string[];
}

/** Answers after the page has shown what a press changed. */
const focusOf = (page: Page): Promise<string | null> =>
  page.evaluate(async () => {
    // First without the focus, if at all, then with it.
    for (let frame = 0; frame < 20; frame += 1) {
      await new Promise((resolve) => {
        requestAnimationFrame(resolve);
      });
      const { activeElement } = document;
      if (frame > 2 && activeElement !== null && activeElement !== document.body) {
        return activeElement.outerHTML.slice(0, 120);
      }
    }
    return null;
  });

function walkIn(page: Page): Walk {
  const lost: string[] = [];
  const note = async (what: string): Promise<void> => {
    if ((await focusOf(page)) === null) lost.push(what);
  };
  const has = (target: Locator): Promise<boolean> =>
    target.evaluate((element) => element === document.activeElement);
  const reach: Walk['reach'] = async (target) => {
    await target.waitFor();
    for (let count = 0; count < 90; count += 1) {
      if (await has(target)) return;
      await page.keyboard.press('Tab');
    }
    throw new Error(`90 times Tab did not lead to ${String(target)}`);
  };
  return {
    lost,
    reach,
    press: async (target, key = 'Enter') => {
      await reach(target);
      await page.keyboard.press(key);
      await note(`${key} on ${String(target)}`);
    },
    keys: async (...keys) => {
      for (const key of keys) {
        await page.keyboard.press(key);
        await note(key);
      }
    },
  };
}

test('approve, sign, policy and export by keyboard: the focus is never lost', async () => {
  await using service = await serveDevVault();
  const { root } = service;
  const { client: ben } = await newUserBy(root, 'Ben');
  const wallet = await root.submit('create_wallet', 'CREATE_WALLET', {
    walletName: 'Everyday',
    accounts: [ethereumAccount],
  });
  await allowByVotes(root, 'Signatures by two', "activity.action == 'SIGN'", 2);
  activityOf(
    await ben.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', {
      signWith: resultOf(wallet).addresses[0],
      payload: 'the rent',
      encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
      hashFunction: 'HASH_FUNCTION_SHA256',
    }),
  );
  await using person = await openWindow(browser, { forcedColors: 'active' });
  const { page } = person;
  const walk = walkIn(page);
  const amiss: string[] = [];
  const look = async (screen: string): Promise<void> => {
    // The system chooses both colors, and axe reads those of the page.
    const findings = (await axeFindings(page, screen)).filter(
      (each) => !each.includes(': color-contrast at '),
    );
    amiss.push(...findings, ...(await tooWideFindings(page, screen)));
  };
  const place = (name: string) =>
    page.getByRole('navigation').getByRole('link', { name: new RegExp(`^${name}`) });

  await page.goto(service.windowUrl);
  await heading(page, 'Home').waitFor();
  // Each place of the side bar is in sight, or scrolls into it, at this size.
  for (const link of await page.getByRole('navigation').getByRole('link').all()) {
    await link.focus();
    expect(
      await link.evaluate((each) => {
        const { top, bottom } = each.getBoundingClientRect();
        return top >= 0 && bottom <= window.innerHeight;
      }),
    ).toBe(true);
  }

  const outOfSight = await page
    .getByRole('navigation', { name: 'Main' })
    .evaluate((nav) => nav.scrollHeight - nav.clientHeight);
  expect(outOfSight).toBe(0);
  const chosen = page.locator('.kh-scheme .mantine-SegmentedControl-label[data-active]');
  const behind = page.locator('.kh-scheme .mantine-SegmentedControl-indicator');
  const ink = await chosen.evaluate((each) => getComputedStyle(each).color);
  expect(await behind.evaluate((each) => getComputedStyle(each).backgroundColor)).not.toBe(ink);
  // A narrow window says behind its menu's button what waits.
  await page.setViewportSize({ width: 390, height: 800 });
  await button(page, 'Menu 1 to approve').waitFor();
  await page.setViewportSize({ width: 1280, height: 800 });

  await walk.press(place('Approvals'));
  await walk.press(page.getByRole('list', { name: 'Waiting for approval' }).getByRole('link'));
  const approval = page.getByRole('dialog', { name: 'Approval' });
  await approval.getByText('the rent').first().waitFor();
  await walk.press(button(approval, 'Approve once'));
  await approval.waitFor({ state: 'hidden' });
  await walk.press(button(page, 'Undo').first());

  await walk.press(place('Sign'));
  await heading(page, 'Sign').waitFor();
  await walk.press(button(page, /^Sign$/));
  // The refused form has led to its field, which tells what is wrong.
  const payload = page.getByRole('textbox', { name: 'Payload' });
  await expect.poll(() => payload.evaluate((each) => each === document.activeElement)).toBe(true);
  await page.getByText('Enter what to sign.').waitFor();
  await page.keyboard.type('no mouse');
  await page.getByRole('region', { name: 'Summary' }).waitFor();
  await look('forced-sign');
  await walk.press(button(page, /^Sign$/));
  await page.getByRole('region', { name: 'Signed' }).waitFor();
  await walk.press(button(page, 'Show QR code'), 'Space');

  await walk.press(place('Policies'));
  await walk.press(page.getByRole('link', { name: 'Create policy' }).first());
  await heading(page, 'Create policy').waitFor();
  await look('forced-policy');
  await walk.press(button(page, 'Create policy'));
  await walk.keys('Tab', 'Tab');

  await walk.press(place('Wallets'));
  await walk.press(page.getByRole('link', { name: /Everyday/ }).first());
  await heading(page, 'Everyday').waitFor();
  await walk.press(button(page, 'Export…'));
  const dialog = page.getByRole('dialog', { name: 'Export wallet' });
  await dialog.waitFor();
  await look('forced-export');
  await walk.keys('Escape');
  await dialog.waitFor({ state: 'hidden' });

  await walk.press(place('Settings'));
  await heading(page, 'Settings').waitFor();
  await look('forced-settings');
  await walk.press(button(page, 'Lock'));
  await heading(page, 'Unlock').waitFor();
  await expect.poll(() => page.evaluate(() => document.activeElement?.matches('input, textarea'))).toBe(true);
  expect(walk.lost).toEqual([]);
  expect(amiss).toEqual([]);
  expect(person.complaints).toEqual([]);
});
