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
    description: 'stamp a request with an API key and post it',
    options: [
      new Option('--path <path>', 'path of the operation: /public/v1/query/whoami').makeOptionMandatory(),
      new Option('--body <json>', 'the body, @FILE, or - for standard input').makeOptionMandatory(),
      apiKey(),
      shortKey(),
      new Option('--raw', 'send the body to the letter: fill in neither organizationId nor timestampMs'),
      new Option('--dry-run', 'ask what policies would make of it, and carry nothing out'),
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
    description: 'write the X-Stamp header of a body, for curl',
    options: [
      new Option('--body <json>', 'the body, @FILE, or - for standard input').makeOptionMandatory(),
      apiKey(),
      shortKey(),
    ],
    run: async (config, flags, json) => {
      const { writeStamp } = await import('./request.ts');
      writeStamp(config, { ...flags, key: flags.key ?? flags.apiKey, json });
    },
  });
}
