/** The declaration of `keyhearth dev`. */
import { Option, type Command } from 'commander';
import { allowOrigin, oidcIssuer, port, repeatable, rpId, verbose } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';
import { defined } from '../../lib/defined.ts';

interface DevFlags {
  readonly port?: string;
  readonly seed?: string;
  readonly clock: 'real' | 'fixed';
  readonly ui?: boolean;
  readonly host?: string;
  readonly allowHost: readonly string[];
  readonly stdinLifetime?: boolean;
}

export function declareDev(program: Command): void {
  addSubcommand<DevFlags>(program, {
    name: 'dev [command...]',
    description:
      'Serve a temporary vault in memory for tests; prints one JSON line, or runs a command with KEYHEARTH_URL and others set',
    describes: { command: 'Command to run, after --; the vault ends with it' },
    options: [
      port(),
      new Option('--seed <text>', 'Generate the same IDs, keys, mnemonics and addresses at each run'),
      new Option('--clock <mode>', 'Clock of the vault').choices(['real', 'fixed']).default('real'),
      new Option('--ui', 'Serve the window in the browser too'),
      new Option(
        '--host <address>',
        'Listen on this IP address too, such as 0.0.0.0 in a container; anyone who can connect can reset the vault and read its messages',
      ),
      repeatable('--allow-host <name>', 'Accept requests to this host name, or NAME:PORT for a mapped port'),
      new Option('--stdin-lifetime', 'Exit when standard input closes'),
      allowOrigin(),
      rpId(),
      oidcIssuer(),
      verbose(),
    ],
    run: async (config, { seed, clock, port: wanted, stdinLifetime = false, ...exposure }, command) => {
      const { dev } = await import('./dev.ts');
      const { readExposure } = await import('./dev-exposure.ts');
      await dev(
        {
          ...config,
          exposure: readExposure(exposure),
          // The command gets the port from its environment. The configured one may be a permanent vault's.
          port: command.length > 0 && wanted === undefined ? 0 : config.port,
        },
        { clock, stdinLifetime, command, ...defined({ seed }) },
      );
    },
  });
}
