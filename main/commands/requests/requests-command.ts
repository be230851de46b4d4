/** The declaration of `keyhearth requests`. */
import { Option, type Command } from 'commander';
import { addSubcommand } from '../shared/subcommand.ts';

export function declareRequests(program: Command): void {
  addSubcommand<{ readonly follow?: true; readonly failed?: true }>(program, {
    name: 'requests',
    description: 'List the last API requests, and explain the refused ones',
    options: [
      new Option('--follow', 'Keep printing new requests until you press Ctrl-C'),
      new Option('--failed', 'Only refused requests'),
    ],
    run: async (config, flags, json) => {
      const { showRequests } = await import('./requests.ts');
      await showRequests(config, { follow: flags.follow === true, failed: flags.failed === true, json });
    },
  });
}
