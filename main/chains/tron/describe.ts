/** Tron's transactions in plain language. */
import { Unknown } from '../../policy/language/types.ts';
import type { Context } from '../chain.ts';
import { line, timeOf, Writer, type Description, type Line, type Part } from '../description.ts';
import { isTokenAmount, titleOfCall, warningsOfCall, type Words } from '../ethereum/standard-calls.ts';
import { leavesOf } from '../ethereum/listed.ts';
import { operationNames, prices, trxOf, type Naming } from './contracts.ts';
import { moneyOf, type TronMoney } from './money.ts';
import type { Kind, ProtobufMessage, Schema, Value } from './protobuf.ts';
import type { ReadTron, TronContract, TronTransaction } from './read.ts';
import { callOf, namingOf, wordsOf, type TronCall } from './words.ts';

export function describeTron(read: ReadTron, context: Context): Description {
  const writer = new Writer();
  const names = namingOf(context, writer);
  return read.transaction.ok
    ? describeTransaction(read.transaction.value, moneyOf(read), names, context, writer)
    : describeUnread(read.bytes, read.transaction.problem, writer);
}

function describeUnread(bytes: Uint8Array, problem: string, writer: Writer): Description {
  writer.warn('This vault cannot read all of it. It does not know what the transaction does.');
  return {
    title: 'Sign a transaction of Tron that this vault cannot read',
    lines: [
      line('Not read', `This vault cannot read all of it: ${writer.text(problem)}`),
      line('Data', writer.bytes(bytes)),
    ],
    parts: [],
    warnings: writer.warnings,
    digests: [],
  };
}

function describeTransaction(
  { raw, contracts }: TronTransaction,
  money: TronMoney,
  names: Naming,
  context: Context,
  writer: Writer,
): Description {
  if (contracts.length > 1) writer.warn('The network refuses this transaction: it has several contracts.');
  const parts = contracts.map((contract) => partOf(contract, names, context, writer));
  const { outflow } = money;
  if (outflow instanceof Unknown) {
    writer.warn(`Nothing bounds what leaves the account: ${outflow.reason}.`);
  }
  return {
    title: `${parts.map(({ title }) => title).join('; ')}${feeTitle(money)}`,
    lines: [
      line('Network', 'Tron: it does not say which'),
      ...moneyLines(money),
      ...rawLines(raw, names, writer),
    ],
    parts,
    warnings: writer.warnings,
    digests: [],
  };
}

const rawLines = (raw: TronTransaction['raw'], names: Naming, writer: Writer): readonly Line[] => [
  line('Energy at most', exactly(raw.fee_limit)),
  line('Expires', timeOf(raw.expiration)),
  line('Made', timeOf(raw.timestamp)),
  ...(raw.data === '' ? [] : [line('Memo', names.name(raw.data))]),
  line(
    'Block before it',
    `${writer.bytes(Buffer.from(raw.ref_block_bytes, 'hex'))}, ${writer.bytes(Buffer.from(raw.ref_block_hash, 'hex'))}`,
  ),
  ...(raw.ref_block_num === 0n ? [] : [line('Number of that block', raw.ref_block_num)]),
];

const feeTitle = ({ maxFee }: TronMoney): string =>
  maxFee instanceof Unknown ? ', with a fee that nothing bounds' : `, with a fee of at most ${trxOf(maxFee)}`;

const moneyLines = ({ costs, maxFee, outflow }: TronMoney): readonly Line[] => [
  line(
    'Fee at most',
    maxFee instanceof Unknown
      ? `Not bounded: ${maxFee.reason}`
      : `${exactly(maxFee)}, by the network’s prices of ${prices.of}: ${costs.map(({ what, amount }) => `${trxOf(amount)} ${what}`).join(', ')}`,
  ),
  line(
    'Leaves the account at most',
    outflow instanceof Unknown ? `Not bounded: ${outflow.reason}` : exactly(outflow),
  ),
];

const exactly = (sun: bigint): string => `${trxOf(sun)} (${String(sun)} sun)`;

function partOf(contract: TronContract, names: Naming, context: Context, writer: Writer): Part {
  const { type, permissionId, typeUrl, known, value } = contract;
  const permission = permissionId === 0n ? [] : [line('Signed by permission', permissionId)];
  if (!known.ok) {
    writer.warn('This vault cannot read all of it. It does not know what the contract does.');
    return {
      title: `Sign a contract that this vault cannot read (${type})`,
      lines: [
        line('Type', type),
        ...permission,
        line('Not read', `This vault cannot read all of it: ${writer.text(known.problem)}`),
        line('Parameter', writer.text(typeUrl)),
        line('Data', writer.bytes(value)),
      ],
    };
  }
  const { schema, fields, title, paying, warnings } = known.value;
  const called = callOf(contract);
  const words = called && wordsOf(names, context, called.contract);
  const owner = fields['owner_address'];
  if (typeof owner === 'string' && !names.isOurs(owner)) {
    writer.warn(`It acts for the account ${owner}, which is none of yours.`);
  }
  writer.warn(...warnings(names), ...(called && words ? callWarnings(called, words) : []));
  return {
    title: `${callTitle(called, words) ?? title(names)}${paying(names)}`,
    lines: [
      line('Type', type),
      ...permission,
      ...schemaLines(schema, fields, names, writer),
      ...(called && words ? callLines(called, words, writer) : []),
    ],
  };
}

const callTitle = (called: TronCall | undefined, words: Words | undefined): string | undefined =>
  called?.call && words ? titleOfCall(called.call, words) : undefined;

const callWarnings = ({ call }: TronCall, words: Words): readonly string[] =>
  call === undefined
    ? ['This vault cannot read the data of the call. It does not know what the call does.']
    : [
        ...(call.args === undefined
          ? [
              `This vault cannot read all of it: ${call.problem}. It does not know what the contract makes of the call.`,
            ]
          : []),
        ...warningsOfCall(call, words),
      ];

function callLines({ call, contract }: TronCall, words: Words, writer: Writer): readonly Line[] {
  if (call === undefined)
    return [line('Not read', 'This vault cannot read all of it: no standard has the function')];
  return [
    line('Function, as standards have it', call.signature),
    ...(call.args === undefined
      ? [line('Not read', `This vault cannot read all of it: ${call.problem}`)]
      : call.args.flatMap(({ name, value }, index) =>
          typeof value === 'bigint' && words.knows(contract) && isTokenAmount(call, index)
            ? [line(`Argument ${name}`, `${String(value)} (${words.amount(value, contract)})`)]
            : leavesOf(value, `Argument ${name}`, writer),
        )),
  ];
}

/** Every field that is not empty, under its own name: a field that is empty is not there. */
function schemaLines(
  schema: Schema,
  message: ProtobufMessage,
  names: Naming,
  writer: Writer,
  path = '',
): readonly Line[] {
  return Object.entries(schema).flatMap(([name, [, kind, many]]) => {
    const value = message[name];
    const label = `${path}${labelOf(name)}`;
    if (many !== 'many') return valueLines(kind, value, label, names, writer);
    return (value as readonly Value[]).flatMap((each, index) =>
      valueLines(kind, each, `${label} ${String(index + 1)}`, names, writer),
    );
  });
}

const labelOf = (name: string): string =>
  `${name.slice(0, 1).toUpperCase()}${name.slice(1).toLowerCase().replaceAll('_', ' ')}`;

function valueLines(kind: Kind, value: Value, label: string, names: Naming, writer: Writer): readonly Line[] {
  if (value === undefined || value === '' || value === 0n || value === false) return [];
  if (typeof value === 'object' && typeof kind === 'object' && !Array.isArray(kind)) {
    const lines = schemaLines(kind as Schema, value as ProtobufMessage, names, writer, `${label}: `);
    return lines.length === 0 ? [line(label, 'Empty')] : lines;
  }
  return [line(label, shownValue(kind, value, names, writer))];
}

function shownValue(kind: Kind, value: Value, names: Naming, writer: Writer): string {
  if (typeof value === 'bigint') {
    return kind === 'sun' ? exactly(value) : kind === 'time' ? timeOf(value) : String(value);
  }
  if (typeof value !== 'string') return 'Yes';
  switch (kind) {
    case 'address':
      return names.account(value);
    case 'name':
      return names.name(value);
    case 'text':
      return names.text(value);
    case 'bytes':
      return writer.bytes(Buffer.from(value, 'hex'));
    case 'operations':
      return `${operationNames(value).join(', ')} (${writer.bytes(Buffer.from(value, 'hex'))})`;
    default:
      return value;
  }
}
