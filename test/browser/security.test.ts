/** Data that the window hides from other pages, from other windows, and from itself after it was shown. */
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { contentSecurityPolicy } from '../../main/lib/web/content-security-policy.ts';
import { askControl, send } from '../support/support.ts';
import { sharedChromium, openWindow } from './support/chromium.ts';
import { newVaultHome, serveDevVault } from './support/service.ts';
import type { Service } from './support/service.ts';
import {
  button,
  chooseSegment,
  firstRun,
  goTo,
  heading,
  hold,
  lock,
  pairsIn,
  password,
} from './support/steps.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await sharedChromium();
});

test('the page on the disk that a browser is opened with leads into the window, and is gone then', async () => {
  using place = newVaultHome();
  await using service = await place.serve();
  const { body } = await askControl(place.path, 'page', {});
  const file = String(body?.['value']);
  await using person = await openWindow(browser);
  await person.page.goto(pathToFileURL(file).href);
  await person.page.waitForURL((url) => url.origin === service.windowOrigin && url.hash === '');
  await button(person.page, 'Set up a vault').waitFor();
  expect(existsSync(file)).toBe(false);
  expect(person.violations).toEqual([]);
});

describe('the page’s policy', () => {
  test('names this load’s nonce and nothing unsafe', async () => {
    await using service = await serveDevVault();
    const loads = await Promise.all([1, 2, 3].map(() => getPage(service)));
    const nonces = loads.map(({ headers, text }) => {
      const [, nonce = ''] = /<meta property="csp-nonce" nonce="([^"]+)"/.exec(text) ?? [];
      expect(headers['content-security-policy']).toBe(contentSecurityPolicy(nonce, "'self'"));
      expect(headers['content-security-policy']).not.toMatch(/unsafe|\*|https?:/);
      // A page in a cache would come with a nonce that was seen before.
      expect(headers['cache-control']).toBe('no-store');
      return nonce;
    });
    expect(new Set(nonces).size).toBe(3);
    for (const nonce of nonces) expect(Buffer.from(nonce, 'base64')).toHaveLength(16);
  });

  test('refuses what a page must not do', async () => {
    await using service = await serveDevVault();
    await using person = await openWindow(browser);
    const { page, violations } = person;
    await page.goto(service.windowUrl);
    await heading(page, 'Home').waitFor();
    await page.evaluate(() => {
      const script = document.createElement('script');
      script.textContent = 'window.ran = true';
      document.body.append(script);
      const image = document.createElement('img');
      image.src = 'http://127.0.0.1:9/?secret';
      document.body.append(image);
      const button = document.createElement('button');
      button.setAttribute('onclick', 'window.ran = true');
      document.body.append(button);
      button.click();
      void fetch('http://127.0.0.1:9/?secret').catch(() => undefined);
    });
    await expect
      .poll(() => violations.map(({ directive }) => directive).sort())
      .toEqual(['connect-src', 'img-src', 'script-src-attr', 'script-src-elem']);
    expect(await page.evaluate(() => 'ran' in window)).toBe(false);
  });
});

describe('another window', () => {
  test('does not get in by a link that was used, and does not disturb the one that is in', async () => {
    await using service = await serveDevVault();
    await using first = await openWindow(browser);
    await first.page.goto(service.windowUrl);
    await heading(first.page, 'Home').waitFor();
    expect(first.page.url()).not.toContain('code=');

    await using second = await openWindow(browser);
    await second.page.goto(service.windowUrl);
    await heading(second.page, 'This window needs a new link').waitFor();
    await using third = await openWindow(browser);
    await third.page.goto(service.windowOrigin);
    await heading(third.page, 'This window needs a new link').waitFor();
    // Another tab of the same browser has the cookie, and not the other half of the session.
    const tab = await first.context.newPage();
    await tab.goto(service.windowOrigin);
    await heading(tab, 'This window needs a new link').waitFor();
    const status = await tab.evaluate(async () => {
      const headers = { 'content-type': 'application/json' };
      return (await fetch('/window/status', { method: 'POST', headers, body: '{"args":[]}' })).status;
    });
    expect(status).toBe(401);

    await first.page.reload();
    await heading(first.page, 'Home').waitFor();
    await goTo(first.page, 'Connect');
  });

  test('its link must be the service’s own, to the letter', async () => {
    await using service = await serveDevVault();
    const code = new URL(service.windowUrl).hash.slice('#code='.length);
    await using person = await openWindow(browser);
    const { page } = person;
    for (const wrong of [code.slice(0, -1), `${code}A`, code.toLowerCase(), '%00']) {
      await page.goto('about:blank');
      await page.goto(`${service.windowOrigin}/#code=${wrong}`);
      await heading(page, 'This window needs a new link').waitFor();
    }
    await page.goto(service.windowUrl);
    await heading(page, 'Home').waitFor();
  });
});

describe('a page of another port, opened by a browser that is signed in', () => {
  // The same machine is the same site to a browser: it sends the window's cookie along, even a strict one.
  for (const host of ['127.0.0.1', 'localhost']) {
    test(`can call nothing from ${host}`, async () => {
      using place = newVaultHome();
      await using service = await place.serve();
      await using person = await openWindow(browser);
      await person.page.goto(service.windowUrl);
      await firstRun(person.page);
      await using stranger = await serveStranger(host);

      const page = await person.context.newPage();
      const statuses: number[] = [];
      page.on('response', (response) => {
        if (response.url().startsWith(service.windowOrigin)) statuses.push(response.status());
      });
      await page.goto(stranger.url);
      const outcomes = await page.evaluate(attack, service.windowOrigin);
      expect(outcomes.filter(({ answered }) => answered)).toEqual([]);
      expect(outcomes).toHaveLength(13);
      // Requests that a browser sends without a preflight were refused before any effect.
      expect(statuses.length).toBeGreaterThan(5);
      expect(statuses.filter((status) => status !== 401 && status !== 403)).toEqual([]);
      await goTo(person.page, 'Activity');
      await person.page.getByRole('heading', { name: 'No activity yet' }).waitFor();
      await goTo(person.page, 'Wallets');
    });
  }

  test('cannot show the window in a frame, nor hold on to one that it opened', async () => {
    await using service = await serveDevVault();
    await using person = await openWindow(browser);
    await person.page.goto(service.windowUrl);
    await heading(person.page, 'Home').waitFor();
    await using stranger = await serveStranger('localhost');
    const page = await person.context.newPage();
    await page.goto(stranger.url);
    await page.evaluate((url) => {
      const frame = document.createElement('iframe');
      frame.src = url;
      document.body.append(frame);
    }, service.windowOrigin);
    await expect.poll(() => page.frames()[1]?.url()).toBe('chrome-error://chromewebdata/');

    const [opened] = await Promise.all([
      person.context.waitForEvent('page'),
      page.evaluate((url) => {
        (window as unknown as { opened: Window | null }).opened = window.open(url);
      }, service.windowOrigin),
    ]);
    await heading(opened, 'This window needs a new link').waitFor();
    expect(await opened.evaluate(() => window.opener as unknown)).toBeNull();
    expect(await page.evaluate(() => (window as unknown as { opened: Window | null }).opened?.closed)).toBe(
      true,
    );
  });
});

describe('a secret that was on the screen', () => {
  test('is nowhere in the page once its screen is left, and never in the browser’s storage', async () => {
    using place = newVaultHome();
    await using service = await place.serve();
    await using person = await openWindow(browser);
    const { page } = person;
    await page.goto(service.windowUrl);

    const texts = new Map<string, string>();
    const words = await firstRun(page, async (screen) => {
      texts.set(screen, await written(page));
      texts.set(`${screen}, stored`, await stored(page));
    });
    texts.set('inside', `${await written(page)}\n${await everything(page)}`);
    texts.set('inside, stored', await stored(page));
    const pairs = [...texts].map(([where, text]) => [where, pairsIn(words, text).length] as const);
    expect(pairs.filter(([, found]) => found > 0)).toEqual([
      ['first-run-phrase', 23],
      ['first-run-phrase-copying', 23],
    ]);
    for (const [where, text] of texts) if (where.endsWith('stored')) expect(text).not.toContain(password);
    expect(await everything(page)).not.toContain(password);

    await goTo(page, 'Connect');
    await chooseSegment(page, 'Permissions', 'Everything');
    await button(page, 'Create key').click();
    await hold(button(page, 'Show the private key'));
    const environment = await page.getByRole('region', { name: 'environment lines' }).innerText();
    const [, privateKey = ''] = /^API_PRIVATE_KEY=([0-9a-f]{64})$/m.exec(environment) ?? [];
    expect(privateKey).not.toBe('');
    expect(await everything(page)).toContain(privateKey);
    expect(await stored(page)).not.toContain(privateKey);
    await goTo(page, 'Wallets');
    expect(await everything(page)).not.toContain(privateKey);
    await page.goBack();
    await heading(page, 'Connect').waitFor();
    await button(page, 'Create key with a budget').waitFor();
    expect(await everything(page)).not.toContain(privateKey);

    // A locked vault shows nothing of what it holds, and takes what is typed no further than the field.
    await button(page, 'Lock').click();
    await heading(page, 'Unlock').waitFor();
    await page.getByRole('textbox', { name: 'Password', exact: true }).fill(password);
    await button(page, 'Unlock').click();
    await heading(page, 'Connect').waitFor();
    expect(await everything(page)).not.toContain(password);

    expect(await storedNames(page)).toEqual({
      local: [],
      session: ['keyhearth.session'],
      databases: [],
      caches: [],
    });
    const [cookie, ...others] = await person.context.cookies();
    expect(others).toEqual([]);
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/window', expires: -1 });
  });

  test('is in no call that the window remembers, once the part that made the call is gone', async () => {
    using place = newVaultHome();
    await using service = await place.serve();
    await using person = await openWindow(browser);
    const { page } = person;
    await page.goto(service.windowUrl);
    const words = await firstRun(page);
    await expect.poll(() => remembered(page)).not.toContain(password);
    expect(await remembered(page)).not.toContain(words.join(' '));

    await lock(page);
    await page.getByRole('textbox', { name: 'Password', exact: true }).fill(password);
    await button(page, 'Unlock').click();
    await heading(page, 'Home').waitFor();
    await expect.poll(() => remembered(page)).not.toContain(password);
  });
});

const getPage = (service: Service): ReturnType<typeof send> =>
  send(service.url, { method: 'GET', headers: { accept: 'text/html' } });

/** A foreign page on this machine. */
async function serveStranger(host: string): Promise<{ readonly url: string } & AsyncDisposable> {
  const server = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>A stranger</title>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${String(port)}/`,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

interface Outcome {
  readonly what: string;
  /** True if the page could read an answer. */
  readonly answered: boolean;
}

/** Runs in the stranger's page: every way to send something that a page has. */
async function attack(url: string): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  const attempt = async (what: string, init: RequestInit, path: string) => {
    try {
      const response = await fetch(`${url}${path}`, { credentials: 'include', ...init });
      outcomes.push({ what, answered: response.type !== 'opaque' });
    } catch {
      outcomes.push({ what, answered: false });
    }
  };
  const args = JSON.stringify({ args: [] });
  const json = { 'content-type': 'application/json' };
  for (const path of [
    '/window/status',
    '/window/lock',
    '/window/newRecoveryPhrase',
    '/public/v1/query/whoami',
  ]) {
    await attempt(`JSON to ${path}`, { method: 'POST', headers: json, body: args }, path);
    await attempt(`text to ${path}`, { method: 'POST', body: args }, path);
    await attempt(`unseen text to ${path}`, { method: 'POST', body: args, mode: 'no-cors' }, path);
  }
  await attempt('the events', { mode: 'no-cors' }, '/window/events');
  // A form needs no permission to send, and its answer goes to a frame that cannot be read.
  const frame = document.createElement('iframe');
  frame.name = 'answer';
  const form = document.createElement('form');
  form.target = 'answer';
  form.method = 'post';
  form.enctype = 'text/plain';
  form.action = `${url}/window/lock`;
  const field = document.createElement('input');
  field.name = '{"args":[],"x":"';
  field.value = '"}';
  form.append(field);
  document.body.append(frame, form);
  const answered = new Promise((resolve) => {
    frame.addEventListener('load', resolve, { once: true });
  });
  form.submit();
  await answered;
  return outcomes;
}

/** The page as an attacker could read it: its markup, and the values of its fields. */
const everything = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const fields = [...document.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>('input, textarea')];
    return [
      document.documentElement.outerHTML,
      ...fields.map(({ value }) => value),
      location.href,
      document.title,
    ].join('\n');
  });

/** Every text of the page, hidden or not, piece by piece; not what a person typed into its fields. */
const written = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const texts = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
    const pieces: string[] = [];
    while (texts.nextNode() !== null) pieces.push(texts.currentNode.nodeValue ?? '');
    return pieces.join('\n');
  });

/** Arguments and answers of the calls that React Query has in its memory, found by React's own tree. */
const remembered = (page: Page): Promise<string> =>
  page.evaluate(() => {
    interface Part {
      readonly memoizedProps: { readonly client?: Client } | null;
      readonly child: Part | null;
      readonly sibling: Part | null;
    }
    interface Client {
      getMutationCache(): { getAll(): readonly { readonly state: unknown }[] };
    }
    const clientIn = (part: Part | null): Client | undefined =>
      part === null
        ? undefined
        : (part.memoizedProps?.client ?? clientIn(part.child) ?? clientIn(part.sibling));
    const [, tree] =
      Object.entries(document.getElementById('window') ?? {}).find(([key]) =>
        key.startsWith('__reactContainer$'),
      ) ?? [];
    const client = clientIn(tree as Part);
    if (client === undefined) throw new Error('the window has no client of React Query');
    return JSON.stringify(
      client
        .getMutationCache()
        .getAll()
        .map(({ state }) => state),
    );
  });

const stored = (page: Page): Promise<string> =>
  page.evaluate(() =>
    JSON.stringify([
      Object.entries(localStorage),
      Object.entries(sessionStorage),
      document.cookie,
      history.state,
    ]),
  );

const storedNames = (page: Page): Promise<Record<string, readonly string[]>> =>
  page.evaluate(async () => ({
    local: Object.keys(localStorage),
    session: Object.keys(sessionStorage),
    databases: (await indexedDB.databases()).map(({ name }) => name ?? ''),
    caches: await caches.keys(),
  }));
