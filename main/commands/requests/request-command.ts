/** The declarations of `keyhearth request` and `keyhearth stamp`. */
import { Option, type Command } from 'commander';
import { apiKey } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';
import type { RequestOptions, StampOptions } from './request.ts';

/** The name of `--api-key` before other commands had the same option. */
const shortKey = (): Option => new Option('--key <name>').hideHelp();

export function declareRequest(program: Command): void {
  addSubcommand<RequestOptions>(program, {
    name: 'request',
    description: 'Sign a request with an API key and send it',
    options: [
      new Option(
        '--path <path>',
        'Path of the operation, such as /public/v1/query/whoami',
      ).makeOptionMandatory(),
      new Option('--body <json>', 'Body as JSON, @FILE, or - for standard input').makeOptionMandatory(),
      apiKey(),
      shortKey(),
      new Option('--raw', 'Send the body unchanged: add no organizationId or timestampMs'),
      new Option('--dry-run', 'Show what the policies would decide; execute nothing'),
    ],
    run: async (config, flags) => (await import('./request.ts')).request(config, flags),
  });
  addSubcommand<StampOptions>(program, {
    name: 'stamp',
    description: 'Print the X-Stamp header of a body, for curl',
    options: [
      new Option('--body <json>', 'Body as JSON, @FILE, or - for standard input').makeOptionMandatory(),
      apiKey(),
      shortKey(),
    ],
    run: async (config, flags) => {
      const { writeStamp } = await import('./request.ts');
      writeStamp(config, flags);
    },
  });
}
