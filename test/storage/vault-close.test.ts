/** A vault that could not be opened, or not be closed properly, holds no resources. */
import { expect, test } from 'vitest';
import { openVault, startVault } from '../../main/app/compose.ts';
import { makeConfig } from '../../main/app/config.ts';
import { temporaryDirectory } from '../support/support.ts';

test('one that cannot be opened can be tried again', () => {
  using home = temporaryDirectory();
  const config = makeConfig({ dataDir: home.path, configDir: home.path, keychain: false, port: '0' }, {});
  expect(() => openVault({ ...config, rendererDirectory: null as never })).toThrow(TypeError);
  openVault(config).close();
});

test('of one that ends, each part is ended, even if others fail', async () => {
  using home = temporaryDirectory();
  const config = makeConfig({ dataDir: home.path, configDir: home.path, keychain: false, port: '0' }, {});
  const vault = await startVault(config);
  vault.lastUses.close = () => Promise.reject(new Error('it does not end'));
  await expect(vault.close()).rejects.toThrow('it does not end');
  await expect(fetch(vault.url)).rejects.toThrow('fetch failed');
  openVault(config).close();
});
