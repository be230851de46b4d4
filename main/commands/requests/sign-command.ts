/** The declarations of `keyhearth sign`. */
import { Option, type Command } from 'commander';
import { transactionTypeList } from '../../lib/text/transaction-types.ts';
import { apiKey } from '../shared/options.ts';
import type { SignPayloadOptions, SignTransactionOptions } from './sign.ts';
import { addSubcommand } from '../shared/subcommand.ts';

export function declareSign(program: Command): void {
  const sign = program.command('sign').description('Sign a transaction or a payload');
  const signing = (): readonly Option[] => [
    new Option('--with <key>', 'Signing key: address, public key, ID or name').makeOptionMandatory(),
    new Option('--dry-run', 'Describe what would be signed; sign nothing'),
    new Option('--yes', 'Sign without confirmation'),
    apiKey(),
  ];
  addSubcommand<SignTransactionOptions>(sign, {
    name: 'transaction <file>',
    description: 'Describe and sign a transaction',
    describes: { file: 'File with the unsigned transaction; - for standard input' },
    options: [
      new Option(
        '--type <chain>',
        `Chain: ${transactionTypeList.map(({ alias, form }) => `${alias} (${form})`).join(', ')}`,
      ).makeOptionMandatory(),
      new Option('--format <form>', 'Encoding of the transaction, unsigned and signed')
        .choices(['hex', 'base64'] satisfies SignTransactionOptions['format'][])
        .default('hex'),
      ...signing(),
    ],
    run: async (config, flags, [file = '']) =>
      (await import('./sign.ts')).signTransaction(config, file, flags),
  });
  addSubcommand<SignPayloadOptions>(sign, {
    name: 'payload <file>',
    description: 'Describe and sign a text, bytes or typed data; prints r, s and v as JSON',
    describes: { file: 'File with the payload; - for standard input' },
    options: [
      new Option('--encoding <name>', 'Encoding of the payload: hex, text, eip712 or eip7702').default('hex'),
      new Option(
        '--hash <name>',
        'Hash function: none, sha256, keccak256 or not-applicable; not with eip712 and eip7702',
      ),
      ...signing(),
    ],
    run: async (config, flags, [file = '']) => (await import('./sign.ts')).signPayload(config, file, flags),
  });
}
