/** The declaration of `latchkey requests`. */
import { Option, type Command } from 'commander';
import type { RequestsOptions } from './requests.ts';
import { addSubcommand } from './subcommand.ts';

export function declareRequests(program: Command): void {
  addSubcommand<Omit<RequestsOptions, 'json'>>(program, {
    name: 'requests',
    description: 'list the last requests that came to the API, and explain those whose stamp did not hold',
    options: [
      new Option('--follow', 'write new ones as they come, until ended').default(false),
      new Option('--failed', 'only those that were refused').default(false),
    ],
    run: async (config, flags, json) => {
      const { showRequests } = await import('./requests.ts');
      await showRequests(config, { ...flags, json });
    },
  });
}
