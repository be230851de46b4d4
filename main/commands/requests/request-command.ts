/** The declarations of `keyhearth request` and `keyhearth stamp`. */
import { Option, type Command } from 'commander';
import { apiKey } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';

interface RequestFlags {
  readonly path: string;
  readonly body: string;
  readonly apiKey: string;
  readonly key?: string;
  readonly raw?: true;
  readonly dryRun?: true;
}

/** Its name before other commands had the same option. */
const shortKey = (): Option => new Option('--key <name>').hideHelp();

export function declareRequest(program: Command): void {
  addSubcommand<RequestFlags>(program, {
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
    run: async (config, flags, json) => {
      const { request } = await import('./request.ts');
      await request(config, {
        ...flags,
        key: flags.key ?? flags.apiKey,
        raw: flags.raw === true,
        dryRun: flags.dryRun === true,
        json,
      });
    },
  });
  addSubcommand<Omit<RequestFlags, 'path' | 'raw' | 'dryRun'>>(program, {
    name: 'stamp',
    description: 'Print the X-Stamp header of a body, for curl',
    options: [
      new Option('--body <json>', 'Body as JSON, @FILE, or - for standard input').makeOptionMandatory(),
      apiKey(),
      shortKey(),
    ],
    run: async (config, flags, json) => {
      const { writeStamp } = await import('./request.ts');
      writeStamp(config, { ...flags, key: flags.key ?? flags.apiKey, json });
    },
  });
}
