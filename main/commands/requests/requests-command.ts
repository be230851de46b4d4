/** The declaration of `keyhearth requests`. */
import { Option, type Command } from 'commander';
import { addSubcommand } from '../shared/subcommand.ts';
import type { RequestsOptions } from './requests.ts';

export function declareRequests(program: Command): void {
  addSubcommand<RequestsOptions>(program, {
    name: 'requests',
    description: 'List the last API requests, and explain the refused ones',
    options: [
      new Option('--follow', 'Keep printing new requests until you press Ctrl-C'),
      new Option('--failed', 'Only refused requests'),
    ],
    run: async (config, flags) => (await import('./requests.ts')).showRequests(config, flags),
  });
}
