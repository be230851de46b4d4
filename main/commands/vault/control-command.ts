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
    description: 'say whether the vault runs, and what state it is in',
    options: [],
    run: async (config, _options, json) => {
      const { status } = await import('./control.ts');
      await status(config, json);
    },
  });
  addSubcommand(program, {
    name: 'lock',
    description: 'drop the keys of the running vault from memory',
    options: [],
    run: async (config, _options, json) => {
      const { lock } = await import('./control.ts');
      await lock(config, json);
    },
  });
  addSubcommand(program, {
    name: 'freeze',
    description:
      'stop all signing: drop the keys, reject what waits, and unlock with a secret alone from then on',
    options: [],
    run: async (config, _options, json) => {
      const { freeze } = await import('./freeze.ts');
      await freeze(config, json);
    },
  });
  addSubcommand<UnlockFlags>(program, {
    name: 'unlock',
    description: 'unlock the running vault',
    options: [...secretOptions(), new Option('--keychain', 'unlock from the operating system keychain')],
    run: async (config, flags, json) => {
      const { unlock } = await import('./control.ts');
      await unlock(config, json, { ...flags, keychain: flags.keychain === true });
    },
  });
  addSubcommand<{ browser: boolean }>(program, {
    name: 'open',
    description: 'open the window of the running vault in the browser',
    options: [new Option('--no-browser', 'write the link only')],
    run: async (config, { browser }, json) => {
      const { openWindow } = await import('./control.ts');
      await openWindow(config, json, browser);
    },
  });
}
