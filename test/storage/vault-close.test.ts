/** What is left of a vault that could not be opened, or not be ended as it should: nothing that is held. */
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

test('of one that ends, each part is ended, whatever becomes of the others', async () => {
  using home = temporaryDirectory();
  const config = makeConfig({ dataDir: home.path, configDir: home.path, keychain: false, port: '0' }, {});
  const vault = await startVault(config);
  vault.lastUses.close = () => Promise.reject(new Error('it does not end'));
  await expect(vault.close()).rejects.toThrow('it does not end');
  await expect(fetch(vault.url)).rejects.toThrow('fetch failed');
  openVault(config).close();
});
