/** The packed application in the real Electron: what no stand-in can show. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FuseV1Options, getCurrentFuseWire } from '@electron/fuses';
import type { ElectronApplication, Page } from 'playwright-core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { WindowRpc, CallAnswer } from '../../preload/contract.ts';
import { button, firstRun, goTo, heading, makeWallet, password } from '../browser/support/steps.ts';
import { pageProcesses } from '../smoke/sandbox.ts';
import { isAlive } from '../smoke/system.ts';
import { ethereumAccount } from '../support/support.ts';
import { WebhookReceiver } from '../delivery/webhook-receiver.ts';
import { findApplication, launch } from './application.ts';

declare const keyhearth: WindowRpc;

let directory: string;
let application: ElectronApplication;
let page: Page;
const complaints: string[] = [];

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'keyhearth-electron-'));
  complaints.length = 0;
  await open();
});
afterEach(async () => {
  await application.close();
  rmSync(directory, { recursive: true, force: true });
});

const vault = (): string => join(directory, 'vault');

async function open(): Promise<void> {
  application = await launch(vault());
  page = await application.firstWindow();
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
}

const call = (path: string, body: Readonly<Record<string, unknown>>): Promise<CallAnswer> =>
  page.evaluate(([where, what]) => keyhearth.call(where, what), [path, body] as const);

const submit = (operation: string, type: string, parameters: object): Promise<CallAnswer> =>
  call(`/public/v1/submit/${operation}`, { type: `ACTIVITY_TYPE_${type}`, parameters });

/** A vault without the way through the first run. */
async function create(): Promise<void> {
  await page.evaluate(async (secret) => {
    const words = (await keyhearth.newRecoveryPhrase()).phrase.split(' ');
    await keyhearth.create({
      organizationName: 'Home',
      userName: 'Ada',
      useKeychain: false,
      password: secret,
      confirmedWords: [1, 12, 24].map((position) => ({ position, word: words[position - 1] ?? '' })),
    });
  }, password);
}

test('a person makes a vault and a wallet, and the page keeps to its policy', async () => {
  await firstRun(page);
  await goTo(page, 'Wallets');
  await makeWallet(page, 'Savings', ['Ethereum', 'Solana']);
  expect(
    await page.evaluate(() => [typeof keyhearth, 'require' in globalThis, 'process' in globalThis]),
  ).toEqual(['object', false, false]);
  await application.evaluate(({ powerMonitor }) => powerMonitor.emit('lock-screen'));
  await button(page, 'Unlock').first().waitFor();
  expect(complaints).toEqual([]);
});

describe('in the archive', () => {
  test('the service signs, and its threads start: backup, verification and webhooks', async () => {
    await using receiver = await WebhookReceiver.start();
    await create();
    const made = await submit('create_wallet', 'CREATE_WALLET', {
      walletName: 'W',
      accounts: [ethereumAccount],
    });
    const [address] = /0x[0-9a-fA-F]{40}/.exec(JSON.stringify(made.body)) ?? [];
    const signed = await submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', {
      signWith: address,
      payload: 'packed',
      encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
      hashFunction: 'HASH_FUNCTION_KECCAK256',
    });
    expect(signed.status, JSON.stringify(signed.body)).toBe(200);
    const findings = await page.evaluate(() => keyhearth.selfTest());
    expect(findings.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
    const endpoint = await submit('create_webhook_endpoint', 'CREATE_WEBHOOK_ENDPOINT', {
      name: 'Here',
      url: receiver.url,
    });
    const [, endpointId] = /"endpointId":"([^"]+)"/.exec(JSON.stringify(endpoint.body)) ?? [];
    await submit('test_webhook_endpoint', 'TEST_WEBHOOK_ENDPOINT', { endpointId });
    await expect.poll(() => receiver.events.length).toBeGreaterThan(0);

    const kept = join(directory, 'kept.keyhearth');
    await page.evaluate(async (file) => {
      await keyhearth.backUp({ file });
      await keyhearth.verifyBackup({ file });
    }, kept);
    expect(existsSync(kept)).toBe(true);
  });

  test('the vault opens again after a restart, and the port answers', async () => {
    await create();
    await application.close();
    await open();
    await heading(page, /.*/).first().waitFor();
    const { state, url } = await page.evaluate(() => keyhearth.status());
    expect(state).toBe('locked');
    const answer = await fetch(`${url}/public/v1/discovery/keys`);
    expect(answer.status).toBe(200);
    const opened = await page.evaluate(
      (secret) => keyhearth.unlock({ with: 'password', password: secret }),
      password,
    );
    expect(opened.state).toBe('unlocked');
  });
});

/** The process itself: on Windows Playwright knows of a shell alone. */
const processId = (): Promise<number> => application.evaluate(() => process.pid);

test('its page runs in Chromium’s sandbox', async () => {
  const { hasSwitch, pages } = await application.evaluate(({ app }) => ({
    hasSwitch: app.commandLine.hasSwitch('no-sandbox'),
    pages: app
      .getAppMetrics()
      .filter(({ type }) => type === 'Tab')
      .map(({ pid, sandboxed }) => ({ pid, isSandboxed: sandboxed === true })),
  }));
  expect(hasSwitch).toBe(false);
  expect(pages).not.toEqual([]);
  // Electron knows of it on macOS and Windows; on Linux the kernel does.
  const found = process.platform === 'linux' ? pageProcesses(await processId()) : pages;
  expect(found.map(({ pid }) => pid)).toEqual(expect.arrayContaining(pages.map(({ pid }) => pid)));
  expect(found.filter(({ isSandboxed }) => !isSandboxed)).toEqual([]);
});

test('its images for the tray are read from the archive', async () => {
  const names = ['tray', 'trayWaiting', 'trayTemplate', 'trayWaitingTemplate'];
  const empty = await application.evaluate(
    ({ app, nativeImage }, all) =>
      all.filter((name) =>
        nativeImage.createFromPath(`${app.getAppPath()}/main/desktop/icons/${name}.png`).isEmpty(),
      ),
    names,
  );
  expect(empty).toEqual([]);
});

test.skipIf(process.platform !== 'linux')('calls itself what its desktop entry is called', async () => {
  const { desktopName } = JSON.parse(
    readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'),
  ) as { readonly desktopName: string };
  expect(await application.evaluate(() => process.env['CHROME_DESKTOP'])).toBe(desktopName);
});

describe('ends with its window open, and opens again, after', () => {
  const signal = (name: NodeJS.Signals) => async (): Promise<void> => {
    process.kill(await processId(), name);
  };
  const ways: readonly (readonly [string, () => Promise<unknown>])[] = [
    [
      'the menu’s Quit',
      () =>
        application.evaluate(
          ({ app }) =>
            void setImmediate(() => {
              app.quit();
            }),
        ),
    ],
    // Windows has no such signals.
    ...(process.platform === 'win32'
      ? []
      : ([
          ['SIGTERM', signal('SIGTERM')],
          ['SIGINT', signal('SIGINT')],
        ] as const)),
  ];

  test.each(ways)('%s', async (_name, quit) => {
    await create();
    const pid = await processId();
    const started = performance.now();
    await quit();
    await expect.poll(() => isAlive(pid)).toBe(false);
    expect(performance.now() - started).toBeLessThan(10_000);
    // Closing the vault removes its note.
    expect(existsSync(join(vault(), 'endpoint.json'))).toBe(false);
    await open();
    expect((await page.evaluate(() => keyhearth.status())).state).toBe('locked');
  });
});

test('a second start brings the first to the front, and ends', async () => {
  const program = findApplication() ?? '';
  const second = spawn(program, ['--data-dir', vault(), '--port', '0'], { stdio: 'ignore' });
  const code = await new Promise((resolve) => second.once('exit', resolve));
  expect(code).toBe(0);
  expect(application.windows()).toHaveLength(1);
});

test('the program has its fuses burnt, and but for the inspector’s they are those of a release', async () => {
  const wire = await getCurrentFuseWire(findApplication() ?? '');
  const fuses = Object.entries(FuseV1Options).flatMap(([name, index]) =>
    typeof index === 'number' ? [[name, String.fromCharCode(wire[index] ?? 0) === '1'] as const] : [],
  );
  expect(Object.fromEntries(fuses)).toMatchObject({
    RunAsNode: false,
    EnableCookieEncryption: false,
    EnableNodeOptionsEnvironmentVariable: false,
    EnableNodeCliInspectArguments: true,
    EnableEmbeddedAsarIntegrityValidation: true,
    OnlyLoadAppFromAsar: true,
    GrantFileProtocolExtraPrivileges: false,
  });
});
