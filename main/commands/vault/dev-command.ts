/** The declaration of `keyhearth dev`. */
import { Option, type Command } from 'commander';
import { allowOrigin, oidcIssuer, port, rpId, verbose } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';
import { defined } from '../../lib/defined.ts';

interface DevFlags {
  readonly seed?: string;
  readonly clock: 'real' | 'fixed';
}

export function declareDev(program: Command): void {
  addSubcommand<DevFlags>(program, {
    name: 'dev',
    description:
      'serve an ephemeral vault for tests: in memory, reproducible from a seed; writes one JSON line when ready',
    options: [
      port(),
      new Option('--seed <text>', 'make ids, keys, mnemonics and addresses reproducible'),
      new Option('--clock <mode>', 'time of records: the machine’s, or one that stands still')
        .choices(['real', 'fixed'])
        .default('real'),
      new Option('--ui', 'serve the window to the browser too'),
      allowOrigin(),
      rpId(),
      oidcIssuer(),
      verbose(),
    ],
    run: async (config, { seed, clock }) => {
      const { dev } = await import('./dev.ts');
      await dev(config, { clock, ...defined({ seed }) });
    },
  });
}
