/** The declaration of `keyhearth serve`. */
import { Option, type Command } from 'commander';
import {
  allowOrigin,
  noKeychain,
  oidcIssuer,
  passwordFd,
  passwordFile,
  port,
  rpId,
  verbose,
} from '../shared/options.ts';
import { exitCodes } from '../shared/output.ts';
import type { PasswordOptions } from '../shared/secrets.ts';
import { isFinal, launchdOption } from './service-files.ts';
import { addSubcommand } from '../shared/subcommand.ts';
import { defined } from '../../lib/defined.ts';

interface ServeFlags extends PasswordOptions {
  readonly open?: boolean;
}

/** launchd starts again whatever ends with an error. */
function endForLaunchd(): void {
  process.on('exit', () => {
    if (isFinal(process.exitCode)) process.exitCode = exitCodes.ok;
  });
}

export function declareServe(program: Command): void {
  const command = addSubcommand<ServeFlags>(program, {
    name: 'serve',
    description: 'Serve the API on this computer; unlocks with the keychain or a password',
    options: [
      port(),
      new Option('--ui', 'Serve the window in the browser too'),
      new Option('--open', 'Open the window in the browser'),
      allowOrigin(),
      rpId(),
      oidcIssuer(),
      verbose(),
      noKeychain(),
      passwordFile(),
      passwordFd(),
      new Option(launchdOption, 'For launchd: exit with 0 when a restart would not help').hideHelp(),
    ],
    run: async (config, { open = false, json, ...flags }) => {
      const { serve } = await import('./serve.ts');
      const { readPasswordBytes } = await import('../shared/secrets.ts');
      const password = readPasswordBytes(flags, config.credentialsDirectory);
      await serve(config, { json, open, ...defined({ password }) });
    },
  });
  // At once: what is wrong with the other options is final too.
  command.on('option:launchd', endForLaunchd);
}
