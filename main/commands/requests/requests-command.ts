/** The declaration of `keyhearth requests`. */
import { Option, type Command } from 'commander';
import { addSubcommand } from '../shared/subcommand.ts';

export function declareRequests(program: Command): void {
  addSubcommand<{ readonly follow?: true; readonly failed?: true }>(program, {
    name: 'requests',
    description: 'list the last requests that came to the API, and explain those whose stamp did not hold',
    options: [
      new Option('--follow', 'write new ones as they come, until ended'),
      new Option('--failed', 'only those that were refused'),
    ],
    run: async (config, flags, json) => {
      const { showRequests } = await import('./requests.ts');
      await showRequests(config, { follow: flags.follow === true, failed: flags.failed === true, json });
    },
  });
}
