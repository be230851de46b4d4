/** Chromium for the tests of the window, and windows in it that report what the page's policy refuses. */
import { accessSync, constants } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import { repeatLostPresses } from './presses.ts';
import { heading } from './steps.ts';

/** The directory for pictures of the screens; not kept in git. */
const pictures = join(import.meta.dirname, '../../output/browser');

/** `PICTURES=all` keeps one of every screen, which takes as long as all that is looked for on it. */
const keepsAll = process.env['PICTURES'] === 'all';

/** The shell is Chromium without its own windows, and takes two thirds of the processor's time. */
const names = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
];

/**
 * Playwright's own list of features that are off, repeated, since Chromium only uses the last list. In
 * addition the suggestions of the address bar, which no test uses: they are two pages of Chromium's own,
 * loaded again behind each window, and took as long as a window of ours.
 */
const turnedOff = [
  ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'HttpsUpgrades'],
  ...['HttpsFirstBalancedModeAutoEnable', 'LensOverlay', 'MediaRouter', 'PaintHolding'],
  ...['ThirdPartyStoragePartitioning', 'AvoidCorsURLLoaderRestartOnRedirect', 'TcpPortRandomizationWin'],
  ...['OptimizationHints', 'NetworkTimeServiceQuerying', 'AimEnabled', 'PreconnectToSearch'],
  ...['msForceBrowserSignIn', 'msEdgeUpdateLaunchServicesPreferredVersion'],
  ...['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup'],
];

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--disable-features=${turnedOff.join(',')}`,
];

/** @throws Error with the line that installs it. */
function chromiumPath(): string {
  const given = process.env['CHROMIUM_PATH'] ?? '';
  const directories = (process.env['PATH'] ?? '').split(delimiter).filter((directory) => directory !== '');
  const candidates =
    given === '' ? names.flatMap((name) => directories.map((directory) => join(directory, name))) : [given];
  const found = candidates.find(isExecutable);
  if (found !== undefined) return found;
  const where = given === '' ? `on the PATH (${names.join(', ')})` : `at CHROMIUM_PATH=${given}`;
  throw new Error(`There is no Chromium ${where}; install it with: apt-get install -y chromium`);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export async function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: chromiumPath(), args: flags });
}

let shared: Promise<Browser> | undefined;

/** The Chromium of this process, for all files of tests that run in it: nothing is kept between one window and the next. */
export function sharedChromium(): Promise<Browser> {
  shared ??= launchChromium().then((browser) =>
    browser.on('disconnected', () => {
      shared = undefined;
    }),
  );
  return shared;
}

/** A refusal by the page's Content-Security-Policy. */
export interface Violation {
  readonly page: string;
  readonly directive: string;
  readonly blocked: string;
}

/** One person's browser: a context of its own, and what went wrong in its pages. */
export interface BrowserWindow extends AsyncDisposable {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly violations: Violation[];
  /** Errors on the console and uncaught exceptions; refused requests, which the window shows itself, are left out. */
  readonly complaints: string[];
}

/** Longer than anything in the window takes: what is not there by then does not come. Milliseconds. */
const patience = 45_000;

export async function openWindow(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<BrowserWindow> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    locale: 'en-GB',
    timezoneId: 'UTC',
    colorScheme: 'light',
    // Colours and positions are final at once, for pictures and for measuring contrast.
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
    ...options,
  });
  context.setDefaultTimeout(patience);
  const violations: Violation[] = [];
  const complaints: string[] = [];
  await context.exposeBinding('reportViolation', (_source, violation: Violation) => {
    violations.push(violation);
  });
  await context.addInitScript(() => {
    const report = (globalThis as unknown as { reportViolation: (violation: Violation) => unknown })
      .reportViolation;
    document.addEventListener('securitypolicyviolation', (event) => {
      report({ page: location.href, directive: event.effectiveDirective, blocked: event.blockedURI });
    });
  });
  context.on('console', (message) => {
    if (message.type() !== 'error' || message.text().startsWith('Failed to load resource')) return;
    complaints.push(message.text());
  });
  context.on('weberror', (error) => {
    complaints.push(error.error().stack ?? error.error().message);
  });
  const page = await context.newPage();
  await repeatLostPresses(context, page);
  open.add(context);
  return {
    context,
    page,
    violations,
    complaints,
    [Symbol.asyncDispose]: async () => {
      if (keepsAll) {
        const test = expect.getState().currentTestName?.replaceAll(/\W+/g, '-') ?? 'a-test';
        await picture(page, `end-of-${test}`).catch(() => undefined);
      }
      closed.push(...(await screensOf(context)));
      open.delete(context);
      await context.close();
    },
  };
}

/** The window of a person who opened a link of an unlocked vault. */
export async function openHome(link: string): Promise<BrowserWindow> {
  await using opened = new AsyncDisposableStack();
  const person = opened.use(await openWindow(await sharedChromium()));
  await person.page.goto(link);
  await heading(person.page, 'Home').waitFor();
  opened.move();
  return person;
}

/** The windows that are open now, and what those showed that were closed since the last test began. */
const open = new Set<BrowserContext>();
let closed: string[] = [];

/** @returns the address and the content of each page that is open, or was when its window was closed in this test. */
export async function lastScreens(): Promise<readonly string[]> {
  return [...closed, ...(await Promise.all([...open].map(screensOf))).flat()];
}

export function forgetLastScreens(): void {
  closed = [];
}

const screensOf = (context: BrowserContext): Promise<readonly string[]> =>
  Promise.all(
    context.pages().map(async (page) => {
      // A page that is stuck does not answer.
      const content = await page.locator('body').ariaSnapshot({ timeout: 2_000 }).catch(String);
      return `${page.url().replace(/#code=.*/, '#code=…')}\n${content}`;
    }),
  );

/** Keeps a picture of the whole screen, including the part below the fold, if pictures are wanted. */
export async function takePicture(page: Page, name: string): Promise<void> {
  if (!keepsAll) return;
  // Sticky elements would appear at their current position, in the middle of the picture.
  await page.evaluate(() => {
    window.scrollTo(0, 0);
  });
  await picture(page, name, true);
}

async function picture(page: Page, name: string, fullPage = false): Promise<void> {
  await mkdir(pictures, { recursive: true });
  await page.screenshot({ path: join(pictures, `${name}.png`), fullPage, animations: 'disabled' });
}
