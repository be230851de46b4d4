/**
 * Assumptions of the tests about Chromium: the processes that run pages without a sandbox, and the features
 * that are off.
 */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pageProcesses } from '../smoke/sandbox.ts';
import { launchChromium } from './support/chromium.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());

test('the kernel tells which processes run pages, and that these have no sandbox', async () => {
  // The tests' Chromium starts with --no-sandbox: it may run as root.
  await browser.newPage();
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const idsOf = (kind: string): number[] =>
    processInfo.filter(({ type }) => type === kind).map(({ id }) => id);
  const [program = 0] = idsOf('browser');
  const found = pageProcesses(program);
  expect(found.map(({ pid }) => pid)).toEqual(expect.arrayContaining(idsOf('renderer')));
  expect(idsOf('renderer')).not.toEqual([]);
  expect(found.filter(({ isSandboxed }) => isSandboxed)).toEqual([]);
});

test('everything that Playwright turns off is off: Chromium goes by the last list alone', async () => {
  const session = await browser.newBrowserCDPSession();
  const { commandLine } = await session.send('SystemInfo.getInfo');
  const lists = [...commandLine.matchAll(/--disable-features=(\S*)/g)].map(([, list = '']) =>
    list.split(','),
  );
  expect(lists.length).toBeGreaterThan(1);
  expect(lists.at(-1)).toEqual(expect.arrayContaining(lists.flat()));
});
