/** The declaration of `keyhearth dev`. */
import { Option, type Command } from 'commander';
import { allowOrigin, oidcIssuer, port, repeatable, rpId, verbose } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';
import { defined } from '../../lib/defined.ts';

interface DevFlags {
  readonly port?: string;
  readonly seed?: string;
  readonly clock: 'real' | 'fixed';
  readonly ui?: true;
  readonly host?: string;
  readonly allowHost: readonly string[];
  readonly stdinLifetime?: true;
}

export function declareDev(program: Command): void {
  addSubcommand<DevFlags>(program, {
    name: 'dev [command...]',
    description:
      'serve an ephemeral vault for tests: in memory, reproducible from a seed; writes one JSON line when ready, or runs the command after -- with KEYHEARTH_URL and the like, and ends with it',
    options: [
      port(),
      new Option('--seed <text>', 'make ids, keys, mnemonics and addresses reproducible'),
      new Option('--clock <mode>', 'time of records: the machine’s, or one that stands still')
        .choices(['real', 'fixed'])
        .default('real'),
      new Option('--ui', 'serve the window to the browser too'),
      new Option(
        '--host <address>',
        'listen on this IP address too: 0.0.0.0 in a container. Everyone who reaches it may reset the vault and read its inbox',
      ),
      repeatable(
        '--allow-host <name>',
        'answer requests to this host name, or NAME:PORT where the port is mapped, and not to localhost alone',
      ),
      new Option('--stdin-lifetime', 'end when standard input ends'),
      allowOrigin(),
      rpId(),
      oidcIssuer(),
      verbose(),
    ],
    run: async (
      config,
      { seed, clock, port: wanted, stdinLifetime = false, ...exposure },
      _json,
      command,
    ) => {
      const { dev } = await import('./dev.ts');
      const { readExposure } = await import('./dev-exposure.ts');
      await dev(
        {
          ...config,
          exposure: readExposure(exposure),
          // The command is told the port. Any other may be a kept vault's, which the environment names.
          port: command.length > 0 && wanted === undefined ? 0 : config.port,
        },
        { clock, stdinLifetime, command, ...defined({ seed }) },
      );
    },
  });
}
