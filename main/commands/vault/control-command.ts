/** The declarations of `keyhearth status`, `lock`, `freeze`, `unlock` and `open`. */
import { Option, type Command } from 'commander';
import { secretOptions } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';
import type { UnlockOptions } from './control.ts';

export function declareControl(program: Command): void {
  addSubcommand(program, {
    name: 'status',
    description: 'Show whether the vault is running, locked or frozen',
    options: [],
    run: async (config, { json }) => (await import('./control.ts')).status(config, json),
  });
  addSubcommand(program, {
    name: 'lock',
    description: 'Lock the vault: erase its keys from memory',
    options: [],
    run: async (config, { json }) => (await import('./control.ts')).lock(config, json),
  });
  addSubcommand(program, {
    name: 'freeze',
    description: 'Freeze the vault: stop all signing at once; a secret is needed to unlock',
    options: [],
    run: async (config, { json }) => (await import('./freeze.ts')).freeze(config, json),
  });
  addSubcommand<UnlockOptions>(program, {
    name: 'unlock',
    description: 'Unlock the running vault',
    options: [...secretOptions(), new Option('--keychain', 'Unlock with the operating system keychain')],
    run: async (config, flags) => (await import('./control.ts')).unlock(config, flags),
  });
  addSubcommand<{ browser: boolean }>(program, {
    name: 'open',
    description: 'Open the window of the running vault in the browser',
    options: [new Option('--no-browser', 'Print the link only')],
    run: async (config, { browser, json }) =>
      (await import('./control.ts')).openWindow(config, json, browser),
  });
}
