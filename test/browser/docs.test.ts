/**
 * The documentation, in a browser: its pages, and the API's reference page, which shows every operation,
 * works offline, and contacts no other host.
 */
import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { pages } from '../../docs/pages.ts';
import { operations } from '../../main/operations/index.ts';
import { sharedChromium, openWindow } from './support/chromium.ts';
import type { BrowserWindow } from './support/chromium.ts';
import { axeFindings } from './support/inspect.ts';
import { newVaultHome, serveDevVault } from './support/service.ts';
import type { Service } from './support/service.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await sharedChromium();
});

const sidebar = (page: Page) => page.getByRole('complementary', { name: 'Sidebar for Keyhearth' });

/** Opens the page and records every request that follows. */
async function openReference({ page }: BrowserWindow, url: string): Promise<readonly string[]> {
  const asked: string[] = [];
  page.on('request', (request) => {
    asked.push(request.url());
  });
  await page.goto(`${url}/docs/api`);
  await page.getByRole('heading', { name: 'Keyhearth', level: 1 }).waitFor();
  return asked;
}

/** Paths beside the operations. */
const streams = ['stream/activities'];

describe('the reference page', () => {
  // It takes seconds to be put together: it is opened once, and looked at three times.
  let service: Service;
  let person: BrowserWindow;
  let page: Page;
  let asked: readonly string[];

  beforeAll(async () => {
    const resources = new AsyncDisposableStack();
    service = resources.use(await serveDevVault());
    person = resources.use(await openWindow(browser));
    ({ page } = person);
    asked = await openReference(person, service.url);
    return () => resources.disposeAsync();
  });

  test('shows every operation, and is put together from this port alone', async () => {
    const paths: string[] = [];
    for (const { name, operations: told } of operations.groups) {
      const group = sidebar(page)
        .getByRole('listitem')
        .filter({ has: page.getByRole('link', { name, exact: true }) });
      const open = group.getByRole('button', { name: `Open Group - ${name}` });
      await open.or(group.getByRole('button', { name: `Close Group - ${name}` })).waitFor();
      if (await open.isVisible()) await open.click();
      const links = group.getByRole('link', { name: /HTTP Method: POST$/ });
      await expect
        .poll(() => links.count(), { message: name })
        .toBe(told.length + (name === 'Activities' ? streams.length : 0));
      const addresses = await links.evaluateAll((found) =>
        found.map((link) => link.getAttribute('href') ?? ''),
      );
      paths.push(...addresses.map((address) => address.replace(/^.*\/public\/v1\//, '')));
    }
    expect(paths.sort()).toEqual([...operations.byPath.keys(), ...streams].sort());

    await sidebar(page)
      .getByRole('link', { name: /^Create wallet HTTP/ })
      .click();
    const createWallet = page.getByRole('region', { name: 'Create wallet', exact: true });
    await createWallet
      .getByText('Makes a wallet from a fresh mnemonic, with the accounts asked for.')
      .waitFor();
    await createWallet.getByText('ACTIVITY_TYPE_CREATE_WALLET').first().waitFor();
    await createWallet.getByText(`${service.url}/public/v1/submit/create_wallet`).first().waitFor();

    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('combobox').fill('sign raw payloads');
    await page.getByRole('dialog').getByRole('option').first().click();
    await page.getByRole('heading', { name: 'Sign raw payloads' }).waitFor();
    await sidebar(page).getByRole('button', { name: 'Set dark mode' }).click();
    await sidebar(page).getByRole('button', { name: 'Set light mode' }).waitFor();

    expect(asked).toEqual([`${service.url}/docs/api`, `${service.url}/docs/api/scalar.js`]);
    expect(person.violations).toEqual([]);
    expect(person.complaints).toEqual([]);
  });

  test('gives the description away as a file', async () => {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: /^Download OpenAPI Document/ }).click(),
    ]);
    const file = JSON.parse(await readFile(await download.path(), 'utf8')) as unknown;
    expect(file).toEqual(await (await fetch(`${service.url}/openapi.json`)).json());
    expect(person.violations).toEqual([]);
  });

  test('can send nothing, not even to its own port', async () => {
    const answered: string[] = [];
    page.on('response', (response) => {
      answered.push(response.url());
    });
    await page.evaluate(async (url) => {
      const image = document.createElement('img');
      image.src = `${url}/openapi.json`;
      document.body.append(image);
      navigator.sendBeacon(`${url}/window/lock`, '{}');
      await fetch(`${url}/window/status`, { method: 'POST' }).catch(() => undefined);
    }, service.url);
    await expect
      .poll(() => person.violations.map(({ directive }) => directive).sort())
      .toEqual(['connect-src', 'connect-src', 'img-src']);
    expect(answered).toEqual([]);
  });

  test('is there while there is no vault, and without the window', async () => {
    using place = newVaultHome();
    await using service = await place.serve();
    await using person = await openWindow(browser);
    await openReference(person, service.url);
    expect(person.violations).toEqual([]);
    await lookAtPages(person, service.url);
  });
});

/** From the first page to the next one, in both schemes, at the width of a telephone too. */
async function lookAtPages(person: BrowserWindow, url: string): Promise<void> {
  const { page } = person;
  const [first, second] = pages;
  if (first === undefined || second === undefined) throw new Error('there are no two pages');
  await page.goto(`${url}/docs`);
  const found = [...(await axeFindings(page, 'documentation'))];
  await page.getByRole('main').getByRole('link', { name: first.title, exact: true }).click();
  await page.getByRole('heading', { name: first.title, level: 1 }).waitFor();
  found.push(...(await axeFindings(page, 'documentation-page')));
  const picture = page.getByRole('main').getByRole('img').first();
  await picture.scrollIntoViewIfNeeded();
  await expect.poll(() => picture.evaluate((element: HTMLImageElement) => element.naturalWidth)).toBe(1280);
  await page.getByRole('link', { name: `Next ${second.title}` }).click();
  await page.getByRole('heading', { name: second.title, level: 1 }).waitFor();
  await page.setViewportSize({ width: 360, height: 740 });
  // Elements that scripts place follow the window a moment later.
  await expect
    .poll(() =>
      page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth),
    )
    .toBe(0);
  expect(found).toEqual([]);
  expect(person.violations).toEqual([]);
  expect(person.complaints).toEqual([]);
}
