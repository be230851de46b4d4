/** The declarations of `keyhearth status`, `lock`, `freeze`, `unlock` and `open`. */
import { Option, type Command } from 'commander';
import { secretOptions } from '../shared/options.ts';
import type { SecretOptions } from '../shared/proof.ts';
import { addSubcommand } from '../shared/subcommand.ts';

interface UnlockFlags extends SecretOptions {
  readonly keychain?: true;
}

export function declareControl(program: Command): void {
  addSubcommand(program, {
    name: 'status',
    description: 'Show whether the vault is running, locked or frozen',
    options: [],
    run: async (config, _options, json) => {
      const { status } = await import('./control.ts');
      await status(config, json);
    },
  });
  addSubcommand(program, {
    name: 'lock',
    description: 'Lock the vault: erase its keys from memory',
    options: [],
    run: async (config, _options, json) => {
      const { lock } = await import('./control.ts');
      await lock(config, json);
    },
  });
  addSubcommand(program, {
    name: 'freeze',
    description: 'Freeze the vault: stop all signing at once; a secret is needed to unlock',
    options: [],
    run: async (config, _options, json) => {
      const { freeze } = await import('./freeze.ts');
      await freeze(config, json);
    },
  });
  addSubcommand<UnlockFlags>(program, {
    name: 'unlock',
    description: 'Unlock the running vault',
    options: [...secretOptions(), new Option('--keychain', 'Unlock with the operating system keychain')],
    run: async (config, flags, json) => {
      const { unlock } = await import('./control.ts');
      await unlock(config, json, { ...flags, keychain: flags.keychain === true });
    },
  });
  addSubcommand<{ browser: boolean }>(program, {
    name: 'open',
    description: 'Open the window of the running vault in the browser',
    options: [new Option('--no-browser', 'Print the link only')],
    run: async (config, { browser }, json) => {
      const { openWindow } = await import('./control.ts');
      await openWindow(config, json, browser);
    },
  });
}
