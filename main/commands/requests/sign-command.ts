/** The declarations of `keyhearth sign`. */
import { Option, type Command } from 'commander';
import { transactionTypeList } from '../../lib/text/transaction-types.ts';
import { apiKey } from '../shared/options.ts';
import type { SignOptions, SignPayloadOptions, SignTransactionOptions } from './sign.ts';
import { addSubcommand } from '../shared/subcommand.ts';

type SignFlags<Options> = Omit<Options, 'json' | 'yes' | 'dryRun'> & {
  readonly yes?: true;
  readonly dryRun?: true;
};

const asSigning = ({ yes, dryRun }: SignFlags<SignOptions>) => ({
  yes: yes === true,
  dryRun: dryRun === true,
});

export function declareSign(program: Command): void {
  const sign = program
    .command('sign')
    .description('tell what a transaction or a payload does, and have the running vault sign it');
  const signing = (): readonly Option[] => [
    new Option(
      '--with <key>',
      'the key that signs: its address, public key, id, or name',
    ).makeOptionMandatory(),
    new Option('--dry-run', 'tell what it does, and sign nothing'),
    new Option('--yes', 'sign on a terminal without asking'),
    apiKey(),
  ];
  addSubcommand<SignFlags<SignTransactionOptions>>(sign, {
    name: 'transaction <file>',
    description: 'sign an unsigned transaction, and write the signed one; - for standard input',
    options: [
      new Option(
        '--type <chain>',
        transactionTypeList.map(({ alias, form }) => `${alias} (${form})`).join(', '),
      ).makeOptionMandatory(),
      new Option('--format <form>', 'how it is written in the file, and then with its signature')
        .choices(['hex', 'base64'] satisfies SignTransactionOptions['format'][])
        .default('hex'),
      ...signing(),
    ],
    run: async (config, flags, json, [file = '']) => {
      const { signTransaction } = await import('./sign.ts');
      await signTransaction(config, file, { ...flags, ...asSigning(flags), json });
    },
  });
  addSubcommand<SignFlags<SignPayloadOptions>>(sign, {
    name: 'payload <file>',
    description: 'sign a text, bytes or typed data, and write r, s and v as JSON; - for standard input',
    options: [
      new Option('--encoding <name>', 'what the file holds: hex, text, eip712 or eip7702').default('hex'),
      new Option(
        '--hash <name>',
        'none, sha256, keccak256 or not-applicable; left out with eip712 and eip7702',
      ),
      ...signing(),
    ],
    run: async (config, flags, json, [file = '']) => {
      const { signPayload } = await import('./sign.ts');
      await signPayload(config, file, { ...flags, ...asSigning(flags), json });
    },
  });
}
