/**
 * The window's notices about the vault’s disk, and about recovery words that were never shown: on every
 * screen, until they are resolved.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { makeConfig } from '../../main/app/config.ts';
import { openVault } from '../../main/app/compose.ts';
import { noSmallDisks, SmallDisk } from '../storage/small-disk.ts';
import { CommandProcess, temporaryDirectory, TestClient, testKeyOf } from '../support/support.ts';
import { sharedChromium, openWindow, takePicture, openHome } from './support/chromium.ts';
import { axeFindings, tooWideFindings } from './support/inspect.ts';
import { goTo, heading, lock } from './support/steps.ts';

const password = 'a password of the storage test';

let browser: Browser;

beforeAll(async () => {
  browser = await sharedChromium();
});

const obstacle = noSmallDisks();
if (obstacle !== undefined) process.stderr.write(`${obstacle}\n`);

test.skipIf(obstacle !== undefined)(
  'a full disk is reported on every screen, until there is room',
  async () => {
    await using disk = await SmallDisk.mount(6 * 1024);
    const passwordFile = join(disk.path, 'password');
    writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
    const places = ['--data-dir', join(disk.mounted, 'vault'), '--config-dir', join(disk.path, 'config')];
    const unlocking = ['--no-keychain', '--password-file', passwordFile];
    const { stdout } = await disk.run(['init', '--json', ...unlocking, ...places]);
    const { organizationId } = JSON.parse(stdout) as { readonly organizationId: string };
    await using service = disk.start(['serve', '--ui', '--port', '0', '--json', ...unlocking, ...places]);
    const { url, windowUrl } = JSON.parse(await service.nextLine()) as Record<'url' | 'windowUrl', string>;
    await using person = await openHome(windowUrl);
    const { page } = person;
    const notice = page.getByRole('alert').filter({ hasText: 'The vault’s disk is full' });
    expect(await notice.count()).toBe(0);

    const keys = join(disk.path, 'config', 'keys');
    const key = (kind: string): string => readFileSync(join(keys, `owner.${kind}`), 'utf8').trim();
    const root = new TestClient(url, organizationId, testKeyOf(key('private'), key('public')));
    disk.fill();
    // SQLite's log has a little room of its own.
    for (let status = 200, index = 0; status === 200; index++) {
      const privateKeyTagName = `Tag ${String(index)}`;
      const tag = { privateKeyTagName, privateKeyIds: [] };
      ({ status } = await root.submit('create_private_key_tag', 'CREATE_PRIVATE_KEY_TAG', tag));
    }
    await notice.waitFor();
    await goTo(page, 'Settings');
    await heading(page, 'Settings').waitFor();
    expect(await notice.innerText()).toContain('vault.db can’t be written');
    await takePicture(page, 'storage-full');
    expect(await axeFindings(page, 'storage-full')).toEqual([]);
    // The threshold says it too, and the vault can be locked.
    await lock(page);
    await notice.waitFor();
    disk.empty();
    await notice.waitFor({ state: 'detached' });
    await service.stop();
  },
);

test('words that was never shown are, until there are new ones', async () => {
  using directory = temporaryDirectory();
  const places = { dataDir: join(directory.path, 'vault'), configDir: join(directory.path, 'config') };
  const made = openVault(makeConfig({ ...places, keychain: false }, {}));
  // As a command leaves it that is killed before it has shown the words.
  await made.setUp({
    organizationName: 'Acme',
    userName: 'Ada',
    useKeychain: false,
    password,
    recoveryPhrase: `${'abandon '.repeat(23)}art`,
    recoveryConfirmed: false,
    wordsAreYetToBeShown: true,
  });
  made.close();
  const passwordFile = join(directory.path, 'password');
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  await using service = new CommandProcess([
    ...['serve', '--ui', '--port', '0', '--json', '--no-keychain', '--password-file', passwordFile],
    ...['--data-dir', places.dataDir, '--config-dir', places.configDir],
  ]);
  const { windowUrl } = JSON.parse(await service.nextLine()) as { readonly windowUrl: string };
  await using person = await openWindow(browser);
  const { page } = person;
  await page.goto(windowUrl);
  const notice = page.getByRole('alert').filter({ hasText: 'was never shown' });
  await notice.waitFor();
  await takePicture(page, 'words-not-shown');
  expect(await axeFindings(page, 'words-not-shown')).toEqual([]);
  await notice.getByRole('link', { name: 'Generate 24 new words' }).click();
  await heading(page, 'Unlock methods').waitFor();
  await page.setViewportSize({ width: 360, height: 720 });
  expect(await tooWideFindings(page, 'words-not-shown')).toEqual([]);
});
