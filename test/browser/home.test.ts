/** Home, and what works from every screen: the palette with its search, the shortcuts, and undoing. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { sharedChromium, openWindow, takePicture, openHome } from './support/chromium.ts';
import { ethereumAccount, resultOf, solanaAccount } from '../support/support.ts';
import { axeFindings, screenFindings } from './support/inspect.ts';
import { newVaultHome, serveDevVault } from './support/service.ts';
import { button, firstRun, goTo, heading, makeWallet, openDialog, readAddresses } from './support/steps.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await sharedChromium();
});

describe('home', () => {
  test('says what a new vault lacks, and leads to it; the first request of Connect works as it is shown', async () => {
    using place = newVaultHome();
    await using service = await place.serve();
    await using person = await openWindow(browser);
    const { page } = person;
    const found: string[] = [];
    await page.goto(service.windowUrl);
    await firstRun(page);
    const steps = page.getByRole('list', { name: 'Set up the vault' });
    await steps.getByText('Recovery phrase checked').waitFor();
    await page.getByRole('img', { name: '1 of 3 health checks pass' }).waitFor();
    await page.getByText('No activity yet').waitFor();
    await page.getByText('0 signed', { exact: true }).waitFor();
    found.push(...(await screenFindings(page, 'home')));
    // Every place is in sight in a window of the usual size.
    const side = await page
      .getByRole('navigation', { name: 'Main' })
      .evaluate((nav) => nav.scrollHeight - nav.clientHeight);
    expect(side).toBe(0);
    // In a lower one the places scroll, and what is around them does not.
    await page.setViewportSize({ width: 900, height: 560 });
    const around = await page
      .locator('.kh-side')
      .evaluate((bar) => [bar.scrollHeight - bar.clientHeight, bar.scrollWidth - bar.clientWidth]);
    expect(around).toEqual([0, 0]);
    await page.setViewportSize({ width: 1280, height: 800 });

    await steps.getByRole('link', { name: 'Back up the vault' }).click();
    await heading(page, 'Backups').waitFor();

    await goTo(page, 'Connect');
    await button(page, 'Copy request').click();
    const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
    await expect.poll(clipboard).toMatch(/^curl /);
    const copied = await clipboard();
    const [command = '', ...parameters] = copied.split(' ');
    expect(command).toBe('curl');
    const { stdout } = await promisify(execFile)(command, ['-sS', ...parameters]);
    expect(JSON.parse(stdout)).toMatchObject({
      signer: expect.stringMatching(/^04[0-9a-f]{128}$/) as string,
    });

    expect(found).toEqual([]);
    expect(person.complaints).toEqual([]);
  });
});

describe('a vault with wallets', () => {
  test('is seen at a glance: what it signed, its wallets by their last use, its keys to review', async () => {
    await using service = await serveDevVault();
    await using person = await openWindow(browser);
    const { page } = person;
    const { root } = service;
    for (const name of ['One', 'Two', 'Three', 'Four', 'Five', 'Six']) {
      resultOf(
        await root.submit('create_wallet', 'CREATE_WALLET', {
          walletName: name,
          accounts: name === 'Two' ? [ethereumAccount, solanaAccount] : [ethereumAccount],
        }),
      );
    }
    const { body } = await root.query('list_wallets');
    const [, two] = (body as { wallets: readonly { readonly walletId: string }[] }).wallets;
    const accounts = await root.query('list_wallet_accounts', { walletId: two?.walletId });
    const [{ address = '' } = {}] = (accounts.body as { accounts: readonly { readonly address?: string }[] })
      .accounts;
    const sign = (signWith: string) =>
      root.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', {
        signWith,
        payload: '00'.repeat(32),
        encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
        hashFunction: 'HASH_FUNCTION_NO_OP',
      });
    resultOf(await sign(address));
    expect((await sign('0xnone')).status).toBe(404);

    await page.goto(service.windowUrl);
    const wallets = page.getByRole('list', { name: 'Wallets' });
    await page.getByText('1 signed', { exact: true }).waitFor();
    await page.getByText('1 refused', { exact: true }).waitFor();
    const table = page.getByRole('table', { name: 'Days with signing requests' });
    expect(await table.getByRole('row').count()).toBe(2);
    expect(await table.getByRole('cell').allInnerTexts()).toEqual(['1', '1']);
    // The first five, by their last use.
    await expect
      .poll(() => wallets.getByRole('listitem').allInnerTexts())
      .toEqual([
        expect.stringMatching(/^Two\s+ETH\s*SOL\s+2 accounts · last used just now$/),
        ...Array<unknown>(4).fill(expect.stringMatching(/1 account · not used yet$/)),
      ]);
    await page.getByRole('list', { name: 'API keys to review' }).getByText('never expires').first().waitFor();
    const found = [...(await screenFindings(page, 'home-filled'))];

    await goTo(page, 'Wallets');
    const search = page.getByRole('searchbox', { name: 'Search' });
    await search.fill('sol');
    await expect.poll(() => wallets.getByRole('listitem').count()).toBe(1);
    await search.fill('nowhere');
    await page.getByText('No results').waitFor();
    await search.fill('');
    await page.getByRole('combobox', { name: 'Order' }).selectOption('Name');
    await expect.poll(() => wallets.getByRole('listitem').first().innerText()).toMatch(/^Five/);
    found.push(...(await axeFindings(page, 'wallets-filled')));

    // A tag finds a wallet; the archive takes one out of the lists, and Undo puts it back.
    await search.fill('');
    await wallets.getByRole('link', { name: /^Two/ }).click();
    await heading(page, 'Two').waitFor();
    const tagging = await openDialog(page, 'Tags…', 'Tags of the wallet');
    // There are no tags yet to choose from: nothing is open that Escape would shut first.
    await tagging.getByRole('combobox', { name: 'Tags' }).focus();
    await page.keyboard.press('Escape');
    await tagging.waitFor({ state: 'hidden' });
    await openDialog(page, 'Tags…', 'Tags of the wallet');
    await tagging.getByRole('combobox', { name: 'Tags' }).fill('Family');
    await page.keyboard.press('Enter');
    await button(tagging, 'Save tags').click();
    await tagging.waitFor({ state: 'hidden' });
    await button(page, /^Archive$/).click();
    await button(page, 'Undo').click();
    await page.getByText('Undone').waitFor();
    await button(page, /^Archive$/).click();
    await button(page, 'Unarchive').waitFor();
    await goTo(page, 'Wallets');
    await expect.poll(() => wallets.getByRole('listitem').count()).toBe(5);
    expect(await wallets.getByText('Two').count()).toBe(0);
    await page.getByRole('checkbox', { name: 'Show the archive (1)' }).check();
    await page.getByRole('combobox', { name: 'Tag' }).selectOption('Family');
    await expect
      .poll(() => wallets.getByRole('listitem').allInnerTexts())
      .toEqual([expect.stringMatching(/^Two\s+ETH\s*SOL\s+Family/)]);
    found.push(...(await axeFindings(page, 'wallets-archive')));
    expect(found).toEqual([]);
    expect(person.complaints).toEqual([]);
  });
});

describe('the palette', () => {
  test('goes to places, does things, and finds what is in the vault, by the keyboard alone', async () => {
    await using service = await serveDevVault();
    await using person = await openWindow(browser);
    const { page } = person;
    const found: string[] = [];
    await page.goto(service.windowUrl);
    await makeWallet(page, 'Rainy days', ['Ethereum', 'Solana']);
    const [ethereum = ''] = await readAddresses(page);

    await page.keyboard.press('ControlOrMeta+k');
    const field = page.getByRole('combobox', { name: 'Search and commands' });
    const option = (name: string | RegExp) => page.getByRole('option', { name });
    const chosen = page.getByRole('option', { selected: true });
    await field.waitFor();
    await option('Create wallet').waitFor();
    found.push(...(await axeFindings(page, 'palette')));
    await page.keyboard.type('webho');
    await page.keyboard.press('Enter');
    await heading(page, 'Webhooks').waitFor();

    // Each screen leads to its page of the documentation, and the palette finds all pages.
    const { origin } = new URL(service.windowUrl);
    const more = page.getByRole('link', { name: 'Learn more' });
    expect(await more.getAttribute('href')).toBe(`${origin}/docs/webhooks.html`);
    await page.keyboard.press('ControlOrMeta+k');
    await page.keyboard.insertText('docs back up');
    await option('Backup and recovery').waitFor();
    const [opened] = await Promise.all([page.context().waitForEvent('page'), page.keyboard.press('Enter')]);
    await opened.getByRole('heading', { name: 'Backup and recovery', level: 1 }).waitFor();
    expect(opened.url()).toBe(`${origin}/docs/backup-and-recovery.html`);
    await opened.close();

    // A name by a part of it, with what else is called so.
    await page.keyboard.press('ControlOrMeta+k');
    await page.keyboard.insertText('days');
    await option(/^Rainy days/).waitFor();
    await option('Activity of Rainy days').waitFor();
    found.push(...(await screenFindings(page, 'palette-found')));
    await page.keyboard.press('Enter');
    await heading(page, 'Rainy days').waitFor();

    // An address by how it begins, whatever its case. At once: letter by letter, an earlier question may be answered first.
    await page.keyboard.press('ControlOrMeta+k');
    await page.keyboard.insertText(ethereum.slice(0, 9).toUpperCase().replace('0X', '0x'));
    await option(new RegExp(ethereum.slice(0, 12))).waitFor();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toContain(ethereum);
    await page.getByText(ethereum.slice(-8)).first().waitFor();

    // An activity by its id.
    const { body } = await service.root.query('list_activities');
    const { activities } = body as unknown as { activities: readonly { id: string }[] };
    await page.keyboard.press('ControlOrMeta+k');
    await page.keyboard.insertText(activities[0]?.id ?? '');
    await option(/Create a wallet/).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Activity' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Activity' }).waitFor({ state: 'hidden' });

    // An entry of the address book, by its name and by its beginning.
    const known = { name: 'Roofer', address: `0x5290${'0'.repeat(36)}` };
    resultOf(await service.root.submit('create_known_address', 'CREATE_KNOWN_ADDRESS', known));
    for (const text of ['roof', '0x5290']) {
      await page.keyboard.press('ControlOrMeta+k');
      await page.keyboard.insertText(text);
      await option(/^Roofer/).waitFor();
      await page.keyboard.press('Escape');
    }
    await page.keyboard.press('ControlOrMeta+k');
    await page.keyboard.insertText('roofer');
    await option(/^Roofer/).click();
    await heading(page, 'Address book').waitFor();

    // An empty result is stated; arrows wrap around; Escape returns the focus.
    await page.keyboard.press('ControlOrMeta+k');
    await page.keyboard.type('no such thing anywhere');
    await page.getByText('No results.').waitFor();
    await field.fill('');
    const first = await chosen.innerText();
    await page.keyboard.press('ArrowUp');
    await expect.poll(() => chosen.innerText()).not.toBe(first);
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => chosen.innerText()).toBe(first);
    await page.keyboard.press('Escape');
    await field.waitFor({ state: 'hidden' });

    expect(found).toEqual([]);
    expect(person.violations).toEqual([]);
    expect(person.complaints).toEqual([]);
  });

  test('opens no result of an earlier text, and says where there are more results', async () => {
    await using service = await serveDevVault();
    await using person = await openWindow(browser);
    const { page } = person;
    for (const walletName of [
      'Barn',
      'Bard',
      ...[1, 2, 3, 4, 5, 6].map((number) => `Shed ${String(number)}`),
    ]) {
      resultOf(await service.root.submit('create_wallet', 'CREATE_WALLET', { walletName, accounts: [] }));
    }
    await page.goto(service.windowUrl);
    await heading(page, 'Home').waitFor();
    await page.keyboard.press('ControlOrMeta+k');
    const field = page.getByRole('combobox', { name: 'Search and commands' });
    const option = (name: RegExp) => page.getByRole('option', { name });
    await field.fill('shed');
    await option(/^Shed 5/).waitFor();
    await page.getByText('There are more results.').waitFor();
    await page.getByText(/^The first \d+ results$/).waitFor();
    await field.fill('barn');
    await option(/^Barn/).waitFor();
    await page.getByText('There are more results.').waitFor({ state: 'detached' });
    // As fast as fingers are: the results are those of the text before.
    await field.evaluate(async (element) => {
      const value = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
      value?.set?.call(element, 'bard');
      element.dispatchEvent(new Event('input', { bubbles: true }));
      await Promise.resolve();
      element.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
    });
    await heading(page, 'Bard').waitFor();
    expect(person.complaints).toEqual([]);
  });

  test('changes what it changes so that it can be undone, and locks', async () => {
    await using service = await serveDevVault();
    await using person = await openHome(service.windowUrl);
    const { page } = person;
    const scheme = () => page.locator('html').getAttribute('data-mantine-color-scheme');
    await page.keyboard.press('ControlOrMeta+k');
    await page.getByRole('combobox', { name: 'Search and commands' }).waitFor();
    await page.keyboard.type('dark');
    await page.keyboard.press('Enter');
    await expect.poll(scheme).toBe('dark');
    await button(page, 'Undo').waitFor();
    await takePicture(page, 'undo');
    await page.keyboard.press('ControlOrMeta+z');
    await page.getByText('Undone').waitFor();
    expect(await scheme()).toBe('light');

    await page.keyboard.press('?');
    const shortcuts = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await shortcuts.getByText('Search and commands').waitFor();
    await page.keyboard.press('Escape');
    await shortcuts.waitFor({ state: 'hidden' });
    // A question mark that is typed is a question mark.
    await goTo(page, 'Sign');
    await goTo(page, 'Wallets');
    await page.getByRole('link', { name: 'Create wallet' }).first().click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Why');
    await page.keyboard.press('?');
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Why?');
    expect(await shortcuts.isVisible()).toBe(false);

    // An action that stops all signing needs a confirmation.
    await page.keyboard.press('ControlOrMeta+k');
    await page.keyboard.type('freeze');
    await page.keyboard.press('Enter');
    const freeze = page.getByRole('dialog', { name: 'Freeze all signing' });
    await button(freeze, 'Cancel').click();
    await freeze.waitFor({ state: 'hidden' });

    await page.keyboard.press('ControlOrMeta+k');
    await page.keyboard.type('lock n');
    await page.keyboard.press('Enter');
    await heading(page, 'Unlock').waitFor();
    // Shortcuts of the open vault do not work in front of it.
    await page.keyboard.press('ControlOrMeta+k');
    await page.keyboard.press('?');
    expect(await page.getByRole('dialog').count()).toBe(0);
  });
});
